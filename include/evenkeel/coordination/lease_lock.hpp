// SPDX-License-Identifier: Apache-2.0
// The lock of a domain: of several instances, one at a time does what disturbs all. It is a lease, so that a
// holder that dies does not keep it, and it has an epoch, so that a holder that slept too long can be told
// from the one that came after it.
//
// It ends by observation: whoever wants it waits until the record has not changed for its duration, counted
// by its own steady clock from when it first saw it so. Clocks of two machines are never compared; the times
// in the record are for people.
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

/// When a holder gives the lock back by itself, see LeaseLock::end_pass().
enum class LockRelease : std::uint8_t {
  when_reconciled,  ///< After a pass that left nothing to do: fewer disturbances, longer waits for others.
  after_each_pass,  ///< After every pass: nobody waits for an instance that waits for something else.
};

struct LeaseLockOptions {
  /// False: nobody needs the lock; take() is granted without a transaction.
  bool enabled = true;
  /// After so long without a sign of its holder others take it over. > 0, whole milliseconds.
  Duration duration = std::chrono::minutes{10};
  /// A registered holder (see liveness.hpp) of which neither the lock nor the registry record has changed for
  /// longer than this is silent, and loses the lock although `duration` is not over. As
  /// LivenessOptions::silence of the instances. >= 0; 0: never.
  Duration holder_silence = std::chrono::seconds{60};
  /// The holder takes itself for the holder until `duration` less this has passed since it last wrote: what
  /// its clock may run slower than the others' meanwhile. >= 0, less than `duration`.
  Duration margin = std::chrono::seconds{5};
  /// A holder that asks again so long after it took the lock gives it up instead, for others to have a turn.
  /// 0: never.
  Duration yield_after = std::chrono::minutes{10};
  /// How long the one that gave it up leaves it to others.
  Duration yield_for = std::chrono::seconds{30};
  LockRelease release = LockRelease::when_reconciled;
};

/// What the lock's key says. Once written it stays, free or not, so that epochs only grow.
struct LockRecord {
  std::string owner = {};        ///< Scope of the holder; empty: free.
  std::string instance = {};     ///< Of the holder.
  std::string incarnation = {};  ///< Of the holder.
  std::uint64_t epoch = 0;       ///< Grows by one whenever somebody takes it; extending keeps it.
  Duration duration = {};        ///< That of its holder; > 0 unless free.
  std::string yielded_by = {};   ///< While free: the scope that gave it up for others to have a turn.
  WallTime taken = {};           ///< By the holder's calendar.
  WallTime renewed = {};         ///< Likewise: when it was last written.

  bool is_free() const noexcept { return owner.empty(); }
  friend bool operator==(const LockRecord&, const LockRecord&) = default;
};
/// Compact JSON.
EVENKEEL_API std::string encode(const LockRecord& record);
/// Throws DecodeError: "arbiter/lock: ...".
EVENKEEL_API LockRecord decode_lock(std::string_view value);

/// The epoch with which `me` holds the lock, as `entry` (that of Layout::lock()) says; nothing if it does
/// not. Whoever decides something that needs the lock asks this of its own snapshot, compares it with the
/// epoch that take() gave, and puts the lock's key and the own key of the deny list into Commit::reads.
/// Throws DecodeError.
EVENKEEL_API std::optional<std::uint64_t> lock_held_by(const std::optional<Entry>& entry, const Identity& me);

/// What a decision about the lock rests upon.
struct LockFacts {
  std::optional<Entry> lock = {};
  /// How long the entry has been as it is, as far as this process saw.
  Duration unchanged = {};
  /// How long ago this process took the lock, if it holds it.
  std::optional<Duration> held_for = {};
  bool denied = false;        ///< `me` is on the deny list.
  bool succeeded = false;     ///< The registry has another run of this instance, or a new scope for it.
  bool owner_denied = false;  ///< The holder is.
  /// How long neither the lock nor the holder's registry record has changed, as far as this process saw;
  /// nothing: the holder is not registered, and only its lock tells of it.
  std::optional<Duration> owner_silent = {};
};

enum class LockStep : std::uint8_t {
  take,    ///< Write `next`: it was free, expired, its holder denied, or of an earlier run of oneself.
  extend,  ///< Write `next`: still one's own.
  yield,   ///< Write `next`: one's own, and given up for others to have a turn.
  wait,    ///< Somebody else's, or left to others: not before `retry_after`.
  denied,  ///< `me` is on the deny list, or not the run that is registered; nothing is written.
};

struct LockDecision {
  LockStep step = LockStep::wait;
  LockRecord next = {};       ///< What to write, where there is something to write.
  std::string why = {};       ///< For logs: "held by dc2, silent for 12s of 600s".
  Duration retry_after = {};  ///< For wait: when it ends unless its holder writes again.
};

/// The whole table of the lock, without I/O. In this order: denied; succeeded by another run; free, or left
/// to others; one's own; of an earlier run of oneself; its holder denied; its holder silent; unchanged for
/// longer than its duration (exactly that long is still held); held. Throws DecodeError for a value that is
/// no lock: nobody takes what it cannot read; `coordctl unlock` removes it. Source: fdb-kubernetes-operator
/// fdbclient/lock_client.go takeLockInTransaction; unlike it, the deny list counts for a free lock as well,
/// who takes over starts anew, time is observed, and there is an epoch.
EVENKEEL_API LockDecision decide_take(const LockFacts& facts, const Identity& me,
                                      const LeaseLockOptions& options, WallTime wall);

