// SPDX-License-Identifier: Apache-2.0
// Decoded JSON as Go's fmt prints it, which is how a real server quotes patches in its messages.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <evenkeel/api/json.hpp>

#include "apiserver/schema/schema.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// "map[a:1 b:[x y]]": members by name, strings without quotes, null as "<nil>".
std::string go_text(const Json& value);

/// What Go calls the type of a decoded value: "string", "map[string]interface {}", null "<nil>".
std::string_view go_type(const Json& value);

/// Why a decoded document cannot become the Go type of its kind: "cannot restore slice from map",
/// "unrecognized type: int32". Empty if it can. Source: apimachinery pkg/runtime/converter.go
/// fromUnstructured.
std::optional<std::string> restore_error(const Json& object, const KindSchema& kind);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
