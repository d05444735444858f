// SPDX-License-Identifier: Apache-2.0
// Why a text is not JSON, in the words of Go's decoder, which is what clients of a real server see.
#pragma once

#include <string>
#include <string_view>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// "unexpected end of JSON input", "invalid character 'x' looking for beginning of value"; empty if the text
/// is JSON. Source: Go encoding/json scanner.go.
std::string json_problem(std::string_view text);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
