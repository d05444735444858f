// SPDX-License-Identifier: Apache-2.0
// The decision table of the lock, and the lock on a store: deaths, denials, wrong wall clocks, lost answers.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/clock.hpp>
#include <evenkeel/coordination/deny_list.hpp>
#include <evenkeel/coordination/lease_lock.hpp>
#include <evenkeel/coordination/liveness.hpp>
#include <evenkeel/coordination/memory_store.hpp>
#include <evenkeel/testing/faulty_store.hpp>

namespace evenkeel::coordination {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;

const Identity me{"dc1", "uid-1", "run-1"};
const Identity other_one{"dc2", "uid-2", "run-1"};
const Identity third_one{"dc3", "uid-3", "run-1"};
const WallTime wall_start{seconds{1767225600}};

LockRecord held_by(const Identity& who, std::uint64_t epoch = 4) {
  return {.owner = who.scope,
          .instance = who.instance,
          .incarnation = who.incarnation,
          .epoch = epoch,
          .duration = minutes{10},
          .taken = wall_start - minutes{3},
          .renewed = wall_start - minutes{1}};
}

Entry entry_of(const LockRecord& record) {
  return {"/db/arbiter/lock", encode(record), 17};
}

LockDecision decide(const LockFacts& facts, const LeaseLockOptions& options = {}) {
  return decide_take(facts, me, options, wall_start);
}

TEST(LockTable, AFreeLockIsTaken) {
  const LockDecision first = decide({});
  EXPECT_EQ(first.step, LockStep::take);
  EXPECT_EQ(first.next.owner, "dc1");
  EXPECT_EQ(first.next.epoch, 1U);
  EXPECT_EQ(first.next.taken, wall_start);
  EXPECT_EQ(first.next.duration, minutes{10});

  LockRecord free;
  free.epoch = 8;
  EXPECT_EQ(decide({.lock = entry_of(free)}).next.epoch, 9U);
}

// In the shipped operator a denied instance takes a lock that is free.
TEST(LockTable, ADeniedInstanceGetsNothingNotEvenAFreeLock) {
  for (const auto& lock : {std::optional<Entry>(), std::optional(entry_of(held_by(me))),
                           std::optional(entry_of(held_by(other_one)))}) {
    const LockDecision decision = decide({.lock = lock, .unchanged = minutes{60}, .denied = true});
    EXPECT_EQ(decision.step, LockStep::denied);
    EXPECT_EQ(decision.why, "dc1 is on the deny list");
  }
}

// A run that was paused during the start of its successor must not take the lock back.
TEST(LockTable, ARunThatWasSucceededGetsNothing) {
  const LockDecision decision =
      decide({.lock = entry_of(held_by({"dc1", "uid-1", "run-2"})), .succeeded = true});
  EXPECT_EQ(decision.step, LockStep::denied);
  EXPECT_EQ(decision.why, "another run of dc1 is registered");
}

TEST(LockTable, OnesOwnIsExtendedFromItsStart) {
  const LockDecision decision = decide({.lock = entry_of(held_by(me)), .held_for = minutes{3}});
  EXPECT_EQ(decision.step, LockStep::extend);
  EXPECT_EQ(decision.next.epoch, 4U);
  EXPECT_EQ(decision.next.taken, wall_start - minutes{3});
  EXPECT_EQ(decision.next.renewed, wall_start);
}

TEST(LockTable, OnesOwnIsExtendedAlsoWhenItExpiredAndNobodyTookIt) {
  EXPECT_EQ(decide({.lock = entry_of(held_by(me)), .unchanged = minutes{11}}).step, LockStep::extend);
}

TEST(LockTable, ALaterRunTakesOverFromAnEarlierOneAtOnce) {
  const LockDecision decision = decide({.lock = entry_of(held_by({"dc1", "uid-1", "run-0"}))});
  EXPECT_EQ(decision.step, LockStep::take);
  EXPECT_EQ(decision.next.epoch, 5U);
  EXPECT_EQ(decision.why, "it was held by an earlier run of dc1");
}

TEST(LockTable, AnotherInstanceOfTheSameScopeIsSomebodyElse) {
  EXPECT_EQ(decide({.lock = entry_of(held_by({"dc1", "uid-9", "run-1"}))}).step, LockStep::wait);
}

TEST(LockTable, ADeniedHolderLosesIt) {
  const LockDecision decision = decide({.lock = entry_of(held_by(other_one)), .owner_denied = true});
  EXPECT_EQ(decision.step, LockStep::take);
  EXPECT_EQ(decision.next.epoch, 5U);
  EXPECT_EQ(decision.why, "its holder dc2 is on the deny list");
}

// In the shipped operator the new holder keeps the start time of the former one.
TEST(LockTable, WhoTakesOverStartsAnew) {
  const LockDecision decision = decide({.lock = entry_of(held_by(other_one)), .unchanged = minutes{11}});
  EXPECT_EQ(decision.step, LockStep::take);
  EXPECT_EQ(decision.next.owner, "dc1");
  EXPECT_EQ(decision.next.epoch, 5U);
  EXPECT_EQ(decision.next.taken, wall_start);
  EXPECT_EQ(decision.why, "its holder dc2 was silent for 11m0s");
}

// "end == now is still held".
TEST(LockTable, ExactlyItsDurationIsStillHeld) {
  const LockDecision held = decide({.lock = entry_of(held_by(other_one)), .unchanged = minutes{10}});
  EXPECT_EQ(held.step, LockStep::wait);
  EXPECT_EQ(held.retry_after, milliseconds{1});
  EXPECT_EQ(decide({.lock = entry_of(held_by(other_one)), .unchanged = minutes{10} + Duration{1}}).step,
            LockStep::take);
}

TEST(LockTable, AHeldLockSaysWhoseItIsAndForHowLong) {
  const LockDecision decision = decide({.lock = entry_of(held_by(other_one)), .unchanged = seconds{12}});
  EXPECT_EQ(decision.step, LockStep::wait);
  EXPECT_EQ(decision.why, "held by dc2, silent for 12s of 10m0s");
  EXPECT_EQ(decision.retry_after, minutes{10} - seconds{12} + milliseconds{1});
}

// The duration of the holder counts.
TEST(LockTable, TheHoldersDurationCounts) {
  LockRecord record = held_by(other_one);
  record.duration = minutes{20};
  EXPECT_EQ(decide({.lock = entry_of(record), .unchanged = minutes{11}}).step, LockStep::wait);
  record.duration = seconds{30};
  EXPECT_EQ(decide({.lock = entry_of(record), .unchanged = seconds{31}}).step, LockStep::take);
}

// The times in the record have no effect, whether past or future.
TEST(LockTable, CalendarsOfOthersSayNothing) {
  for (const seconds skew : {seconds{-3600}, seconds{-60}, seconds{60}, seconds{3600}}) {
    LockRecord record = held_by(other_one);
    record.taken += skew;
    record.renewed += skew;
    EXPECT_EQ(decide({.lock = entry_of(record), .unchanged = minutes{9}}).step, LockStep::wait);
    EXPECT_EQ(decide({.lock = entry_of(record), .unchanged = minutes{11}}).step, LockStep::take);
  }
}

// #2315: an instance that is never done would hold the lock without end.
TEST(LockTable, AHolderGivesOthersATurn) {
  const LockDecision before =
      decide({.lock = entry_of(held_by(me)), .held_for = minutes{10} - milliseconds{1}});
  EXPECT_EQ(before.step, LockStep::extend);
  const LockDecision decision = decide({.lock = entry_of(held_by(me)), .held_for = minutes{10}});
  EXPECT_EQ(decision.step, LockStep::yield);
  EXPECT_TRUE(decision.next.is_free());
  EXPECT_EQ(decision.next.yielded_by, "dc1");
  EXPECT_EQ(decision.next.epoch, 4U);
  EXPECT_EQ(decision.retry_after, seconds{30});
  EXPECT_EQ(
      decide({.lock = entry_of(held_by(me)), .held_for = minutes{60}}, {.yield_after = Duration{}}).step,
      LockStep::extend);
}

TEST(LockTable, WhatWasYieldedIsForOthersFirst) {
  LockRecord record;
  record.epoch = 4;
  record.yielded_by = "dc1";
  const LockDecision early = decide({.lock = entry_of(record), .unchanged = seconds{10}});
  EXPECT_EQ(early.step, LockStep::wait);
  EXPECT_EQ(early.retry_after, seconds{20});
  EXPECT_EQ(early.why, "yielded to others for 20s");
  EXPECT_EQ(decide({.lock = entry_of(record), .unchanged = seconds{30}}).step, LockStep::take);
  EXPECT_EQ(decide_take({.lock = entry_of(record)}, other_one, {}, wall_start).step, LockStep::take);
}

TEST(LockTable, NobodyTakesWhatItCannotRead) {
  const auto what = [](std::string_view value) -> std::string {
    try {
      decide({.lock = Entry{"/db/arbiter/lock", std::string(value), 1}, .unchanged = minutes{60}});
    } catch (const DecodeError& error) {
      return error.what();
    }
    return "taken";
  };
  EXPECT_THAT(what("{"), HasSubstr("arbiter/lock"));
  EXPECT_EQ(what("[]"), "arbiter/lock: expected an object, found array");
  EXPECT_EQ(what(R"({"owner":"dc2"})"), "arbiter/lock: epoch: expected a whole number >= 0");
  EXPECT_EQ(what(R"({"owner":"dc2","epoch":1})"), "arbiter/lock: an owner without an instance");
  EXPECT_EQ(what(R"({"owner":"dc2","instance":"u","epoch":1,"durationMilliseconds":0})"),
            "arbiter/lock: durationMilliseconds: is out of range");
}

TEST(LockRecord, IsReadAsItWasWritten) {
  EXPECT_EQ(decode_lock(encode(held_by(other_one))), held_by(other_one));
  LockRecord free;
  free.epoch = 12;
  free.yielded_by = "dc1";
  free.renewed = wall_start;
  EXPECT_EQ(decode_lock(encode(free)), free);
  EXPECT_EQ(encode(free), R"({"epoch":12,"renewed":"2026-01-01T00:00:00Z","yieldedBy":"dc1"})");
}

TEST(LockRecord, IsHeldByOneRunOfOneInstance) {
  const std::optional<Entry> entry = entry_of(held_by(me));
  EXPECT_EQ(lock_held_by(entry, me), 4U);
  EXPECT_EQ(lock_held_by(entry, other_one), std::nullopt);
  EXPECT_EQ(lock_held_by(entry, {"dc1", "uid-1", "run-2"}), std::nullopt);
  EXPECT_EQ(lock_held_by(std::nullopt, me), std::nullopt);
  // A rename keeps it.
  EXPECT_EQ(lock_held_by(entry, {"unicorn", "uid-1", "run-1"}), 4U);
}

TEST(LockRelease, FreesOnesOwnOnly) {
  const auto release = [](const LockRecord& record) {
    return decide_release(entry_of(record), me, wall_start);
  };
  EXPECT_EQ(decide_release(std::nullopt, me, wall_start), std::nullopt);
  EXPECT_EQ(release(held_by(other_one)), std::nullopt);
  EXPECT_EQ(release(LockRecord{}), std::nullopt);
  const auto freed = release(held_by(me));
  ASSERT_TRUE(freed);
  EXPECT_TRUE(freed->is_free());
  EXPECT_EQ(freed->epoch, 4U);
  EXPECT_TRUE(release(held_by({"dc1", "uid-1", "run-0"}))) << "what an earlier run left behind";
}

TEST(LeaseLockOptions, AreChecked) {
  MemoryStore store;
  const auto make = [&](const LeaseLockOptions& options) { LeaseLock(store, Layout("/db"), me, options); };
  EXPECT_NO_THROW(make({}));
  EXPECT_THROW(make({.duration = Duration{}}), std::invalid_argument);
  EXPECT_THROW(make({.duration = std::chrono::microseconds{1500}, .margin = {}}), std::invalid_argument);
  EXPECT_THROW(make({.duration = seconds{5}, .margin = seconds{5}}), std::invalid_argument);
  EXPECT_THROW(make({.yield_after = Duration{-1}}), std::invalid_argument);
}

/// Instances on one store, each with its own clock.
class LeaseLockOnStore : public ::testing::Test {
 protected:
  struct Party {
    Party(Store& of, Identity who, const LeaseLockOptions& options)
        : lock(of, Layout("/db"), std::move(who), options, {.delay = {}, .clock = clock}) {}
    std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
    LeaseLock lock;
  };
  void pass(Duration by) {
    a.clock->advance(by);
    b.clock->advance(by);
  }
  LockRecord record() { return decode_lock(store.snapshot()->get("/db/arbiter/lock")->value); }

