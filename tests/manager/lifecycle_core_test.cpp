// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/election/elector.hpp>
#include <evenkeel/manager/lifecycle_core.hpp>

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Kind = LifecycleAction::Kind;

TimePoint at(Duration since_start) {
  return TimePoint{} + since_start;
}

LifecycleAction start(std::size_t part) {
  return {Kind::start, part};
}
LifecycleAction stop(std::size_t part) {
  return {Kind::stop, part};
}
LifecycleAction cancel(std::size_t part) {
  return {Kind::cancel, part};
}

// Two parts of each stage that has work: 0 controller, 1 cache, 2 server, 3 task, 4 controller.
class LifecycleCoreTest : public ::testing::Test {
 protected:
  LifecycleCoreTest() {
    LifecycleCore::Actions none;
    core.add("demo", Stage::controllers, none);
    core.add("cache", Stage::caches, none);
    core.add("metrics", Stage::servers, none);
    core.add("task", Stage::others, none);
    core.add("pods", Stage::controllers, none);
    EXPECT_THAT(none, IsEmpty());
  }
  void start_all() {
    core.start();
    for (const std::size_t part : {2U, 1U, 3U, 0U, 4U}) core.on_started(part, at(0s));
  }

  LifecycleCore core{{.grace_period = 10s, .cancel_period = 2s}};
};

class LifecycleElection : public ::testing::Test {
 protected:
  LifecycleElection() {
    LifecycleCore::Actions none;
    core.add("demo", Stage::controllers, none);
    core.add("cache", Stage::caches, none);
    core.add("election", Stage::election, none);
    core.start();
    core.on_started(1, at(0s));
    core.on_started(2, at(0s));
  }
  LifecycleCore core{{.grace_period = 10s, .cancel_period = 2s}};
};

TEST_F(LifecycleElection, ControllersWaitForTheLead) {
  LifecycleCore::Actions more;
  core.add("pods", Stage::controllers, more);
  EXPECT_THAT(more, IsEmpty());
  EXPECT_THAT(core.on_leadership_acquired(2), ElementsAre(start(0), start(3)));
}

TEST_F(LifecycleElection, WhoWaitsForTheLeadStopsAtOnce) {
  EXPECT_THAT(core.stop(at(1s)), ElementsAre(stop(2)));
  EXPECT_THAT(core.on_ended(2, "", at(1s)), ElementsAre(stop(1)));
  core.on_ended(1, "", at(1s));
  EXPECT_TRUE(core.finished());
  EXPECT_THAT(core.on_leadership_acquired(2), IsEmpty()) << "elected too late";
}

TEST_F(LifecycleElection, TheLeadIsGivenUpAfterTheLastReconcile) {
  core.on_leadership_acquired(2);
  core.on_started(0, at(0s));
  EXPECT_THAT(core.stop(at(1s)), ElementsAre(stop(0)));
  EXPECT_THAT(core.on_ended(0, "", at(5s)), ElementsAre(stop(2)));
}

// While parts may still write, no other instance must become leader.
TEST_F(LifecycleElection, TheLeadIsNotGivenUpWhileSomethingIsStuck) {
  core.on_leadership_acquired(2);
  core.on_started(0, at(0s));
  EXPECT_THAT(core.stop(at(1s)), ElementsAre(stop(0)));
  EXPECT_THAT(core.on_timeout(at(11s)), ElementsAre(cancel(0)));
  EXPECT_THAT(core.on_timeout(at(13s)), IsEmpty());
  EXPECT_TRUE(core.finished());
  EXPECT_THAT(core.stuck(), ElementsAre("demo"));
}

TEST_F(LifecycleElection, ALostLeadLeavesNoGrace) {
  core.on_leadership_acquired(2);
  core.on_started(0, at(0s));
  EXPECT_THAT(core.on_ended(2, "lost", at(5s)), ElementsAre(stop(0)));
  EXPECT_EQ(core.next_due(), at(5s));
  EXPECT_THAT(core.on_timeout(at(5s)), ElementsAre(cancel(0)));
  EXPECT_EQ(core.error(), "election: lost");
}