/// What to write in order to give the lock back; nothing if it is not `me` (in any incarnation) who has it.
/// Throws DecodeError. Source: as above, ReleaseLock; unlike it, one's own expired lock is given back, too:
/// the transaction fails if somebody took it meanwhile.
EVENKEEL_API std::optional<LockRecord> decide_release(const std::optional<Entry>& lock, const Identity& me,
                                                      WallTime wall);

/// Frees the lock, whoever holds it, and whatever its value is: for people. Who held it finds out when it
/// next writes, or claims. The record then, whose epoch is no less than before. `writer` and `options` as for
/// DenyList. Throws StoreUnavailable if it is not known to be done; Cancelled.
EVENKEEL_API LockRecord free_lock(Store& store, const Layout& layout, std::string_view writer,
                                  const TransactOptions& options = {}, std::stop_token stop = {});

enum class LockOutcome : std::uint8_t {
  held,         ///< By this instance, until further notice.
  busy,         ///< Somebody else's; or left to others for a while.
  yielded,      ///< It was this instance's, and is now left to others for a while.
  denied,       ///< This instance is on the deny list, or another run of it is registered.
  unavailable,  ///< The store did not say. Nothing is held: no answer is no agreement.
};

struct LockAnswer {
  LockOutcome outcome = LockOutcome::unavailable;
  std::uint64_t epoch = 0;    ///< If held: what tells this hold from earlier ones. 0: locks are off.
  std::string why = {};       ///< Where not held; for logs and conditions.
  Duration retry_after = {};  ///< Where busy or yielded: when it is worth asking again.

  bool is_held() const noexcept { return outcome == LockOutcome::held; }
};

/// Figures of one LeaseLock since it was made; for collect() of coordination_metrics.hpp.
struct LockFigures {
  std::uint64_t taken = 0;        ///< Times that it was taken.
  std::uint64_t yielded = 0;      ///< Times that it was given up for others.
  std::uint64_t refused = 0;      ///< Answers busy and denied.
  std::uint64_t unavailable = 0;  ///< Answers without a word of the store.
  Duration waited = {};           ///< Sum, from a first refusal to taking it.
  Duration held = {};             ///< Sum of past holds and the present one.
  bool holds = false;             ///< Now, by its own clock.
};

/// The lock as an instance has it. Instances that are registered (see liveness.hpp) register each run before
/// it takes the lock; then a run that slept through the start of the next one gets it no more. Every call is
/// one transaction; nothing runs in between, so a holder calls take() again before each thing that it does,
/// which extends it.
///
///     const LockAnswer answer = lock.take(stop);
///     if (!answer.is_held()) return requeue_after(answer.retry_after);
///     act(answer.epoch);                  // what can refuse an older epoch gets it
///     lock.end_pass(nothing_left, stop);
///
/// Thread safety: all members may be called concurrently. Blocks as Store does. Lifetime: not longer than the
/// store.
class EVENKEEL_API LeaseLock {
 public:
  /// `transact` says how often transactions run and by which clock everything goes; its token and the key of
  /// that are set here. Throws std::invalid_argument for options that break the bounds above.
  LeaseLock(Store& store, Layout layout, Identity me, LeaseLockOptions options = {},
            TransactOptions transact = {});

  /// Takes or extends it, or says why not. Throws DecodeError for a value that is no lock; Cancelled on a
  /// stop.
  LockAnswer take(std::stop_token stop = {});
  /// Gives it back, if it is this instance's. False: the store did not say; the lock ends by itself then.
  /// Throws as take().
  bool release(std::stop_token stop = {});
  /// release() if LeaseLockOptions::release says so for a pass that left nothing to do (`reconciled`), or
  /// not.
  bool end_pass(bool reconciled, std::stop_token stop = {});

  /// The epoch while this instance holds the lock by its own clock (`duration` less `margin`), which also
  /// tells one that slept. What the store says counts more, for others may have taken it after
  /// holder_silence: see lock_held_by().
  std::optional<std::uint64_t> held() const;
  LockFigures figures() const;
  const Identity& identity() const noexcept { return me_; }

 private:
  struct Hold {
    std::uint64_t epoch = 0;
    TimePoint taken = {};
    TimePoint renewed = {};  // when the last write was sent
  };
  LockFacts facts_of(StoreSnapshot& snapshot, TimePoint now) EVENKEEL_EXCLUDES(mutex_);
  LockAnswer settle(const LockDecision& decision, TimePoint sent) EVENKEEL_EXCLUDES(mutex_);
  LockAnswer refused(LockOutcome outcome, const LockDecision& decision, TimePoint now)
      EVENKEEL_REQUIRES(mutex_);
  /// As LockFacts::owner_silent.
  std::optional<Duration> silence_of(const LockRecord& holder, const std::optional<Entry>& record,
                                     Duration unchanged, TimePoint now) EVENKEEL_REQUIRES(mutex_);
  void drop(TimePoint now) EVENKEEL_REQUIRES(mutex_);
  TimePoint end_of(const Hold& hold) const;

  Store& store_;
  const Layout layout_;
  const Identity me_;
  const LeaseLockOptions options_;
  const TransactOptions transact_;
  mutable Mutex mutex_;
  Observations seen_ EVENKEEL_GUARDED_BY(mutex_);
  std::optional<Hold> hold_ EVENKEEL_GUARDED_BY(mutex_);
  std::optional<TimePoint> waiting_since_ EVENKEEL_GUARDED_BY(mutex_);
  LockFigures figures_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
