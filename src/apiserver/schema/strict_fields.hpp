// SPDX-License-Identifier: Apache-2.0
// fieldValidation=Strict and Warn: fields that are unknown or given twice.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/json.hpp>

#include "apiserver/schema/schema.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Paths of members that the text gives more than once, each path once: "data.a", "spec.parts[1].name".
/// Text that is no JSON: what was found up to the error.
std::vector<std::string> duplicate_fields(std::string_view text);

/// What is wrong with a request body for strict decoding: `duplicate field "data.a"`,
/// `unknown field "spec.colour"`. `object` is the parsed body before prune(). Each is a warning under Warn
/// (`299 - "unknown field \"spec.colour\""`, see warning_header()).
std::vector<std::string> strict_problems(std::string_view text, const Json& object, const KindSchema& kind);

/// "strict decoding error: unknown field \"a\", unknown field \"b\"".
std::string strict_error(const std::vector<std::string>& problems);

/// The value of a Warning header: 299 - "text", with quotes and backslashes escaped, line breaks as blanks.
std::string warning_header(std::string_view text);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
