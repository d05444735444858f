// SPDX-License-Identifier: Apache-2.0
// Effects of minor events on keys that run or wait, without threads.
#include "controller/backoff_core.hpp"

#include <chrono>

#include <gtest/gtest.h>

#include <evenkeel/workqueue/key_table.hpp>

namespace evenkeel::backoff_core_tests {
namespace {

using namespace std::chrono_literals;
using detail::BackoffCore;
using Verdict = BackoffCore::Verdict;

constexpr TimePoint at(Duration since_start) {
  return TimePoint{} + since_start;
}

class BackoffCoreTest : public ::testing::Test {
 protected:
  KeyTable keys;
  RequestKey a = keys.intern("", "ns", "a");
  RequestKey b = keys.intern("", "ns", "b");
  BackoffCore core;
};

TEST_F(BackoffCoreTest, KnowsNothingOfKeysThatNeitherRunNorWait) {
  EXPECT_FALSE(core.concerns(a));
  EXPECT_EQ(core.on_minor_event(a, Lane::fast, at(0s)), Verdict::add);
  EXPECT_FALSE(core.standing_deadline(a, at(0s)));
  EXPECT_FALSE(core.on_run_ended(a));
  EXPECT_EQ(core.size(), 0U) << "being asked leaves nothing behind";
}

TEST_F(BackoffCoreTest, AKeyThatWaitsIsLeftWaiting) {
  core.on_run_started(a);
  core.on_run_failed(a, at(5s));
  EXPECT_TRUE(core.concerns(a));
  EXPECT_EQ(core.on_minor_event(a, Lane::fast, at(1s)), Verdict::add_unless_waiting);
  EXPECT_EQ(core.on_minor_event(b, Lane::fast, at(1s)), Verdict::add);
}

TEST_F(BackoffCoreTest, TheDeadlineStandsUntilItIsReached) {
  core.on_run_started(a);
  core.on_run_failed(a, at(5s));
  core.on_run_started(a);
  EXPECT_EQ(core.standing_deadline(a, at(5s) - 1ns), at(5s));
  EXPECT_FALSE(core.standing_deadline(a, at(5s)));
  EXPECT_FALSE(core.standing_deadline(b, at(1s)));
}

TEST_F(BackoffCoreTest, EventsOfARunAreHeldAndComeOutAtItsEnd) {
  core.on_run_started(a);
  EXPECT_EQ(core.on_minor_event(a, Lane::slow, at(1s)), Verdict::held);
  EXPECT_EQ(core.on_minor_event(a, Lane::fast, at(2s)), Verdict::held);
  EXPECT_EQ(core.on_minor_event(a, Lane::slow, at(3s)), Verdict::held);
  const auto held = core.on_run_ended(a);
  ASSERT_TRUE(held);
  EXPECT_EQ(held->priority.value, Priority(Lane::fast).value) << "the highest counts";
  EXPECT_EQ(held->since, at(1s));
  EXPECT_EQ(core.size(), 0U);
  core.on_run_started(a);
  EXPECT_FALSE(core.on_run_ended(a)) << "once";
}

TEST_F(BackoffCoreTest, ARetryCoversWhatWasHeld) {
  core.on_run_started(a);
  EXPECT_EQ(core.on_minor_event(a, Lane::fast, at(1s)), Verdict::held);
  core.on_run_failed(a, at(5s));
  core.on_run_started(a);
  EXPECT_FALSE(core.on_run_ended(a));
}

TEST_F(BackoffCoreTest, AnEndWithoutRetryEndsTheBackOff) {
  core.on_run_started(a);
  core.on_run_failed(a, at(5s));
  core.on_run_started(a);
  core.on_run_ended(a);
  EXPECT_FALSE(core.concerns(a));
  core.on_run_started(a);
  EXPECT_FALSE(core.standing_deadline(a, at(1s))) << "the next failure counts";
}

TEST(DisabledBackoffCore, RemembersNoKey) {
  KeyTable keys;
  const RequestKey a = keys.intern("", "ns", "a");
  BackoffCore core(false);
  core.on_run_started(a);
  EXPECT_FALSE(core.concerns(a));
  EXPECT_EQ(core.on_minor_event(a, Lane::fast, at(1s)), Verdict::add);
  core.on_run_failed(a, at(5s));
  EXPECT_FALSE(core.standing_deadline(a, at(1s))) << "every failure counts";
  EXPECT_FALSE(core.on_run_ended(a));
  EXPECT_EQ(core.size(), 0U);
}

}  // namespace
}  // namespace evenkeel::backoff_core_tests
