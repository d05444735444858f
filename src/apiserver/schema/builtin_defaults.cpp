// SPDX-License-Identifier: Apache-2.0
// Kubernetes' SetDefaults_* functions (pkg/apis/*/v1/defaults.go), as far as they depend on the object only.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <evenkeel/api/bytes.hpp>

#include "apiserver/schema/crd_form.hpp"
#include "apiserver/schema/defaults.hpp"
#include "base/ascii.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

/// Sets a member that is absent or null. An empty string counts as absent, as Go cannot distinguish them.
void set_default(Json& object, std::string_view name, Json value) {
  const Json* present = std::as_const(object).find(name);
  if (present == nullptr || present->is_null() || (present->is_string() && present->as_string().empty()))
    object[name] = std::move(value);
}

/// Sets a member that is absent or null, and a pointer in Go: an empty string is a value.
void set_pointer(Json& object, std::string_view name, Json value) {
  if (std::as_const(object)[name].is_null()) object[name] = std::move(value);
}

template <class F>
void each(Json& object, std::string_view list, F edit) {
  Json* items = object.find(list);
  if (items == nullptr || !items->is_array()) return;
  for (Json& item : items->as_array()) {
    if (item.is_object()) edit(item);
  }
}

/// Calls `edit` with a member that is an object.
template <class F>
void inside(Json& object, std::string_view name, F edit) {
  Json* member = object.find(name);
  if (member != nullptr && member->is_object()) edit(*member);
}

Json& member_object(Json& object, std::string_view name) {
  Json& member = object[name];
  if (!member.is_object()) member = Json::object();
  return member;
}

/// Checks a part of an image's name between slashes: lower case, separators only inside.
bool is_image_part(std::string_view part) {
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  const auto allowed = [&](char c) { return plain(c) || c == '.' || c == '_' || c == '-'; };
  return !part.empty() && plain(part.front()) && plain(part.back()) &&
         std::all_of(part.begin(), part.end(), allowed);
}

/// Returns true for a valid image reference without tag or digest. Source: distribution/reference.
bool is_image_name(std::string_view name) {
  bool first = true;
  while (true) {
    const std::size_t slash = name.find('/');
    const std::string_view part = name.substr(0, slash);
    // The part before the first slash may be a host with a port, in any case.
    const bool host = first && slash != std::string_view::npos &&
                      (part.find_first_of(".:") != std::string_view::npos || part == "localhost");
    const bool good =
        host
            ? part.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.:-[]") ==
                      std::string_view::npos &&
                  !part.ends_with(':')
            : is_image_part(part);
    if (!good) return false;
    if (slash == std::string_view::npos) return true;
    name.remove_prefix(slash + 1);
    first = false;
  }
}

/// Returns Always for images without a tag or digest, or with the tag latest, except for invalid names.
/// Source: kubernetes core/v1 SetDefaults_Container, util/parsers ParseImageName.
std::string_view pull_policy(const std::string& image) {
  if (image.find('@') != std::string::npos) return "IfNotPresent";
  const std::size_t colon = image.rfind(':');
  const bool tagged = colon != std::string::npos && image.find('/', colon) == std::string::npos;
  if (!is_image_name(std::string_view(image).substr(0, tagged ? colon : image.size()))) return "IfNotPresent";
  return !tagged || image.substr(colon + 1) == "latest" ? "Always" : "IfNotPresent";
}

void default_http_get(Json& handler) {
  inside(handler, "httpGet", [](Json& get) {
    set_default(get, "path", "/");
    set_default(get, "scheme", "HTTP");
  });
  inside(handler, "grpc", [](Json& grpc) { set_default(grpc, "service", ""); });
}

/// Sets a number that is absent or 0: its Go type is not a pointer.
void set_number(Json& object, std::string_view name, int value) {
  if (std::as_const(object)[name].integer_or(0) == 0) object[name] = value;
}

void default_probe(Json& probe) {
  default_http_get(probe);
  set_number(probe, "timeoutSeconds", 1);
  set_number(probe, "periodSeconds", 10);
  set_number(probe, "successThreshold", 1);
  set_number(probe, "failureThreshold", 3);
}

