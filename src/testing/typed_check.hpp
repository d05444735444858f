// SPDX-License-Identifier: Apache-2.0
// Whether an applied configuration fits the schema closely enough to be merged.
#pragma once

#include <string>
#include <vector>

#include <evenkeel/api/json.hpp>

#include "testing/schema.hpp"

namespace evenkeel::inline v0::testing {

/// What is wrong, as structured-merge-diff says it: ".spec.foo: field not declared in schema". Empty if
/// nothing.
std::vector<std::string> typed_problems(const Json& object, const Schema& schema);

}  // namespace evenkeel::inline v0::testing
