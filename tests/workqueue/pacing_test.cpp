// SPDX-License-Identifier: Apache-2.0
// Debounce and minimum interval: the decisions alone, and in a queue in virtual time.
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/ratelimit/fast_slow.hpp>
#include <evenkeel/workqueue/detail/pacing.hpp>
#include <evenkeel/workqueue/request_queue.hpp>
#include <evenkeel/workqueue/work_queue.hpp>

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using detail::Pacing;
using detail::PacingRecord;
using Keys = std::vector<std::string>;

TimePoint at(Duration time) {
  return TimePoint{time};
}

TEST(Pacing, WaitsForQuietButNotForever) {
  const Pacing pacing({.quiet = 2s, .max_wait = 5s}, 0s);
  PacingRecord record;
  EXPECT_EQ(pacing.add(record, false, at(0s)), at(2s));
  EXPECT_EQ(pacing.add(record, false, at(1s)), at(3s));
  EXPECT_EQ(pacing.add(record, false, at(2900ms)), at(4900ms));
  EXPECT_EQ(pacing.add(record, false, at(4s)), at(5s));
  EXPECT_EQ(pacing.add(record, false, at(4999ms)), at(5s));
  pacing.started(record, at(5s));
  EXPECT_EQ(pacing.add(record, false, at(6s)), at(8s));  // the next run has its own debounce
}

TEST(Pacing, AnUrgentAddEndsTheWaitForQuiet) {
  const Pacing pacing({.quiet = 2s, .max_wait = 5s}, 0s);
  PacingRecord record;
  EXPECT_EQ(pacing.add(record, false, at(0s)), at(2s));
  EXPECT_EQ(pacing.add(record, true, at(1s)), at(1s));
  PacingRecord fresh;
  EXPECT_EQ(pacing.add(fresh, true, at(1s)), at(1s));
}

TEST(Pacing, HoldsStartsApart) {
  const Pacing pacing({}, 10s);
  PacingRecord record;
  EXPECT_EQ(pacing.add(record, false, at(1s)), at(1s));
  pacing.started(record, at(1s));
  EXPECT_EQ(pacing.add(record, false, at(3s)), at(11s));
  EXPECT_EQ(pacing.add(record, true, at(4s)), at(11s));  // urgent or not
  EXPECT_TRUE(pacing.must_rest(record, at(11s - 1ns)));
  EXPECT_FALSE(pacing.must_rest(record, at(11s)));
  pacing.started(record, at(11s));
  EXPECT_EQ(pacing.add_at(record, at(12s)), at(21s));
  EXPECT_EQ(pacing.add_at(record, at(30s)), at(21s));  // the earliest wins
}

TEST(Pacing, ADelayedAddIsNotGatheredAndRunsWhatIs) {
  const Pacing pacing({.quiet = 2s, .max_wait = 5s}, 0s);
  PacingRecord record;
  EXPECT_EQ(pacing.add_at(record, at(1h)), at(1h));
  EXPECT_EQ(pacing.add(record, false, at(0s)), at(2s));
  EXPECT_EQ(pacing.add_at(record, at(1s)), at(1s));
  EXPECT_EQ(pacing.add(record, false, at(500ms)), at(1s));  // more adds do not postpone it
}

TEST(Pacing, EndlessDurationsDoNotOverflow) {
  const Pacing pacing({.quiet = Duration::max(), .max_wait = Duration::max()}, Duration::max());
  PacingRecord record;
  pacing.started(record, at(1h));
  EXPECT_EQ(pacing.add(record, false, at(2h)), TimePoint::max());
  EXPECT_TRUE(pacing.must_rest(record, at(3h)));
}

TEST(Pacing, RefusesWhatMakesNoSense) {
  EXPECT_THROW(Pacing({.quiet = -1ns, .max_wait = 1s}, 0s), std::invalid_argument);
  EXPECT_THROW(Pacing({.quiet = 2s, .max_wait = 1s}, 0s), std::invalid_argument);
  EXPECT_THROW(Pacing({.quiet = 2s}, 0s), std::invalid_argument);  // it would wait for quiet indefinitely
  EXPECT_THROW(Pacing({}, -1ns), std::invalid_argument);
  EXPECT_THROW(WorkQueue<int>({.debounce = {.quiet = 2s}}), std::invalid_argument);
  EXPECT_FALSE(Pacing({}, 0s).is_on());
  EXPECT_TRUE(Pacing({}, 1ns).is_on());
}

// A queue of strings in virtual time, which records when each key was handed out.
struct PacedQueue {
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  WorkQueue<std::string> queue;

  PacedQueue(Debounce debounce, Duration min_interval)
      : queue({.limiter = fast_slow(1s, 1s, 0),
               .debounce = debounce,
               .min_interval = min_interval,
               .clock = clock}) {}