void default_resources(Json& container) {
  // Limits are also requests, unless there is a request.
  inside(container, "resources", [](Json& resources) {
    const Json limits = std::as_const(resources)["limits"];
    if (!limits.is_object() || limits.empty()) return;
    Json& requests = member_object(resources, "requests");
    for (const auto& [name, amount] : limits.as_object()) {
      if (!requests.contains(name)) requests[name] = amount;
    }
  });
}

void default_container(Json& container) {
  set_default(container, "imagePullPolicy", pull_policy(std::as_const(container)["image"].string_or("")));
  set_default(container, "terminationMessagePath", "/dev/termination-log");
  set_default(container, "terminationMessagePolicy", "File");
  each(container, "ports", [](Json& port) { set_default(port, "protocol", "TCP"); });
  for (const char* probe : {"livenessProbe", "readinessProbe", "startupProbe"})
    inside(container, probe, default_probe);
  inside(container, "lifecycle", [](Json& lifecycle) {
    inside(lifecycle, "postStart", default_http_get);
    inside(lifecycle, "preStop", default_http_get);
  });
  each(container, "env", [](Json& variable) {
    inside(variable, "valueFrom", [](Json& from) {
      inside(from, "fieldRef", [](Json& field) { set_default(field, "apiVersion", "v1"); });
      inside(from, "resourceFieldRef", [](Json& field) { set_default(field, "divisor", "0"); });
    });
  });
}

void default_downward(Json& downward) {
  each(downward, "items", [](Json& item) {
    inside(item, "fieldRef", [](Json& field) { set_default(field, "apiVersion", "v1"); });
    inside(item, "resourceFieldRef", [](Json& field) { set_default(field, "divisor", "0"); });
  });
}

void default_projected(Json& projected) {
  set_default(projected, "defaultMode", 0644);
  each(projected, "sources", [](Json& source) {
    inside(source, "serviceAccountToken", [](Json& token) { set_default(token, "expirationSeconds", 3600); });
    inside(source, "downwardAPI", default_downward);
  });
}

void default_claim_spec(Json& spec) {
  set_pointer(spec, "volumeMode", "Filesystem");
}

void default_volume(Json& volume) {
  const Json::Object& members = std::as_const(volume).as_object();
  if (std::all_of(members.begin(), members.end(),
                  [](const auto& member) { return member.name == "name" || member.value.is_null(); }))
    volume["emptyDir"] = Json::object();
  for (const char* source : {"secret", "configMap"})
    inside(volume, source, [](Json& files) { set_default(files, "defaultMode", 0644); });
  inside(volume, "downwardAPI", [](Json& downward) {
    set_default(downward, "defaultMode", 0644);
    default_downward(downward);
  });
  inside(volume, "projected", default_projected);
  inside(volume, "hostPath", [](Json& path) { set_pointer(path, "type", ""); });
  inside(volume, "iscsi", [](Json& iscsi) { set_default(iscsi, "iscsiInterface", "default"); });
  inside(volume, "rbd", [](Json& rbd) {
    set_default(rbd, "pool", "rbd");
    set_default(rbd, "user", "admin");
    set_default(rbd, "keyring", "/etc/ceph/keyring");
  });
  inside(volume, "azureDisk", [](Json& disk) {
    set_pointer(disk, "cachingMode", "ReadWrite");
    set_pointer(disk, "kind", "Shared");
    set_pointer(disk, "fsType", "ext4");
    set_default(disk, "readOnly", false);
  });
  inside(volume, "ephemeral", [](Json& ephemeral) {
    inside(ephemeral, "volumeClaimTemplate", [](Json& claim) { inside(claim, "spec", default_claim_spec); });
  });
}

void default_pod_spec(Json& spec) {
  set_default(spec, "restartPolicy", "Always");
  set_default(spec, "dnsPolicy", "ClusterFirst");
  set_default(spec, "schedulerName", "default-scheduler");
  set_default(spec, "terminationGracePeriodSeconds", 30);
  member_object(spec, "securityContext");
  for (const char* list : {"containers", "initContainers", "ephemeralContainers"})
    each(spec, list, default_container);
  each(spec, "volumes", default_volume);
  const Json account = std::as_const(spec)["serviceAccountName"];
  const Json old_account = std::as_const(spec)["serviceAccount"];
  if (account.is_string()) spec["serviceAccount"] = account;
  if (!account.is_string() && old_account.is_string()) spec["serviceAccountName"] = old_account;
}

