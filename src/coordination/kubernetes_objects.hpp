// SPDX-License-Identifier: Apache-2.0
// Reads the objects of a Kubernetes store, and caches them so that unchanged objects are not transferred
// again.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/coordination/kubernetes_store.hpp>

#include "coordination/kubernetes_names.hpp"
#include "coordination/kubernetes_shard.hpp"

namespace evenkeel {
inline namespace v0 {
namespace coordination::detail {

constexpr const char* coordination_label = "evenkeel.dev/coordination";

/// One of the store's objects as it was read. Without metadata: it does not exist.
struct KubernetesObject {
  ObjectMeta metadata = {};
  KubernetesShard shard = {};
  bool exists() const { return !metadata.resource_version.empty(); }
};

/// A consistent set of all objects by name; no pointer is null.
using KubernetesObjectSet = std::map<std::string, std::shared_ptr<const KubernetesObject>>;

/// Reads and caches objects. If the previous list was large, a list requests only metadata first, and then
/// the objects whose resourceVersion differs from the cached one; equal versions mean equal objects, so the
/// cache is never stale. If an object changed between the two requests, all are read.
/// Thread safety: all members may be called concurrently.
class KubernetesObjectReader {
 public:
  explicit KubernetesObjectReader(const KubernetesStoreOptions& options)
      : options_(options), names_(options) {}

  std::string selector() const { return coordination_label + ("=" + options_.name); }
  /// Throws what the client throws, and StoreUnavailable for contents that cannot be decoded.
  KubernetesObject find(const Client& client, const std::string& name) const;
  KubernetesObjectSet list(const Client& client);

 private:
  using Versions = std::map<std::string, std::string>;

  KubernetesObject decoded(const ConfigMap& map) const;
  KubernetesObjectSet list_all(const Client& client) const;
  Versions list_versions(const Client& client) const;
  std::optional<KubernetesObjectSet> list_changed(const Client& client,
                                                  const KubernetesObjectSet& known) const;

  const KubernetesStoreOptions& options_;
  const KubernetesNames names_;
  Mutex mutex_;
  KubernetesObjectSet known_ EVENKEEL_GUARDED_BY(mutex_);
};

/// The object sets of the latest snapshots by version, from which a commit detects changes in a range.
/// Thread safety: all members may be called concurrently.
class KubernetesSnapshots {
 public:
  void keep(Version version, KubernetesObjectSet objects);
  /// Returns the begin of the first of `ranges` in which `now` differs from the snapshot of `since`, or may
  /// differ because that snapshot is no longer kept.
  std::optional<std::string> range_conflict(const std::vector<KeyRange>& ranges, Version since,
                                            const KubernetesObjectSet& now);

 private:
  Mutex mutex_;
  // Oldest first. Unchanged objects are shared.
  std::deque<std::pair<Version, KubernetesObjectSet>> kept_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace coordination::detail
}  // namespace v0
}  // namespace evenkeel
