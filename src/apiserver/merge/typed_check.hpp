// SPDX-License-Identifier: Apache-2.0
// Checks that an object matches the schema closely enough to be merged.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <evenkeel/api/json.hpp>

#include "apiserver/schema/schema.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

enum class Duplicates : std::uint8_t { refused, allowed };

/// Returns the errors of structured-merge-diff: ".spec.foo: field not declared in schema". Empty if there are
/// none. Applied configurations must not have duplicates in sets and maps; stored objects may.
std::vector<std::string> typed_problems(const Json& object, const Schema& schema,
                                        Duplicates duplicates = Duplicates::refused);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
