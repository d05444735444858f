// SPDX-License-Identifier: Apache-2.0
// Connection limits of one site: decides which connection is evicted for a new one. No sockets, no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace evenkeel {
inline namespace v0 {
namespace http::detail {

/// The reason for closing a connection that its peer wanted to keep.
enum class Eviction : std::uint8_t { site_full, peer_full };

/// The open connections of one site. A new connection is always admitted; if the site or the peer is at its
/// limit, the connection that has waited longest is evicted: the one whose opening, or last complete
/// response, is the longest ago. A peer that sends its request byte by byte therefore ages, too. A peer at
/// its own limit loses one of its own connections, so that one peer cannot crowd out others. Thread safety:
/// one thread at a time.
class ConnectionTable {
 public:
  using Id = std::uint64_t;
  struct Admission {
    Id id = 0;
    std::optional<Id> evicted = {};  ///< A connection to close; it is already removed from the table.
    Eviction reason = Eviction::site_full;
  };

  /// Both limits must be at least 1; a limit per peer above that of the site has no effect.
  ConnectionTable(std::size_t per_site, std::size_t per_peer);

  /// Adds a connection of `peer`, an address without its port.
  Admission admit(const std::string& peer);
  /// Records a complete response: the connection starts to wait again.
  void answered(Id id);
  /// Removes and returns the connection that has waited longest, for lack of something else; nullopt: there
  /// is none.
  std::optional<Id> evict();
  /// Removes a closed connection. Ignores an id that is not in the table.
  void closed(Id id);

  std::size_t size() const { return connections_.size(); }
  std::size_t of_peer(const std::string& peer) const;

 private:
  struct Connection {
    std::string peer = {};
    std::uint64_t waiting_since = 0;  // a sequence number
  };

  using Connections = std::map<Id, Connection>;

  void remove(Connections::iterator connection);
  std::optional<Id> longest_waiting(const std::string* peer) const;

  const std::size_t per_site_;
  const std::size_t per_peer_;
  std::uint64_t sequence_ = 0;
  Connections connections_;
  std::map<std::string, std::size_t> peers_;
};

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
