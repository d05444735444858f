// SPDX-License-Identifier: Apache-2.0
// An engaged cluster: its name, client, cache and Events.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include <evenkeel/base/export.hpp>
#include <evenkeel/cache/cache.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/client/config.hpp>

namespace evenkeel {
inline namespace v0 {

class EventRecorder;

/// A cluster as a provider offers it.
struct ClusterDescription {
  /// Name in requests, logs, metrics and explanations: see check_cluster_name().
  std::string name = {};
  Config config = {};
  /// Identifies the configuration: if it changes, the cluster leaves and is engaged again.
  std::string version = {};
};

/// Throws std::invalid_argument unless `name` has up to 253 letters, digits, '-', '_' and '.', the first and
/// the last a letter or digit.
EVENKEEL_API void check_cluster_name(std::string_view name);

/// An engaged cluster. Its sockets, watches and cache are driven by a thread that it shares with other
/// clusters of its ClusterSet.
/// Thread safety: all members may be called concurrently.
/// Lifetime: a holder of the last handle may drop it on any thread. Copies of the client must not outlive it.
class EVENKEEL_API Cluster {
 public:
  const std::string& name() const noexcept { return name_; }
  const Client& client() const noexcept { return client_; }
  Cache& cache() const noexcept { return *cache_; }
  /// Returns the recorder of Kubernetes Events, which are written in this cluster.
  EventRecorder& events() const noexcept { return *events_; }
  /// Triggered when the cluster has left, and ClusterSetOptions::drain_timeout is over.
  const std::stop_token& stop() const noexcept { return stop_; }

  struct Parts {
    std::string name;
    Client client;
    std::unique_ptr<Cache> cache;
    std::shared_ptr<EventRecorder> events;
    std::stop_token stop;
  };
  /// For the library.
  explicit Cluster(Parts parts);
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

 private:
  const std::string name_;
  const Client client_;
  const std::unique_ptr<Cache> cache_;
  const std::shared_ptr<EventRecorder> events_;
  const std::stop_token stop_;
};

}  // namespace v0
}  // namespace evenkeel
