// SPDX-License-Identifier: Apache-2.0
#include "controller/fibers/fiber_context.hpp"

#include <cerrno>
#include <cstring>
#include <cxxabi.h>
#include <utility>

#include "controller/fibers/fiber_sanitizers.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

namespace context = boost::context::detail;

FiberContext::FiberContext(FiberStacks& stacks, std::function<void()> body)
    : body_(std::move(body)),
      stacks_(stacks),
      stack_(stacks.take()),
      context_(context::make_fcontext(stack_.bottom + stack_.bytes, stack_.bytes, &FiberContext::enter)),
      tsan_fiber_(sanitizers::new_fiber()) {}

FiberContext::~FiberContext() {
  leave_for_good();
  if (tsan_fiber_ != nullptr) sanitizers::drop_fiber(tsan_fiber_);
  sanitizers::forget_stack(stack_.bottom, stack_.bytes);
  stacks_.give_back(stack_);
}

// AddressSanitizer has to see the end of a stack that was in use.
void FiberContext::leave_for_good() noexcept {
  if (fake_stack_ == nullptr) return;
  ending_ = true;
  resume();
}

FiberContext::Exceptions FiberContext::exchange_exceptions(const Exceptions& wanted) noexcept {
  void* const globals = abi::__cxa_get_globals();
  Exceptions now;
  std::memcpy(&now, globals, sizeof now);
  std::memcpy(globals, &wanted, sizeof wanted);
  return now;
}

void FiberContext::resume() noexcept {
  returned_ = false;
  const int error = errno;
  const Exceptions of_thread = exchange_exceptions(exceptions_);
  tsan_thread_ = sanitizers::current_fiber();
  void* fake_stack = nullptr;
  sanitizers::start_switch(&fake_stack, stack_.bottom, stack_.bytes);
  sanitizers::switch_to(tsan_fiber_);
  const context::transfer_t back = context::jump_fcontext(context_, this);
  sanitizers::finish_switch(fake_stack, nullptr, nullptr);
  context_ = back.fctx;
  exceptions_ = exchange_exceptions(of_thread);
  errno = error;
}

void FiberContext::suspend() noexcept {
  const int error = errno;
  sanitizers::start_switch(ending_ ? nullptr : &fake_stack_, thread_stack_, thread_stack_bytes_);
  sanitizers::switch_to(tsan_thread_);
  const context::transfer_t back = context::jump_fcontext(context_, nullptr);
  sanitizers::finish_switch(fake_stack_, &thread_stack_, &thread_stack_bytes_);
  context_ = back.fctx;
  errno = error;
}

void FiberContext::enter(context::transfer_t from) noexcept {
  FiberContext& self = *static_cast<FiberContext*>(from.data);
  sanitizers::finish_switch(nullptr, &self.thread_stack_, &self.thread_stack_bytes_);
  self.context_ = from.fctx;
  for (;;) {
    if (!self.ending_) self.body_();
    self.returned_ = true;
    self.suspend();
  }
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
