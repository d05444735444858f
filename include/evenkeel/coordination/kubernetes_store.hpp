// SPDX-License-Identifier: Apache-2.0
// The store of coordination in objects of Kubernetes: ConfigMaps of one namespace that all instances can
// reach. Nothing else has to run; what it can promise depends on how many objects there are.
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

/// Which keys live in one object, and so can be written in one commit.
enum class KubernetesObjects : std::uint8_t {
  /// One object for each scope, and one for what stands below arbiter/. Each instance writes only its own
  /// scope's
  /// object and the arbiter, which RBAC can enforce (resourceNames); they do not slow each other down.
  by_scope,
  /// One object for everything: commits are atomic over all keys and conflicts are exact, ranges too, but all
  /// instances write the same object, which holds some thousand entries.
  one,
};

struct KubernetesStoreOptions {
  std::string namespace_ = {};  ///< Of all objects; must not be empty.
  /// Begins the objects' names ("db1-arbiter", "db1-scope-dc1", or just "db1") and is the value of their
  /// label evenkeel.dev/coordination. A DNS label of at most 40 characters.
  std::string name = {};
  std::string root = {};  ///< Of all keys, without a '/' at its end.
  KubernetesObjects objects = KubernetesObjects::by_scope;
  /// Of one object's data, 1 to 1048576, which is what an API server takes.
  std::size_t max_object_bytes = 1048576;
  /// Of a snapshot, and of a commit with all that it needs, in which one write gets a third of it; > 0.
  Duration timeout = std::chrono::seconds{10};
  Duration watch_retry = std::chrono::seconds{1};  ///< After a watch was refused; > 0.
};

/// Keys are `root`/<set>/<scope>/..., `root`/guard/<set>/<scope>, or below `root`/arbiter/. An object is an
/// atomic unit: it is replaced, with all that a commit changes in it, if nobody has replaced it since it was
/// read. Its data are text that people can read: entries ("key version value", escaped like URLs), the last
/// commits' marks, and what was erased last.
///
/// A commit reads the objects that it rests upon anew, looks at its conditions and replaces its object; if
/// somebody was faster it does so again, so that only what was read can conflict. An answer that was lost is
/// looked for: each commit leaves a mark in the object, and may be sent twice, because both can never be
/// applied. So Unknown comes only if the server cannot be asked until the timeout, or if the object was
/// deleted meanwhile.
///
/// by_scope promises neither multi_key_atomic nor range_conflict nor snapshot_scan: versions count for each
/// object alone. A snapshot is one list, and so of one moment all the same. Keys and ranges read in other
/// objects are compared with a list right before the commit; what changes in them between that list and the
/// one write goes unnoticed. Ranges need a read_version of this store's last 16 snapshots; any other is a
/// conflict.
///
/// A list transfers what has changed: objects are kept, and after more than 32 KiB a list asks for metadata
/// first, and then for the objects whose resourceVersion is another one. An object that changes meanwhile, or
/// more than four, bring the whole list. What is kept decides nothing: equal resourceVersions are equal
/// objects. Versions start at the time of the object's creation, so those of an object that was deleted never
/// come back.
///
/// TooLarge: "commit_bytes", or "object_bytes" for what the object would then have.
/// Thread safety: all members may be called concurrently. Lifetime: watches must not outlive it.
class EVENKEEL_API KubernetesStore final : public Store {
 public:
  /// Asks nothing yet. Throws std::invalid_argument for options out of their bounds.
  KubernetesStore(Client client, KubernetesStoreOptions options);
  ~KubernetesStore() override;
  KubernetesStore(const KubernetesStore&) = delete;
  KubernetesStore& operator=(const KubernetesStore&) = delete;

  /// "kubernetes https://hub:6443 coordination/db1"
  std::string name() const override;
  Capabilities capabilities() const override;
  Limits limits() const override;
  std::unique_ptr<StoreSnapshot> snapshot(std::stop_token stop = {}) override;
  /// Throws std::invalid_argument also for a key that is not below the root and, by scope, for keys of two
  /// objects and for a range that is not within one scope's set.
  CommitResult commit(const Commit& commit, std::stop_token stop = {}) override;
  /// One watch and one thread for each. The hint comes for a change of any of the objects, and for each of
  /// them when the watch begins. It must not destroy its watch.
  std::unique_ptr<StoreWatch> watch(const KeyRange& range, std::function<void()> hint) override;

  /// The name of the object that `key` lives in, for roles and for people. Throws std::invalid_argument for a
  /// key that is not below the root.
  std::string object_of(std::string_view key) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
