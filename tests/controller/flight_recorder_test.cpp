// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/flight_recorder.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include <evenkeel/workqueue/key_table.hpp>

namespace evenkeel::flight_recorder_tests {
namespace {

using namespace std::chrono_literals;
using detail::AddedBy;
using detail::Cause;
using detail::EventFate;
using detail::FlightKind;
using detail::FlightRecord;
using detail::FlightRecorder;

constexpr std::size_t everything = 1u << 20;

TimePoint at(Duration time) {
  return TimePoint(time);
}

ReconcileOutcome failed(std::string why) {
  return {.kind = OutcomeKind::error, .message = std::move(why)};
}

TEST(FlightRecorder, TellsWhatHappenedToAKeyInOrder) {
  KeyTable keys;
  const RequestKey web = keys.intern({.namespace_ = "default", .name = "web"});
  const RequestKey other = keys.intern({.namespace_ = "default", .name = "other"});
  FlightRecorder recorder(1u << 16);
  const Cause updated{.by = AddedBy::event, .type = EventType::updated, .source = 3};

  recorder.on_event(at(1s), web.hash(), updated, EventFate::added);
  recorder.on_event(at(2s), other.hash(), updated, EventFate::refused);
  recorder.on_run_started(
      {.key = web.hash(), .worker = 5, .id = 0xfedcba9876543210, .attempt = 7, .since = at(3s)});
  recorder.on_run_ended(at(4s), web, 5, 7, 1s, failed("no disk left"));
  recorder.on_wait(at(4s), web.hash(), AddedBy::retry, 320ms);

  const auto story = recorder.of(web.hash(), everything);
  ASSERT_EQ(story.size(), 4u);
  EXPECT_EQ(story[0].kind, FlightKind::event);
  EXPECT_EQ(story[0].time(), at(1s));
  EXPECT_EQ(story[0].cause(), updated);
  EXPECT_EQ(story[0].fate(), EventFate::added);
  EXPECT_EQ(story[1].kind, FlightKind::started);
  EXPECT_EQ(story[1].worker(), 5u);
  EXPECT_EQ(story[1].run(), 0xfedcba9876543210);
  EXPECT_EQ(story[1].attempt(), 7u);
  EXPECT_EQ(story[2].kind, FlightKind::ended);
  EXPECT_EQ(story[2].outcome(), OutcomeKind::error);
  EXPECT_EQ(story[2].duration(), 1s);
  EXPECT_EQ(story[2].worker(), 5u);
  EXPECT_FALSE(story[2].timed_out());
  EXPECT_FALSE(story[2].panic());
  EXPECT_EQ(recorder.text(story[2]), "no disk left");
  EXPECT_EQ(story[3].kind, FlightKind::waits);
  EXPECT_EQ(story[3].reason(), AddedBy::retry);
  EXPECT_EQ(story[3].delay(), 320ms);

  const auto last = recorder.of(web.hash(), 2);
  ASSERT_EQ(last.size(), 2u);
  EXPECT_EQ(last[0].kind, FlightKind::ended);
  EXPECT_EQ(recorder.of(other.hash(), everything).size(), 1u);
  EXPECT_EQ(recorder.since(), at(1s));
  EXPECT_EQ(recorder.recorded(), 5u);
  EXPECT_EQ(recorder.lost(), 0u);
}

TEST(FlightRecorder, SaysOfARunThatItTimedOutOrShowedABug) {
  KeyTable keys;
  const RequestKey web = keys.intern({.namespace_ = "", .name = "web"});
  FlightRecorder recorder(1u << 16);
  ReconcileOutcome outcome = failed("late");
  outcome.kind = OutcomeKind::terminal_error;
  outcome.timed_out = true;
  outcome.panic = true;
  recorder.on_run_ended(at(1s), web, 0, 1, 1s, outcome);
  const FlightRecord record = recorder.of(web.hash(), 1).at(0);
  EXPECT_EQ(record.outcome(), OutcomeKind::terminal_error);
  EXPECT_TRUE(record.timed_out());
  EXPECT_TRUE(record.panic());
}

TEST(FlightRecorder, WithoutABudgetRecordsNothing) {
  KeyTable keys;
  const RequestKey web = keys.intern({.namespace_ = "", .name = "web"});
  FlightRecorder recorder(0);
  EXPECT_FALSE(recorder.on());
  recorder.on_event(at(1s), web.hash(), {}, EventFate::added);
  recorder.on_run_started({.key = web.hash(), .since = at(1s)});
  recorder.on_run_ended(at(1s), web, 0, 1, 1s, failed("x"));
  recorder.on_wait(at(1s), web.hash(), AddedBy::retry, 1s);
  EXPECT_TRUE(recorder.of(web.hash(), everything).empty());
  EXPECT_EQ(recorder.failure(web.hash()), nullptr);
  EXPECT_EQ(recorder.since(), std::nullopt);
  EXPECT_EQ(recorder.bytes(), 0u);
}

TEST(FlightRecorder, OverwritesTheOldestAndCountsWhatItLost) {
  FlightRecorder recorder(FlightRecorder::min_budget);
  const std::size_t capacity = recorder.capacity();
  ASSERT_EQ(capacity, FlightRecorder::min_budget / 8 * 5 / sizeof(FlightRecord));
  for (std::size_t i = 0; i < capacity; ++i) recorder.on_event(at(Duration(i)), 1, {}, EventFate::added);
  EXPECT_EQ(recorder.lost(), 0u);
  EXPECT_EQ(recorder.since(), at(Duration(0)));
  recorder.on_event(at(Duration(capacity)), 2, {}, EventFate::added);
  EXPECT_EQ(recorder.lost(), 1u);
  EXPECT_EQ(recorder.since(), at(Duration(1)));
  EXPECT_EQ(recorder.of(1, everything).size(), capacity - 1);
  EXPECT_EQ(recorder.of(1, everything).front().time(), at(Duration(1)));
  EXPECT_EQ(recorder.of(2, everything).size(), 1u);
}

TEST(FlightRecorder, KeepsTheLastFailureUntilTheKeyRunsWithoutOne) {
  KeyTable keys;
  const RequestKey web = keys.intern({.namespace_ = "default", .name = "web"});
  const RequestKey job = keys.intern({.namespace_ = "default", .name = "job"});
  FlightRecorder recorder(1u << 16);
  recorder.on_run_ended(at(1s), web, 0, 1, 0s, failed("first"));
  recorder.on_run_ended(at(2s), job, 0, 1, 0s, failed("job"));
  recorder.on_run_ended(at(3s), web, 0, 2, 0s, failed("second"));
  ASSERT_NE(recorder.failure(web.hash()), nullptr);
  EXPECT_EQ(recorder.failure(web.hash())->text, "second");
  EXPECT_EQ(recorder.failure(web.hash())->attempt, 2u);
  EXPECT_EQ(recorder.failure(web.hash())->at, at(3s));
  EXPECT_EQ(recorder.failures().front().key, web);
  recorder.on_run_ended(at(4s), web, 0, 3, 0s, {.kind = OutcomeKind::cancelled});
  EXPECT_NE(recorder.failure(web.hash()), nullptr) << "a run that was cancelled says nothing";
  recorder.on_run_ended(at(5s), web, 0, 3, 0s, {});
  EXPECT_EQ(recorder.failure(web.hash()), nullptr);
  EXPECT_EQ(recorder.failures().size(), 1u);
}

TEST(FlightRecorder, CutsLongTextsBetweenCharacters) {
  KeyTable keys;
  const RequestKey web = keys.intern({.namespace_ = "", .name = "web"});
  FlightRecorder recorder(1u << 16);
  const std::string before(FlightRecorder::max_text - 1, 'x');
  recorder.on_run_ended(at(1s), web, 0, 1, 0s, failed(before + "\xc3\xa9 and more"));
  EXPECT_EQ(recorder.text(recorder.of(web.hash(), 1).at(0)), before);
  EXPECT_EQ(recorder.failure(web.hash())->text, before);
}

TEST(FlightRecorder, SaysWhichTextsItLost) {
  KeyTable keys;
  const RequestKey web = keys.intern({.namespace_ = "", .name = "web"});
  FlightRecorder recorder(FlightRecorder::min_budget);  // half a kilobyte for texts
  recorder.on_run_ended(at(1s), web, 0, 1, 0s, failed(std::string(300, 'a')));
  recorder.on_run_ended(at(2s), web, 0, 2, 0s, failed(std::string(300, 'b')));
  const auto story = recorder.of(web.hash(), everything);
  EXPECT_EQ(recorder.text(story.at(0)), std::nullopt);
  EXPECT_EQ(recorder.text(story.at(1)), std::string(300, 'b'));
}

TEST(FlightRecorder, KnowsWhatMadeAKeyRunAlsoAfterItsRecordWasOverwritten) {
  KeyTable keys;
  const RequestKey web = keys.intern({.namespace_ = "", .name = "web"});
  FlightRecorder recorder(FlightRecorder::min_budget);
  const std::uint16_t pods = recorder.number_of("pods (v1)");
  EXPECT_EQ(recorder.number_of("nodes (v1)"), pods + 1);
  EXPECT_EQ(recorder.number_of("pods (v1)"), pods);
  EXPECT_EQ(recorder.source(pods), "pods (v1)");
  const Cause first{.by = AddedBy::event, .type = EventType::deleted, .source = pods};
  const Cause later{.by = AddedBy::event, .type = EventType::updated, .source = pods};
  recorder.on_event(at(1s), web.hash(), later, EventFate::added);
  recorder.on_run_started({.key = web.hash(), .id = 1, .since = at(2s)});
  recorder.on_event(at(3s), web.hash(), later, EventFate::refused);
  recorder.on_event(at(4s), web.hash(), first, EventFate::added);
  recorder.on_event(at(5s), web.hash(), later, EventFate::added);
  recorder.on_run_ended(at(6s), web, 0, 1, 4s, {});
  recorder.on_run_started({.key = web.hash(), .worker = 3, .id = 2, .since = at(7s)});
  recorder.on_event(at(8s), web.hash(), later, EventFate::added);
  for (std::size_t more = 0; more < 2 * recorder.capacity(); ++more) {
    const auto runs = recorder.runs();
    ASSERT_EQ(runs.size(), 1u);
    ASSERT_EQ(runs[0].cause, first) << "after " << more << " more records";
    ASSERT_EQ(runs[0].worker, 3u);
    recorder.on_event(at(9s), 1, later, EventFate::added);
  }
  recorder.on_run_ended(at(10s), web, 3, 1, 3s, {});
  EXPECT_TRUE(recorder.runs().empty());
}

TEST(FlightRecorder, KnowsOfARunThatARetryMadeIt) {
  KeyTable keys;
  const RequestKey web = keys.intern({.namespace_ = "", .name = "web"});
  FlightRecorder recorder(1u << 16);
  recorder.on_run_started({.key = web.hash(), .id = 1, .since = at(2s)});
  EXPECT_EQ(recorder.runs().at(0).cause, Cause{});
  recorder.on_run_ended(at(3s), web, 0, 1, 1s, failed("no"));
  recorder.on_wait(at(3s), web.hash(), AddedBy::retry, 1s);
  recorder.on_run_started({.key = web.hash(), .id = 2, .since = at(4s)});
  EXPECT_EQ(recorder.runs().at(0).cause.by, AddedBy::retry);
}

TEST(FlightRecorder, KnowsOfARunBeforeTheRetryWhichEventMadeIt) {
  KeyTable keys;
  const RequestKey web = keys.intern({.namespace_ = "", .name = "web"});
  FlightRecorder recorder(1u << 16);
  recorder.on_run_started({.key = web.hash(), .id = 1, .since = at(2s)});
  recorder.on_run_ended(at(3s), web, 0, 1, 1s, failed("no"));
  recorder.on_wait(at(3s), web.hash(), AddedBy::retry, 10s);
  recorder.on_event(at(4s), web.hash(), {.by = AddedBy::call}, EventFate::added);
  recorder.on_run_started({.key = web.hash(), .id = 2, .since = at(5s)});
  EXPECT_EQ(recorder.runs().at(0).cause.by, AddedBy::call);
}

// Compared with a model without limits: the newest records, their texts where the recorder has them, and the
// last failure of every key are equal, and the budget is respected.
TEST(FlightRecorder, AgreesWithAModelOverRandomHappenings) {
  struct Happening {
    std::uint64_t key;
    TimePoint at;
    FlightKind kind;
    std::string text;
  };
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const std::size_t budget = FlightRecorder::min_budget + random() % 20'000;
  FlightRecorder recorder(budget);
  KeyTable table;
  std::vector<RequestKey> keys;
  for (int i = 0; i < 12; ++i) keys.push_back(table.intern({.namespace_ = "ns", .name = std::to_string(i)}));
  std::deque<Happening> model;
  std::map<std::uint64_t, std::string> failures;
  for (int step = 0; step < 20'000; ++step) {
    const RequestKey& key = keys[random() % keys.size()];
    const TimePoint now = at(Duration(step));
    Happening happening{
        .key = key.hash(), .at = now, .kind = static_cast<FlightKind>(random() % 5), .text = {}};
    switch (happening.kind) {
      case FlightKind::event:
        recorder.on_event(now, key.hash(), {}, EventFate::waits);
        break;
      case FlightKind::waits:
        recorder.on_wait(now, key.hash(), AddedBy::requeue, 1s);
        break;
      case FlightKind::started:
        recorder.on_run_started({.key = key.hash(), .since = now});
        break;
      case FlightKind::ended:
        if (random() % 3 == 0) {
          recorder.on_run_ended(now, key, 0, 1, 1s, {});
          failures.erase(key.hash());
        } else {
          happening.text = std::to_string(random() % 5) + std::string(random() % 100, 't');
          recorder.on_run_ended(now, key, 0, 1, 1s, failed(happening.text));
          failures[key.hash()] = happening.text;
        }
        break;
      case FlightKind::renewed:
        recorder.on_renewed(now, key.hash());
        failures.erase(key.hash());
        break;
    }
    model.push_back(happening);
    if (model.size() > recorder.capacity()) model.pop_front();
    ASSERT_LE(recorder.bytes(), budget);
    if (step % 97 != 0) continue;

    ASSERT_EQ(recorder.lost() + model.size(), recorder.recorded());
    ASSERT_EQ(recorder.since(), model.front().at);
    const auto story = recorder.of(key.hash(), everything);
    // The story begins after the last record of another object of this name.
    auto expected = std::find_if(model.rbegin(), model.rend(), [&](const Happening& h) {
                      return h.key == key.hash() && h.kind == FlightKind::renewed;
                    }).base();
    for (const FlightRecord& record : story) {
      expected = std::find_if(expected, model.end(), [&](const Happening& h) { return h.key == key.hash(); });
      ASSERT_NE(expected, model.end());
      ASSERT_EQ(record.time(), expected->at);
      ASSERT_EQ(record.kind, expected->kind);
      if (const auto text = recorder.text(record)) {
        ASSERT_EQ(*text, expected->text);
      }
      ++expected;
    }
    ASSERT_EQ(std::count_if(expected, model.end(), [&](const Happening& h) { return h.key == key.hash(); }),
              0);
    // Failures may be evicted by others, but are never wrong.
    for (const RequestKey& one : keys) {
      const detail::LastFailure* failure = recorder.failure(one.hash());
      if (failure != nullptr) {
        ASSERT_EQ(failure->text, failures.at(one.hash()));
      }
    }
    ASSERT_LE(recorder.failures().size(), failures.size());
  }
}

}  // namespace
}  // namespace evenkeel::flight_recorder_tests
