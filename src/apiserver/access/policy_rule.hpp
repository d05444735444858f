// SPDX-License-Identifier: Apache-2.0
// The rules of roles, and the requests that they are matched with.
// Source: kubernetes pkg/apis/rbac/v1/evaluation_helpers.go, component-helpers auth/rbac/validation.
#pragma once

#include <string>
#include <vector>

#include <evenkeel/api/json.hpp>

#include "apiserver/query/rest_path.hpp"
#include "apiserver/schema/status_error.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// A request as authorization sees it: an action on a resource, or on a path if `resource` is empty.
struct AccessRequest {
  std::string verb = {};
  std::string path = {};
  std::string group = {};
  std::string resource = {};
  std::string subresource = {};
  std::string namespace_ = {};
  std::string name = {};

  bool is_resource() const { return !resource.empty(); }
  /// Returns "pods/status", or "pods".
  std::string combined() const { return subresource.empty() ? resource : resource + "/" + subresource; }
};

/// Source: apiserver pkg/endpoints/request/requestinfo.go.
AccessRequest access_request(const http::Request& request, const Target& target);

/// Returns the 403 of a denied request; `reason` is appended unless it is empty.
StatusError access_denied(const AccessRequest& request, std::string_view user, const std::string& reason);

/// An entry of the rules of a Role or ClusterRole.
struct PolicyRule {
  std::vector<std::string> verbs = {};
  std::vector<std::string> groups = {};
  std::vector<std::string> resources = {};
  std::vector<std::string> names = {};
  std::vector<std::string> urls = {};
};
using PolicyRules = std::vector<PolicyRule>;

/// Returns the strings of a list; other items are empty.
std::vector<std::string> strings_of(const Json& list);
/// Formats like Go: ["a" "b"].
std::string quoted_list(const std::vector<std::string>& items);

PolicyRules policy_rules(const Json& rules);
/// Returns the rule as in `status.resourceRules` and `status.nonResourceRules` of a rules review.
Json rule_document(const PolicyRule& rule);

bool allows(const PolicyRule& rule, const AccessRequest& request);

/// Returns the parts of `wanted` that `held` does not cover: their texts, sorted.
std::vector<std::string> missing_rights(const PolicyRules& held, const PolicyRules& wanted);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
