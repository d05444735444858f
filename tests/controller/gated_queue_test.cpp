// SPDX-License-Identifier: Apache-2.0
// The queue, its gate and its journal together, in one thread and virtual time.
#include "controller/gated_queue.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/ratelimit/exponential.hpp>
#include <evenkeel/workqueue/key_table.hpp>

#include "client/request/write_log.hpp"
#include "event_fixture.hpp"

namespace evenkeel::gated_queue_tests {
namespace {

using namespace std::chrono_literals;
using detail::AddedBy;
using detail::EventFate;
using detail::FlightRecorder;
using detail::GatedQueue;
using detail::RunEnd;
using detail::WriteLog;

class GatedQueueTest : public ::testing::Test {
 protected:
  static ControllerOptions options() {
    return {.name = "demo", .limiter = [] {
              return AnyLimiter<RequestKey>(ExponentialLimiter<RequestKey>({5s, 1min}));
            }};
  }
  TimePoint now() const { return clock->now(); }
  // Delivers the event of a write; it is an own write if answer() is called before it is decided.
  AddVerdict write_status(GatedQueue& queue) {
    return queue.add_primary(a, {}, now(), {.by = AddedBy::event, .type = EventType::updated},
                             updated(before, after));
  }
  // From here on, an update may be the effect of a write whose answer is still to come.
  void send_write() {
    write.emplace(log, RestRequest{.method = http::Method::put, .namespace_ = "ns", .name = "a"}, 0);
  }
  void lose_answer() { write.reset(); }
  void answer() {
    log->add({.uid = "u", .version = "2", .base = "1"});
    write.reset();
  }
  RequestQueue::Claim take(GatedQueue& queue) {
    auto claim = queue.queue().try_get();
    EXPECT_TRUE(claim);
    waited = queue.begin(a, {.id = ++runs, .since = now(), .limit = now() + 10s, .warn_at = now() + 10s});
    return std::move(*claim);
  }
  RunEnd end() const { return {.at = now(), .took = 1s, .worker = 0, .attempt = 1, .outcome = outcome}; }
  std::vector<EventFate> fates(const GatedQueue& queue) const {
    return queue.read_recorder([this](const FlightRecorder& recorder) {
      std::vector<EventFate> found;
      for (const auto& record : recorder.of(a.hash(), 100)) {
        if (record.kind == detail::FlightKind::event) found.push_back(record.fate());
      }
      return found;
    });
  }

  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  const std::shared_ptr<WriteLog> log = std::make_shared<WriteLog>();
  KeyTable keys;
  RequestKey a = keys.intern("", "ns", "a");
  WireObject before =
      wire_object(R"({"namespace":"ns","name":"a","uid":"u","generation":1,"resourceVersion":"1"})");
  WireObject after =
      wire_object(R"({"namespace":"ns","name":"a","uid":"u","generation":1,"resourceVersion":"2"})");
  ReconcileOutcome outcome{.kind = OutcomeKind::error, .message = "no disk left"};
  std::optional<WriteLog::Pending> write;
  std::optional<Duration> waited;
  std::uint64_t runs = 0;
};

TEST_F(GatedQueueTest, AnOwnWriteOfARunThatFailsIsLeftToTheRetry) {
  GatedQueue queue(options(), clock, {}, {.log = log});
  queue.add(a, {}, now(), {.by = AddedBy::event});
  clock->advance(2s);
  {
    const auto claim = take(queue);
    EXPECT_EQ(waited, 2s);
    send_write();
    EXPECT_EQ(write_status(queue), AddVerdict::held);
    answer();
    EXPECT_EQ(queue.back_off(a, {}, end()), 5s);
  }
  EXPECT_EQ(write_status(queue), AddVerdict::waits);
  EXPECT_FALSE(queue.queue().try_get());
  clock->advance(5s);
  const auto claim = take(queue);
  EXPECT_EQ(waited, std::nullopt) << "no event counts as answered by the retry";
  EXPECT_EQ(fates(queue), (std::vector{EventFate::added, EventFate::held, EventFate::waits}));
  EXPECT_EQ(queue.latency().count(), 1U);
}

TEST_F(GatedQueueTest, TheRunOfAFormerObjectHasNoConsequences) {
  GatedQueue queue(options(), clock, {}, {.log = log});
  queue.add(a, {}, now(), {.by = AddedBy::event});
  {
    const auto claim = take(queue);
    queue.renew(a);
    queue.add(a, {}, now(), {.by = AddedBy::event});
    queue.back_off(a, {}, end());
  }
  EXPECT_EQ(queue.queue().retries(a), 0U);
  const auto failed = [this](const FlightRecorder& recorder) {
    return recorder.failure(a.hash()) != nullptr;
  };
  EXPECT_FALSE(queue.read_recorder(failed));
  EXPECT_EQ(fates(queue), std::vector{EventFate::added}) << "the history begins with the new object";
  {
    const auto claim = take(queue);
    EXPECT_EQ(queue.back_off(a, {}, end()), 5s) << "a run of its own counts";
  }
  EXPECT_EQ(queue.queue().retries(a), 1U);
  EXPECT_TRUE(queue.read_recorder(failed));
}

TEST_F(GatedQueueTest, ARenewedKeyHasNoBackOff) {
  GatedQueue queue(options(), clock, {}, {.log = log});
  queue.add(a, {}, now(), {.by = AddedBy::event});
  {
    const auto claim = take(queue);
    send_write();
    answer();
    queue.back_off(a, {}, end());
  }
  queue.renew(a);
  EXPECT_EQ(queue.queue().retries(a), 0U);
  EXPECT_EQ(write_status(queue), AddVerdict::queued) << "no retry covers an event of the new object";
  const auto claim = take(queue);
  EXPECT_EQ(fates(queue), std::vector{EventFate::added});
}

TEST_F(GatedQueueTest, AnUpdateByAnybodyElseDuringARunThatFailsRunsTheKeyAtOnce) {
  GatedQueue queue(options(), clock, {}, {.log = log});
  queue.add(a, {}, now(), {.by = AddedBy::event});
  {
    const auto claim = take(queue);
    send_write();
    EXPECT_EQ(write_status(queue), AddVerdict::held);
    lose_answer();
    clock->advance(1s);
    EXPECT_EQ(queue.back_off(a, {}, end()), 5s);
  }
  EXPECT_EQ(fates(queue), (std::vector{EventFate::added, EventFate::held, EventFate::added}));
  {
    const auto claim = take(queue);
    EXPECT_EQ(waited, 1s) << "since the event";
    queue.read_recorder([](const FlightRecorder& recorder) {
      EXPECT_EQ(recorder.runs().at(0).cause.by, AddedBy::held);
      return 0;
    });
    clock->advance(1s);
    EXPECT_EQ(queue.back_off(a, {}, end()), 4s) << "it does not count";
  }
  EXPECT_EQ(write_status(queue), AddVerdict::queued) << "not an own write either, while the key waits";
  EXPECT_EQ(queue.queue().retries(a), 1U);
}

TEST_F(GatedQueueTest, WhatCannotBeAnOwnWriteIsAddedDuringTheRunAndHasItsPlace) {
  GatedQueue queue(options(), clock, {}, {.log = log});
  queue.add(a, {}, now(), {.by = AddedBy::event});
  {
    const auto claim = take(queue);
    EXPECT_EQ(write_status(queue), AddVerdict::queued) << "nothing was written";
    queue.add(keys.intern("", "ns", "b"), {}, now(), {.by = AddedBy::event});
    queue.end_without_retry(a, end(), std::nullopt);
  }
  EXPECT_EQ(take(queue).key(), a) << "before what came later";
}

TEST_F(GatedQueueTest, AnUpdateDuringARunKeepsTheDelayOfItsWatch) {
  GatedQueue queue(options(), clock, {}, {.log = log});
  queue.add(a, {}, now(), {.by = AddedBy::event});
  {
    const auto claim = take(queue);
    send_write();
    queue.add_primary(a, {.delay = 3s}, now(), {.by = AddedBy::event}, updated(before, after));
    clock->advance(1s);
    queue.end_without_retry(a, end(), std::nullopt);
  }
  clock->advance(2s - 1ns);
  EXPECT_FALSE(queue.queue().try_get());
  clock->advance(1ns);
  EXPECT_TRUE(queue.queue().try_get());
}

TEST_F(GatedQueueTest, UpdatesDuringARunAreDebouncedFromTheirArrival) {
  ControllerOptions chosen = options();
  chosen.debounce = {.quiet = 2s, .max_wait = 3s};
  GatedQueue queue(chosen, clock, {}, {.log = log});
  const auto run_with_updates = [&](std::vector<Duration> pauses) {
    queue.queue().add_after(a, Duration::zero());
    const auto claim = take(queue);
    send_write();
    write_status(queue);
    for (const Duration pause : pauses) {
      clock->advance(pause);
      write_status(queue);
    }
    queue.end_without_retry(a, end(), std::nullopt);
  };
  const auto is_due_after = [&](Duration wait) {
    clock->advance(wait - 1ns);
    EXPECT_FALSE(queue.queue().try_get());
    clock->advance(1ns);
    EXPECT_TRUE(queue.queue().try_get());
  };
  run_with_updates({1s});
  is_due_after(2s);
  run_with_updates({1500ms, 500ms});
  is_due_after(1s);
  run_with_updates({4s});
  EXPECT_TRUE(queue.queue().try_get()) << "the longest wait passed during the run";
}

TEST_F(GatedQueueTest, EnablesTheLogOfWritesUnlessTheGateIsOff) {
  const RestRequest request{.method = http::Method::put, .body = "{}"};
  const std::string answer = R"({"metadata":{"uid":"u","resourceVersion":"2"}})";
  ControllerOptions off = options();
  off.gate = EventGate::off;
  const GatedQueue without(off, clock, {}, {.log = log});
  log->on_answer(request, answer, 0);
  EXPECT_EQ(log->size(), 0U);
  const GatedQueue with(options(), clock, {}, {.log = log});
  log->on_answer(request, answer, 0);
  EXPECT_EQ(log->size(), 1U);
}

TEST_F(GatedQueueTest, AKeyIsDoubtedAfterSomebodyElseDeletedWhatItsControllerWrote) {
  GatedQueue queue(options(), clock, {}, {.log = log, .writer = 7});
  const WireObject owned = wire_object(R"({"namespace":"ns","name":"a-data","uid":"v"})");
  const auto doubts = [&] {
    queue.add_owner(a, {}, now(), {.by = AddedBy::event, .type = EventType::deleted}, deleted(owned));
    return queue.take_doubt(a);
  };
  EXPECT_FALSE(doubts()) << "this controller did not write it";
  log->add({.uid = "v", .version = "1", .writer = 8});
  EXPECT_FALSE(doubts()) << "another one did";
  log->add({.uid = "v", .version = "2", .writer = 7});
  EXPECT_TRUE(doubts());
  EXPECT_FALSE(queue.take_doubt(a)) << "once";
  log->add({.uid = "v", .writer = 7, .removes = true});
  EXPECT_FALSE(doubts()) << "this controller deleted it";
  EXPECT_TRUE(queue.queue().try_get()) << "the key is added in any case";
}

TEST_F(GatedQueueTest, ADroppedKeyIsNotDoubted) {
  GatedQueue queue(options(), clock, {}, {.log = log});
  queue.add(a, {}, now(), {.by = AddedBy::event});
  queue.doubt(a);
  queue.drop(queue.queue().try_get()->key());
  EXPECT_FALSE(queue.take_doubt(a));
}

TEST_F(GatedQueueTest, AnUpdateDuringARunThatSucceedsRunsTheKeyOnceMore) {
  GatedQueue queue(options(), clock, {}, {.log = log});
  queue.add(a, {}, now(), {.by = AddedBy::event});
  {
    const auto claim = take(queue);
    send_write();
    EXPECT_EQ(write_status(queue), AddVerdict::held);
    queue.end_without_retry(a, end(), std::nullopt);
  }
  const auto claim = take(queue);
  EXPECT_EQ(waited, Duration::zero());
}

TEST_F(GatedQueueTest, ARunThatBeganEarlyKeepsItsDeadline) {
  GatedQueue queue(options(), clock, {}, {.log = log});
  queue.add(a, {}, now(), {.by = AddedBy::event});
  {
    const auto claim = take(queue);
    EXPECT_EQ(queue.back_off(a, {}, end()), 5s);
  }
  clock->advance(2s);
  queue.add(a, {}, now(), {.by = AddedBy::source});
  const auto claim = take(queue);
  EXPECT_EQ(queue.back_off(a, {}, end()), 3s);
  EXPECT_EQ(queue.queue().retries(a), 1U);
}

TEST_F(GatedQueueTest, WithoutGateEveryEventIsAddedAndEveryFailureCounts) {
  ControllerOptions chosen = options();
  chosen.gate = EventGate::off;
  GatedQueue queue(chosen, clock, {}, {.log = log});
  queue.add(a, {}, now(), {.by = AddedBy::event});
  {
    const auto claim = take(queue);
    EXPECT_EQ(queue.back_off(a, {}, end()), 5s);
  }
  EXPECT_EQ(write_status(queue), AddVerdict::queued);
  const auto claim = take(queue);
  EXPECT_EQ(queue.back_off(a, {}, end()), 10s);
}

TEST_F(GatedQueueTest, SchedulesAStuckCheckUnderNoLock) {
  std::vector<TimePoint> scheduled;
  GatedQueue* own = nullptr;
  GatedQueue queue(options(), clock, [&](TimePoint when) {
    scheduled.push_back(when);
    EXPECT_TRUE(own->look_for_stuck(now()).to_report.empty());
  });
  own = &queue;
  queue.add(a, {}, now(), {.by = AddedBy::event});
  const auto claim = take(queue);
  EXPECT_EQ(scheduled, std::vector{now() + 10s});
  clock->advance(10s);
  EXPECT_EQ(queue.look_for_stuck(now()).to_report.size(), 1U);
}

TEST_F(GatedQueueTest, NothingIsRecordedOfAnEventAfterTheStop) {
  GatedQueue queue(options(), clock, {}, {.log = log});
  queue.stop();
  queue.add(a, {}, now(), {.by = AddedBy::event});
  EXPECT_TRUE(fates(queue).empty());
  EXPECT_FALSE(queue.queue().try_get());
}

// ---- Keys of engaged clusters

class GatedQueueOfClusters : public GatedQueueTest {
 protected:
  GatedQueueOfClusters() {
    for (const char* cluster : {"eu", "us"}) queue.enter(cluster, {.log = log});
  }
  void add_later(const RequestKey& key) {
    queue.add_unasked(key, {.delay = 1h}, now(), {.by = AddedBy::call});
  }
  /// Takes all keys that are ready and drops them; returns their names.
  std::vector<std::string> drop_ready() {
    std::vector<std::string> names;
    while (const auto claim = queue.queue().try_get()) {
      names.push_back(claim->key().str());
      queue.drop(claim->key());
    }
    return names;
  }
  using Names = std::vector<std::string>;

