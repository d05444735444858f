// SPDX-License-Identifier: Apache-2.0
// The cores of simulations: the network's and the storm's decisions, the order of events, the invariants.
#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/base/error.hpp>

#include "testing/simulation/network_core.hpp"
#include "testing/simulation/schedule.hpp"
#include "testing/simulation/simulated_clock.hpp"
#include "testing/simulation/simulated_server.hpp"
#include "testing/simulation/simulation_audit.hpp"
#include "testing/simulation/simulation_trace.hpp"
#include "testing/simulation/storm_core.hpp"
#include "testing/simulation/swarm.hpp"

namespace evenkeel::testing {
namespace {

using namespace std::chrono_literals;
using detail::SimulatedFault;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// ---- Network

detail::NetworkOptions network(const SimulationRates& rates) {
  return {.rates = rates, .machines = 2, .least_latency = 1ms, .most_latency = 2ms, .seed = 1};
}

TEST(NetworkCore, DelaysWithinItsBoundsWithoutFaults) {
  detail::NetworkCore core(network({}));
  for (int count = 0; count < 100; ++count) {
    const detail::RequestFate fate = core.on_request(0, true, 0s);
    EXPECT_EQ(fate.loss, detail::RequestFate::Loss::none);
    EXPECT_EQ(fate.refused, 0);
    EXPECT_GE(fate.there, 1ms);
    EXPECT_LE(fate.back, 2ms);
  }
}

TEST(NetworkCore, CountsEachFaultThatItDecides) {
  detail::NetworkCore core(
      network({.lose_request = 0.2, .lose_answer = 0.2, .refuse = 0.2, .slow = 0.2, .crash_at_write = 0.2}));
  std::uint64_t lost = 0;
  std::uint64_t refused = 0;
  std::uint64_t crashed = 0;
  for (int count = 0; count < 200; ++count) {
    const detail::RequestFate fate = core.on_request(1, true, 0s);
    lost += fate.loss != detail::RequestFate::Loss::none ? 1 : 0;
    refused += fate.refused != 0 ? 1 : 0;
    crashed += fate.crash != detail::RequestFate::Crash::none ? 1 : 0;
    EXPECT_LE(fate.there, 3500ms);
  }
  EXPECT_EQ(core.counts().of(SimulatedFault::lose_request) + core.counts().of(SimulatedFault::lose_answer),
            lost);
  EXPECT_EQ(core.counts().of(SimulatedFault::refuse), refused);
  EXPECT_EQ(core.counts().of(SimulatedFault::crash_at_write), crashed);
  EXPECT_GT(lost, 0U);
  EXPECT_GT(crashed, 0U);
  EXPECT_GT(core.counts().of(SimulatedFault::slow), 0U);
}

TEST(NetworkCore, CrashesAtWritesOnly) {
  detail::NetworkCore core(network({.crash_at_write = 1}));
  EXPECT_EQ(core.on_request(0, false, 0s).crash, detail::RequestFate::Crash::none);
  EXPECT_NE(core.on_request(0, true, 0s).crash, detail::RequestFate::Crash::none);
}

TEST(NetworkCore, APartitionConcernsOneMachineUntilItsEnd) {
  detail::NetworkCore core(network({}));
  core.cut_off(0, 10s);
  EXPECT_EQ(core.on_request(0, false, 9s).loss, detail::RequestFate::Loss::request);
  EXPECT_FALSE(core.on_answer(0, 9s));
  EXPECT_GE(core.on_piece(0, 10, 4s).delay, 6s);
  EXPECT_EQ(core.on_request(1, false, 9s).loss, detail::RequestFate::Loss::none);
  EXPECT_EQ(core.on_request(0, false, 10s).loss, detail::RequestFate::Loss::none);
  EXPECT_EQ(core.counts().of(SimulatedFault::partitions), 1U);
}

TEST(NetworkCore, CutsAtAnyByteOfAPiece) {
  detail::NetworkCore core(network({.cut = 1}));
  bool first = false;
  bool last = false;
  for (int count = 0; count < 100; ++count) {
    const auto at = core.on_piece(0, 3, 0s).cut_at;
    ASSERT_TRUE(at);
    EXPECT_LE(*at, 3U);
    first = first || *at == 0;
    last = last || *at == 3;
  }
  EXPECT_TRUE(first && last);
}

TEST(NetworkCore, DisturbsNobodyElseAndNothingOnceItIsCalm) {
  detail::NetworkCore core(network({.lose_request = 1, .silence = 1}));
  EXPECT_EQ(core.on_request(2, true, 0s).loss, detail::RequestFate::Loss::none);
  EXPECT_FALSE(core.on_piece(2, 1, 0s).silent);
  EXPECT_TRUE(core.on_piece(0, 1, 0s).silent);
  core.cut_off(0, 10s);
  core.calm();
  EXPECT_EQ(core.on_request(0, true, 0s).loss, detail::RequestFate::Loss::none);
  EXPECT_TRUE(core.on_answer(0, 0s));
}

// ---- Storm

TEST(StormCore, StrikesAtItsTimes) {
  detail::StormCore core({.rates = {.pauses = 60}, .machines = 2, .seed = 3});
  std::size_t strikes = 0;
  Duration now{};
  while (now < 1h) {
    ASSERT_TRUE(core.next_due());
    EXPECT_GE(*core.next_due(), now);
    now = *core.next_due();
    const auto strike = core.next_strike(now);
    ASSERT_TRUE(strike);
    EXPECT_EQ(strike->fault, SimulatedFault::pauses);
    EXPECT_LT(strike->machine, 2U);
    EXPECT_GT(strike->length, 0s);
    EXPECT_LE(strike->length, 1min);
    ++strikes;
  }
  EXPECT_GT(strikes, 60U);
  EXPECT_LT(strikes, 240U);
  core.calm();
  EXPECT_FALSE(core.next_due());
  EXPECT_FALSE(core.next_strike(now + 1h));
}

TEST(Swarm, DrawsRunsWithoutSomeOfTheFaults) {
  detail::SimulationRandom random(1);
  std::size_t without = 0;
  std::size_t with = 0;
  for (int count = 0; count < 300; ++count) {
    const SimulationRates rates = detail::draw_rates(random);
    detail::check_rates(rates, "drawn");
    (rates.partitions == 0 ? without : with) += 1;
  }
  EXPECT_GT(without, 60U);
  EXPECT_GT(with, 150U);
}

TEST(Swarm, DrawsTheOthersAsUsualIfAFaultIsLeftOut) {
  detail::SimulationRandom random(7);
  detail::SimulationRandom same(7);
  for (int count = 0; count < 20; ++count) {
    SimulationRates rates = detail::draw_rates(random);
    const SimulationRates all = detail::draw_rates(same);
    detail::leave_out(rates, {"clock_jumps", "lose_answer"});
    EXPECT_EQ(rates.clock_jumps, 0);
    EXPECT_EQ(rates.lose_answer, 0);
    EXPECT_EQ(rates.drift, all.drift);
    EXPECT_EQ(rates.crashes, all.crashes);
  }
}

// ---- Time

TEST(Schedule, TakesEventsInTheOrderOfTime) {
  detail::Schedule schedule(1);
  std::vector<int> order;
  for (const int second : {3, 1, 2}) schedule.at(second * 1s, [&order, second] { order.push_back(second); });
  while (!schedule.empty()) schedule.take()();
  EXPECT_THAT(order, ElementsAre(1, 2, 3));
  EXPECT_EQ(schedule.now(), 3s);
  schedule.at(1s, [] {});
  EXPECT_EQ(schedule.next_due(), 3s);
}

TEST(Schedule, DrawsTheOrderOfEventsOfTheSameTime) {
  const auto order_of = [](std::uint64_t seed) {
    detail::Schedule schedule(seed);
    std::string order;
    for (const char one : std::string("abcdef")) schedule.at(1s, [&order, one] { order += one; });
    while (!schedule.empty()) schedule.take()();
    return order;
  };
  EXPECT_EQ(order_of(1), order_of(1));
  EXPECT_NE(order_of(1), order_of(2));
}

TEST(SimulatedClock, RunsAtItsOwnRate) {
  detail::Schedule schedule(1);
  detail::SimulatedClock clock(schedule, WallTime(), 5h, -20'000);
  schedule.at(100s, [] {});
  schedule.take()();
  EXPECT_EQ(clock.now().time_since_epoch(), 5h + 98s);
  EXPECT_EQ(clock.wall_now(), WallTime(98s));
  clock.jump(-1h);
  EXPECT_EQ(clock.wall_now(), WallTime(98s - 1h));
  EXPECT_EQ(clock.now().time_since_epoch(), 5h + 98s);
}

TEST(SimulatedClock, FindsTheFirstTimeAtWhichItShowsATime) {
  detail::Schedule schedule(1);
  for (const std::int64_t ppm : {-50'000, -1, 0, 1, 37, 50'000}) {
    const detail::SimulatedClock clock(schedule, WallTime(), 1h, ppm);
    for (const Duration later : {Duration(1), Duration(999'999'937), Duration(3600s)}) {
      const TimePoint wanted(1h + later);
      const Duration found = clock.simulated(wanted);
      detail::Schedule other(1);
      const detail::SimulatedClock same(other, WallTime(), 1h, ppm);
      other.at(found - Duration(1), [] {});
      if (found > Duration(1)) other.take()();
      EXPECT_LT(same.now(), wanted) << ppm;
      other.at(found, [] {});
      while (!other.empty()) other.take()();
      EXPECT_GE(same.now(), wanted) << ppm;
    }
  }
}

TEST(SimulatedClock, RefusesToWaitWhereNothingCanEndTheWait) {
  detail::Schedule schedule(1);
  const detail::SimulatedClock clock(schedule, WallTime());
  Mutex mutex;
  CondVar never;
  MutexLock lock(mutex);
  EXPECT_THROW(clock.wait(never, lock), Error);
}

TEST(SimulationTrace, KeepsTheLinesBeforeTheFirstProblem) {
  detail::SimulationTrace trace(2);
  for (const char* const line : {"one", "two", "three"}) trace.add(1s, "replica-1/1", line);
  const std::uint64_t before = trace.fingerprint();
  trace.stop();
  trace.add(2s, "replica-1/1", "four");
  EXPECT_EQ(trace.str(), "    1.0000s  replica-1/1  two\n    1.0000s  replica-1/1  three\n");
  EXPECT_NE(trace.fingerprint(), before);
}

TEST(SimulatedServer, FindsTheCollectionOfARequest) {
  EXPECT_EQ(detail::collection_path("/api/v1/namespaces/default/pods/web?x=y"), "/api/v1/pods");
  EXPECT_EQ(detail::collection_path("/apis/apps/v1/namespaces/default/deployments/web/status"),
            "/apis/apps/v1/deployments");
  EXPECT_EQ(detail::collection_path("/api/v1/namespaces/default"), "/api/v1/namespaces");
  EXPECT_EQ(detail::collection_path("/api/v1/nodes/one/status"), "/api/v1/nodes");
  EXPECT_EQ(detail::collection_path("/version"), "");
}

// ---- Invariants

Json object(const std::string& name, const std::string& uid, const std::string& version) {
  return Json::parse(R"({"metadata":{"namespace":"default","name":")" + name + R"(","uid":")" + uid +
                     R"(","resourceVersion":")" + version + R"("}})");
}