  std::shared_ptr<MemoryStore> memory = std::make_shared<MemoryStore>();
  MemoryStore& store = *memory;
  testing::FaultyStore c_store{memory};
  Party a{store, me, {}};
  Party b{store, other_one, {}};
  Party c{c_store, third_one, {}};
};

TEST_F(LeaseLockOnStore, IsOnePartysAtATime) {
  EXPECT_EQ(a.lock.take().epoch, 1U);
  const LockAnswer busy = b.lock.take();
  EXPECT_EQ(busy.outcome, LockOutcome::busy);
  EXPECT_EQ(busy.why, "held by dc1, silent for 0s of 10m0s");
  EXPECT_EQ(a.lock.held(), 1U);
  EXPECT_EQ(b.lock.held(), std::nullopt);

  EXPECT_TRUE(a.lock.release());
  EXPECT_EQ(a.lock.held(), std::nullopt);
  EXPECT_EQ(b.lock.take().epoch, 2U);
  EXPECT_EQ(a.lock.take().outcome, LockOutcome::busy);
}

// The holder crashes; the other instance waits from when it first saw the record.
TEST_F(LeaseLockOnStore, OfADeadHolderEndsByObservation) {
  ASSERT_TRUE(a.lock.take().is_held());
  pass(minutes{5});
  EXPECT_EQ(b.lock.take().outcome, LockOutcome::busy);
  pass(minutes{10});
  EXPECT_EQ(b.lock.take().outcome, LockOutcome::busy) << "exactly the duration is still held";
  pass(milliseconds{1});
  EXPECT_EQ(b.lock.take().epoch, 2U);
}

// "a crashed instance blocks nobody for longer than its liveness time", also with the default duration.
TEST_F(LeaseLockOnStore, OfARegisteredHolderEndsWithItsSilence) {
  LivenessRegistry registry(store, Layout("/db"), me, {}, {.delay = {}, .clock = a.clock});
  registry.renew(Mode::global);
  ASSERT_TRUE(a.lock.take().is_held());
  const LockAnswer busy = b.lock.take();
  EXPECT_EQ(busy.retry_after, seconds{60} + milliseconds{1});
  pass(seconds{60});
  EXPECT_EQ(b.lock.take().outcome, LockOutcome::busy) << "exactly that long is not silent";
  registry.renew(Mode::global);
  pass(milliseconds{1});
  EXPECT_EQ(b.lock.take().outcome, LockOutcome::busy) << "it lives, whatever it does with the lock";
  pass(seconds{60});
  ASSERT_TRUE(a.lock.take().is_held()) << "or it writes the lock, and its record is old";
  EXPECT_EQ(b.lock.take().outcome, LockOutcome::busy);
  pass(seconds{60} + milliseconds{1});
  EXPECT_EQ(b.lock.take().epoch, 2U);
  EXPECT_EQ(a.lock.take().outcome, LockOutcome::busy);
}

TEST_F(LeaseLockOnStore, OfASilentHolderEndsWithItsDurationWhereThatIsWanted) {
  LivenessRegistry(store, Layout("/db"), me, {}, {.delay = {}, .clock = a.clock}).renew(Mode::global);
  Party patient{store, third_one, {.holder_silence = {}}};
  ASSERT_TRUE(a.lock.take().is_held());
  EXPECT_EQ(patient.lock.take().retry_after, minutes{10} + milliseconds{1});
  patient.clock->advance(minutes{10});
  EXPECT_EQ(patient.lock.take().outcome, LockOutcome::busy);
}

TEST_F(LeaseLockOnStore, OfALivingHolderNeverEnds) {
  ASSERT_TRUE(a.lock.take().is_held());
  for (int minute = 0; minute < 9; ++minute) {
    pass(minutes{1});
    EXPECT_EQ(a.lock.take().epoch, 1U);
    EXPECT_EQ(b.lock.take().outcome, LockOutcome::busy);
  }
}

// The own clock, and the epoch in the store, show a holder that its hold has ended during a pause.
TEST_F(LeaseLockOnStore, OfASleeperIsNotItsAnyMore) {
  ASSERT_EQ(a.lock.take().epoch, 1U);
  EXPECT_EQ(b.lock.take().outcome, LockOutcome::busy);
  pass(minutes{10} - seconds{5});
  EXPECT_EQ(a.lock.held(), std::nullopt) << "the margin";
  pass(minutes{1});
  ASSERT_EQ(b.lock.take().epoch, 2U);
  EXPECT_EQ(lock_held_by(store.snapshot()->get("/db/arbiter/lock"), me), std::nullopt);
  EXPECT_EQ(a.lock.take().outcome, LockOutcome::busy);
  EXPECT_TRUE(a.lock.release()) << "nothing to release";
  EXPECT_EQ(record().owner, "dc2");
}

TEST_F(LeaseLockOnStore, OfAnUnreconciledHolderPassesToTheOthersAndBack) {
  ASSERT_EQ(a.lock.take().epoch, 1U);
  for (int minute = 0; minute < 10; ++minute) {
    pass(minutes{1});
    if (minute == 9) break;
    EXPECT_TRUE(a.lock.take().is_held());
  }
  const LockAnswer turn = a.lock.take();
  EXPECT_EQ(turn.outcome, LockOutcome::yielded);
  EXPECT_EQ(turn.retry_after, seconds{30});
  EXPECT_EQ(a.lock.take().outcome, LockOutcome::busy);
  EXPECT_EQ(b.lock.take().epoch, 2U);
  EXPECT_TRUE(b.lock.release());
  EXPECT_EQ(a.lock.take().epoch, 3U) << "nobody left this one to others";
  EXPECT_EQ(a.lock.figures().yielded, 1U);
}

TEST_F(LeaseLockOnStore, WhatNobodyElseWantsGoesBackToTheOneThatYielded) {
  ASSERT_TRUE(a.lock.take().is_held());
  pass(minutes{10});
  ASSERT_EQ(a.lock.take().outcome, LockOutcome::yielded);
  EXPECT_EQ(a.lock.take().outcome, LockOutcome::busy);
  pass(seconds{30});
  EXPECT_EQ(a.lock.take().epoch, 2U);
}

TEST_F(LeaseLockOnStore, IsTheLatestRegisteredRuns) {
  LivenessRegistry old_run(store, Layout("/db"), me, {}, {.delay = {}});
  LivenessRegistry new_run(store, Layout("/db"), {"dc1", "uid-1", "run-2"}, {}, {.delay = {}});
  Party later{store, {"dc1", "uid-1", "run-2"}, {}};
  old_run.renew(Mode::global);
  ASSERT_EQ(a.lock.take().epoch, 1U);
  EXPECT_EQ(later.lock.take().outcome, LockOutcome::denied) << "it has to register first";
  new_run.renew(Mode::global);
  EXPECT_EQ(later.lock.take().epoch, 2U);
  const LockAnswer answer = a.lock.take();
  EXPECT_EQ(answer.outcome, LockOutcome::denied);
  EXPECT_EQ(answer.why, "another run of dc1 is registered");
  EXPECT_EQ(later.lock.take().epoch, 2U);
}

// An earlier run resumes at the end of its pass, and in the store its instance has the lock.
TEST_F(LeaseLockOnStore, OfALaterRunIsNotReleased) {
  LivenessRegistry old_run(store, Layout("/db"), me, {}, {.delay = {}});
  LivenessRegistry new_run(store, Layout("/db"), {"dc1", "uid-1", "run-2"}, {}, {.delay = {}});
  Party later{store, {"dc1", "uid-1", "run-2"}, {}};
  old_run.renew(Mode::global);
  ASSERT_TRUE(a.lock.take().is_held());
  new_run.renew(Mode::global);
  ASSERT_EQ(later.lock.take().epoch, 2U);
  EXPECT_TRUE(a.lock.release());
  EXPECT_EQ(record().incarnation, "run-2");
  EXPECT_EQ(a.lock.held(), std::nullopt);
  EXPECT_TRUE(later.lock.release());
  EXPECT_TRUE(record().is_free());

  ASSERT_TRUE(later.lock.take().is_held());
  Party third{store, {"dc1", "uid-1", "run-3"}, {}};
  LivenessRegistry(store, Layout("/db"), third.lock.identity(), {}, {.delay = {}}).renew(Mode::global);
  EXPECT_TRUE(third.lock.release()) << "what an earlier run left behind";
  EXPECT_TRUE(record().is_free());
}

// Without a registry, as in mode local, the epoch tells the runs apart.
TEST_F(LeaseLockOnStore, OfALaterRunIsNotReleasedAtTheEndOfAPass) {
  Party later{store, {"dc1", "uid-1", "run-2"}, {}};
  ASSERT_TRUE(a.lock.take().is_held());
  ASSERT_EQ(later.lock.take().epoch, 2U);
  EXPECT_TRUE(a.lock.end_pass(true));
  EXPECT_EQ(record().incarnation, "run-2");
  EXPECT_EQ(a.lock.held(), std::nullopt);
  EXPECT_TRUE(later.lock.end_pass(true));
  EXPECT_TRUE(record().is_free());
}

// A person frees the lock; epochs continue, even after a value that cannot be decoded.
TEST_F(LeaseLockOnStore, IsFreedByAPerson) {
  EXPECT_EQ(free_lock(store, Layout("/db"), "coordctl", {.delay = {}}), LockRecord{});
  ASSERT_EQ(a.lock.take().epoch, 1U);
  EXPECT_EQ(free_lock(store, Layout("/db"), "coordctl", {.delay = {}}).epoch, 1U);
  EXPECT_EQ(b.lock.take().epoch, 2U);
  store.commit({.puts = {{"/db/arbiter/lock", "?"}}});
  EXPECT_THROW(a.lock.take(), DecodeError);
  const Version unreadable = store.version();
  EXPECT_EQ(free_lock(store, Layout("/db"), "coordctl", {.delay = {}}).epoch, unreadable);
  EXPECT_EQ(a.lock.take().epoch, unreadable + 1);
}

// 'denied stays out': a person takes the lock from an instance that cannot be reached.
TEST_F(LeaseLockOnStore, IsTakenFromWhoIsDenied) {
  DenyList denied(store, Layout("/db"), "coordctl", {.delay = {}});
  ASSERT_TRUE(a.lock.take().is_held());
  denied.apply({{"dc1"}});
  EXPECT_EQ(a.lock.take().outcome, LockOutcome::denied);
  EXPECT_EQ(a.lock.held(), std::nullopt);
  EXPECT_EQ(b.lock.take().epoch, 2U);
  EXPECT_TRUE(b.lock.release());
  EXPECT_EQ(a.lock.take().outcome, LockOutcome::denied) << "free, and yet not for it";
  denied.apply({{.scope = "dc1", .allow = true}});
  EXPECT_EQ(a.lock.take().epoch, 3U);
}

TEST_F(LeaseLockOnStore, IsGivenBackAsThePolicySays) {
  ASSERT_TRUE(a.lock.take().is_held());
  EXPECT_TRUE(a.lock.end_pass(false));
  EXPECT_EQ(record().owner, "dc1");
  EXPECT_TRUE(a.lock.end_pass(true));
  EXPECT_TRUE(record().is_free());

  Party each{store, third_one, {.release = LockRelease::after_each_pass}};
  ASSERT_TRUE(each.lock.take().is_held());
  EXPECT_TRUE(each.lock.end_pass(false));
  EXPECT_TRUE(record().is_free());
}

TEST_F(LeaseLockOnStore, ThatIsOffIsEverybodys) {
  Party off{store, me, {.enabled = false}};
  const Version before = store.version();
  EXPECT_TRUE(off.lock.take().is_held());
  EXPECT_EQ(off.lock.held(), 0U);
  EXPECT_TRUE(off.lock.end_pass(true));
  EXPECT_EQ(store.version(), before);
}

TEST_F(LeaseLockOnStore, CountsWaitsAndHolds) {
  ASSERT_TRUE(a.lock.take().is_held());
  ASSERT_EQ(b.lock.take().outcome, LockOutcome::busy);
  pass(seconds{40});
  ASSERT_TRUE(a.lock.release());
  pass(seconds{2});
  ASSERT_TRUE(b.lock.take().is_held());
  pass(seconds{8});
  EXPECT_EQ(a.lock.figures().held, seconds{40});
  EXPECT_FALSE(a.lock.figures().holds);
  const LockFigures of_b = b.lock.figures();
  EXPECT_EQ(of_b.waited, seconds{42});
  EXPECT_EQ(of_b.held, seconds{8});
  EXPECT_TRUE(of_b.holds);
  EXPECT_EQ(of_b.refused, 1U);
  EXPECT_EQ(of_b.taken, 1U);
}

// An instance that was refused, and then needed the lock no longer, does not wait until it needs it again.
TEST_F(LeaseLockOnStore, CountsNoWaitThatWasGivenUp) {
  for (const bool releases : {false, true}) {
    ASSERT_TRUE(a.lock.take().is_held());
    ASSERT_EQ(b.lock.take().outcome, LockOutcome::busy);
    EXPECT_TRUE(b.lock.end_pass(false));
    pass(seconds{40});
    EXPECT_TRUE(releases ? b.lock.release() : b.lock.end_pass(true));
    ASSERT_TRUE(a.lock.release());
    pass(std::chrono::hours{48});
    ASSERT_TRUE(b.lock.take().is_held());
    EXPECT_EQ(b.lock.figures().waited, Duration{}) << releases;
    ASSERT_TRUE(b.lock.release());
  }
}

// 'no answer, no action'
TEST_F(LeaseLockOnStore, IsNotHeldWhereTheStoreSaysNothing) {
  c_store.set_cut(true);
  const LockAnswer answer = c.lock.take();
  EXPECT_EQ(answer.outcome, LockOutcome::unavailable);
  EXPECT_THAT(answer.why, HasSubstr("unavailable: "));
  EXPECT_EQ(c.lock.held(), std::nullopt);
  EXPECT_FALSE(c.lock.release());
  EXPECT_EQ(c.lock.figures().unavailable, 1U);
}

// 'applied once': the outcome of a lost answer is looked up; the lock is taken once, whatever the outcome.
TEST_F(LeaseLockOnStore, IsTakenOnceWhenTheAnswerIsLost) {
  c_store.script({testing::StoreFault::unknown_applied});
  EXPECT_EQ(c.lock.take().epoch, 1U);
  EXPECT_EQ(record().epoch, 1U);
  EXPECT_TRUE(c.lock.release());
  c_store.script({testing::StoreFault::unknown_lost});
  EXPECT_EQ(c.lock.take().epoch, 2U);
  EXPECT_TRUE(c.lock.release());
  c_store.script({testing::StoreFault::unknown_late});
  EXPECT_EQ(c.lock.take().epoch, 3U);
  EXPECT_EQ(c_store.deliver(), 0U) << "too late";
  EXPECT_EQ(record().epoch, 3U);
  EXPECT_EQ(record().owner, "dc3");
}

// A release whose answer is lost ends the hold.
TEST_F(LeaseLockOnStore, IsNotCountedOnAfterARelease) {
  ASSERT_TRUE(c.lock.take().is_held());
  c_store.script({testing::StoreFault::unavailable});
  EXPECT_FALSE(c.lock.release());
  EXPECT_EQ(c.lock.held(), std::nullopt);
  EXPECT_EQ(record().owner, "dc3") << "it ends by itself, or is extended";
  EXPECT_EQ(c.lock.take().epoch, 1U);
}

/// A store that applies a commit and answers it a minute of `clock` later.
class SlowToAnswer final : public Store {
 public:
  SlowToAnswer(Store& inner, std::shared_ptr<ManualClock> clock) : inner_(inner), clock_(std::move(clock)) {}
  std::string name() const override { return "slow"; }
  Capabilities capabilities() const override { return inner_.capabilities(); }
  Limits limits() const override { return inner_.limits(); }
  std::unique_ptr<StoreSnapshot> snapshot(std::stop_token stop) override { return inner_.snapshot(stop); }
  CommitResult commit(const Commit& commit, std::stop_token stop) override {
    CommitResult result = inner_.commit(commit, stop);
    clock_->advance(minutes{1});
    return result;
  }

