// SPDX-License-Identifier: Apache-2.0
// Counters and timers of a named queue, in virtual time.
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/ratelimit/exponential.hpp>
#include <evenkeel/workqueue/request_queue.hpp>
#include <evenkeel/workqueue/two_lane_store.hpp>
#include <evenkeel/workqueue/work_queue.hpp>

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using Depths = std::vector<LabelledDepth>;

class QueueMetricsTest : public testing::Test {
 protected:
  QueueMetricsTest() : queue({.name = "test", .clock = clock}) {}
  QueueMetrics now() { return queue.metrics(); }
  void advance(Duration by) { clock->advance(by); }

  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  WorkQueue<std::string, TwoLaneStore> queue;
};

// Returns the upper bound of the bucket with the only observation; 0 if there are others.
double only_bucket(const DurationHistogram& histogram) {
  if (histogram.count() != 1) return 0;
  for (std::size_t i = 0; i < histogram.bounds.size(); ++i) {
    if (histogram.counts[i] == 1) return histogram.bounds[i];
  }
  return -1;
}

TEST_F(QueueMetricsTest, CountAndTimeWhatHappensToAKey) {
  queue.add("foo");
  EXPECT_EQ(now().adds_total, 1U);
  EXPECT_EQ(now().depth, (Depths{{"0", 1}}));
  advance(50us);
  auto held = queue.get();
  EXPECT_EQ(now().queue_duration.count(), 1U);
  EXPECT_DOUBLE_EQ(now().queue_duration.sum_seconds, 5e-5);
  EXPECT_DOUBLE_EQ(only_bucket(now().queue_duration), 1e-4);
  EXPECT_EQ(now().depth, (Depths{{"0", 0}}));
  for (int i = 0; i < 5; ++i) queue.add("foo");
  EXPECT_EQ(now().adds_total, 2U);
  EXPECT_EQ(now().depth, (Depths{{"0", 1}}));
  advance(25us);
  held->done();
  EXPECT_EQ(now().work_duration.count(), 1U);
  EXPECT_DOUBLE_EQ(now().work_duration.sum_seconds, 2.5e-5);
  EXPECT_EQ(now().depth, (Depths{{"0", 1}}));
  held = queue.get();
  EXPECT_EQ(now().queue_duration.count(), 2U);
  EXPECT_DOUBLE_EQ(now().queue_duration.sum_seconds, 5e-5 + 2.5e-5);  // dirty since it was added
  advance(1ms);
  EXPECT_DOUBLE_EQ(now().unfinished_work_seconds, 1e-3);
  EXPECT_DOUBLE_EQ(now().longest_running_processor_seconds, 1e-3);
  held->done();
  EXPECT_EQ(now().work_duration.count(), 2U);
  EXPECT_DOUBLE_EQ(now().work_duration.sum_seconds, 2.5e-5 + 1e-3);
  EXPECT_EQ(now().unfinished_work_seconds, 0);
  EXPECT_EQ(now().longest_running_processor_seconds, 0);
  EXPECT_EQ(now().depth, (Depths{{"0", 0}}));
  EXPECT_EQ(now().retries_total, 0U);
}

TEST_F(QueueMetricsTest, UnfinishedWorkIsTheSumAndTheOldestTheLongest) {
  for (const char* key : {"a", "b", "c"}) queue.add(key);
  std::optional<decltype(queue)::Claim> held[3];
  for (auto& claim : held) {
    claim = queue.get();
    advance(1s);
  }
  EXPECT_DOUBLE_EQ(now().unfinished_work_seconds, 3 + 2 + 1);
  EXPECT_DOUBLE_EQ(now().longest_running_processor_seconds, 3);
  held[1].reset();  // neither the oldest nor the newest
  EXPECT_DOUBLE_EQ(now().unfinished_work_seconds, 3 + 1);
  held[0].reset();
  EXPECT_DOUBLE_EQ(now().longest_running_processor_seconds, 1);
  queue.add("d");
  held[0] = queue.get();
  held[2].reset();
  advance(1s);
  EXPECT_DOUBLE_EQ(now().longest_running_processor_seconds, 1);
}

