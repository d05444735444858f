// SPDX-License-Identifier: Apache-2.0
#include "apiserver/store/object_rules.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string>
#include <utility>

#include <evenkeel/api/quantity.hpp>

#include "apiserver/schema/pruning.hpp"
#include "apiserver/store/crd_rules.hpp"
#include "apiserver/text/json_members.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

bool is_crd(const ResourceType& type) {
  return !type.custom && type.group == "apiextensions.k8s.io" && type.plural == "customresourcedefinitions";
}

/// Sets the initial status of kinds for which it is not empty.
void set_first_status(Json& object, const ResourceType& type) {
  if (!type.group.empty()) return;
  if (type.plural == "namespaces") object["status"] = Json::object({{"phase", "Active"}});
  if (type.plural == "persistentvolumes" || type.plural == "persistentvolumeclaims")
    object["status"] = Json::object({{"phase", "Pending"}});
  if (type.plural == "pods")
    object["status"] = Json::object({{"phase", "Pending"}, {"qosClass", "BestEffort"}});
}

/// Adds the requests or limits of a container or pod to `sums`; returns false if an amount is missing.
bool add_amounts(const Json& amounts, std::map<std::string, Quantity>& sums) {
  bool all = true;
  for (const char* name : {"cpu", "memory"}) {
    const Quantity amount = Quantity::parse(amounts[name].string_or("")).value_or(Quantity());
    if (amount <= Quantity())
      all = false;
    else
      sums[name] += amount;
  }
  return all;
}

/// Returns Guaranteed if all limits are set and equal the requests, BestEffort if there are neither, else
/// Burstable. Resources of the pod as a whole take precedence over those of its containers.
/// Source: kubernetes core/v1/helper/qos GetPodQOS.
std::string quality_of_service(const Json& pod) {
  std::map<std::string, Quantity> requests;
  std::map<std::string, Quantity> limits;
  bool limited = true;
  const auto add = [&](const Json& resources) {
    add_amounts(resources["requests"], requests);
    limited = add_amounts(resources["limits"], limits) && limited;
  };
  const Json& spec = pod["spec"];
  if (spec["resources"].is_object()) {
    add(spec["resources"]);
  } else {
    for (const char* list : {"containers", "initContainers"})
      for (std::size_t i = 0; i < spec[list].size(); ++i) add(spec[list][i]["resources"]);
  }
  if (requests.empty() && limits.empty()) return "BestEffort";
  const bool equal = std::all_of(requests.begin(), requests.end(), [&](const auto& request) {
    const auto limit = limits.find(request.first);
    return limit != limits.end() && limit->second == request.second;
  });
  return limited && equal && requests.size() == limits.size() ? "Guaranteed" : "Burstable";
}

/// Makes the old and the new member for the data source of a claim equal.
/// Source: kubernetes pkg/api/persistentvolumeclaim NormalizeDataSources.
void normalize_data_sources(Json& object) {
  Json& spec = object["spec"];
  const Json source = std::as_const(spec)["dataSource"];
  const Json reference = std::as_const(spec)["dataSourceRef"];
  const auto copied = [](const Json& from) {
    return Json::object({{"apiGroup", from["apiGroup"]}, {"kind", from["kind"]}, {"name", from["name"]}});
  };
  if (source.is_object() && !reference.is_object()) spec["dataSourceRef"] = copied(source);
  if (reference.is_object() && !source.is_object() && reference["namespace"].string_or("").empty())
    spec["dataSource"] = copied(reference);
}

bool is_claim(const ResourceType& type) {
  return !type.custom && type.group.empty() && type.plural == "persistentvolumeclaims";
}

bool is_daemon_set(const ResourceType& type) {
  return !type.custom && type.group == "apps" && type.plural == "daemonsets";
}

/// Removes annotations in which older versions of an API stored fields.
/// Source: kubernetes autoscaling/v1
/// Convert_v1_HorizontalPodAutoscaler_To_autoscaling_HorizontalPodAutoscaler.
void drop_old_annotations(Json& object, const ResourceType& type) {
  if (type.custom || type.group != "autoscaling" || type.version != "v1") return;
  Json* annotations = object["metadata"].find("annotations");
  if (annotations == nullptr || !annotations->is_object()) return;
  for (const char* name : {"conditions", "current-metrics"})
    annotations->erase("autoscaling.alpha.kubernetes.io/" + std::string(name));
  if (annotations->empty()) object["metadata"].erase("annotations");
}

/// Compares everything except metadata and the named members.
bool same_but(const Json& a, const Json& b, std::initializer_list<std::string_view> names) {
  const auto skipped = [&](std::string_view name) {
    for (const std::string_view each : names)
      if (each == name) return true;
    return name == "metadata" || name == "apiVersion" || name == "kind";
  };
  const auto covers = [&](const Json& left, const Json& right) {
    for (const auto& [name, value] : left.as_object())
      if (!skipped(name) && right[name] != value) return false;
    return true;
  };
  return covers(a, b) && covers(b, a);
}

