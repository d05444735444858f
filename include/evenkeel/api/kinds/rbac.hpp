// SPDX-License-Identifier: Apache-2.0
// Written by scripts/generate_kinds.py from the OpenAPI documents of Kubernetes; do not edit.
// The kinds of rbac.authorization.k8s.io v1, complete in fields. Order of members: metadata, name, spec,
// status, then by name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/metadata.hpp>
#include <evenkeel/api/selector.hpp>

namespace evenkeel {
inline namespace v0 {
namespace rbac_v1 {

struct PolicyRule {
  std::vector<std::string> api_groups = {};
  std::vector<std::string> non_resource_urls = {};
  std::vector<std::string> resource_names = {};
  std::vector<std::string> resources = {};
  std::vector<std::string> verbs = {};

  bool operator==(const PolicyRule&) const = default;
};

/// rbac.authorization.k8s.io/v1 Role.
struct Role {
  static constexpr ResourceInfo resource{
      .group = "rbac.authorization.k8s.io", .version = "v1", .kind = "Role", .plural = "roles"};
  ObjectMeta metadata = {};
  std::vector<PolicyRule> rules = {};

  bool operator==(const Role&) const = default;
};

struct RoleRef {
  std::optional<std::string> name = {};
  std::optional<std::string> api_group = {};
  std::optional<std::string> kind = {};

  bool operator==(const RoleRef&) const = default;
};

struct Subject {
  std::string name = {};
  std::optional<std::string> api_group = {};
  std::string kind = {};
  std::optional<std::string> namespace_ = {};

  bool operator==(const Subject&) const = default;
};

/// rbac.authorization.k8s.io/v1 RoleBinding.
struct RoleBinding {
  static constexpr ResourceInfo resource{
      .group = "rbac.authorization.k8s.io", .version = "v1", .kind = "RoleBinding", .plural = "rolebindings"};
  ObjectMeta metadata = {};
  RoleRef role_ref = {};
  std::vector<Subject> subjects = {};

  bool operator==(const RoleBinding&) const = default;
};

struct AggregationRule {
  std::vector<LabelSelector> cluster_role_selectors = {};

  bool operator==(const AggregationRule&) const = default;
};

/// rbac.authorization.k8s.io/v1 ClusterRole.
struct ClusterRole {
  static constexpr ResourceInfo resource{.group = "rbac.authorization.k8s.io",
                                         .version = "v1",
                                         .kind = "ClusterRole",
                                         .plural = "clusterroles",
                                         .scope = Scope::cluster};
  ObjectMeta metadata = {};
  std::optional<AggregationRule> aggregation_rule = {};
  std::vector<PolicyRule> rules = {};

  bool operator==(const ClusterRole&) const = default;
};

/// rbac.authorization.k8s.io/v1 ClusterRoleBinding.
struct ClusterRoleBinding {
  static constexpr ResourceInfo resource{.group = "rbac.authorization.k8s.io",
                                         .version = "v1",
                                         .kind = "ClusterRoleBinding",
                                         .plural = "clusterrolebindings",
                                         .scope = Scope::cluster};
  ObjectMeta metadata = {};
  RoleRef role_ref = {};
  std::vector<Subject> subjects = {};

  bool operator==(const ClusterRoleBinding&) const = default;
};

EVENKEEL_DECLARE_FIELDS(PolicyRule)
EVENKEEL_DECLARE_FIELDS(Role)
EVENKEEL_DECLARE_FIELDS(RoleRef)
EVENKEEL_DECLARE_FIELDS(Subject)
EVENKEEL_DECLARE_FIELDS(RoleBinding)
EVENKEEL_DECLARE_FIELDS(AggregationRule)
EVENKEEL_DECLARE_FIELDS(ClusterRole)
EVENKEEL_DECLARE_FIELDS(ClusterRoleBinding)

}  // namespace rbac_v1

}  // namespace v0
}  // namespace evenkeel
