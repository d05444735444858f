// SPDX-License-Identifier: Apache-2.0
// A store in a FoundationDB database, which may be the one that is operated. Built only with
// EVENKEEL_FOUNDATIONDB, as evenkeel::foundationdb; requires libfdb_c 7.1 or later.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/coordination/store.hpp>
#include <evenkeel/coordination/store_url.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// The network thread of libfdb_c. A process can start it only once. While it lives, open_store() opens
/// fdb:// URLs. Lifetime: must outlive all stores that use it, and end before main() does: a local variable
/// of main(), never a static one, because its thread uses static objects of libfdb_c.
class EVENKEEL_API FoundationDbNetwork {
 public:
  /// Throws StoreUnavailable if the library refuses, for instance because its network was started before.
  FoundationDbNetwork();
  ~FoundationDbNetwork();
  FoundationDbNetwork(const FoundationDbNetwork&) = delete;
  FoundationDbNetwork& operator=(const FoundationDbNetwork&) = delete;

  /// Returns the scheme fdb:// for StoreUrlOptions::schemes. Lifetime: the network must outlive its use.
  StoreScheme scheme() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

struct FoundationDbStoreOptions {
  std::string cluster_file = {};  ///< Empty: the library's default.
  /// Common beginning of all keys, as Layout::root. Each commit also changes one key beside it, root +
  /// "#changes", which is what watch() watches. Empty: the store has no watch.
  std::string root = {};
  bool lock_aware = false;                      ///< Works on a locked database as well.
  Duration timeout = std::chrono::seconds{10};  ///< For each transaction, in whole ms; at least 1 ms.
};

/// A store in FoundationDB. A version is a version of FoundationDB. In the database each value begins with
/// the ten bytes of its versionstamp, from which an entry gets its version. Conditions are the database's own
/// read conflicts, those on ranges as of read_version. If read_version is older than a few seconds, a commit
/// meets a conflict and reads throw SnapshotExpired.
///
/// A commit is tried once; transact() retries. Unknown is FoundationDB's commit_unknown_result, and any other
/// error after which the transaction may have been committed. A conflict that only the database detected
/// names the first condition, because the database does not report the conflicting key. A write without
/// effect, such as erasing an absent key in a range that was read, is a conflict, too.
///
/// Keys are user keys, below \xff, and keys that begin with \xff\x02, where FoundationDB's layers and its
/// operator keep state. A range has keys of one of these spaces only, and one without an end ends with its
/// space. Any other system key is refused with std::invalid_argument.
///
/// Thread safety: all members may be called concurrently.
/// Lifetime: must outlive its snapshots and watches.
class EVENKEEL_API FoundationDbStore final : public Store {
 public:
  /// Throws StoreUnavailable if the cluster file cannot be read; std::invalid_argument for a timeout below 1
  /// ms. A file with another content is reported by the first request.
  explicit FoundationDbStore(const FoundationDbNetwork& network, FoundationDbStoreOptions options = {});
  ~FoundationDbStore() override;

  std::string name() const override;
  /// Returns all capabilities; watch only if FoundationDbStoreOptions::root is set.
  Capabilities capabilities() const override;
  /// Keys of 10 kB, values of 99 kB, and 1 MB in all, as FoundationDB recommends; its own limit is 10 MB.
  Limits limits() const override;
  std::unique_ptr<StoreSnapshot> snapshot(std::stop_token stop = {}) override;
  CommitResult commit(const Commit& commit, std::stop_token stop = {}) override;
  /// Sets a watch of FoundationDB on the key that each commit of such a store changes, so that each of these
  /// commits may cause a hint, whatever its keys are; a program that writes below the root in another way
  /// causes none. Each watch has one thread. Lifetime: the watch must not outlive the store.
  std::unique_ptr<StoreWatch> watch(const KeyRange& range, std::function<void()> hint) override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
