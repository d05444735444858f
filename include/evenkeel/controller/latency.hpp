// SPDX-License-Identifier: Apache-2.0
// Quantiles of durations in fixed memory, for the latency from an event to its reconcile.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {

/// A histogram whose buckets grow by 1/16 of a power of two: quantiles are at most 6.25 % too high, between 1
/// us and 2^40 ns (18 minutes). Shorter durations count as 1 us, longer ones as the maximum.
/// Thread safety: that of standard containers; a controller guards it by its own lock.
/// Complexity: 4 KB; record() is O(1), quantile() O(buckets).
class LatencyHistogram {
 public:
  void record(Duration latency) noexcept {
    ++buckets_[index_of(latency)];
    ++count_;
  }
  LatencyHistogram& operator+=(const LatencyHistogram& other) noexcept {
    for (std::size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
    count_ += other.count_;
    return *this;
  }

  /// Removes the durations of an earlier state of this histogram; those since then remain.
  LatencyHistogram& operator-=(const LatencyHistogram& earlier) noexcept {
    for (std::size_t i = 0; i < buckets_.size(); ++i) buckets_[i] -= earlier.buckets_[i];
    count_ -= earlier.count_;
    return *this;
  }

  std::uint64_t count() const noexcept { return count_; }

  /// Returns the smallest bucket bound that at least `share` (0 to 1) of all durations do not exceed; zero if
  /// there are none.
  Duration quantile(double share) const noexcept {
    if (count_ == 0) return {};
    const double wanted = share * static_cast<double>(count_);
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      seen += buckets_[i];
      if (buckets_[i] != 0 && static_cast<double>(seen) >= wanted) return upper_bound(i);
    }
    return upper_bound(buckets_.size() - 1);
  }

 private:
  static constexpr int first_octave = 10;  // 2^10 ns
  static constexpr int last_octave = 40;
  static constexpr int steps_log2 = 4;
  static constexpr std::size_t steps = std::size_t{1} << steps_log2;

  // Bucket i holds (lower, upper]; within an octave the top four bits after the first pick the bucket.
  static std::size_t index_of(Duration latency) noexcept {
    if (latency.count() <= (std::int64_t{1} << first_octave)) return 0;
    const auto value = static_cast<std::uint64_t>(latency.count() - 1);
    const int octave = static_cast<int>(std::bit_width(value)) - 1;
    if (octave >= last_octave) return buckets - 1;
    const std::size_t step = (value >> (octave - steps_log2)) & (steps - 1);
    return static_cast<std::size_t>(octave - first_octave) * steps + step;
  }
  static Duration upper_bound(std::size_t index) noexcept {
    const auto octave = static_cast<int>(index / steps) + first_octave;
    const auto step = static_cast<std::int64_t>(index % steps);
    return Duration{(static_cast<std::int64_t>(steps) + step + 1) << (octave - steps_log2)};
  }

  static constexpr std::size_t buckets = static_cast<std::size_t>(last_octave - first_octave) * steps;
  std::array<std::uint64_t, buckets> buckets_{};
  std::uint64_t count_ = 0;
};

}  // namespace v0
}  // namespace evenkeel
