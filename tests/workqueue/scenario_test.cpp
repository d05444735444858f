// SPDX-License-Identifier: Apache-2.0
// Known problems of work queues, as scenarios with exact numbers in virtual time: starvation of a re-added
// key, back-off, a limiter that is charged too often, a resync that floods the queue.
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/ratelimit/exponential.hpp>
#include <evenkeel/ratelimit/token_bucket.hpp>
#include <evenkeel/workqueue/fifo_store.hpp>
#include <evenkeel/workqueue/two_lane_store.hpp>
#include <evenkeel/workqueue/work_queue.hpp>

#include "simulation.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using tests::KeyRun;
using tests::Simulation;

Duration start_of_run(const std::vector<KeyRun>& runs, const std::string& key, int which) {
  for (const KeyRun& run : runs) {
    if (run.key == key && --which == 0) return run.start;
  }
  return Duration{-1};
}

// A runs for 10 s and is re-added at once, then B1..Bn, of 1 s each.
template <class Store>
Duration second_run_of_a(std::size_t workers, Readd readd, int others, Priority of_a, Priority of_others) {
  Simulation<Store> simulation(workers, Store(), readd);
  simulation.work = [](const KeyRun& run) {
    return run.key == "A" && run.start == 0s ? Duration{10s} : Duration{1s};
  };
  simulation.at(0s, [&] { simulation.queue().add("A", of_a); });
  simulation.at(0s, [&] {
    simulation.queue().add("A", of_a);
    for (int i = 1; i <= others; ++i) simulation.queue().add("B" + std::to_string(i), of_others);
  });
  return start_of_run(simulation.run(1h), "A", 2);
}

TEST(StarvingReadd, AtBackWaitsForEverythingQueuedByThen) {
  const auto second_run = [](std::size_t workers) {
    return second_run_of_a<FifoStore>(workers, Readd::at_back, 100, {}, {});
  };
  EXPECT_EQ(second_run(1), 110s);
  EXPECT_EQ(second_run(2), 55s);
  EXPECT_EQ(second_run(3), 36s);
  EXPECT_EQ(second_run(5), 22s);
  EXPECT_EQ(second_run(10), 11s);
  EXPECT_EQ(second_run(11), 10s);
  EXPECT_EQ(second_run(50), 10s);
  for (const int others : {0, 1, 7, 1000}) {
    EXPECT_EQ(second_run_of_a<FifoStore>(1, Readd::at_back, others, {}, {}), 10s + 1s * others);
  }
}

TEST(StarvingReadd, KeepPlaceCuresItForAnyNumberOfWorkers) {
  for (const std::size_t workers : {1U, 2U, 3U, 5U, 10U, 50U}) {
    EXPECT_EQ(second_run_of_a<FifoStore>(workers, Readd::keep_place, 100, {}, {}), 10s) << workers;
  }
}

TEST(StarvingReadd, AFasterLaneCuresItToo) {
  EXPECT_EQ(second_run_of_a<TwoLaneStore>(1, Readd::at_back, 100, Lane::fast, Lane::slow), 10s);
}

TEST(StarvingReadd, NewArrivalsDoNotStarveAQueuedKeyForever) {  // one B per second, without end
  Simulation<FifoStore> simulation(1, FifoStore(), Readd::at_back);
  simulation.work = [](const KeyRun& run) {
    return run.key == "A" && run.start == 0s ? Duration{10s} : Duration{1s};
  };
  simulation.at(0s, [&] { simulation.queue().add("A"); });
  simulation.at(0s, [&] { simulation.queue().add("A"); });
  for (int i = 0; i < 100; ++i)
    simulation.at(500ms + 1s * i, [&, i] { simulation.queue().add("B" + std::to_string(i)); });
  EXPECT_EQ(start_of_run(simulation.run(60s), "A", 2), 20s);  // behind the ten B's that were queued by 10 s
}

