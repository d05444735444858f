// SPDX-License-Identifier: Apache-2.0
// A poller of many sockets, on epoll.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <sys/epoll.h>

#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace http::detail {

/// Set of sockets and what each is waited for. Waiting costs what is ready, not what is in the set.
/// Thread safety: wake() from any thread, all else from one thread at a time.
class SocketPoller {
 public:
  static constexpr unsigned readable = 1;
  static constexpr unsigned writable = 2;

  /// Throws Error if no file descriptor is left.
  SocketPoller();
  ~SocketPoller();
  SocketPoller(const SocketPoller&) = delete;
  SocketPoller& operator=(const SocketPoller&) = delete;

  /// Returns a descriptor that is readable while wait() would report something.
  int fd() const noexcept { return epoll_; }
  /// Waits for `wanted` of `socket` from now on; 0: for nothing, before it is closed.
  void set(int socket, unsigned wanted) noexcept;
  /// Ends the wait() in progress, or the next one.
  void wake() const noexcept;
  /// Waits for at most `timeout`, and calls `handle(socket, what)` for each ready socket. `handle` may call
  /// set(); a socket that it removed may still be reported once.
  template <class Handle>
  void wait(Duration timeout, const Handle& handle) {
    const int count = poll(timeout);
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = ready_[static_cast<std::size_t>(i)];
      if (event.data.fd == wake_) {
        clear_wake();
      } else {
        handle(event.data.fd, what_of(event.events));
      }
    }
  }

 private:
  [[gnu::noinline]] void remove(int socket) const noexcept;  // named in cmake/tsan.supp
  int poll(Duration timeout);
  void clear_wake() const noexcept;
  // A failed socket is reported as readable, so that the read returns the error.
  static unsigned what_of(std::uint32_t events) {
    const unsigned read = (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 ? readable : 0;
    return read | ((events & EPOLLOUT) != 0 ? writable : 0);
  }

  int epoll_ = -1;
  int wake_ = -1;
  std::array<epoll_event, 64> ready_ = {};
};

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
