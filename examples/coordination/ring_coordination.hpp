// SPDX-License-Identifier: Apache-2.0
// What ring-operator needs for the steps of coordination/process_groups: a coordinator for each RingCluster,
// made anew when its scope changes, and how the steps find their way in the resource.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include <evenkeel/base/metrics.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/controller/context.hpp>
#include <evenkeel/coordination/coordination_metrics.hpp>
#include <evenkeel/coordination/process_groups/steps.hpp>

#include "ring_cluster.hpp"

struct RingCoordinationOptions {
  std::string instance = "ring";  ///< The same for as long as this instance exists.
  std::string incarnation = {};   ///< Of this run of the process.
  ec::Mode mode = ec::Mode::local;
  std::string root = "/ringdb";
  double time_scale = 1;  ///< All times of the rules are divided by it.
  /// Since the last recovery or the youngest process, before anything is restarted or included again.
  ek::Duration minimum_uptime = std::chrono::minutes{10};
  ek::Duration silence = std::chrono::seconds{60};
  std::size_t sites = 3;  ///< That share the coordinators of the database.
};

/// Thread safety: all members may be called concurrently. Lifetime: not longer than database and store.
class RingCoordination {
 public:
  RingCoordination(ec::AdminClient& database, ec::MeteredStore& store, RingCoordinationOptions options);

  ec::ProcessGroupAdapter<RingCluster> adapter();
  /// That of the cluster. If its scope is another one than before, everything in the store is moved to it
  /// first; throws StoreUnavailable if that cannot be done now.
  std::shared_ptr<ec::ProcessGroupCoordinator> coordinator(ek::Context& context, const RingCluster& cluster);
  /// For the manager's metrics: what was decided, of the locks, and of the store.
  void collect(ek::MetricSink& sink) const;

 private:
  ec::ProcessGroupOptions options_for(const std::string& scope) const;
  void move_to(const ec::Identity& identity, ek::Context& context);

  ec::AdminClient& database_;
  ec::MeteredStore& store_;
  const RingCoordinationOptions options_;
  const std::shared_ptr<ec::CoordinationMeter> meter_;
  mutable ek::Mutex mutex_;
  std::map<ek::ObjectKey, std::shared_ptr<ec::ProcessGroupCoordinator>> known_ EVENKEEL_GUARDED_BY(mutex_);
};
