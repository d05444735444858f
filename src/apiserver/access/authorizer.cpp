// SPDX-License-Identifier: Apache-2.0
#include "apiserver/access/authorizer.hpp"

#include <algorithm>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

constexpr std::string_view account_prefix = "system:serviceaccount:";

std::string role_not_found(const Json& role) {
  const bool cluster = role["kind"].string_or("") == "ClusterRole";
  return std::string(cluster ? "clusterrole." : "role.") + std::string(rbac_group) + " " +
         role["name"].dump() + " not found";
}

std::string subject_text(const std::string& kind, const std::string& name, const std::string& namespace_) {
  return kind + " " + Json(kind == "ServiceAccount" ? name + "/" + namespace_ : name).dump();
}

/// Returns the part of an access request that impersonation needs for one name.
AccessRequest impersonation_of(std::string_view group, std::string_view resource, std::string name,
                               std::string namespace_ = {}, std::string subresource = {}) {
  return {.verb = "impersonate",
          .group = std::string(group),
          .resource = std::string(resource),
          .subresource = std::move(subresource),
          .namespace_ = std::move(namespace_),
          .name = std::move(name)};
}

}  // namespace

std::string HeldRules::error_text() const {
  if (errors.size() == 1) return errors.front();
  std::string out;
  for (const std::string& error : errors) out += (out.empty() ? "" : ", ") + error;
  return errors.empty() ? out : "[" + out + "]";
}

bool is_in_group(const Caller& caller, std::string_view group) {
  return std::find(caller.groups.begin(), caller.groups.end(), group) != caller.groups.end();
}

std::optional<Caller> service_account_of(std::string_view user) {
  if (!user.starts_with(account_prefix)) return std::nullopt;
  const std::string_view rest = user.substr(account_prefix.size());
  const std::size_t colon = rest.find(':');
  if (colon == 0 || colon == std::string_view::npos || colon + 1 == rest.size()) return std::nullopt;
  if (rest.find(':', colon + 1) != std::string_view::npos) return std::nullopt;
  return service_account_caller(rest.substr(0, colon), rest.substr(colon + 1));
}

std::optional<Caller> impersonated(const http::Request& request) {
  constexpr std::string_view extra_prefix = "impersonate-extra-";
  Caller user{.user = {}, .groups = {}};
  bool asked = false;
  for (const auto& [name, value] : request.headers) {
    std::string lower = name;
    for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    if (!lower.starts_with("impersonate-")) continue;
    asked = true;
    if (lower == "impersonate-user") user.user = value;
    if (lower == "impersonate-uid") user.uid = value;
    if (lower == "impersonate-group") user.groups.push_back(value);
    if (!lower.starts_with(extra_prefix)) continue;
    const std::string key = http::percent_decode(std::string_view(lower).substr(extra_prefix.size()));
    user.extra.emplace_back(key, std::vector<std::string>{value});
  }
  if (!asked) return std::nullopt;
  if (user.user.empty())
    throw StatusError::bad_request("impersonation needs a user: the header Impersonate-User is missing");
  if (const auto account = service_account_of(user.user); account && user.groups.empty())
    user.groups = account->groups;
  const std::string_view everyone =
      user.user == "system:anonymous" ? "system:unauthenticated" : "system:authenticated";
  if (!is_in_group(user, everyone)) user.groups.emplace_back(everyone);
  return user;
}

bool Authorizer::applies(const Subject& subject, const Caller& caller, std::string_view namespace_) {
  if (subject.kind == "User") return subject.name == caller.user;
  if (subject.kind == "Group") return is_in_group(caller, subject.name);
  if (subject.kind != "ServiceAccount") return false;
  const std::string_view space = subject.namespace_.empty() ? namespace_ : subject.namespace_;
  return !space.empty() &&
         caller.user == std::string(account_prefix) + std::string(space) + ":" + subject.name;
}

Authorizer::Binding Authorizer::binding_of(const Stored& object) {
  Binding out{.role = object.part("roleRef"), .subjects = {}};
  const Json subjects = object.part("subjects");
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    const Json& one = std::as_const(subjects)[i];
    out.subjects.push_back(
        {one["kind"].string_or(""), one["name"].string_or(""), one["namespace"].string_or("")});
  }
  return out;
}

template <class Parsed, class Parse>
void Authorizer::refresh(const Collection& collection, Parts<Parsed>& parts, const Parse& parse) {
  if (collection.changed == parts.changed) return;
  std::map<std::string, std::pair<StoredPtr, Parsed>> entries;
  for (const auto& [key, object] : collection.objects) {
    const auto known = parts.entries.find(key);
    if (known != parts.entries.end() && known->second.first == object)
      entries.emplace(key, std::move(known->second));
    else
      entries.emplace(key, std::pair(object, parse(*object)));
  }
  parts = {.changed = collection.changed, .entries = std::move(entries)};
}

void Authorizer::refresh_all(Storage& storage) {
  const auto rules = [](const Stored& object) { return policy_rules(object.part("rules")); };
  Store& store = storage.store;
  refresh(store.collection(rbac_group, "roles", true), roles_, rules);
  refresh(store.collection(rbac_group, "clusterroles", false), cluster_roles_, rules);
  refresh(store.collection(rbac_group, "rolebindings", true), bindings_, binding_of);
  refresh(store.collection(rbac_group, "clusterrolebindings", false), cluster_bindings_, binding_of);
}

