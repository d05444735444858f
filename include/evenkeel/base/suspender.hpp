// SPDX-License-Identifier: Apache-2.0
// Link between what waits and the fiber that it waits on: a wait suspends the fiber instead of blocking the
// thread.
#pragma once

#include <exception>
#include <optional>
#include <utility>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// A flow of control that gives its thread to others while it waits: a fiber. CondVar uses it, and thereby
/// every wait of the library.
class EVENKEEL_API Suspender {
 public:
  /// Returns the one that the calling thread runs now, or null outside of fibers. It never changes threads.
  static Suspender* current() noexcept { return of_thread; }

  /// Suspends the caller until wake() or until `deadline` of the steady clock is reached. May return early.
  /// Must be called on the fiber itself, with no lock held.
  virtual void suspend(TimePoint deadline) noexcept = 0;
  /// Ends suspend(), also one that is about to begin. Any thread.
  virtual void wake() noexcept = 0;
  /// Calls `work` with `data` on the stack of the thread, where current() is null, and returns when it has
  /// returned. It must not throw; what waits in it blocks the thread. Must be called on the fiber itself.
  virtual void call_on_thread(void (*work)(void* data), void* data) noexcept = 0;
  /// Returns true if the thread has nothing to run, so that wake() takes effect immediately. Any thread.
  virtual bool is_idle() const noexcept = 0;

 protected:
  Suspender() = default;
  ~Suspender() = default;
  Suspender(const Suspender&) = default;
  Suspender& operator=(const Suspender&) = default;

  static void set_current(Suspender* now) noexcept { of_thread = now; }

 private:
  static inline constinit thread_local Suspender* of_thread = nullptr;
};

/// Returns the result of `work`, or throws its exception. On a fiber, `work` runs on the stack of the thread:
/// for what needs more stack than a fiber that waits should keep, and does not wait itself.
template <class Work>
auto on_thread_stack(const Work& work) -> decltype(work()) {
  using Result = decltype(work());
  Suspender* const fiber = Suspender::current();
  if (fiber == nullptr) return work();
  struct Call {
    const Work* work;
    std::optional<Result> result = {};
    std::exception_ptr error = {};
  } call{&work};
  fiber->call_on_thread(
      [](void* data) {
        Call& own = *static_cast<Call*>(data);
        try {
          own.result.emplace((*own.work)());
        } catch (...) {
          own.error = std::current_exception();
        }
      },
      &call);
  if (call.error) std::rethrow_exception(call.error);
  return std::move(*call.result);
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
