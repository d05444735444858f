// SPDX-License-Identifier: Apache-2.0
// An operator that checks the health of applications periodically, without its main(). The monitor of an
// application whose deployment is being rolled out is in the fast lane of the queue, all others are in the
// slow one, so that a rollout does not wait for the checks of everybody else.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include <evenkeel/api/kinds/apps.hpp>
#include <evenkeel/evenkeel.hpp>

namespace ek = evenkeel;

struct HealthMonitorSpec {
  int period_seconds = 60;
};
EVENKEEL_FIELDS(HealthMonitorSpec, (period_seconds, evenkeel::minimum(1)))

struct HealthMonitorStatus {
  bool healthy = false;
};
EVENKEEL_FIELDS(HealthMonitorStatus, healthy)

/// Asks for periodic checks of the deployment with its name.
struct HealthMonitor {
  static constexpr ek::ResourceInfo resource{.group = "health.evenkeel.dev",
                                             .version = "v1alpha1",
                                             .kind = "HealthMonitor",
                                             .plural = "healthmonitors",
                                             .installs_crd = true};
  static constexpr ek::PrinterColumn columns[] = {
      {.name = "Healthy", .type = "boolean", .json_path = ".status.healthy"}};
  ek::ObjectMeta metadata = {};
  HealthMonitorSpec spec = {};
  HealthMonitorStatus status = {};
};
EVENKEEL_FIELDS(HealthMonitor, metadata, spec, status)

/// The deployments that are being rolled out. The queue reads it under its own lock, on every thread that
/// adds a key: it has a separate lock and makes no calls under it.
class Rollouts {
 public:
  /// Returns true if this is a change.
  bool set(const ek::ObjectKey& deployment, bool active) {
    const std::lock_guard lock(mutex_);
    return active ? active_.insert(deployment).second : active_.erase(deployment) != 0;
  }
  bool is_active(const ek::ObjectKey& deployment) const {
    const std::lock_guard lock(mutex_);
    return active_.contains(deployment);
  }

 private:
  mutable std::mutex mutex_;
  std::set<ek::ObjectKey> active_;
};

/// Returns true until the deployment controller has seen the spec and all replicas are updated and available.
inline bool is_rolled_out(const ek::Deployment& deployment) {
  const int wanted = deployment.spec.replicas.value_or(1);
  return deployment.status.observed_generation.value_or(0) >= deployment.metadata.generation &&
         deployment.status.updated_replicas.value_or(0) >= wanted &&
         deployment.status.available_replicas.value_or(0) >= wanted;
}

/// The policy of the queue's store. Called when a key is queued, and again whenever it is added while it is
/// queued, so that a queued key changes its lane with its deployment.
struct LaneOfMonitor {
  std::shared_ptr<const Rollouts> rollouts;
  ek::Lane operator()(const ek::Request& monitor) const {
    return rollouts->is_active(monitor.object_key()) ? ek::Lane::fast : ek::Lane::slow;
  }
};

/// The check of one application: a request to it, which takes a while. Returns true if it is healthy.
using HealthCheck = std::function<bool(ek::Context&, const HealthMonitor&)>;

inline constexpr std::chrono::seconds period_of_rollouts{1};

/// Returns the controller without its store.
inline ek::ControllerBuilder<HealthMonitor> health_controller(HealthCheck check,
                                                              std::shared_ptr<Rollouts> rollouts) {
  const auto reconcile = [check = std::move(check), rollouts](ek::Context& context,
                                                              const HealthMonitor& monitor) {
    const bool healthy = check(context, monitor);
    context.patch_status(monitor, [&](HealthMonitorStatus& status) { status.healthy = healthy; });
    if (rollouts->is_active(context.key())) return ek::requeue_after(period_of_rollouts);
    return ek::requeue_after(std::chrono::seconds(monitor.spec.period_seconds));
  };
  // Records the state of each deployment before the key is added, and passes only changes of it.
  const auto record = [rollouts](const ek::ObjectEvent& event) {
    const bool active =
        event.type != ek::EventType::deleted && !is_rolled_out(*event.object->decode<ek::Deployment>());
    return rollouts->set(event.object->key(), active);
  };
  const auto monitor_of = [](const ek::WireObject& deployment) { return deployment.key(); };
  return ek::controller_for<HealthMonitor>(reconcile, {.when = ek::generation_changed()})
      .watches<ek::Deployment>(monitor_of, {.when = record});
}

/// Returns the controller with two lanes.
inline ek::ControllerSpec two_lane_controller(HealthCheck check) {
  const auto rollouts = std::make_shared<Rollouts>();
  return health_controller(std::move(check), rollouts).with({.store = [rollouts] {
    return ek::PolicyLaneStore<ek::Request, LaneOfMonitor>(LaneOfMonitor{rollouts});
  }});
}
