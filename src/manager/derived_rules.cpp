// SPDX-License-Identifier: Apache-2.0
#include "manager/derived_rules.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace {

using detail::OperatorPlace;

bool writes(const std::string& verb) {
  return verb == "update" || verb == "patch" || verb == "delete";
}

using Kind = std::pair<std::string, std::string>;  // group and resource

std::string kind_of(const std::string& resource) {
  return resource.substr(0, resource.find('/'));
}

std::set<Kind> kinds_of(const std::vector<PolicyRule>& rules) {
  std::set<Kind> kinds;
  for (const PolicyRule& right : single_rights(rules))
    kinds.insert({right.groups[0], kind_of(right.resources[0])});
  return kinds;
}

// Returns true if a rule for certain objects, for the operator's own namespace, or for a namespace whichever
// those are in which it works, grants the access. Other rules are merged with those of the record.
bool has_already(const ManifestPart& part, const Access& access, const std::string& own_namespace) {
  const auto of_names = [&access](const PolicyRule& rule) {
    return !rule.names.empty() && rule.grants(access);
  };
  const auto of_own = [&](const PolicyRule& rule) {
    return of_names(rule) || (access.namespace_ == own_namespace && rule.grants(access));
  };
  const auto of_namespace = [&access](const auto& entry) {
    const auto& [space, rules] = entry;
    if (!space.empty() && space != access.namespace_) return false;
    return std::any_of(rules.begin(), rules.end(),
                       [&access](const PolicyRule& rule) { return rule.grants(access); });
  };
  return std::any_of(part.cluster_rules.begin(), part.cluster_rules.end(), of_names) ||
         std::any_of(part.own_rules.begin(), part.own_rules.end(), of_own) ||
         std::any_of(part.namespace_rules.begin(), part.namespace_rules.end(), of_namespace);
}

bool has_namespace(const std::vector<Access>& accesses, const std::string& space) {
  return std::any_of(accesses.begin(), accesses.end(),
                     [&space](const Access& access) { return access.namespace_ == space; });
}

// Returns the namespaces of the record that are neither the watched one nor the operator's own; none if all
// are watched.
std::set<std::string> others_of(const std::vector<Access>& accesses, const OperatorPlace& place) {
  std::set<std::string> others;
  if (place.watched.empty()) return others;
  for (const Access& access : accesses) {
    const std::string& space = access.namespace_;
    const bool is_one = !space.empty() && space != "*";
    if (is_one && space != place.watched && space != place.own) others.insert(space);
  }
  return others;
}

void append(std::vector<PolicyRule>& rules, const std::vector<PolicyRule>& more) {
  rules.insert(rules.end(), more.begin(), more.end());
}

}  // namespace

namespace detail {

ManifestPart part_of(const ControllerSpec& spec) {
  ManifestPart part;
  const auto allow = [&part](const ResourceId& resource, const std::string& subresource,
                             std::vector<std::string> verbs) {
    std::vector<PolicyRule>& rules = resource.scope == Scope::cluster ? part.cluster_rules : part.rules;
    rules.push_back({{resource.group}, {resource.plural + subresource}, std::move(verbs)});
  };
  bool owns = false;
  for (const WatchSpec& watch : spec.watches) {
    if (watch.from_server) allow(watch.resource, "", {"list", "watch"});
    owns = owns || watch.owned;
  }
  if (!spec.finalizers.empty()) allow(spec.resource, "", {"get", "patch"});
  // Owner references of ours set blockOwnerDeletion, which OwnerReferencesPermissionEnforcement restricts.
  if (owns) allow(spec.resource, "/finalizers", {"update"});
  return part;
}

void add_label_rules(ManifestPart& part, const ControllerSpec& spec) {
  if (spec.resource.scope != Scope::namespaced) return;
  for (const WatchSpec& watch : spec.watches) {
    if (watch.from_server && (watch.primary || watch.owned) && watch.resource.scope == Scope::namespaced)
      part.rules.push_back({{watch.resource.group}, {watch.resource.plural}, {"patch"}});
  }
}

void add_rules(ManifestPart& part, const std::vector<PolicyRule>& rules) {
  const std::set<Kind> cluster = kinds_of(part.cluster_rules);
  for (const PolicyRule& right : single_rights(rules)) {
    const bool everywhere = cluster.contains({right.groups[0], kind_of(right.resources[0])});
    (everywhere ? part.cluster_rules : part.rules).push_back(right);
  }
}

RecordedElsewhere add_recorded(ManifestPart& part, const std::vector<Access>& accesses,
                               const OperatorPlace& place) {
  // A list of all namespaces looks like one of a kind without namespaces.
  std::set<Kind> namespaced = kinds_of(part.rules);
  for (const Access& access : accesses)
    if (!access.namespace_.empty()) namespaced.insert({access.group, kind_of(access.resource)});
  RecordedElsewhere elsewhere;
  std::set<std::string> others = others_of(accesses, place);
  if (!has_namespace(accesses, place.watched)) {
    elsewhere.stand_ins.assign(others.begin(), others.end());
    others.clear();
  }
  if (!place.watched.empty() && place.watched != place.own) others.insert(place.own);
  for (const Access& access : accesses) {
    if (has_already(part, access, place.own)) continue;
    if (others.contains(access.namespace_)) {
      elsewhere.rules[access.namespace_].push_back(rule_for(access));
      continue;
    }
    const bool everywhere = !namespaced.contains({access.group, kind_of(access.resource)});
    (everywhere ? part.cluster_rules : part.rules).push_back(rule_for(access));
  }
  return elsewhere;
}

std::vector<PolicyRule> with_reads(std::vector<PolicyRule> rules) {
  const std::vector<PolicyRule> rights = single_rights(rules);
  for (const PolicyRule& listed : rights) {
    if (listed.verbs[0] != "list" || !listed.names.empty()) continue;
    const std::string& resource = listed.resources[0];
    const bool written = std::any_of(rights.begin(), rights.end(), [&](const PolicyRule& right) {
      const std::string& other = right.resources[0];
      return right.groups == listed.groups && writes(right.verbs[0]) &&
             (other == resource || other == resource + "/status");
    });
    if (written) rules.push_back({listed.groups, listed.resources, {"get"}});
  }
  return merge_rules(rules);
}

}  // namespace detail

std::vector<PolicyRule> rules_of(const ControllerSpec& spec) {
  ManifestPart part = detail::part_of(spec);
  append(part.rules, part.cluster_rules);
  return merge_rules(part.rules);
}

std::vector<PolicyRule> printed_rules(const std::vector<ControllerSpec>& specs,
                                      const std::vector<PolicyRule>& own) {
  std::vector<PolicyRule> rules = own;
  for (const ControllerSpec& spec : specs) append(rules, rules_of(spec));
  return detail::with_reads(std::move(rules));
}

}  // namespace v0
}  // namespace evenkeel
