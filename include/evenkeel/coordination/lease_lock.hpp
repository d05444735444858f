// SPDX-License-Identifier: Apache-2.0
// The lock of a domain, which allows one instance at a time to disrupt the shared system. It is a lease, so
// that a holder that dies does not keep it, and it has an epoch, so that a holder that was paused for too
// long can be distinguished from its successor.
//
// The lock expires by observation: a candidate waits until the record has been unchanged for the record's
// duration, measured by its own steady clock from when it first saw the record. Clocks of two machines are
// never compared; the times in the record are informational.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/coordination/identity.hpp>
#include <evenkeel/coordination/layout.hpp>
#include <evenkeel/coordination/observations.hpp>
#include <evenkeel/coordination/store.hpp>
#include <evenkeel/coordination/transact.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// When a holder releases the lock at the end of a pass, see LeaseLock::end_pass().
enum class LockRelease : std::uint8_t {
  when_reconciled,  ///< After a pass that left nothing to do: fewer disruptions, longer waits for others.
  after_each_pass,  ///< After every pass: nobody waits for an instance that waits for something else.
};

struct LeaseLockOptions {
  /// False: actions need no lock; take() returns held without a transaction.
  bool enabled = true;
  /// Time without a renewal after which another instance may take the lock. > 0, whole milliseconds.
  Duration duration = std::chrono::minutes{10};
  /// A registered holder (see liveness.hpp) is silent, and loses the lock before `duration` is over, if
  /// neither the lock nor its registry record has changed for longer than this. Should equal
  /// LivenessOptions::silence of the instances.
  /// >= 0; 0: never.
  Duration holder_silence = std::chrono::seconds{60};
  /// The holder considers itself the holder until `duration` minus this after its last write: an allowance
  /// for clocks that run at different rates. >= 0, less than `duration`.
  Duration margin = std::chrono::seconds{5};
  /// A holder that calls take() this long after it took the lock yields it, to give the others a turn.
  /// 0: never.
  Duration yield_after = std::chrono::minutes{10};
  /// Time for which an instance that yielded the lock does not take it again.
  Duration yield_for = std::chrono::seconds{30};
  LockRelease release = LockRelease::when_reconciled;
};

/// The value of the lock's key. Once written, the key always exists, whether or not the lock is free, so that
/// epochs only grow.
struct LockRecord {
  std::string owner = {};        ///< Scope of the holder; empty: free.
  std::string instance = {};     ///< Instance of the holder.
  std::string incarnation = {};  ///< Incarnation of the holder.
  std::uint64_t epoch = 0;       ///< Grows by one each time the lock is taken; extending keeps it.
  Duration duration = {};        ///< LeaseLockOptions::duration of the holder; > 0 unless free.
  std::string yielded_by = {};   ///< While free: the scope that yielded it.
  WallTime taken = {};           ///< By the holder's wall clock.
  WallTime renewed = {};         ///< When it was last written, by the holder's wall clock.

  bool is_free() const noexcept { return owner.empty(); }
  friend bool operator==(const LockRecord&, const LockRecord&) = default;
};
/// Encodes `record` as compact JSON.
EVENKEEL_API std::string encode(const LockRecord& record);
/// Throws DecodeError: "arbiter/lock: ...".
EVENKEEL_API LockRecord decode_lock(std::string_view value);

/// Returns the epoch with which `me` holds the lock according to `entry` (that of Layout::lock()); nullopt if
/// it does not. A transaction that needs the lock calls this on its own snapshot, compares the epoch with
/// that of take(), and adds the lock's key and its own key of the deny list to Commit::reads. Throws
/// DecodeError.
EVENKEEL_API std::optional<std::uint64_t> lock_held_by(const std::optional<Entry>& entry, const Identity& me);

/// The inputs of a decision about the lock.
struct LockFacts {
  std::optional<Entry> lock = {};
  /// Time for which the entry has been unchanged, as observed by this process.
  Duration unchanged = {};
  /// Time since this process took the lock, if it holds it.
  std::optional<Duration> held_for = {};
  bool denied = false;        ///< `me` is on the deny list.
  bool succeeded = false;     ///< The registry has another run of this instance, or a new scope for it.
  bool owner_denied = false;  ///< The holder is on the deny list.
  /// Time for which neither the lock nor the holder's registry record has changed, as observed by this
  /// process; unset if the holder is not registered.
  std::optional<Duration> owner_silent = {};
};

