// SPDX-License-Identifier: Apache-2.0
// Roles and their bindings, priorities, events. Source: kubernetes
// pkg/apis/{rbac,scheduling,core}/validation.
#include <utility>

#include "testing/builtin_checks.hpp"
#include "testing/name_rules.hpp"

namespace evenkeel::inline v0::testing::checks {
namespace {

constexpr std::string_view rbac = "rbac.authorization.k8s.io";
constexpr std::int64_t highest_priority = 1'000'000'000;

enum class Scope : bool { cluster, names_space };

void check_rule(const Json& rule, Scope scope, const std::string& here, Errors& errors) {
  if (is_empty(rule["verbs"]))
    errors.push_back(field_required(here + ".verbs", "verbs must contain at least one value"));
  const Json& urls = rule["nonResourceURLs"];
  if (!is_empty(urls)) {
    if (scope == Scope::names_space)
      errors.push_back(field_invalid(here + ".nonResourceURLs", urls,
                                     "namespaced rules cannot apply to non-resource URLs"));
    if (!is_empty(rule["apiGroups"]) || !is_empty(rule["resources"]) || !is_empty(rule["resourceNames"]))
      errors.push_back(field_invalid(here + ".nonResourceURLs", urls,
                                     "rules cannot apply to both regular resources and non-resource URLs"));
    return;
  }
  if (is_empty(rule["apiGroups"]))
    errors.push_back(
        field_required(here + ".apiGroups", "resource rules must supply at least one api group"));
  if (is_empty(rule["resources"]))
    errors.push_back(field_required(here + ".resources", "resource rules must supply at least one resource"));
}

void check_rules(const Json& object, Scope scope, Errors& errors) {
  for (std::size_t i = 0; i < object["rules"].size(); ++i)
    check_rule(object["rules"][i], scope, indexed("rules", i), errors);
}

void check_subject(const Json& subject, Scope scope, const std::string& here, Errors& errors) {
  const std::string kind = subject["kind"].string_or("");
  const std::string name = subject["name"].string_or("");
  if (name.empty()) errors.push_back(field_required(here + ".name"));
  const Json& group = subject["apiGroup"];
  if (kind == "ServiceAccount") {
    if (!name.empty()) check_subdomain(name, here + ".name", errors);
    if (!is_empty(group)) check_one_of(group, here + ".apiGroup", {Json("")}, errors);
    if (scope == Scope::cluster && is_empty(subject["namespace"]))
      errors.push_back(field_required(here + ".namespace"));
  } else if (kind == "User" || kind == "Group") {
    check_one_of(group, here + ".apiGroup", {Json(rbac)}, errors);
  } else {
    check_one_of(subject["kind"], here + ".kind", {Json("ServiceAccount"), Json("User"), Json("Group")},
                 errors);
  }
}

/// As Go prints a RoleRef.
Json printed_role(const Json& role) {
  return Json::object({{"APIGroup", role["apiGroup"]}, {"Kind", role["kind"]}, {"Name", role["name"]}});
}

void check_binding(const Json& object, const Json& old, Scope scope, Errors& errors) {
  const Json& role = object["roleRef"];
  if (!old.is_null() && role != old["roleRef"])
    errors.push_back(field_invalid("roleRef", printed_role(role), "cannot change roleRef"));
  if (role["apiGroup"].string_or(rbac) != rbac)
    check_one_of(role["apiGroup"], "roleRef.apiGroup", {Json(rbac)}, errors);
  Json::Array kinds = {Json("ClusterRole")};
  if (scope == Scope::names_space) kinds.insert(kinds.begin(), Json("Role"));
  check_one_of(role["kind"], "roleRef.kind", kinds, errors);
  if (is_empty(role["name"])) errors.push_back(field_required("roleRef.name"));
  for (std::size_t i = 0; i < object["subjects"].size(); ++i)
    check_subject(object["subjects"][i], scope, indexed("subjects", i), errors);
}

/// An event lies in the namespace of its object, and in `default` if that has none. With an eventTime,
/// `kube-system` is as good as `default`, and namespaces that differ are allowed.
/// Source: kubernetes pkg/apis/core/validation/events.go, legacyValidateEvent.
void check_event_namespace(const Json& event, Errors& errors) {
  const std::string space = event["involvedObject"]["namespace"].string_or("");
  const std::string own = event.at({"metadata", "namespace"}).string_or("");
  const bool timed = !is_empty(event["eventTime"]);
  const bool fits =
      space.empty() ? own == "default" || (timed && own == "kube-system") : timed || own == space;
  if (!fits)
    errors.push_back(
        field_invalid("involvedObject.namespace", Json(space), "does not match event.namespace"));
}

/// Events of events.k8s.io, and those of the core group that have an eventTime.
void check_new_event(const Json& event, Errors& errors) {
  const auto wrong = [&](const char* field, const std::string& problem) {
    errors.push_back(field_invalid(field, Json(""), problem));
  };
  const std::string controller =
      event["reportingController"].string_or(event["reportingComponent"].string_or(""));
  const std::string at =
      event["reportingController"].is_null() ? "reportingComponent" : "reportingController";
  const std::string instance = event["reportingInstance"].string_or("");
  if (controller.empty()) errors.push_back(field_required("reportingController"));
  add_all("reportingController", controller, qualified_name_problems(controller), errors);
  if (instance.empty()) errors.push_back(field_required("reportingInstance"));
  if (instance.size() > 128) wrong("repotingIntance", "can have at most 128 characters");
  if (is_empty(event["action"])) errors.push_back(field_required("action"));
  if (event["action"].string_or("").size() > 128) wrong("action", "can have at most 128 characters");
  if (is_empty(event["reason"])) errors.push_back(field_required("reason"));
  if (event["reason"].string_or("").size() > 128) wrong("reason", "can have at most 128 characters");
  const std::string note = event["note"].string_or(event["message"].string_or(""));
  if (note.size() > 1024) wrong("message", "can have at most 1024 characters");
  const std::string type = event["type"].string_or("");
  if (type != "Normal" && type != "Warning") wrong("type", "has invalid value: " + type);
  if (event["series"].is_object() && event["series"]["count"].integer_or(0) < 2)
    wrong("series.count", "should be at least 2");
}

}  // namespace

void check_role(const Json& object, const Json&, Errors& errors) {
  check_rules(object, Scope::names_space, errors);
}

void check_cluster_role(const Json& object, const Json&, Errors& errors) {
  check_rules(object, Scope::cluster, errors);
  const Json& aggregation = object["aggregationRule"];
  if (aggregation.is_object() && is_empty(aggregation["clusterRoleSelectors"]))
    errors.push_back(
        field_required("aggregationRule.clusterRoleSelectors",
                       "at least one clusterRoleSelector required if aggregationRule is non-nil"));
}

void check_role_binding(const Json& object, const Json& old, Errors& errors) {
  check_binding(object, old, Scope::names_space, errors);
}

void check_cluster_role_binding(const Json& object, const Json& old, Errors& errors) {
  check_binding(object, old, Scope::cluster, errors);
}

void check_priority_class(const Json& object, const Json& old, Errors& errors) {
  const std::string name = object.at({"metadata", "name"}).string_or("");
  if (name.starts_with("system-") && name != "system-node-critical" && name != "system-cluster-critical")
    errors.push_back(field_forbidden("metadata.name",
                                     "priority class names with 'system-' prefix are reserved for system use "
                                     "only. error: " +
                                         name + " is not a known system priority class"));
  else if (!name.starts_with("system-") && object["value"].integer_or(0) > highest_priority)
    errors.push_back(field_forbidden(
        "value", "maximum allowed value of a user defined priority is " + std::to_string(highest_priority)));
  if (old.is_null()) return;
  if (object["value"] != old["value"])
    errors.push_back(field_forbidden("value", "may not be changed in an update."));
  check_immutable(object["preemptionPolicy"], old["preemptionPolicy"], "preemptionPolicy", errors);
}

void check_event(const Json& object, const Json& old, Errors& errors) {
  const bool core = object["apiVersion"] == Json("v1");
  if (core) return check_event_namespace(object, errors);
  if (old.is_null()) {
    if (is_empty(object["eventTime"])) errors.push_back(field_required("eventTime"));
    return check_new_event(object, errors);
  }
  if (object["reason"] != old["reason"]) check_immutable(object["reason"], old["reason"], "reason", errors);
  check_immutable(object["note"], old["note"], "message", errors);
}

}  // namespace evenkeel::inline v0::testing::checks
