// SPDX-License-Identifier: Apache-2.0
// CustomResourceDefinitions as documents: their defaults, their checks, and what they say is to be served.
#pragma once

#include <vector>

#include <evenkeel/api/json.hpp>

#include "apiserver/store/resource_type.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Sets the first status: stored versions, and that names are not accepted yet.
void prepare_new_crd(Json& crd);

/// Adds the version that is stored to those in which objects may be.
void keep_stored_versions(Json& crd);

/// What is wrong with a CRD; `live` is null on create.
FieldErrors check_crd(const Json& crd, const Json& live);

/// One resource per served version.
std::vector<ResourceType> resources_of(const Json& crd);

/// Sets a condition of status.conditions; returns whether anything changed. lastTransitionTime moves with the
/// status only.
struct CrdCondition {
  std::string_view type;
  bool holds;
  std::string_view reason;
  std::string_view message;
};
bool set_condition(Json& crd, const CrdCondition& condition, const std::string& now);
bool has_condition(const Json& crd, std::string_view type);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
