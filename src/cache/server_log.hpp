// SPDX-License-Identifier: Apache-2.0
// One line in the log when a server goes and one when it is back, however many collections notice.
#pragma once

#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/time.hpp>

#include "cache/failure_log.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Shared by the informers of one server. Thread safety: all members may be called concurrently.
class ServerLog {
 public:
  /// A collection cannot reach the server: returns true if a line is due.
  bool failed(TimePoint now) EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return log_.failed(WatchProblem::unreachable, {}, now);
  }
  /// A collection that could not reach the server has an answer: returns true if a line is due.
  bool works(TimePoint now) EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return log_.works(now);
  }

 private:
  Mutex mutex_;
  FailureLog log_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