// One worker, 10 ms per run, 10,000 resynced keys at t=0, a live one at 5 ms.
template <class Store>
Duration start_of_live_key() {
  Simulation<Store> simulation(1, Store(), Readd::at_back);
  simulation.work = [](const KeyRun&) { return Duration{10ms}; };
  simulation.at(0s, [&] {
    for (int i = 0; i < 10'000; ++i) simulation.queue().add("resync" + std::to_string(i), Lane::slow);
  });
  simulation.at(5ms, [&] { simulation.queue().add("live", Lane::fast); });
  return start_of_run(simulation.run(1h), "live", 1);
}

TEST(FloodingResync, ALiveKeyIsNextInTwoLanesAndLastInOne) {
  EXPECT_EQ(start_of_live_key<TwoLaneStore>(), 10ms);
  EXPECT_EQ(start_of_live_key<FifoStore>(), 100s);
}

TEST(FloodingResync, AQueuedSlowKeyThatIsAddedAsFastIsNext) {
  Simulation<TwoLaneStore> simulation(1, TwoLaneStore(), Readd::at_back);
  simulation.work = [](const KeyRun&) { return Duration{10ms}; };
  simulation.at(0s, [&] {
    for (int i = 0; i < 10'000; ++i) simulation.queue().add("resync" + std::to_string(i), Lane::slow);
  });
  simulation.at(5ms, [&] { simulation.queue().add("resync9999"); });
  EXPECT_EQ(start_of_run(simulation.run(1h), "resync9999", 1), 10ms);
}

TEST(FloodingResync, AStreamOfFastKeysStarvesTheSlowLaneUnlessItHasAShare) {
  for (const std::uint32_t share : {0U, 4U}) {
    Simulation<TwoLaneStore> simulation(1, TwoLaneStore({.slow_share = share}), Readd::at_back);
    simulation.work = [](const KeyRun&) { return Duration{10ms}; };
    for (int i = 0; i < 200; ++i) {
      simulation.at(10ms * i, [&, i] { simulation.queue().add("fast" + std::to_string(i)); });
    }
    simulation.at(15ms, [&] { simulation.queue().add("slow", Lane::slow); });
    simulation.at(15ms, [&] { simulation.queue().add("backlog"); });  // the fast lane is never empty again
    const Duration start = start_of_run(simulation.run(1900ms), "slow", 1);
    if (share == 0) {
      EXPECT_EQ(start, Duration{-1});
    } else {
      EXPECT_EQ(start, 50ms);  // the fourth run after it was added
    }
  }
}

// A WorkQueue in virtual time whose worker takes no time.
template <class L>
class VirtualQueue {
 public:
  using Queue = WorkQueue<std::string, FifoStore, L>;
  explicit VirtualQueue(L limiter, bool charge_waiting = true)
      : queue_({.limiter = std::move(limiter), .charge_waiting = charge_waiting, .clock = clock_}) {}

  Queue& operator*() { return queue_; }
  Queue* operator->() { return &queue_; }
  void advance(Duration by) { clock_->advance(by); }
  Duration now() const { return clock_->now().time_since_epoch(); }
  /// Runs the ready keys; reconcile(key) is called while the key is held.
  template <class Reconcile>
  void run_ready(const Reconcile& reconcile) {
    while (auto claim = queue_.try_get()) reconcile(claim->key());
  }

 private:
  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
  Queue queue_;
};

using Backoff = ExponentialLimiter<std::string>;

TEST(BackOff, AFailingKeyFollowsTheLadderUntilItSucceeds) {
  VirtualQueue<Backoff> queue{Backoff()};
  std::vector<Duration> starts;
  queue->add("x");
  while (starts.size() < 14) {
    queue.run_ready([&](const std::string& key) {
      starts.push_back(queue.now());
      if (starts.size() < 14) {
        queue->add_rate_limited(key);
      } else {
        EXPECT_EQ(queue->retries(key), 13U);
        queue->forget(key);
      }
    });
    queue.advance(1ms);
  }
  const std::vector<Duration> expected{0ms,   5ms,    15ms,   35ms,   75ms,    155ms,   315ms,
                                       635ms, 1275ms, 2555ms, 5115ms, 10235ms, 20475ms, 40955ms};
  EXPECT_EQ(starts, expected);
  EXPECT_EQ(queue->retries("x"), 0U);
}

TEST(BackOff, OfOneKeyDoesNotDelayAnother) {
  VirtualQueue<Backoff> queue{Backoff()};
  std::vector<std::pair<std::string, Duration>> runs;
  queue->add("x");
  const auto reconcile = [&](const std::string& key) {
    runs.emplace_back(key, queue.now());
    if (key != "x") return;
    queue->add_rate_limited(key);
    if (runs.size() == 1) queue->add("y");
  };
  queue.run_ready(reconcile);
  queue.advance(5ms);
  queue.run_ready(reconcile);
  const std::vector<std::pair<std::string, Duration>> expected{{"x", 0ms}, {"y", 0ms}, {"x", 5ms}};
  EXPECT_EQ(runs, expected);
}

TEST(BackOff, AnEventRunsAtOnceAndTheLadderGoesOn) {
  VirtualQueue<Backoff> queue{Backoff()};
  std::vector<Duration> starts;
  const auto fail = [&](const std::string& key) {
    starts.push_back(queue.now());
    queue->add_rate_limited(key);
  };
  queue->add("x");
  queue.run_ready(fail);  // 0: next at 5 ms
  queue.advance(1ms);
  queue->add("x");
  queue.run_ready(fail);  // 1 ms, because of the event; next at 11 ms
  for (int i = 0; i < 10; ++i) {
    queue.advance(1ms);
    queue.run_ready(fail);
  }
  EXPECT_EQ(starts, (std::vector<Duration>{0ms, 1ms, 11ms}));
  queue->add_after("y", 1ms);  // not rate limited
  EXPECT_EQ(queue->retries("y"), 0U);
}

// A bucket of 5 per second, burst 1; add_rate_limited every 100 ms; due keys run before keys added at the
// same time.
std::vector<Duration> runs_of_an_eager_writer(bool charge_waiting, Duration end) {
  VirtualQueue<TokenBucket> queue(token_bucket(5, 1), charge_waiting);
  std::vector<Duration> starts;
  while (queue.now() <= end) {
    const auto note = [&](const std::string&) { starts.push_back(queue.now()); };
    queue.run_ready(note);
    queue->add_rate_limited("a");
    queue.run_ready(note);
    queue.advance(100ms);
  }
  return starts;
}

TEST(EagerWriter, DoublesItsPeriodWithoutEndIfEveryAddIsCharged) {
  const std::vector<Duration> expected{0ms,    200ms,   400ms,   800ms,   1600ms,  3200ms,
                                       6400ms, 12800ms, 25600ms, 51200ms, 102400ms};
  EXPECT_EQ(runs_of_an_eager_writer(true, 110s), expected);
}

TEST(EagerWriter, RunsAtTheBucketsRateIfWaitingKeysAreNotCharged) {
  std::vector<Duration> expected;
  for (int i = 0; i <= 50; ++i) expected.push_back(200ms * i);
  EXPECT_EQ(runs_of_an_eager_writer(false, 10s), expected);
}

}  // namespace
}  // namespace evenkeel
