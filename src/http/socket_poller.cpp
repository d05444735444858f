// SPDX-License-Identifier: Apache-2.0
#include "http/socket_poller.hpp"

#include <cerrno>
#include <sys/eventfd.h>
#include <unistd.h>

#include <evenkeel/base/error.hpp>

namespace evenkeel {
inline namespace v0 {
namespace http::detail {

SocketPoller::SocketPoller()
    : epoll_(epoll_create1(EPOLL_CLOEXEC)), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  epoll_event event{.events = EPOLLIN, .data = {.fd = wake_}};
  if (epoll_ >= 0 && wake_ >= 0 && epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event) == 0) return;
  if (epoll_ >= 0) close(epoll_);
  if (wake_ >= 0) close(wake_);
  throw Error("the transport cannot wait for sockets: too few file descriptors may be open (ulimit -n)");
}

SocketPoller::~SocketPoller() {
  close(wake_);
  close(epoll_);
}

void SocketPoller::set(int socket, unsigned wanted) noexcept {
  if (wanted == 0) {
    remove(socket);
    return;
  }
  epoll_event event{.events = 0, .data = {.fd = socket}};
  if ((wanted & readable) != 0) event.events |= EPOLLIN;
  if ((wanted & writable) != 0) event.events |= EPOLLOUT;
  if (epoll_ctl(epoll_, EPOLL_CTL_MOD, socket, &event) != 0 && errno == ENOENT)
    epoll_ctl(epoll_, EPOLL_CTL_ADD, socket, &event);
}

// libcurl 7.88 closes a socket that is not connected yet before it reports that it does not wait for it. Its
// number may be that of another thread's file by then, of which this epoll knows nothing: the call fails.
void SocketPoller::remove(int socket) const noexcept {
  epoll_ctl(epoll_, EPOLL_CTL_DEL, socket, nullptr);
}

void SocketPoller::wake() const noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(wake_, &one, sizeof one);
}

void SocketPoller::clear_wake() const noexcept {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto got = read(wake_, &count, sizeof count);
}

int SocketPoller::poll(Duration timeout) {
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(timeout).count();
  return epoll_wait(epoll_, ready_.data(), static_cast<int>(ready_.size()), static_cast<int>(ms));
}

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
