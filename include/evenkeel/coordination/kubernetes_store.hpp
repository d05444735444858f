// SPDX-License-Identifier: Apache-2.0
// A store in ConfigMaps of one namespace that all instances can reach. It needs no other server; its
// guarantees depend on the number of ConfigMaps.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/coordination/store.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// The partition of the keys into objects. The keys of one object can be written in one commit.
enum class KubernetesObjects : std::uint8_t {
  /// One object per scope, and one for the keys below arbiter/. Each instance writes only the object of its
  /// own scope and that of the arbiter, which RBAC can enforce (resourceNames), and instances do not slow
  /// each other down.
  by_scope,
  /// A single object: commits are atomic over all keys, and conflicts are exact, also for ranges. But all
  /// instances write the same object, which holds some thousand entries.
  one,
};

struct KubernetesStoreOptions {
  std::string namespace_ = {};  ///< Namespace of all objects; must not be empty.
  /// Prefix of the objects' names ("db1-arbiter", "db1-scope-dc1", or just "db1"), and the value of their
  /// label evenkeel.dev/coordination. A DNS label of at most 40 characters.
  std::string name = {};
  std::string root = {};  ///< Prefix of all keys, without a '/' at its end.
  KubernetesObjects objects = KubernetesObjects::by_scope;
  /// Maximum size of one object's data, 1 to 1048576; the default is the limit of an API server.
  std::size_t max_object_bytes = 1048576;
  /// For a snapshot, and for a commit with all its requests, of which one write gets a third of it; > 0.
  Duration timeout = std::chrono::seconds{10};
  Duration watch_retry = std::chrono::seconds{1};  ///< Delay after a watch was refused; > 0.
};

/// A store in ConfigMaps. Keys are `root`/<set>/<scope>/..., `root`/guard/<set>/<scope>, or below
/// `root`/arbiter/. An object is updated atomically: it is replaced with all changes of a commit, unless it
/// was replaced since it was read. Its data is readable text: entries ("key version value", percent-encoded),
/// the marks of the latest commits, and the most recently erased keys.
///
/// A commit reads the objects that it depends on, checks its conditions and replaces its object. If another
/// writer was faster it repeats this, so only the keys and ranges of its conditions can cause a conflict. A
/// lost answer is resolved: each commit leaves a mark in the object, and may be sent twice, because at most
/// one of the two can be applied. So Unknown is returned only if the server cannot be reached until the
/// timeout, or if the object was deleted in between.
///
/// by_scope has neither multi_key_atomic nor range_conflict nor snapshot_scan: versions are counted for each
/// object separately. A snapshot is one list request, and so is consistent nevertheless. Keys and ranges that
/// were read in other objects are compared with a list immediately before the write; changes between that
/// list and the write go unnoticed. Ranges require a read_version of this store's last 16 snapshots; any
/// other one is a conflict.
///
/// Lists transfer only changes: objects are cached, and beyond 32 KiB a list requests metadata first, and
/// then the objects whose resourceVersion differs. If an object changes between the two, or more than four
/// differ, the whole list is requested. The cache affects no decision, since equal resourceVersions mean
/// equal objects. Versions start at the creation time of the object, so the versions of a deleted object are
/// never reused.
///
/// TooLarge reports "commit_bytes", or "object_bytes" for the resulting size of the object.
/// Thread safety: all members may be called concurrently.
/// Lifetime: must outlive its watches.
class EVENKEEL_API KubernetesStore final : public Store {
 public:
  /// Sends no request. Throws std::invalid_argument for options out of their bounds.
  KubernetesStore(Client client, KubernetesStoreOptions options);
  ~KubernetesStore() override;
  KubernetesStore(const KubernetesStore&) = delete;
  KubernetesStore& operator=(const KubernetesStore&) = delete;

  /// Returns "kubernetes https://hub:6443 coordination/db1".
  std::string name() const override;
  Capabilities capabilities() const override;
  Limits limits() const override;
  std::unique_ptr<StoreSnapshot> snapshot(std::stop_token stop = {}) override;
  /// Also throws std::invalid_argument for a key that is not below the root and, with by_scope, for keys of
  /// two objects and for a range that is not within one scope's set.
  CommitResult commit(const Commit& commit, std::stop_token stop = {}) override;
  /// Uses one thread and one watch request per watch. Hints are called for a change of any of the objects,
  /// and once for each object when the watch begins. `hint` must not destroy its own watch.
  std::unique_ptr<StoreWatch> watch(const KeyRange& range, std::function<void()> hint) override;

  /// Returns the name of the object that holds `key`, for roles and for people. Throws std::invalid_argument
  /// for a key that is not below the root.
  std::string object_of(std::string_view key) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
