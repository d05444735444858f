// SPDX-License-Identifier: Apache-2.0
#include "apiserver/webhook/webhook.hpp"

#include <algorithm>
#include <utility>

#include "apiserver/query/label_selector.hpp"
#include "apiserver/schema/cel.hpp"
#include "apiserver/webhook/conversions.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

constexpr std::string_view configurations_group = "admissionregistration.k8s.io";
/// The cost that the conditions of one webhook may have together.
constexpr std::int64_t condition_budget = 10'000'000;

bool lists(const Json& list, std::string_view item) {
  for (std::size_t i = 0; i < list.size(); ++i)
    if (const std::string each = list[i].string_or(""); each == "*" || each == item) return true;
  return false;
}

bool lists_resource(const Json& list, std::string_view plural, std::string_view subresource) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string each = list[i].string_or("");
    const std::size_t slash = each.find('/');
    const std::string_view first = std::string_view(each).substr(0, slash);
    const std::string_view second =
        slash == std::string::npos ? std::string_view() : std::string_view(each).substr(slash + 1);
    if ((first == "*" || first == plural) && (second == "*" || second == subresource)) return true;
  }
  return false;
}

bool has_scope(const Json& rule, const ResourceType& type) {
  const std::string scope = rule["scope"].string_or("*");
  return scope == "*" || (scope == "Namespaced") == type.namespaced;
}

bool matches_rules(const Webhook& webhook, const AdmissionEvent& event, const ResourceType& type) {
  const Json& rules = webhook.spec["rules"];
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const Json& rule = rules[i];
    if (lists(rule["operations"], event.operation) && lists(rule["apiGroups"], type.group) &&
        lists(rule["apiVersions"], type.version) &&
        lists_resource(rule["resources"], type.plural, event.subresource) && has_scope(rule, type))
      return true;
  }
  return false;
}

/// Returns the version that a rule matches: that of the request, or another one of the same CRD.
ResourceTypePtr version_matched(const Call& call, const Webhook& webhook, const AdmissionEvent& event) {
  if (matches_rules(webhook, event, *call.type)) return call.type;
  if (!call.type->custom || webhook.spec["matchPolicy"].string_or("Equivalent") != "Equivalent")
    return nullptr;
  for (const ResourceTypePtr& other : call.storage.registry.custom(call.type->crd_name))
    if (matches_rules(webhook, event, *other)) return other;
  return nullptr;
}

/// Returns the labels that the namespaceSelector looks at; std::nullopt for objects outside of namespaces.
std::optional<Json> namespace_labels(const Call& call, const AdmissionEvent& event, const Json& object) {
  if (call.type->plural == "namespaces" && call.type->group.empty())
    return (object.is_null() ? event.old : object).at({"metadata", "labels"});
  if (!call.type->namespaced) return std::nullopt;
  const Collection& spaces = call.storage.store.collection("", "namespaces", false);
  const StoredPtr space = call.storage.store.find(spaces, call.path.namespace_);
  return space ? space->part("metadata.labels") : Json();
}

bool matches_selectors(const Call& call, const Webhook& webhook, const AdmissionEvent& event,
                       const Json& object) {
  const Json& spaces = webhook.spec["namespaceSelector"];
  if (!spaces.is_null() && !spaces.empty())
    if (const auto labels = namespace_labels(call, event, object); labels && !selects(spaces, *labels))
      return false;
  const Json& objects = webhook.spec["objectSelector"];
  if (objects.is_null() || objects.empty()) return true;
  const auto selected = [&](const Json& document) {
    return !document.is_null() && selects(objects, document.at({"metadata", "labels"}));
  };
  return selected(object) || selected(event.old);
}

