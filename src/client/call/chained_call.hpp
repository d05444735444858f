// SPDX-License-Identifier: Apache-2.0
// One handle for a sequence of calls.
#pragma once

#include <memory>
#include <utility>

#include <evenkeel/base/mutex.hpp>
#include <evenkeel/http/transport.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// A call consisting of several steps. Thread safety: all members may be called concurrently.
class ChainedCall final : public http::Call {
 public:
  void cancel() noexcept override {
    std::shared_ptr<http::Call> running;
    {
      MutexLock lock(mutex_);
      cancelled_ = true;
      running = running_;
    }
    if (running) running->cancel();
  }

  /// Returns true if no further step may start.
  bool cancelled() {
    MutexLock lock(mutex_);
    return cancelled_;
  }

  /// Starts a step. Steps run one after the other, but one may end, and start the next, before `start`
  /// returns.
  template <class Start>
  void step(Start start) {
    std::uint64_t mine = 0;
    {
      MutexLock lock(mutex_);
      mine = ++steps_;
    }
    std::shared_ptr<http::Call> call = start();
    bool late = false;
    {
      MutexLock lock(mutex_);
      if (steps_ == mine) running_ = call;
      late = cancelled_;
    }
    if (late) call->cancel();
  }

 private:
  Mutex mutex_;
  std::shared_ptr<http::Call> running_ EVENKEEL_GUARDED_BY(mutex_);
  std::uint64_t steps_ EVENKEEL_GUARDED_BY(mutex_) = 0;
  bool cancelled_ EVENKEEL_GUARDED_BY(mutex_) = false;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