/// Removes the annotations that represented init containers in old versions.
/// Source: kubernetes core/v1 dropInitContainerAnnotations.
void drop_init_annotations(Json& pod) {
  inside(pod, "metadata", [](Json& metadata) {
    Json* annotations = metadata.find("annotations");
    if (annotations == nullptr || !annotations->is_object() || annotations->empty()) return;
    for (const char* stage : {"alpha", "beta"})
      for (const char* what : {"init-containers", "init-container-statuses"})
        annotations->erase("pod." + std::string(stage) + ".kubernetes.io/" + what);
    if (annotations->empty()) metadata.erase("annotations");
  });
}

void default_template(Json& spec) {
  inside(spec, "template", [](Json& pod) {
    drop_init_annotations(pod);
    default_pod_spec(member_object(pod, "spec"));
  });
}

/// Sets the rolling update parameters of Deployments and DaemonSets.
void default_rolling(Json& update, const Json& unavailable, const Json& surge) {
  set_pointer(update, "maxUnavailable", unavailable);
  set_pointer(update, "maxSurge", surge);
}

void deployment(Json& object) {
  Json& spec = member_object(object, "spec");
  set_default(spec, "replicas", 1);
  set_default(spec, "revisionHistoryLimit", 10);
  set_default(spec, "progressDeadlineSeconds", 600);
  Json& strategy = member_object(spec, "strategy");
  set_default(strategy, "type", "RollingUpdate");
  if (std::as_const(strategy)["type"] == Json("RollingUpdate"))
    default_rolling(member_object(strategy, "rollingUpdate"), "25%", "25%");
  default_template(spec);
}

void replica_set(Json& object) {
  Json& spec = member_object(object, "spec");
  set_default(spec, "replicas", 1);
  default_template(spec);
}

/// Copies labels of the template to an object that has none.
void take_template_labels(Json& object) {
  const Json labels = std::as_const(object).at({"spec", "template", "metadata", "labels"});
  if (!labels.is_object() || labels.empty()) return;
  Json& metadata = member_object(object, "metadata");
  if (std::as_const(metadata)["labels"].empty()) metadata["labels"] = labels;
}

/// A ReplicationController selects by its template's labels.
void replication_controller(Json& object) {
  Json& spec = member_object(object, "spec");
  set_default(spec, "replicas", 1);
  const Json labels = std::as_const(spec).at({"template", "metadata", "labels"});
  if (labels.is_object() && !labels.empty() && std::as_const(spec)["selector"].empty())
    spec["selector"] = labels;
  take_template_labels(object);
  default_template(spec);
}

void stateful_set(Json& object) {
  Json& spec = member_object(object, "spec");
  set_default(spec, "replicas", 1);
  set_default(spec, "revisionHistoryLimit", 10);
  set_default(spec, "podManagementPolicy", "OrderedReady");
  Json& strategy = member_object(spec, "updateStrategy");
  if (std::as_const(strategy)["type"].string_or("").empty()) {
    strategy["type"] = "RollingUpdate";
    member_object(strategy, "rollingUpdate");
  }
  if (std::as_const(strategy)["type"] == Json("RollingUpdate"))
    inside(strategy, "rollingUpdate", [](Json& rolling) {
      set_default(rolling, "partition", 0);
      rolling.erase("maxUnavailable");  // of a disabled feature
    });
  Json& retention = member_object(spec, "persistentVolumeClaimRetentionPolicy");
  set_default(retention, "whenDeleted", "Retain");
  set_default(retention, "whenScaled", "Retain");
  inside(spec, "ordinals", [](Json& ordinals) { set_default(ordinals, "start", 0); });
  each(spec, "volumeClaimTemplates", [](Json& claim) {
    claim["apiVersion"] = "v1";
    claim["kind"] = "PersistentVolumeClaim";
    set_default(member_object(claim, "status"), "phase", "Pending");
    default_claim_spec(member_object(claim, "spec"));
  });
  default_template(spec);
}

void daemon_set(Json& object) {
  Json& spec = member_object(object, "spec");
  set_default(spec, "revisionHistoryLimit", 10);
  Json& strategy = member_object(spec, "updateStrategy");
  set_default(strategy, "type", "RollingUpdate");
  if (std::as_const(strategy)["type"] == Json("RollingUpdate"))
    default_rolling(member_object(strategy, "rollingUpdate"), 1, 0);
  default_template(spec);
}

