// SPDX-License-Identifier: Apache-2.0
// What an unquoted YAML scalar is, by YAML 1.1 as Go's decoder reads it.
#pragma once

#include <string>

#include <evenkeel/api/json.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Null, a boolean, a number, or the text itself: y and off are booleans, 0x10 and 010 are integers.
Json plain_scalar(const std::string& text);

/// Whether quotes are needed for the text to stay a string: also for times, 1:30 and the like, which are
/// written quoted although reading them gives strings.
bool needs_quotes(const std::string& text);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
