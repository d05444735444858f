// SPDX-License-Identifier: Apache-2.0
// A transaction that is run until it is known what became of it: again after a conflict, and after an answer
// that was lost only if the lost commit was not, and cannot any more be, applied.
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
  /// The key that says which commit of this writer was the last one: read and overwritten by each. One writer
  /// and one transaction at a time per key; where a commit may write one shard only, a key of that shard.
  /// Must not be empty.
  std::string token_key = {};
  /// What this transaction leaves there, with the number of the run; must never have been used before.
  /// Empty: a random one.
  std::string token = {};
  unsigned max_runs = 6;  ///< Of the body; > 0.
  /// Before the body runs again, doubled each time up to max_delay, +-50 %. Not before the first repetition
  /// after a conflict. 0: none at all.
  Duration delay = std::chrono::milliseconds{20};
  Duration max_delay = std::chrono::seconds{1};
  std::shared_ptr<const Clock> clock = real_clock();  ///< The delays pass by it.
};

/// What became of a transaction.
struct Transacted {
  /// Committed also where nothing was to be written: the version is that of the snapshot then. Unknown only
  /// if the truth could not be found out; Conflict if the last run met one too.
  CommitResult outcome = Unavailable{};
  bool wrote = false;      ///< Committed, and by a commit of the body that wrote something.
  unsigned run = 0;        ///< If Committed: the run of the body, from 0 on, whose commit it was.
  unsigned runs = 0;       ///< Of the body.
  unsigned conflicts = 0;  ///< Commits that met one.
  unsigned unknowns = 0;   ///< Commits whose answer was lost, whatever became of them.

  bool committed() const noexcept { return std::holds_alternative<Committed>(outcome); }
};

/// Reads the snapshot and says what is to be written, with the keys and ranges that this rests upon. It runs
/// more than once, so it must have no effect of its own; a commit that writes nothing ends the transaction.
/// What it computes besides, it keeps for each run, see Transacted::run.
using TransactBody = std::function<Commit(StoreSnapshot& snapshot)>;

/// Runs `body` on a snapshot and commits what it wants; sets read_version and adds the token. After a
/// conflict or an expired snapshot it runs the body again on a new one. After Unknown it first looks at the
/// token key: it holds the lost commit's token, so that was applied; or not, then the body runs again, and
/// since both commits rest on the token key as it was, at most one is ever applied. If the body then wants to
/// write nothing, the token alone is written, so that the lost commit cannot come late.
///
/// An Unavailable store ends it at once, unless there is an Unknown to find out about.
/// Errors: throws std::invalid_argument for bad options and what the body throws (while a commit is Unknown
/// too: it stays so). A stop ends it as Unavailable, or Unknown where a commit is.
/// Blocks: as long as the store, and for the delays.
/// Source: FoundationDB's Database.run and its commit_unknown_result, with the token that its documentation
/// asks callers to write themselves.
EVENKEEL_API Transacted transact(Store& store, const TransactBody& body, const TransactOptions& options,
                                 const std::stop_token& stop = {});

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
