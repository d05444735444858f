// SPDX-License-Identifier: Apache-2.0
// A call on a stack of its own, which may stand still in the middle.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <utility>

#include "controller/fibers/fiber_context.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

/// Thread safety: one thread at a time. Lifetime: ends before that of the stacks, and when the function has
/// returned.
class SuspendedCall {
 public:
  SuspendedCall(v0::detail::FiberStacks& stacks, std::function<void()> body)
      : body_(std::move(body)), context_(stacks, [this] { call(); }) {}

  /// Begins or continues the function; returns when it suspends, or has returned. Throws what it threw.
  void resume() {
    context_.resume();
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }
  /// Called by the function: returns to the caller of resume().
  void suspend() noexcept { context_.suspend(); }
  bool has_returned() const noexcept { return context_.returned(); }

 private:
  void call() noexcept {
    try {
      body_();
    } catch (...) {
      error_ = std::current_exception();
    }
  }

  const std::function<void()> body_;
  std::exception_ptr error_;
  v0::detail::FiberContext context_;
};

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
