// SPDX-License-Identifier: Apache-2.0
// Logs one line when a server becomes unreachable and one when it recovers, for any number of informers.
#pragma once

#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/time.hpp>

#include "cache/failure_log.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Shared by the informers of one server.
/// Thread safety: all members may be called concurrently.
class ServerLog {
 public:
  /// Records that an informer cannot reach the server; returns true if a line is due.
  bool failed(TimePoint now) EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return log_.failed(WatchProblem::unreachable, {}, now);
  }
  /// Records that an informer that could not reach the server got a response; returns true if a line is due.
  bool works(TimePoint now) EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return log_.works(now);
  }
  /// Returns true if works() has to be called again: the last line is that the server cannot be reached.
  bool logs_end() EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return log_.logs_end();
  }

 private:
  Mutex mutex_;
  FailureLog log_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