void default_job_spec(Json& spec) {
  if (std::as_const(spec)["completions"].is_null() && std::as_const(spec)["parallelism"].is_null())
    spec["completions"] = 1;
  set_default(spec, "parallelism", 1);
  set_default(spec, "backoffLimit", std::as_const(spec)["backoffLimitPerIndex"].is_null() ? 6 : 2147483647);
  set_pointer(spec, "completionMode", "NonIndexed");
  set_default(spec, "suspend", false);
  set_default(spec, "manualSelector", false);
  set_pointer(spec, "podReplacementPolicy",
              std::as_const(spec)["podFailurePolicy"].is_object() ? "Failed" : "TerminatingOrFailed");
  inside(spec, "podFailurePolicy", [](Json& policy) {
    each(policy, "rules", [](Json& rule) {
      each(rule, "onPodConditions", [](Json& condition) { set_default(condition, "status", "True"); });
    });
  });
  default_template(spec);
}

void job(Json& object) {
  default_job_spec(member_object(object, "spec"));
  take_template_labels(object);
}

void cron_job(Json& object) {
  Json& spec = member_object(object, "spec");
  set_default(spec, "concurrencyPolicy", "Allow");
  set_default(spec, "suspend", false);
  set_default(spec, "successfulJobsHistoryLimit", 3);
  set_default(spec, "failedJobsHistoryLimit", 1);
  inside(spec, "jobTemplate", [](Json& job_template) {
    // Only the pods get defaults here; the Job gets its own when it is created.
    inside(job_template, "spec", [](Json& job_spec) { default_template(job_spec); });
  });
}

/// Ports of pods in the node's network are the node's; templates of pods do not get this default.
/// Source: kubernetes core/v1 SetDefaults_Pod.
void default_host_ports(Json& spec) {
  if (!std::as_const(spec)["hostNetwork"].bool_or(false)) return;
  for (const char* list : {"containers", "initContainers"})
    each(spec, list, [](Json& container) {
      each(container, "ports", [](Json& port) {
        if (std::as_const(port)["hostPort"].integer_or(0) == 0)
          port["hostPort"] = Json(std::as_const(port)["containerPort"]);
      });
    });
}

/// Requests follow limits in pods only, not in templates of pods.
void pod(Json& object) {
  drop_init_annotations(object);
  Json& spec = member_object(object, "spec");
  set_default(spec, "enableServiceLinks", true);
  default_pod_spec(spec);
  default_host_ports(spec);
  for (const char* list : {"containers", "initContainers"}) each(spec, list, default_resources);
  inside(object, "status", [](Json& status) {
    const Json address = std::as_const(status)["podIP"];
    if (!address.string_or("").empty() && std::as_const(status)["podIPs"].empty())
      status["podIPs"] = Json::array({Json::object({{"ip", address}})});
  });
}

void service(Json& object) {
  Json& spec = member_object(object, "spec");
  set_default(spec, "sessionAffinity", "None");
  set_default(spec, "type", "ClusterIP");
  if (std::as_const(spec)["sessionAffinity"] == Json("ClientIP"))
    set_default(member_object(member_object(spec, "sessionAffinityConfig"), "clientIP"), "timeoutSeconds",
                10800);
  if (std::as_const(spec)["sessionAffinity"] == Json("None")) spec.erase("sessionAffinityConfig");
  each(spec, "ports", [](Json& port) {
    set_default(port, "protocol", "TCP");
    const Json target = std::as_const(port)["targetPort"];
    if (target.is_null() || target == Json(0) || target == Json(""))
      port["targetPort"] = Json(std::as_const(port)["port"]);
  });
  const std::string type = std::as_const(spec)["type"].string_or("");
  if (type != "ExternalName") set_pointer(spec, "internalTrafficPolicy", "Cluster");
  const bool outside = type == "ClusterIP" && !std::as_const(spec)["externalIPs"].empty();
  if (type == "NodePort" || type == "LoadBalancer" || outside)
    set_default(spec, "externalTrafficPolicy", "Cluster");
  if (type == "LoadBalancer") set_default(spec, "allocateLoadBalancerNodePorts", true);
}

