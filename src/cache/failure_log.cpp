// SPDX-License-Identifier: Apache-2.0
#include "cache/failure_log.hpp"

#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

// Errors of connections contain bytes and milliseconds, those of servers contain versions: ignore the numbers
// when comparing.
std::string signature(WatchProblem problem, std::string_view error) {
  std::string text(watch_problem_name(problem));
  if (problem != WatchProblem::other) return text;
  for (const char c : error) {
    if (c < '0' || c > '9') text += c;
  }
  return text;
}

}  // namespace

bool FailureLog::failed(WatchProblem problem, std::string_view error, TimePoint now) {
  std::string what = signature(problem, error);
  failing_ = true;
  if (logs_end_ && what == logged_) return false;
  if (!logs_end_) recurs_ = what == logged_ && now < deadline_after(ended_at_, quiet);
  logged_ = std::move(what);
  logs_end_ = true;
  return true;
}

bool FailureLog::works(TimePoint now) {
  if (std::exchange(failing_, false)) works_since_ = now;
  if (!logs_end_ || (recurs_ && now - works_since_ < settled)) return false;
  logs_end_ = false;
  ended_at_ = now;
  return true;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
