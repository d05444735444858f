// SPDX-License-Identifier: Apache-2.0
// Paths into the schema of a CRD, ".spec.size" or ".spec['a.b']", and the rules for its root.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/json.hpp>

#include "apiserver/schema/schema.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Returns the error of a path that does not exist in the schema, as a real server words it; empty if it
/// does.
std::string field_path_problem(std::string_view path, const Json& schema);

/// Returns the schema at a path; null if there is none.
const Json& schema_at(std::string_view path, const Json& schema);

/// Returns the errors of a root whose status is a subresource, beside those of check_structural(): only few
/// keywords keep their meaning if the status is validated alone.
std::vector<FieldError> check_root(const Json& schema, std::string_view path);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
