// SPDX-License-Identifier: Apache-2.0
// The validation rules of built-in kinds that matter to users of controllers.
#pragma once

#include <string>
#include <vector>

#include <evenkeel/api/json.hpp>

#include "apiserver/schema/schema.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Returns the errors. `old` is the stored object, null on create. Metadata is not checked.
/// Source: kubernetes pkg/apis/*/validation.
std::vector<FieldError> validate_builtin(const Json& object, const KindSchema& kind, const Json& old);

/// Returns the warnings for a valid write, as texts of a real server, without quotes. `old` is the stored
/// object, null on create.
std::vector<std::string> builtin_warnings(const Json& object, const KindSchema& kind, const Json& old);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
