// SPDX-License-Identifier: Apache-2.0
// Bytes of the request bodies that a server holds: decides which request gives way to others. No sockets, no
// clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace evenkeel {
inline namespace v0 {
namespace http::detail {

/// The bodies of a server that are arriving, or complete and not answered, by their connection. While they
/// are larger than the limit together, the one that began to arrive the longest ago gives way. A complete one
/// does not: its memory is in use until its handler returns.
/// Thread safety: one thread at a time.
template <class Connection>
class BodyBudget {
 public:
  explicit BodyBudget(std::size_t limit) : limit_(limit) {}

  /// Records that `size` bytes of the connection's request have arrived.
  void on_arrived(Connection* connection, std::size_t size) {
    auto [at, first] = held_.try_emplace(connection);
    if (first) at->second.since = ++sequence_;
    total_ += size - at->second.size;
    at->second.size = size;
  }
  /// Records that the request is complete.
  void on_complete(Connection* connection) {
    const auto at = held_.find(connection);
    if (at != held_.end()) at->second.arriving = false;
  }
  /// Records that the body is freed. Ignores a connection that holds nothing.
  void on_freed(Connection* connection) {
    const auto at = held_.find(connection);
    if (at == held_.end()) return;
    total_ -= at->second.size;
    held_.erase(at);
  }
  /// Returns the connection whose request is to be refused; null: none.
  Connection* next_excess() const {
    if (total_ <= limit_) return nullptr;
    Connection* oldest = nullptr;
    std::uint64_t since = 0;
    for (const auto& [connection, body] : held_) {
      if (!body.arriving || (oldest != nullptr && body.since >= since)) continue;
      oldest = connection;
      since = body.since;
    }
    return oldest;
  }
  std::size_t total() const { return total_; }

 private:
  struct Body {
    std::size_t size = 0;
    std::uint64_t since = 0;  // a sequence number
    bool arriving = true;
  };

  const std::size_t limit_;
  std::size_t total_ = 0;
  std::uint64_t sequence_ = 0;
  std::map<Connection*, Body> held_;
};

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
