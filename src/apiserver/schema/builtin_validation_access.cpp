// SPDX-License-Identifier: Apache-2.0
// Validation of roles and their bindings, webhooks, priorities, events.
// Source: kubernetes pkg/apis/{rbac,admissionregistration,scheduling,core}/validation.
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "apiserver/schema/builtin_checks.hpp"
#include "apiserver/schema/name_rules.hpp"
#include "apiserver/schema/webhook_client.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver::checks {
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

/// Returns a RoleRef with the members that Go prints.
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

/// Checks that an event is in the namespace of its object, or in `default` if the object has none. With an
/// eventTime, `kube-system` is valid as well, and the namespaces may differ.
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

/// Checks a list of names in which "*" stands for all; `what` describes the names.
void check_wildcards(const Json& list, const std::string& field, const char* what, Errors& errors) {
  if (is_empty(list)) return errors.push_back(field_required(field));
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list.size() > 1 && list[i] == Json("*"))
      errors.push_back(
          field_invalid(field, list, std::string("if '*' is present, must not specify other ") + what));
}

void check_webhook_rule(const Json& rule, const std::string& here, Errors& errors) {
  check_wildcards(rule["apiGroups"], here + ".apiGroups", "API groups", errors);
  check_wildcards(rule["apiVersions"], here + ".apiVersions", "API versions", errors);
  check_wildcards(rule["operations"], here + ".operations", "operations", errors);
  if (is_empty(rule["resources"])) errors.push_back(field_required(here + ".resources"));
  for (const char* list : {"apiVersions", "resources"})
    for (std::size_t i = 0; i < rule[list].size(); ++i)
      if (is_empty(rule[list][i])) errors.push_back(field_required(indexed(here + "." + list, i)));
}

/// Checks that the server supports one of the review versions that a webhook accepts.
void check_review_versions(const Json& versions, const std::string& field, Errors& errors) {
  if (is_empty(versions)) return errors.push_back(field_required(field, "must specify one of v1, v1beta1"));
  std::set<std::string> seen;
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const std::string version = versions[i].string_or("");
    if (!seen.insert(version).second)
      errors.push_back(field_invalid(indexed(field, i), version, "duplicate version"));
    else
      add_all(indexed(field, i), version, name_problems(version, NameRule::dns_label), errors);
  }
  if (!seen.contains("v1") && !seen.contains("v1beta1"))
    errors.push_back(field_invalid(field, versions, "must include at least one of v1, v1beta1"));
}

/// Checks for a domain of three labels or more.
void check_qualified(const Json& name, const std::string& field, Errors& errors) {
  const std::string text = name.string_or("");
  if (text.empty()) return errors.push_back(field_required(field));
  const std::size_t before = errors.size();
  check_subdomain(text, field, errors);
  if (errors.size() == before && std::count(text.begin(), text.end(), '.') < 2)
    errors.push_back(
        field_invalid(field, text, "should be a domain with at least three segments separated by dots"));
}

/// Source: kubernetes admissionregistration validation validateMutatingWebhook, validateValidatingWebhook.
void check_webhook(const Json& webhook, const std::string& here, Errors& errors) {
  check_qualified(webhook["name"], here + ".name", errors);
  for (std::size_t i = 0; i < webhook["rules"].size(); ++i)
    check_webhook_rule(webhook["rules"][i], indexed(here + ".rules", i), errors);
  if (is_empty(webhook["sideEffects"]))
    errors.push_back(field_required(here + ".sideEffects", "must specify one of None, NoneOnDryRun"));
  if (const std::int64_t limit = webhook["timeoutSeconds"].integer_or(10); limit < 1 || limit > 30)
    errors.push_back(field_invalid(here + ".timeoutSeconds", Json(limit),
                                   "the timeout value must be between 1 and 30 seconds"));
  for (const char* selector : {"namespaceSelector", "objectSelector"}) {
    const Errors problems = selector_problems(webhook[selector], here + "." + selector);
    errors.insert(errors.end(), problems.begin(), problems.end());
  }
  check_webhook_client(webhook["clientConfig"], here + ".clientConfig", errors);
  check_review_versions(webhook["admissionReviewVersions"], here + ".admissionReviewVersions", errors);
}

/// Checks events of events.k8s.io, and those of the core group that have an eventTime.
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

void check_webhooks(const Json& object, const Json&, Errors& errors) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < object["webhooks"].size(); ++i) {
    const Json& webhook = object["webhooks"][i];
    const std::string here = indexed("webhooks", i);
    check_webhook(webhook, here, errors);
    if (const std::string name = webhook["name"].string_or(""); !name.empty() && !names.insert(name).second)
      errors.push_back(field_duplicate(here + ".name", webhook["name"]));
  }
}

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
  for (std::size_t i = 0; i < aggregation["clusterRoleSelectors"].size(); ++i) {
    const std::string here = indexed("aggregationRule.clusterRoleSelectors", i);
    const Errors problems = selector_problems(aggregation["clusterRoleSelectors"][i], here);
    errors.insert(errors.end(), problems.begin(), problems.end());
    if (!problems.empty()) errors.push_back(field_invalid(here, Json(), "invalid label selector."));
  }
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

}  // namespace apiserver::checks
}  // namespace v0
}  // namespace evenkeel