// No thread refreshes the values, so none is stale at the end.
TEST_F(QueueMetricsTest, UnfinishedWorkIsZeroAfterTheLastDoneAlsoAtTheEnd) {
  queue.add("held");
  queue.add("queued");
  auto held = queue.get();
  queue.shut_down();
  advance(2s);
  EXPECT_DOUBLE_EQ(now().unfinished_work_seconds, 2);
  held->done();
  EXPECT_EQ(now().unfinished_work_seconds, 0);
  held = queue.get();
  advance(1h);
  EXPECT_DOUBLE_EQ(now().longest_running_processor_seconds, 3600);
  held->done();
  advance(1h);
  EXPECT_EQ(now().unfinished_work_seconds, 0);
  EXPECT_EQ(now().longest_running_processor_seconds, 0);
  EXPECT_EQ(now().depth, (Depths{{"0", 0}}));
}

TEST_F(QueueMetricsTest, DurationsFallIntoBucketsThatIncludeTheirUpperBound) {
  const std::array<std::pair<Duration, double>, 6> durations{
      {{0ns, 1e-8}, {10ns, 1e-8}, {11ns, 1e-7}, {1s, 1}, {1s + 1ns, 10}, {1000s + 1ns, -1}}};
  for (const auto& [duration, bound] : durations) {
    WorkQueue<int> one({.name = "one", .clock = clock});
    one.add(1);
    advance(duration);
    auto held = one.get();
    EXPECT_EQ(only_bucket(one.metrics().queue_duration), bound) << duration.count();
  }
}

TEST_F(QueueMetricsTest, DelayedKeysAreCountedWhenTheyBecomeReady) {
  queue.add_after("foo", 1h);
  EXPECT_EQ(now().depth, Depths{});
  EXPECT_EQ(now().adds_total, 0U);
  EXPECT_EQ(now().retries_total, 1U);
  queue.add("foo");
  EXPECT_EQ(now().depth, (Depths{{"0", 1}}));
  auto held = queue.get();
  EXPECT_EQ(now().depth, (Depths{{"0", 0}}));
  EXPECT_EQ(now().adds_total, 1U);
}

TEST_F(QueueMetricsTest, AKeyIsQueuedSinceItsDelayEndedNotSinceTheNextCall) {
  queue.add_after("foo", 1s);
  advance(3s);
  EXPECT_EQ(queue.get()->key(), "foo");
  EXPECT_DOUBLE_EQ(now().queue_duration.sum_seconds, 2);
}

TEST_F(QueueMetricsTest, ADelayedKeyThatIsRaisedCountsForTheHigherPriority) {
  queue.add_after("foo", 1h, 0);
  queue.add("foo", 1);
  EXPECT_EQ(now().depth, (Depths{{"1", 1}}));
  EXPECT_EQ(queue.get()->priority().value, 1);
  EXPECT_EQ(now().depth, (Depths{{"1", 0}}));
}

TEST_F(QueueMetricsTest, ARaisedKeyMovesBetweenTheDepths) {
  for (const char* key : {"foo", "bar", "baz"}) queue.add(key);
  queue.add("baz", 1);
  EXPECT_EQ(now().depth, (Depths{{"0", 2}, {"1", 1}}));
  queue.add("baz", 0);  // not lowered
  EXPECT_EQ(now().depth, (Depths{{"0", 2}, {"1", 1}}));
  EXPECT_EQ(now().adds_total, 3U);
  while (queue.try_get()) continue;
  EXPECT_EQ(now().depth, (Depths{{"0", 0}, {"1", 0}}));
}

TEST_F(QueueMetricsTest, OnlyAddsWithADelayAreRetries) {
  for (const Duration delay : {-1s, 0s, 1s}) {
    WorkQueue<int> one({.name = "one", .clock = clock});
    for (int key = 0; key < 5000; ++key) one.add_after(key, delay);
    EXPECT_EQ(one.metrics().retries_total, delay > 0s ? 5000U : 0U);
    advance(1s);
    while (one.try_get()) continue;
    EXPECT_EQ(one.metrics().adds_total, 5000U);
  }
}

