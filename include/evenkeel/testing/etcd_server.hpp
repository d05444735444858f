// SPDX-License-Identifier: Apache-2.0
// An in-memory stand-in for etcd: the part of its JSON API (/v3) that coordination/etcd_store.hpp uses, for
// tests and demonstrations without etcd, and for faults that a real one does not produce on demand.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <evenkeel/apiserver/faults.hpp>
#include <evenkeel/apiserver/shared_core.hpp>
#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/http/transport.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing {

struct EtcdUser {
  std::string name = {};
  std::string password = {};
};

struct EtcdServerOptions {
  std::string host = "127.0.0.1";  ///< Address or name to listen on.
  std::uint16_t port = 0;          ///< 0: a free one; see EtcdServer::port().
  /// If not empty, authentication is on; each user has all permissions.
  std::vector<EtcdUser> users = {};
  std::size_t max_txn_ops = 128;                  ///< Like etcd's flag.
  std::size_t max_request_bytes = 1536UL * 1024;  ///< Like etcd's flag.
  /// Rules that are active from the start. The resource of a rule is "kv/range", "kv/txn", "kv/put" and so
  /// on, "auth/authenticate" or "watch"; its verb is "watch" for a watch, else "create".
  std::vector<apiserver::FaultRule> faults = {};
  std::shared_ptr<const Clock> clock = real_clock();  ///< Clock for the delays of faults.
  /// See SharedCoreOptions; called on the server's thread.
  std::function<void(const apiserver::ServedRequest&)> on_request = {};
};

/// Serves from construction until stop() or destruction, on one dedicated thread: kv/range, kv/put,
/// kv/deleterange, kv/txn (nested ones, all compares), kv/compaction, watch, auth/authenticate, and GET
/// /version and /health. There are no leases, sorted ranges or roles; requests with unknown fields are
/// rejected. Data is not persistent.
/// Thread safety: all members may be called concurrently.
/// Source: etcd 3.4.23 and 3.6.8, whose responses tests/coordination compares with those of this server.
class EVENKEEL_API EtcdServer {
 public:
  /// Throws Error if the address cannot be listened on; std::invalid_argument for invalid options.
  explicit EtcdServer(EtcdServerOptions options = {});
  ~EtcdServer();
  EtcdServer(const EtcdServer&) = delete;
  EtcdServer& operator=(const EtcdServer&) = delete;

  std::uint16_t port() const;
  /// Returns the endpoint, "http://127.0.0.1:41234".
  std::string url() const;
  /// Returns a transport to the same data without sockets, with a dedicated thread.
  std::shared_ptr<http::Transport> transport() const;

  /// Compacts the history before `revision`; 0: before the current one. Throws std::invalid_argument for a
  /// compacted or future revision.
  void compact(std::uint64_t revision = 0);
  /// Invalidates all issued tokens, as if they had expired.
  void forget_tokens();
  std::uint64_t revision() const;

  /// See SharedCore.
  apiserver::FaultId inject(apiserver::FaultRule rule);
  void remove_fault(apiserver::FaultId id);
  void clear_faults();
  apiserver::FaultCounts fault_counts(apiserver::FaultId id) const;
  std::size_t cut_watches();

  /// Closes all connections, watches included, and joins the thread; the data remains available to
  /// transport(). Idempotent; must not be called from on_request.
  void stop() noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
