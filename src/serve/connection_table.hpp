// SPDX-License-Identifier: Apache-2.0
// Limits on the connections of one site: which connection gives way to a new one. No sockets, no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace evenkeel {
inline namespace v0 {
namespace http::detail {

/// Why a connection was closed although its peer had not asked for that.
enum class Eviction : std::uint8_t { site_full, peer_full };

/// The open connections of one site. A new connection is always admitted; when the site or the new peer has
/// as many connections as it may have, the longest waiting one gives way: the one whose opening, or whose
/// last complete answer, is the longest ago. A peer that sends its request byte by byte therefore grows
/// older, too. A peer at its own limit loses one of its own connections, so that one peer cannot crowd out
/// others. Thread safety: one thread at a time.
class ConnectionTable {
 public:
  using Id = std::uint64_t;
  struct Admission {
    Id id = 0;
    std::optional<Id> evicted = {};  ///< To close; it has left the table.
    Eviction reason = Eviction::site_full;
    /// True for the first eviction since the site had at most half as many connections as the smaller limit
    /// allows: worth a log line.
    bool first = false;
  };

  /// Both limits are at least 1; a limit per peer above that of the site has no effect.
  ConnectionTable(std::size_t per_site, std::size_t per_peer);

  /// Enters a connection of `peer`, an address without its port.
  Admission admit(const std::string& peer);
  /// An answer of the connection is complete: it begins to wait again.
  void answered(Id id);
  /// The connection is closed. An id that left the table before is ignored.
  void closed(Id id);

  std::size_t size() const { return connections_.size(); }
  std::size_t of_peer(const std::string& peer) const;

 private:
  struct Connection {
    std::string peer = {};
    std::uint64_t waiting_since = 0;  // a number of the sequence
  };

  using Connections = std::map<Id, Connection>;

  void remove(Connections::iterator connection);
  std::optional<Id> longest_waiting(const std::string* peer) const;

  const std::size_t per_site_;
  const std::size_t per_peer_;
  std::uint64_t sequence_ = 0;
  bool evicting_ = false;
  Connections connections_;
  std::map<std::string, std::size_t> peers_;
};

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
