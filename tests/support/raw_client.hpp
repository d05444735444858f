// SPDX-License-Identifier: Apache-2.0
// A client that sends arbitrary bytes, to test the server's reaction. Every wait has a limit.
#pragma once

#include <arpa/inet.h>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <netinet/in.h>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>

namespace evenkeel::tests {

class RawClient {
 public:
  explicit RawClient(std::uint16_t port, int receive_buffer = 0)
      : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    if (receive_buffer > 0)
      ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
      throw std::runtime_error("connect failed");
  }
  ~RawClient() { close(); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  int socket() const { return socket_; }
  void close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }

  /// Signals that nothing more will be sent.
  void finish() const { ::shutdown(socket_, SHUT_WR); }
  /// Returns false if the server has closed the connection.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  /// Reads until `mark`, and returns everything up to its end. Throws at the end of the connection or after
  /// ten seconds, naming what it waited for.
  std::string read_to(std::string_view mark) {
    for (;;) {
      const std::size_t at = received_.find(mark);
      if (at != std::string::npos) return take(at + mark.size());
      if (!receive())
        throw std::runtime_error("ended, waiting for \"" + std::string(mark) + "\" after: " + received_);
    }
  }
  std::string read_exactly(std::size_t size) {
    while (received_.size() < size) {
      if (!receive()) throw std::runtime_error("ended, waiting for more than: " + received_);
    }
    return take(size);
  }
  /// Returns everything up to the end of the connection.
  std::string read_to_end() {
    while (receive()) {
    }
    return take(received_.size());
  }
  /// Returns true if the server reset the connection instead of closing it.
  bool was_reset() const { return reset_; }
  /// Returns true if there is no unread data and the connection is open at this moment.
  bool is_silent() const {
    pollfd now{.fd = socket_, .events = POLLIN, .revents = 0};
    return received_.empty() && ::poll(&now, 1, 0) == 0;
  }
  /// Returns head and body of a response with Content-Length.
  std::string read_answer() {
    const std::string head = read_to("\r\n\r\n");
    const std::size_t at = head.find("Content-Length: ");
    if (at == std::string::npos) throw std::runtime_error("no length in: " + head);
    return head + read_exactly(std::stoul(head.substr(at + 16)));
  }
  /// Returns one chunk of a chunked body; the last one is empty.
  std::string read_chunk() {
    const std::size_t size = std::stoul(read_to("\r\n"), nullptr, 16);
    const std::string chunk = read_exactly(size);
    if (read_exactly(2) != "\r\n") throw std::runtime_error("chunk without end: " + chunk);
    return chunk;
  }

 private:
  bool receive() {
    pollfd waiting{.fd = socket_, .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, 10'000) <= 0)
      throw std::runtime_error("nothing came for ten seconds after: " + received_);
    char buffer[65536];
    const ssize_t size = ::recv(socket_, buffer, sizeof buffer, 0);
    if (size <= 0) {
      reset_ = size < 0 && errno == ECONNRESET;
      return false;
    }
    received_.append(buffer, static_cast<std::size_t>(size));
    return true;
  }
  std::string take(std::size_t size) {
    std::string taken = received_.substr(0, size);
    received_.erase(0, size);
    return taken;
  }

  int socket_;
  bool reset_ = false;
  std::string received_;
};

}  // namespace evenkeel::tests