  Duration now() const { return clock->now().time_since_epoch(); }
  void advance(Duration by) { clock->advance(by); }
  Keys take_all() {
    Keys keys;
    while (auto claim = queue.try_get()) keys.push_back(claim->key());
    return keys;
  }
  /// Advances step by step, and adds "x" at each step; returns the times at which "x" was handed out.
  std::vector<Duration> run_while_adding(Duration step, Duration end) {
    std::vector<Duration> starts;
    while (now() < end) {
      queue.add("x");
      if (!take_all().empty()) starts.push_back(now());
      advance(step);
    }
    return starts;
  }
};

TEST(Debounce, GathersWhatIsAddedUntilItIsQuiet) {
  PacedQueue paced({.quiet = 2s, .max_wait = 10s}, 0s);
  paced.queue.add("x");
  EXPECT_EQ(paced.take_all(), Keys{});
  paced.advance(1s);
  EXPECT_EQ(paced.queue.counts().waiting, 1U);
  paced.advance(1s - 1ns);
  EXPECT_EQ(paced.take_all(), Keys{});
  paced.advance(1ns);
  EXPECT_EQ(paced.take_all(), Keys{"x"});
  paced.advance(1h);
  EXPECT_EQ(paced.take_all(), Keys{});
  paced.queue.add("x");
  paced.advance(1s);
  paced.queue.add("x");
  paced.advance(1s);
  EXPECT_EQ(paced.take_all(), Keys{});  // postponed by the second add
  paced.advance(1s);
  EXPECT_EQ(paced.take_all(), Keys{"x"});
}

// kube-rs 5e98a92c: there, a stream of events postpones the run without end.
TEST(Debounce, AStreamOfAddsThatNeverEndsRunsEveryMaxWait) {
  PacedQueue paced({.quiet = 2s, .max_wait = 10s}, 0s);
  const std::vector<Duration> starts = paced.run_while_adding(1s, 100s);
  ASSERT_EQ(starts.size(), 9U);
  EXPECT_EQ(starts[0], 10s);
  // The debounce of each run starts with the first add after the previous hand-out.
  for (std::size_t i = 1; i < starts.size(); ++i) EXPECT_EQ(starts[i] - starts[i - 1], 11s) << i;
}

TEST(Debounce, AnUrgentAddRunsAtOnce) {
  PacedQueue paced({.quiet = 2s, .max_wait = 10s}, 0s);
  paced.queue.add("x");
  paced.queue.add("y");
  paced.queue.add("x", 1);
  EXPECT_EQ(paced.take_all(), Keys{"x"});
  paced.advance(2s);
  EXPECT_EQ(paced.take_all(), Keys{"y"});
}

TEST(Debounce, AKeyThatIsReadyStaysReady) {
  PacedQueue paced({.quiet = 2s, .max_wait = 10s}, 0s);
  paced.queue.add("x");
  paced.advance(2s);
  paced.queue.add("x");
  paced.queue.add_after("x", 1h);
  EXPECT_EQ(paced.take_all(), Keys{"x"});
  EXPECT_EQ(paced.queue.counts(), QueueCounts{});
}

TEST(Debounce, DelayedAddsKeepTheirTimeAndCoverWhatIsGathered) {
  PacedQueue paced({.quiet = 2s, .max_wait = 10s}, 0s);
  paced.queue.add_after("x", 3s);
  EXPECT_EQ(paced.queue.add_rate_limited("y"), 1s);
  paced.queue.add("y");  // by 2 s, but the delay ends first
  paced.advance(1s);
  EXPECT_EQ(paced.take_all(), Keys{"y"});
  paced.advance(1s);
  EXPECT_EQ(paced.take_all(), Keys{});
  paced.queue.add("x");  // by 4 s
  paced.advance(1s);
  EXPECT_EQ(paced.take_all(), Keys{"x"});
  paced.advance(1h);
  EXPECT_EQ(paced.take_all(), Keys{});  // one run each
}

TEST(Debounce, WhatIsAddedWhileHeldIsGatheredToo) {
  PacedQueue paced({.quiet = 2s, .max_wait = 10s}, 0s);
  paced.queue.add("x");
  paced.advance(2s);
  auto held = paced.queue.get();
  paced.queue.add("x");
  held->done();
  EXPECT_EQ(paced.take_all(), Keys{});
  paced.advance(1s);
  paced.queue.add("x");
  paced.advance(2s);
  held = paced.queue.get();
  paced.queue.add("x");
  paced.advance(2s);
  EXPECT_EQ(paced.queue.counts(), (QueueCounts{.processing = 1, .dirty = 1}));  // quiet for long enough
  held->done();
  EXPECT_EQ(paced.take_all(), Keys{"x"});
}

TEST(Debounce, WhatItHoldsBackDoesNotCountAsWaitingForADelay) {
  PacedQueue paced({.quiet = 2s, .max_wait = 10s}, 0s);
  EXPECT_TRUE(paced.queue.add_unless_waiting("x"));
  paced.advance(1s);
  EXPECT_TRUE(paced.queue.add_unless_waiting("x"));  // debounced, like an add
  paced.advance(1s);
  EXPECT_EQ(paced.take_all(), Keys{});
  paced.queue.add_after("x", 1h);
  EXPECT_FALSE(paced.queue.add_unless_waiting("x"));
  paced.advance(1s);
  EXPECT_EQ(paced.take_all(), Keys{"x"});
}

