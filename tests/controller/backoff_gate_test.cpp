// SPDX-License-Identifier: Apache-2.0
// Events during a back-off: some run a key at once, and no number of them affects the sequence of delays.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/core.hpp>

#include "client/request/write_log.hpp"
#include "controller_fixture.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

constexpr std::array<std::int64_t, 14> ladder = {0,   5,    15,   35,   75,    155,   315,
                                                 635, 1275, 2555, 5115, 10235, 20475, 40955};

std::string status_of(int version, const std::string& more = {}) {
  return R"({"namespace":"ns","name":"a","uid":"u","generation":1,"resourceVersion":")" +
         std::to_string(version) + "\"" + more + "}";
}

class BackoffGate : public ControllerTest {
 protected:
  // `body` is called for the key "a"; runs of the key "probe" only show that all earlier work is done.
  ControllerSpec recorded(std::function<Result(Context&)> body) {
    ControllerSpec made = spec([this, body = std::move(body)](Context& context) {
      if (context.key().name == "probe") {
        probes.add();
        return done();
      }
      starts.push_back(clock->now().time_since_epoch() / 1ms);
      attempts.push_back(context.attempt());
      return body(context);
    });
    // A second kind, whose objects concern the key "a".
    WatchSpec secondary = made.watches[0];
    secondary.primary = false;
    secondary.mapping = [](const WireObject&, std::vector<ObjectKey>& found) {
      found.push_back({"ns", "a"});
    };
    made.watches.push_back(std::move(secondary));
    return made;
  }
  // Waits until the one worker has run all ready keys, and waits again.
  void settle() {
    controller->enqueue({"ns", "probe"});
    probes.wait_for(++expected_probes);
    clock->wait_for_waiters(1);
  }
  void move_to(Duration since_start) {
    clock->advance(TimePoint{} + since_start - clock->now());
    settle();
  }
  void next_deadline() {
    clock->advance_to_next();
    settle();
  }
  void appear() {
    const WireObject object = wire_object(status_of(1));
    handlers[0]->on_event(added(object));
  }
  void update(const std::string& before, const std::string& now) {
    const WireObject old = wire_object(before, "Demo", "demo.example.com/v1");
    const WireObject object = wire_object(now, "Demo", "demo.example.com/v1");
    handlers[0]->on_event(updated(old, object));
  }
  // Simulates the answer to a write of the controller to "a", and the event of a write of anybody.
  void answer(int version) {
    client.writes()->add(
        {.uid = "u", .version = std::to_string(version), .base = std::to_string(version - 1)});
  }
  int event() {
    const int version = ++version_;
    update(status_of(version - 1), status_of(version));
    return version;
  }
  // An own write whose event comes after its answer, or before.
  void write_status() {
    answer(version_ + 1);
    event();
  }
  void write_status_late() {
    const detail::WriteLog::Pending write(client.writes(),
                                          {.method = http::Method::put, .namespace_ = "ns", .name = "a"}, 0);
    answer(event());
  }
  void write_status_elsewhere() { event(); }
  // The status of a child of "a" changes.
  void change_secondary() {
    const WireObject before = wire_object(R"({"namespace":"ns","name":"child","generation":1})", "Child");
    const WireObject now = wire_object(R"({"namespace":"ns","name":"child","generation":1})", "Child");
    handlers[1]->on_event(updated(before, now));
  }
  [[noreturn]] static void fail() { throw std::runtime_error("dummy error"); }

  Tally probes;
  int expected_probes = 0;
  std::atomic<int> version_ = 1;
  std::vector<std::int64_t> starts;
  std::vector<std::uint64_t> attempts;
};

// The cause of busy loops in the Java SDK and Flink's operators: a reconciler that writes its status and then
// fails triggers itself. The event arrives while it still runs, before or after the answer, and again during
// the back-off.
TEST_F(BackoffGate, AReconcilerThatWritesItsStatusAndFailsStaysOnTheLadder) {
  start_synced(recorded([&](Context&) -> Result {
    if (starts.size() <= ladder.size()) {
      write_status();
      write_status_late();
    }
    if (starts.size() < ladder.size()) fail();
    return done();
  }));
  appear();
  settle();
  for (std::size_t run = 1; run < ladder.size(); ++run) {
    write_status();
    settle();
    next_deadline();
  }
  // The last run did not fail, so its write runs the key once more.
  std::vector<std::int64_t> expected(ladder.begin(), ladder.end());
  expected.push_back(ladder.back());
  EXPECT_THAT(starts, ElementsAreArray(expected));
  EXPECT_EQ(attempts[13], 14U);
  EXPECT_EQ(attempts[14], 1U);
}

