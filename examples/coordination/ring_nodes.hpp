// SPDX-License-Identifier: Apache-2.0
// The nodes on which the processes of the simulated database run: starts what pods ask for, copies changed
// configuration to them, and stops what is deleted, each after a while that chance decides.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/controller/builder.hpp>

#include "ring_doors.hpp"

struct RingNodesOptions {
  ek::Duration start_min = std::chrono::milliseconds{50};  ///< From a pod's creation to its process.
  ek::Duration start_max = std::chrono::milliseconds{200};
  ek::Duration sync_min = std::chrono::milliseconds{50};  ///< From a ConfigMap's change to the pod's copy.
  ek::Duration sync_max = std::chrono::milliseconds{200};
  std::uint64_t seed = 1;  ///< Of the times between; each pod has its own.
};

/// Thread safety: all members may be called concurrently. Lifetime: longer than the manager that has its
/// controller.
class RingNodes {
 public:
  RingNodes(RingNodesOptions options, SharedRing& ring) : options_(options), ring_(ring) {}
  /// Reconciles the pods with the label of a cluster; to be given to a manager.
  ek::ControllerSpec controller();

 private:
  struct Known {
    std::string group;
    std::string cluster;
    std::map<std::string, ek::TimePoint> seen;  // when which text was first asked for
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
