// SPDX-License-Identifier: Apache-2.0
// The coordinators of ring-operator: one for each RingCluster, and the adapter that maps the resource to the
// steps of coordination/process_groups.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/metrics.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/controller/context.hpp>
#include <evenkeel/coordination/console_section.hpp>
#include <evenkeel/coordination/coordination_metrics.hpp>
#include <evenkeel/coordination/process_groups/steps.hpp>

#include "ring_cluster.hpp"

struct RingCoordinationOptions {
  std::string instance = "ring";  ///< Stable over restarts of this instance.
  std::string incarnation = {};   ///< Identifies this run of the process.
  ec::ReadyBy ready_by = ec::ReadyBy::process_class;
  std::string root = "/ringdb";
  double time_scale = 1;  ///< All times of the rules are divided by this.
  /// Minimum time since the last recovery and the start of the youngest process, before a restart or an
  /// inclusion.
  ek::Duration minimum_uptime = std::chrono::minutes{10};
  ek::Duration silence = std::chrono::seconds{60};
  ek::Duration retry = std::chrono::seconds{2};  ///< Delay before a waiting step is retried.
  std::size_t sites = 3;         ///< Number of sites that share the coordinators of the database.
  std::size_t coordinators = 9;  ///< Number of coordinators of the database.
  std::shared_ptr<const ek::Clock> clock = ek::real_clock();
};

/// Thread safety: all members may be called concurrently. Lifetime: must not outlive the database client and
/// the store.
class RingCoordination {
 public:
  RingCoordination(ec::AdminClient& database, ec::MeteredStore& store, RingCoordinationOptions options);

  ec::ProcessGroupAdapter<RingCluster> adapter();
  /// Returns the coordinator of the cluster.
  std::shared_ptr<ec::ProcessGroupCoordinator> coordinator(const RingCluster& cluster);
  /// Writes the metrics of decisions, locks and the store, for the manager.
  void collect(ek::MetricSink& sink) const;
  /// Returns a section for the manager's console that shows the store.
  std::function<ek::Json()> console_section() const;

 private:
  ec::ProcessGroupOptions options_for(const RingCluster& cluster) const;

  ec::AdminClient& database_;
  ec::MeteredStore& store_;
  const RingCoordinationOptions options_;
  const std::shared_ptr<ec::CoordinationMeter> meter_;
  mutable ek::Mutex mutex_;
  std::map<ek::ObjectKey, std::shared_ptr<ec::ProcessGroupCoordinator>> known_ EVENKEEL_GUARDED_BY(mutex_);
};
