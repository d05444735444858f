// SPDX-License-Identifier: Apache-2.0
#include "controller/mapping_retry_core.hpp"

#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evenkeel::detail {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::SizeIs;

class MappingRetryCoreTest : public ::testing::Test {
 protected:
  static WireObject object(const std::string& name, int version = 1) {
    return WireScanner({.api_version = "v1", .kind = "Secret"})
        .object(R"({"metadata":{"namespace":"ns","name":")" + name + R"(","resourceVersion":")" +
                std::to_string(version) + R"("}})");
  }
  static FailedMapping event(std::vector<WireObject> states, EventType type = EventType::updated,
                             WatchId watch = 1) {
    return {.watch = watch, .type = type, .states = std::move(states)};
  }
  /// Fails the due mappings until there are `times` failures; returns the delays between them.
  std::vector<Duration> fail_again(int times) {
    std::vector<Duration> delays;
    while (times-- > 0) {
      now = *core.next_due();
      for (FailedMapping& one : core.on_timeout(now)) {
        const auto delay = core.on_failure(std::move(one), now);
        if (!delay) return delays;
        delays.push_back(*delay);
      }
    }
    return delays;
  }

  TimePoint now{};
  MappingRetryCore core;
};

TEST_F(MappingRetryCoreTest, WaitsTwiceAsLongAfterEachFailureUpToFiveMinutes) {
  EXPECT_EQ(core.next_due(), std::nullopt);
  EXPECT_EQ(core.on_failure(event({object("a")}), now), 1s);
  EXPECT_EQ(core.next_due(), now + 1s);
  EXPECT_THAT(core.on_timeout(now + 999ms), SizeIs(0));
  EXPECT_THAT(fail_again(10), ElementsAre(2s, 4s, 8s, 16s, 32s, 64s, 128s, 256s, 300s, 300s));
}

TEST_F(MappingRetryCoreTest, GivesWhatIsDueOnceAndKeepsTheOthers) {
  core.on_failure(event({object("a")}), now);
  core.on_failure(event({object("b")}), now + 500ms);
  core.on_failure(event({object("a")}, EventType::updated, 2), now + 500ms);
  const auto due = core.on_timeout(now + 1s);
  ASSERT_THAT(due, SizeIs(1));
  EXPECT_EQ(due[0].watch, 1U);
  EXPECT_EQ(due[0].states.back().name(), "a");
  EXPECT_THAT(core.on_timeout(now + 1s), SizeIs(0));
  EXPECT_EQ(core.size(), 2U) << "another object, and the same one of another watch";
}

// An owner that lost an object must be reconciled, too: no state that was not mapped may be dropped.
TEST_F(MappingRetryCoreTest, KeepsTheStatesOfAllEventsOfAnObjectInOrder) {
  const WireObject one = object("a", 1);
  const WireObject two = object("a", 2);
  const WireObject three = object("a", 3);
  core.on_failure(event({one, two}), now);
  core.on_failure(event({two, three}), now);
  auto due = core.on_timeout(now + 1h);
  ASSERT_THAT(due, SizeIs(1));
  EXPECT_THAT(due[0].states, ElementsAre(one, two, three));
  // An event that fails during an attempt is newer than the states of the attempt.
  const WireObject four = object("a", 4);
  core.on_failure(event({three, four}), now);
  EXPECT_EQ(core.on_failure(std::move(due[0]), now), 4s);
  due = core.on_timeout(now + 1h);
  ASSERT_THAT(due, SizeIs(1));
  EXPECT_THAT(due[0].states, ElementsAre(one, two, three, four));
}

TEST_F(MappingRetryCoreTest, KeepsTheOldestAndTheNewestStatesOfAnObjectThatChangesAllTheTime) {
  std::vector<WireObject> all{object("a", 0)};
  for (int version = 1; version <= 20; ++version) {
    all.push_back(object("a", version));
    core.on_failure(event({all[all.size() - 2], all.back()}), now);
  }
  const auto due = core.on_timeout(now + 1h);
  ASSERT_THAT(due, SizeIs(1));
  ASSERT_THAT(due[0].states, SizeIs(MappingRetryCore::max_states));
  EXPECT_EQ(due[0].states.front(), all.front());
  EXPECT_EQ(due[0].states.back(), all.back());
}

TEST_F(MappingRetryCoreTest, GivesUpADeletionThatCannotBeMapped) {
  EXPECT_TRUE(core.on_failure(event({object("a")}), now));
  fail_again(20);
  // Earlier failures do not count: the deletion is new to the mapping.
  EXPECT_EQ(core.on_failure(event({object("a", 2)}, EventType::deleted), now), 1s);
  EXPECT_THAT(fail_again(20), SizeIs(MappingRetryCore::max_failures_of_deleted - 2));
  EXPECT_EQ(core.size(), 0U);
}

}  // namespace
}  // namespace evenkeel::detail
