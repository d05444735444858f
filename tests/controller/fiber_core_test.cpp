// SPDX-License-Identifier: Apache-2.0
#include "controller/fibers/fiber_core.hpp"

#include <chrono>

#include <gtest/gtest.h>

namespace evenkeel::detail {
namespace {

using namespace std::chrono_literals;
using Step = FiberCore::Step;

TimePoint at(Duration time) {
  return TimePoint() + time;
}

struct FiberCoreTest : ::testing::Test {
  // Starts a taker that waits for work.
  void start(FiberNode& fiber) {
    EXPECT_EQ(core.next().step, Step::start);
    core.on_start(fiber);
    EXPECT_TRUE(core.on_suspend(fiber, TimePoint::max()));
  }
  // Wakes the taker and gives it work that waits until `due`.
  void work(FiberNode& fiber, TimePoint due) {
    core.on_wake(fiber);
    EXPECT_EQ(core.next().fiber, &fiber);
    core.on_taken(fiber);
    EXPECT_TRUE(core.on_suspend(fiber, due));
  }
  void expect_sleep() {
    const FiberCore::Turn turn = core.next();
    EXPECT_EQ(turn.step, Step::sleep);
    EXPECT_TRUE(turn.is_idle);
  }
  // The taker looks for work once more, in vain.
  void expect_last_look(FiberNode& taker) {
    const FiberCore::Turn turn = core.next();
    EXPECT_EQ(turn.step, Step::resume);
    EXPECT_EQ(turn.fiber, &taker);
    EXPECT_TRUE(turn.is_idle);
    EXPECT_TRUE(core.on_suspend(taker, TimePoint::max()));
  }

  FiberNode a;
  FiberNode b;
  FiberNode c;
  FiberCore core{2};
};

TEST_F(FiberCoreTest, OneTakerWaitsForWorkAndLooksOnceBeforeTheThreadSleeps) {
  start(a);
  expect_last_look(a);
  expect_sleep();
  expect_sleep();
}

TEST_F(FiberCoreTest, AnotherTakerIsStartedWhenOneHasWorkUpToTheLimit) {
  start(a);
  work(a, TimePoint::max());
  start(b);
  work(b, TimePoint::max());
  expect_sleep();
  EXPECT_EQ(core.count(), 2U);
}

TEST_F(FiberCoreTest, FibersRunInTheOrderOfTheirWakeUpsAndBeforeANewTaker) {
  start(a);
  work(a, TimePoint::max());
  start(b);
  core.on_wake(b);
  core.on_wake(a);
  core.on_wake(b);
  EXPECT_EQ(core.next().fiber, &b);
  EXPECT_TRUE(core.on_suspend(b, TimePoint::max()));
  const FiberCore::Turn turn = core.next();
  EXPECT_EQ(turn.fiber, &a);
  EXPECT_FALSE(turn.is_idle);
}

TEST_F(FiberCoreTest, TheTakerLooksAgainAfterAnotherFiberRan) {
  start(a);
  work(a, TimePoint::max());
  start(b);
  expect_last_look(b);
  expect_sleep();
  core.on_wake(a);
  EXPECT_EQ(core.next().fiber, &a);
  EXPECT_TRUE(core.on_suspend(a, TimePoint::max()));
  expect_last_look(b);
  expect_sleep();
}

TEST_F(FiberCoreTest, DeadlinesMakeFibersReadyEarliestFirst) {
  start(a);
  work(a, at(5s));
  start(b);
  work(b, at(3s));
  EXPECT_EQ(core.next_due(), at(3s));
  core.on_timeout(at(4s));
  EXPECT_EQ(core.next().fiber, &b);
  EXPECT_EQ(core.next_due(), at(5s));
  core.on_wake(a);
  EXPECT_EQ(core.next_due(), std::nullopt) << "a fiber that was woken has no deadline";
  EXPECT_EQ(core.next().fiber, &a);
}

TEST_F(FiberCoreTest, AWakeUpOfARunningFiberIsKeptForItsNextWait) {
  start(a);
  core.on_wake(a);
  EXPECT_EQ(core.next().fiber, &a);
  core.on_wake(a);
  EXPECT_FALSE(core.on_suspend(a, at(1s)));
  EXPECT_TRUE(core.on_suspend(a, at(1s)));
  EXPECT_EQ(core.next_due(), at(1s));
}

TEST_F(FiberCoreTest, ALateWakeUpOfAnUnusedFiberHasNoEffect) {
  start(a);
  work(a, TimePoint::max());
  core.on_wake(a);
  EXPECT_EQ(core.next().fiber, &a);
  core.on_end(a);
  core.on_wake(a);
  EXPECT_EQ(core.next().step, Step::start);
  core.on_start(a);
  EXPECT_TRUE(core.on_suspend(a, TimePoint::max()));
}

TEST_F(FiberCoreTest, ATakerThatEndsWithoutWorkIsTheLastAndTheOthersAreWaitedFor) {
  start(a);
  work(a, TimePoint::max());
  start(b);
  core.on_wake(b);
  EXPECT_EQ(core.next().fiber, &b);
  core.on_end(b);
  expect_sleep();
  core.on_wake(a);
  EXPECT_EQ(core.next().fiber, &a);
  core.on_end(a);
  EXPECT_EQ(core.next().step, Step::end);
}

TEST_F(FiberCoreTest, WithoutMemoryThePresentNumberIsTheLimit) {
  EXPECT_FALSE(core.on_no_room());
  FiberCore roomy(3);
  EXPECT_EQ(roomy.next().step, Step::start);
  roomy.on_start(a);
  roomy.on_taken(a);
  EXPECT_TRUE(roomy.on_suspend(a, TimePoint::max()));
  EXPECT_EQ(roomy.next().step, Step::start);
  EXPECT_TRUE(roomy.on_no_room());
  EXPECT_EQ(roomy.next().step, Step::sleep);
}

}  // namespace
}  // namespace evenkeel::detail
