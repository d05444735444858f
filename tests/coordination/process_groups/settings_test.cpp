// SPDX-License-Identifier: Apache-2.0
// Changes of the mode and of the scope of live instances, in the middle of a rollout and a migration: nothing
// is lost, nothing is done twice, and nothing is left in the store.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/coordination/keys.hpp>
#include <evenkeel/coordination/lease_lock.hpp>
#include <evenkeel/coordination/scope_migrator.hpp>

#include "../../support/sanitized.hpp"
#include "scenario.hpp"

namespace evenkeel::coordination {
namespace {

using namespace tests;

class SettingsTest : public Scenario {
 protected:
  /// The keys of members and facts below a scope, by name.
  Texts entries_of(const std::string& scope) {
    Texts keys;
    for (const Entry& entry : store->snapshot()->scan_all(prefix_range("/db/"))) {
      const auto elements = elements_of("/db", entry.key);
      if (elements.size() == 3 && elements[0] != "guard" && elements[0] != "arbiter" &&
          elements[1] == scope) {
        keys.push_back(entry.key);
      }
    }
    return keys;
  }
  std::map<std::string, int> times(std::string_view what) const {
    std::map<std::string, int> times;
    for (const std::string& target : database.targets_of(what)) ++times[target];
    return times;
  }
  void expect_once(std::string_view what) const {
    for (const auto& [target, count] : times(what)) EXPECT_EQ(count, 1) << what << " " << target;
  }
  /// A rollout in all instances, and the replacement of the logs of all.
  void change_everything() {
    database.starts_with = "new";
    for (const std::string scope : {"dc1", "dc2", "dc3"}) {
      replace(scope, "log");
      change_command_line(scope);
      sync(scope);
    }
  }
  /// Alone, three restarts and three inclusions are ten minutes apart each, and wait for the lock.
  void finish() {
    run_until(
        [&] {
          database.move_data();
          return all_restarted() && all_replaced();
        },
        3h);
    run(2min);
    EXPECT_EQ(times("exclude").size(), 12U);
    expect_once("exclude");
    expect_once("include");
    expect_once("kill");
    EXPECT_EQ(placed_on_doomed, 0);
    for (const auto& [scope, one] : operators) EXPECT_EQ(entries_of(scope), Texts()) << scope;
  }
};

using Switch = std::tuple<Mode, Mode, int>;

class ModeSwitchTest : public SettingsTest, public ::testing::WithParamInterface<Switch> {};
std::vector<Switch> switches() {
  const Mode modes[] = {Mode::local, Mode::shadow, Mode::global};
  std::vector<Switch> all;
  for (const Mode from : modes) {
    for (const Mode to : modes) {
      for (const int passes : {1, 7, 40}) {
        if (from == to || (evenkeel::tests::sanitized && passes != 7)) continue;
        all.emplace_back(from, to, passes);
      }
    }
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Of, ModeSwitchTest, ::testing::ValuesIn(switches()), [](const auto& of) {
  return std::string(text_of(std::get<0>(of.param))) + "_" + std::string(text_of(std::get<1>(of.param))) +
         "_after_" + std::to_string(std::get<2>(of.param));
});

// All instances, one after the other.
TEST_P(ModeSwitchTest, OfAllLosesNothingAndDoesNothingTwice) {
  const auto [from, to, passes] = GetParam();
  start(from);
  change_everything();
  for (int i = 0; i < passes; ++i) pass();
  for (const std::string scope : {"dc2", "dc1", "dc3"}) {
    operators[scope]->coordinator.set_mode(to);
    pass();
    if (to != Mode::local) continue;
    EXPECT_EQ(entries_of(scope), Texts()) << scope;
  }
  finish();
  for (const auto& [scope, one] : operators) {
    EXPECT_EQ(store->snapshot()->get("/db/instances/" + scope).has_value(), to != Mode::local) << scope;
  }
}

// One instance, there and back.
TEST_P(ModeSwitchTest, OfOneAndBackLosesNothingAndDoesNothingTwice) {
  const auto [from, to, passes] = GetParam();
  start(from);
  change_everything();
  for (int i = 0; i < passes; ++i) pass();
  operators["dc2"]->coordinator.set_mode(to);
  for (int i = 0; i < 5; ++i) pass();
  operators["dc2"]->coordinator.set_mode(from);
  finish();
}

// Others may still act for the instance, so it does not act alone before the store has its new mode.
TEST_F(SettingsTest, AnInstanceThatCannotAnnounceItsModeDoesNotActAlone) {
  for (const Mode to : {Mode::local, Mode::shadow}) {
    start(Mode::global);
    operators["dc1"]->mark("dc1-storage-4");
    pass();
    stores["dc1"]->set_cut(true);
    operators["dc1"]->coordinator.set_mode(to);
    run(10s);
    EXPECT_EQ(database.names(), Texts());
    EXPECT_EQ(operators["dc1"]->coordinator.waits()["exclusion"].why,
              "others may act for dc1: its record still has the mode global");
    EXPECT_EQ(operators["dc1"]->coordinator.waits().count("coordination"), 1U);
    EXPECT_NE(entries_of("dc1"), Texts());
    stores["dc1"]->set_cut(false);
    pass();
    EXPECT_EQ(database.names(), (Texts{"exclude"}));
    EXPECT_EQ(entries_of("dc1").empty(), to == Mode::local);
    store->commit({.range_erases = {prefix_range("/db/")}});
    database.calls.clear();
    clock->advance(10min);
    database.state = {};
    operators.clear();
  }
}

// A pass that began before the others acted for the instance.
TEST_F(SettingsTest, AnInstanceThatBecomesLocalDoesNotRepeatWhatWasDoneForIt) {
  start(Mode::global);
  change_everything();
  Operator& late = *operators["dc2"];
  pass();
  while (calls("exclude") == 0 && clock->now() < TimePoint{} + 1h) {
    late.coordinator.update_status(late.cluster, late.wanted);
    late.coordinator.operator_coordination(late.cluster);
    for (const std::string scope : {"dc1", "dc3"}) operators[scope]->pass();
    clock->advance(step);
  }
  EXPECT_EQ(times("exclude").size(), 12U) << "those of dc2, too";
  late.coordinator.set_mode(Mode::local);
  late.coordinator.operator_coordination(late.cluster);
  late.coordinator.exclude_processes(late.cluster);
  EXPECT_EQ(calls("exclude"), 1U);
  EXPECT_EQ(late.coordinator.waits()["exclusion"].why.substr(0, 12), "held by dc3,");
  finish();
}

// A run in mode local is not kept from the lock by the record of its predecessor.
TEST_F(SettingsTest, ALaterRunInModeLocalTakesTheLock) {
  start(Mode::global);
  pass();
  ProcessGroupOptions options = options_of("dc1", Mode::local, clock);
  options.identity.incarnation = "run-2";
  Operator later(database, stores["dc1"].get(), operators["dc1"]->cluster, options);
  crashed.insert("dc1");
  later.mark("dc1-storage-4");
  later.pass();
  EXPECT_EQ(database.names(), (Texts{"exclude"})) << later.reason("exclude");
  EXPECT_FALSE(store->snapshot()->get("/db/instances/dc1"));
}

TEST_F(SettingsTest, AModeThatNeedsAStoreIsRefusedWithoutOne) {
  ProcessGroupCoordinator alone(database, nullptr, options_of("dc1", Mode::local, clock));
  alone.set_mode(Mode::local);
  try {
    alone.set_mode(Mode::global);
    FAIL() << "not refused";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "ProcessGroupCoordinator: this mode needs a store");
  }
  try {
    alone.set_scope("");
    FAIL() << "not refused";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "ProcessGroupCoordinator: the scope must not be empty");
  }
}

// --- Scopes ---

class RenameTest : public SettingsTest, public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(After, RenameTest, ::testing::Values(0, 1, 7, 40));

// processGroupIDPrefix: kube-cluster-1 becomes unicorn, in the design.
TEST_P(RenameTest, MovesTheEntriesBeforeItPublishesAgain) {
  start(Mode::global);
  change_everything();
  for (int i = 0; i < GetParam(); ++i) pass();
  const std::size_t before = entries_of("dc2").size();
  operators["dc2"]->coordinator.set_scope("unicorn");
  Operator& renamed = *operators["dc2"];
  renamed.coordinator.update_status(renamed.cluster, renamed.wanted);
  renamed.coordinator.operator_coordination(renamed.cluster);
  if (GetParam() > 0) {
    ASSERT_TRUE(renamed.coordinator.migration());
    EXPECT_EQ(renamed.coordinator.migration()->transactions, 1U);
    EXPECT_EQ(renamed.coordinator.migration()->members, before);
  }
  EXPECT_EQ(entries_of("dc2"), Texts());
  pass();
  EXPECT_FALSE(renamed.coordinator.migration()) << "once";
  finish();
  EXPECT_EQ(entries_of("unicorn"), Texts());
  EXPECT_EQ(entries_of("dc2"), Texts());
  EXPECT_TRUE(decode_lock(store->snapshot()->get("/db/arbiter/lock")->value).is_free());
}

// The new prefix belongs to another instance: nothing is published, and the reason is reported.
TEST_F(SettingsTest, AScopeThatIsTakenIsNotUsed) {
  start(Mode::global);
  change_everything();
  pass();
  const Texts before = entries_of("dc2");
  operators["dc2"]->coordinator.set_scope("dc3");
  pass();
  EXPECT_EQ(operators["dc2"]->coordinator.waits()["coordination"].why,
            "cannot move to the scope dc3: dc3 belongs to the instance uid-dc3");
  EXPECT_EQ(entries_of("dc2"), before);
  operators["dc2"]->coordinator.set_scope("dc2");
  finish();
}

// A run that was paused while its successor moved the scope does not move anything.
TEST_F(SettingsTest, ARunThatWasSucceededMovesNothing) {
  start(Mode::global);
  change_everything();
  pass();
  ProcessGroupOptions options = options_of("dc2", Mode::global, clock);
  options.identity.incarnation = "run-2";
  Operator later(database, stores["dc2"].get(), operators["dc2"]->cluster, options);
  later.pass();
  later.coordinator.set_scope("unicorn");
  later.pass();
  const Texts moved = entries_of("unicorn");
  EXPECT_NE(moved, Texts());
  Operator& paused = *operators["dc2"];
  paused.coordinator.set_scope("pegasus");
  paused.pass();
  EXPECT_EQ(entries_of("unicorn"), moved);
  EXPECT_EQ(entries_of("pegasus"), Texts());
  EXPECT_EQ(paused.coordinator.waits()["coordination"].why,
            "scope dc2: a later run of this instance (run-2) has taken over, and moved to unicorn");
}

// A change of the prefix that happened while the process was down.
TEST_F(SettingsTest, ALaterRunMovesTheEntriesOfItsPredecessor) {
  start(Mode::global);
  change_everything();
  pass();
  const std::size_t before = entries_of("dc2").size();
  ProcessGroupOptions options = options_of("unicorn", Mode::global, clock);
  options.identity.instance = "uid-dc2";
  options.identity.incarnation = "run-2";
  Operator later(database, stores["dc2"].get(), operators["dc2"]->cluster, options);
  crashed.insert("dc2");
  later.pass();
  ASSERT_TRUE(later.coordinator.migration());
  EXPECT_EQ(later.coordinator.migration()->members, before);
  EXPECT_EQ(entries_of("dc2"), Texts());
  EXPECT_NE(entries_of("unicorn"), Texts());
}

// Mode and prefix in one change of the resource.
TEST_F(SettingsTest, ARenamedInstanceThatBecomesLocalLeavesNothing) {
  start(Mode::global);
  change_everything();
  pass();
  operators["dc2"]->coordinator.set_scope("unicorn");
  operators["dc2"]->coordinator.set_mode(Mode::local);
  pass();
  EXPECT_EQ(entries_of("dc2"), Texts());
  EXPECT_EQ(entries_of("unicorn"), Texts());
  finish();
}

}  // namespace
}  // namespace evenkeel::coordination
