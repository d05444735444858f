// SPDX-License-Identifier: Apache-2.0
// The clusters that a controller follows: its watches and its client in each, and the keys that wait while
// one is away.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <evenkeel/base/mutex.hpp>
#include <evenkeel/clusters/cluster_set.hpp>
#include <evenkeel/controller/controller_spec.hpp>
#include <evenkeel/workqueue/request_key.hpp>

#include "controller/event_feed.hpp"
#include "controller/gated_queue.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// A cluster as one controller sees it.
struct FollowedCluster {
  FollowedCluster(std::shared_ptr<Cluster> followed, Client own)
      : cluster(std::move(followed)), client(std::move(own)) {}
  const std::shared_ptr<Cluster> cluster;
  const Client client;  ///< Writes as the controller, while it may write.
};

/// Thread safety: all members may be called concurrently.
/// Lifetime: call end() before destroying the referenced objects.
class FollowedClusters final : public ClusterFollower {
 public:
  FollowedClusters(const ControllerSpec& spec, const ControllerEnvironment& environment, GatedQueue& queue,
                   EventFeed& feed)
      : spec_(spec), environment_(environment), queue_(queue), feed_(feed) {}

  /// Begins to follow, if the options ask for it.
  void begin();
  /// Follows no cluster from the return of this on.
  void end() noexcept;

  /// Returns a cluster; null if it is not engaged (any more).
  std::shared_ptr<const FollowedCluster> find(std::string_view name) const EVENKEEL_EXCLUDES(mutex_);
  /// Returns the clusters, sorted by name.
  std::vector<std::shared_ptr<const FollowedCluster>> all() const EVENKEEL_EXCLUDES(mutex_);
  /// Returns true if its keys may run: the cluster answers, and all its watches have their first lists.
  bool may_run(std::string_view name) const;
  /// Adds a key that a worker has taken once its cluster may_run(); after a while in any case. Drops one of a
  /// cluster that is not followed (any more).
  void park(const RequestKey& key, Priority priority) EVENKEEL_EXCLUDES(mutex_);
  /// Returns true if the watches in a cluster have delivered their first lists.
  bool is_synced(std::string_view name) const { return feed_.is_synced(name); }
  /// Returns true if keys of the home cluster run.
  bool runs_at_home() const noexcept {
    return spec_.options.runs_in != RunsIn::engaged_clusters || environment_.clusters == nullptr;
  }

  void on_engaged(const std::shared_ptr<Cluster>& cluster) override EVENKEEL_EXCLUDES(mutex_);
  void on_leaving(const Cluster& cluster) noexcept override EVENKEEL_EXCLUDES(mutex_);
  void on_returned(const Cluster& cluster) noexcept override EVENKEEL_EXCLUDES(mutex_);

 private:
  using Parked = std::unordered_map<RequestKey, Priority>;
  struct Entry {
    std::shared_ptr<const FollowedCluster> followed;
    Parked parked = {};
  };

  Client own_client(const Cluster& cluster) const;
  void release(std::string_view name) EVENKEEL_EXCLUDES(mutex_);

  const ControllerSpec& spec_;
  const ControllerEnvironment& environment_;
  GatedQueue& queue_;
  EventFeed& feed_;
  mutable Mutex mutex_;
  std::map<std::string, Entry, std::less<>> clusters_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