TEST_F(BackoffGate, AStatusWriteOfAnybodyElseRunsAtOnceAndMovesNoDeadline) {
  start_synced(recorded([](Context&) -> Result { fail(); }));
  appear();
  settle();
  move_to(2ms);
  write_status_elsewhere();
  settle();
  move_to(3ms);
  write_status();
  settle();
  next_deadline();
  next_deadline();
  EXPECT_THAT(starts, ElementsAre(0, 2, 5, 15));
  EXPECT_THAT(attempts, ElementsAre(1, 2, 2, 3));
}

TEST_F(BackoffGate, AStatusWriteOfAnybodyElseDuringAFailingRunRunsTheKeyAtOnce) {
  start_synced(recorded([&](Context&) -> Result {
    write_status();
    if (starts.size() == 1) write_status_elsewhere();
    write_status_late();
    fail();
  }));
  appear();
  settle();
  next_deadline();
  next_deadline();
  EXPECT_THAT(starts, ElementsAre(0, 0, 5, 15));
  EXPECT_THAT(attempts, ElementsAre(1, 2, 2, 3));
  EXPECT_EQ(controller->latency().count(), 2U) << "the second run answers the event of the first";
}

TEST_F(BackoffGate, MoreOwnWritesInARunThanAreKeptRunTheKeyAtOnce) {
  start_synced(recorded([&](Context&) -> Result {
    for (int i = 0; i < (starts.size() == 1 ? 17 : 16); ++i) write_status();
    fail();
  }));
  appear();
  settle();
  next_deadline();
  EXPECT_THAT(starts, ElementsAre(0, 0, 5));
}

TEST_F(BackoffGate, AWriteOfAnotherControllerOfTheProcessRunsAtOnce) {
  start_synced(recorded([](Context&) -> Result { fail(); }));
  appear();
  settle();
  move_to(2ms);
  client.writes()->add({.uid = "u", .version = "2", .base = "1", .writer = client.writes()->new_writer()});
  event();
  settle();
  next_deadline();
  EXPECT_THAT(starts, ElementsAre(0, 2, 5));
}

// After a gap of the watch the event shows two writes as one change.
TEST_F(BackoffGate, AChangeOfSeveralWritesMayHideOneOfSomebodyElse) {
  start_synced(recorded([](Context&) -> Result { fail(); }));
  appear();
  settle();
  const auto relist = [&](const std::string& label) {
    version_ += 2;
    update(status_of(version_ - 2), status_of(version_, R"(,"labels":{"l":")" + label + R"("})"));
  };
  move_to(2ms);
  answer(version_ + 1);
  answer(version_ + 2);
  relist("1");
  settle();
  move_to(3ms);
  answer(version_ + 2);
  relist("2");
  settle();
  next_deadline();
  EXPECT_THAT(starts, ElementsAre(0, 3, 5));
}

// One write by each client that a process may have. "Somebody" has a client of its own, as another
// replica does.
TEST_F(BackoffGate, KnowsTheWritesOfItsClients) {
  const Client somebody(client.config(), {.transport = client.transport()});
  const Client another = client.with({.writer = client.writes()->new_writer()});
  const ObjectKey key{"ns", "a"};
  client.create(Namespace{.metadata = {.name = key.namespace_}});
  client.create(ConfigMap{.metadata = {.name = key.name, .namespace_ = key.namespace_}});
  const Client* writer = nullptr;
  bool write = false;
  int writes = 0;
  start_synced(recorded([&](Context& context) -> Result {
    if (!std::exchange(write, false)) fail();
    const Client& used = writer == nullptr ? context.client() : *writer;
    const auto before = client.get<ConfigMap>(key);
    const auto after = used.patch<ConfigMap>(
        key, Patch::merge(Json::object({{"data", Json::object({{"n", std::to_string(++writes)}})}})));
    const WireObject old = WireScanner().object(before.raw());
    const WireObject now = WireScanner().object(after.raw());
    handlers[0]->on_event(updated(old, now));
    fail();
  }));
  const auto runs_after_write_of = [&](const Client* used) {
    writer = used;
    write = true;
    const std::size_t before = starts.size();
    appear();
    settle();
    return starts.size() - before - 1;
  };
  EXPECT_EQ(runs_after_write_of(nullptr), 0U) << "through the Context";
  EXPECT_EQ(runs_after_write_of(&client), 0U) << "by a client that the reconciler captured";
  EXPECT_EQ(runs_after_write_of(&another), 1U) << "of another controller of the process";
  EXPECT_EQ(runs_after_write_of(&somebody), 1U);
}

