// SPDX-License-Identifier: Apache-2.0
// Decides which failures of a collection are worth a line in the log: one that goes on is said once.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <evenkeel/base/time.hpp>
#include <evenkeel/cache/watch_health.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// A failure is said when it begins, or becomes another one. Its end is said if its begin was. One that comes
/// back soon after its end is not said again: a watch that opens and breaks at once, for hours, is two lines.
/// Thread safety: one thread at a time.
class FailureLog {
 public:
  /// How long after its end a failure is still the same when it comes back.
  static constexpr Duration quiet = std::chrono::minutes{10};

  /// A try failed: whether to say so.
  bool failed(WatchProblem problem, std::string_view error, TimePoint now);
  /// All is well: whether to say so.
  bool works(TimePoint now);

 private:
  std::string said_;  // what was said last, numbers left out
  TimePoint ended_at_{};
  bool failing_ = false;
  bool end_is_news_ = false;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
