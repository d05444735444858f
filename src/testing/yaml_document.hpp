// SPDX-License-Identifier: Apache-2.0
// YAML request bodies as documents.
#pragma once

#include <string_view>

#include <evenkeel/api/json.hpp>

namespace evenkeel::inline v0::testing {

/// The first document of `text`, with scalars typed by YAML's core schema. Throws DecodeError with the line.
Json parse_yaml(std::string_view text);

}  // namespace evenkeel::inline v0::testing
