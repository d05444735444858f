// SPDX-License-Identifier: Apache-2.0
// Upgrades to a version that cannot communicate with the running one: "with a pending upgrade" of the
// FoundationDB operator's bounce_processes_test.go, and the deny list of update_lock_configuration_test.go.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/coordination/deny_list.hpp>
#include <evenkeel/coordination/lease_lock.hpp>
#include <evenkeel/coordination/memory_store.hpp>
#include <evenkeel/coordination/process_groups/upgrades.hpp>

#include "world.hpp"

namespace evenkeel::coordination {
namespace {

using namespace tests;
using Texts = std::vector<std::string>;

class UpgradeTest : public ::testing::TestWithParam<Mode> {
 protected:
  UpgradeTest() {
    database.state = status_of(default_cluster());
    instance.cluster.running_version = "7.1.57";
    instance.cluster.version = "7.3.0";
    for (ProcessGroup& group : instance.cluster.process_groups) {
      group.set(condition::incorrect_command_line, wall_start);
    }
  }
  GroupIds registered(std::string_view version = "7.3.0") { return registry.registered(version); }

  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>(wall_start);
  MemoryStore store;
  FakeDatabase database{clock};
  Operator instance{database, &store, default_cluster(), options_of("dc1", GetParam(), clock)};
  UpgradeRegistry registry{store, Layout("/db"), "uid-dc2", {.delay = Duration::zero(), .clock = clock}};
};
INSTANTIATE_TEST_SUITE_P(In, UpgradeTest, ::testing::Values(Mode::local, Mode::global),
                         [](const auto& mode) { return std::string(text_of(mode.param)); });

// Two commands, no window, and the status is read again.
TEST_P(UpgradeTest, RestartsAllProcessesTwice) {
  instance.pass();
  EXPECT_EQ(instance.reason("bounce"), "fetch latest status after upgrade");
  EXPECT_EQ(instance.answers.at("bounce").kind(), Step::Kind::stop);
  EXPECT_EQ(database.names(), (Texts{"kill", "kill"}));
  EXPECT_EQ(database.killed.size(), 17U);
  EXPECT_EQ(registered(), GroupIds()) << "what was registered is forgotten";
}

TEST_P(UpgradeTest, WaitsForProcessesOfOthers) {
  database.state.processes.push_back({.address = "1.2.3.4:4501",
                                      .process_class = "storage",
                                      .locality = {{"instance_id", "dc2-storage-1"}},
                                      .version = "7.1.57",
                                      .uptime = 60000s});
  instance.pass();
  EXPECT_EQ(instance.reason("bounce"), "Waiting for processes to be updated: [dc2-storage-1]");
  EXPECT_EQ(registered().size(), 17U);
  registry.add("7.1.58", {"dc2-storage-1"});
  instance.pass();
  EXPECT_EQ(database.calls.size(), 0U) << "that was for another version";
  registry.add("7.3.0", {"dc2-storage-1"});
  instance.pass();
  EXPECT_EQ(database.killed.size(), 18U);
}

TEST_P(UpgradeTest, RegistersNothingBeforeItsOwnAreReady) {
  const std::string id = "storage-1";
  instance.cluster.find(id)->set(condition::incorrect_sidecar_image, wall_start);
  instance.pass();
  EXPECT_EQ(instance.reason("bounce"), "expected 17 processes, got 16 processes ready to restart");
  EXPECT_EQ(registered(), GroupIds());
  EXPECT_EQ(database.calls.size(), 0U);
}

// Another instance restarted all processes while this one's pass continued with the old status.
TEST_P(UpgradeTest, WithdrawsWhatItRegisteredTooLate) {
  registry.add("7.3.0", {"dc2-storage-1"});
  database.state.processes.push_back({.address = "1.2.3.4:4501",
                                      .process_class = "storage",
                                      .locality = {{"instance_id", "dc2-storage-2"}},
                                      .version = "7.1.57",
                                      .uptime = 60000s});
  instance.pass();
  ASSERT_EQ(registered().size(), 18U);
  instance.cluster.running_version = "7.3.0";
  for (ProcessGroup& group : instance.cluster.process_groups) group.clear(condition::incorrect_command_line);
  instance.pass();
  EXPECT_EQ(registered(), (GroupIds{"dc2-storage-1"})) << "that is another's";
  const Version version = store.version();
  instance.pass();
  EXPECT_EQ(store.version(), version);
}

TEST_P(UpgradeTest, WaitsForTheLock) {
  LeaseLock other(store, Layout("/db"), {"dc2", "uid-dc2", "run-1"}, {},
                  {.delay = Duration::zero(), .clock = clock});
  ASSERT_TRUE(other.take().is_held());
  instance.pass();
  EXPECT_EQ(database.calls.size(), 0U);
  EXPECT_NE(instance.reason("bounce").find("dc2"), std::string::npos) << instance.reason("bounce");
  ASSERT_TRUE(other.release());
  instance.pass();
  EXPECT_EQ(database.names(), (Texts{"kill", "kill"}));
}

/// A store that answers a commit of the lock eleven minutes of `clock` later: the process is paused after it
/// has taken the lock.
class PausedAfterTheLock final : public Store {
 public:
  PausedAfterTheLock(Store& inner, std::shared_ptr<ManualClock> clock)
      : inner_(inner), clock_(std::move(clock)) {}
  std::string name() const override { return "paused"; }
  Capabilities capabilities() const override { return inner_.capabilities(); }
  Limits limits() const override { return inner_.limits(); }
  std::unique_ptr<StoreSnapshot> snapshot(std::stop_token stop) override { return inner_.snapshot(stop); }
  CommitResult commit(const Commit& commit, std::stop_token stop) override {
    CommitResult result = inner_.commit(commit, stop);
    const bool locks = std::ranges::any_of(
        commit.puts, [](const Commit::Put& put) { return put.key == Layout("/db").lock(); });
    if (locks) clock_->advance(11min);
    return result;
  }

