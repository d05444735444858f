// SPDX-License-Identifier: Apache-2.0
// The event loop of a program that has one: it drives transport, watches, caches and elections without a
// thread of the library. See docs/event-loop.md.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/http/transport.hpp>

namespace evenkeel {
inline namespace v0 {

namespace detail {
class EventLoopState;
}

struct EventLoopOptions {
  /// Runs a blocking function on another thread: reads of token and certificate files, credential programs,
  /// name lookups. Called on the thread of poll(). Unset: they run within poll().
  std::function<void(std::function<void()> work)> offload = {};
  /// Receives the addresses of a name ("10.0.0.1", "fd00::1"), or the error. Called once, on any thread.
  using Resolved = std::function<void(Outcome<std::vector<std::string>>)>;
  /// Looks up the addresses of a name. Called on the thread of poll(), never for numeric addresses and
  /// "localhost". Unset: getaddrinfo(3) through `offload`.
  std::function<void(const std::string& host, Resolved done)> resolve = {};
  std::shared_ptr<const Clock> clock = {};  ///< Null: real_clock(), which a transport on sockets requires.
};

/// Work of the library that a program's own event loop drives: a file descriptor and a deadline come out, and
/// poll() does what is ready. A client with this loop (ClientOptions::event_loop), its watches, caches and
/// Elector::start() need no thread; their callbacks are called by poll().
///
///     auto loop = std::make_shared<ek::EventLoop>();
///     ek::Client client(config, {.event_loop = loop});
///     // Whenever loop->fd() is readable, or loop->next_due() is reached:
///     loop->poll();
///
/// Thread safety: post() from any thread; poll(), and the construction and destruction of what the loop
/// drives, on one thread at a time.
/// Lifetime: outlives what it drives, which holds a reference to it.
class EVENKEEL_API EventLoop {
 public:
  /// Throws Error if no file descriptor is left.
  explicit EventLoop(EventLoopOptions options = {});
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  /// Returns the descriptor to wait for, the same one for the life of the loop: readable (EPOLLIN, POLLIN)
  /// while poll() has work that does not depend on time. It is an epoll instance, which epoll, poll, select,
  /// io_uring, Asio and libuv can wait for. The loop closes it.
  int fd() const noexcept;
  /// Returns the time at which poll() has to be called even if the descriptor is not readable, which may be
  /// in the past; std::nullopt: none. It may change with every call of the library, so call it before each
  /// wait.
  std::optional<TimePoint> next_due() const;
  /// Does the work that is ready or due, callbacks included, and returns the number of jobs done. Never
  /// waits, and never blocks unless a callback does, or EventLoopOptions leaves blocking work to it. Must not
  /// be called by a callback. Callbacks that throw are handled as on the library's own threads.
  std::size_t poll();

  /// Calls `task` within the next poll(), in the order of the calls; `task` must not throw.
  void post(std::function<void()> task);

  /// For the library.
  explicit EventLoop(std::shared_ptr<detail::EventLoopState> state);
  const std::shared_ptr<detail::EventLoopState>& state() const noexcept { return state_; }

 private:
  const std::shared_ptr<detail::EventLoopState> state_;
};

}  // namespace v0
}  // namespace evenkeel
