// SPDX-License-Identifier: Apache-2.0
// Link between what waits and the fiber that it waits on: a wait suspends the fiber instead of blocking the
// thread.
#pragma once

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

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
