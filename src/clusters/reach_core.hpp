// SPDX-License-Identifier: Apache-2.0
// Decides from the ends of requests whether a cluster is away, and when it is asked whether it is back.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

struct ReachOptions {
  std::size_t failures = 3;                        ///< In a row, after which the cluster is away. >= 1.
  Duration first_probe = std::chrono::seconds{1};  ///< From then to the first probe; doubled each time. > 0.
  Duration longest_probe = std::chrono::seconds{30};  ///< Limit of that; >= first_probe.
};

/// A cluster is away after `failures` requests in a row without an answer, until one is answered. While it is
/// away, probes are sent, so that nothing else has to be.
///
/// Driver:
///  1. calls on_answer() for each answered request, whatever the status, and on_failure() for each that got
///     none;
///  2. calls on_timeout() at next_due(), and sends a probe if it returns true; its end is reported as that of
///     any other request.
/// Thread safety: one thread at a time.
class ReachCore {
 public:
  explicit ReachCore(ReachOptions options = {}) : options_(options) {}

  /// Returns true if the cluster is back.
  bool on_answer();
  /// Returns true if the cluster is away from now on.
  bool on_failure(TimePoint now);
  /// Returns true if a probe is due.
  bool on_timeout(TimePoint now);
  /// Returns the time of the next probe; std::nullopt: the cluster is not away.
  std::optional<TimePoint> next_due() const;

  bool is_away() const { return away_since_.has_value(); }
  /// Returns the time of the first of the failures.
  std::optional<TimePoint> away_since() const { return away_since_; }

 private:
  const ReachOptions options_;
  std::size_t failed_ = 0;  // in a row
  std::optional<TimePoint> first_failure_;
  std::optional<TimePoint> away_since_;
  Duration wait_{};
  TimePoint next_probe_{};
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
