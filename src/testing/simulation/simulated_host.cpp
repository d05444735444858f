// SPDX-License-Identifier: Apache-2.0
#include "testing/simulation/simulated_host.hpp"

#include <algorithm>
#include <utility>

#include <evenkeel/base/suspender.hpp>

#include "controller/fibers/fiber_context.hpp"
#include "http/event_loop_state.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {
namespace {

constexpr std::size_t stack_bytes = std::size_t{512} << 10;

std::shared_ptr<EventLoop> loop_with(std::shared_ptr<const Clock> clock) {
  EventLoopOptions options;
  options.clock = std::move(clock);
  return std::make_shared<EventLoop>(std::move(options));
}

}  // namespace

/// A body that gives the thread back while it waits.
class SimulatedHost::Fiber final : public evenkeel::detail::Suspender {
 public:
  explicit Fiber(std::function<void()> body) : context_(stack_, std::move(body)) {}
  ~Fiber() = default;

  void suspend(TimePoint deadline) noexcept override {
    if (woken_) {
      woken_ = false;
      return;
    }
    deadline_ = deadline;
    context_.suspend();
    deadline_ = TimePoint::max();
  }
  void wake() noexcept override { woken_ = true; }
  void call_on_thread(void (*work)(void*), void* data) noexcept override {
    work_ = work;
    data_ = data;
    context_.suspend();
  }
  bool is_idle() const noexcept override { return true; }

  void idle() {
    idle_ = true;
    context_.suspend();
    idle_ = false;
  }
  void resume() {
    woken_ = false;
    Suspender* const outer = current();
    for (;;) {
      set_current(this);
      context_.resume();
      set_current(outer);
      if (work_ == nullptr) return;
      std::exchange(work_, nullptr)(data_);
    }
  }
  bool is_ready(TimePoint now) const { return woken_ || deadline_ <= now; }
  bool waits_for_a_turn() const { return idle_; }
  bool returned() const { return context_.returned(); }
  TimePoint deadline() const { return deadline_; }

 private:
  evenkeel::detail::FiberStacks stack_{stack_bytes};
  evenkeel::detail::FiberContext context_;
  TimePoint deadline_ = TimePoint::max();
  void (*work_)(void*) = nullptr;  // to be called on the stack of the thread
  void* data_ = nullptr;
  bool woken_ = true;  // to be started
  bool idle_ = false;
};

SimulatedHost::SimulatedHost(Schedule& schedule, std::string name, std::shared_ptr<SimulatedClock> clock,
                             std::uint64_t seed)
    : schedule_(schedule),
      name_(std::move(name)),
      clock_(std::move(clock)),
      loop_(loop_with(clock_)),
      random_(seed) {}

SimulatedHost::~SimulatedHost() = default;

void SimulatedHost::start_fiber(std::function<void()> body) {
  fibers_.push_back(std::make_unique<Fiber>(std::move(body)));
}

void SimulatedHost::idle() {
  running_->idle();
}

void SimulatedHost::enter(std::function<void()> event) {
  if (is_frozen() || !backlog_.empty()) {
    backlog_.push_back(std::move(event));
    return;
  }
  event();
  event = nullptr;
  turn();
}

void SimulatedHost::enter_at(Duration when, std::function<void()> event) {
  schedule_.at(when, [self = shared_from_this(), event = std::move(event)]() mutable {
    self->enter(std::move(event));
  });
}

void SimulatedHost::freeze(Duration until) {
  frozen_until_ = std::max(frozen_until_, until);
  schedule_.at(frozen_until_, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->run_backlog();
  });
}

void SimulatedHost::run_backlog() {
  if (is_frozen()) return;
  for (std::deque<std::function<void()>> events = std::exchange(backlog_, {}); !events.empty();) {
    events.front()();
    events.pop_front();
  }
  turn();
}

void SimulatedHost::kill() {
  if (std::exchange(dead_, true)) return;
  clock_->end();
  for (const auto& fiber : fibers_) fiber->wake();
  frozen_until_ = {};
  schedule_.at(schedule_.now(), [self = shared_from_this()] { self->run_backlog(); });
}

// An event that a step causes at the same time is one of its own, so turns do not nest.
void SimulatedHost::turn() {
  if (in_turn_ || is_frozen()) return;
  in_turn_ = true;
  evenkeel::detail::JobRunner& jobs = *loop_->state()->runner();
  do {
    progress_ = false;
    if (jobs.pump() > 0) progress_ = true;
    if (work()) progress_ = true;
    if (run_fibers()) progress_ = true;
  } while (progress_);
  in_turn_ = false;
  on_turn();
  plan_wake();
}

bool SimulatedHost::run_fibers() {
  bool ran = false;
  const std::size_t count = fibers_.size();
  const std::size_t first = count > 1 ? random_.below(count) : 0;
  const TimePoint now = clock_->now();
  for (std::size_t at = 0; at < count; ++at) {
    Fiber& fiber = *fibers_[(first + at) % count];
    const bool idle = fiber.waits_for_a_turn();
    if (!idle && !fiber.is_ready(now)) continue;
    running_ = &fiber;
    fiber.resume();
    running_ = nullptr;
    ran = ran || !idle || !fiber.waits_for_a_turn();
  }
  std::erase_if(fibers_, [](const auto& fiber) { return fiber->returned(); });
  return ran;
}

void SimulatedHost::plan_wake() {
  const TimePoint now = clock_->now();
  TimePoint next = TimePoint::max();
  const auto consider = [&](std::optional<TimePoint> due) {
    if (due && *due > now) next = std::min(next, *due);
  };
  consider(loop_->state()->runner()->next_due());
  consider(next_work());
  for (const auto& fiber : fibers_) consider(fiber->deadline());
  const Duration when = clock_->simulated(next);
  if (when == Duration::max() || (wake_at_ <= when && wake_at_ > schedule_.now())) return;
  wake_at_ = when;
  schedule_.at(when, [weak = weak_from_this(), when] {
    const auto self = weak.lock();
    if (!self || self->wake_at_ != when) return;
    self->wake_at_ = Duration::max();
    self->enter([] {});
  });
}

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
