// SPDX-License-Identifier: Apache-2.0
#include "apiserver/rest/escalation.hpp"

#include <string>
#include <utility>

#include "apiserver/access/authorizer.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

std::string written_name(const Json& object) {
  return object.at({"metadata", "name"}).string_or("");
}

/// Throws unless the caller holds all the rights.
void require_held(const Call& call, const Json& object, const PolicyRules& wanted) {
  const HeldRules held = call.authorizer.rules_of(call.storage, call.caller, call.path.namespace_);
  const std::vector<std::string> missing = missing_rights(held.rules, wanted);
  if (missing.empty()) return;
  std::string text = "user " + Json(call.caller.user).dump() + " (groups=" + quoted_list(call.caller.groups) +
                     ") is attempting to grant RBAC permissions not currently held:";
  for (const std::string& one : missing) text += "\n" + one;
  if (!held.errors.empty()) text += "; resolution errors: " + held.error_text();
  throw StatusError::forbidden(call.type->resource(), written_name(object), text);
}

bool may_in_rbac(const Call& call, std::string_view verb, std::string_view resource,
                 const std::string& name) {
  return call.authorizer
      .decide(call.storage, call.caller,
              {.verb = std::string(verb),
               .group = std::string(rbac_group),
               .resource = std::string(resource),
               .namespace_ = call.path.namespace_,
               .name = name})
      .allowed;
}

void check_role_rights(const Call& call, const Json& object, const Json& live) {
  if (may_in_rbac(call, "escalate", call.type->plural, call.path.name)) return;
  const bool aggregated = !object["aggregationRule"].is_null();
  if (!live.is_null() && object["rules"] == live["rules"] &&
      object["aggregationRule"] == live["aggregationRule"])
    return;
  require_held(call, object, policy_rules(object["rules"]));
  if (!aggregated) return;
  const PolicyRules all{{.verbs = {"*"}, .groups = {"*"}, .resources = {"*"}},
                        {.verbs = {"*"}, .urls = {"*"}}};
  const HeldRules held = call.authorizer.rules_of(call.storage, call.caller, "");
  if (!missing_rights(held.rules, all).empty())
    throw StatusError::forbidden(call.type->resource(), written_name(object),
                                 "must have cluster-admin privileges to use the aggregationRule");
}

void check_bound_rights(const Call& call, const Json& object, const Json& live) {
  const Json& role = object["roleRef"];
  const bool cluster = role["kind"].string_or("") == "ClusterRole";
  if (!live.is_null() && role == live["roleRef"] && object["subjects"] == live["subjects"]) return;
  if (may_in_rbac(call, "bind", cluster ? "clusterroles" : "roles", role["name"].string_or(""))) return;
  const auto rules = call.authorizer.role_rules(call.storage, role, call.path.namespace_);
  if (!rules) throw StatusError::not_found(call.type->resource(), role["name"].string_or(""));
  require_held(call, object, *rules);
}

}  // namespace

void check_escalation(const Call& call, const Json& object, const Json& live) {
  if (call.type->custom || call.type->group != rbac_group || !call.authorizer.enabled()) return;
  if (is_in_group(call.caller, masters_group)) return;
  if (call.type->kind.ends_with("Binding"))
    check_bound_rights(call, object, live);
  else
    check_role_rights(call, object, live);
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
