// SPDX-License-Identifier: Apache-2.0
// State of the watch of one kind and the cause of its failure, for probes, metrics and explanations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <evenkeel/api/resource.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {

/// Cause of a failing list or watch.
enum class WatchProblem : std::uint8_t {
  none,
  no_such_kind,  ///< 404: no CustomResourceDefinition is installed for it, or not in this version.
  forbidden,     ///< 403: a role lacks the verb that the error names.
  unauthorized,  ///< 401: the server rejects the credentials.
  unreachable,   ///< The connection failed, or was established and delivered nothing.
  other,         ///< Any other error; see the message.
};

/// "none", "no_such_kind", "forbidden", "unauthorized", "unreachable" or "other": labels of metrics.
EVENKEEL_API std::string_view watch_problem_name(WatchProblem problem) noexcept;

/// Returns a hint for people who fix the problem: "is its CustomResourceDefinition installed?". Empty for
/// none and other.
EVENKEEL_API std::string_view watch_problem_hint(WatchProblem problem) noexcept;

/// State of one watch of a controller. Watches fail, back off and recover independently; a failure blocks
/// only the watch's own controller, and only until the first list has been read.
struct WatchHealth {
  std::string controller = {};
  ResourceId resource = {};
  std::string namespace_ = {};  ///< Empty: all.
  std::string selector = {};    ///< Its label and field selectors, joined by ';'. Empty: none.
  bool synced = false;          ///< All objects were listed once, and the controller has seen them.
  /// Category of the last failure. A failed list is cleared when a list succeeds, a failed watch when the
  /// server accepts one.
  WatchProblem problem = WatchProblem::none;
  std::string last_error = {};                 ///< Verb, kind and the server's reason.
  std::optional<TimePoint> since = {};         ///< Start of the problem.
  std::optional<TimePoint> next_attempt = {};  ///< End of the back-off, while waiting.

  /// Returns "pods (v1)", or "pods (v1, app=web)" with a selector.
  EVENKEEL_API std::string name() const;
  /// Returns "pods (v1): list Pod: 403 Forbidden: ... (since 5s, next try in 1.6s)", or name() if there is no
  /// problem.
  EVENKEEL_API std::string describe(TimePoint now) const;
};

}  // namespace v0
}  // namespace evenkeel
