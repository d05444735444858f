// SPDX-License-Identifier: Apache-2.0
#include "controller/fibers/fibers.hpp"

#include <new>
#include <utility>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/suspender.hpp>

#include "controller/fibers/fiber_context.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

constexpr std::size_t most_spare = 64;  // stacks that are kept for reuse while the thread sleeps

}  // namespace

/// A stack that runs one task after another.
class Fibers::Fiber final : public Suspender, public FiberNode {
 public:
  explicit Fiber(Fibers& thread)
      : thread_(thread), context_(thread.memory_, [this] { thread_.task_(thread_); }) {}
  ~Fiber() = default;

  void suspend(TimePoint deadline) noexcept override {
    if (thread_.core_.on_suspend(*this, deadline)) context_.suspend();
  }
  void wake() noexcept override { thread_.wake(*this); }
  void call_on_thread(void (*work)(void*), void* data) noexcept override {
    work_ = work;
    data_ = data;
    context_.suspend();
  }
  bool is_idle() const noexcept override { return thread_.is_idle_.load(std::memory_order_relaxed); }

  /// Returns true if the task has returned.
  bool resume() noexcept {
    for (;;) {
      set_current(this);
      context_.resume();
      set_current(nullptr);
      if (work_ == nullptr) return context_.returned();
      std::exchange(work_, nullptr)(data_);
    }
  }

  bool is_posted = false;  // is in woken_, guarded by the mutex

 private:
  Fibers& thread_;
  FiberContext context_;
  void (*work_)(void*) = nullptr;  // to be called on the stack of the thread
  void* data_ = nullptr;
};

Fibers::Fibers(FibersOptions options, std::function<void(Fibers&)> task)
    : options_(std::move(options)),
      task_(std::move(task)),
      core_(options_.limit),
      memory_(options_.stack_bytes) {}
Fibers::~Fibers() = default;

void Fibers::run() {
  thread_ = std::this_thread::get_id();
  reserve();
  for (;;) {
    take_wakes();
    if (const auto due = core_.next_due()) {
      if (const TimePoint now = real_clock()->now(); *due <= now) core_.on_timeout(now);
    }
    const FiberCore::Turn turn = core_.next();
    is_idle_.store(turn.is_idle, std::memory_order_relaxed);
    switch (turn.step) {
      case FiberCore::Step::resume:
        resume(static_cast<Fiber&>(*turn.fiber));
        break;
      case FiberCore::Step::start:
        start();
        break;
      case FiberCore::Step::sleep:
        sleep();
        break;
      case FiberCore::Step::end:
        return;
    }
  }
}

// Nothing that a fiber does may fail for lack of memory.
void Fibers::reserve() {
  unused_.reserve(options_.limit);
  taken_.reserve(options_.limit);
  MutexLock lock(mutex_);
  woken_.reserve(options_.limit);
}

void Fibers::start() {
  std::unique_ptr<Fiber> fiber;
  try {
    fiber = unused_fiber();
  } catch (const std::bad_alloc&) {
    if (!core_.on_no_room()) throw;
    if (options_.on_no_room) options_.on_no_room(core_.count());
    return;
  }
  core_.on_start(*fiber);
  resume(*fiber.release());
}

std::unique_ptr<Fibers::Fiber> Fibers::unused_fiber() {
  if (unused_.empty()) {
    auto fiber = std::make_unique<Fiber>(*this);
    stacks_.fetch_add(1, std::memory_order_relaxed);
    return fiber;
  }
  std::unique_ptr<Fiber> fiber = std::move(unused_.back());
  unused_.pop_back();
  return fiber;
}

void Fibers::resume(Fiber& fiber) noexcept {
  if (!fiber.resume()) return;
  core_.on_end(fiber);
  unused_.emplace_back(&fiber);
}

void Fibers::taken() noexcept {
  core_.on_taken(static_cast<Fiber&>(*Suspender::current()));
}

void Fibers::wake(Fiber& fiber) noexcept {
  if (std::this_thread::get_id() == thread_) return core_.on_wake(fiber);
  MutexLock lock(mutex_);
  if (std::exchange(fiber.is_posted, true)) return;
  woken_.push_back(&fiber);
  has_wakes_.store(true, std::memory_order_relaxed);
  if (std::exchange(is_asleep_, false)) changed_.notify_one();
}

void Fibers::take_wakes() {
  if (!has_wakes_.load(std::memory_order_relaxed)) return;
  {
    MutexLock lock(mutex_);
    taken_.swap(woken_);
    for (Fiber* const fiber : taken_) fiber->is_posted = false;
    has_wakes_.store(false, std::memory_order_relaxed);
  }
  for (Fiber* const fiber : taken_) core_.on_wake(*fiber);
  taken_.clear();
}

void Fibers::sleep() {
  drop_spare();
  const std::optional<TimePoint> due = core_.next_due();
  MutexLock lock(mutex_);
  if (!woken_.empty()) return;
  is_asleep_ = true;
  if (due) {
    changed_.wait_until(lock, *due);
  } else {
    changed_.wait(lock);
  }
  is_asleep_ = false;
}

// A wake-up may come late and name an unused fiber, so take_wakes() was called since the last one ended.
void Fibers::drop_spare() noexcept {
  if (unused_.size() <= most_spare) return;
  stacks_.fetch_sub(unused_.size() - most_spare, std::memory_order_relaxed);
  unused_.erase(unused_.begin(), unused_.end() - most_spare);
  memory_.trim();
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
