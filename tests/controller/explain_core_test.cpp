// SPDX-License-Identifier: Apache-2.0
// Every reason why a key is not being reconciled, derived from its facts.
#include "controller/explain/explain_core.hpp"

#include <string>

#include <gtest/gtest.h>

#include <evenkeel/workqueue/key_table.hpp>

#include "../support/repository.hpp"
#include "base/shown_text.hpp"

namespace evenkeel::explain_core_tests {
namespace {

using namespace std::chrono_literals;
using detail::AddedBy;
using detail::Cause;
using detail::EventFate;
using detail::explain;
using detail::ExplainFacts;
using detail::FlightRecorder;

constexpr std::uint64_t nobody_else = 99;

TimePoint at(Duration time) {
  return TimePoint(time);
}

class ExplainCore : public ::testing::Test {
 protected:
  ExplainCore() {
    facts.controller = "demo";
    facts.object = "default/web";
    facts.hash = web.hash();
    facts.now = at(100s);
    facts.wall_now = WallTime(1767225700s);  // 2026-01-01T00:01:40Z
    facts.watches = {{.watch = "demos (v1)", .synced = true, .problem = {}}};
  }

  Cause event(EventType type) {
    return {.by = AddedBy::event, .type = type, .source = recorder.number_of("demos (v1)")};
  }
  void run(Duration begin, Duration end, const ReconcileOutcome& outcome, std::uint64_t attempt = 1) {
    recorder.on_run_started(
        {.key = web.hash(), .worker = 0, .id = 0xab, .attempt = attempt, .since = at(begin)});
    recorder.on_run_ended(at(end), web, 0, attempt, end - begin, outcome);
  }
  Explanation ask() {
    facts.flight = detail::flight_of(recorder, web.hash(), 100);
    facts.runs = detail::runs_of(recorder);
    return explain(facts);
  }

