// SPDX-License-Identifier: Apache-2.0
// Managers that share the keys of a controller, several in one process with one API server core.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/api/kinds/coordination.hpp>
#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/stop.hpp>
#include <evenkeel/serve/server.hpp>

#include "manager/world.hpp"
#include "sharding/shard_table.hpp"

namespace evenkeel::shards_manager {
namespace {

using namespace std::chrono_literals;

/// Records the runs of all managers, and finds keys that run twice at the same time.
class Ledger {
 public:
  void began(const std::string& key, const std::string& by, std::uint64_t term) {
    MutexLock lock(mutex_);
    if (!running_.insert(key).second) ++twice_;
    last_[key] = by;
    ++runs_[key];
    terms_[key] = std::max(terms_[key], term);
  }
  void ended(const std::string& key) {
    MutexLock lock(mutex_);
    running_.erase(key);
  }
  std::size_t keys() const {
    MutexLock lock(mutex_);
    return runs_.size();
  }
  std::map<std::string, int> by_replica() const {
    MutexLock lock(mutex_);
    std::map<std::string, int> counts;
    for (const auto& [key, by] : last_) ++counts[by];
    return counts;
  }
  int twice() const {
    MutexLock lock(mutex_);
    return twice_;
  }
  std::uint64_t term(const std::string& key) const {
    MutexLock lock(mutex_);
    const auto found = terms_.find(key);
    return found == terms_.end() ? 0 : found->second;
  }

 private:
  mutable Mutex mutex_;
  std::set<std::string> running_ EVENKEEL_GUARDED_BY(mutex_);
  std::map<std::string, std::string> last_ EVENKEEL_GUARDED_BY(mutex_);
  std::map<std::string, int> runs_ EVENKEEL_GUARDED_BY(mutex_);
  std::map<std::string, std::uint64_t> terms_ EVENKEEL_GUARDED_BY(mutex_);
  int twice_ EVENKEEL_GUARDED_BY(mutex_) = 0;
};

class ShardsManagerConcurrency : public ::testing::Test {
 protected:
  ShardsManagerConcurrency() { world.install_crd(); }

  ManagerOptions options(const std::string& identity) const {
    ManagerOptions options = world.options();
    options.shards = ShardOptions{.name = "op", .namespace_ = "default", .identity = identity, .slots = 16};
    options.election_client = world.client();
    return options;
  }
  ControllerSpec spec(const std::string& by) {
    return controller_for<Gadget>([this, by](Context& context, const Gadget& gadget) {
      const std::string key = context.key().str();
      ledger.began(key, by, context.term().value_or(0));
      context.patch_status(gadget, [](GadgetStatus& status) { status.ready_replicas = 1; });
      ledger.ended(key);
      return done();
    });
  }
  void create(int count) const {
    for (int i = 0; i < count; ++i) world.create_gadget("gadget-" + std::to_string(i));
  }
  static std::size_t owned(const Manager& manager) { return manager.shards()->status().owned; }
  static std::string explanation(const Manager& manager, std::string_view rest) {
    const http::Request request;
    const http::Target target;
    return manager.answer_explain({.request = request, .target = target, .rest = rest}).body;
  }

