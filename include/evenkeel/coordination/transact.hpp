// SPDX-License-Identifier: Apache-2.0
// Runs a transaction until its outcome is known: retries after a conflict, and after a lost answer only if
// the lost commit was not applied and can no longer be.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <variant>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/coordination/store.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

struct TransactOptions {
  /// A key that identifies the last commit of this writer; every commit reads and overwrites it. There must
  /// be one writer and one running transaction at a time per key. Where a commit may write only one shard,
  /// the key must be in that shard. Must not be empty.
  std::string token_key = {};
  /// The value that this transaction writes to token_key, with the number of the run appended. It must never
  /// have been used before. Empty: a random one.
  std::string token = {};
  unsigned max_runs = 6;  ///< Maximum number of runs of the body; > 0.
  /// Delay before the body runs again, doubled each time up to max_delay, +-50 %. The first retry after a
  /// conflict is immediate. 0: no delays.
  Duration delay = std::chrono::milliseconds{20};
  Duration max_delay = std::chrono::seconds{1};
  std::shared_ptr<const Clock> clock = real_clock();  ///< Clock of the delays.
};

/// The outcome of a transaction.
struct Transacted {
  /// Committed also if there was nothing to write; the version is then that of the snapshot. Unknown only if
  /// the outcome could not be determined; Conflict if the last allowed run met a conflict.
  CommitResult outcome = Unavailable{};
  bool wrote = false;      ///< Committed, by a commit of the body that wrote something.
  unsigned run = 0;        ///< If Committed: the run of the body, counted from 0, that was committed.
  unsigned runs = 0;       ///< Number of runs of the body.
  unsigned conflicts = 0;  ///< Number of commits that met a conflict.
  unsigned unknowns = 0;   ///< Number of commits whose answer was lost, whatever their outcome.

  bool committed() const noexcept { return std::holds_alternative<Committed>(outcome); }
};

/// The body of a transaction: reads the snapshot and returns the writes, with the keys and ranges that they
/// depend on. It may run several times, so it must not have side effects; a commit that writes nothing ends
/// the transaction. Bodies that compute other results keep them for each run, see Transacted::run.
using TransactBody = std::function<Commit(StoreSnapshot& snapshot)>;

/// Runs `body` on a snapshot and commits what it returns, with read_version and the token added. After a
/// conflict or an expired snapshot the body runs again on a new snapshot. After Unknown, transact() reads the
/// token key. If it holds the token of the lost commit, that commit was applied. Otherwise the body runs
/// again; both commits are conditional on the old token, so at most one of them is ever applied. If the body
/// then has nothing to write, the token alone is written, so that the lost commit cannot be applied late.
///
/// Ends at once if the store is Unavailable, unless an Unknown commit is still to be resolved.
/// Errors: throws std::invalid_argument for bad options, and what the body throws (even while a commit is
/// Unknown, which then stays unresolved). A stop ends it as Unavailable, or as Unknown if a commit is
/// unresolved. Blocks: as Store does, and for the delays. Source: FoundationDB's Database.run and its
/// commit_unknown_result, with the token that its documentation asks callers to write themselves.
EVENKEEL_API Transacted transact(Store& store, const TransactBody& body, const TransactOptions& options,
                                 const std::stop_token& stop = {});

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
