// SPDX-License-Identifier: Apache-2.0
// Metrics of webhooks, by path.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include <evenkeel/base/metrics.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

enum class WebhookKind : std::uint8_t { admission, conversion };

/// Thread safety: all members may be called concurrently.
/// Source: controller-runtime pkg/webhook/internal/metrics, pkg/webhook/admission/metrics and
/// pkg/webhook/conversion/metrics.
class WebhookMeter {
 public:
  /// Makes the series of a path appear, at 0.
  void add(const std::string& path) EVENKEEL_EXCLUDES(mutex_);
  void began(const std::string& path) EVENKEEL_EXCLUDES(mutex_);
  void ended(const std::string& path, int code, Duration took) EVENKEEL_EXCLUDES(mutex_);
  /// Counts a request that got 503 without being begun.
  void refused(const std::string& path) EVENKEEL_EXCLUDES(mutex_);
  /// Counts a function that threw.
  void threw(WebhookKind kind) EVENKEEL_EXCLUDES(mutex_);

  void collect(MetricSink& sink) const EVENKEEL_EXCLUDES(mutex_);

 private:
  // Those of client_golang.
  static constexpr std::array<double, 11> bounds{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10};
  struct Series {
    std::array<std::uint64_t, bounds.size() + 1> counts = {};
    double seconds = 0;
    std::map<int, std::uint64_t> codes = {{200, 0}, {500, 0}};
    std::int64_t in_flight = 0;
  };

  mutable Mutex mutex_;
  std::map<std::string, Series> series_ EVENKEEL_GUARDED_BY(mutex_);
  std::uint64_t admission_panics_ EVENKEEL_GUARDED_BY(mutex_) = 0;
  std::uint64_t conversion_panics_ EVENKEEL_GUARDED_BY(mutex_) = 0;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
