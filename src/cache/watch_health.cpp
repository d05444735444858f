// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include <evenkeel/cache/watch_health.hpp>

#include "base/rounded_duration.hpp"

namespace evenkeel {
inline namespace v0 {
std::string_view watch_problem_name(WatchProblem problem) noexcept {
  switch (problem) {
    case WatchProblem::none:
      return "none";
    case WatchProblem::no_such_kind:
      return "no_such_kind";
    case WatchProblem::forbidden:
      return "forbidden";
    case WatchProblem::unauthorized:
      return "unauthorized";
    case WatchProblem::unreachable:
      return "unreachable";
    case WatchProblem::other:
      break;
  }
  return "other";
}

std::string_view watch_problem_hint(WatchProblem problem) noexcept {
  switch (problem) {
    case WatchProblem::no_such_kind:
      return "is its CustomResourceDefinition installed?";
    case WatchProblem::forbidden:
      return "does the role allow list and watch?";
    case WatchProblem::unauthorized:
      return "are credentials sent, and are they those of this cluster?";
    case WatchProblem::unreachable:
      return "is the server up?";
    case WatchProblem::none:
    case WatchProblem::other:
      break;
  }
  return "";
}

std::string WatchHealth::name() const {
  return resource.plural + " (" + resource.api_version() + (selector.empty() ? "" : ", " + selector) + ")";
}

std::string WatchHealth::describe(TimePoint now) const {
  std::string text = name();
  if (problem == WatchProblem::none) return text;
  text += ": " + last_error;
  if (!since) return text;
  text += " (since " + detail::format_rounded(now - *since);
  if (next_attempt && *next_attempt > now)
    text += ", next try in " + detail::format_rounded(*next_attempt - now);
  return text + ")";
}

}  // namespace v0
}  // namespace evenkeel
