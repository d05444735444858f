// SPDX-License-Identifier: Apache-2.0
#include "controller/followed_clusters.hpp"

#include <chrono>
#include <utility>

#include "client/request/write_log.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

// After this a parked key is looked at again, should nobody report that its cluster may run.
constexpr Duration parked_for = std::chrono::minutes{10};

}  // namespace

void FollowedClusters::begin() {
  if (spec_.options.runs_in != RunsIn::home_cluster && environment_.clusters != nullptr)
    environment_.clusters->add_follower(*this);
}

void FollowedClusters::end() noexcept {
  if (environment_.clusters != nullptr) environment_.clusters->remove_follower(*this);
}

std::shared_ptr<const FollowedCluster> FollowedClusters::find(std::string_view name) const {
  MutexLock lock(mutex_);
  const auto found = clusters_.find(name);
  return found == clusters_.end() ? nullptr : found->second.followed;
}

std::vector<std::shared_ptr<const FollowedCluster>> FollowedClusters::all() const {
  MutexLock lock(mutex_);
  std::vector<std::shared_ptr<const FollowedCluster>> all;
  all.reserve(clusters_.size());
  for (const auto& [name, entry] : clusters_) all.push_back(entry.followed);
  return all;
}

// The writes of the controller in each cluster depend on the leadership in the home cluster.
Client FollowedClusters::own_client(const Cluster& cluster) const {
  return cluster.client().with({.write_guard = environment_.client.call_options().write_guard,
                                .writer = cluster.client().writes()->new_writer()});
}

void FollowedClusters::on_engaged(const std::shared_ptr<Cluster>& cluster) {
  const auto followed = std::make_shared<FollowedCluster>(cluster, own_client(*cluster));
  queue_.enter(cluster->name(), {.log = followed->client.writes(),
                                 .writer = followed->client.call_options().writer.value_or(0)});
  for (const IndexSpec& spec : spec_.indexes) cluster->cache().index(spec.resource, spec.index);
  feed_.attach_in(cluster->name(), cluster->cache(), spec_.watches,
                  [this, name = cluster->name()] { release(name); });
  MutexLock lock(mutex_);
  clusters_[cluster->name()] = {.followed = followed};
}

// Keys that wait are added, so that workers take them and find that the cluster is gone: nothing of it stays
// in the queue.
void FollowedClusters::on_leaving(const Cluster& cluster) noexcept {
  {
    MutexLock lock(mutex_);
    clusters_.erase(cluster.name());
  }
  feed_.leave(cluster.name());
  queue_.leave(cluster.name());
}

bool FollowedClusters::may_run(std::string_view name) const {
  return is_synced(name) && !environment_.clusters->is_away(name);
}

// The cluster may have returned just before the key was parked.
void FollowedClusters::park(const RequestKey& key, Priority priority) {
  bool followed = false;
  {
    MutexLock lock(mutex_);
    const auto found = clusters_.find(key.cluster());
    followed = found != clusters_.end();
    if (followed) found->second.parked.insert_or_assign(key, priority);
  }
  if (!followed) return queue_.drop(key);
  queue_.defer(key, parked_for, priority);
  if (may_run(key.cluster())) release(key.cluster());
}

void FollowedClusters::on_returned(const Cluster& cluster) noexcept {
  release(cluster.name());
}

void FollowedClusters::release(std::string_view name) {
  Parked parked;
  {
    MutexLock lock(mutex_);
    const auto found = clusters_.find(name);
    if (found == clusters_.end()) return;
    parked.swap(found->second.parked);
  }
  for (const auto& [key, priority] : parked) queue_.queue().add(key, priority);
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