TEST_F(LifecycleElection, ALeadThatIsLostWhileStoppingEndsTheGrace) {
  core.on_leadership_acquired(2);
  core.on_started(0, at(0s));
  core.stop(at(1s));
  core.on_ended(2, "lost", at(2s));
  EXPECT_THAT(core.on_timeout(at(2s)), ElementsAre(cancel(0)));
}

TEST_F(LifecycleCoreTest, StartsStageByStageWhateverTheOrderOfAdding) {
  EXPECT_THAT(core.start(), ElementsAre(start(2)));
  EXPECT_THAT(core.on_started(2, at(0s)), ElementsAre(start(1)));
  EXPECT_THAT(core.on_started(1, at(0s)), ElementsAre(start(3)));
  EXPECT_THAT(core.on_started(3, at(0s)), ElementsAre(start(0), start(4)));
  EXPECT_THAT(core.on_started(0, at(0s)), IsEmpty());
  EXPECT_THAT(core.on_started(4, at(0s)), IsEmpty());
  EXPECT_FALSE(core.stopping());
  EXPECT_FALSE(core.finished());
}

TEST_F(LifecycleCoreTest, StopsTasksThenControllersThenCachesThenServers) {
  start_all();
  EXPECT_THAT(core.stop(at(1s)), ElementsAre(stop(3)));
  EXPECT_THAT(core.on_ended(3, "", at(1s)), ElementsAre(stop(0), stop(4)));
  EXPECT_THAT(core.on_ended(4, "", at(1s)), IsEmpty()) << "the other controller still runs";
  EXPECT_THAT(core.on_ended(0, "", at(1s)), ElementsAre(stop(1)));
  EXPECT_THAT(core.on_ended(1, "", at(1s)), ElementsAre(stop(2)));
  EXPECT_FALSE(core.finished());
  EXPECT_THAT(core.on_ended(2, "", at(1s)), IsEmpty());
  EXPECT_TRUE(core.finished());
  EXPECT_EQ(core.error(), "");
  EXPECT_THAT(core.cancelled(), IsEmpty());
  EXPECT_EQ(core.next_due(), std::nullopt);
}

TEST_F(LifecycleCoreTest, RunningWorkIsCancelledOnlyWhenTheGracePeriodIsOver) {
  start_all();
  core.stop(at(1s));
  core.on_ended(3, "", at(1s));
  EXPECT_EQ(core.next_due(), at(11s));
  EXPECT_THAT(core.on_timeout(at(10s)), IsEmpty());
  core.on_ended(4, "", at(10s));
  EXPECT_THAT(core.on_timeout(at(11s)), ElementsAre(cancel(0)));
  EXPECT_THAT(core.cancelled(), ElementsAre("demo"));
  EXPECT_THAT(core.on_ended(0, "", at(11s)), ElementsAre(stop(1), cancel(1))) << "no second grace period";
  EXPECT_THAT(core.on_ended(1, "", at(11s)), ElementsAre(stop(2), cancel(2)));
  core.on_ended(2, "", at(11s));
  EXPECT_TRUE(core.finished());
  EXPECT_THAT(core.stuck(), IsEmpty());
}

TEST_F(LifecycleCoreTest, WhatOutlivesBothPeriodsIsReportedAsStuck) {
  start_all();
  core.stop(at(0s));
  core.on_ended(3, "", at(0s));
  core.on_ended(4, "", at(0s));
  core.on_timeout(at(10s));
  EXPECT_EQ(core.next_due(), at(12s));
  EXPECT_FALSE(core.finished());
  core.on_timeout(at(12s));
  EXPECT_TRUE(core.finished());
  EXPECT_THAT(core.stuck(), ElementsAre("demo"));
}

// ---- The delay between the stop and the end of the servers

