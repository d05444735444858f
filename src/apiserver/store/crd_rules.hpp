// SPDX-License-Identifier: Apache-2.0
// CustomResourceDefinitions as documents: defaults, validation, and the resources that they define.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/json.hpp>

#include "apiserver/store/resource_type.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Sets the initial status: stored versions, and names that are not accepted yet.
void prepare_new_crd(Json& crd);

/// Adds the storage version to status.storedVersions.
void keep_stored_versions(Json& crd);

/// Returns the errors of a CRD; `live` is null on create.
FieldErrors check_crd(const Json& crd, const Json& live);

/// Returns warnings for formats in schemas that a real server ignores, except for those in `live` (null on
/// create).
std::vector<std::string> crd_warnings(const Json& crd, const Json& live);

/// The annotation by which CRDs of groups of the Kubernetes community are approved.
inline constexpr std::string_view approval_annotation = "api-approved.kubernetes.io";
struct Approval {
  bool holds = false;
  std::string_view reason = {};  ///< "MissingAnnotation"
  std::string message = {};
};
/// Returns the state of the annotation; nullopt for groups that need none.
/// Source: apiextensions pkg/apihelpers GetAPIApprovalState.
std::optional<Approval> approval_of(const Json& crd);

/// Returns one resource per served version.
std::vector<ResourceType> resources_of(const Json& crd);

/// Sets a condition of status.conditions; returns true if anything changed. lastTransitionTime changes only
/// with the status.
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
