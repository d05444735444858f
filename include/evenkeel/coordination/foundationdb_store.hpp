// SPDX-License-Identifier: Apache-2.0
// The store of coordination in a FoundationDB database: perhaps the very one that is operated. Built only
// with EVENKEEL_FOUNDATIONDB, as evenkeel::foundationdb; needs libfdb_c 7.1 or later.
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/coordination/store.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// The network thread of libfdb_c, which a process can start once in its life.
/// Lifetime: must outlive all stores that use it, and be made and destroyed by the main program.
class EVENKEEL_API FoundationDbNetwork {
 public:
  /// Throws StoreUnavailable if the library refuses: above all if its network was started before.
  FoundationDbNetwork();
  ~FoundationDbNetwork();
  FoundationDbNetwork(const FoundationDbNetwork&) = delete;
  FoundationDbNetwork& operator=(const FoundationDbNetwork&) = delete;

 private:
  class State;
  std::unique_ptr<State> state_;
};

struct FoundationDbStoreOptions {
  std::string cluster_file = {};  ///< Empty: the library's default.
  /// Allows keys that begin with \xff\x02, as the default prefix of FoundationDB's operator does.
  bool system_keys = false;
  bool lock_aware = false;                      ///< Works on a locked database, too.
  Duration timeout = std::chrono::seconds{10};  ///< Of each transaction, in whole milliseconds; at least one.
};

/// A version is FoundationDB's. Each value begins, in the database, with the ten bytes of its versionstamp,
/// which is how an entry knows its version. Conditions are the database's own read conflicts, those on ranges
/// as of read_version; that one is some seconds old at most, or the commit meets a conflict. Reads from a
/// snapshot that is older than those seconds throw SnapshotExpired.
///
/// A commit is tried once; see transact() for what follows. Unknown is FoundationDB's commit_unknown_result
/// and all else after which a transaction may have been committed. A conflict that only the database saw
/// names the first condition, for it does not say which one it was; and what was written without effect, such
/// as the erasure of an absent key in a range that was read, is one, too. There are no hints. Thread safety:
/// all members may be called concurrently. Lifetime: snapshots must not outlive it.
class EVENKEEL_API FoundationDbStore final : public Store {
 public:
  /// Throws StoreUnavailable if the cluster file cannot be used; std::invalid_argument for a timeout below
  /// one millisecond.
  explicit FoundationDbStore(const FoundationDbNetwork& network, FoundationDbStoreOptions options = {});
  ~FoundationDbStore() override;

  std::string name() const override;
  /// All but watch and server_ttl.
  Capabilities capabilities() const override;
  /// Keys of 10 kB, values of 99 kB, and 1 MB in all, which FoundationDB recommends; it takes ten.
  Limits limits() const override;
  std::unique_ptr<StoreSnapshot> snapshot(std::stop_token stop = {}) override;
  CommitResult commit(const Commit& commit, std::stop_token stop = {}) override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
