// SPDX-License-Identifier: Apache-2.0
// Paths into the schema of a CRD: ".spec.size" or ".spec['a.b']".
#pragma once

#include <string>
#include <string_view>

#include <evenkeel/api/json.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Returns the error of a path that does not exist in the schema, as a real server words it; empty if it
/// does.
std::string field_path_problem(std::string_view path, const Json& schema);

/// Returns the schema at a path; null if there is none.
const Json& schema_at(std::string_view path, const Json& schema);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
