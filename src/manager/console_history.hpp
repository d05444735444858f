// SPDX-License-Identifier: Apache-2.0
// Rates and latencies of controllers over the last minutes, in a fixed amount of memory.
//
// Driver:
// 1. At next_due(), take a sample of each controller and call on_sample() with all of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/base/time.hpp>
#include <evenkeel/controller/latency.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// The counters of a controller at one moment. Totals only grow.
struct ControllerSample {
  std::string controller = {};
  double reconciles = 0;   ///< Total of ended runs.
  double errors = 0;       ///< Total of failed runs, conflicts apart.
  double retries = 0;      ///< Total of adds with a delay.
  double run_seconds = 0;  ///< Total duration of ended runs.
  double depth = 0;        ///< Keys that are ready.
  double workers = 0;      ///< Runs that may be in progress at once.
  double busy = 0;
  double stuck = 0;
  std::vector<std::pair<std::string, double>> lanes = {};       ///< Depth by lane, if the store has lanes.
  std::vector<std::pair<std::string, double>> priorities = {};  ///< Depth by priority.
  LatencyHistogram latency = {};                                ///< From event to start of the run.
};

/// Series of a history; rates are per second, durations in seconds.
enum class ConsoleSeries : std::uint8_t { depth, busy, rate, errors, retries, wait_p50, wait_p99, run_mean };
inline constexpr std::array<std::string_view, 8> console_series_names{
    "depth", "busy", "rate", "errors", "retries", "waitP50", "waitP99", "runMean"};

struct ConsoleHistoryOptions {
  Duration interval = std::chrono::seconds{2};
  std::size_t points = 300;          ///< Per controller; the oldest are overwritten.
  std::size_t max_controllers = 64;  ///< Later ones have no history.
};

/// Memory: 32 bytes a point and 4.2 KB for each controller, taken when its first sample comes.
/// Thread safety: one thread at a time.
class ConsoleHistory {
 public:
  using Point = std::array<float, console_series_names.size()>;

  explicit ConsoleHistory(ConsoleHistoryOptions options = {}) : options_(options) {}

  TimePoint next_due() const { return next_due_; }
  /// Takes one sample of each controller. The first sample of a controller is the base of its rates and gives
  /// no point.
  void on_sample(TimePoint now, const std::vector<ControllerSample>& samples);

  /// Number of points that a controller present from the start has had.
  std::uint64_t sequence() const { return sequence_; }
  const ConsoleHistoryOptions& options() const { return options_; }
  /// Returns the points with a number above `after`, oldest first; at most ConsoleHistoryOptions::points.
  std::vector<Point> points(const std::string& controller, std::uint64_t after) const;
  /// Bytes that the points of all controllers take.
  std::size_t bytes() const;

 private:
  struct Track {
    TimePoint at = {};
    double reconciles = 0;
    double errors = 0;
    double retries = 0;
    double run_seconds = 0;
    LatencyHistogram latency = {};
    std::vector<Point> ring = {};  // options_.points of them
    std::uint64_t count = 0;
    std::uint64_t last = 0;  // number of its newest point
  };
  static Point point_of(const Track& before, const ControllerSample& now, double seconds);

  const ConsoleHistoryOptions options_;
  std::map<std::string, Track> tracks_;
  TimePoint next_due_ = {};
  std::uint64_t sequence_ = 0;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