TEST_F(LifecycleCoreTest, CachesAndServersOutliveAStopByItsDelay) {
  start_all();
  EXPECT_THAT(core.stop(at(1s), 5s), ElementsAre(stop(3)));
  EXPECT_THAT(core.on_ended(3, "", at(1s)), ElementsAre(stop(0), stop(4))) << "controllers stop as ever";
  EXPECT_EQ(core.next_due(), at(6s));
  core.on_ended(4, "", at(1s));
  EXPECT_THAT(core.on_ended(0, "", at(1s)), IsEmpty());
  EXPECT_EQ(core.next_due(), at(6s));
  EXPECT_THAT(core.on_timeout(at(6s) - 1ns), IsEmpty());
  EXPECT_THAT(core.on_timeout(at(6s)), ElementsAre(stop(1)));
  EXPECT_THAT(core.on_ended(1, "", at(6s)), ElementsAre(stop(2)));
  core.on_ended(2, "", at(6s));
  EXPECT_TRUE(core.finished());
  EXPECT_THAT(core.cancelled(), IsEmpty());
}

TEST_F(LifecycleCoreTest, ADelayDoesNotProlongTheGracePeriodOfWork) {
  start_all();
  core.stop(at(0s), 15s);
  core.on_ended(3, "", at(0s));
  core.on_ended(4, "", at(0s));
  EXPECT_EQ(core.next_due(), at(10s));
  EXPECT_THAT(core.on_timeout(at(10s)), ElementsAre(cancel(0)));
  EXPECT_THAT(core.on_ended(0, "", at(11s)), IsEmpty());
  EXPECT_THAT(core.on_timeout(at(12s)), IsEmpty());
  EXPECT_FALSE(core.finished()) << "what waits is not stuck";
  EXPECT_EQ(core.next_due(), at(15s));
  EXPECT_THAT(core.on_timeout(at(15s)), ElementsAre(stop(1))) << "in peace";
  EXPECT_THAT(core.on_ended(1, "", at(15s)), ElementsAre(stop(2)));
  core.on_ended(2, "", at(15s));
  EXPECT_TRUE(core.finished());
  EXPECT_THAT(core.cancelled(), ElementsAre("demo"));
  EXPECT_THAT(core.stuck(), IsEmpty());
}

TEST_F(LifecycleCoreTest, ServersHaveAGracePeriodAfterADelayThatIsLonger) {
  start_all();
  core.stop(at(0s), 60s);
  for (const std::size_t part : {3U, 0U, 4U}) core.on_ended(part, "", at(0s));
  EXPECT_EQ(core.next_due(), at(60s));
  EXPECT_THAT(core.on_timeout(at(30s)), IsEmpty());
  EXPECT_THAT(core.on_timeout(at(60s)), ElementsAre(stop(1)));
  EXPECT_EQ(core.next_due(), at(70s));
  EXPECT_THAT(core.on_timeout(at(70s)), ElementsAre(cancel(1)));
  EXPECT_THAT(core.on_timeout(at(72s)), IsEmpty());
  EXPECT_TRUE(core.finished());
  EXPECT_THAT(core.stuck(), ElementsAre("cache"));
}

TEST_F(LifecycleCoreTest, WorkThatEndsAfterTheDelayIsFollowedByTheRestAtOnce) {
  start_all();
  core.stop(at(0s), 5s);
  core.on_ended(3, "", at(0s));
  core.on_ended(4, "", at(0s));
  EXPECT_THAT(core.on_timeout(at(5s)), IsEmpty());
  EXPECT_EQ(core.next_due(), at(10s));
  EXPECT_THAT(core.on_ended(0, "", at(7s)), ElementsAre(stop(1)));
}

TEST_F(LifecycleCoreTest, AnErrorAndAServerThatIsStartingLeaveNoDelay) {
  core.start();
  EXPECT_THAT(core.stop(at(0s), 5s), ElementsAre(stop(2))) << "nobody has been told that it serves";
  LifecycleCore other;
  LifecycleCore::Actions none;
  other.add("demo", Stage::controllers, none);
  other.add("metrics", Stage::servers, none);
  other.start();
  other.on_started(1, at(0s));
  other.on_started(0, at(0s));
  EXPECT_THAT(other.on_ended(0, "no such kind", at(1s)), ElementsAre(stop(1)));
}

