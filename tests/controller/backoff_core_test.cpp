// SPDX-License-Identifier: Apache-2.0
// Minor events and their effects, as a table and without threads.
#include "controller/backoff_core.hpp"

#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/workqueue/key_table.hpp>

#include "event_fixture.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using detail::BackoffCore;
using detail::is_minor;
using Verdict = BackoffCore::Verdict;

constexpr TimePoint at(Duration since_start) {
  return TimePoint{} + since_start;
}

WireObject scanned(const std::string& text, WireForm form = WireForm::whole) {
  return WireScanner({.form = form}).object(text);
}

struct Row {
  const char* what;
  const char* before;
  const char* now;
  bool minor;
};

TEST(IsMinor, KnowsWhatAsksForANewAttempt) {
  const std::vector<Row> rows = {
      {"a status write", R"("resourceVersion":"1","generation":3},"spec":{"n":1},"status":{"phase":"A"})",
       R"("resourceVersion":"2","generation":3},"spec":{"n":1},"status":{"phase":"B"})", true},
      {"nothing at all: told again", R"("resourceVersion":"1","generation":3})",
       R"("resourceVersion":"1","generation":3})", true},
      {"the generation", R"("resourceVersion":"1","generation":3})",
       R"("resourceVersion":"2","generation":4})", false},
      {"a label", R"("generation":3,"labels":{"a":"1"}})", R"("generation":3,"labels":{"a":"2"}})", false},
      {"a label that came", R"("generation":3})", R"("generation":3,"labels":{"a":"1"}})", false},
      {"labels in another order", R"("generation":3,"labels":{"a":"1","b":"2"}})",
       R"("generation":3,"labels":{"b":"2","a":"1"}})", true},
      {"an annotation", R"("generation":3,"annotations":{"a":"1"}})", R"("generation":3,"annotations":{}})",
       false},
      {"the mark of deletion", R"("generation":3})",
       R"("generation":3,"deletionTimestamp":"2026-01-01T00:00:00Z"})", false},
      {"another object of the same name", R"("uid":"u1","generation":3})", R"("uid":"u2","generation":3})",
       false},
      {"finalizers only", R"("resourceVersion":"1","generation":3,"finalizers":["x/y"]})",
       R"("resourceVersion":"2","generation":3})", true},
      {"finalizers while it goes",
       R"("resourceVersion":"1","generation":3,"deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["x/y"]})",
       R"("resourceVersion":"2","generation":3,"deletionTimestamp":"2026-01-01T00:00:00Z"})", true},
      {"owners only",
       R"("resourceVersion":"1","generation":3,"ownerReferences":[{"apiVersion":"v1","kind":"K","name":"n","uid":"u"}]})",
       R"("resourceVersion":"2","generation":3})", true},
      {"a generation that the server begins to count", R"("resourceVersion":"1"})",
       R"("resourceVersion":"2","generation":1})", false},
  };
  for (const Row& row : rows) {
    const std::string head = R"({"apiVersion":"v1","kind":"Demo","metadata":{"name":"a","namespace":"ns",)";
    const WireObject before = scanned(head + row.before + "}");
    const WireObject now = scanned(head + row.now + "}");
    EXPECT_EQ(is_minor(updated(before, now)), row.minor) << row.what;
  }
}

TEST(IsMinor, ComparesTheContentOfKindsThatHaveNoGeneration) {
  const std::string head =
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns",)";
  const WireObject before = scanned(head + R"("resourceVersion":"1"},"data":{"k":"v","l":"w"}})");
  const WireObject same = scanned(
      head +
      R"("resourceVersion":"2","managedFields":[{"manager":"m"}]},"data":{"l":"w","k":"v"},"status":{"x":1}})");
  const WireObject changed = scanned(head + R"("resourceVersion":"2"},"data":{"k":"v","l":"x"}})");
  const WireObject more =
      scanned(head + R"("resourceVersion":"2"},"data":{"k":"v","l":"w"},"immutable":true})");
  EXPECT_TRUE(is_minor(updated(before, same)));
  EXPECT_FALSE(is_minor(updated(before, changed)));
  EXPECT_FALSE(is_minor(updated(before, more)));
}

