// SPDX-License-Identifier: Apache-2.0
// A stand-in for etcd in memory: the part of its JSON API (/v3) that coordination/etcd_store.hpp uses, for
// tests and demonstrations where etcd is not installed, and for faults that a real one does not have on
// demand.
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
  /// With any, authentication is on; each may do everything.
  std::vector<EtcdUser> users = {};
  std::size_t max_txn_ops = 128;                  ///< As etcd's flag.
  std::size_t max_request_bytes = 1536UL * 1024;  ///< As etcd's flag.
  /// Injected from the start. The resource of a rule is "kv/range", "kv/txn", "kv/put" and so on,
  /// "auth/authenticate" or "watch"; its verb is "watch" for a watch, else "create".
  std::vector<apiserver::FaultRule> faults = {};
  std::shared_ptr<const Clock> clock = real_clock();  ///< What faults wait with.
  /// As in SharedCoreOptions; called on the server's thread.
  std::function<void(const apiserver::ServedRequest&)> on_request = {};
};

/// Serves from the constructor on, on one thread of its own, until stop() or destruction: kv/range, kv/put,
/// kv/deleterange, kv/txn (nested ones, all compares), kv/compaction, watch, auth/authenticate, and GET
/// /version and /health. There are no leases, sorted ranges or roles; a field that it does not know is
/// refused, not passed over. Everything is gone when it ends. Thread safety: all members may be called
/// concurrently. Source: etcd 3.4.23 and 3.6.8, whose answers tests/coordination compares with its own.
class EVENKEEL_API EtcdServer {
 public:
  /// Throws Error if the address cannot be listened on; std::invalid_argument for options that make no sense.
  explicit EtcdServer(EtcdServerOptions options = {});
  ~EtcdServer();
  EtcdServer(const EtcdServer&) = delete;
  EtcdServer& operator=(const EtcdServer&) = delete;

  std::uint16_t port() const;
  /// "http://127.0.0.1:41234": an endpoint.
  std::string url() const;
  /// A way to the same data without sockets, with a thread of its own.
  std::shared_ptr<http::Transport> transport() const;

  /// Forgets what was before `revision`; 0: before the present one. Throws std::invalid_argument for one that
  /// is forgotten already, or is yet to come.
  void compact(std::uint64_t revision = 0);
  /// Tokens that were given out are good no more, as after their time.
  void forget_tokens();
  std::uint64_t revision() const;

  /// As in SharedCore.
  apiserver::FaultId inject(apiserver::FaultRule rule);
  void remove_fault(apiserver::FaultId id);
  void clear_faults();
  apiserver::FaultCounts fault_counts(apiserver::FaultId id) const;
  std::size_t cut_watches();

  /// Ends all connections, watches included, and joins the thread; the data stays for transport().
  /// Idempotent; not from on_request.
  void stop() noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