const PolicyRules* Authorizer::rules_of_role(const Json& role, std::string_view namespace_) const {
  const bool cluster = role["kind"].string_or("") == "ClusterRole";
  const std::string name = role["name"].string_or("");
  const auto& entries = cluster ? cluster_roles_.entries : roles_.entries;
  const auto found = entries.find(cluster ? name : std::string(namespace_) + "/" + name);
  return found == entries.end() ? nullptr : &found->second.second;
}

template <class Visit>
void Authorizer::visit_bindings(const Caller& caller, std::string_view namespace_, const Visit& visit) const {
  const auto visit_one = [&](std::string_view kind, const std::string& key, const Binding& binding) {
    for (const Subject& subject : binding.subjects)
      if (applies(subject, caller, kind == "RoleBinding" ? namespace_ : ""))
        return visit(kind, key, binding, subject);
    return false;
  };
  for (const auto& [key, entry] : cluster_bindings_.entries)
    if (visit_one("ClusterRoleBinding", key, entry.second)) return;
  if (namespace_.empty()) return;
  const std::string prefix = std::string(namespace_) + "/";
  for (auto at = bindings_.entries.lower_bound(prefix);
       at != bindings_.entries.end() && at->first.starts_with(prefix); ++at)
    if (visit_one("RoleBinding", at->first, at->second.second)) return;
}

AccessDecision Authorizer::decide(Storage& storage, const Caller& caller, const AccessRequest& request) {
  if (!enabled() || is_in_group(caller, masters_group)) return {.allowed = true};
  refresh_all(storage);
  AccessDecision decision;
  HeldRules held;
  visit_bindings(
      caller, request.namespace_,
      [&](std::string_view kind, const std::string& key, const Binding& binding, const Subject& subject) {
        const PolicyRules* rules = rules_of_role(binding.role, request.namespace_);
        if (rules == nullptr) {
          held.errors.push_back(role_not_found(binding.role));
          return false;
        }
        if (!std::any_of(rules->begin(), rules->end(),
                         [&](const PolicyRule& rule) { return allows(rule, request); }))
          return false;
        // Source: rbac.go: the name of a RoleBinding comes before its namespace.
        const std::size_t slash = key.find('/');
        const std::string name =
            slash == std::string::npos ? key : key.substr(slash + 1) + "/" + key.substr(0, slash);
        decision = {.allowed = true,
                    .reason = "RBAC: allowed by " + std::string(kind) + " " + Json(name).dump() + " of " +
                              binding.role["kind"].string_or("") + " " + binding.role["name"].dump() +
                              " to " + subject_text(subject.kind, subject.name, subject.namespace_)};
        return true;
      });
  if (!decision.allowed && !held.errors.empty()) decision.reason = "RBAC: " + held.error_text();
  return decision;
}

void Authorizer::require(Storage& storage, const Caller& caller, const AccessRequest& request) {
  const AccessDecision decision = decide(storage, caller, request);
  if (!decision.allowed) throw access_denied(request, caller.user, decision.reason);
}

void Authorizer::require_impersonation(Storage& storage, const Caller& caller, const Caller& user,
                                       const AccessRequest& request) {
  std::vector<AccessRequest> needed;
  const std::optional<Caller> account = service_account_of(user.user);
  if (account) {
    const std::size_t space = account_prefix.size();
    const std::size_t colon = user.user.find(':', space);
    needed.push_back(impersonation_of("", "serviceaccounts", user.user.substr(colon + 1),
                                      user.user.substr(space, colon - space)));
  } else {
    needed.push_back(impersonation_of("", "users", user.user));
  }
  for (const std::string& group : user.groups)
    if (group != "system:authenticated" && group != "system:unauthenticated" &&
        !(account && is_in_group(*account, group)))
      needed.push_back(impersonation_of("", "groups", group));
  constexpr std::string_view authentication = "authentication.k8s.io";
  if (!user.uid.empty()) needed.push_back(impersonation_of(authentication, "uids", user.uid));
  for (const auto& [key, values] : user.extra)
    for (const std::string& value : values)
      needed.push_back(impersonation_of(authentication, "userextras", value, {}, key));
  for (const AccessRequest& one : needed) {
    if (decide(storage, caller, one).allowed) continue;
    AccessRequest denied = request;
    denied.verb =
        std::string(account ? "impersonate-on:serviceaccount:" : "impersonate-on:user-info:") + request.verb;
    throw access_denied(denied, caller.user, decide(storage, caller, denied).reason);
  }
}

HeldRules Authorizer::rules_of(Storage& storage, const Caller& caller, std::string_view namespace_) {
  refresh_all(storage);
  HeldRules held;
  visit_bindings(caller, namespace_,
                 [&](std::string_view, const std::string&, const Binding& binding, const Subject&) {
                   if (const PolicyRules* rules = rules_of_role(binding.role, namespace_))
                     held.rules.insert(held.rules.end(), rules->begin(), rules->end());
                   else
                     held.errors.push_back(role_not_found(binding.role));
                   return false;
                 });
  return held;
}

std::optional<PolicyRules> Authorizer::role_rules(Storage& storage, const Json& role_ref,
                                                  std::string_view namespace_) {
  refresh_all(storage);
  const PolicyRules* rules = rules_of_role(role_ref, namespace_);
  if (rules == nullptr) return std::nullopt;
  return *rules;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