/// The decision about the lock.
enum class LockStep : std::uint8_t {
  take,    ///< Write `next`: the lock is free or expired, its holder denied, or an earlier run of `me`.
  extend,  ///< Write `next`: `me` still holds it.
  yield,   ///< Write `next`: `me` held it and yields it, to give the others a turn.
  wait,    ///< Another instance holds it, or has its turn; retry after `retry_after`.
  denied,  ///< `me` is on the deny list, or is not the registered run; nothing is written.
};

struct LockDecision {
  LockStep step = LockStep::wait;
  LockRecord next = {};       ///< The record to write, for take, extend and yield.
  std::string why = {};       ///< For logs: "held by dc2, silent for 12s of 600s".
  Duration retry_after = {};  ///< For wait: when the lock ends unless its holder renews it.
};

/// Decides about the lock, without I/O. The cases, in this order: denied; succeeded by another run; free, or
/// yielded to others; held by `me`; held by an earlier run of `me`; its holder denied; its holder silent;
/// unchanged for longer than its duration (exactly that long is still held); held. Throws DecodeError for a
/// value that is not a lock record: no instance takes a lock that it cannot decode; `coordctl unlock` removes
/// it. Source: fdb-kubernetes-operator fdbclient/lock_client.go takeLockInTransaction. Deviations: the deny
/// list applies to a free lock as well, a new holder starts a new record, time is observed, and there is an
/// epoch.
EVENKEEL_API LockDecision decide_take(const LockFacts& facts, const Identity& me,
                                      const LeaseLockOptions& options, WallTime wall);

/// Returns the record to write in order to release the lock; nullopt if `me` (in any incarnation) does not
/// hold it. Throws DecodeError. Source: as above, ReleaseLock. Deviation: an expired lock of `me` is released
/// as well; the transaction fails if another instance has taken it.
EVENKEEL_API std::optional<LockRecord> decide_release(const std::optional<Entry>& lock, const Identity& me,
                                                      WallTime wall);

/// Frees the lock, whatever its holder and its value; for people. The former holder notices when it next
/// writes or claims. Returns the new record, whose epoch is not less than before. `writer` and `options` as
/// for DenyList. Throws StoreUnavailable if the outcome is not known; Cancelled.
EVENKEEL_API LockRecord free_lock(Store& store, const Layout& layout, std::string_view writer,
                                  const TransactOptions& options = {}, std::stop_token stop = {});

enum class LockOutcome : std::uint8_t {
  held,         ///< This instance holds the lock.
  busy,         ///< Another instance holds it, or has its turn.
  yielded,      ///< This instance held it, and has yielded it.
  denied,       ///< This instance is on the deny list, or another run of it is registered.
  unavailable,  ///< The store did not answer. The lock counts as not held.
};

struct LockAnswer {
  LockOutcome outcome = LockOutcome::unavailable;
  std::uint64_t epoch = 0;    ///< If held: identifies this hold. 0: locks are disabled.
  std::string why = {};       ///< If not held: the reason, for logs and conditions.
  Duration retry_after = {};  ///< For busy and yielded: when to try again.

  bool is_held() const noexcept { return outcome == LockOutcome::held; }
};

/// Statistics of a LeaseLock since it was constructed; for collect() of coordination_metrics.hpp.
struct LockFigures {
  std::uint64_t taken = 0;        ///< Times that it was taken.
  std::uint64_t yielded = 0;      ///< Times that it was yielded.
  std::uint64_t refused = 0;      ///< Outcomes busy and denied.
  std::uint64_t unavailable = 0;  ///< Outcomes unavailable.
  /// Total time from a first refusal to taking the lock. A wait that ends with release() or a reconciled pass
  /// does not count.
  Duration waited = {};
  Duration held = {};  ///< Total time of past holds and the present one.
  bool holds = false;  ///< Held now, by this process's clock.
};

