// SPDX-License-Identifier: Apache-2.0
#include "clusters/cluster_loop.hpp"

#include <algorithm>
#include <chrono>
#include <poll.h>
#include <utility>

#include "http/event_loop_state.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

// Returns the milliseconds until the loop has to be called without an event; -1: never.
int timeout_of(const EventLoop& loop) {
  const auto due = loop.next_due();
  if (!due) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*due - real_clock()->now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000));
}

}  // namespace

ClusterLoop::ClusterLoop(std::string name, BlockingPool& pool,
                         std::function<void(std::string_view)> on_thread_start)
    : name_(std::move(name)),
      on_thread_start_(std::move(on_thread_start)),
      pool_(pool),
      loop_(std::make_shared<EventLoop>()),
      thread_([this] { run(); }) {}

ClusterLoop::~ClusterLoop() {
  loop_->post([this] { ending_ = true; });
  thread_.join();
}

std::shared_ptr<EventLoop> ClusterLoop::loop_of_owner(std::size_t max_answer_bytes) const {
  return std::make_shared<EventLoop>(std::make_shared<EventLoopState>(
      *loop_->state(),
      [&pool = pool_, owner = pool_.add_owner()](std::function<void()> work) {
        pool.submit(owner, std::move(work));
      },
      max_answer_bytes));
}

const std::shared_ptr<JobRunner>& ClusterLoop::runner() const noexcept {
  return loop_->state()->runner();
}

void ClusterLoop::run() {
  if (on_thread_start_) on_thread_start_(name_);
  while (!ending_) {
    pollfd ready{.fd = loop_->fd(), .events = POLLIN, .revents = 0};
    ::poll(&ready, 1, timeout_of(*loop_));
    loop_->poll();
  }
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
