// SPDX-License-Identifier: Apache-2.0
// Snapshot of a queue's metrics, and its export to a sink.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <evenkeel/base/metrics.hpp>

namespace evenkeel {
inline namespace v0 {

/// Histogram of durations with twelve bounds, each ten times the previous: 10 ns, 100 ns, ... 1000 s.
struct DurationHistogram {
  /// Upper bounds in seconds, inclusive.
  static constexpr std::array<double, 12> bounds{1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3,
                                                 1e-2, 1e-1, 1,    1e1,  1e2,  1e3};

  std::array<std::uint64_t, bounds.size() + 1> counts{};  ///< Per bucket; the last is above all bounds.
  double sum_seconds = 0;

  std::uint64_t count() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t one : counts) sum += one;
    return sum;
  }
};

/// Number of keys with a label.
struct LabelledDepth {
  std::string label = {};
  std::size_t depth = 0;
  friend bool operator==(const LabelledDepth&, const LabelledDepth&) = default;
};

/// Metrics of a queue, with client-go's names (without the prefix "workqueue_").
struct QueueMetrics {
  std::string name = {};            ///< Name of the queue.
  std::uint64_t adds_total = 0;     ///< Keys that became dirty; adds of dirty keys are not counted.
  std::uint64_t retries_total = 0;  ///< Adds with a delay, including merged ones.
  /// Dirty keys by the priority that they are counted under; "exceeded_cardinality_limit" for all priorities
  /// after the first 25 distinct ones.
  std::vector<LabelledDepth> depth = {};
  std::vector<LabelledDepth> lanes = {};  ///< By lane, if the store has lanes; see store.hpp.
  DurationHistogram queue_duration = {};  ///< From becoming dirty to being handed out.
  DurationHistogram work_duration = {};   ///< From being handed out to done.
  double unfinished_work_seconds = 0;     ///< Sum over all held keys of the time since they were handed out.
  double longest_running_processor_seconds = 0;  ///< The longest of these times.
};

/// Writes `metrics` to `sink` under client-go's names, with the labels name and controller, both set to the
/// queue's name; the depth also has controller-runtime's label priority.
inline void collect(const QueueMetrics& metrics, MetricSink& sink) {
  const MetricLabel name{"name", metrics.name};
  const MetricLabel controller{"controller", metrics.name};
  const auto of_histogram = [](const DurationHistogram& histogram) {
    return HistogramView{histogram.bounds.data(), histogram.counts.data(), histogram.bounds.size(),
                         histogram.sum_seconds};
  };
  for (const LabelledDepth& at : metrics.depth) {
    sink.gauge("workqueue_depth", "Current depth of workqueue by workqueue and priority",
               {name, controller, {"priority", at.label}}, static_cast<double>(at.depth));
  }
  for (const LabelledDepth& at : metrics.lanes) {
    sink.gauge("workqueue_lane_depth", "Current depth of workqueue by workqueue and lane",
               {name, controller, {"lane", at.label}}, static_cast<double>(at.depth));
  }
  sink.counter("workqueue_adds_total", "Total number of adds handled by workqueue", {name, controller},
               static_cast<double>(metrics.adds_total));
  sink.histogram("workqueue_queue_duration_seconds",
                 "How long in seconds an item stays in workqueue before being requested", {name, controller},
                 of_histogram(metrics.queue_duration));
  sink.histogram("workqueue_work_duration_seconds",
                 "How long in seconds processing an item from workqueue takes.", {name, controller},
                 of_histogram(metrics.work_duration));
  sink.gauge("workqueue_unfinished_work_seconds",
             "How many seconds of work has been done that is in progress and hasn't been observed by "
             "work_duration. Large values indicate stuck threads. One can deduce the number of stuck "
             "threads by observing the rate at which this increases.",
             {name, controller}, metrics.unfinished_work_seconds);
  sink.gauge("workqueue_longest_running_processor_seconds",
             "How many seconds has the longest running processor for workqueue been running.",
             {name, controller}, metrics.longest_running_processor_seconds);
  sink.counter("workqueue_retries_total", "Total number of retries handled by workqueue", {name, controller},
               static_cast<double>(metrics.retries_total));
}

}  // namespace v0
}  // namespace evenkeel