 private:
  Store& inner_;
  const std::shared_ptr<ManualClock> clock_;
};

// Others count from the commit. Counted from its answer, a hold would last after they took the lock.
TEST_F(LeaseLockOnStore, CountsFromTheTimeAtWhichTheCommitIsSent) {
  const auto clock = std::make_shared<ManualClock>();
  SlowToAnswer slow(store, clock);
  LeaseLock lock(slow, Layout("/db"), third_one, {.yield_after = Duration{}}, {.delay = {}, .clock = clock});
  const Duration relied_on = LeaseLockOptions().duration - LeaseLockOptions().margin;
  for (const char* commit : {"the take", "an extension"}) {
    ASSERT_EQ(lock.take().epoch, 1U) << commit;
    clock->advance(relied_on - minutes{1} - Duration{1});
    EXPECT_EQ(lock.held(), 1U) << commit;
    clock->advance(Duration{1});
    EXPECT_EQ(lock.held(), std::nullopt) << commit;
  }
}

// Instances on separate threads: never two holders at once, and no epoch twice.
TEST(LeaseLockConcurrency, IsOnePartysAtATime) {
  MemoryStore store;
  std::atomic<int> inside{0};
  std::atomic<int> together{0};
  std::array<std::set<std::uint64_t>, 4> epochs;
  const auto work = [&](std::size_t party) {
    LeaseLock lock(store, Layout("/db"),
                   {"dc" + std::to_string(party), "uid-" + std::to_string(party), "run"}, {}, {.delay = {}});
    while (epochs.at(party).size() < 25) {
      const LockAnswer answer = lock.take();
      if (!answer.is_held()) continue;
      if (inside.fetch_add(1) != 0) ++together;
      epochs.at(party).insert(answer.epoch);
      inside.fetch_sub(1);
      while (!lock.release()) {
      }
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t party = 0; party < epochs.size(); ++party) threads.emplace_back(work, party);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(together, 0);
  std::set<std::uint64_t> all;
  for (const auto& of_party : epochs) all.insert(of_party.begin(), of_party.end());
  EXPECT_EQ(all.size(), 100U) << "an epoch was given twice";
}

/// A store that answers its first commit after `released`, unless the release waits for that answer.
class AnswersAfterTheRelease final : public Store {
 public:
  std::string name() const override { return "late"; }
  Capabilities capabilities() const override { return inner_.capabilities(); }
  Limits limits() const override { return inner_.limits(); }
  std::unique_ptr<StoreSnapshot> snapshot(std::stop_token stop) override { return inner_.snapshot(stop); }
  CommitResult commit(const Commit& commit, std::stop_token stop) override {
    CommitResult result = inner_.commit(commit, stop);
    if (committed.exchange(true)) return result;
    for (int turns = 0; turns < 500 && !released; ++turns) std::this_thread::yield();
    return result;
  }

  std::atomic<bool> committed = false;
  std::atomic<bool> released = false;

 private:
  MemoryStore inner_;
};

// One thread releases the lock before the other one knows that it has taken it.
TEST(LeaseLockConcurrency, HoldsNothingThatWasReleased) {
  AnswersAfterTheRelease store;
  LeaseLock lock(store, Layout("/db"), me, {}, {.delay = {}});
  std::thread releaser([&] {
    while (!store.committed) std::this_thread::yield();
    EXPECT_TRUE(lock.release());
    store.released = true;
  });
  EXPECT_TRUE(lock.take().is_held());
  releaser.join();
  EXPECT_TRUE(decode_lock(store.snapshot({})->get("/db/arbiter/lock")->value).is_free());
  EXPECT_EQ(lock.held(), std::nullopt);
  EXPECT_FALSE(lock.figures().holds);
}

}  // namespace
}  // namespace evenkeel::coordination
