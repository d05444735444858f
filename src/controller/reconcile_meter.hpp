// SPDX-License-Identifier: Apache-2.0
// Counters and durations of a controller's runs, and their export as metrics. No lock, no clock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <evenkeel/base/metrics.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/controller/result_core.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Thread safety: that of standard containers; it is copied under a lock and collected without it.
class ReconcileMeter {
 public:
  /// Upper bounds in seconds, each included in its bucket.
  /// Source: controller-runtime pkg/internal/controller/metrics.
  static constexpr std::array<double, 40> bounds{0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3,  0.35,
                                                 0.4,   0.45, 0.5,   0.6,  0.7, 0.8,  0.9, 1.0,  1.25, 1.5,
                                                 1.75,  2.0,  2.5,   3.0,  3.5, 4.0,  4.5, 5,    6,    7,
                                                 8,     9,    10,    15,   20,  25,   30,  40,   50,   60};

  void ended(const ReconcileOutcome& outcome, Duration took) noexcept;

  const ReconcileCounts& counts() const noexcept { return counts_; }
  /// Collects under controller-runtime's names. Counters that never changed are 0, not missing. Conflicts are
  /// a separate result, not errors.
  /// `workers`: the maximum number of concurrent runs, `active`: the current number.
  void collect(MetricSink& sink, std::string_view controller, std::size_t workers, std::size_t active) const;

 private:
  ReconcileCounts counts_;
  std::array<std::uint64_t, bounds.size() + 1> times_{};
  double seconds_ = 0;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
