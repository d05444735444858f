// SPDX-License-Identifier: Apache-2.0
// The objects of a Kubernetes store as a client reads them: what it has read before and has not changed is
// not sent again.
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

/// One of the store's objects as it was read. No metadata: it does not exist.
struct KubernetesObject {
  ObjectMeta metadata = {};
  KubernetesShard shard = {};
  bool exists() const { return !metadata.resource_version.empty(); }
};

/// All objects of one moment by their names, none of which is null.
using KubernetesObjectSet = std::map<std::string, std::shared_ptr<const KubernetesObject>>;

/// Reads objects. A list first asks only for metadata, if much was sent the last time, and then for what has
/// another resourceVersion than the object that is kept: equal versions are equal objects, so what is kept is
/// never trusted further than that. If an object changed between the two, all are read.
/// Thread safety: all members may be called concurrently.
class KubernetesObjectReader {
 public:
  explicit KubernetesObjectReader(const KubernetesStoreOptions& options)
      : options_(options), names_(options) {}

  std::string selector() const { return coordination_label + ("=" + options_.name); }
  /// Throws what the client throws, and StoreUnavailable for contents that are none.
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

/// What the last snapshots showed, by their version: so that a commit can see what has changed in a range
/// since. Thread safety: all members may be called concurrently.
class KubernetesSnapshots {
 public:
  void keep(Version version, KubernetesObjectSet objects);
  /// Where the first of `ranges` begins in which `now` differs from the snapshot of `since`, or in which it
  /// may differ because that one is not kept.
  std::optional<std::string> range_conflict(const std::vector<KeyRange>& ranges, Version since,
                                            const KubernetesObjectSet& now);

 private:
  Mutex mutex_;
  // Oldest first. Objects that did not change are shared.
  std::deque<std::pair<Version, KubernetesObjectSet>> kept_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace coordination::detail
}  // namespace v0
}  // namespace evenkeel
