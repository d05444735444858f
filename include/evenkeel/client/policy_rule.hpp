// SPDX-License-Identifier: Apache-2.0
// Rules of RBAC, as roles have them.
#pragma once

#include <string>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/client/access.hpp>

namespace evenkeel {
inline namespace v0 {

/// A rule of a Role or ClusterRole: each of the verbs, on each of the resources of each of the groups.
struct PolicyRule {
  std::vector<std::string> groups = {};     ///< "" is the core group.
  std::vector<std::string> resources = {};  ///< "demos", "demos/status"
  std::vector<std::string> verbs = {};
  std::vector<std::string> names = {};  ///< Object names; empty: all.

  bool operator==(const PolicyRule&) const = default;
  /// Returns true if the rule allows this access, "*" being everything. The namespace is that of the role.
  EVENKEEL_API bool grants(const Access& access) const;
  /// Returns the rule as a member of a Role's `rules`.
  EVENKEEL_API Json json() const;
};

/// Returns the rule that allows an access to all objects of its kind.
EVENKEEL_API PolicyRule rule_for(const Access& access);

/// Returns rules that allow the same: one for the resources of a group that have equal verbs, in the order of
/// groups, resources and names, and no right twice.
EVENKEEL_API std::vector<PolicyRule> merge_rules(const std::vector<PolicyRule>& rules);

/// Returns the rights of these rules one by one: each with one group, resource, verb, and name or none.
EVENKEEL_API std::vector<PolicyRule> single_rights(const std::vector<PolicyRule>& rules);

/// Compares the rights that a program has with those that it used. Returns a line for each access that no
/// rule allows, "not granted: patch demos.demo.evenkeel.dev/status default/web", and one for each right that
/// no access needs, "not used: delete of configmaps". Empty: rules and accesses fit exactly.
EVENKEEL_API std::vector<std::string> compare_rights(const std::vector<PolicyRule>& rules,
                                                     const std::vector<Access>& used);

}  // namespace v0
}  // namespace evenkeel