// kubernetes#132805: events during the back-off must not count as failures.
TEST_F(BackoffGate, AStormOfEventsOfSecondariesDoesNotInflateTheLadder) {
  start_synced(recorded([](Context&) -> Result { fail(); }));
  appear();
  settle();
  for (Duration now = 1ms; now <= 40ms; now += 1ms) {
    move_to(now);
    change_secondary();
    settle();
  }
  next_deadline();
  next_deadline();
  // Each event runs the key at once; at 5, 15 and 35 ms there is also a retry.
  std::vector<std::int64_t> expected = {0};
  std::vector<std::uint64_t> counts = {1};
  for (std::int64_t now = 1; now <= 40; ++now) {
    const bool retry = now == 5 || now == 15 || now == 35;
    expected.insert(expected.end(), retry ? 2 : 1, now);
    const std::uint64_t before = now <= 5 ? 2 : now <= 15 ? 3 : now <= 35 ? 4 : 5;
    counts.push_back(before);
    if (retry) counts.push_back(before + 1);
  }
  expected.insert(expected.end(), {75, 155});
  counts.insert(counts.end(), {5, 6});
  EXPECT_EQ(starts, expected);
  EXPECT_EQ(attempts, counts);
}

TEST_F(BackoffGate, AChangeOfTheSpecRunsAtOnceAndItsSuccessEndsTheBackOff) {
  bool broken = true;
  start_synced(recorded([&](Context&) {
    if (broken) fail();
    return done();
  }));
  appear();
  settle();
  for (int retry = 1; retry < 8; ++retry) next_deadline();  // 635 ms; the next retry is due at 1275 ms
  broken = false;
  move_to(700ms);
  update(R"({"namespace":"ns","name":"a","generation":1})",
         R"({"namespace":"ns","name":"a","generation":2})");
  settle();
  move_to(2000ms);
  broken = true;
  change_secondary();
  settle();
  next_deadline();
  EXPECT_THAT(starts, ElementsAre(0, 5, 15, 35, 75, 155, 315, 635, 700, 2000, 2005));
  EXPECT_THAT(attempts, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2));
}

TEST_F(BackoffGate, AChangeOfTheSpecThatDoesNotHelpWaitsForTheSameDeadline) {
  start_synced(recorded([](Context&) -> Result { fail(); }));
  appear();
  settle();
  next_deadline();
  next_deadline();  // 15 ms; the next retry is due at 35 ms
  move_to(20ms);
  update(R"({"namespace":"ns","name":"a","generation":1})",
         R"({"namespace":"ns","name":"a","generation":2})");
  settle();
  next_deadline();
  next_deadline();
  EXPECT_THAT(starts, ElementsAre(0, 5, 15, 20, 35, 75));
  EXPECT_THAT(attempts, ElementsAre(1, 2, 3, 4, 4, 5));
  EXPECT_EQ(lines->lines_with("next_try_in=15ms").size(), 1U) << "the log says how long it really takes";
}