TEST_F(QueueMetricsTest, DepthAndSizeAgreeHoweverAKeyBecameReady) {
  for (int round = 0; round < 2; ++round) {
    queue.add_after("foo", 500ms);
    queue.add_after("bar", 500ms);
    queue.add("baz");
    queue.add("bal");
    EXPECT_EQ(queue.size(), 2U);
    EXPECT_EQ(now().depth, (Depths{{"0", 2}}));
    advance(1s);
    EXPECT_EQ(queue.size(), 4U);
    EXPECT_EQ(now().depth, (Depths{{"0", 4}}));
    queue.add("foo");
    EXPECT_EQ(now().depth, (Depths{{"0", 4}}));
    while (queue.try_get()) continue;
    EXPECT_EQ(queue.size(), 0U);
    EXPECT_EQ(now().depth, (Depths{{"0", 0}}));
  }
}

TEST_F(QueueMetricsTest, AtMost25PrioritiesHaveADepthOfTheirOwn) {
  const std::array<std::array<std::size_t, 3>, 4> cases{{{10, 10, 0}, {25, 25, 0}, {26, 26, 1}, {30, 26, 5}}};
  for (const auto& [priorities, series, rest] : cases) {
    WorkQueue<int> one({.name = "one", .clock = clock});
    for (std::size_t i = 0; i < priorities; ++i) one.add(static_cast<int>(i), static_cast<std::int32_t>(i));
    const Depths depth = one.metrics().depth;
    EXPECT_EQ(depth.size(), series);
    const bool has_rest = depth.back().label == "exceeded_cardinality_limit";
    EXPECT_EQ(has_rest ? depth.back().depth : 0, rest);
  }
  WorkQueue<int> same({.name = "same", .clock = clock});
  for (int i = 0; i < 200; ++i) same.add(i, 7);
  EXPECT_EQ(same.metrics().depth, (Depths{{"7", 200}}));
}

TEST_F(QueueMetricsTest, EveryDepthReturnsToZeroWhateverThePriorities) {
  for (int i = 0; i < 30; ++i) queue.add(std::to_string(i), i);
  for (int i = 0; i < 30; ++i) queue.add(std::to_string(i), 100 + i);  // all other priorities
  EXPECT_EQ(now().depth.back(), (LabelledDepth{"exceeded_cardinality_limit", 30}));
  queue.add("early", 3);  // an early priority keeps its own label
  EXPECT_EQ(now().depth[3], (LabelledDepth{"3", 1}));
  while (queue.try_get()) continue;
  for (const LabelledDepth& at : now().depth) EXPECT_EQ(at.depth, 0U) << at.label;
}

TEST_F(QueueMetricsTest, ShutDownNowLeavesNoDepth) {
  for (const Readd readd : {Readd::at_back, Readd::keep_place}) {
    WorkQueue<std::string> one({.name = "one", .readd = readd, .clock = clock});
    one.add("held");
    auto held = one.get();
    one.add("held");
    one.add("queued", 5);
    one.shut_down_now();
    EXPECT_EQ(one.metrics().depth, (Depths{{"0", 0}, {"5", 0}}));
    held->done();
    EXPECT_EQ(one.metrics().depth, (Depths{{"0", 0}, {"5", 0}}));
    EXPECT_EQ(one.metrics().unfinished_work_seconds, 0);
  }
}

TEST_F(QueueMetricsTest, LanesHaveDepths) {
  queue.add("a", Lane::slow);
  queue.add("b", Lane::slow);
  queue.add("b", Lane::fast);
  EXPECT_EQ(now().lanes, (Depths{{"fast", 1}, {"slow", 1}}));
  WorkQueue<int> fifo({.name = "fifo", .clock = clock});
  EXPECT_EQ(fifo.metrics().lanes, Depths{});
  RequestQueue requests({.name = "requests", .store = TwoLaneStore(), .clock = clock});
  EXPECT_EQ(requests.metrics().lanes, (Depths{{"fast", 0}, {"slow", 0}}));
}

