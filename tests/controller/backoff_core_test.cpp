// SPDX-License-Identifier: Apache-2.0
// Effects of updates on keys that run or wait, without threads.
#include "controller/backoff_core.hpp"

#include <chrono>

#include <gtest/gtest.h>

#include <evenkeel/workqueue/key_table.hpp>

#include "event_fixture.hpp"

namespace evenkeel::backoff_core_tests {
namespace {

using namespace std::chrono_literals;
using detail::BackoffCore;
using detail::Change;
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
  const WireObject one = wire_object(R"({"namespace":"ns","name":"a","uid":"u","resourceVersion":"1"})");
  const WireObject two = wire_object(R"({"namespace":"ns","name":"a","uid":"u","resourceVersion":"2"})");
  const Change change{one, two};
};

TEST_F(BackoffCoreTest, KnowsNothingOfKeysThatNeitherRunNorWait) {
  EXPECT_FALSE(core.is_tracked(a));
  EXPECT_EQ(core.on_update(a, {.at = at(0s)}, change), Verdict::add);
  EXPECT_EQ(core.on_own_write(a, {.at = at(0s)}), Verdict::add);
  EXPECT_FALSE(core.standing_deadline(a, at(0s)));
  EXPECT_FALSE(core.on_run_ended(a));
  EXPECT_EQ(core.size(), 0U) << "being asked leaves nothing behind";
}

TEST_F(BackoffCoreTest, AKeyThatWaitsIsLeftWaitingByOwnWritesOnly) {
  core.on_run_started(a);
  core.on_run_failed(a, at(5s));
  EXPECT_TRUE(core.is_tracked(a));
  EXPECT_EQ(core.on_update(a, {.at = at(1s)}, change), Verdict::decide);
  EXPECT_EQ(core.on_own_write(a, {.at = at(1s)}), Verdict::add_unless_waiting);
  EXPECT_EQ(core.on_own_write(b, {.at = at(1s)}), Verdict::add);
}

TEST_F(BackoffCoreTest, TheDeadlineStandsUntilItIsReached) {
  core.on_run_started(a);
  core.on_run_failed(a, at(5s));
  core.on_run_started(a);
  EXPECT_EQ(core.standing_deadline(a, at(5s) - 1ns), at(5s));
  EXPECT_FALSE(core.standing_deadline(a, at(5s)));
  EXPECT_FALSE(core.standing_deadline(b, at(1s)));
}

TEST_F(BackoffCoreTest, UpdatesDuringARunAreHeldAndComeOutAtItsEnd) {
  core.on_run_started(a);
  EXPECT_EQ(core.on_update(a, {.priority = Lane::slow, .at = at(1s), .delay = 3s}, change), Verdict::held);
  EXPECT_EQ(core.on_own_write(a, {.priority = Lane::fast, .at = at(2s), .delay = 2s}), Verdict::held);
  EXPECT_EQ(core.on_update(a, {.priority = Lane::slow, .at = at(3s), .delay = 4s}, change), Verdict::held);
  const auto held = core.on_run_ended(a);
  ASSERT_TRUE(held);
  EXPECT_EQ(held->priority.value, Priority(Lane::fast).value) << "the highest counts";
  EXPECT_EQ(held->first, at(1s));
  EXPECT_EQ(held->last, at(3s));
  EXPECT_EQ(held->delay, 2s);
  EXPECT_EQ(core.size(), 0U);
  core.on_run_started(a);
  EXPECT_FALSE(core.on_run_ended(a)) << "once";
}

TEST_F(BackoffCoreTest, UpdatesDuringARunThatFailsAreDecidedAtItsEnd) {
  core.on_run_started(a);
  core.on_update(a, {.at = at(1s)}, change);
  core.on_own_write(a, {.at = at(1s)});
  const auto held = core.on_run_failed(a, at(5s));
  ASSERT_TRUE(held);
  EXPECT_FALSE(held->beyond_limit);
  ASSERT_EQ(held->changes.size(), 1U) << "without the one that is known to be an own write";
  EXPECT_EQ(held->changes[0].before, one);
  EXPECT_EQ(held->changes[0].after, two);
  core.on_run_started(a);
  EXPECT_FALSE(core.on_run_ended(a)) << "once";
}

TEST_F(BackoffCoreTest, TooManyUpdatesOfARunAreNotKept) {
  core.on_run_started(a);
  for (std::size_t i = 0; i < BackoffCore::max_changes; ++i) core.on_update(a, {.at = at(1s)}, change);
  core.on_update(a, {.at = at(2s)}, change);
  core.on_update(a, {.at = at(3s)}, change);
  const auto held = core.on_run_failed(a, at(5s));
  ASSERT_TRUE(held);
  EXPECT_TRUE(held->beyond_limit);
  EXPECT_TRUE(held->changes.empty());
  EXPECT_EQ(held->last, at(3s));
}

TEST_F(BackoffCoreTest, AnEndWithoutRetryEndsTheBackOff) {
  core.on_run_started(a);
  core.on_run_failed(a, at(5s));
  core.on_run_started(a);
  core.on_run_ended(a);
  EXPECT_FALSE(core.is_tracked(a));
  core.on_run_started(a);
  EXPECT_FALSE(core.standing_deadline(a, at(1s))) << "the next failure counts";
}

TEST(DisabledBackoffCore, RemembersNoKey) {
  KeyTable keys;
  const RequestKey a = keys.intern("", "ns", "a");
  BackoffCore core(false);
  core.on_run_started(a);
  EXPECT_FALSE(core.is_tracked(a));
  EXPECT_EQ(core.on_update(a, {.at = at(1s)}, {}), Verdict::add);
  EXPECT_EQ(core.on_own_write(a, {.at = at(1s)}), Verdict::add);
  EXPECT_FALSE(core.on_run_failed(a, at(5s)));
  EXPECT_FALSE(core.standing_deadline(a, at(1s))) << "every failure counts";
  EXPECT_FALSE(core.on_run_ended(a));
  EXPECT_EQ(core.size(), 0U);
}

}  // namespace
}  // namespace evenkeel::backoff_core_tests