TEST_F(BackoffGate, EveryOtherEventRunsAtOnce) {
  const std::string same = R"({"namespace":"ns","name":"a","generation":1})";
  const std::vector<std::function<void()>> events = {
      [&] { update(same, R"({"namespace":"ns","name":"a","generation":1,"labels":{"l":"1"}})"); },
      [&] { update(same, R"({"namespace":"ns","name":"a","generation":1,"annotations":{"l":"1"}})"); },
      [&] {
        update(same,
               R"({"namespace":"ns","name":"a","generation":1,"deletionTimestamp":"2026-01-01T00:00:00Z"})");
      },
      [&] {
        const WireObject object = wire_object(same);
        handlers[0]->on_event(deleted(object));
      },
      [&] { change_secondary(); },
      [&] {
        controller->enqueue({"ns", "a"});
      },
  };
  start_synced(recorded([](Context&) -> Result { fail(); }));
  appear();
  settle();
  for (int retry = 1; retry < 8; ++retry) next_deadline();  // 635 ms; the next retry is due at 1275 ms
  starts.clear();
  std::vector<std::int64_t> expected;
  for (const auto& event : events) {
    expected.push_back(700 + static_cast<std::int64_t>(expected.size()));
    move_to(std::chrono::milliseconds{expected.back()});
    event();
    settle();
    write_status();
    settle();
  }
  next_deadline();
  expected.push_back(1275);
  EXPECT_EQ(starts, expected);
  EXPECT_EQ(attempts.back(), 9U);
}

TEST_F(BackoffGate, ARequeueWaitsInTheSameWay) {
  start_synced(recorded([&](Context&) {
    write_status();
    return requeue("not there yet");
  }));
  appear();
  settle();
  for (int retry = 1; retry < 4; ++retry) {
    write_status();
    settle();
    next_deadline();
  }
  EXPECT_THAT(starts, ElementsAre(0, 5, 15, 35));
}