/// Maintains the annotation in which DaemonSets count their templates as well.
void count_template(Json& object, const Json& live) {
  static constexpr std::string_view name = "deprecated.daemonset.template.generation";
  std::int64_t count = 1;
  // The count of a new DaemonSet may be given.
  const Json& from = live.is_null() ? std::as_const(object) : live;
  const std::string before = from.at({"metadata", "annotations"})[name].string_or("1");
  std::from_chars(before.data(), before.data() + before.size(), count);
  count = std::max(count, std::int64_t{1});
  if (!live.is_null()) {
    if (object["spec"]["template"] != live["spec"]["template"]) ++count;
  }
  Json& annotations = object["metadata"]["annotations"];
  if (!annotations.is_object()) annotations = Json::object();
  annotations[name] = std::to_string(count);
}

bool counts(const Json& object, const Json& live, const ResourceType& type) {
  switch (type.rules.generation) {
    case GenerationRule::none:
    case GenerationRule::first:
      return false;
    case GenerationRule::spec:
      return object["spec"] != live["spec"];
    case GenerationRule::spec_and_annotations:
      return object["spec"] != live["spec"] ||
             object.at({"metadata", "annotations"}) != live.at({"metadata", "annotations"});
    case GenerationRule::all_but_status:
      return !same_but(object, live, {"status"});
    case GenerationRule::all_but_metadata:
      return !same_but(object, live, {});
  }
  return false;
}

}  // namespace

void reset_for_create(Json& object, const ResourceType& type) {
  Json& metadata = object["metadata"];
  for (const char* name : {"uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
                           "generation", "selfLink"})
    metadata.erase(name);
  if (type.rules.generation != GenerationRule::none) metadata["generation"] = 1;
  const std::string quality = std::as_const(object).at({"status", "qosClass"}).string_or("");
  if (type.has_status && !(type.group.empty() && type.plural == "nodes")) object.erase("status");
  set_first_status(object, type);
  if (!type.custom && type.group.empty() && type.plural == "pods")
    object["status"]["qosClass"] = quality.empty() ? quality_of_service(object) : quality;
  if (is_crd(type)) prepare_new_crd(object);
  if (is_daemon_set(type)) count_template(object, Json());
  if (!type.custom) canonicalize(object, *type.schema);
}

void complete_for_create(Json& object, const ResourceType& type) {
  if (is_crd(type) && !std::as_const(object)["status"].contains("conditions"))
    object["status"]["conditions"] = nullptr;  // null until there are conditions
  if (is_claim(type)) normalize_data_sources(object);
  drop_old_annotations(object, type);
  if (type.custom || !type.group.empty() || type.plural != "namespaces") return;
  Json& finalizers = object["spec"]["finalizers"];
  if (!finalizers.is_array()) finalizers = Json::array();
  for (const Json& finalizer : std::as_const(finalizers).as_array())
    if (finalizer == Json("kubernetes")) return;
  finalizers.push_back("kubernetes");
}

void keep_for_update(Json& object, const Json& live, const ResourceType& type, std::string_view subresource) {
  if (subresource == "status") {
    Json status = std::move(object["status"]);
    Json metadata = type.custom ? live["metadata"] : std::as_const(object)["metadata"];
    if (type.custom) {
      metadata["resourceVersion"] = std::as_const(object).at({"metadata", "resourceVersion"});
      if (const Json* fields = std::as_const(object)["metadata"].find("managedFields"))
        metadata["managedFields"] = *fields;
    }
    object = live;
    object["metadata"] = std::move(metadata);
    if (status.is_null())
      object.erase("status");
    else
      object["status"] = std::move(status);
    if (type.rules.status_keeps_labels) copy_member(object["metadata"], live["metadata"], "labels");
    return;
  }
  if (subresource.empty() && type.has_status) copy_member(object, live, "status");
  if (is_crd(type)) keep_stored_versions(object);
  if (is_daemon_set(type)) count_template(object, live);
  if (!type.custom && type.group.empty() && type.plural == "namespaces" && subresource.empty())
    copy_member(object["spec"], live["spec"], "finalizers");
  if (subresource == "finalize") copy_member(object, live, "status");
}

void complete_for_update(Json& object, const ResourceType& type) {
  if (is_claim(type)) normalize_data_sources(object);
  drop_old_annotations(object, type);
}

void keep_system_fields(Json& object, const Json& live) {
  Json& metadata = object["metadata"];
  const Json& old = live["metadata"];
  if (std::as_const(metadata)["uid"].string_or("").empty()) copy_member(metadata, old, "uid");
  for (const char* name : {"creationTimestamp", "generation"}) copy_member(metadata, old, name);
  metadata.erase("selfLink");
}

void keep_deletion(Json& object, const Json& live) {
  Json& metadata = object["metadata"];
  const Json& old = live["metadata"];
  if (!old["deletionTimestamp"].is_null()) copy_member(metadata, old, "deletionTimestamp");
  if (std::as_const(metadata)["deletionGracePeriodSeconds"].is_null())
    copy_member(metadata, old, "deletionGracePeriodSeconds");
}

std::int64_t next_generation(const Json& object, const Json& live, const ResourceType& type) {
  const std::int64_t now = live.at({"metadata", "generation"}).integer_or(0);
  return counts(object, live, type) ? now + 1 : now;
}

std::vector<std::string> kind_warnings(const Json& object, const Json& live, const ResourceType& type) {
  return is_crd(type) ? crd_warnings(object, live) : std::vector<std::string>{};
}

FieldErrors check_kind(const Json& object, const Json& live, const ResourceType& type) {
  return is_crd(type) ? check_crd(object, live) : FieldErrors{};
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