detail::CachedState state(const std::string& version, const std::string& uid = "u1") {
  return {.key = "default/web", .uid = uid, .version = version};
}

class SimulationAudit : public ::testing::Test {
 protected:
  SimulationAudit() {
    audit.on_change("pods", "ADDED", object("web", "u1", "10"), 1s);
    audit.on_change("pods", "MODIFIED", object("web", "u1", "20"), 2s);
  }
  void holds(const std::string& holder) {
    Json lease = object("op", "u9", std::to_string(++version_));
    lease["spec"]["holderIdentity"] = holder;
    audit.on_change("leases.coordination.k8s.io", "MODIFIED", lease, 2s);
  }
  detail::ArrivedWrite write(const std::string& process) {
    return {.process = process,
            .text = "create pods default/web-*",
            .request = "POST pods",
            .creates = true,
            .applied = true,
            .runs = 1,
            .needs_lease = true,
            .lease = "default/op"};
  }
  detail::SimulationAudit audit;

 private:
  int version_ = 100;
};

TEST_F(SimulationAudit, AcceptsACacheThatFollowsTheServer) {
  audit.on_cached("a", "c", "pods", state("10"), 3s);
  audit.on_cached("a", "c", "pods", state("20"), 3s);
  audit.check_caches(4s);
  EXPECT_THAT(audit.problems(), IsEmpty());
  EXPECT_EQ(audit.changes(), 2U);
  EXPECT_EQ(audit.changed_at(), 2s);
}