// A clock that counts how often it is read.
class CountingClock final : public Clock {
 public:
  TimePoint now() const noexcept override {
    ++reads;
    return {};
  }
  WallTime wall_now() const noexcept override { return {}; }
  void wait(CondVar& condition, MutexLock& lock) const override { condition.wait(lock); }
  void wait_until(CondVar& condition, MutexLock& lock, TimePoint) const override { condition.wait(lock); }
  mutable int reads = 0;
};

TEST(QueueMetrics, AQueueWithoutANameHasNoneAndReadsNoClock) {
  const auto clock = std::make_shared<CountingClock>();
  WorkQueue<int> queue({.clock = clock});
  queue.add(1);
  queue.get()->done();
  EXPECT_EQ(clock->reads, 0);
  EXPECT_EQ(queue.metrics().name, "");
  EXPECT_EQ(queue.metrics().adds_total, 0U);
}

// Records its input as text.
class NotingSink final : public MetricSink {
 public:
  void counter(std::string_view name, std::string_view help, MetricLabels labels, double value) override {
    note("counter", name, help, labels) = std::to_string(value);
  }
  void gauge(std::string_view name, std::string_view help, MetricLabels labels, double value) override {
    note("gauge", name, help, labels) = std::to_string(value);
  }
  void histogram(std::string_view name, std::string_view help, MetricLabels labels,
                 const HistogramView& value) override {
    std::string& text = note("histogram", name, help, labels);
    for (std::size_t i = 0; i <= value.size; ++i) text += std::to_string(value.counts[i]) + " ";
    text += std::to_string(value.sum);
  }

  std::map<std::string, std::string> series;

 private:
  std::string& note(const char* kind, std::string_view name, std::string_view help, MetricLabels labels) {
    EXPECT_FALSE(help.empty());
    std::string text = kind + (" " + std::string(name)) + "{";
    for (const MetricLabel& label : labels)
      text += std::string(label.name) + "=" + std::string(label.value) + ",";
    text += "}";
    EXPECT_FALSE(series.contains(text)) << text;
    return series[text];
  }
};

TEST_F(QueueMetricsTest, ReachASinkUnderTheNamesOfClientGo) {
  queue.add("a");
  queue.add("b", Lane::slow);
  queue.add_after("c", 1h);
  advance(1s);
  auto held = queue.get();
  advance(2s);
  NotingSink sink;
  queue.collect(sink);
  const std::map<std::string, std::string> expected{
      {"gauge workqueue_depth{name=test,controller=test,priority=0,}", "0.000000"},
      {"gauge workqueue_depth{name=test,controller=test,priority=-100,}", "1.000000"},
      {"gauge workqueue_lane_depth{name=test,controller=test,lane=fast,}", "0.000000"},
      {"gauge workqueue_lane_depth{name=test,controller=test,lane=slow,}", "1.000000"},
      {"counter workqueue_adds_total{name=test,controller=test,}", "2.000000"},
      {"counter workqueue_retries_total{name=test,controller=test,}", "1.000000"},
      {"histogram workqueue_queue_duration_seconds{name=test,controller=test,}",
       "0 0 0 0 0 0 0 0 1 0 0 0 0 1.000000"},
      {"histogram workqueue_work_duration_seconds{name=test,controller=test,}",
       "0 0 0 0 0 0 0 0 0 0 0 0 0 0.000000"},
      {"gauge workqueue_unfinished_work_seconds{name=test,controller=test,}", "2.000000"},
      {"gauge workqueue_longest_running_processor_seconds{name=test,controller=test,}", "2.000000"}};
  EXPECT_EQ(sink.series, expected);
  NotingSink none;
  WorkQueue<int> unnamed;
  unnamed.collect(none);
  EXPECT_TRUE(none.series.empty());
}

}  // namespace
}  // namespace evenkeel
