// SPDX-License-Identifier: Apache-2.0
#include "controller/fiber_context.hpp"

#include <cerrno>
#include <cstring>
#include <cxxabi.h>
#include <utility>

#include <boost/context/protected_fixedsize_stack.hpp>

#include "controller/fiber_sanitizers.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

namespace context = boost::context::detail;

namespace {

// The stack pointer of a stack_context is its upper end.
const void* bottom_of(const boost::context::stack_context& stack) {
  return static_cast<const char*>(stack.sp) - stack.size;
}

boost::context::stack_context allocate(std::size_t bytes) {
  boost::context::protected_fixedsize_stack stacks(bytes);
  return stacks.allocate();
}

}  // namespace

FiberContext::FiberContext(std::size_t stack_bytes, std::function<void()> body)
    : body_(std::move(body)),
      stack_(allocate(stack_bytes)),
      context_(context::make_fcontext(stack_.sp, stack_.size, &FiberContext::enter)),
      tsan_fiber_(sanitizers::new_fiber()) {}

FiberContext::~FiberContext() {
  leave_for_good();
  if (tsan_fiber_ != nullptr) sanitizers::drop_fiber(tsan_fiber_);
  sanitizers::forget_stack(bottom_of(stack_), stack_.size);
  boost::context::protected_fixedsize_stack(stack_.size).deallocate(stack_);
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
  sanitizers::start_switch(&fake_stack, bottom_of(stack_), stack_.size);
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
