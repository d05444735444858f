// SPDX-License-Identifier: Apache-2.0
#include "apiserver/store/conversion.hpp"

#include <array>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

struct Renamed {
  std::string_view core;
  std::string_view events;
};

// Source: kubernetes pkg/apis/events/v1/conversion.go. Other members have one name in both.
constexpr std::array<Renamed, 7> renamed_members{{{"involvedObject", "regarding"},
                                                  {"message", "note"},
                                                  {"source", "deprecatedSource"},
                                                  {"firstTimestamp", "deprecatedFirstTimestamp"},
                                                  {"lastTimestamp", "deprecatedLastTimestamp"},
                                                  {"count", "deprecatedCount"},
                                                  {"reportingComponent", "reportingController"}}};

void rename(Json& object, std::string_view from, std::string_view to) {
  Json* member = object.find(from);
  if (!member) return;
  Json value = std::move(*member);
  object.erase(from);
  object[to] = std::move(value);
}

Json event_to_core(Json event) {
  for (const Renamed& entry : renamed_members) rename(event, entry.events, entry.core);
  return event;
}

Json event_from_core(Json event) {
  for (const Renamed& entry : renamed_members) rename(event, entry.core, entry.events);
  return event;
}

bool is_cpu_utilization(const Json& metric) {
  return metric.at({"type"}) == Json("Resource") && metric.at({"resource", "name"}) == Json("cpu") &&
         metric.at({"resource", "target", "type"}) == Json("Utilization");
}

/// On a real server, features that autoscaling/v1 lacks (other metrics, behavior) are kept in annotations;
/// here v1 shows and sets the CPU target only, and preserves the rest unless it is written through v1.
Json autoscaler_to_v2(Json scaler) {
  Json& spec = scaler["spec"];
  if (const Json* target = std::as_const(spec).find("targetCPUUtilizationPercentage")) {
    Json metric = Json::object({{"type", "Resource"}});
    metric["resource"] =
        Json::object({{"name", "cpu"},
                      {"target", Json::object({{"type", "Utilization"}, {"averageUtilization", *target}})}});
    spec["metrics"] = Json::array({std::move(metric)});
    spec.erase("targetCPUUtilizationPercentage");
  }
  if (Json* status = scaler.find("status")) {
    status->erase("currentCPUUtilizationPercentage");
    if (!status->contains("currentMetrics")) (*status)["currentMetrics"] = nullptr;
  }
  return scaler;
}

Json autoscaler_from_v2(Json scaler) {
  Json& spec = scaler["spec"];
  for (std::size_t i = 0; i < std::as_const(spec)["metrics"].size(); ++i) {
    const Json& metric = std::as_const(spec)["metrics"][i];
    if (!is_cpu_utilization(metric)) continue;
    Json target = metric.at({"resource", "target", "averageUtilization"});
    spec["targetCPUUtilizationPercentage"] = std::move(target);
    break;
  }
  spec.erase("metrics");
  spec.erase("behavior");
  if (Json* status = scaler.find("status")) {
    status->erase("currentMetrics");
    status->erase("conditions");
  }
  return scaler;
}

}  // namespace

SharedStorage shared_storage(std::string_view group, std::string_view version, std::string_view plural) {
  if (plural == "events" && group == "events.k8s.io")
    return {.group = "", .version = "v1", .to_storage = event_to_core, .from_storage = event_from_core};
  if (plural == "horizontalpodautoscalers" && version == "v1")
    return {.group = {}, .version = "v2", .to_storage = autoscaler_to_v2, .from_storage = autoscaler_from_v2};
  // Kinds whose storage version is an older one with the same schema.
  if ((plural == "customresourcedefinitions" && group == "apiextensions.k8s.io") ||
      (plural.starts_with("mutatingadmissionpolic") && group == "admissionregistration.k8s.io"))
    return {.version = "v1beta1"};
  return {};
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