  KeyTable keys;
  const RequestKey web = keys.intern({.namespace_ = "default", .name = "web"});
  FlightRecorder recorder{1u << 16};
  ExplainFacts facts;
};

TEST_F(ExplainCore, SaysThatThisInstanceDoesNotLead) {
  facts.blocked_reason = "this instance is not the leader; the leader is web-1";
  const Explanation answer = ask();
  EXPECT_EQ(answer.why, WhyIdle::blocked);
  EXPECT_EQ(
      answer.verdict,
      "demo default/web: nothing is reconciled here: this instance is not the leader; the leader is web-1");
}

// The error names what is denied or missing.
TEST_F(ExplainCore, NamesTheWatchesThatItWaitsForAndWhy) {
  facts.synced = false;
  facts.watches.push_back(
      {.watch = "secrets (v1)", .synced = false, .problem = "list secrets: 403 Forbidden: no right to list"});
  const Explanation answer = ask();
  EXPECT_EQ(answer.why, WhyIdle::not_synced);
  EXPECT_EQ(
      answer.verdict,
      "demo default/web: the controller waits for the first list of secrets (v1), because list secrets: "
      "403 Forbidden: no right to list");
}

TEST_F(ExplainCore, SaysWhatItIsBehindInTheQueue) {
  facts.queue.state = KeyState::queued;
  facts.queue.lane = "slow";
  facts.queued = 40;
  facts.place = 17;
  facts.first_in_queue = "default/app";
  facts.workers = 2;
  recorder.on_run_started({.key = nobody_else, .since = at(95s)});
  const Explanation answer = ask();
  EXPECT_EQ(answer.why, WhyIdle::queued);
  EXPECT_EQ(
      answer.verdict,
      "demo default/web: it is queued at place 17 of 40 in lane slow, behind default/app; 1 of 2 workers "
      "busy, the longest for 5s");
  EXPECT_FALSE(answer.run) << "the run is somebody else's";
}

TEST_F(ExplainCore, SaysUntilWhenItBacksOffAndAfterWhat) {
  recorder.on_event(at(90s), web.hash(), event(EventType::added), EventFate::added);
  run(90s, 91s, {.kind = OutcomeKind::error, .message = "no disk left"}, 3);
  recorder.on_wait(at(91s), web.hash(), AddedBy::retry, 20s);
  facts.queue.state = KeyState::waiting;
  facts.queue.attempts = 3;
  facts.queue.next_attempt = at(111s);
  const Explanation answer = ask();
  EXPECT_EQ(answer.why, WhyIdle::backing_off);
  EXPECT_EQ(answer.verdict,
            "demo default/web: it waits for its retry until 2026-01-01T00:01:51.000000Z (in 11s) after 3 "
            "failures; the last one, 9s ago: no disk left");
  ASSERT_TRUE(answer.failure);
  EXPECT_EQ(answer.failure->error, "no disk left");
  EXPECT_EQ(answer.failure->attempt, 3u);
}

TEST_F(ExplainCore, SaysWhenItsLastRunAskedForALaterOne) {
  run(90s, 91s, {.kind = OutcomeKind::requeue_after, .delay = 1min, .message = "pods start"});
  recorder.on_wait(at(91s), web.hash(), AddedBy::requeue, 1min);
  facts.queue.state = KeyState::waiting;
  facts.queue.next_attempt = at(151s);
  const Explanation answer = ask();
  EXPECT_EQ(answer.why, WhyIdle::waiting);
  EXPECT_EQ(
      answer.verdict,
      "demo default/web: it waits until 2026-01-01T00:02:31.000000Z (in 51s), as its last run requested: "
      "pods start");
}

TEST_F(ExplainCore, SaysThatEventsAreGathered) {
  recorder.on_event(at(100s), web.hash(), event(EventType::added), EventFate::added);
  facts.queue.state = KeyState::waiting;
  facts.queue.next_attempt = at(101s);
  const Explanation answer = ask();
  EXPECT_EQ(answer.why, WhyIdle::waiting);
  EXPECT_EQ(answer.verdict,
            "demo default/web: it waits until 2026-01-01T00:01:41.000000Z (in 1s), for its debounce or "
            "minimum interval");
}

// A stuck reconcile is reported with its thread and cause.
TEST_F(ExplainCore, SaysThatItRunsAndThatItIsStuck) {
  recorder.on_event(at(10s), web.hash(), event(EventType::updated), EventFate::added);
  recorder.on_run_started({.key = web.hash(), .worker = 1, .id = 0xab, .since = at(20s), .limit = at(110s)});
  facts.queue.state = KeyState::processing;
  Explanation answer = ask();
  EXPECT_EQ(answer.why, WhyIdle::running);
  EXPECT_EQ(answer.verdict, "demo default/web: it is being reconciled now, for 1m20s, on thread demo/1");
  facts.now = at(140s);
  facts.queue.state = KeyState::processing_and_dirty;
  answer = ask();
  EXPECT_EQ(answer.why, WhyIdle::stuck);
  EXPECT_EQ(
      answer.verdict,
      "demo default/web: it is stuck: it has been reconciled for 2m on thread demo/1, longer than 1m30s; "
      "started by: demos (v1): updated; it will run once more after that");
  EXPECT_EQ(detail::stuck_sentence(*answer.run),
            "default/web has been reconciled for 2m, longer than 1m30s, on thread demo/1, reconcile_id "
            "00000000000000ab, started by: demos (v1): updated");
}

TEST_F(ExplainCore, SaysThatAPredicateRefusedItsEvents) {
  run(50s, 51s, {});
  recorder.on_event(at(60s), web.hash(), event(EventType::updated), EventFate::refused);
  recorder.on_event(at(70s), web.hash(), event(EventType::updated), EventFate::refused);
  const Explanation answer = ask();
  EXPECT_EQ(answer.why, WhyIdle::refused);
  EXPECT_EQ(
      answer.verdict,
      "demo default/web: the predicate of demos (v1) refused what happened since its last run ended well, "
      "2 events, the last 30s ago (updated)");
}

TEST_F(ExplainCore, SaysThatAPredicateRefusedAllThatIsKnown) {
  recorder.on_event(at(60s), web.hash(), event(EventType::added), EventFate::refused);
  EXPECT_EQ(ask().verdict,
            "demo default/web: the predicate of demos (v1) refused all recorded events, 1 event, "
            "the last 40s ago (created)");
}

TEST_F(ExplainCore, SaysThatNothingIsLeftToDo) {
  run(50s, 51s, {});
  const Explanation answer = ask();
  EXPECT_EQ(answer.why, WhyIdle::done);
  EXPECT_EQ(answer.verdict,
            "demo default/web: there is nothing to do: its last run ended 49s ago with success, and nothing "
            "happened since");
}

TEST_F(ExplainCore, SaysThatItGaveUp) {
  run(50s, 51s, {.kind = OutcomeKind::terminal_error, .message = "spec.size: 7 is odd"});
  const Explanation answer = ask();
  EXPECT_EQ(answer.why, WhyIdle::gave_up);
  EXPECT_EQ(answer.verdict,
            "demo default/web: its last run, 49s ago, failed without a retry, and only an event triggers "
            "another run: "
            "spec.size: 7 is odd");
}

TEST_F(ExplainCore, SaysOfAnUnknownKeyWhetherThereIsSuchAnObject) {
  facts.exists = false;
  EXPECT_EQ(ask().why, WhyIdle::unknown);
  EXPECT_EQ(ask().verdict,
            "demo default/web: nothing is recorded about it: there is no such object, and nothing asked for "
            "a run of "
            "it");
  facts.exists = true;
  EXPECT_EQ(ask().verdict,
            "demo default/web: nothing is recorded about it: the object is there, and no event "
            "requested a run");
}

TEST_F(ExplainCore, SaysHowFarTheRecorderReachesBack) {
  for (std::size_t i = 0; i <= recorder.capacity(); ++i) {
    recorder.on_event(at(std::chrono::seconds{90}), nobody_else, {}, EventFate::added);
  }
  EXPECT_EQ(
      ask().verdict,
      "demo default/web: nothing is recorded about it; the flight recorder reaches back to 10s ago only");
}

TEST_F(ExplainCore, TellsTheTimelineInWords) {
  recorder.on_event(
      at(1s), web.hash(),
      {.by = AddedBy::initial, .type = EventType::added, .source = recorder.number_of("demos (v1)")},
      EventFate::added);
  recorder.on_event(at(2s), web.hash(), event(EventType::updated), EventFate::added);
  run(3s, 4s, {.kind = OutcomeKind::error, .message = "no", .panic = true, .timed_out = true}, 2);
  recorder.on_wait(at(4s), web.hash(), AddedBy::retry, 320ms);
  recorder.on_event(at(5s), web.hash(), event(EventType::updated), EventFate::waits);
  recorder.on_event(at(6s), web.hash(), {.by = AddedBy::call}, EventFate::added);
  const Explanation answer = ask();
  std::vector<std::string> lines;
  for (const TimelineEntry& entry : answer.timeline) lines.push_back(entry.text);
  EXPECT_EQ(lines,
            (std::vector<std::string>{
                "demos (v1): in the first list; added to the queue",
                "demos (v1): updated; it was already going to run",
                "run started on worker 0, attempt 2, reconcile_id 00000000000000ab",
                "run ended after 1s: error, it timed out, the exception indicates a bug in the program: no",
                "runs again in 320ms: retry",
                "demos (v1): updated; an own write or no change; left to the retry that is due",
                "added by the program; added to the queue",
            }));
  EXPECT_EQ(answer.timeline.front().at, WallTime(1767225601s));
  EXPECT_EQ(answer.timeline.front().ago, 99s);
}

TEST_F(ExplainCore, IsTextForPeopleAndJsonForMachines) {
  recorder.on_event(at(90s), web.hash(), event(EventType::added), EventFate::added);
  run(90s, 91s, {.kind = OutcomeKind::error, .message = "no disk left"}, 1);
  recorder.on_wait(at(91s), web.hash(), AddedBy::retry, 20s);
  facts.queue.state = KeyState::waiting;
  facts.queue.attempts = 1;
  facts.queue.next_attempt = at(111s);
  EXPECT_EQ(
      to_text(ask()),
      R"(demo default/web: it waits for its retry until 2026-01-01T00:01:51.000000Z (in 11s) after 1 failure; the last one, 9s ago: no disk left

queue           waiting, priority 0
failures        1
next attempt    2026-01-01T00:01:51.000000Z, in 11s
last failure    error of attempt 1, 9s ago: no disk left
workers         0 of 1 busy
watch           demos (v1): synced

Timeline, the oldest first:
  2026-01-01T00:01:30.000000Z  demos (v1): created; added to the queue
  2026-01-01T00:01:30.000000Z  run started on worker 0, attempt 1, reconcile_id 00000000000000ab
  2026-01-01T00:01:31.000000Z  run ended after 1s: error: no disk left
  2026-01-01T00:01:31.000000Z  runs again in 20s: retry
)");
  const std::string text = tests::read_repository_file("docs/explain.md");
  EXPECT_NE(text.find(to_text(ask())), std::string::npos) << "docs/explain.md shows this example";
  const Json json = to_json(ask());
  EXPECT_EQ(json["reason"], Json("backing_off"));
  EXPECT_EQ(json.at({"queue", "nextAttempt"}), Json("2026-01-01T00:01:51.000000Z"));
  EXPECT_EQ(json.at({"queue", "nextAttemptInSeconds"}), Json(11.0));
  EXPECT_EQ(json.at({"lastFailure", "error"}), Json("no disk left"));
  EXPECT_EQ(json["timeline"].size(), 4u);
}

// The field of an object becomes an error, and the error a line on an administrator's terminal.
TEST_F(ExplainCore, ItsTextHasNothingThatATerminalObeys) {
  const std::string image = "\x1b]0;OWNED\x07\x1b[2J\u009b31m\u202e\r\n2026:broken";
  const std::string shown = R"(\x1b]0;OWNED\x07\x1b[2J\u009b31m\u202e\r\n2026:broken)";
  run(90s, 91s, {.kind = OutcomeKind::error, .message = image}, 1);
  facts.queue.state = KeyState::waiting;
  facts.queue.attempts = 1;
  facts.queue.next_attempt = at(111s);
  Explanation e = ask();
  e.watches.push_back({.watch = image, .problem = image});
  ASSERT_TRUE(e.failure);
  const std::string text = to_text(e);
  EXPECT_NE(text.find("last failure    error of attempt 1, 9s ago: " + shown + "\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("watch           " + shown + ": not synced, " + shown + "\n"), std::string::npos)
      << text;
  EXPECT_EQ(detail::shown_text(text, text.size(), detail::LineBreaks::kept), text);

  ControllerSummary summary{.kind = image, .verdict = image};
  summary.watches = e.watches;
  summary.running = {{.object = image, .thread = image, .cause = image}};
  summary.failing = {*e.failure};
  summary.failing[0].object = image;
  summary.first_queued = {{.object = image}};
  const std::string all = to_text(summary);
  EXPECT_EQ(detail::shown_text(all, all.size(), detail::LineBreaks::kept), all);
  EXPECT_EQ(all.find("\n2026"), std::string::npos) << all;
  EXPECT_EQ(Json::parse(to_json(summary).dump())["verdict"].as_string(), image) << "machines get all of it";
}

}  // namespace
}  // namespace evenkeel::explain_core_tests
