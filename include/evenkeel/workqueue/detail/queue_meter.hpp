// SPDX-License-Identifier: Apache-2.0
// Counters and timers of a named queue. No thread and no clock: events and times are arguments.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <evenkeel/base/time.hpp>
#include <evenkeel/workqueue/queue_metrics.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Metering state of a key.
struct MeterRecord {
  TimePoint dirty_since{};       // valid while the key is dirty
  TimePoint held_since{};        // valid while a worker holds it
  MeterRecord* older = nullptr;  // list of the held keys, in the order of handing out
  MeterRecord* newer = nullptr;
  std::uint8_t label = 0;  // index of the depth that counts it while it is dirty
};

/// Number of dirty keys by priority. A key is removed from the label it was added to, even if its priority
/// changed, so no depth is ever negative.
/// Thread safety: one thread at a time.
class DepthByPriority {
 public:
  static constexpr std::size_t most_labels = 25;

  /// Counts a key of `priority`; returns the label to pass to its removal. Complexity: constant if `priority`
  /// is that of the previous call, otherwise linear in the number of labels.
  std::uint8_t add(std::int32_t priority) {
    std::size_t label = last_;
    if (label >= size_ || priorities_[label] != priority) {
      label = 0;
      while (label < size_ && priorities_[label] != priority) ++label;
      if (label == size_ && size_ < most_labels) priorities_[size_++] = priority;
      last_ = label;
    }
    if (label == most_labels) has_rest_ = true;
    ++depths_[label];
    return static_cast<std::uint8_t>(label);
  }
  void remove(std::uint8_t label) { --depths_[label]; }
  /// Resets all depths; the labels stay.
  void clear() { depths_.fill(0); }

  std::vector<LabelledDepth> labelled() const {
    std::vector<LabelledDepth> depths;
    for (std::size_t i = 0; i < size_; ++i) depths.push_back({std::to_string(priorities_[i]), depths_[i]});
    if (has_rest_) depths.push_back({"exceeded_cardinality_limit", depths_[most_labels]});
    return depths;
  }

 private:
  std::array<std::int32_t, most_labels> priorities_{};
  std::array<std::size_t, most_labels + 1> depths_{};  // the last is for all other priorities
  std::size_t size_ = 0;
  std::size_t last_ = 0;
  bool has_rest_ = false;
};

/// Thread safety: one thread at a time. Lifetime: keeps the addresses of the records of held keys.
class QueueMeter {
 public:
  void became_dirty(MeterRecord& record, std::int32_t priority, TimePoint now) {
    ++figures_.adds_total;
    record.dirty_since = now;
    record.label = depth_.add(priority);
  }
  void was_raised(MeterRecord& record, std::int32_t priority) {
    depth_.remove(record.label);
    record.label = depth_.add(priority);
  }
  void was_retried() { ++figures_.retries_total; }

  void was_handed_out(MeterRecord& record, TimePoint now) {
    depth_.remove(record.label);
    observe(figures_.queue_duration, now - record.dirty_since);
    record.held_since = now;
    record.newer = nullptr;
    record.older = std::exchange(newest_, &record);
    (record.older == nullptr ? oldest_ : record.older->newer) = &record;
    sum_of_starts_ += ticks(now);
    ++held_;
  }
  void was_done(MeterRecord& record, TimePoint now) {
    observe(figures_.work_duration, now - record.held_since);
    (record.older == nullptr ? oldest_ : record.older->newer) = record.newer;
    (record.newer == nullptr ? newest_ : record.newer->older) = record.older;
    sum_of_starts_ -= ticks(record.held_since);
    --held_;
  }
  /// Handles a shutdown: dirty keys will not be handed out any more.
  void was_closed() { depth_.clear(); }

  /// Returns all metrics except the name and the lanes, which the meter does not know.
  QueueMetrics metrics(TimePoint now) const {
    QueueMetrics metrics = figures_;
    metrics.depth = depth_.labelled();
    if (held_ > 0) {
      metrics.unfinished_work_seconds =
          seconds(static_cast<std::int64_t>(held_ * ticks(now) - sum_of_starts_));
      metrics.longest_running_processor_seconds = seconds((now - oldest_->held_since).count());
    }
    return metrics;
  }

 private:
  // Sums of times are modulo 2^64; only the requested difference has to fit.
  static std::uint64_t ticks(TimePoint time) {
    return static_cast<std::uint64_t>(time.time_since_epoch().count());
  }
  static double seconds(std::int64_t nanoseconds) {
    return nanoseconds <= 0 ? 0 : static_cast<double>(nanoseconds) * 1e-9;
  }

  static void observe(DurationHistogram& histogram, Duration duration) {
    std::size_t bucket = 0;
    std::int64_t bound = 10;  // in nanoseconds: the bounds of the histogram, exactly
    while (bucket < DurationHistogram::bounds.size() && duration.count() > bound) {
      bound *= 10;
      ++bucket;
    }
    ++histogram.counts[bucket];
    histogram.sum_seconds += seconds(duration.count());
  }

  QueueMetrics figures_;
  DepthByPriority depth_;
  MeterRecord* oldest_ = nullptr;
  MeterRecord* newest_ = nullptr;
  std::uint64_t held_ = 0;
  std::uint64_t sum_of_starts_ = 0;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
