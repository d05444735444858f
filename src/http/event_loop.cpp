// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <netdb.h>
#include <sys/socket.h>

#include <evenkeel/http/event_loop.hpp>

#include "http/event_loop_state.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

Outcome<std::vector<std::string>> look_up(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int code = getaddrinfo(host.c_str(), nullptr, &hints, &found); code != 0)
    return std::make_exception_ptr(TransportError(TransportErrorCode::resolve, gai_strerror(code)));
  std::vector<std::string> addresses;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    std::array<char, NI_MAXHOST> text{};
    if (getnameinfo(at->ai_addr, at->ai_addrlen, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) == 0)
      addresses.emplace_back(text.data());
  }
  freeaddrinfo(found);
  return addresses;
}

}  // namespace

EventLoopState::Engine::Engine(std::shared_ptr<const Clock> clock)
    : runner(std::make_shared<JobRunner>(clock ? clock : real_clock(), [this] { sockets.wake(); })) {}

EventLoopState::Engine::~Engine() {
  runner->forget(posted);
}

namespace {

EventLoopOptions with_offload(EventLoopOptions options,
                              std::function<void(std::function<void()> work)> offload) {
  options.offload = std::move(offload);
  return options;
}

}  // namespace

EventLoopState::EventLoopState(EventLoopOptions options)
    : options_(std::move(options)), engine_(std::make_shared<Engine>(options_.clock)) {}

EventLoopState::EventLoopState(const EventLoopState& loop,
                               std::function<void(std::function<void()> work)> offload,
                               std::size_t max_answer_bytes)
    : options_(with_offload(loop.options_, std::move(offload))),
      max_answer_bytes_(max_answer_bytes),
      engine_(loop.engine_) {}

EventLoopState::~EventLoopState() = default;

std::size_t EventLoopState::poll() {
  engine_->sockets.wait(Duration::zero(), [this](int fd, unsigned) {
    const auto watcher = engine_->watched.find(fd);
    if (watcher != engine_->watched.end()) engine_->runner->wake(*watcher->second);
  });
  return engine_->runner->pump();
}

void EventLoopState::watch(int fd, Job& job) {
  engine_->watched[fd] = &job;
  engine_->sockets.set(fd, http::detail::SocketPoller::readable);
}

void EventLoopState::unwatch(int fd) {
  engine_->sockets.set(fd, 0);
  engine_->watched.erase(fd);
}

void EventLoopState::run_offloaded(std::function<void()> work) {
  if (options_.offload) {
    options_.offload(std::move(work));
  } else {
    work();
  }
}

void EventLoopState::offload(std::function<void()> work, std::function<void()> done) {
  const std::weak_ptr<Engine> engine = engine_;
  run_offloaded([engine, work = std::move(work), done = std::move(done)]() mutable {
    work();
    work = nullptr;
    if (const auto there = engine.lock()) there->posted.push(std::move(done));
  });
}

void EventLoopState::resolve(const std::string& host, EventLoopOptions::Resolved done) {
  const std::weak_ptr<Engine> engine = engine_;
  auto deliver = [engine, done = std::move(done)](Outcome<std::vector<std::string>> found) {
    if (const auto there = engine.lock())
      there->posted.push([done, found = std::move(found)]() mutable { done(std::move(found)); });
  };
  if (options_.resolve) return options_.resolve(host, std::move(deliver));
  run_offloaded([host, deliver = std::move(deliver)] { deliver(look_up(host)); });
}

void EventLoopState::Posted::push(std::function<void()> task) {
  {
    MutexLock lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  engine_.runner->wake(*this);
}

void EventLoopState::Posted::run() noexcept {
  std::vector<std::function<void()>> tasks;
  {
    MutexLock lock(mutex_);
    tasks.swap(tasks_);
  }
  for (std::function<void()>& task : tasks) {
    task();
    task = nullptr;  // before the next one: its captures may be what that one waits for
  }
}

}  // namespace detail

EventLoop::EventLoop(EventLoopOptions options)
    : state_(std::make_shared<detail::EventLoopState>(std::move(options))) {}
EventLoop::EventLoop(std::shared_ptr<detail::EventLoopState> state) : state_(std::move(state)) {}

EventLoop::~EventLoop() = default;

int EventLoop::fd() const noexcept {
  return state_->fd();
}
std::optional<TimePoint> EventLoop::next_due() const {
  const std::optional<TimePoint> due = state_->runner()->next_due();
  return due ? std::optional(std::max(*due, TimePoint())) : due;  // the caller subtracts from it
}
std::size_t EventLoop::poll() {
  return state_->poll();
}
void EventLoop::post(std::function<void()> task) {
  state_->post(std::move(task));
}

}  // namespace v0
}  // namespace evenkeel