/// Evaluates the conditions: one that is false decides, also after one that cannot be evaluated. Throws
/// CelError. Source: apiserver pkg/admission/plugin/webhook/matchconditions/matcher.go.
bool meets_conditions(Call& call, const Webhook& webhook, const AdmissionEvent& event,
                      const ResourceType& type, const Json& object) {
  const Json& conditions = webhook.spec["matchConditions"];
  if (conditions.empty()) return true;
  Json request = admission_request(call, event, type, object);
  for (const char* part : {"object", "oldObject"}) request.erase(part);
  const CelExpression::Variables variables = {{"object", CelValue::of(object)},
                                              {"oldObject", CelValue::of(event.old)},
                                              {"request", CelValue::of(std::move(request))}};
  std::int64_t budget = condition_budget;
  std::vector<std::string> problems;
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    try {
      const CelExpression expression(conditions[i]["expression"].string_or(""));
      if (!expression.evaluate(variables, budget).data().bool_or(false)) return false;
    } catch (const CelError& error) {
      const std::string text =
          "expression '" + conditions[i]["expression"].string_or("") + "' resulted in error: " + error.what();
      if (std::find(problems.begin(), problems.end(), text) == problems.end()) problems.push_back(text);
    }
  }
  if (problems.empty()) return true;
  std::string all = problems.front();
  for (std::size_t i = 1; i < problems.size(); ++i) all += ", " + problems[i];
  throw CelError(problems.size() == 1 ? all : "[" + all + "]");
}

Json group_version(const ResourceType& type, const char* member, const std::string& value) {
  return Json::object({{"group", type.group}, {"version", type.version}, {member, value}});
}

Json kind_of(const ResourceType& type, bool scale) {
  if (scale) return Json::object({{"group", "autoscaling"}, {"version", "v1"}, {"kind", "Scale"}});
  return group_version(type, "kind", type.kind);
}

}  // namespace

bool ignores_failures(const Webhook& webhook) {
  return webhook.spec["failurePolicy"].string_or("Fail") == "Ignore";
}

std::vector<Webhook> webhooks(Storage& storage, WebhookKind kind) {
  const Collection& configurations = storage.store.collection(
      configurations_group,
      kind == WebhookKind::mutating ? "mutatingwebhookconfigurations" : "validatingwebhookconfigurations",
      false);
  std::vector<Webhook> out;
  for (const auto& [name, configuration] : configurations.objects) {
    const Json entries = configuration->part("webhooks");
    for (std::size_t i = 0; i < entries.size(); ++i)
      out.push_back({.configuration = name, .spec = std::as_const(entries)[i]});
  }
  return out;
}

ResourceTypePtr matched_type(Call& call, const Webhook& webhook, const AdmissionEvent& event,
                             const Json& object) {
  if (!call.type->custom && call.type->group == configurations_group) return nullptr;
  const ResourceTypePtr type = version_matched(call, webhook, event);
  if (!type || !matches_selectors(call, webhook, event, object)) return nullptr;
  try {
    return meets_conditions(call, webhook, event, *type, object) ? type : nullptr;
  } catch (const CelError& problem) {
    if (ignores_failures(webhook)) return nullptr;
    throw StatusError::forbidden(call.type->resource(), event.name, problem.what());
  }
}

Json admission_request(Call& call, const AdmissionEvent& event, const ResourceType& type,
                       const Json& object) {
  Json out = Json::object({{"uid", call.storage.identity.uid()},
                           {"kind", kind_of(type, event.is_scale)},
                           {"resource", group_version(type, "resource", type.plural)},
                           {"requestKind", kind_of(*call.type, event.is_scale)},
                           {"requestResource", group_version(*call.type, "resource", call.type->plural)},
                           {"operation", event.operation},
                           {"userInfo", user_document(call.caller)},
                           {"object", in_version(call, object, type)},
                           {"oldObject", in_version(call, event.old, type)},
                           {"dryRun", event.dry_run},
                           {"options", event.options}});
  if (!event.subresource.empty()) {
    out["subResource"] = event.subresource;
    out["requestSubResource"] = event.subresource;
  }
  if (!event.name.empty()) out["name"] = event.name;
  const bool is_space = call.type->plural == "namespaces" && call.type->group.empty();
  const std::string& space = is_space ? event.name : call.path.namespace_;
  if (!space.empty()) out["namespace"] = space;
  return out;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
