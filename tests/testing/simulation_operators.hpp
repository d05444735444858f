// SPDX-License-Identifier: Apache-2.0
// Operators for simulations, and the users of their objects.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <evenkeel/testing/simulation.hpp>

#include "explore_store.hpp"

namespace evenkeel::testing {

/// Pods by name, as many as are wanted; data; a status.
inline Result reconcile_store(Context& context, const Store& store) {
  context.apply(data_map("main-data", {{"image", store.spec.image}}));
  for (int at = 0; at < store.spec.replicas; ++at)
    context.apply(store_pod("main-" + std::to_string(at), store));
  for (const auto& pod : context.owned_by<Pod>(store)) {
    const int number = std::stoi(pod->metadata.name.substr(5));
    if (number >= store.spec.replicas) context.remove<Pod>({"default", pod->metadata.name});
  }
  context.patch_status(store, [&](StoreStatus& status) { status.replicas = store.spec.replicas; });
  return done();
}

inline ControllerSpec store_controller() {
  return controller_for<Store>(reconcile_store).owns<Pod>().owns<ConfigMap>();
}

/// A user who creates a store, scales it up and down, deletes and creates it again.
inline void change_store(SimulatedCluster& cluster) {
  cluster.create({store({.replicas = 2})});
  cluster.settle();
  for (const int replicas : {4, 1, 3, 0, 2, 5, 1, 4}) {
    cluster.edit<Store>(main_store, [&](Store& store) { store.spec.replicas = replicas; });
    cluster.settle();
  }
  cluster.remove<Store>(main_store);
  cluster.settle();
  cluster.create({store({.replicas = 1})});
  cluster.settle();
  cluster.edit<Store>(main_store, [](Store& store) { store.spec.storage = 2; });
}

/// Pods become ready.
inline void play_kubelet(SimulatedCluster& cluster) {
  for (;;) {
    cluster.run_for(std::chrono::seconds{2});
    for (const auto& pod : cluster.list<Pod>({.namespace_ = "default"})) {
      if (pod->status.phase == "Running") continue;
      try {
        cluster.client().patch_status(pod, [](core_v1::PodStatus& status) { status.phase = "Running"; });
      } catch (const ApiError&) {
        continue;  // it is gone, or has changed
      }
    }
  }
}

/// Writes down when it ran, by a clock that differs in each process.
inline ControllerSpec timing_controller() {
  return controller_for<Store>([](Context& context, const Store& store) {
           const std::string now = std::to_string(context.client().clock()->now().time_since_epoch().count());
           context.apply(data_map("main-data", {{"image", store.spec.image}, {"now", now}}), {.own = false});
         })
      .owns<ConfigMap>();
}

}  // namespace evenkeel::testing
