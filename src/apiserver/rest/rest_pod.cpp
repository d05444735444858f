// SPDX-License-Identifier: Apache-2.0
// Subresources of pods: binding, eviction, and those that need a node.
// Source: kubernetes pkg/registry/core/pod/storage.
#include <string>
#include <utility>
#include <vector>

#include "apiserver/query/label_selector.hpp"
#include "apiserver/request/request_body.hpp"
#include "apiserver/request/respond.hpp"
#include "apiserver/rest/deletion.hpp"
#include "apiserver/rest/rest.hpp"
#include "apiserver/rest/write.hpp"
#include "apiserver/text/timestamps.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

http::Response created() {
  Json status = success_status(Json());
  status.erase("details");
  status["code"] = 201;
  return json_response(201, status.dump());
}

/// Replaces the condition of the same type.
void set_pod_condition(Json& body, Json condition) {
  Json& conditions = body["status"]["conditions"];
  if (!conditions.is_array()) conditions = Json::array();
  for (Json& present : conditions.as_array())
    if (std::as_const(present)["type"] == std::as_const(condition)["type"]) {
      present = std::move(condition);
      return;
    }
  conditions.push_back(std::move(condition));
}

Json true_condition(const char* type, const Call& call) {
  return Json::object({{"type", type},
                       {"status", "True"},
                       {"lastProbeTime", nullptr},
                       {"lastTransitionTime", timestamp(call.now)}});
}

void merge_metadata(Json& metadata, const Json& more, const char* member) {
  if (!more[member].is_object()) return;
  if (!std::as_const(metadata)[member].is_object()) metadata[member] = Json::object();
  for (const auto& [name, value] : more[member].as_object()) metadata[member][name] = value;
}

Json action_body(const Call& call, const char* kind, const std::string& name) {
  Json body = parse_body(call, kind);
  if (body["metadata"]["name"].string_or("") != name)
    throw StatusError::bad_request("name in URL does not match name in " + std::string(kind) + " object");
  return body;
}

StoredPtr require_pod(Storage& storage, const Call& call, const ResourceType& pods, const std::string& name) {
  StoredPtr pod = storage.store.find(storage.collection(pods),
                                     storage.collection(pods).key_of(call.path.namespace_, name));
  if (!pod) throw StatusError::not_found(pods.resource(), name);
  return pod;
}

void check_target(const Json& target) {
  FieldErrors errors;
  const Json& kind = target["kind"];
  if (!kind.string_or("").empty() && kind != Json("Node"))
    errors.push_back(field_not_supported("target.kind", kind, {Json("Node"), Json("<empty>")}));
  if (target["name"].string_or("").empty()) errors.push_back(field_required("target.name"));
  if (!errors.empty()) throw StatusError::internal(describe(errors));
}

/// The fields of a binding have no owner, and do not change the generation.
http::Response bind(Storage& storage, Call& call, const ResourceType& pods, const Json& binding) {
  const std::string name = std::as_const(binding)["metadata"]["name"].string_or("");
  check_target(binding["target"]);
  const StoredPtr pod = require_pod(storage, call, pods, name);
  Json body = storage.store.body(pod);
  if (const Json& present = std::as_const(body).at({"spec", "nodeName"}); !present.string_or("").empty())
    throw StatusError::conflict({"", "pods/binding"}, name,
                                "pod " + name + " is already assigned to node " + present.dump());
  body["spec"]["nodeName"] = binding.at({"target", "name"});
  merge_metadata(body["metadata"], binding["metadata"], "annotations");
  merge_metadata(body["metadata"], binding["metadata"], "labels");
  set_pod_condition(body, true_condition("PodScheduled", call));
  if (!write_options(call, "CreateOptions").dry_run)
    storage.store.put(storage.collection(pods), std::move(body));
  return created();
}

[[noreturn]] void refuse_eviction(const std::string& cause, int retry_after) {
  Json details = Json::object(
      {{"causes", Json::array({Json::object({{"reason", "DisruptionBudget"}, {"message", cause}})})}});
  if (retry_after > 0) details["retryAfterSeconds"] = retry_after;
  throw StatusError(429, "TooManyRequests",
                    "Cannot evict pod as it would violate the pod's disruption budget.", std::move(details));
}

bool is_ready(const Stored& pod) {
  const Json conditions = pod.part("status.conditions");
  for (std::size_t i = 0; i < conditions.size(); ++i)
    if (conditions[i]["type"] == Json("Ready")) return conditions[i]["status"] == Json("True");
  return false;
}