/// stringData is write-only and never stored.
void secret(Json& object) {
  set_default(object, "type", "Opaque");
  const Json text = std::as_const(object)["stringData"];
  if (text.is_object() && !text.empty()) {
    Json& data = member_object(object, "data");
    for (const auto& [name, value] : text.as_object()) data[name] = Bytes(value.string_or("")).base64();
  }
  object.erase("stringData");
}

void name_space(Json& object) {
  set_default(member_object(object, "status"), "phase", "Active");
  const std::string name = std::as_const(object).at({"metadata", "name"}).string_or("");
  if (!name.empty()) member_object(object["metadata"], "labels")["kubernetes.io/metadata.name"] = name;
}

void persistent_volume(Json& object) {
  Json& spec = member_object(object, "spec");
  set_default(spec, "persistentVolumeReclaimPolicy", "Retain");
  set_pointer(spec, "volumeMode", "Filesystem");
  inside(spec, "hostPath", [](Json& path) { set_pointer(path, "type", ""); });
  set_default(member_object(object, "status"), "phase", "Pending");  // may move the spec
}

/// Only the newer field of a claim can refer to other sources than claims and snapshots.
/// Source: kubernetes pkg/api/persistentvolumeclaim EnforceDataSourceBackwardsCompatibility.
void drop_other_sources(Json& spec) {
  const Json& source = std::as_const(spec)["dataSource"];
  const std::string group = source["apiGroup"].string_or("");
  const bool claim = group.empty() && source["kind"] == Json("PersistentVolumeClaim");
  const bool snapshot = group == "snapshot.storage.k8s.io" && source["kind"] == Json("VolumeSnapshot");
  if (std::as_const(spec)["dataSourceRef"].is_null() && !claim && !snapshot) spec.erase("dataSource");
}

void persistent_volume_claim(Json& object) {
  drop_other_sources(member_object(object, "spec"));
  default_claim_spec(member_object(object, "spec"));
  set_default(member_object(object, "status"), "phase", "Pending");
}

void endpoints(Json& object) {
  each(object, "subsets",
       [](Json& subset) { each(subset, "ports", [](Json& port) { set_default(port, "protocol", "TCP"); }); });
}

void endpoint_slice(Json& object) {
  each(object, "ports", [](Json& port) {
    set_pointer(port, "name", "");
    set_pointer(port, "protocol", "TCP");
  });
}

void network_policy(Json& object) {
  Json& spec = member_object(object, "spec");
  if (!std::as_const(spec)["policyTypes"].is_array() || std::as_const(spec)["policyTypes"].empty()) {
    spec["policyTypes"] = Json::array({"Ingress"});
    if (!std::as_const(spec)["egress"].empty()) spec["policyTypes"].push_back("Egress");
  }
  for (const char* list : {"ingress", "egress"}) {
    each(spec, list,
         [](Json& rule) { each(rule, "ports", [](Json& port) { set_pointer(port, "protocol", "TCP"); }); });
  }
}

void role_binding(Json& object) {
  inside(object, "roleRef", [](Json& role) { set_default(role, "apiGroup", "rbac.authorization.k8s.io"); });
  each(object, "subjects", [](Json& subject) {
    const std::string kind = std::as_const(subject)["kind"].string_or("");
    if (kind == "User" || kind == "Group") set_default(subject, "apiGroup", "rbac.authorization.k8s.io");
  });
}

Json scaling_policy(std::string_view type, int value) {
  return Json::object({{"type", type}, {"value", value}, {"periodSeconds", 15}});
}

void default_scaling(Json& rules, Json policies) {
  set_pointer(rules, "selectPolicy", "Max");
  set_pointer(rules, "policies", std::move(policies));
}

void autoscaler(Json& object) {
  Json& spec = member_object(object, "spec");
  set_default(spec, "minReplicas", 1);
  if (std::as_const(object)["apiVersion"] != Json("autoscaling/v2")) {
    // The metrics of version 2, through the storage version.
    if (!std::as_const(object)
             .at({"metadata", "annotations"})
             .contains("autoscaling.alpha.kubernetes.io/metrics"))
      set_default(spec, "targetCPUUtilizationPercentage", 80);
    return;
  }
  if (std::as_const(spec)["metrics"].empty())
    spec["metrics"] = Json::array({Json::object(
        {{"type", "Resource"},
         {"resource", Json::object({{"name", "cpu"},
                                    {"target", Json::object({{"type", "Utilization"},
                                                             {"averageUtilization", 80}})}})}})});
  inside(spec, "behavior", [](Json& behavior) {
    default_scaling(member_object(behavior, "scaleDown"), Json::array({scaling_policy("Percent", 100)}));
    Json& up = member_object(behavior, "scaleUp");
    set_default(up, "stabilizationWindowSeconds", 0);
    default_scaling(up, Json::array({scaling_policy("Pods", 4), scaling_policy("Percent", 100)}));
  });
}