/// An instance's access to the lock. A registered instance (see liveness.hpp) registers each run before that
/// run takes the lock; a run that was paused during the start of its successor then never gets it again.
/// Every call is one transaction and nothing runs in the background, so a holder calls take() before each
/// disruptive operation, which also extends the lock.
///
///     const LockAnswer answer = lock.take(stop);
///     if (!answer.is_held()) return requeue_after(answer.retry_after);
///     act(answer.epoch);                  // pass it to systems that can refuse older epochs
///     lock.end_pass(nothing_left, stop);
///
/// Thread safety: all members may be called concurrently; take(), release() and end_pass() run one at a time.
/// Blocks as Store does. Lifetime: must not outlive the store.
class EVENKEEL_API LeaseLock {
 public:
  /// `transact` sets the retries of transactions and the clock of the lock; its token and token_key are set
  /// here. Throws std::invalid_argument for options that break the bounds above.
  LeaseLock(Store& store, Layout layout, Identity me, LeaseLockOptions options = {},
            TransactOptions transact = {});

  /// Takes or extends the lock, or returns why it could not. Throws DecodeError for a value that is not a
  /// lock record; Cancelled on a stop.
  LockAnswer take(std::stop_token stop = {});
  /// Releases the lock if this instance holds it, or an earlier run of it; a run that was succeeded leaves
  /// the lock of its successor alone. Returns false if the store did not answer; the lock then expires.
  /// Throws as take().
  bool release(std::stop_token stop = {});
  /// Releases what take() took if LeaseLockOptions::release asks for it, given whether the pass left nothing
  /// to do (`reconciled`). Returns and throws as release().
  bool end_pass(bool reconciled, std::stop_token stop = {});

  /// Returns the epoch while this instance holds the lock by its own clock (`duration` minus `margin`). That
  /// detects a pause of this process, but the store is authoritative, since others may have taken the lock
  /// after holder_silence: see lock_held_by().
  std::optional<std::uint64_t> held() const;
  LockFigures figures() const;
  const Identity& identity() const noexcept { return me_; }

 private:
  struct Hold {
    std::uint64_t epoch = 0;
    TimePoint taken = {};
    TimePoint renewed = {};  // when the last write was sent
  };
  /// Releases the lock; with `epoch`, only if the store has that one.
  bool release(std::optional<std::uint64_t> epoch, const std::stop_token& stop)
      EVENKEEL_REQUIRES(transacting_) EVENKEEL_EXCLUDES(mutex_);
  /// Returns true if `lock` is that of a run which has succeeded this one.
  bool is_of_successor(StoreSnapshot& snapshot, const LockRecord& lock) const;
  LockFacts facts_of(StoreSnapshot& snapshot, TimePoint now) EVENKEEL_EXCLUDES(mutex_);
  LockAnswer settle(const LockDecision& decision, TimePoint sent) EVENKEEL_EXCLUDES(mutex_);
  LockAnswer refused(LockOutcome outcome, const LockDecision& decision, TimePoint now)
      EVENKEEL_REQUIRES(mutex_);
  /// See LockFacts::owner_silent.
  std::optional<Duration> silence_of(const LockRecord& holder, const std::optional<Entry>& record,
                                     Duration unchanged, TimePoint now) EVENKEEL_REQUIRES(mutex_);
  void drop(TimePoint now) EVENKEEL_REQUIRES(mutex_);
  TimePoint end_of(const Hold& hold) const;

  Store& store_;
  const Layout layout_;
  const Identity me_;
  const LeaseLockOptions options_;
  const TransactOptions transact_;
  Mutex transacting_;  // one transaction at a time, up to the change of hold_ that follows from it
  mutable Mutex mutex_;
  Observations seen_ EVENKEEL_GUARDED_BY(mutex_);
  std::optional<Hold> hold_ EVENKEEL_GUARDED_BY(mutex_);
  std::optional<TimePoint> waiting_since_ EVENKEEL_GUARDED_BY(mutex_);
  LockFigures figures_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
