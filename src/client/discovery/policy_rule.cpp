// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <compare>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <evenkeel/client/policy_rule.hpp>

namespace evenkeel {
inline namespace v0 {
namespace {

// Reads before writes, as roles usually have them.
constexpr std::array<std::string_view, 8> verb_order = {"get",    "list",  "watch",  "create",
                                                        "update", "patch", "delete", "deletecollection"};

bool before(const std::string& one, const std::string& other) {
  const auto rank = [](const std::string& verb) {
    return std::find(verb_order.begin(), verb_order.end(), verb) - verb_order.begin();
  };
  return std::pair(rank(one), one) < std::pair(rank(other), other);
}

bool contains(const std::vector<std::string>& list, const std::string& word) {
  return std::any_of(list.begin(), list.end(),
                     [&word](const std::string& each) { return each == "*" || each == word; });
}

// "*/scale" is the subresource of every resource.
bool matches(const std::vector<std::string>& resources, const std::string& resource) {
  if (contains(resources, resource)) return true;
  const std::size_t slash = resource.find('/');
  return slash != std::string::npos && contains(resources, "*" + resource.substr(slash));
}

Json list_of(const std::vector<std::string>& words) {
  Json list = Json::array();
  for (const std::string& word : words) list.push_back(word);
  return list;
}

struct VerbLess {
  bool operator()(const std::string& one, const std::string& other) const { return before(one, other); }
};
using Verbs = std::set<std::string, VerbLess>;
using Names = std::vector<std::string>;

struct Kind {
  std::string group, resource;
  Names names;
  auto operator<=>(const Kind&) const = default;
};

// Extends a rule for other resources, or other names, by this one, or appends it.
void add_to(std::vector<PolicyRule>& merged, const PolicyRule& rule) {
  for (PolicyRule& other : merged) {
    if (other.groups != rule.groups || other.verbs != rule.verbs) continue;
    if (other.names == rule.names) {
      other.resources.push_back(rule.resources[0]);
      return;
    }
    if (other.resources == rule.resources && !other.names.empty() && !rule.names.empty()) {
      other.names.push_back(rule.names[0]);
      return;
    }
  }
  merged.push_back(rule);
}

// "delete of configmaps", "get of leases.coordination.k8s.io \"demo\""
std::string text_of(const PolicyRule& right) {
  std::string text = Access{right.verbs[0], right.groups[0], right.resources[0], "", ""}.str();
  text.insert(right.verbs[0].size(), " of");
  return right.names.empty() ? text : text + " \"" + right.names[0] + "\"";
}

}  // namespace

bool PolicyRule::grants(const Access& access) const {
  const bool named = names.empty() || std::find(names.begin(), names.end(), access.name) != names.end();
  return named && contains(verbs, access.verb) && contains(groups, access.group) &&
         matches(resources, access.resource);
}

Json PolicyRule::json() const {
  Json rule = Json::object(
      {{"apiGroups", list_of(groups)}, {"resources", list_of(resources)}, {"verbs", list_of(verbs)}});
  if (!names.empty()) rule["resourceNames"] = list_of(names);
  return rule;
}

PolicyRule rule_for(const Access& access) {
  return {.groups = {access.group}, .resources = {access.resource}, .verbs = {access.verb}};
}

std::vector<PolicyRule> merge_rules(const std::vector<PolicyRule>& rules) {
  std::map<Kind, Verbs> verbs;
  for (const PolicyRule& right : single_rights(rules))
    verbs[{right.groups[0], right.resources[0], right.names}].insert(right.verbs[0]);
  std::vector<PolicyRule> merged;
  for (const auto& [kind, all] : verbs) {
    PolicyRule rule{{kind.group}, {kind.resource}, {}, kind.names};
    const auto of_all_names = verbs.find({kind.group, kind.resource, {}});
    for (const std::string& verb : all) {
      const bool granted =
          !rule.names.empty() && of_all_names != verbs.end() && of_all_names->second.contains(verb);
      if (!granted) rule.verbs.push_back(verb);
    }
    if (!rule.verbs.empty()) add_to(merged, rule);
  }
  return merged;
}

std::vector<PolicyRule> single_rights(const std::vector<PolicyRule>& rules) {
  std::vector<PolicyRule> rights;
  for (const PolicyRule& rule : rules) {
    std::vector<Names> names;
    for (const std::string& name : rule.names) names.push_back({name});
    if (names.empty()) names.emplace_back();
    for (const std::string& group : rule.groups)
      for (const std::string& resource : rule.resources)
        for (const std::string& verb : rule.verbs)
          for (const Names& name : names) rights.push_back({{group}, {resource}, {verb}, name});
  }
  return rights;
}

std::vector<std::string> compare_rights(const std::vector<PolicyRule>& rules,
                                        const std::vector<Access>& used) {
  std::vector<std::string> problems;
  for (const Access& access : used) {
    if (std::none_of(rules.begin(), rules.end(), [&](const PolicyRule& rule) { return rule.grants(access); }))
      problems.push_back("not granted: " + access.str());
  }
  for (const PolicyRule& right : single_rights(rules)) {
    if (std::none_of(used.begin(), used.end(), [&](const Access& access) { return right.grants(access); }))
      problems.push_back("not used: " + text_of(right));
  }
  return problems;
}

}  // namespace v0
}  // namespace evenkeel