TEST(IsMinor, ComparesNothingWhereTheContentIsNotKept) {
  const std::string head = R"({"apiVersion":"v1","kind":"Demo","metadata":{"name":"a","namespace":"ns",)";
  const auto partial = [&](const char* metadata) {
    return scanned(head + metadata + "}", WireForm::metadata_only);
  };
  EXPECT_FALSE(is_minor(updated(partial(R"("resourceVersion":"1"})"), partial(R"("resourceVersion":"2"})"))));
  EXPECT_TRUE(is_minor(updated(partial(R"("resourceVersion":"1"})"), partial(R"("resourceVersion":"1"})"))));
  EXPECT_TRUE(is_minor(updated(partial(R"("resourceVersion":"1","generation":1})"),
                               partial(R"("resourceVersion":"2","generation":1})"))));
}

TEST(IsMinor, AdditionsAndDeletionsNeverAre) {
  const WireObject object = wire_object(R"({"namespace":"ns","name":"a","generation":1})");
  EXPECT_FALSE(is_minor(added(object)));
  EXPECT_FALSE(is_minor(deleted(object)));
  EXPECT_FALSE(is_minor({.type = EventType::updated, .object = &object})) << "nothing to compare with";
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
  EXPECT_EQ(core.minor_event(a, Lane::fast, at(0s)), Verdict::add);
  EXPECT_FALSE(core.standing_deadline(a, at(0s)));
  EXPECT_FALSE(core.end(a));
  EXPECT_EQ(core.size(), 0U) << "being asked leaves nothing behind";
}

TEST_F(BackoffCoreTest, AKeyThatWaitsIsLeftWaiting) {
  core.begin(a);
  core.end_waiting(a, at(5s));
  EXPECT_TRUE(core.concerns(a));
  EXPECT_EQ(core.minor_event(a, Lane::fast, at(1s)), Verdict::add_unless_waiting);
  EXPECT_EQ(core.minor_event(b, Lane::fast, at(1s)), Verdict::add);
}

TEST_F(BackoffCoreTest, TheDeadlineStandsUntilItIsReached) {
  core.begin(a);
  core.end_waiting(a, at(5s));
  core.begin(a);
  EXPECT_EQ(core.standing_deadline(a, at(5s) - 1ns), at(5s));
  EXPECT_FALSE(core.standing_deadline(a, at(5s)));
  EXPECT_FALSE(core.standing_deadline(b, at(1s)));
}

TEST_F(BackoffCoreTest, EventsOfARunAreHeldAndComeOutAtItsEnd) {
  core.begin(a);
  EXPECT_EQ(core.minor_event(a, Lane::slow, at(1s)), Verdict::held);
  EXPECT_EQ(core.minor_event(a, Lane::fast, at(2s)), Verdict::held);
  EXPECT_EQ(core.minor_event(a, Lane::slow, at(3s)), Verdict::held);
  const auto held = core.end(a);
  ASSERT_TRUE(held);
  EXPECT_EQ(held->priority.value, Priority(Lane::fast).value) << "the highest counts";
  EXPECT_EQ(held->since, at(1s));
  EXPECT_EQ(core.size(), 0U);
  core.begin(a);
  EXPECT_FALSE(core.end(a)) << "once";
}

TEST_F(BackoffCoreTest, ARetryCoversWhatWasHeld) {
  core.begin(a);
  EXPECT_EQ(core.minor_event(a, Lane::fast, at(1s)), Verdict::held);
  core.end_waiting(a, at(5s));
  core.begin(a);
  EXPECT_FALSE(core.end(a));
}

TEST_F(BackoffCoreTest, AnEndWithoutRetryEndsTheBackOff) {
  core.begin(a);
  core.end_waiting(a, at(5s));
  core.begin(a);
  core.end(a);
  EXPECT_FALSE(core.concerns(a));
  core.begin(a);
  EXPECT_FALSE(core.standing_deadline(a, at(1s))) << "the next failure counts";
}

}  // namespace
}  // namespace evenkeel
