// SPDX-License-Identifier: Apache-2.0
// A watch and an election in the epoll loop of a program, without any thread. Needs evenkeel::election only.
//   epoll-loop [NAME [IDENTITY [SECONDS]]]    candidate for the Lease NAME; prints the changes of config maps
#include <algorithm>
#include <csignal>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "app.hpp"

// Returns the milliseconds until the library has to be called without an event; -1: never.
int timeout_of(const ek::EventLoop& loop) {
  const auto due = loop.next_due();
  if (!due) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*due - ek::real_clock()->now());
  return static_cast<int>(std::clamp<long>(left.count(), 0, 60'000));
}

int main(int argc, char** argv) try {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  const int signalled = signalfd(-1, &signals, SFD_CLOEXEC);

  bool ended = false;
  const auto loop = std::make_shared<ek::EventLoop>();
  App app(loop, argc, argv, [&ended] { ended = true; });

  const int sockets = epoll_create1(EPOLL_CLOEXEC);
  for (const int fd : {loop->fd(), signalled}) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
    epoll_ctl(sockets, EPOLL_CTL_ADD, fd, &event);
  }
  while (!ended) {
    epoll_event ready{};
    if (epoll_wait(sockets, &ready, 1, timeout_of(*loop)) == 1 && ready.data.fd == signalled) app.stop();
    loop->poll();
  }
  close(sockets);
  close(signalled);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "epoll-loop: %s\n", error.what());
  return 1;
}
