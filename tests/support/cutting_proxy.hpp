// SPDX-License-Identifier: Apache-2.0
// A TCP proxy on loopback that cuts what a server answers after a number of bytes on the wire, or passes it
// on byte by byte.
#pragma once

#include <algorithm>
#include <arpa/inet.h>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace evenkeel::tests {

/// Serves from construction until destruction, on one thread. Thread safety: all members may be called
/// concurrently.
class CuttingProxy {
 public:
  enum class Ending : std::uint8_t { close, reset };

  /// `port`: of the server on 127.0.0.1.
  explicit CuttingProxy(std::uint16_t port) : server_(port), listener_(bound(port_)) {
    if (::pipe(wake_) != 0) throw std::runtime_error("no pipe");
    thread_ = std::thread([this] { run(); });
  }
  ~CuttingProxy() {
    ::close(wake_[1]);
    thread_.join();
    ::close(wake_[0]);
    ::close(listener_);
  }
  CuttingProxy(const CuttingProxy&) = delete;
  CuttingProxy& operator=(const CuttingProxy&) = delete;

  std::uint16_t port() const { return port_; }
  /// Passes exactly `bytes` more of what the server sends, all connections together, and then ends the
  /// connection whose next byte it is. Once.
  void cut_after(std::size_t bytes, Ending ending = Ending::close) {
    const std::lock_guard lock(mutex_);
    left_ = bytes;
    ending_ = ending;
  }
  /// Returns true if the cut is still to come.
  bool cut_pending() const {
    const std::lock_guard lock(mutex_);
    return left_.has_value();
  }
  void cancel_cut() {
    const std::lock_guard lock(mutex_);
    left_.reset();
  }
  /// Passes each byte of the server in a packet of its own.
  void trickle() {
    const std::lock_guard lock(mutex_);
    trickles_ = true;
  }
  /// Returns the number of bytes that servers sent so far.
  std::size_t passed() const {
    const std::lock_guard lock(mutex_);
    return passed_;
  }

 private:
  struct Pair {
    int client;
    int server;
    bool over = false;
  };

  static int bound(std::uint16_t& port) {
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener, 128) != 0 ||
        ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0)
      throw std::runtime_error("cannot listen");
    port = ntohs(address.sin_port);
    return listener;
  }

  void run() {
    for (;;) {
      std::vector<pollfd> waiting{{.fd = wake_[0], .events = POLLIN, .revents = 0},
                                  {.fd = listener_, .events = POLLIN, .revents = 0}};
      for (const Pair& pair : pairs_) {
        waiting.push_back({.fd = pair.client, .events = POLLIN, .revents = 0});
        waiting.push_back({.fd = pair.server, .events = POLLIN, .revents = 0});
      }
      ::poll(waiting.data(), waiting.size(), -1);
      if (waiting[0].revents != 0) break;
      std::size_t at = 2;
      for (Pair& pair : pairs_) {
        if (waiting[at++].revents != 0) pass_request(pair);
        if (waiting[at++].revents != 0 && !pair.over) pass_answer(pair);
      }
      pairs_.remove_if([](const Pair& pair) { return pair.over; });
      if (waiting[1].revents != 0) accept_one();
    }
    for (Pair& pair : pairs_) end(pair, Ending::close);
  }

  void accept_one() {
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int at_once = 1;
    ::setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    ::setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(server_);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    Pair pair{.client = client, .server = server};
    if (::connect(server, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      end(pair, Ending::close);
    } else {
      pairs_.push_back(pair);
    }
  }

  static bool send_all(int socket, const char* data, std::size_t size) {
    while (size > 0) {
      const ssize_t sent = ::send(socket, data, size, MSG_NOSIGNAL);
      if (sent <= 0) return false;
      data += sent;
      size -= static_cast<std::size_t>(sent);
    }
    return true;
  }

  void pass_request(Pair& pair) {
    char buffer[16384];
    const ssize_t got = ::recv(pair.client, buffer, sizeof buffer, 0);
    if (got <= 0 || !send_all(pair.server, buffer, static_cast<std::size_t>(got))) end(pair, Ending::close);
  }

  void pass_answer(Pair& pair) {
    char buffer[16384];
    const ssize_t got = ::recv(pair.server, buffer, sizeof buffer, 0);
    if (got <= 0) return end(pair, Ending::close);
    auto size = static_cast<std::size_t>(got);
    bool cut = false;
    bool trickles = false;
    Ending ending = Ending::close;
    {
      const std::lock_guard lock(mutex_);
      passed_ += size;
      trickles = trickles_;
      ending = ending_;
      cut = left_ && *left_ < size;
      if (left_) {
        size = std::min(size, *left_);
        left_ = cut ? std::nullopt : std::optional(*left_ - size);
      }
    }
    for (std::size_t at = 0; at < size; at += trickles ? 1 : size) {
      if (!send_all(pair.client, buffer + at, trickles ? 1 : size)) return end(pair, Ending::close);
    }
    if (cut) end(pair, ending);
  }

  static void end(Pair& pair, Ending ending) {
    const linger none{.l_onoff = 1, .l_linger = 0};
    if (ending == Ending::reset) ::setsockopt(pair.client, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    ::close(pair.client);
    ::close(pair.server);
    pair.over = true;
  }

  const std::uint16_t server_;
  std::uint16_t port_ = 0;
  const int listener_;
  int wake_[2] = {};
  std::list<Pair> pairs_;  // used by the thread only
  mutable std::mutex mutex_;
  std::optional<std::size_t> left_;
  Ending ending_ = Ending::close;
  bool trickles_ = false;
  std::size_t passed_ = 0;
  std::thread thread_;
};

}  // namespace evenkeel::tests
