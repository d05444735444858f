// SPDX-License-Identifier: Apache-2.0
#include "apiserver/rest/admission.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "apiserver/request/request_body.hpp"
#include "apiserver/text/timestamps.hpp"
#include "apiserver/text/yaml_document.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

constexpr std::int64_t tolerated_seconds = 300;

/// Returns true if an entry of a list tolerates this taint with NoExecute, in any of its forms.
bool tolerates(const Json& toleration, std::string_view taint) {
  const std::string key = toleration["key"].string_or("");
  const std::string effect = toleration["effect"].string_or("");
  return (key.empty() || key == taint) && (effect.empty() || effect == "NoExecute");
}

/// Pods stay five minutes on a node that is not ready or not reachable.
void tolerate_lost_nodes(Json& spec) {
  for (const char* taint : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    Json& tolerations = spec["tolerations"];
    if (!tolerations.is_array()) tolerations = Json::array();
    const Json::Array& present = std::as_const(tolerations).as_array();
    if (std::any_of(present.begin(), present.end(), [&](const Json& each) { return tolerates(each, taint); }))
      continue;
    tolerations.push_back(Json::object({{"key", taint},
                                        {"operator", "Exists"},
                                        {"effect", "NoExecute"},
                                        {"tolerationSeconds", tolerated_seconds}}));
  }
  if (std::as_const(spec)["tolerations"].empty()) spec.erase("tolerations");
}

struct Priority {
  std::string name = {};
  std::int64_t value = 0;
  std::string preemption = "PreemptLowerPriority";
};

Priority priority_of(const Stored& priority_class) {
  return {.name = priority_class.name(),
          .value = priority_class.part("value").integer_or(0),
          .preemption = priority_class.part("preemptionPolicy").string_or("PreemptLowerPriority")};
}

/// Classes that exist in every cluster.
std::optional<std::int64_t> system_priority(std::string_view name) {
  if (name == "system-node-critical") return 2'000'001'000;
  if (name == "system-cluster-critical") return 2'000'000'000;
  return std::nullopt;
}

/// Returns the class of pods that specify none: the lowest of the global defaults.
Priority default_priority(Storage& storage, const Collection& classes) {
  Priority out;
  for (const StoredPtr& each : storage.store.snapshot(classes, "", storage.store.version())) {
    if (!each->part("globalDefault").bool_or(false)) continue;
    const Priority found = priority_of(*each);
    if (out.name.empty() || found.value < out.value) out = found;
  }
  return out;
}

void set_priority(Storage& storage, const Call& call, Json& pod) {
  const Collection& classes = storage.store.collection("scheduling.k8s.io", "priorityclasses", false);
  const std::string pod_name = std::as_const(pod).at({"metadata", "name"}).string_or("");
  const auto refuse = [&](const std::string& problem) {
    throw StatusError::forbidden(call.type->resource(), pod_name, problem);
  };
  Json& spec = pod["spec"];
  const std::string wanted = std::as_const(spec)["priorityClassName"].string_or("");
  Priority priority;
  if (wanted.empty()) {
    priority = default_priority(storage, classes);
    if (!priority.name.empty()) spec["priorityClassName"] = priority.name;
  } else {
    const StoredPtr named = storage.store.find(classes, wanted);
    const std::optional<std::int64_t> system = system_priority(wanted);
    if (!named && !system) refuse("no PriorityClass with name " + wanted + " was found");
    priority = named ? priority_of(*named) : Priority{.name = wanted, .value = *system};
  }
  const Json& given = std::as_const(spec)["priority"];
  if (given.is_integer() && given.as_integer() != priority.value)
    refuse("the integer value of priority (" + given.dump() +
           ") must not be provided in pod spec; priority admission controller computed " +
           std::to_string(priority.value) + " from the given PriorityClass name");
  const Json& preemption = std::as_const(spec)["preemptionPolicy"];
  if (preemption.is_string() && preemption.as_string() != priority.preemption)
    refuse("the string value of PreemptionPolicy (" + preemption.as_string() +
           ") must not be provided in pod spec; priority admission controller computed " +
           priority.preemption + " from the given PriorityClass name");
  spec["priority"] = priority.value;
  spec["preemptionPolicy"] = priority.preemption;
}

