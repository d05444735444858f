// SPDX-License-Identifier: Apache-2.0
// The nodes on which the processes of the simulated database run: they start the processes of Pods, copy
// changed configuration to Pods, and stop deleted Pods, each after a random delay.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/api/kinds/pods.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/controller/builder.hpp>

#include "ring_doors.hpp"

struct RingNodesOptions {
  ek::Duration start_min = std::chrono::milliseconds{50};  ///< From the creation of a Pod to its process.
  ek::Duration start_max = std::chrono::milliseconds{200};
  ek::Duration sync_min = std::chrono::milliseconds{50};  ///< From a ConfigMap change to its copy.
  ek::Duration sync_max = std::chrono::milliseconds{200};
  std::uint64_t seed = 1;  ///< Seed of the delays, which differ for each Pod.
};

/// Thread safety: all members may be called concurrently. Lifetime: must outlive the manager that runs its
/// controller.
class RingNodes {
 public:
  RingNodes(RingNodesOptions options, SharedRing& ring) : options_(options), ring_(ring) {}
  /// Returns the controller of the Pods with the label of a cluster; add it to a manager.
  ek::ControllerSpec controller();

 private:
  struct Known {
    std::string group;
    std::string cluster;
    std::map<std::string, ek::TimePoint> seen;  // text -> when it was first requested
  };

  ek::Result reconcile(ek::Context& context);
  ek::Result start(ek::Context& context, const ek::Snapshot<ek::Pod>& pod, const ek::ConfigMap& config);
  ek::Result sync(ek::Context& context, const ek::Snapshot<ek::Pod>& pod, const ek::ConfigMap& config);
  void stop(ek::Context& context, const ek::Snapshot<ek::Pod>& pod);
  ek::Duration left(const ek::Pod& pod, const std::string& what, ek::Duration min, ek::Duration max,
                    ek::TimePoint now);
  std::vector<ek::ObjectKey> pods_of(const ek::ConfigMap& config);
  std::string next_address();

  const RingNodesOptions options_;
  SharedRing& ring_;
  ek::Mutex mutex_;
  std::map<ek::ObjectKey, Known> pods_ EVENKEEL_GUARDED_BY(mutex_);
  int addresses_ EVENKEEL_GUARDED_BY(mutex_) = 0;
};
