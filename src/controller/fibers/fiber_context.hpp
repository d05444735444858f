// SPDX-License-Identifier: Apache-2.0
// A function on a stack of its own, which can be left in the middle and continued later.
// Shared with floors above.
#pragma once

#include <cstddef>
#include <functional>

#include <boost/context/detail/fcontext.hpp>

#include <evenkeel/base/export.hpp>

#include "controller/fibers/fiber_stacks.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// A stack and the control flow on it. An overflow of the stack ends the process with SIGSEGV. Each switch
/// keeps the exceptions being handled, and errno, with its side, and is announced to the sanitizers.
/// Thread safety: belongs to the thread of its stacks. Lifetime: ends before that of its stacks; may be
/// destroyed when the function has returned, or before it was called.
class EVENKEEL_API FiberContext {
 public:
  /// `body` is called on the stack, once for each start; it must not throw. Throws std::bad_alloc if there is
  /// no stack.
  FiberContext(FiberStacks& stacks, std::function<void()> body);
  ~FiberContext();
  FiberContext(const FiberContext&) = delete;
  FiberContext& operator=(const FiberContext&) = delete;

  /// Starts or continues the function; returns when it suspends or returns.
  void resume() noexcept;
  /// On the stack: returns to the caller of resume().
  void suspend() noexcept;
  /// Returns true if the function has returned; resume() then starts it again.
  bool returned() const noexcept { return returned_; }

 private:
  /// The exceptions being handled, as the C++ ABI keeps them for each thread (__cxa_eh_globals).
  struct Exceptions {
    void* caught = nullptr;
    unsigned int uncaught = 0;
  };

  static void enter(boost::context::detail::transfer_t from) noexcept;
  static Exceptions exchange_exceptions(const Exceptions& wanted) noexcept;
  void leave_for_good() noexcept;

  const std::function<void()> body_;
  FiberStacks& stacks_;
  const FiberStack stack_;
  boost::context::detail::fcontext_t context_ = nullptr;  // of the side that does not run
  Exceptions exceptions_;
  bool returned_ = true;
  bool ending_ = false;
  // For the sanitizers; unused without them.
  void* tsan_fiber_ = nullptr;
  void* tsan_thread_ = nullptr;
  void* fake_stack_ = nullptr;
  const void* thread_stack_ = nullptr;
  std::size_t thread_stack_bytes_ = 0;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
