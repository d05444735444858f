// SPDX-License-Identifier: Apache-2.0
// How the watch of one kind is doing, and what is wrong with it if something is: for probes, metrics and
// explanations.
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

/// Why a collection cannot be followed.
enum class WatchProblem : std::uint8_t {
  none,
  no_such_kind,  ///< 404: no CustomResourceDefinition is installed for it, or not in this version.
  forbidden,     ///< 403: a role lacks the verb that the error names.
  unauthorized,  ///< 401: the server does not take the credentials.
  unreachable,   ///< No connection came about, or the server took it and then sent nothing.
  other,         ///< Anything else that the error says.
};

/// "none", "no_such_kind", "forbidden", "unauthorized", "unreachable" or "other": labels of metrics.
EVENKEEL_API std::string_view watch_problem_name(WatchProblem problem) noexcept;

/// What people can do about a problem: "is its CustomResourceDefinition installed?". Empty for none and
/// other.
EVENKEEL_API std::string_view watch_problem_hint(WatchProblem problem) noexcept;

/// One watch of a controller. It fails, backs off and heals apart from all others; a failure holds up its own
/// controller only, and that only until the first list was read.
struct WatchHealth {
  std::string controller = {};
  ResourceId resource = {};
  std::string namespace_ = {};  ///< Empty: all.
  bool synced = false;          ///< The whole collection was read once, and the controller knows it.
  /// What the last try failed with. A failed list is forgotten when a list succeeds, a failed watch when the
  /// server accepts one.
  WatchProblem problem = WatchProblem::none;
  std::string last_error = {};                 ///< In words: verb, kind and the server's reason.
  std::optional<TimePoint> since = {};         ///< Since when there is a problem.
  std::optional<TimePoint> next_attempt = {};  ///< Of one that waits for its back-off.

  /// "pods (v1): list Pod: 403 Forbidden: ... (since 5s, next try in 1.6s)", or without a problem
  /// "pods (v1)".
  EVENKEEL_API std::string describe(TimePoint now) const;
};

}  // namespace v0
}  // namespace evenkeel