TEST_F(SimulationAudit, RefusesAStateThatTheServerNeverHad) {
  audit.on_cached("a", "c", "pods", state("15"), 3s);
  EXPECT_THAT(audit.problems(),
              ElementsAre("3.0000s: the cache of a shows a state that the server never had: pods "
                          "default/web at version 15"));
}

TEST_F(SimulationAudit, RefusesACacheThatGoesBack) {
  audit.on_cached("a", "c", "pods", state("20"), 3s);
  audit.on_cached("a", "c", "pods", state("10"), 4s);
  EXPECT_THAT(audit.problems(),
              ElementsAre("4.0000s: the cache of a went back: pods default/web from version 20 to 10"));
}

TEST_F(SimulationAudit, RefusesTheDeletionOfWhatACacheDidNotHold) {
  audit.on_dropped("a", "c", "pods", state("20"), true, 3s);
  EXPECT_THAT(
      audit.problems(),
      ElementsAre("3.0000s: the cache of a reports the deletion of what it did not hold: pods default/web"));
}

TEST_F(SimulationAudit, RefusesACacheThatIsOldAtTheEnd) {
  audit.on_cached("a", "c", "pods", state("10"), 3s);
  audit.check_caches(4s);
  EXPECT_THAT(
      audit.problems(),
      ElementsAre("4.0000s: the cache of a is not up to date once everything has settled: pods default/web"));
}

