// SPDX-License-Identifier: Apache-2.0
#include "manager/manager_options.hpp"

#include <chrono>
#include <stdexcept>
#include <string>

namespace evenkeel {
inline namespace v0 {
namespace detail {

CacheOptions cache_options(const ManagerOptions& options) {
  CacheOptions cache = options.cache;
  cache.log = options.log;
  cache.clock = options.clock;
  if (options.shards && options.shards->by == ShardBy::namespace_range)
    cache.reflector.cell_label = options.shards->label;
  return cache;
}

std::optional<Client> client_for_election(const Client& client, const ManagerOptions& options) {
  if (!options.election && !options.shards) return std::nullopt;
  if (options.election_client) return options.election_client;
  return Client(client.config(), {.clock = options.clock, .log = options.log, .tracer = client.tracer()});
}

EventRecorderOptions event_options(const ManagerOptions& options) {
  EventRecorderOptions events = options.events;
  events.log = options.log;
  events.clock = options.clock;
  events.on_thread_start = options.on_thread_start;
  if (!events.component.empty()) return events;
  events.component = options.name.substr(0, 63);
  for (char& c : events.component) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!letter && c != '.' && c != '_') c = '-';
  }
  const auto is_edge = [](char c) { return c == '-' || c == '.' || c == '_'; };
  while (!events.component.empty() && is_edge(events.component.back())) events.component.pop_back();
  while (!events.component.empty() && is_edge(events.component.front())) events.component.erase(0, 1);
  return events;
}

ClusterSetOptions cluster_options(const ManagerOptions& options) {
  ClusterSetOptions clusters = options.clusters;
  clusters.log = options.log;
  clusters.clock = options.clock;
  clusters.on_thread_start = options.on_thread_start;
  if (clusters.events.component.empty()) clusters.events.component = event_options(options).component;
  return clusters;
}

// The default is that of Gatekeeper's --shutdown-delay. Removing an endpoint takes up to a few seconds.
Duration shutdown_delay(const LifecycleOptions& options, bool serves_webhooks) {
  constexpr Duration with_webhooks = std::chrono::seconds{10};
  return options.shutdown_delay.value_or(serves_webhooks ? with_webhooks : Duration::zero());
}

ManagerOptions with_election_name(ManagerOptions options) {
  if (options.election && options.shards)
    throw std::invalid_argument(
        "ManagerOptions: election and shards exclude each other: with shards all replicas work");
  if (options.shards && options.shards->name.empty()) options.shards->name = options.name + "-shards";
  if (options.election && options.election->name.empty()) options.election->name = options.name;
  return options;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
