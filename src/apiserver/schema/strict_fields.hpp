// SPDX-License-Identifier: Apache-2.0
// fieldValidation=Strict and Warn: unknown and duplicate fields.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/json.hpp>

#include "apiserver/schema/schema.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Returns the paths of duplicate members of the text, each once: "data.a", "spec.parts[1].name". For invalid
/// JSON: those found before the error.
std::vector<std::string> duplicate_fields(std::string_view text);

/// Returns the errors of strict decoding of a request body: `duplicate field "data.a"`, `unknown field
/// "spec.colour"`. `object` is the parsed body before prune(). Under Warn each is a warning (`299 - "unknown
/// field \"spec.colour\""`, see warning_header()).
std::vector<std::string> strict_problems(std::string_view text, const Json& object, const KindSchema& kind);

/// Returns "strict decoding error: unknown field \"a\", unknown field \"b\"".
std::string strict_error(const std::vector<std::string>& problems);

/// Returns the value of a Warning header: 299 - "text", with quotes and backslashes escaped, line breaks as
/// blanks.
std::string warning_header(std::string_view text);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
