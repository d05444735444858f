// SPDX-License-Identifier: Apache-2.0
#include "events/event_core.hpp"

#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "events/event_body.hpp"

namespace evenkeel::event_core {
namespace {

using namespace std::chrono_literals;
using detail::EventCore;
using detail::EventRecord;
using detail::WriteEnd;

EventRecord about(const std::string& name, const std::string& message = "no image") {
  return {.subject = {.api_version = "v1", .kind = "Pod", .namespace_ = "default", .name = name, .uid = "u1"},
          .severity = EventSeverity::warning,
          .reason = "FailedPull",
          .message = message,
          .action = "Pull"};
}

/// Drives a core in virtual time, with a server that answers as told.
class EventCoreTest : public ::testing::Test {
 protected:
  void use(EventApi api, EventLimits limits = {}) {
    api_ = api;
    core.emplace(detail::EventCoreOptions{.api = api, .limits = limits, .random = [] { return 0.5; }});
  }
  bool record(EventRecord event) { return core->on_event(std::move(event), now_, wall()); }
  WallTime wall() const {
    return WallTime(1'000'000s + std::chrono::duration_cast<WallTime::duration>(now_.time_since_epoch()));
  }
  // Writes all that is due; returns a line for each write.
  std::vector<std::string> write(WriteEnd end = WriteEnd::done) {
    std::vector<std::string> lines;
    core->on_timeout(now_);
    while (const auto write = core->next_write(now_)) {
      last = detail::event_request(*write, {.api = api_, .component = "op", .instance = "op-1"});
      lines.push_back(std::string(write->create ? "create " : "patch ") +
                      std::to_string(write->event->count) + " " + write->event->record.message);
      core->on_written(end, now_);
      if (end == WriteEnd::failed) break;
    }
    return lines;
  }
  void pass(Duration time) { now_ += time; }
  using Lines = std::vector<std::string>;

  std::optional<EventCore> core;
  RestRequest last;
  TimePoint now_{1h};

