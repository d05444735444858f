// SPDX-License-Identifier: Apache-2.0
#include "serve/connection_table.hpp"

#include <algorithm>

namespace evenkeel {
inline namespace v0 {
namespace http::detail {

ConnectionTable::ConnectionTable(std::size_t per_site, std::size_t per_peer)
    : per_site_(std::max<std::size_t>(per_site, 1)), per_peer_(std::max<std::size_t>(per_peer, 1)) {}

ConnectionTable::Admission ConnectionTable::admit(const std::string& peer) {
  Admission admission{.id = ++sequence_};
  if (of_peer(peer) >= per_peer_) {
    admission.evicted = longest_waiting(&peer);
    admission.reason = Eviction::peer_full;
  } else if (connections_.size() >= per_site_) {
    admission.evicted = longest_waiting(nullptr);
  }
  if (admission.evicted) remove(connections_.find(*admission.evicted));
  connections_.emplace(admission.id, Connection{.peer = peer, .waiting_since = admission.id});
  ++peers_[peer];
  return admission;
}

void ConnectionTable::answered(Id id) {
  const auto found = connections_.find(id);
  if (found != connections_.end()) found->second.waiting_since = ++sequence_;
}

std::optional<ConnectionTable::Id> ConnectionTable::evict() {
  const std::optional<Id> evicted = longest_waiting(nullptr);
  if (evicted) remove(connections_.find(*evicted));
  return evicted;
}

void ConnectionTable::closed(Id id) {
  const auto found = connections_.find(id);
  if (found != connections_.end()) remove(found);
}

void ConnectionTable::remove(Connections::iterator connection) {
  const auto peer = peers_.find(connection->second.peer);
  if (--peer->second == 0) peers_.erase(peer);
  connections_.erase(connection);
}

std::size_t ConnectionTable::of_peer(const std::string& peer) const {
  const auto found = peers_.find(peer);
  return found == peers_.end() ? 0 : found->second;
}

// Linear, because it is called only at a limit and a site has a few hundred connections.
std::optional<ConnectionTable::Id> ConnectionTable::longest_waiting(const std::string* peer) const {
  std::optional<Id> oldest;
  std::uint64_t since = 0;
  for (const auto& [id, connection] : connections_) {
    if (peer != nullptr && connection.peer != *peer) continue;
    if (oldest && connection.waiting_since >= since) continue;
    oldest = id;
    since = connection.waiting_since;
  }
  return oldest;
}

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