TEST_F(SimulationAudit, RefusesACacheThatMissesAnObjectAtTheEnd) {
  audit.on_cached("a", "c", "pods", state("20"), 3s);
  audit.on_cached("b", "c", "pods", state("20"), 3s);
  audit.on_dropped("b", "c", "pods", state("20"), true, 3s);
  audit.check_caches(4s);
  EXPECT_THAT(audit.problems(),
              ElementsAre("4.0000s: the caches of a and b hold 1 and 0 pods once everything has settled"));
}

TEST_F(SimulationAudit, RefusesAWriteWhileAnotherHoldsTheLease) {
  holds("a");
  audit.on_write(write("a"), 3s);
  EXPECT_THAT(audit.problems(), IsEmpty());
  holds("b");
  audit.on_write(write("a"), 4s);
  EXPECT_THAT(audit.problems(),
              ElementsAre("4.0000s: a wrote without leadership, while the Lease was held by b: "
                          "create pods default/web-*"));
}

TEST_F(SimulationAudit, RefusesACreationThatIsAppliedAgainByARetry) {
  detail::ArrivedWrite lost = write("a");
  lost.answer_lost = true;
  audit.on_write(lost, 3s);
  audit.on_write(write("a"), 4s);
  EXPECT_THAT(audit.problems(),
              ElementsAre("4.0000s: a repeated a creation that had been applied, in the same "
                          "reconcile: create pods default/web-*"));
}

TEST_F(SimulationAudit, AcceptsEqualCreationsThatWereAnsweredAndThoseOfLaterReconciles) {
  audit.on_write(write("a"), 3s);
  detail::ArrivedWrite lost = write("a");
  lost.answer_lost = true;
  audit.on_write(lost, 3s);
  detail::ArrivedWrite later = write("a");
  later.runs = 2;
  audit.on_write(later, 4s);
  EXPECT_THAT(audit.problems(), IsEmpty());
}

TEST_F(SimulationAudit, RefusesTwoWorkersOfAKeyInOneProcess) {
  audit.on_run("a", "store", "default/web", 3s);
  audit.on_run("b", "store", "default/web", 3s);
  EXPECT_THAT(audit.problems(), IsEmpty());
  audit.on_run("a", "store", "default/web", 4s);
  EXPECT_THAT(audit.problems(),
              ElementsAre("4.0000s: two workers of a run store default/web at the same time"));
}

TEST_F(SimulationAudit, RefusesALoop) {
  const auto run = [this](const std::string& key, Duration at) {
    audit.on_run("a", "store", key, at);
    audit.on_run_end("a", "store", key);
  };
  for (int i = 0; i < 200; ++i) run("default/slow", i * 100ms);
  for (int i = 0; i < 100; ++i) run("default/fast", i * 50ms);
  EXPECT_THAT(audit.problems(), IsEmpty()) << "100 in 10 s";
  run("default/fast", 9999ms);
  EXPECT_THAT(audit.problems(),
              ElementsAre("9.9990s: a runs store default/fast more than 100 times in 10 s"));
}

TEST_F(SimulationAudit, ReportsTwoLeadersOnce) {
  audit.on_leaders({"a"}, 3s);
  audit.on_leaders({"a", "b"}, 4s);
  audit.on_leaders({"a", "b"}, 5s);
  EXPECT_THAT(audit.problems(), ElementsAre("4.0000s: two leaders at the same time: a and b"));
}

}  // namespace
}  // namespace evenkeel::testing