/// Copies the AppArmor annotation of older versions to the field of its container, and adds a warning.
/// Source: kubernetes pkg/registry/core/pod/strategy.go applyAppArmorVersionSkew.
void read_app_armor(Call& call, Json& pod) {
  const Json annotations = std::as_const(pod).at({"metadata", "annotations"});
  if (!annotations.is_object() ||
      std::as_const(pod)["spec"]["securityContext"]["appArmorProfile"].is_object())
    return;
  for (const char* list : {"initContainers", "containers"}) {
    Json* containers = pod["spec"].find(list);
    if (containers == nullptr || !containers->is_array()) continue;
    for (Json& container : containers->as_array()) {
      const std::string key =
          "container.apparmor.security.beta.kubernetes.io/" + std::as_const(container)["name"].string_or("");
      const std::string text = annotations[key].string_or("");
      const bool local = text.starts_with("localhost/");
      if (std::as_const(container)["securityContext"]["appArmorProfile"].is_object()) continue;
      if (!annotations.contains(key)) continue;
      const std::string warning = "metadata.annotations[" + key +
                                  "]: deprecated since v1.30; use the \"appArmorProfile\" field instead";
      if (std::find(call.warnings.begin(), call.warnings.end(), warning) == call.warnings.end())
        call.warnings.push_back(warning);
      if (!local && text != "unconfined" && text != "runtime/default") continue;  // rejected by validation
      Json profile = Json::object({{"type", local                  ? "Localhost"
                                            : text == "unconfined" ? "Unconfined"
                                                                   : "RuntimeDefault"}});
      if (local) profile["localhostProfile"] = text.substr(std::string_view("localhost/").size());
      container["securityContext"]["appArmorProfile"] = std::move(profile);
    }
  }
}

void admit_pod(Storage& storage, Call& call, Json& pod) {
  if (!std::as_const(pod)["spec"].is_object()) return;
  read_app_armor(call, pod);
  set_priority(storage, call, pod);
  tolerate_lost_nodes(pod["spec"]);
  if (std::as_const(pod)["spec"]["terminationGracePeriodSeconds"].integer_or(0) < 0)
    pod["spec"]["terminationGracePeriodSeconds"] = 1;
  if (!std::as_const(pod)["spec"]["schedulingGates"].empty())
    pod["status"]["conditions"] =
        Json::array({Json::object({{"type", "PodScheduled"},
                                   {"status", "False"},
                                   {"lastProbeTime", nullptr},
                                   {"lastTransitionTime", timestamp(call.now)},
                                   {"reason", "SchedulingGated"},
                                   {"message", "Scheduling is blocked due to non-empty scheduling gates"}})});
}

/// A node accepts no pods before its controller has seen it ready.
void taint_node(Storage&, Call&, Json& node) {
  Json& taints = node["spec"]["taints"];
  if (!taints.is_array()) taints = Json::array();
  const Json taint = Json::object({{"key", "node.kubernetes.io/not-ready"}, {"effect", "NoSchedule"}});
  const Json::Array& present = std::as_const(taints).as_array();
  if (std::find(present.begin(), present.end(), taint) == present.end()) taints.push_back(taint);
}

void add_finalizer(Json& object, std::string_view name) {
  Json& finalizers = object["metadata"]["finalizers"];
  if (!finalizers.is_array()) finalizers = Json::array();
  const Json::Array& present = std::as_const(finalizers).as_array();
  if (std::find(present.begin(), present.end(), Json(name)) == present.end()) finalizers.push_back(name);
}
void protect_volume(Storage&, Call& call, Json& object) {
  object["status"]["lastPhaseTransitionTime"] = timestamp(call.now);
  add_finalizer(object, "kubernetes.io/pv-protection");
}
void protect_claim(Storage&, Call&, Json& object) {
  add_finalizer(object, "kubernetes.io/pvc-protection");
}