/// The maximum is the default limit, and the default limit is the default request.
void limit_range(Json& object) {
  inside(object, "spec", [](Json& spec) {
    each(spec, "limits", [](Json& limit) {
      if (std::as_const(limit)["type"] != Json("Container")) return;
      const auto fill = [&](const char* to, const char* from) {
        const Json amounts = std::as_const(limit)[from];
        if (!amounts.is_object()) return;
        for (const auto& [name, amount] : amounts.as_object())
          set_default(member_object(limit, to), name, amount);
      };
      fill("default", "max");
      fill("defaultRequest", "default");
      fill("defaultRequest", "min");
    });
  });
}

void node(Json& object) {
  inside(object, "status", [](Json& status) {
    const Json capacity = std::as_const(status)["capacity"];
    if (std::as_const(status)["allocatable"].is_null() && capacity.is_object())
      status["allocatable"] = capacity;
  });
  inside(object, "spec", [](Json& spec) {
    const Json range = std::as_const(spec)["podCIDR"];
    // The old field has precedence if both differ. Source: kubernetes core/v1
    // Convert_v1_NodeSpec_To_core_NodeSpec.
    if (range.is_string() && !range.as_string().empty() && std::as_const(spec)["podCIDRs"][0] != range)
      spec["podCIDRs"] = Json::array({range});
  });
}

void pod_template(Json& object) {
  inside(object, "template", [](Json& pod) { default_pod_spec(member_object(pod, "spec")); });
}

/// Removes members of disabled features.
void lease(Json& object) {
  inside(object, "spec", [](Json& spec) {
    spec.erase("strategy");
    spec.erase("preferredHolder");
  });
}

void webhooks(Json& object, bool mutating) {
  each(object, "webhooks", [mutating](Json& webhook) {
    set_pointer(webhook, "failurePolicy", "Fail");
    set_pointer(webhook, "matchPolicy", "Equivalent");
    set_default(webhook, "timeoutSeconds", 10);
    if (!std::as_const(webhook)["namespaceSelector"].is_object())
      webhook["namespaceSelector"] = Json::object();
    if (!std::as_const(webhook)["objectSelector"].is_object()) webhook["objectSelector"] = Json::object();
    if (mutating) set_pointer(webhook, "reinvocationPolicy", "Never");
    each(webhook, "rules", [](Json& rule) { set_pointer(rule, "scope", "*"); });
    inside(webhook, "clientConfig", [](Json& client) {
      inside(client, "service", [](Json& backend) { set_default(backend, "port", 443); });
    });
  });
}
void mutating_webhooks(Json& object) {
  webhooks(object, true);
}
void validating_webhooks(Json& object) {
  webhooks(object, false);
}

/// Sets defaults of a policy's or binding's match rules.
void default_match(Json& match) {
  set_pointer(match, "matchPolicy", "Equivalent");
  for (const char* name : {"namespaceSelector", "objectSelector"})
    if (!std::as_const(match)[name].is_object()) match[name] = Json::object();
  for (const char* list : {"resourceRules", "excludeResourceRules"})
    each(match, list, [](Json& rule) { set_pointer(rule, "scope", "*"); });
}

void admission_policy(Json& object) {
  inside(object, "spec", [](Json& spec) {
    set_pointer(spec, "failurePolicy", "Fail");
    inside(spec, "matchConstraints", default_match);
  });
}

void policy_binding(Json& object) {
  inside(object, "spec", [](Json& spec) { inside(spec, "matchResources", default_match); });
}

void storage_class(Json& object) {
  set_pointer(object, "reclaimPolicy", "Delete");
  set_pointer(object, "volumeBindingMode", "Immediate");
}

