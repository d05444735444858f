// SPDX-License-Identifier: Apache-2.0
// A store in a FoundationDB database, which may be the one that is operated. Built only with
// EVENKEEL_FOUNDATIONDB, as evenkeel::foundationdb; requires libfdb_c 7.1 or later.
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

/// The network thread of libfdb_c. A process can start it only once.
/// Lifetime: must outlive all stores that use it, and be created and destroyed by the main program.
class EVENKEEL_API FoundationDbNetwork {
 public:
  /// Throws StoreUnavailable if the library refuses, for instance because its network was started before.
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
  /// Allows keys that begin with \xff\x02, as the default root of FoundationDB's operator does.
  bool system_keys = false;
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
/// effect, such as erasing an absent key in a range that was read, is a conflict, too. There are no hints.
/// Thread safety: all members may be called concurrently.
/// Lifetime: must outlive its snapshots.
class EVENKEEL_API FoundationDbStore final : public Store {
 public:
  /// Throws StoreUnavailable if the cluster file cannot be used; std::invalid_argument for a timeout below 1
  /// ms.
  explicit FoundationDbStore(const FoundationDbNetwork& network, FoundationDbStoreOptions options = {});
  ~FoundationDbStore() override;

  std::string name() const override;
  /// Returns all capabilities but watch and server_ttl.
  Capabilities capabilities() const override;
  /// Keys of 10 kB, values of 99 kB, and 1 MB in all, as FoundationDB recommends; its own limit is 10 MB.
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