/// Returns true if a pod that is not ready may be evicted without counting.
bool may_go_unready(const Stored& pod, const Stored& budget) {
  if (is_ready(pod)) return false;
  if (budget.part("spec.unhealthyPodEvictionPolicy") == Json("AlwaysAllow")) return true;
  const Json status = budget.part("status");
  const std::int64_t desired = status["desiredHealthy"].integer_or(0);
  return desired > 0 && status["currentHealthy"].integer_or(0) >= desired;
}

constexpr std::string_view disruption_allowed = "DisruptionAllowed";
constexpr std::size_t max_disrupted_pods = 2000;

/// Returns the condition of the type, or null.
const Json& condition_of(const Json& status, std::string_view type) {
  const Json& conditions = status["conditions"];
  for (std::size_t i = 0; i < conditions.size(); ++i)
    if (conditions[i]["type"] == Json(type)) return conditions[i];
  return conditions[conditions.size()];
}

/// Returns the reason for which a budget permits no disruption.
std::string exhaustion(const std::string& name, const Json& status) {
  const std::string refusal = "The disruption budget " + name + " does not allow evicting pods currently";
  const Json& condition = condition_of(status, disruption_allowed);
  const std::string reason = condition["reason"].string_or("");
  const std::string message =
      condition["status"] == Json("False") ? condition["message"].string_or("") : std::string();
  if (!message.empty() && reason == "SyncFailed") return refusal + " because it failed sync: " + message;
  const std::int64_t desired = status["desiredHealthy"].integer_or(0);
  const std::int64_t healthy = status["currentHealthy"].integer_or(0);
  if (healthy <= desired)
    return "The disruption budget " + name + " needs " + std::to_string(desired) + " healthy pods and has " +
           std::to_string(healthy) + " currently";
  return message.empty() ? refusal : refusal + " (" + reason + "): " + message;
}

/// Throws StatusError (403, 429) unless the budget permits a disruption.
void check_allowance(const Stored& budget, const Json& status) {
  const std::string& name = budget.name();
  if (status["observedGeneration"].integer_or(0) < budget.part("metadata.generation").integer_or(0))
    refuse_eviction("The disruption budget " + name + " is still being processed by the server.", 10);
  const GroupResource resource{"policy", "poddisruptionbudget"};
  const std::int64_t allowed = status["disruptionsAllowed"].integer_or(0);
  if (allowed < 0) throw StatusError::forbidden(resource, name, "pdb disruptions allowed is negative");
  if (status["disruptedPods"].size() > max_disrupted_pods)
    throw StatusError::forbidden(
        resource, name, "DisruptedPods map too big - too many evictions not confirmed by PDB controller");
  if (allowed == 0) refuse_eviction(exhaustion(name, status), 0);
}

/// The condition of a budget that permits no further disruption.
/// Source: component-helpers apps/poddisruptionbudget UpdateDisruptionAllowedCondition.
Json exhausted_condition(const Json& status, WallTime now) {
  Json condition = Json::object({{"type", disruption_allowed},
                                 {"status", "False"},
                                 {"observedGeneration", status["observedGeneration"]},
                                 {"lastTransitionTime", timestamp(now)},
                                 {"reason", "InsufficientPods"},
                                 {"message", ""}});
  const Json& present = condition_of(status, disruption_allowed);
  if (present["status"] == Json("False")) condition["lastTransitionTime"] = present["lastTransitionTime"];
  return condition;
}

/// Counts the eviction in the budget. Throws StatusError (403, 429) if the budget does not permit it.
/// Source: eviction.go checkAndDecrement.
void charge(Storage& storage, const Call& call, const StoredPtr& budget, bool dry_run) {
  Json body = storage.store.body(budget);
  const Json& status = std::as_const(body)["status"];
  check_allowance(*budget, status);
  if (dry_run) return;
  const std::int64_t left = status["disruptionsAllowed"].integer_or(0) - 1;
  body["status"]["disruptionsAllowed"] = left;
  if (left == 0) set_pod_condition(body, exhausted_condition(status, call.now));
  Json& disrupted = body["status"]["disruptedPods"];
  if (!disrupted.is_object()) disrupted = Json::object();
  disrupted[call.path.name] = timestamp(call.now);
  const ResourceTypePtr type = storage.registry.find("policy", "v1", "poddisruptionbudgets");
  storage.store.put(storage.collection(*type), std::move(body));
}

/// Returns the budgets that select the pod. An empty selector selects every pod, a missing one none.
std::vector<StoredPtr> budgets_of(Storage& storage, const Call& call, const Stored& pod) {
  const ResourceTypePtr type = storage.registry.find("policy", "v1", "poddisruptionbudgets");
  if (!type) return {};
  std::vector<StoredPtr> budgets =
      storage.store.snapshot(storage.collection(*type), call.path.namespace_ + "/", storage.store.version());
  const Json labels = pod.part("metadata.labels");
  std::erase_if(budgets, [&](const StoredPtr& budget) {
    const Json selector = budget->part("spec.selector");
    return selector.is_null() || !selects(selector, labels);
  });
  return budgets;
}

