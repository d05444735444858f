// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <optional>
#include <stdexcept>

#include <evenkeel/controller/readiness.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

// Numbers of Pods: those that have the last change, those of them that are available, and all that exist.
struct Rollout {
  std::int64_t generation = 0;
  std::optional<std::int64_t> observed_generation = {};
  std::int32_t wanted = 0;
  std::int32_t updated = 0;
  std::int32_t available = 0;
  std::int32_t existing = 0;
};

/// Returns the numbers of a Deployment or a StatefulSet.
template <class Workload>
Rollout rollout_of(const Workload& workload) {
  const auto& status = workload.status;
  return {.generation = workload.metadata.generation,
          .observed_generation = status.observed_generation,
          .wanted = workload.spec.replicas.value_or(1),
          .updated = status.updated_replicas.value_or(0),
          .available = status.available_replicas.value_or(0),
          .existing = status.replicas.value_or(0)};
}

std::string count(std::int32_t part, std::int32_t whole, const char* what) {
  return std::to_string(part) + " of " + std::to_string(whole) + " " + what;
}

Readiness readiness_of(const Rollout& rollout) {
  if (rollout.observed_generation.value_or(0) < rollout.generation)
    return not_ready("its controller has not seen the last change");
  if (rollout.updated < rollout.wanted)
    return not_ready(count(rollout.updated, rollout.wanted, "replicas have the last change"));
  if (rollout.existing > rollout.updated)
    return not_ready(std::to_string(rollout.existing - rollout.updated) + " old replicas are left");
  if (rollout.available < rollout.wanted)
    return not_ready(count(rollout.available, rollout.wanted, "replicas are available"));
  return true;
}

bool is_kind(const DynamicObject& object, std::string_view api_version, std::string_view kind) {
  return object.api_version() == api_version && object.kind() == kind;
}

[[noreturn]] void refuse(const std::string& what, const DynamicObject& object) {
  throw std::invalid_argument(what + ", not " + std::string(object.kind()) + " (" +
                              std::string(object.api_version()) + ")");
}

}  // namespace

Readiness RolledOut::operator()(const Deployment& deployment) const {
  return readiness_of(rollout_of(deployment));
}

Readiness RolledOut::operator()(const StatefulSet& set) const {
  return readiness_of(rollout_of(set));
}

Readiness RolledOut::operator()(const DaemonSet& set) const {
  const auto& status = set.status;
  const std::int32_t updated = status.updated_number_scheduled.value_or(0);
  return readiness_of({.generation = set.metadata.generation,
                       .observed_generation = status.observed_generation,
                       .wanted = status.desired_number_scheduled.value_or(0),
                       .updated = updated,
                       .available = status.number_available.value_or(0),
                       .existing = updated});
}

Readiness Completed::operator()(const Job& job) const {
  for (const auto& condition : job.status.conditions) {
    if (condition.status != "True") continue;
    if (condition.type == "Complete") return true;
    if (condition.type == "Failed") return not_ready("it failed: " + condition.message.value_or(""));
  }
  return not_ready("it is not complete");
}

Readiness RolledOut::operator()(const DynamicObject& object) const {
  if (is_kind(object, "apps/v1", "Deployment")) return (*this)(object.as<Deployment>());
  if (is_kind(object, "apps/v1", "StatefulSet")) return (*this)(object.as<StatefulSet>());
  if (is_kind(object, "apps/v1", "DaemonSet")) return (*this)(object.as<DaemonSet>());
  refuse("rolled_out is for Deployment, StatefulSet and DaemonSet (apps/v1)", object);
}

Readiness Completed::operator()(const DynamicObject& object) const {
  if (is_kind(object, "batch/v1", "Job")) return (*this)(object.as<Job>());
  refuse("completed is for Job (batch/v1)", object);
}

Readiness has_condition_of(const DynamicObject& object, const std::string& type) {
  const Json& conditions = object.body().at({"status", "conditions"});
  if (conditions.is_array()) {
    for (const Json& condition : conditions.as_array()) {
      if (condition["type"].string_or("") != type) continue;
      const std::string status(condition["status"].string_or(""));
      return {status == "True", type + " is " + status};
    }
  }
  return not_ready("it has no condition " + type);
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
