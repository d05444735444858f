// SPDX-License-Identifier: Apache-2.0
// The controller of clusters-operator: it writes into every ConfigMap with the label fleet=yes how many of
// these there are in its cluster.
#pragma once

#include <string>
#include <vector>

#include <evenkeel/evenkeel.hpp>

namespace ek = evenkeel;

inline void reconcile(ek::Context& context, const ek::ConfigMap& map) {
  const std::size_t count = context.list<ek::ConfigMap>({.label_selector = "fleet=yes"}).size();
  const std::string text = std::to_string(count) + " in " + std::string(context.cluster());
  if (map.data.contains("census") && map.data.at("census") == text) return;
  context.patch(map, [&](ek::ConfigMap& changed) { changed.data["census"] = text; });
}

// A map that comes or goes changes the number in all of them.
inline std::vector<ek::ObjectKey> whole_fleet(const ek::WireObject&, const ek::Cache& cache) {
  std::vector<ek::ObjectKey> keys;
  for (const auto& map : cache.list<ek::ConfigMap>({.label_selector = "fleet=yes"}))
    keys.push_back(ek::key_of(*map));
  return keys;
}

inline ek::ControllerSpec census_controller() {
  using ek::EventType;
  return ek::controller_for<ek::ConfigMap>(reconcile, {.label_selector = "fleet=yes"})
      .watches<ek::ConfigMap>(whole_fleet, {.when = ek::events_of({EventType::added, EventType::deleted}),
                                            .label_selector = "fleet=yes"})
      .with({.workers = 4, .runs_in = ek::RunsIn::engaged_clusters});
}
