// SPDX-License-Identifier: Apache-2.0
#include "controller/fibers/fiber_core.hpp"

#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace detail {

FiberCore::Turn FiberCore::next() noexcept {
  if (!ready_.empty()) {
    FiberNode& fiber = ready_.front();
    ready_.pop_front();
    fiber.state_ = State::running;
    has_looked_ = has_looked_ && &fiber == taker_;
    return {.step = Step::resume, .fiber = &fiber};
  }
  if (taker_ == nullptr && !is_over_ && count_ < limit_) return {.step = Step::start};
  if (taker_ != nullptr && !std::exchange(has_looked_, true)) {
    make_ready(*taker_);
    ready_.pop_front();
    taker_->state_ = State::running;
    return {.step = Step::resume, .fiber = taker_, .is_idle = true};
  }
  return {.step = count_ == 0 ? Step::end : Step::sleep, .is_idle = true};
}

void FiberCore::on_start(FiberNode& fiber) noexcept {
  fiber.state_ = State::running;
  fiber.woken_ = false;
  taker_ = &fiber;
  has_looked_ = false;
  ++count_;
}

bool FiberCore::on_no_room() noexcept {
  limit_ = count_;
  return count_ > 0;
}

void FiberCore::on_taken(FiberNode& fiber) noexcept {
  if (taker_ == &fiber) taker_ = nullptr;
}

bool FiberCore::on_suspend(FiberNode& fiber, TimePoint due) noexcept {
  if (std::exchange(fiber.woken_, false)) return false;
  fiber.state_ = State::waiting;
  fiber.due_ = due;
  if (due != TimePoint::max()) timers_.insert(fiber);
  return true;
}

void FiberCore::on_wake(FiberNode& fiber) noexcept {
  if (fiber.state_ == State::running) fiber.woken_ = true;
  if (fiber.state_ == State::waiting) make_ready(fiber);
}

void FiberCore::on_end(FiberNode& fiber) noexcept {
  fiber.state_ = State::unused;
  --count_;
  if (taker_ != &fiber) return;
  taker_ = nullptr;
  is_over_ = true;
}

void FiberCore::on_timeout(TimePoint now) noexcept {
  while (!timers_.empty() && timers_.begin()->due_ <= now) make_ready(*timers_.begin());
}

std::optional<TimePoint> FiberCore::next_due() const noexcept {
  if (timers_.empty()) return std::nullopt;
  return timers_.begin()->due_;
}

void FiberCore::make_ready(FiberNode& fiber) noexcept {
  if (fiber.due_ != TimePoint::max()) timers_.erase(timers_.iterator_to(fiber));
  fiber.due_ = TimePoint::max();
  fiber.state_ = State::ready;
  ready_.push_back(fiber);
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