 private:
  Store& inner_;
  const std::shared_ptr<ManualClock> clock_;
};

// It kills nothing without an epoch, and what others have registered stays.
TEST_P(UpgradeTest, RestartsNothingWithALockThatHasExpired) {
  PausedAfterTheLock paused(store, clock);
  Operator sleeper(database, &paused, instance.cluster, options_of("dc1", GetParam(), clock));
  sleeper.pass();
  EXPECT_EQ(sleeper.reason("bounce"), "the lock has expired");
  EXPECT_TRUE(database.calls.empty());
  EXPECT_EQ(registered().size(), 17U);
}

// "with locks disabled": only its own processes, and nothing is registered.
TEST(Upgrade, WithoutAStoreIsOnesOwn) {
  const auto clock = std::make_shared<ManualClock>(wall_start);
  FakeDatabase database{clock};
  database.state = status_of(default_cluster());
  Operator instance(database, nullptr, default_cluster(), options_of("dc1", Mode::local, clock));
  instance.cluster.running_version = "7.1.57";
  instance.cluster.version = "7.3.0";
  for (ProcessGroup& group : instance.cluster.process_groups)
    group.set(condition::incorrect_command_line, wall_start);
  instance.pass();
  EXPECT_EQ(database.killed.size(), 17U);
}

TEST(UpgradeRegistry, KeepsVersionsApartAndWritesOnce) {
  MemoryStore store;
  const TransactOptions quick{.delay = Duration::zero()};
  UpgradeRegistry one(store, Layout("/db"), "one", quick);
  UpgradeRegistry two(store, Layout("/db"), "two", quick);
  one.add("7.3.0", {"a", "b"});
  const Version before = store.version();
  one.add("7.3.0", {"a", "b"});
  EXPECT_EQ(store.version(), before);
  two.add("7.3", {"c"});
  EXPECT_EQ(one.registered("7.3.0"), (GroupIds{"a", "b"}));
  EXPECT_EQ(one.registered("7.3"), (GroupIds{"c"}));
  two.clear();
  EXPECT_EQ(one.registered("7.3.0"), GroupIds());
  EXPECT_EQ(one.registered("7.3"), GroupIds());
}

// --- update_lock_configuration_test.go ---

class LockConfigurationTest : public ::testing::Test {
 protected:
  LockConfigurationTest() { database.state = status_of(default_cluster()); }
  Texts denied() {
    Texts out;
    for (const Denied& one : list.list()) out.push_back(one.scope);
    return out;
  }
  void configure(const std::vector<DenyListEntry>& wanted) {
    EXPECT_EQ(instance.coordinator.update_lock_configuration(wanted).kind(), Step::Kind::go_on);
  }

  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>(wall_start);
  MemoryStore store;
  FakeDatabase database{clock};
  Operator instance{database, &store, default_cluster(), options_of("dc1", Mode::global, clock)};
  DenyList list{store, Layout("/db"), "test", {.delay = Duration::zero(), .clock = clock}};
};

TEST_F(LockConfigurationTest, WithoutEntriesWritesNothing) {
  configure({});
  EXPECT_EQ(store.version(), 0U);
}

TEST_F(LockConfigurationTest, Denies) {
  configure({{"dc2"}});
  EXPECT_EQ(denied(), (Texts{"dc2"}));
}

TEST_F(LockConfigurationTest, AllowsAgainWhomItNames) {
  list.apply({{"dc2"}, {"dc3"}});
  configure({{"dc2", true}});
  EXPECT_EQ(denied(), (Texts{"dc3"}));
}

// 'denied stays out': the lock is free, and the denied instance does not get it.
TEST_F(LockConfigurationTest, ADeniedInstanceDisturbsNothing) {
  list.apply({{"dc1"}});
  instance.mark("log-1");
  instance.pass();
  clock->advance(31s);
  instance.pass();
  EXPECT_EQ(database.calls.size(), 0U);
  EXPECT_EQ(instance.reason("exclude"), "dc1 is on the deny list");
  configure({{"dc1", true}});
  instance.pass();
  EXPECT_EQ(database.names(), (Texts{"exclude"}));
}

}  // namespace
}  // namespace evenkeel::coordination