void protect_attributes(Storage&, Call&, Json& object) {
  add_finalizer(object, "kubernetes.io/vac-protection");
}

/// Returns true if a request to create an object gives it no labels.
bool gives_no_labels(const Call& call) {
  const Json body = call.request.method == http::Method::patch ? parse_yaml(call.request.body)
                                                               : parse_body(call, call.type->kind);
  return body.at({"metadata", "labels"}).empty();
}

/// A Job selects the pods that carry its uid.
void label_job(Storage&, Call& call, Json& job) {
  if (std::as_const(job)["spec"]["manualSelector"].bool_or(false)) return;
  const Json uid = std::as_const(job)["metadata"]["uid"];
  const Json name = std::as_const(job)["metadata"]["name"];
  const auto add = [&](Json& metadata) {
    Json& labels = metadata["labels"];
    if (!labels.is_object()) labels = Json::object();
    for (const char* prefix : {"", "batch.kubernetes.io/"}) {
      // Labels set by the user are kept; validation rejects wrong ones.
      for (const auto& [key, value] : {std::pair("controller-uid", uid), std::pair("job-name", name)})
        if (!labels.contains(prefix + std::string(key))) labels[prefix + std::string(key)] = value;
    }
  };
  // A Job without labels has those of its template, also those that are added here.
  const Json& labels = std::as_const(job)["metadata"]["labels"];
  const bool unlabelled =
      labels.empty() ||
      (labels == std::as_const(job).at({"spec", "template", "metadata", "labels"}) && gives_no_labels(call));
  Json& spec = job["spec"];
  add(spec["template"]["metadata"]);
  if (unlabelled)
    job["metadata"]["labels"] = Json(std::as_const(spec).at({"template", "metadata", "labels"}));
  Json& selected = spec["selector"]["matchLabels"];
  if (!selected.contains("batch.kubernetes.io/controller-uid"))
    selected["batch.kubernetes.io/controller-uid"] = uid;
}

/// Set without an owner if absent.
void complete_priority_class(Storage&, Call&, Json& object) {
  if (std::as_const(object)["value"].is_null()) object["value"] = 0;
}

struct Plugin {
  std::string_view group;
  std::string_view plural;
  void (*admit)(Storage& storage, Call& call, Json& object);
};
constexpr std::array plugins{
    Plugin{"", "pods", admit_pod},
    Plugin{"", "nodes", taint_node},
    Plugin{"", "persistentvolumes", protect_volume},
    Plugin{"", "persistentvolumeclaims", protect_claim},
    Plugin{"storage.k8s.io", "volumeattributesclasses", protect_attributes},
    Plugin{"batch", "jobs", label_job},
    Plugin{"scheduling.k8s.io", "priorityclasses", complete_priority_class},
};

}  // namespace

void admit_changed(const Call& call, Json& object) {
  if (!call.type->custom && call.type->group.empty() && call.type->plural == "pods")
    tolerate_lost_nodes(object["spec"]);
}

void admit_new(Storage& storage, Call& call, Json& object) {
  if (call.type->custom) return;
  for (const Plugin& plugin : plugins)
    if (plugin.plural == call.type->plural && plugin.group == call.type->group)
      plugin.admit(storage, call, object);
}

void require_namespace(Storage& storage, std::string_view namespace_, const ResourceType& type,
                       std::string_view name) {
  const StoredPtr object = storage.store.find(storage.store.collection("", "namespaces", false), namespace_);
  if (!object) throw StatusError::not_found({"", "namespaces"}, namespace_);
  if (!object->is_deleting()) return;
  const std::string text(namespace_);
  throw StatusError::forbidden(
      type.resource(), name,
      "unable to create new content in namespace " + text + " because it is being terminated",
      {{"NamespaceTerminating", "namespace " + text + " is being terminated", "metadata.namespace"}});
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
