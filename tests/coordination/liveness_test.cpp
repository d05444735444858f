// SPDX-License-Identifier: Apache-2.0
// Silence, modes and renames, as other instances observe them.
#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/clock.hpp>
#include <evenkeel/coordination/liveness.hpp>
#include <evenkeel/coordination/memory_store.hpp>

namespace evenkeel::coordination::liveness_tests {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const Layout layout("/db");
const Identity me{"dc1", "uid-1", "run-1"};
const WallTime wall_start{seconds{1767225600}};

constexpr TimePoint at(int second) {
  return TimePoint(seconds{second});
}

Entry entry(const std::string& scope, Version version, Mode mode = Mode::global, WallTime wall = wall_start) {
  const InstanceRecord record{.instance = "uid-" + scope, .incarnation = "run-1", .mode = mode, .at = wall};
  return {layout.instance(scope), encode(record), version};
}

TEST(Liveness, TakesEverybodyForLiveAtFirst) {
  Liveness liveness(layout);
  liveness.observe({entry("dc1", 1), entry("dc2", 2)}, at(0));
  for (const Instance& one : liveness.instances(at(60))) EXPECT_EQ(one.presence, Presence::live);
  EXPECT_EQ(liveness.silent_at("dc1"), at(60) + Duration{1});
}

TEST(Liveness, CallsSilentWhoseRecordDoesNotChange) {
  Liveness liveness(layout);
  liveness.observe({entry("dc1", 1), entry("dc2", 2)}, at(0));
  liveness.observe({entry("dc1", 1), entry("dc2", 5)}, at(41));
  EXPECT_EQ(liveness.of("dc1", at(60)).presence, Presence::live) << "exactly the time allowed";
  EXPECT_EQ(liveness.of("dc1", at(61)).presence, Presence::silent);
  EXPECT_EQ(liveness.of("dc1", at(61)).unchanged, seconds{61});
  EXPECT_EQ(liveness.of("dc2", at(61)).presence, Presence::live);
  liveness.observe({entry("dc1", 6), entry("dc2", 5)}, at(70));
  EXPECT_EQ(liveness.of("dc1", at(71)).presence, Presence::live) << "it is back";
}

// Wall clocks that are wrong by a minute, or a day.
TEST(Liveness, DoesNotAskTheCalendar) {
  Liveness liveness(layout);
  const auto day = std::chrono::hours{24};
  liveness.observe(
      {entry("dc1", 1, Mode::global, wall_start - day), entry("dc2", 2, Mode::global, wall_start + day)},
      at(0));
  EXPECT_EQ(liveness.of("dc1", at(59)).presence, Presence::live);
  EXPECT_EQ(liveness.of("dc2", at(61)).presence, Presence::silent);
}

TEST(Liveness, CallsAbsentWhoHasNoRecordThatCanBeRead) {
  Liveness liveness(layout);
  liveness.observe({{layout.instance("dc1"), "{}", 1}, entry("dc2", 2)}, at(0));
  EXPECT_EQ(liveness.of("dc1", at(1)).presence, Presence::absent);
  EXPECT_EQ(liveness.of("dc3", at(1)).presence, Presence::absent);
  EXPECT_EQ(liveness.silent_at("dc1"), std::nullopt);
  liveness.observe({}, at(2));
  EXPECT_EQ(liveness.of("dc2", at(2)).presence, Presence::absent);
}

// In the shipped operator instances in different modes ignore each other silently.
TEST(Liveness, ShowsWhoIsInAnotherMode) {
  Liveness liveness(layout);
  liveness.observe({entry("dc1", 1), entry("dc2", 2, Mode::local), entry("dc3", 3, Mode::shadow)}, at(0));
  const auto scopes = [&](TimePoint now) {
    std::vector<std::string> names;
    for (const Instance& one : liveness.others_than(Mode::global, now)) names.push_back(one.scope);
    return names;
  };
  EXPECT_THAT(scopes(at(1)), ElementsAre("dc2", "dc3"));
  EXPECT_THAT(scopes(at(61)), IsEmpty()) << "the silent are no instances to disagree with";
}

TEST(Liveness, RefusesATimeThatIsNone) {
  EXPECT_THROW(Liveness(layout, {.silence = Duration{}}), std::invalid_argument);
}

// A run that was paused during a rename finds the new scope, and stops.
TEST(NextRecord, LeavesAScopeThatMovedAway) {
  InstanceRecord moved{.instance = "uid-1", .incarnation = "run-1", .moved_to = "unicorn"};
  EXPECT_THROW(next_record(moved, Presence::absent, me, Mode::global, true, wall_start), ScopeTaken);
  EXPECT_EQ(next_record(moved, Presence::absent, me, Mode::global, false, wall_start).moved_to, "");
  moved.instance = "uid-9";
  EXPECT_EQ(next_record(moved, Presence::absent, me, Mode::global, false, wall_start).instance, "uid-1");

  Liveness liveness(layout);
  liveness.observe({{layout.instance("dc1"), encode(moved), 1}}, at(0));
  EXPECT_EQ(liveness.of("dc1", at(1)).presence, Presence::absent);
  EXPECT_EQ(liveness.of("dc1", at(1)).record.moved_to, "unicorn");
}

TEST(InstanceRecord, IsReadAsItWasWritten) {
  const InstanceRecord record{
      .instance = "uid-1", .incarnation = "run-1", .mode = Mode::shadow, .renewals = 7, .at = wall_start};
  EXPECT_EQ(decode_instance(encode(record)), record);
  EXPECT_EQ(encode(record), R"({"at":"2026-01-01T00:00:00Z","incarnation":"run-1","instance":"uid-1",)"
                            R"("mode":"shadow","renewals":7,"schema":1})");
}

TEST(InstanceRecord, SaysWhatIsWrongWithIt) {
  const auto what = [](std::string_view value) -> std::string {
    try {
      decode_instance(value, "dc1");
    } catch (const DecodeError& error) {
      return error.what();
    }
    return "nothing";
  };
  EXPECT_EQ(what("7"), "instances/dc1: expected an object, found integer");
  EXPECT_EQ(what("{}"), "instances/dc1: instance: must not be empty");
  EXPECT_EQ(what(R"({"instance":"u","mode":"both"})"),
            R"(instances/dc1: mode: expected local, shadow or global, found "both")");
  EXPECT_EQ(what(R"({"instance":"u","mode":"local","schema":-1})"),
            "instances/dc1: schema: expected a whole number >= 0");
}

TEST(NextRecord, RenewsOnesOwn) {
  const InstanceRecord present{.instance = "uid-1", .incarnation = "run-1", .renewals = 7};
  const InstanceRecord next = next_record(present, Presence::live, me, Mode::shadow, true, wall_start);
  EXPECT_EQ(next.renewals, 8U);
  EXPECT_EQ(next.mode, Mode::shadow);
  EXPECT_EQ(next_record(std::nullopt, Presence::absent, me, Mode::global, false, wall_start).renewals, 1U);
}

TEST(NextRecord, TakesTheScopeOfAnEarlierRunAndOfASilentInstance) {
  const InstanceRecord earlier{.instance = "uid-1", .incarnation = "run-0"};
  EXPECT_EQ(next_record(earlier, Presence::live, me, Mode::global, false, wall_start).incarnation, "run-1");
  const InstanceRecord dead{.instance = "uid-9", .incarnation = "run-4"};
  EXPECT_EQ(next_record(dead, Presence::silent, me, Mode::global, false, wall_start).instance, "uid-1");
}

TEST(NextRecord, LeavesAScopeToWhoHasIt) {
  const InstanceRecord other{.instance = "uid-9", .incarnation = "run-4"};
  const auto what = [&](const InstanceRecord& present, bool registered) -> std::string {
    try {
      next_record(present, Presence::live, me, Mode::global, registered, wall_start);
    } catch (const ScopeTaken& error) {
      return error.what();
    }
    return "written";
  };
  EXPECT_EQ(what(other, false), "scope dc1 belongs to the instance uid-9, which is live");
  const InstanceRecord later{.instance = "uid-1", .incarnation = "run-2"};
  EXPECT_EQ(what(later, true), "scope dc1: a later run of this instance (run-2) has taken over");
  EXPECT_EQ(what(later, false), "written");
}

class LivenessRegistryTest : public ::testing::Test {
 protected:
  MemoryStore store;
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
};

TEST_F(LivenessRegistryTest, SeesTheOthersComeAndFallSilent) {
  LivenessRegistry one(store, layout, me, {}, {.delay = {}, .clock = clock});
  LivenessRegistry two(store, layout, {"dc2", "uid-2", "run-1"}, {}, {.delay = {}, .clock = clock});
  one.renew(Mode::global);
  two.renew(Mode::shadow);
  const auto dc2 = [&] { return one.renew(Mode::global).back(); };
  EXPECT_EQ(dc2().scope, "dc2");
  EXPECT_EQ(dc2().record.mode, Mode::shadow);
  for (int times = 0; times < 6; ++times) {
    clock->advance(seconds{11});
    EXPECT_EQ(dc2().presence, times < 5 ? Presence::live : Presence::silent) << times;
  }
  EXPECT_EQ(one.instances().front().presence, Presence::live);
  two.renew(Mode::shadow);
  EXPECT_EQ(dc2().presence, Presence::live);
}

TEST_F(LivenessRegistryTest, ARetiredInstanceIsGone) {
  LivenessRegistry one(store, layout, me, {}, {.delay = {}, .clock = clock});
  LivenessRegistry two(store, layout, {"dc2", "uid-2", "run-1"}, {}, {.delay = {}, .clock = clock});
  one.renew(Mode::global);
  two.renew(Mode::global);
  two.retire();
  EXPECT_EQ(one.look().size(), 1U);
  // An instance does not remove the record of another one.
  LivenessRegistry imposter(store, layout, {"dc1", "uid-7", "run-1"}, {}, {.delay = {}, .clock = clock});
  imposter.retire();
  EXPECT_EQ(one.look().size(), 1U);
}

// Regression: a run that was succeeded while it was paused took its successor's record away when it left.
TEST_F(LivenessRegistryTest, DoesNotRetireTheLaterRunOfItsInstance) {
  LivenessRegistry old(store, layout, {"dc1", "uid-1", "run-1"}, {}, {.delay = {}, .clock = clock});
  LivenessRegistry now(store, layout, {"dc1", "uid-1", "run-2"}, {}, {.delay = {}, .clock = clock});
  old.renew(Mode::global);
  now.renew(Mode::global);
  old.retire();
  EXPECT_EQ(now.look().size(), 1U);
  EXPECT_THROW(old.renew(Mode::global), ScopeTaken);
  // A run that has no record of its own removes that of the run before it.
  LivenessRegistry next(store, layout, {"dc1", "uid-1", "run-3"}, {}, {.delay = {}, .clock = clock});
  next.retire();
  EXPECT_EQ(now.look().size(), 0U);
}

// The record of the first run was written by its ledger.
TEST_F(LivenessRegistryTest, LeavesAScopeToItsLaterRunWithoutARenewal) {
  for (const bool is_told : {false, true}) {
    const std::string scope = is_told ? "dc1" : "dc2";
    const Identity old{scope, "uid-1", "run-1"};
    LivenessRegistry one(store, layout, old, {}, {.delay = {}, .clock = clock});
    LivenessRegistry two(store, layout, {scope, "uid-1", "run-2"}, {}, {.delay = {}, .clock = clock});
    const InstanceRecord written{.instance = old.instance, .incarnation = old.incarnation};
    store.commit({.puts = {{layout.instance(scope), encode(written)}}});
    if (is_told) {
      one.set_registered();
    } else {
      one.look();
    }
    two.renew(Mode::global);
    EXPECT_THROW(one.renew(Mode::global), ScopeTaken) << is_told;
    EXPECT_NO_THROW(two.renew(Mode::global)) << is_told;
  }
}

TEST_F(LivenessRegistryTest, TwoInstancesCannotHaveOneScope) {
  LivenessRegistry one(store, layout, me, {}, {.delay = {}, .clock = clock});
  LivenessRegistry two(store, layout, {"dc1", "uid-2", "run-1"}, {}, {.delay = {}, .clock = clock});
  one.renew(Mode::global);
  EXPECT_THROW(two.renew(Mode::global), ScopeTaken);
  clock->advance(seconds{61});
  two.renew(Mode::global);
  EXPECT_EQ(two.look().front().record.instance, "uid-2") << "the first one fell silent";
  EXPECT_THROW(one.renew(Mode::global), ScopeTaken);
}

}  // namespace
}  // namespace evenkeel::coordination::liveness_tests
