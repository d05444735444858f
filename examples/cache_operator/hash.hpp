// SPDX-License-Identifier: Apache-2.0
// Hashes in annotations of Pods: a change of what they stand for rolls the Pods.
#pragma once

#include <string>
#include <string_view>

namespace cache_operator {

/// Returns 16 hexadecimal digits of the SHA-256 of `text`.
std::string hash_of(std::string_view text);

}  // namespace cache_operator
