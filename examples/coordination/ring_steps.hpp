// SPDX-License-Identifier: Apache-2.0
// The steps of ring-operator that concern its own namespace only: which process groups there are, their
// ConfigMap and their pods, and what the resource says of it all. What disturbs the database is done by the
// steps of coordination/process_groups, which come between.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/controller/pipeline.hpp>
#include <evenkeel/coordination/process_groups/coordinator.hpp>
#include <evenkeel/coordination/process_groups/database.hpp>

#include "ring_cluster.hpp"
#include "ring_plan.hpp"

struct RingStepsOptions {
  ek::Duration poll = std::chrono::milliseconds{200};  ///< Between two looks while something is to be done.
  ek::Duration rest = std::chrono::seconds{1};         ///< And while nothing is.
};

/// Thread safety: all members may be called concurrently. Lifetime: the client's is longer.
class RingSteps {
 public:
  RingSteps(ec::AdminClient& database, RingStepsOptions options) : database_(database), options_(options) {}

  /// Decides which groups there are.
  void plan(ek::Context& context, const RingCluster& cluster) const;
  /// Brings about ConfigMap and pods.
  void provide(ek::Context& context, const RingCluster& cluster) const;
  /// Notes how pods and processes are. Throws DatabaseError.
  void observe(ek::Context& context, const RingCluster& cluster) const;
  /// Says how far it is, for which action it waits for what, and when to look again.
  ek::Step report(ek::Context& context, const RingCluster& cluster,
                  const ec::ProcessGroupCoordinator& coordinator) const;

 private:
  ec::AdminClient& database_;
  RingStepsOptions options_;
};

/// The pods of a cluster as the cache has them.
PodsByGroup pods_of(ek::Context& context, const RingCluster& cluster);
