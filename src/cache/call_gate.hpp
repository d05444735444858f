// SPDX-License-Identifier: Apache-2.0
// Tracks the running calls of a callback, so that its owner can end them without holding a lock during a
// call. Shared with floors above.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/suspender.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Concurrency of the calls.
enum class GateEntry : std::uint8_t {
  shared,  ///< Any number of threads.
  single,  ///< One thread or fiber at a time; others wait. One that is inside may enter again.
};

/// A gate that calls enter before and leave after calling. Its lock is held only to count them.
/// Thread safety: all members may be called concurrently.
class CallGate {
 public:
  explicit CallGate(GateEntry entry) : single_(entry == GateEntry::single) {}

  /// One call, from construction to destruction, on one thread or fiber.
  class Pass {
   public:
    explicit Pass(CallGate& gate) : gate_(gate.enter() ? &gate : nullptr) {}
    ~Pass() {
      if (gate_ != nullptr) gate_->leave();
    }
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;
    /// False: the gate is closed; do not make the call.
    explicit operator bool() const { return gate_ != nullptr; }

   private:
    CallGate* gate_;
  };

  /// Closes the gate to further calls and waits for those of other threads and fibers. Returns false if the
  /// caller itself is inside a call, which then continues.
  bool close() EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    closed_ = true;
    changed_.notify_all();
    while (inside_.size() != own()) changed_.wait(lock);
    return inside_.empty();
  }

 private:
  using Caller = std::pair<std::thread::id, const Suspender*>;
  static Caller caller() { return {std::this_thread::get_id(), Suspender::current()}; }

  bool enter() EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    while (single_ && !closed_ && inside_.size() != own()) changed_.wait(lock);
    if (closed_) return false;
    inside_.push_back(caller());
    return true;
  }
  void leave() EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    inside_.erase(std::find(inside_.begin(), inside_.end(), caller()));
    changed_.notify_all();
  }
  std::size_t own() const EVENKEEL_REQUIRES(mutex_) {
    return static_cast<std::size_t>(std::count(inside_.begin(), inside_.end(), caller()));
  }

  const bool single_;
  Mutex mutex_;
  CondVar changed_;
  std::vector<Caller> inside_ EVENKEEL_GUARDED_BY(mutex_);
  bool closed_ EVENKEEL_GUARDED_BY(mutex_) = false;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
