// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include <evenkeel/coordination/lease_lock.hpp>
#include <evenkeel/coordination/liveness.hpp>

#include "coordination/record_text.hpp"
#include "coordination/transactions.hpp"

namespace evenkeel {
inline namespace v0 {
namespace coordination {
namespace {

using detail::read_of;
using detail::seconds_text;

constexpr std::string_view lock_name = "arbiter/lock";
// Added to the remaining time of a record, because it expires after more than its duration.
constexpr Duration just_longer = std::chrono::milliseconds{1};

std::chrono::milliseconds milliseconds_of(Duration length) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(length);
}

void check(const LeaseLockOptions& options) {
  const auto refuse = [](const char* why) { throw std::invalid_argument(why); };
  if (options.duration <= Duration::zero() || options.duration != milliseconds_of(options.duration)) {
    refuse("LeaseLock: duration must be whole milliseconds > 0");
  }
  if (options.margin < Duration::zero() || options.margin >= options.duration) {
    refuse("LeaseLock: need 0 <= margin < duration");
  }
  if (options.yield_after < Duration::zero() || options.yield_for < Duration::zero()) {
    refuse("LeaseLock: yield_after and yield_for must not be negative");
  }
  if (options.holder_silence < Duration::zero()) {
    refuse("LeaseLock: holder_silence must not be negative");
  }
}

bool is_run_of(const LockRecord& record, const Identity& me) {
  return record.instance == me.instance && record.incarnation == me.incarnation;
}

LockRecord held_record(const LockRecord& before, const Identity& me, const LeaseLockOptions& options,
                       WallTime wall) {
  const bool extends = !before.is_free() && is_run_of(before, me);
  LockRecord next;
  next.owner = me.scope;
  next.instance = me.instance;
  next.incarnation = me.incarnation;
  next.epoch = extends ? before.epoch : before.epoch + 1;
  next.duration = options.duration;
  next.taken = extends ? before.taken : wall;
  next.renewed = wall;
  return next;
}

LockRecord free_record(const LockRecord& before, WallTime wall, std::string yielded_by = {}) {
  LockRecord next;
  next.epoch = before.epoch;
  next.yielded_by = std::move(yielded_by);
  next.renewed = wall;
  return next;
}

/// Evaluates the cases of decide_take() in order.
class TakeRules {
 public:
  TakeRules(const LockFacts& facts, const Identity& me, const LeaseLockOptions& options, WallTime wall)
      : facts_(facts), me_(me), options_(options), wall_(wall) {}

  LockDecision decide() {
    if (facts_.denied) return {.step = LockStep::denied, .why = me_.scope + " is on the deny list"};
    if (facts_.succeeded) {
      return {.step = LockStep::denied, .why = "another run of " + me_.scope + " is registered"};
    }
    if (facts_.lock) record_ = decode_lock(facts_.lock->value);
    if (record_.is_free()) return decide_free();
    if (is_run_of(record_, me_)) return decide_own();
    if (record_.instance == me_.instance) return take("it was held by an earlier run of " + me_.scope);
    Duration left = record_.duration - facts_.unchanged;
    if (facts_.owner_denied) return take("its holder " + record_.owner + " is on the deny list");
    if (facts_.owner_silent && options_.holder_silence > Duration::zero()) {
      if (*facts_.owner_silent > options_.holder_silence) {
        return take("its holder " + record_.owner + " was silent for " + seconds_text(*facts_.owner_silent));
      }
      left = std::min(left, options_.holder_silence - *facts_.owner_silent);
    }
    if (facts_.unchanged > record_.duration) {
      return take("its holder " + record_.owner + " was silent for " + seconds_text(facts_.unchanged));
    }
    return wait(left + just_longer, "held by " + record_.owner + ", silent for " +
                                        seconds_text(facts_.unchanged) + " of " +
                                        seconds_text(record_.duration));
  }

 private:
  LockDecision decide_free() const {
    const bool for_others = !record_.yielded_by.empty() && record_.yielded_by == me_.scope;
    if (for_others && facts_.unchanged < options_.yield_for) {
      const Duration left = options_.yield_for - facts_.unchanged;
      return wait(left, "yielded to others for " + seconds_text(left));
    }
    return take("it was free");
  }

  LockDecision decide_own() const {
    const bool long_enough = options_.yield_after > Duration::zero() && facts_.held_for &&
                             *facts_.held_for >= options_.yield_after;
    if (!long_enough) {
      return {.step = LockStep::extend, .next = held_record(record_, me_, options_, wall_), .why = "held"};
    }
    return {.step = LockStep::yield,
            .next = free_record(record_, wall_, me_.scope),
            .why = "yielded to others after " + seconds_text(*facts_.held_for),
            .retry_after = options_.yield_for};
  }

  LockDecision take(std::string why) const {
    return {
        .step = LockStep::take, .next = held_record(record_, me_, options_, wall_), .why = std::move(why)};
  }
  static LockDecision wait(Duration left, std::string why) {
    return {.step = LockStep::wait, .next = {}, .why = std::move(why), .retry_after = left};
  }

  const LockFacts& facts_;
  const Identity& me_;
  const LeaseLockOptions& options_;
  const WallTime wall_;
  LockRecord record_;
};

/// Returns true if `record`, that of the holder's scope, belongs to the instance that holds the lock.
bool is_registered(const LockRecord& holder, const std::optional<Entry>& record) {
  if (!record) return false;
  try {
    const InstanceRecord known = decode_instance(record->value, holder.owner);
    return known.instance == holder.instance && known.moved_to.empty();
  } catch (const DecodeError&) {
    return false;  // a record that cannot be decoded proves nothing
  }
}

/// Returns true if the registry has another run of the instance of `me`, or another scope for it.
bool is_succeeded(const std::optional<Entry>& entry, const Identity& me) {
  if (!entry) return false;
  try {
    const InstanceRecord record = decode_instance(entry->value, me.scope);
    return record.instance == me.instance &&
           (record.incarnation != me.incarnation || !record.moved_to.empty());
  } catch (const DecodeError&) {
    return false;  // a record that cannot be decoded proves nothing
  }
}

}  // namespace

std::string encode(const LockRecord& record) {
  Json json = Json::object({{"epoch", record.epoch}, {"renewed", detail::text_of_time(record.renewed)}});
  if (!record.yielded_by.empty()) json["yieldedBy"] = record.yielded_by;
  if (record.is_free()) return json.dump();
  json["owner"] = record.owner;
  json["instance"] = record.instance;
  json["incarnation"] = record.incarnation;
  json["durationMilliseconds"] = milliseconds_of(record.duration).count();
  json["taken"] = detail::text_of_time(record.taken);
  return json.dump();
}

LockRecord decode_lock(std::string_view value) {
  const Json json = detail::parse_record(value, lock_name);
  LockRecord record;
  record.owner = json["owner"].string_or("");
  record.instance = json["instance"].string_or("");
  record.incarnation = json["incarnation"].string_or("");
  record.epoch = detail::whole_number(json, "epoch", lock_name);
  record.yielded_by = json["yieldedBy"].string_or("");
  record.renewed = detail::time_of(json, "renewed");
  if (record.is_free()) return record;
  if (record.instance.empty()) throw DecodeError(std::string(lock_name), "an owner without an instance");
  constexpr auto longest = std::chrono::duration_cast<std::chrono::milliseconds>(Duration::max()).count();
  const std::uint64_t length = detail::whole_number(json, "durationMilliseconds", lock_name);
  if (length == 0 || length >= static_cast<std::uint64_t>(longest)) {  // a wait is just_longer
    throw DecodeError(std::string(lock_name) + ": durationMilliseconds", "is out of range");
  }
  record.duration = std::chrono::milliseconds{static_cast<std::int64_t>(length)};
  record.taken = detail::time_of(json, "taken");
  return record;
}

std::optional<std::uint64_t> lock_held_by(const std::optional<Entry>& entry, const Identity& me) {
  if (!entry) return std::nullopt;
  const LockRecord record = decode_lock(entry->value);
  if (record.is_free() || !is_run_of(record, me)) return std::nullopt;
  return record.epoch;
}

LockDecision decide_take(const LockFacts& facts, const Identity& me, const LeaseLockOptions& options,
                         WallTime wall) {
  return TakeRules(facts, me, options, wall).decide();
}

std::optional<LockRecord> decide_release(const std::optional<Entry>& lock, const Identity& me,
                                         WallTime wall) {
  if (!lock) return std::nullopt;
  const LockRecord record = decode_lock(lock->value);
  if (record.is_free() || record.instance != me.instance) return std::nullopt;
  return free_record(record, wall);
}

LeaseLock::LeaseLock(Store& store, Layout layout, Identity me, LeaseLockOptions options,
                     TransactOptions transact)
    : store_(store),
      layout_(std::move(layout)),
      me_(std::move(me)),
      options_(options),
      transact_(detail::with_token(std::move(transact), layout_.arbiter_token(me_.instance))) {
  check(options_);
}

LockFacts LeaseLock::facts_of(StoreSnapshot& snapshot, TimePoint now) {
  LockFacts facts;
  facts.lock = snapshot.get(layout_.lock());
  facts.denied = snapshot.get(layout_.denied(me_.scope)).has_value();
  facts.succeeded = is_succeeded(snapshot.get(layout_.instance(me_.scope)), me_);
  const LockRecord holder = facts.lock ? decode_lock(facts.lock->value) : LockRecord();
  std::optional<Entry> record;
  if (!holder.is_free()) {
    facts.owner_denied = snapshot.get(layout_.denied(holder.owner)).has_value();
    record = snapshot.get(layout_.instance(holder.owner));
  }
  MutexLock guard(mutex_);
  if (facts.lock) facts.unchanged = now - seen_.see(layout_.lock(), facts.lock->version, now);
  if (hold_) facts.held_for = now - hold_->taken;
  if (!holder.is_free()) facts.owner_silent = silence_of(holder, record, facts.unchanged, now);
  return facts;
}

std::optional<Duration> LeaseLock::silence_of(const LockRecord& holder, const std::optional<Entry>& record,
                                              Duration unchanged, TimePoint now) {
  if (!is_registered(holder, record)) return std::nullopt;
  return std::min(unchanged, now - seen_.see(record->key, record->version, now));
}

LockAnswer LeaseLock::take(std::stop_token stop) {
  if (!options_.enabled) return {.outcome = LockOutcome::held};
  const Clock& clock = *transact_.clock;
  MutexLock transacting(transacting_);
  const TimePoint sent = clock.now();
  std::vector<LockDecision> decisions;
  const auto body = [&](StoreSnapshot& snapshot) {
    decisions.emplace_back();  // one per run, even if the snapshot expires
    const LockFacts facts = facts_of(snapshot, clock.now());
    decisions.back() = decide_take(facts, me_, options_, clock.wall_now());
    const LockDecision& decision = decisions.back();
    Commit commit;
    if (decision.step == LockStep::wait || decision.step == LockStep::denied) return commit;
    commit.reads = {read_of(layout_.lock(), facts.lock), {layout_.denied(me_.scope), 0}};
    commit.puts = {{layout_.lock(), encode(decision.next)}};
    return commit;
  };
  const Transacted done = transact(store_, body, transact_, stop);
  if (!done.committed()) {
    MutexLock guard(mutex_);
    ++figures_.unavailable;
    return {.outcome = LockOutcome::unavailable, .why = describe(done.outcome)};
  }
  return settle(decisions.at(done.run), sent);
}

LockAnswer LeaseLock::settle(const LockDecision& decision, TimePoint sent) {
  const TimePoint now = transact_.clock->now();
  MutexLock guard(mutex_);
  switch (decision.step) {
    case LockStep::take:
      drop(now);
      hold_ = Hold{decision.next.epoch, sent, sent};
      ++figures_.taken;
      if (waiting_since_) figures_.waited += now - *std::exchange(waiting_since_, std::nullopt);
      break;
    case LockStep::extend:
      if (!hold_ || hold_->epoch != decision.next.epoch) hold_ = Hold{decision.next.epoch, sent, sent};
      hold_->renewed = sent;
      break;
    case LockStep::yield:
      drop(now);
      ++figures_.yielded;
      return {.outcome = LockOutcome::yielded, .why = decision.why, .retry_after = decision.retry_after};
    case LockStep::wait:
      return refused(LockOutcome::busy, decision, now);
    case LockStep::denied:
      return refused(LockOutcome::denied, decision, now);
  }
  return {.outcome = LockOutcome::held, .epoch = decision.next.epoch};
}

LockAnswer LeaseLock::refused(LockOutcome outcome, const LockDecision& decision, TimePoint now) {
  drop(now);
  ++figures_.refused;
  if (!waiting_since_) waiting_since_ = now;
  return {.outcome = outcome, .why = decision.why, .retry_after = decision.retry_after};
}

void LeaseLock::drop(TimePoint now) {
  if (hold_) figures_.held += std::min(now, end_of(*hold_)) - hold_->taken;
  hold_.reset();
}

TimePoint LeaseLock::end_of(const Hold& hold) const {
  return deadline_after(hold.renewed, options_.duration - options_.margin);
}

bool LeaseLock::release(std::stop_token stop) {
  if (!options_.enabled) return true;
  MutexLock transacting(transacting_);
  return release(std::nullopt, stop);
}

bool LeaseLock::is_of_successor(StoreSnapshot& snapshot, const LockRecord& lock) const {
  return !is_run_of(lock, me_) && is_succeeded(snapshot.get(layout_.instance(me_.scope)), me_);
}

bool LeaseLock::release(std::optional<std::uint64_t> epoch, const std::stop_token& stop) {
  const auto body = [&](StoreSnapshot& snapshot) {
    Commit commit;
    const std::optional<Entry> lock = snapshot.get(layout_.lock());
    const auto next = decide_release(lock, me_, transact_.clock->wall_now());
    if (!next || next->epoch != epoch.value_or(next->epoch)) return commit;
    if (is_of_successor(snapshot, decode_lock(lock->value))) return commit;
    commit.reads = {read_of(layout_.lock(), lock)};
    commit.puts = {{layout_.lock(), encode(*next)}};
    return commit;
  };
  const bool known = transact(store_, body, transact_, stop).committed();
  MutexLock guard(mutex_);
  // Whatever the outcome, this instance no longer relies on the lock, or waits for it.
  waiting_since_.reset();
  drop(transact_.clock->now());
  return known;
}

bool LeaseLock::end_pass(bool reconciled, std::stop_token stop) {
  if (options_.release == LockRelease::when_reconciled && !reconciled) return true;
  MutexLock transacting(transacting_);
  std::uint64_t epoch = 0;
  {
    MutexLock guard(mutex_);
    if (reconciled) waiting_since_.reset();
    if (!hold_) return true;
    epoch = hold_->epoch;
  }
  return release(epoch, stop);
}

std::optional<std::uint64_t> LeaseLock::held() const {
  if (!options_.enabled) return 0;
  const TimePoint now = transact_.clock->now();
  MutexLock guard(mutex_);
  if (!hold_ || now >= end_of(*hold_)) return std::nullopt;
  return hold_->epoch;
}

LockFigures LeaseLock::figures() const {
  const TimePoint now = transact_.clock->now();
  MutexLock guard(mutex_);
  LockFigures figures = figures_;
  if (!hold_) return figures;
  figures.holds = now < end_of(*hold_);
  figures.held += std::min(now, end_of(*hold_)) - hold_->taken;
  return figures;
}

LockRecord free_lock(Store& store, const Layout& layout, std::string_view writer,
                     const TransactOptions& options, std::stop_token stop) {
  LockRecord freed;
  const auto body = [&](StoreSnapshot& snapshot) {
    Commit commit;
    const std::optional<Entry> lock = snapshot.get(layout.lock());
    freed = {};
    if (!lock) return commit;
    LockRecord before;
    try {
      before = decode_lock(lock->value);
    } catch (const DecodeError&) {
      // Every take is a commit, so no epoch was ever greater than the version.
      before.owner = "?";
      before.epoch = lock->version;
    }
    freed = free_record(before, options.clock->wall_now());
    if (before.is_free()) return commit;
    commit.reads = {read_of(layout.lock(), lock)};
    commit.puts = {{layout.lock(), encode(freed)}};
    return commit;
  };
  const auto with_token = detail::with_token(options, layout.arbiter_token(writer));
  detail::require_committed(transact(store, body, with_token, stop), "freeing the lock");
  return freed;
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