TEST_F(BackoffGate, ARequeueAfterIsNoBackOff) {
  start_synced(recorded([](Context&) { return requeue_after(10s); }));
  appear();
  settle();
  move_to(3ms);
  write_status();
  settle();
  next_deadline();
  EXPECT_THAT(starts, ElementsAre(0, 3, 10'003));
  EXPECT_THAT(attempts, ElementsAre(1, 1, 1));
}

TEST_F(BackoffGate, AnEarlyRequeueAfterEndsTheBackOff) {
  start_synced(recorded([&](Context&) {
    if (starts.size() == 1) fail();
    return requeue_after(10s);
  }));
  appear();
  settle();
  move_to(3ms);
  change_secondary();
  settle();
  move_to(4ms);
  write_status();
  settle();
  move_to(10s);
  EXPECT_THAT(starts, ElementsAre(0, 3, 4)) << "the retry at 5 ms is gone, and events wait no more";
}

TEST_F(BackoffGate, AnEarlyTerminalErrorEndsTheBackOff) {
  start_synced(recorded([&](Context&) -> Result {
    if (starts.size() == 2) throw TerminalError("bad spec");
    fail();
  }));
  appear();
  settle();
  move_to(3ms);
  change_secondary();
  settle();
  move_to(10s);
  EXPECT_THAT(starts, ElementsAre(0, 3)) << "the retry at 5 ms is gone";
  write_status();
  settle();
  next_deadline();
  EXPECT_THAT(starts, ElementsAre(0, 3, 10'000, 10'005));
  EXPECT_THAT(attempts, ElementsAre(1, 2, 1, 2));
}

TEST_F(BackoffGate, AnEventDuringARunThatDoesNotFailRunsItAgain) {
  start_synced(recorded([&](Context&) {
    if (starts.size() == 1) {
      clock->advance(2ms);
      write_status();
      clock->advance(3ms);
    }
    return starts.size() == 1 ? requeue_after(10s) : done();
  }));
  appear();
  settle();
  EXPECT_THAT(starts, ElementsAre(0, 5));
  EXPECT_EQ(controller->latency().count(), 2U);
  EXPECT_GE(controller->latency().quantile(1), 3ms) << "from the event, not from the end of the run";
  EXPECT_LT(controller->latency().quantile(1), 5ms);
}

// Events during an early run that fails are not lost: the retry sees them. If it does not fail, there is no
// retry, and another run sees them.
TEST_F(BackoffGate, AnEventDuringAnEarlyRunIsSeenByALaterRun) {
  start_synced(recorded([&](Context&) {
    if (starts.size() == 2 || starts.size() == 4) write_status();
    if (starts.size() < 4) fail();
    return done();
  }));
  appear();
  settle();
  move_to(3ms);
  change_secondary();
  settle();
  next_deadline();
  EXPECT_THAT(starts, ElementsAre(0, 3, 5));
  move_to(10ms);
  change_secondary();
  settle();
  move_to(10s);
  EXPECT_THAT(starts, ElementsAre(0, 3, 5, 10, 10));
}

TEST_F(BackoffGate, AnotherEventDuringAFailingRunRunsTheKeyAtOnce) {
  start_synced(recorded([&](Context&) -> Result {
    if (starts.size() == 1) change_secondary();
    fail();
  }));
  appear();
  settle();
  next_deadline();
  next_deadline();
  EXPECT_THAT(starts, ElementsAre(0, 0, 5, 15));
  EXPECT_THAT(attempts, ElementsAre(1, 2, 2, 3));
}

TEST_F(BackoffGate, AFailureAfterTheDeadlineCountsHoweverTheRunBegan) {
  start_synced(recorded([&](Context&) -> Result {
    if (starts.size() == 2) clock->advance(4ms);  // from 3 ms past the deadline at 5 ms
    fail();
  }));
  appear();
  settle();
  move_to(3ms);
  change_secondary();
  settle();
  next_deadline();
  EXPECT_THAT(starts, ElementsAre(0, 3, 17));
  EXPECT_THAT(attempts, ElementsAre(1, 2, 3));
}

TEST_F(BackoffGate, AnEventThatIsLeftOutIsNoArrival) {
  start_synced(recorded([](Context&) -> Result { fail(); }));
  appear();
  settle();
  write_status();
  settle();
  next_deadline();
  EXPECT_THAT(starts, ElementsAre(0, 5));
  EXPECT_EQ(controller->latency().count(), 1U) << "the retry answers its deadline, not the event";
}

TEST_F(BackoffGate, SwitchedOffEventsRunAtOnceAndEveryFailureCounts) {
  ControllerSpec made = recorded([](Context&) -> Result { fail(); });
  made.options.gate = EventGate::off;
  start_synced(std::move(made));
  appear();
  settle();
  move_to(3ms);
  write_status();
  settle();
  move_to(4ms);
  change_secondary();
  settle();
  next_deadline();
  EXPECT_THAT(starts, ElementsAre(0, 3, 4, 24));
  EXPECT_THAT(attempts, ElementsAre(1, 2, 3, 4));
}

class BackoffGateConcurrency : public ControllerTest {};

// Three writers, half of whose events are own writes, some of them before their answer, and four workers
// whose runs fail every third time. Each write must be seen by a run that began after it.
TEST_F(BackoffGateConcurrency, NoChangeIsLost) {
  constexpr std::size_t keys_count = 8;
  struct Key {
    std::atomic<int> wanted = 0;
    std::atomic<int> seen = 0;
    std::atomic<int> runs = 0;
  };
  std::array<Key, keys_count> all;
  ControllerSpec made = spec([&](Context& context) {
    Key& key = all[static_cast<std::size_t>(std::stoi(context.key().name))];
    const int wanted = key.wanted.load();
    if (++key.runs % 3 == 0) throw std::runtime_error("every third");
    key.seen = wanted;
    return done();
  });
  made.options.workers = 4;
  make(std::move(made));
  start();
  handlers[0]->on_synced();
  std::atomic<std::size_t> writing = 3;
  std::vector<std::jthread> writers;
  for (std::size_t writer = 0; writer < 3; ++writer) {
    writers.emplace_back([&, writer] {
      for (std::size_t i = 0; i < 1000; ++i) {
        const std::size_t index = (i * 5 + writer) % keys_count;
        const std::string head = R"({"namespace":"ns","name":")" + std::to_string(index) + R"(","uid":")" +
                                 std::to_string(index) + R"(","resourceVersion":")";
        const std::string base = std::to_string(3 * i + writer + 1);
        const std::string version = std::to_string(3 * i + writer + 2);
        const WireObject before = wire_object(head + base + "\"}");
        const WireObject now = wire_object(head + version + "\"}");
        const auto answer = [&] {
          client.writes()->add({.uid = std::to_string(index), .version = version, .base = base});
        };
        ++all[index].wanted;
        if (i % 4 == 0) answer();
        handlers[0]->on_event(updated(before, now));
        if (i % 4 == 2) answer();
      }
      --writing;
    });
  }
  const auto all_seen = [&] {
    for (const Key& key : all) {
      if (key.seen != key.wanted) return false;
    }
    return true;
  };
  // If a change is lost, this loops until the test's time limit.
  while (writing > 0 || !all_seen()) clock->advance_to_next();
  SUCCEED();
}

}  // namespace
}  // namespace evenkeel