/// Charges the budget of the pod. Budgets protect running pods only. Returns false if there are several,
/// which is refused.
bool check_budgets(Storage& storage, const Call& call, const StoredPtr& pod, bool dry_run) {
  const std::string phase = pod->part("status.phase").string_or("");
  if (phase != "Running" || pod->is_deleting()) return true;
  const std::vector<StoredPtr> budgets = budgets_of(storage, call, *pod);
  if (budgets.size() > 1) return false;
  if (!budgets.empty() && !may_go_unready(*pod, *budgets.front()))
    charge(storage, call, budgets.front(), dry_run);
  return true;
}

/// The Status has another code than the response, and no reason, as with a real server.
http::Response several_budgets() {
  const StatusError error(500, "",
                          "This pod has more than one PodDisruptionBudget, which the eviction subresource "
                          "does not support.");
  return json_response(201, error.body().dump());
}

http::Response evict(Storage& storage, Call& call) {
  const Json eviction = action_body(call, "Eviction", call.path.name);
  StoredPtr pod = require_object(storage, call);
  DeleteOptions options = delete_options(eviction["deleteOptions"]);
  options.dry_run = options.dry_run || call.query.has("dryRun");
  check_preconditions(*call.type, *pod, options);
  if (!check_budgets(storage, call, pod, options.dry_run)) return several_budgets();
  if (!options.dry_run) {
    Json condition = true_condition("DisruptionTarget", call);
    condition["reason"] = "EvictionByEvictionAPI";
    condition["message"] = "Eviction API: evicting";
    Json body = storage.store.body(pod);
    set_pod_condition(body, std::move(condition));
    pod = storage.store.put(call.collection(), std::move(body));
    options.resource_version.reset();
  }
  delete_object(storage, *call.type, pod, options, call.now);
  return created();
}

std::vector<std::string> names_in(const Stored& pod, const char* field) {
  std::vector<std::string> names;
  const Json containers = pod.part(field);
  for (std::size_t i = 0; i < containers.size(); ++i) names.push_back(containers[i]["name"].string_or(""));
  return names;
}

/// Returns the container of the query, or the only one. Throws StatusError (400) if there is none such.
/// Source: pkg/registry/core/pod/strategy.go, validateContainer.
std::string container_of(const Call& call, const Stored& pod) {
  const std::string wanted(call.query.get("container"));
  const std::vector<std::string> names = names_in(pod, "spec.containers");
  if (wanted.empty()) {
    if (names.size() == 1) return names.front();
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
    throw StatusError::bad_request("a container name must be specified for pod " + call.path.name +
                                   ", choose one of: [" + text + "]");
  }
  for (const char* field : {"spec.containers", "spec.initContainers", "spec.ephemeralContainers"}) {
    for (const std::string& name : names_in(pod, field))
      if (name == wanted) return wanted;
  }
  throw StatusError::bad_request("container " + wanted + " is not valid for pod " + call.path.name);
}

}  // namespace

http::Response rest_binding(Storage& storage, Call& call) {
  const ResourceTypePtr pods = storage.registry.find("", "v1", "pods");
  if (!call.path.subresource.empty())
    return bind(storage, call, *pods, action_body(call, "Binding", call.path.name));
  const Json binding = object_from_body(call, FieldValidation::warn);
  return bind(storage, call, *pods, binding);
}

http::Response rest_eviction(Storage& storage, Call& call) {
  return evict(storage, call);
}

Answer rest_node_action(Storage& storage, Call& call) {
  const StoredPtr object = require_object(storage, call);
  const std::string& name = call.path.subresource;
  const bool pod = call.type->group.empty() && call.type->plural == "pods";
  const bool of_container = name == "attach" || name == "exec" || name == "log";
  NodeAction action{.name = name, .pod = {call.path.namespace_, call.path.name}};
  if (pod && of_container) action.container = container_of(call, *object);
  if (pod && object->part("spec.nodeName").string_or("").empty()) {
    if (name == "log") return {{204, {}, ""}, {}};
    throw StatusError::bad_request("pod " + call.path.name + " does not have a host assigned");
  }
  Answer answer{status_response(
      StatusError(501, "NotImplemented", "this server runs no nodes: " + name + " is not served"))};
  if (pod && (of_container || name == "portforward")) answer.node = std::move(action);
  return answer;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
