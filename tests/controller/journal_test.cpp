// SPDX-License-Identifier: Apache-2.0
// Arrivals, latency, records and stuck runs of a journal, in virtual time.
#include "controller/explain/journal.hpp"

#include <chrono>

#include <gtest/gtest.h>

#include <evenkeel/workqueue/key_table.hpp>

#include "event_fixture.hpp"

namespace evenkeel::journal_tests {
namespace {

using namespace std::chrono_literals;
using detail::AddedBy;
using detail::EventFate;
using detail::FlightKind;
using detail::FlightRun;
using detail::Journal;
using detail::origin_of;
using detail::RunStart;
using detail::StuckCheck;

constexpr TimePoint at(Duration since_start) {
  return TimePoint{} + since_start;
}

class JournalTest : public ::testing::Test {
 protected:
  RunStart start(const RequestKey& key, TimePoint now, Duration limit = 10s) {
    return journal.on_run_started(key, {.id = ++last_id, .since = now, .limit = now + limit});
  }
  void end(const RequestKey& key, TimePoint now, OutcomeKind kind = OutcomeKind::success) {
    const ReconcileOutcome outcome{.kind = kind, .message = "no disk left"};
    journal.on_run_ended(key, {.at = now, .took = 1s, .worker = 0, .attempt = 1, .outcome = outcome});
  }

  KeyTable keys;
  RequestKey a = keys.intern("", "ns", "a");
  RequestKey b = keys.intern("", "ns", "b");
  std::uint64_t last_id = 0;
  Journal journal{1U << 16};
};

TEST_F(JournalTest, ARunAnswersTheFirstEventThatArrivedSinceTheLast) {
  EXPECT_TRUE(journal.on_arrival(a, at(1s)));
  EXPECT_FALSE(journal.on_arrival(a, at(2s)));
  EXPECT_EQ(start(a, at(4s)).waited, 3s);
  EXPECT_EQ(start(a, at(5s)).waited, std::nullopt) << "no event arrived since";
  EXPECT_EQ(journal.latency().count(), 1U);
  EXPECT_GE(journal.latency().quantile(1), 3s);
}

TEST_F(JournalTest, AnArrivalThatIsTakenBackIsNeverMeasured) {
  EXPECT_TRUE(journal.on_arrival(a, at(1s)));
  journal.forget_arrival(a);
  EXPECT_EQ(start(a, at(4s)).waited, std::nullopt);
  EXPECT_EQ(journal.latency().count(), 0U);
}

TEST_F(JournalTest, EventsFromBeforeTheStartCountAsHavingComeThen) {
  journal.on_arrival(a, at(1s));
  journal.on_start(at(100s));
  journal.on_arrival(b, at(101s));
  EXPECT_EQ(start(a, at(103s)).waited, 3s);
  EXPECT_EQ(start(b, at(103s)).waited, 2s);
}

TEST_F(JournalTest, RecordsAnEventWithItsSourceAndTheRunThatFollows) {
  journal.on_event(at(1s), a.hash(),
                   {.by = AddedBy::event, .type = EventType::updated, .source = "pods (v1)"},
                   EventFate::held);
  start(a, at(2s));
  end(a, at(3s), OutcomeKind::error);
  journal.on_wait(at(3s), a, AddedBy::retry, 5s);
  const auto story = journal.recorder().of(a.hash(), 10);
  ASSERT_EQ(story.size(), 4U);
  EXPECT_EQ(story[0].fate(), EventFate::held);
  EXPECT_EQ(story[0].cause().type, EventType::updated);
  EXPECT_EQ(journal.recorder().source(story[0].cause().source), "pods (v1)");
  EXPECT_EQ(story[1].kind, FlightKind::started);
  EXPECT_EQ(story[1].run(), last_id);
  EXPECT_EQ(journal.recorder().text(story[2]), "no disk left");
  EXPECT_EQ(story[3].delay(), 5s);
  ASSERT_NE(journal.recorder().failure(a.hash()), nullptr);
  EXPECT_EQ(journal.recorder().failure(a.hash())->key, a);
}

TEST_F(JournalTest, AsksForAStuckCheckOnceUntilNoRunIsInProgress) {
  EXPECT_EQ(start(a, at(1s)).stuck_check_due, at(11s));
  EXPECT_EQ(start(b, at(2s)).stuck_check_due, std::nullopt) << "one is scheduled";
  end(b, at(3s));
  StuckCheck check = journal.on_timeout(at(11s));
  ASSERT_EQ(check.to_report.size(), 1U);
  EXPECT_EQ(check.to_report[0].key, a.hash());
  EXPECT_EQ(check.next_due, at(21s)) << "twice as long";
  end(a, at(12s));
  check = journal.on_timeout(at(21s));
  EXPECT_TRUE(check.to_report.empty());
  EXPECT_EQ(check.next_due, std::nullopt);
  EXPECT_EQ(start(a, at(30s)).stuck_check_due, at(40s));
}

TEST_F(JournalTest, WithoutMemoryItStillKnowsRunsAndLatency) {
  Journal small(0);
  small.on_arrival(a, at(1s));
  small.on_event(at(1s), a.hash(), {.by = AddedBy::event}, EventFate::added);
  EXPECT_EQ(small.on_run_started(a, {.id = 7, .since = at(2s), .limit = at(3s)}).waited, 1s);
  EXPECT_TRUE(small.recorder().of(a.hash(), 10).empty());
  EXPECT_EQ(small.recorder().runs().size(), 1U);
}

TEST(OriginOf, TellsFirstListsAndResyncsFromChanges) {
  const WireObject object = wire_object(R"({"namespace":"ns","name":"a"})");
  EXPECT_EQ(origin_of({.type = EventType::added, .object = &object}, "x").by, AddedBy::event);
  EXPECT_EQ(origin_of({.type = EventType::added, .object = &object, .initial = true}, "x").by,
            AddedBy::initial);
  EXPECT_EQ(origin_of({.type = EventType::updated, .object = &object, .resync = true}, "x").by,
            AddedBy::resync);
}

}  // namespace
}  // namespace evenkeel::journal_tests