TEST_F(LifecycleCoreTest, ANegativeGracePeriodWaitsForever) {
  LifecycleCore patient{{.grace_period = -1ns}};
  LifecycleCore::Actions none;
  patient.add("demo", Stage::controllers, none);
  patient.start();
  patient.on_started(0, at(0s));
  patient.stop(at(0s));
  EXPECT_EQ(patient.next_due(), std::nullopt);
  EXPECT_THAT(patient.on_timeout(at(24h)), IsEmpty());
  EXPECT_FALSE(patient.finished());
}

TEST_F(LifecycleCoreTest, AZeroGracePeriodCancelsAtOnce) {
  LifecycleCore hasty{{.grace_period = 0s}};
  LifecycleCore::Actions none;
  hasty.add("demo", Stage::controllers, none);
  hasty.start();
  hasty.on_started(0, at(0s));
  EXPECT_THAT(hasty.stop(at(1s)), ElementsAre(stop(0)));
  EXPECT_EQ(hasty.next_due(), at(1s));
  EXPECT_THAT(hasty.on_timeout(at(1s)), ElementsAre(cancel(0)));
}

TEST_F(LifecycleCoreTest, AnErrorStopsEverythingAndTheFirstIsKept) {
  start_all();
  EXPECT_THAT(core.on_ended(0, "no such kind", at(1s)), ElementsAre(stop(3)));
  EXPECT_TRUE(core.stopping());
  EXPECT_THAT(core.on_ended(3, "interrupted", at(1s)), ElementsAre(stop(4)));
  EXPECT_EQ(core.error(), "demo: no such kind");
}

TEST_F(LifecycleCoreTest, APartMayEndWithoutAnError) {
  start_all();
  EXPECT_THAT(core.on_ended(3, "", at(1s)), IsEmpty());
  EXPECT_FALSE(core.stopping());
  EXPECT_THAT(core.stop(at(2s)), ElementsAre(stop(0), stop(4)));
}

TEST_F(LifecycleCoreTest, APartThatCannotStartStopsWhatStartedAndNothingElseStarts) {
  core.start();
  core.on_started(2, at(0s));
  EXPECT_THAT(core.on_ended(1, "no server", at(0s)), ElementsAre(stop(2)));
  core.on_ended(2, "", at(0s));
  EXPECT_TRUE(core.finished());
  EXPECT_EQ(core.error(), "cache: no server");
}

TEST_F(LifecycleCoreTest, WhatIsStillStartingIsStoppedAndStartsNothingElse) {
  core.start();
  EXPECT_THAT(core.stop(at(0s)), ElementsAre(stop(2)));
  EXPECT_THAT(core.on_started(2, at(0s)), IsEmpty());
  core.on_ended(2, "", at(0s));
  EXPECT_TRUE(core.finished());
}

TEST_F(LifecycleCoreTest, APartAddedWhileRunningStartsAtOnceAndNoneWhileStopping) {
  start_all();
  LifecycleCore::Actions actions;
  EXPECT_EQ(core.add("late", Stage::controllers, actions), 5U);
  EXPECT_THAT(actions, ElementsAre(start(5)));
  core.stop(at(0s));
  EXPECT_THROW(core.add("too late", Stage::controllers, actions), std::invalid_argument);
}

TEST(Defaults, AreThoseOfControllerRuntime) {
  EXPECT_EQ(LifecycleOptions{}.grace_period, 30s);
  EXPECT_EQ(ElectionOptions{}.lease_duration, 15s);
  EXPECT_EQ(ElectionOptions{}.renew_deadline, 10s);
  EXPECT_EQ(ElectionOptions{}.retry_period, 2s);
}

TEST_F(LifecycleCoreTest, StopIsIdempotentAndWithoutPartsItFinishesAtOnce) {
  LifecycleCore empty;
  EXPECT_THAT(empty.start(), IsEmpty());
  EXPECT_FALSE(empty.finished());
  EXPECT_THAT(empty.stop(at(0s)), IsEmpty());
  EXPECT_THAT(empty.stop(at(0s)), IsEmpty());
  EXPECT_TRUE(empty.finished());
}

}  // namespace
}  // namespace evenkeel