  World world;
  Ledger ledger;
};

TEST_F(ShardsManagerConcurrency, ReplicasShareTheKeysAndHandThemOver) {
  create(40);
  Manager first(world.client(), options("first"));
  first.add(spec("first"));
  Running one(first);
  world.wait_until([&] { return ledger.keys() == 40 && owned(first) == 16; });
  const std::uint64_t before = ledger.term("default/gadget-0");
  EXPECT_GT(before, 0U);

  Manager second(world.client(), options("second"));
  second.add(spec("second"));
  Running two(second);
  world.wait_until([&] { return owned(first) == 8 && owned(second) == 8; });
  world.wait_until([&] { return ledger.by_replica()["second"] > 0; });
  EXPECT_GT(ledger.by_replica()["first"], 0);

  two.stop();
  world.wait_until([&] { return owned(first) == 16; });
  world.wait_until([&] { return ledger.by_replica()["first"] == 40; });
  EXPECT_EQ(ledger.twice(), 0);
  one.stop();
  EXPECT_EQ(first.shards()->status().owned, 0U);
}

TEST_F(ShardsManagerConcurrency, AnExplanationNamesTheOwnerOfAKey) {
  create(40);
  Manager first(world.client(), options("first"));
  Manager second(world.client(), options("second"));
  first.add(spec("first"));
  second.add(spec("second"));
  Running one(first);
  Running two(second);
  world.wait_until([&] { return owned(first) == 8 && owned(second) == 8; });
  // The first replica reads the last change of the table after the second one.
  world.wait_until([&] {
    for (int i = 0; i < 40; ++i) {
      const std::string text = explanation(first, "gadget/default/gadget-" + std::to_string(i));
      if (text.find("of 16 belongs to replica op-second-") != std::string::npos) return true;
    }
    return false;
  });
}

TEST_F(ShardsManagerConcurrency, AReplicaOfAnotherDivisionWaitsUntilTheOthersHaveStopped) {
  create(40);
  Manager first(world.client(), options("first"));
  first.add(spec("first"));
  Running one(first);
  world.wait_until([&] { return owned(first) == 16 && ledger.keys() == 40; });
  ManagerOptions other = options("second");
  other.shards->by = ShardBy::namespace_;
  Manager second(world.client(), other);
  second.add(spec("second"));
  Running two(second);
  const std::string problem =
      "Lease default/op: label sharding.evenkeel.dev/division: the ring divides its keys by object, this "
      "replica by namespace; it runs none until all replicas that divide by object have stopped: give all "
      "replicas the same ShardOptions::by and label, or stop those";
  world.wait_for_line("the table of the ring cannot be used ring=default/op error=" + problem);
  EXPECT_EQ(second.shards()->unready(), problem);
  const std::string text = explanation(second, "gadget/default/gadget-0");
  EXPECT_NE(text.find("this replica takes no part in the ring op: " + problem), std::string::npos) << text;
  EXPECT_EQ(owned(first), 16U);
  EXPECT_EQ(owned(second), 0U);

  one.stop();
  world.wait_until([&] { return owned(second) == 16; });
  EXPECT_EQ(second.shards()->unready(), "");
  world.wait_until([&] { return ledger.by_replica()["second"] == 40; });
  EXPECT_EQ(ledger.twice(), 0);
}

TEST_F(ShardsManagerConcurrency, AWatchThatIsGoneIsFollowedByAListAndGoesOn) {
  create(40);
  world.core->inject(
      {.verb = "watch", .resource = "leases", .count = 1, .status = 410, .cut_after_events = 1});
  Manager first(world.client(), options("first"));
  first.add(spec("first"));
  Running one(first);
  world.wait_until([&] { return owned(first) == 16 && ledger.keys() == 40; });
  Manager second(world.client(), options("second"));
  second.add(spec("second"));
  Running two(second);
  world.wait_until([&] { return owned(first) == 8 && owned(second) == 8; });
  EXPECT_EQ(ledger.twice(), 0);
}

TEST_F(ShardsManagerConcurrency, ARunningReconcileDelaysTheHandOverAndIsCancelledAfterTheTimeout) {
  create(40);
  ManagerOptions quick = options("first");
  quick.shards->hand_over_timeout = 10ms;
  Manager first(world.client(), quick);
  std::atomic<int> begun = 0;
  std::atomic<int> cancelled = 0;
  first.add(controller_for<Gadget>([&](Context& context, const Gadget&) {
              ++begun;
              context.log().info("begun");
              sleep_until(context.clock(), TimePoint::max(), context.stop());
              ++cancelled;
              context.log().info("cancelled");
              return done();
            }).with({.workers = 40}));
  Running one(first);
  world.wait_until([&] { return owned(first) == 16 && begun == 40; });
  Manager second(world.client(), options("second"));
  second.add(spec("second"));
  Running two(second);
  world.wait_until([&] { return owned(second) == 8; });
  EXPECT_GT(cancelled.load(), 0);
  world.wait_until([&] { return ledger.keys() > 0; });
  world.wait_until([&] { return first.shards()->status().draining == 0; });
}

TEST_F(ShardsManagerConcurrency, ATakenLeaseEndsTheMembershipAndTheReplicaJoinsAgain) {
  create(40);
  Manager first(world.client(), options("first"));
  first.add(spec("first"));
  Running one(first);
  world.wait_until([&] { return owned(first) == 16; });
  const std::string member = first.shards()->status().member;
  world.patch("/apis/coordination.k8s.io/v1/namespaces/default/leases/" + member,
              R"({"spec":{"holderIdentity":""}})");
  world.wait_until([&] {
    const ShardsStatus status = first.shards()->status();
    return status.owned == 16 && status.member != member;
  });
  EXPECT_EQ(first.shards()->status().lost, 16U);
  EXPECT_EQ(first.shards()->problem(), "");
}

// A key is in another slot then, which may have another owner.
TEST_F(ShardsManagerConcurrency, ATableWithMoreSlotsRunsNoKeyBeforeTheRunsOfTheOldSlotsHaveEnded) {
  const auto clock = std::make_shared<ManualClock>();
  World timed({}, clock);
  Shards shards(timed.client(), *options("first").shards);
  std::jthread thread([&shards](const std::stop_token& stop) { shards.run(stop); });
  timed.wait_until([&] { return shards.status().owned == 16; });
  const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases/";
  const std::string own = leases + shards.status().member;
  std::optional<ShardRun> run = shards.begin("default", "busy");
  ASSERT_TRUE(run);
  const std::stop_callback on_stop(run->stop(), [&timed] { timed.happenings->note(); });

  const std::vector<detail::SlotEntry> slots(32, {shards.status().member, "", 9});
  const std::string table = detail::ShardTable{.slots = slots}.text();
  const Json change = Json::object(
      {{"metadata",
        Json::object({{"annotations", Json::object({{detail::ShardTable::annotation, table}})}})}});
  timed.patch(leases + "op", change.dump());
  timed.wait_until([&] { return run->stop().stop_requested(); });
  // The table is followed after a lease_duration. Each step is longer than a retry_period.
  for (Duration passed{}; passed < 20s; passed += 4s) {
    const Json before = timed.get(own);
    clock->advance(4s);
    timed.wait_until([&] { return timed.get(own) != before; });
  }
  EXPECT_EQ(shards.status().owned, 0U);
  const auto runnable = [&shards] {
    int count = 0;
    for (int i = 0; i < 40; ++i) count += shards.owns("default", std::to_string(i)) ? 1 : 0;
    return count;
  };
  EXPECT_EQ(runnable(), 0);

  run.reset();
  timed.wait_until([&] { return shards.status().owned == 32; });
  EXPECT_EQ(runnable(), 40);
}

TEST_F(ShardsManagerConcurrency, RefusesAnElectionBesideShardsAndTasksOfALeader) {
  ManagerOptions both = options("first");
  both.election = ElectionOptions{.name = "op"};
  try {
    const Manager manager(world.client(), both);
    ADD_FAILURE();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "ManagerOptions: election and shards exclude each other: with shards all replicas work");
  }
  Manager manager(world.client(), options("first"));
  try {
    manager.add_task(
        "clean", [](std::stop_token) {}, RunsOn::leader);
    ADD_FAILURE();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "Manager: task clean: with shards there is no leader to run it");
  }
}

}  // namespace
}  // namespace evenkeel::shards_manager