 private:
  EventApi api_ = EventApi::events_v1;
};

TEST_F(EventCoreTest, WritesANewEventAtOnceAndItsFirstRepetitionAsASeries) {
  use(EventApi::events_v1);
  record(about("web"));
  EXPECT_EQ(core->next_due(now_), now_);
  EXPECT_EQ(write(), Lines{"create 1 no image"});
  const Json body = Json::parse(last.body);
  EXPECT_EQ(
      body.dump(),
      R"({"action":"Pull","apiVersion":"events.k8s.io/v1","eventTime":"1970-01-12T14:46:40.000000Z",)"
      R"("kind":"Event","metadata":{"name":"web.390c4d57f2000","namespace":"default"},"note":"no image",)"
      R"("reason":"FailedPull","regarding":{"apiVersion":"v1","kind":"Pod","name":"web","namespace":)"
      R"("default","uid":"u1"},"reportingController":"op","reportingInstance":"op-1","type":"Warning"})");
  pass(1s);
  record(about("web", "another message"));
  EXPECT_EQ(write(), Lines{"patch 2 no image"});
  EXPECT_EQ(last.body, R"({"series":{"count":2,"lastObservedTime":"1970-01-12T14:46:41.000000Z"}})");
}

TEST_F(EventCoreTest, WritesTheNumberOfASeriesWhenNothingWasAddedForSixMinutes) {
  use(EventApi::events_v1);
  for (int i = 0; i < 5; ++i) {
    record(about("web"));
    write();
  }
  EXPECT_EQ(write(), Lines{});
  EXPECT_EQ(core->next_write_due(now_), std::nullopt);
  EXPECT_EQ(core->next_due(now_), now_ + 6min);
  pass(6min);
  EXPECT_EQ(write(), Lines{"patch 5 no image"});
  record(about("web"));
  EXPECT_EQ(write(), Lines{"create 1 no image"}) << "the series has ended";
}

TEST_F(EventCoreTest, WritesTheNumberOfASeriesThatGoesOnEveryHalfHour) {
  use(EventApi::events_v1);
  Lines patches;
  for (int minute = 0; minute < 65; ++minute) {
    record(about("web"));
    for (const std::string& line : write()) patches.push_back(line);
    pass(1min);
  }
  EXPECT_EQ(patches,
            (Lines{"create 1 no image", "patch 2 no image", "patch 31 no image", "patch 61 no image"}));
}

TEST_F(EventCoreTest, CountsEachRepetitionInCoreV1) {
  use(EventApi::core_v1);
  record(about("web"));
  EXPECT_EQ(write(), Lines{"create 1 no image"});
  EXPECT_EQ(Json::parse(last.body)["involvedObject"]["name"].string_or(""), "web");
  EXPECT_EQ(Json::parse(last.body)["count"].integer_or(0), 1);
  pass(1s);
  record(about("web"));
  EXPECT_EQ(write(), Lines{"patch 2 no image"});
  EXPECT_EQ(last.body, R"({"count":2,"lastTimestamp":"1970-01-12T14:46:41Z","message":"no image"})");
}

TEST_F(EventCoreTest, WritesRepetitionsThatWaitedOnce) {
  use(EventApi::core_v1);
  for (int i = 0; i < 4; ++i) record(about("web"));
  EXPECT_EQ(write(), Lines{"create 4 no image"});
  EXPECT_EQ(core->totals().written, 1U);
}

TEST_F(EventCoreTest, CombinesSimilarEventsFromTheTenthMessageOn) {
  use(EventApi::core_v1);
  Lines lines;
  for (int i = 1; i <= 12; ++i) {
    record(about("web", "attempt " + std::to_string(i)));
    for (const std::string& line : write()) lines.push_back(line);
  }
  ASSERT_EQ(lines.size(), 12U);
  EXPECT_EQ(lines[8], "create 1 attempt 9");
  EXPECT_EQ(lines[9], "create 1 (combined from similar events): attempt 10");
  EXPECT_EQ(lines[10], "patch 2 (combined from similar events): attempt 11");
  EXPECT_EQ(lines[11], "patch 3 (combined from similar events): attempt 12");
  pass(10min + 1s);
  record(about("web", "attempt 13"));
  EXPECT_EQ(write(), Lines{"create 1 attempt 13"}) << "ten minutes without one end combining";
}

TEST_F(EventCoreTest, KeepsBackAFloodOfAnObjectAndOfNoOther) {
  use(EventApi::core_v1);
  std::size_t written = 0;
  for (int i = 0; i < 40; ++i) {
    record(about("web"));
    written += write().size();
  }
  EXPECT_EQ(written, 25U);
  EXPECT_EQ(core->totals().filtered, 15U);
  record(about("db"));
  EXPECT_EQ(write().size(), 1U);
  pass(5min);
  record(about("web"));
  record(about("web"));
  EXPECT_EQ(write(), Lines{"patch 42 no image"}) << "one more each five minutes, with the true number";
}

TEST_F(EventCoreTest, DropsAndCountsWhatTheQueueHasNoPlaceFor) {
  use(EventApi::events_v1, {.queue = 2});
  EXPECT_TRUE(record(about("a")));
  EXPECT_TRUE(record(about("b")));
  EXPECT_TRUE(record(about("a"))) << "a repetition needs no place";
  EXPECT_FALSE(record(about("c")));
  EXPECT_FALSE(record(about("c")));
  EXPECT_EQ(core->totals().dropped, 2U);
  EXPECT_EQ(write(), (Lines{"create 2 no image", "create 1 no image"}));
  EXPECT_TRUE(record(about("c")));
  EXPECT_EQ(write(), Lines{"create 3 no image"}) << "as soon as there is a place";
}

TEST_F(EventCoreTest, TriesTwelveTimesTenSecondsApartTheFirstAtRandom) {
  use(EventApi::events_v1);
  record(about("web"));
  record(about("db"));
  EXPECT_EQ(write(WriteEnd::failed).size(), 1U);
  EXPECT_EQ(core->next_due(now_), now_ + 5s);
  for (int tries = 2; tries <= 12; ++tries) {
    EXPECT_EQ(write(), Lines{});
    pass(tries == 2 ? 5s : 10s);
    EXPECT_EQ(write(WriteEnd::failed).size(), 1U) << tries;
  }
  EXPECT_EQ(core->totals().failed, 1U);
  EXPECT_EQ(write().size(), 1U) << "the next one";
  EXPECT_TRUE(core->idle());
}

TEST_F(EventCoreTest, DoesNotTryAgainWhatTheServerRejects) {
  use(EventApi::core_v1);
  record(about("web"));
  EXPECT_EQ(write(WriteEnd::rejected).size(), 1U);
  EXPECT_EQ(core->totals().failed, 1U);
  EXPECT_TRUE(core->idle());
  record(about("web"));
  EXPECT_EQ(write(), Lines{"create 2 no image"}) << "a later repetition is written, with the true number";
}

TEST_F(EventCoreTest, DoesNotTryEachRepetitionOfASeriesThatTheServerRejects) {
  use(EventApi::events_v1);
  for (const std::size_t writes : {1U, 1U, 0U, 0U}) {
    record(about("web"));
    EXPECT_EQ(write(WriteEnd::rejected).size(), writes);
  }
  pass(6min);
  EXPECT_EQ(write(), Lines{"create 4 no image"}) << "at the end of the series";
  EXPECT_EQ(Json::parse(last.body).at({"series", "count"}).integer_or(0), 4);
  EXPECT_EQ(core->totals().failed, 2U);
}

TEST_F(EventCoreTest, WritesNothingAtTheEndOfASeriesThatWasGivenUpWithoutARepetition) {
  use(EventApi::events_v1);
  record(about("web"));
  write(WriteEnd::rejected);
  core->flush();
  pass(6min);
  EXPECT_EQ(write(), Lines{});
  EXPECT_EQ(core->next_due(now_ + 1h), std::nullopt) << "nothing is remembered";
}

TEST_F(EventCoreTest, CreatesAnEventAnewThatIsGone) {
  use(EventApi::core_v1);
  record(about("web"));
  write();
  record(about("web"));
  ASSERT_FALSE(core->next_write(now_)->create);
  core->on_written(WriteEnd::not_found, now_);
  EXPECT_EQ(write(), Lines{"create 2 no image"});
}

TEST_F(EventCoreTest, TakesAnotherNameIfTheNameIsTaken) {
  use(EventApi::events_v1);
  record(about("web"));
  const auto first = core->next_write(now_);
  core->on_written(WriteEnd::already_exists, now_);
  const auto second = core->next_write(now_);
  ASSERT_TRUE(second && second->create);
  EXPECT_NE(second->event->name, first->event->name);
}

TEST_F(EventCoreTest, KnowsItsOwnEventIfTheAnswerToACreationWasLost) {
  use(EventApi::events_v1);
  record(about("web"));
  write(WriteEnd::failed);
  pass(5s);
  EXPECT_EQ(write(WriteEnd::already_exists).size(), 1U);
  EXPECT_TRUE(core->idle());
  EXPECT_EQ(core->totals().written, 1U);
}

// Regression: the retry's number was taken for the one on the server.
TEST_F(EventCoreTest, PatchesItsOwnEventIfItWasRepeatedSinceTheLostAnswer) {
  for (const EventApi api : {EventApi::events_v1, EventApi::core_v1}) {
    use(api);
    record(about("web"));
    EXPECT_EQ(write(WriteEnd::failed), Lines{"create 1 no image"});
    record(about("web"));
    pass(5s);
    const auto retried = core->next_write(now_);
    ASSERT_TRUE(retried && retried->create);
    EXPECT_EQ(retried->event->count, 2);
    core->on_written(WriteEnd::already_exists, now_);
    EXPECT_EQ(write(), Lines{"patch 2 no image"});
    EXPECT_TRUE(core->idle());
  }
}

TEST_F(EventCoreTest, WritesTheNumbersOfAllSeriesAtTheEnd) {
  use(EventApi::events_v1);
  for (int i = 0; i < 3; ++i) {
    record(about("web"));
    record(about("db"));
    write();
  }
  core->flush();
  EXPECT_EQ(write(), (Lines{"patch 3 no image", "patch 3 no image"}));
  core->flush();
  EXPECT_EQ(write(), Lines{}) << "nothing has changed";
}

TEST_F(EventCoreTest, WritesAtTheEndWhatWasRepeatedDuringAWrite) {
  use(EventApi::events_v1);
  record(about("web"));
  write();
  record(about("web"));
  ASSERT_TRUE(core->next_write(now_));
  record(about("web"));
  core->flush();
  core->on_written(WriteEnd::done, now_);
  EXPECT_FALSE(core->idle());
  EXPECT_EQ(write(), Lines{"patch 3 no image"});
  EXPECT_TRUE(core->idle());
}

TEST_F(EventCoreTest, DoesNotWriteAtTheEndWhatTheSpamFilterKeptBack) {
  use(EventApi::core_v1, {.burst = 1});
  record(about("web"));
  record(about("web", "another"));
  EXPECT_EQ(write(), Lines{"create 1 no image"});
  core->flush();
  EXPECT_EQ(write(), Lines{});
}

TEST_F(EventCoreTest, ForgetsTheOldestSeries) {
  use(EventApi::events_v1, {.remembered = 2});
  for (const char* name : {"a", "b", "c"}) record(about(name));
  write();
  record(about("c"));
  record(about("a"));
  EXPECT_EQ(write(), (Lines{"patch 2 no image", "create 1 no image"}));
}

TEST_F(EventCoreTest, WritesTheNumberOfASeriesThatItForgets) {
  use(EventApi::events_v1, {.remembered = 1});
  for (int i = 0; i < 3; ++i) {
    record(about("a"));
    write();
  }
  record(about("b"));
  EXPECT_EQ(write(), (Lines{"create 1 no image", "patch 3 no image"}));
}

// Regression: the numbers filled the queue, and what had no place in it was dropped.
TEST_F(EventCoreTest, TheNumbersOfManySeriesTakeNoPlacesOfNewEvents) {
  use(EventApi::events_v1, {.queue = 2});
  for (const char* name : {"a", "b", "c", "d"}) {
    for (int i = 0; i < 3; ++i) {
      record(about(name));
      write();
    }
  }
  core->flush();
  EXPECT_EQ(core->waiting(), 4U);
  EXPECT_TRUE(record(about("new")));
  EXPECT_EQ(write(), (Lines{"create 1 no image", "patch 3 no image", "patch 3 no image", "patch 3 no image",
                            "patch 3 no image"}));
  EXPECT_TRUE(core->idle());
  EXPECT_EQ(core->totals().dropped, 0U);
}

/// Two series that are remembered, and the numbers of two forgotten ones, which fill the places for numbers.
class EventCoreWithoutPlaces : public EventCoreTest {
 protected:
  EventCoreWithoutPlaces() {
    use(EventApi::events_v1, {.remembered = 2});
    for (int i = 0; i < 3; ++i) {
      record(about("a", "a"));
      record(about("b", "b"));
      write();
    }
    for (int i = 0; i < 3; ++i) {
      for (const char* name : {"c", "d"}) {
        record(about(name, name));
        if (i == 2) continue;
        EXPECT_TRUE(core->next_write(now_));
        core->on_written(WriteEnd::done, now_);
      }
    }
    EXPECT_EQ(core->waiting(), 2U);
  }
};

TEST_F(EventCoreWithoutPlaces, ASeriesThatEndsStaysUntilItsNumberHasAPlace) {
  pass(6min);
  EXPECT_EQ(write(), (Lines{"patch 3 a", "patch 3 b"}));
  pass(6min);
  EXPECT_EQ(write(), (Lines{"patch 3 d", "patch 3 c"}));
  EXPECT_EQ(core->totals().dropped, 0U);
  EXPECT_EQ(core->next_due(now_ + 24h), std::nullopt) << "nothing is remembered";
}

TEST_F(EventCoreWithoutPlaces, AFlushGoesOnWhenThereArePlacesAgain) {
  core->flush();
  EXPECT_EQ(core->waiting(), 2U);
  EXPECT_EQ(write(), (Lines{"patch 3 a", "patch 3 b", "patch 3 d", "patch 3 c"}));
  EXPECT_TRUE(core->idle());
}

TEST_F(EventCoreTest, NamesEventsByObjectAndTimeNeverTwiceTheSame) {
  use(EventApi::events_v1);
  record(about(std::string(253, 'n')));
  record(about("web"));
  const std::string first = core->next_write(now_)->event->name;
  core->on_written(WriteEnd::done, now_);
  const std::string second = core->next_write(now_)->event->name;
  EXPECT_EQ(first.size(), 253U);
  EXPECT_EQ(second, "web.390c4d57f2001");
}

TEST_F(EventCoreTest, PutsTheEventOfAClusterScopedObjectIntoDefault) {
  use(EventApi::events_v1);
  EventRecord event = about("team");
  event.subject.namespace_.clear();
  event.related = EventSubject{.api_version = "v1", .kind = "Node", .name = "n1"};
  record(event);
  write();
  const Json body = Json::parse(last.body);
  EXPECT_EQ(body.at({"metadata", "namespace"}).string_or(""), "default");
  EXPECT_FALSE(body["regarding"].contains("namespace"));
  EXPECT_EQ(body["related"].dump(), R"({"apiVersion":"v1","kind":"Node","name":"n1"})");
}

TEST(NameOfEvent, IsOneThatTheServerTakes) {
  EXPECT_EQ(detail::name_of_event("web-1.example", ".1"), "web-1.example.1");
  EXPECT_EQ(detail::name_of_event("a--b", ".1"), "a--b.1");
  EXPECT_EQ(detail::name_of_event("system:Admin", ".1"), "system-admin.1");
  EXPECT_EQ(detail::name_of_event("a-.-b..c-.", ".1"), "a.b.c.1");
  EXPECT_EQ(detail::name_of_event("::", ".1"), "event.1");
  EXPECT_EQ(detail::name_of_event(std::string(250, 'n') + "-mm", ".12"), std::string(250, 'n') + ".12");
}

TEST(CutText, EndsWithAWholeCharacter) {
  EXPECT_EQ(detail::cut_text("abc", 3), "abc");
  EXPECT_EQ(detail::cut_text("abcd", 3), "abc");
  EXPECT_EQ(detail::cut_text("ab\u00e9", 3), "ab");
  EXPECT_EQ(detail::cut_text("a\u20acb", 4), "a\u20ac");
  EXPECT_EQ(detail::cut_text("a\U0001F600b", 4), "a");
}

}  // namespace
}  // namespace evenkeel::event_core
