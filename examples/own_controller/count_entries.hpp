// SPDX-License-Identifier: Apache-2.0
// The reconcile function of the example.
#pragma once

#include <string>
#include <utility>

#include <evenkeel/client/client.hpp>

#include "own_controller.hpp"

/// Returns a function that writes the number of entries of a ConfigMap into an annotation of it.
inline OwnController::Reconcile count_entries_with(ek::Client client) {
  return [client = std::move(client)](const ek::Cache& cache, const ek::ObjectKey& key) {
    const auto map = cache.find<ek::ConfigMap>(key);
    if (!map) return;                                // it is deleted
    client.patch(map, [&](ek::ConfigMap& changed) {  // sends nothing if it changes nothing
      changed.metadata.annotations["example.com/entries"] = std::to_string(map->data.size());
    });
  };
}