TEST(Debounce, AShutDownHandsOutWhatItHoldsBackAndDropsDelays) {
  PacedQueue paced({.quiet = 2s, .max_wait = 10s}, 1h);
  paced.queue.add("ran");
  paced.advance(2s);
  EXPECT_EQ(paced.take_all(), Keys{"ran"});
  paced.queue.add("ran");
  paced.queue.add("new");
  paced.queue.add_after("delayed", 1s);
  paced.queue.shut_down();
  EXPECT_EQ(paced.take_all(), (Keys{"new", "ran"}));  // in the order of the times that they were held back to
  EXPECT_FALSE(paced.queue.get());
  EXPECT_TRUE(paced.queue.shut_down_with_drain());
  PacedQueue now({.quiet = 2s, .max_wait = 10s}, 1h);
  now.queue.add("x");
  now.queue.shut_down_now();
  EXPECT_EQ(now.take_all(), Keys{});
  EXPECT_EQ(now.queue.counts(), QueueCounts{});
}

TEST(MinInterval, HoldsTheStartsOfRunsApart) {
  PacedQueue paced({}, 10s);
  const std::vector<Duration> starts = paced.run_while_adding(1s, 45s);
  EXPECT_EQ(starts, (std::vector<Duration>{0s, 10s, 20s, 30s, 40s}));
}

TEST(MinInterval, CountsFromTheStartNotFromTheEnd) {
  PacedQueue paced({}, 10s);
  paced.queue.add("x");
  auto held = paced.queue.get();
  paced.queue.add("x");
  paced.advance(7s);
  held->done();
  EXPECT_EQ(paced.take_all(), Keys{});
  paced.advance(3s);
  held = paced.queue.get();
  ASSERT_TRUE(held);
  paced.queue.add("x");
  paced.advance(20s);  // a run that takes longer than the interval
  held->done();
  EXPECT_EQ(paced.take_all(), Keys{"x"});
}

TEST(MinInterval, HoldsBackDelayedAddsAndRetriesToo) {
  PacedQueue paced({}, 10s);
  paced.queue.add("x");
  EXPECT_EQ(paced.take_all(), Keys{"x"});
  paced.queue.add_rate_limited("x");  // after 1 s
  paced.advance(10s - 1ns);
  EXPECT_EQ(paced.take_all(), Keys{});
  paced.advance(1ns);
  EXPECT_EQ(paced.take_all(), Keys{"x"});
  paced.queue.add_after("x", 15s);
  paced.advance(15s);
  EXPECT_EQ(paced.take_all(), Keys{"x"});
}

TEST(MinInterval, AKeyIsForgottenWhenItMayRunAgain) {
  const auto clock = std::make_shared<ManualClock>();
  KeyTable table;
  {
    RequestQueue queue({.min_interval = 10s, .clock = clock});
    for (int i = 0; i < 100; ++i) {
      queue.add(table.intern("", "ns", std::to_string(i)));
      queue.get()->done();
      clock->advance(1s);
    }
    EXPECT_EQ(table.size(), 10U);  // those of the last ten seconds
    EXPECT_TRUE(queue.inspect_all().empty());
    clock->advance(10s);
    EXPECT_EQ(queue.size(), 0U);  // any call triggers the release
    EXPECT_EQ(table.size(), 0U);
    queue.add(table.intern("", "ns", "last"));
    queue.get()->done();
    EXPECT_EQ(table.size(), 1U);
  }
  EXPECT_EQ(table.size(), 0U);
}

TEST(MinInterval, IsKeptTogetherWithADebounce) {
  PacedQueue paced({.quiet = 1s, .max_wait = 2s}, 10s);
  paced.queue.add("x");
  paced.advance(1s);
  EXPECT_EQ(paced.take_all(), Keys{"x"});
  paced.queue.add("x");
  paced.advance(2s);
  EXPECT_EQ(paced.take_all(), Keys{});  // debounced, but too close to the last run
  paced.advance(8s);
  EXPECT_EQ(paced.take_all(), Keys{"x"});
  paced.advance(9500ms);
  paced.queue.add("x");
  paced.advance(500ms);
  EXPECT_EQ(paced.take_all(), Keys{});  // far enough from the last run, but not quiet yet
  paced.advance(500ms);
  EXPECT_EQ(paced.take_all(), Keys{"x"});
}

TEST(MinInterval, WorksForInternedKeysWithoutALock) {
  const auto clock = std::make_shared<ManualClock>();
  KeyTable table;
  RequestQueue queue({.name = "paced", .min_interval = 10s, .clock = clock});
  const RequestKey key = table.intern("", "ns", "a");
  queue.add(key);
  queue.get()->done();
  queue.add(key);  // held back: a second add must not be treated like that of a queued key
  queue.add(key);
  EXPECT_FALSE(queue.try_get());
  clock->advance(10s);
  EXPECT_TRUE(queue.try_get());
  EXPECT_FALSE(queue.try_get());
  EXPECT_EQ(queue.metrics().adds_total, 2U);
}

}  // namespace
}  // namespace evenkeel
