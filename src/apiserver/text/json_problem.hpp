// SPDX-License-Identifier: Apache-2.0
// Error messages for documents that are not JSON, or contain values of unexpected types.
#pragma once

#include <string>
#include <string_view>

#include <evenkeel/api/json.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Returns the reason why `text` is not JSON, with line and column; empty if it is.
std::string json_problem(std::string_view text);

/// Returns `spec.replicas: expected an integer, got "three"`. Arrays and objects are not quoted, nor are
/// values of secrets (`quote` false). An empty path is the document.
std::string wrong_type(std::string_view path, std::string_view expected, const Json& found,
                       bool quote = true);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
