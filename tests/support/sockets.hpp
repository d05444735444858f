// SPDX-License-Identifier: Apache-2.0
// The sockets of the process, and those a child process would inherit.
#pragma once

#include <cstdint>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <vector>

namespace evenkeel::tests {

struct SocketCount {
  int all = 0;
  int inherited = 0;  ///< Sockets without FD_CLOEXEC.
};

/// Returns the sockets whose own end (or peer, unless `own`) has this port.
inline std::vector<int> socket_numbers(std::uint16_t port, bool own) {
  std::vector<int> found;
  for (int number = 0; number < 4096; ++number) {
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if ((own ? ::getsockname(number, any, &size) : ::getpeername(number, any, &size)) != 0) continue;
    if (address.ss_family != AF_INET && address.ss_family != AF_INET6) continue;
    const std::uint16_t its_port = address.ss_family == AF_INET6
                                       ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                                       : reinterpret_cast<sockaddr_in*>(&address)->sin_port;
    if (ntohs(its_port) == port) found.push_back(number);
  }
  return found;
}

/// Counts these sockets.
inline SocketCount sockets_at(std::uint16_t port, bool own) {
  SocketCount count;
  for (const int number : socket_numbers(port, own)) {
    ++count.all;
    if ((::fcntl(number, F_GETFD) & FD_CLOEXEC) == 0) ++count.inherited;
  }
  return count;
}

}  // namespace evenkeel::tests
