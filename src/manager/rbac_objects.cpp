// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "manager/derived_rules.hpp"
#include "manager/manifest_plan.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

constexpr const char* rbac = "rbac.authorization.k8s.io/v1";
constexpr const char* leases_group = "coordination.k8s.io";

Json role(const char* kind, const std::string& name, const std::string& space,
          const std::vector<PolicyRule>& rules) {
  Json object = object_of(rbac, kind, name, space);
  object["rules"] = Json::array();
  for (const PolicyRule& rule : rules) object["rules"].push_back(rule.json());
  return object;
}

// Appends a role and its binding to the operator's account, if it has rules.
void add_role(std::vector<Json>& objects, const ManifestPlan& plan, const std::string& name,
              const std::string& space, const std::vector<PolicyRule>& rules) {
  const std::vector<PolicyRule> merged = merge_rules(rules);
  if (merged.empty()) return;
  const bool cluster = space.empty();
  const char* kind = cluster ? "ClusterRole" : "Role";
  objects.push_back(role(kind, name, space, merged));
  Json binding = object_of(rbac, cluster ? "ClusterRoleBinding" : "RoleBinding", name, space);
  binding["roleRef"] =
      Json::object({{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", kind}, {"name", name}});
  binding["subjects"].push_back(
      Json::object({{"kind", "ServiceAccount"}, {"name", plan.name}, {"namespace", plan.namespace_}}));
  objects.push_back(std::move(binding));
}

// The program asks for both configurations, and patches the one that it has.
void add_injection_rules(ManifestPlan& plan, const char* resource, const std::string& name) {
  const std::vector<Json>& all = plan.webhooks.configurations;
  const bool exists = std::any_of(all.begin(), all.end(), [&name](const Json& configuration) {
    return configuration.at({"metadata", "name"}) == Json(name);
  });
  plan.part.cluster_rules.push_back({{"admissionregistration.k8s.io"}, {resource}, {"get"}, {name}});
  if (exists)
    plan.part.cluster_rules.push_back({{"admissionregistration.k8s.io"}, {resource}, {"patch"}, {name}});
}

}  // namespace

Json object_of(std::string_view api_version, std::string_view kind, const std::string& name,
               const std::string& namespace_) {
  Json object = Json::object(
      {{"apiVersion", api_version}, {"kind", kind}, {"metadata", Json::object({{"name", name}})}});
  if (!namespace_.empty()) object["metadata"]["namespace"] = namespace_;
  return object;
}

void add_election_rules(ManifestPlan& plan, const std::string& lease, const std::string& namespace_) {
  auto& rules = plan.runtime_rules[namespace_.empty() ? plan.namespace_ : namespace_];
  // A right to create cannot be limited to a name.
  rules.push_back({{leases_group}, {"leases"}, {"create"}});
  rules.push_back({{leases_group}, {"leases"}, {"get", "watch", "update"}, {lease}});
}

void add_shard_rules(ManifestPlan& plan, const ShardOptions& shards) {
  const std::string& namespace_ = shards.namespace_;
  if (shards.by == ShardBy::namespace_range && shards.label.empty())
    plan.part.cluster_rules.push_back({{""}, {"namespaces"}, {"list"}});
  plan.runtime_rules[namespace_.empty() ? plan.namespace_ : namespace_].push_back(
      {{leases_group}, {"leases"}, {"get", "list", "watch", "create", "update", "delete"}});
}

void add_webhook_rules(ManifestPlan& plan) {
  const WebhookPlan& webhooks = plan.webhooks;
  if (webhooks.port == 0 || webhooks.secret.empty()) return;
  auto& own = plan.runtime_rules[webhooks.service.namespace_];
  own.push_back({{""}, {"secrets"}, {"create"}});
  own.push_back({{""}, {"secrets"}, {"get", "update"}, {webhooks.secret}});
  add_injection_rules(plan, "mutatingwebhookconfigurations", mutating_configuration_name(webhooks.manager));
  add_injection_rules(plan, "validatingwebhookconfigurations",
                      validating_configuration_name(webhooks.manager));
  if (!webhooks.converted.empty()) {
    plan.part.cluster_rules.push_back(
        {{"apiextensions.k8s.io"}, {"customresourcedefinitions"}, {"get", "patch"}, webhooks.converted});
  }
}

void add_review_rules(ManifestPlan& plan) {
  plan.part.cluster_rules.push_back({{"authentication.k8s.io"}, {"tokenreviews"}, {"create"}});
  plan.part.cluster_rules.push_back({{"authorization.k8s.io"}, {"subjectaccessreviews"}, {"create"}});
}

std::vector<Json> rbac_objects(const ManifestPlan& plan) {
  std::vector<Json> objects = {object_of("v1", "ServiceAccount", plan.name, plan.namespace_)};
  const std::vector<PolicyRule> work = with_reads(plan.part.rules);
  std::vector<PolicyRule> cluster = with_reads(plan.part.cluster_rules);
  if (plan.watched.empty()) cluster.insert(cluster.end(), work.begin(), work.end());
  add_role(objects, plan, plan.name, "", cluster);
  if (!plan.watched.empty()) add_role(objects, plan, plan.name, plan.watched, work);
  for (const auto& [space, rules] : plan.runtime_rules)
    add_role(objects, plan, plan.name + "-runtime", space, rules);
  return objects;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