  GatedQueue queue{options(), clock};
  RequestKey in_eu = keys.intern("eu", "ns", "a");
  RequestKey in_us = keys.intern("us", "ns", "a");
};

TEST_F(GatedQueueOfClusters, TheWaitingKeysOfAClusterThatLeavesBecomeReadyAndNoOthers) {
  for (const RequestKey& key : {in_eu, in_us, a}) add_later(key);
  EXPECT_EQ(drop_ready(), Names{});
  queue.leave("eu");
  EXPECT_EQ(drop_ready(), Names{"eu:ns/a"});
  EXPECT_EQ(queue.queue().counts().waiting, 2U);
}

TEST_F(GatedQueueOfClusters, AKeyThatIsDoneDoesNotComeBack) {
  queue.add(in_eu, {}, now(), {.by = AddedBy::event});
  {
    const auto claim = queue.queue().try_get();
    ASSERT_TRUE(claim);
    queue.begin(in_eu, {.id = 1, .since = now(), .limit = now() + 10s, .warn_at = now() + 10s});
    queue.end_without_retry(in_eu, {.at = now(), .took = 1s, .worker = 0, .attempt = 1, .outcome = {}},
                            std::nullopt);
  }
  queue.leave("eu");
  EXPECT_EQ(drop_ready(), Names{});
}

// The worker had asked before the cluster left.
TEST_F(GatedQueueOfClusters, NoKeyOfAClusterThatHasLeftWaits) {
  const auto is_dropped_after = [&](const auto& call) {
    queue.enter("eu", {.log = log});
    queue.add(in_eu, {}, now(), {.by = AddedBy::event});
    {
      const auto claim = queue.queue().try_get();
      EXPECT_TRUE(claim);
      queue.begin(in_eu, {.id = 1, .since = now(), .limit = now() + 10s, .warn_at = now() + 10s});
      queue.leave("eu");
      call();
    }
    EXPECT_EQ(drop_ready(), Names{"eu:ns/a"});
    EXPECT_EQ(queue.queue().counts().waiting, 0U);
  };
  is_dropped_after([&] { queue.back_off(in_eu, {}, end()); });
  is_dropped_after([&] { queue.requeue(in_eu, 1h, {}); });
  is_dropped_after([&] { queue.defer(in_eu, 1h, {}); });
  is_dropped_after([&] { add_later(in_eu); });
}

}  // namespace
}  // namespace evenkeel::gated_queue_tests