void csi_driver(Json& object) {
  Json& spec = member_object(object, "spec");
  set_default(spec, "attachRequired", true);
  set_default(spec, "podInfoOnMount", false);
  set_default(spec, "storageCapacity", false);
  set_pointer(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
  set_default(spec, "requiresRepublish", false);
  set_default(spec, "seLinuxMount", false);
  if (std::as_const(spec)["volumeLifecycleModes"].empty())
    spec["volumeLifecycleModes"] = Json::array({"Persistent"});
}

void ingress_class(Json& object) {
  inside(object, "spec", [](Json& spec) {
    inside(spec, "parameters", [](Json& parameters) { set_pointer(parameters, "scope", "Cluster"); });
  });
}

void priority_class(Json& object) {
  set_pointer(object, "preemptionPolicy", "PreemptLowerPriority");
}

void custom_resource_definition(Json& object) {
  canonicalize_crd(object);
  Json& spec = member_object(object, "spec");
  if (std::as_const(spec)["conversion"].is_null()) spec["conversion"] = Json::object({{"strategy", "None"}});
  inside(spec, "names", [](Json& names) {
    const std::string kind = std::as_const(names)["kind"].string_or("");
    if (kind.empty()) return;
    set_default(names, "singular", evenkeel::detail::ascii::lower(kind));
    set_default(names, "listKind", kind + "List");
  });
  inside(spec["conversion"], "webhook", [](Json& webhook) {
    inside(webhook, "clientConfig", [](Json& client) {
      inside(client, "service", [](Json& backend) { set_default(backend, "port", 443); });
    });
  });
}

struct KindDefaults {
  std::string_view group;
  std::string_view kind;
  void (*apply)(Json&);
};

constexpr std::array kind_defaults{
    KindDefaults{"", "Pod", pod},
    KindDefaults{"", "Service", service},
    KindDefaults{"", "Secret", secret},
    KindDefaults{"", "Namespace", name_space},
    KindDefaults{"", "PersistentVolume", persistent_volume},
    KindDefaults{"", "PersistentVolumeClaim", persistent_volume_claim},
    KindDefaults{"", "Endpoints", endpoints},
    KindDefaults{"", "ReplicationController", replication_controller},
    KindDefaults{"", "LimitRange", limit_range},
    KindDefaults{"", "Node", node},
    KindDefaults{"", "PodTemplate", pod_template},
    KindDefaults{"coordination.k8s.io", "Lease", lease},
    KindDefaults{"apps", "Deployment", deployment},
    KindDefaults{"apps", "ReplicaSet", replica_set},
    KindDefaults{"apps", "StatefulSet", stateful_set},
    KindDefaults{"apps", "DaemonSet", daemon_set},
    KindDefaults{"batch", "Job", job},
    KindDefaults{"batch", "CronJob", cron_job},
    KindDefaults{"discovery.k8s.io", "EndpointSlice", endpoint_slice},
    KindDefaults{"networking.k8s.io", "NetworkPolicy", network_policy},
    KindDefaults{"rbac.authorization.k8s.io", "RoleBinding", role_binding},
    KindDefaults{"rbac.authorization.k8s.io", "ClusterRoleBinding", role_binding},
    KindDefaults{"autoscaling", "HorizontalPodAutoscaler", autoscaler},
    KindDefaults{"admissionregistration.k8s.io", "MutatingWebhookConfiguration", mutating_webhooks},
    KindDefaults{"admissionregistration.k8s.io", "ValidatingWebhookConfiguration", validating_webhooks},
    KindDefaults{"admissionregistration.k8s.io", "ValidatingAdmissionPolicy", admission_policy},
    KindDefaults{"admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding", policy_binding},
    KindDefaults{"storage.k8s.io", "StorageClass", storage_class},
    KindDefaults{"storage.k8s.io", "CSIDriver", csi_driver},
    KindDefaults{"networking.k8s.io", "IngressClass", ingress_class},
    KindDefaults{"scheduling.k8s.io", "PriorityClass", priority_class},
    KindDefaults{"apiextensions.k8s.io", "CustomResourceDefinition", custom_resource_definition},
};

}  // namespace

void apply_builtin_defaults(Json& object, const KindSchema& kind) {
  for (const KindDefaults& known : kind_defaults) {
    if (known.kind == kind.kind && known.group == kind.group) known.apply(object);
  }
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
