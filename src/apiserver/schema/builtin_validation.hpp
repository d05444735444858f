// SPDX-License-Identifier: Apache-2.0
// The rules of built-in kinds that a user of a controller can notice.
#pragma once

#include <string>
#include <vector>

#include <evenkeel/api/json.hpp>

#include "apiserver/schema/schema.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// `old` is the stored object, null on create. Metadata is not looked at.
/// Source: kubernetes pkg/apis/*/validation.
std::vector<FieldError> validate_builtin(const Json& object, const KindSchema& kind, const Json& old);

/// Warnings that a valid write gets, in the words of a real server, without quotes around them. `old` is the
/// stored object, null on create.
std::vector<std::string> builtin_warnings(const Json& object, const KindSchema& kind, const Json& old);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
