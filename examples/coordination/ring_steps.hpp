// SPDX-License-Identifier: Apache-2.0
// The steps of ring-operator that concern only its own namespace: process groups, the ConfigMap, Pods, and
// the status of the resource. The steps of coordination/process_groups, which run between them, disrupt the
// database.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/api/kinds/pods.hpp>
#include <evenkeel/controller/pipeline.hpp>
#include <evenkeel/coordination/process_groups/coordinator.hpp>
#include <evenkeel/coordination/process_groups/database.hpp>

#include "ring_cluster.hpp"
#include "ring_plan.hpp"

struct RingStepsOptions {
  ek::Duration poll = std::chrono::milliseconds{200};  ///< Requeue interval while there is work.
  ek::Duration rest = std::chrono::seconds{1};         ///< Requeue interval while there is none.
};

/// Thread safety: all members may be called concurrently. Lifetime: must not outlive the client.
class RingSteps {
 public:
  RingSteps(ec::AdminClient& database, RingStepsOptions options) : database_(database), options_(options) {}

  /// Decides which groups exist.
  void plan(ek::Context& context, const RingCluster& cluster) const;
  /// Creates and updates the ConfigMap and the Pods.
  void provide(ek::Context& context, const RingCluster& cluster) const;
  /// Records the state of Pods and processes. Throws DatabaseError.
  void observe(ek::Context& context, const RingCluster& cluster) const;
  /// Writes the status with the actions that wait and their reasons, and requeues.
  ek::Step report(ek::Context& context, const RingCluster& cluster,
                  const ec::ProcessGroupCoordinator& coordinator) const;

 private:
  ec::AdminClient& database_;
  RingStepsOptions options_;
};

/// Returns the Pods of a cluster from the cache.
PodsByGroup pods_of(ek::Context& context, const RingCluster& cluster);
