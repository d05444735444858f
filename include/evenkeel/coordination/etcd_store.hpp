// SPDX-License-Identifier: Apache-2.0
// The store of coordination on etcd, version 3.4 or later, through its JSON API: POST /v3/kv/range,
// /v3/kv/txn, /v3/watch and /v3/auth/authenticate of the client port. No gRPC is needed.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/coordination/store.hpp>
#include <evenkeel/http/tls.hpp>
#include <evenkeel/http/transport.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

struct EtcdStoreOptions {
  /// Members of one cluster, as URLs. One is asked, the next one when that cannot be reached.
  std::vector<std::string> endpoints = {"http://127.0.0.1:2379"};
  http::TlsOptions tls = {};
  /// Where etcd's authentication is on. Its tokens are asked for when needed, and anew when they end. etcd
  /// does not take the name in a client certificate for a user of this API, and with a login refuses one that
  /// has a common name.
  std::string user = {};
  std::string password = {};
  Duration request_timeout = std::chrono::seconds{5};  ///< For one request to one endpoint; > 0.
  Duration connect_timeout = std::chrono::seconds{2};  ///< Name, connection and TLS handshake; > 0.
  Duration watch_retry = std::chrono::seconds{1};      ///< From the end of a watch to the next one; > 0.
  std::size_t page_entries = 1000;                     ///< Of one answer to a scan without a limit; > 0.
  /// What the servers were started with: --max-txn-ops and --max-request-bytes.
  std::size_t max_txn_ops = 128;                  ///< At least 16.
  std::size_t max_request_bytes = 1536UL * 1024;  ///< At least 64 KiB.
  /// A key that each snapshot asks for, to learn the revision; it need not exist. Where a role grants keys by
  /// prefix: one of those.
  std::string revision_key = "/";
  /// How an endpoint is reached; unset: through libcurl. For tests.
  std::function<std::shared_ptr<http::Transport>(const std::string& endpoint)> transport = {};
  std::shared_ptr<const Clock> clock = real_clock();  ///< Of timeouts and of watch_retry.
  /// Send user and password also over plain http to another machine; unset, that is refused.
  bool credentials_in_clear = false;
};

/// Options for "etcd://host:port", "etcds://user:password@one:2379,two:2379" (with TLS; user, password
/// percent-encoded). Throws std::invalid_argument, which shows the form and no password.
EVENKEEL_API EtcdStoreOptions etcd_options(std::string_view url);

/// A version is a revision of etcd. Reads are linearizable; a snapshot reads at the revision that it began
/// with, and throws SnapshotExpired once that was compacted. A commit is one transaction: conditions are
/// compares of mod_revision, and more operations than the server takes in one list are nested.
///
/// Range conditions. etcd compares the keys that are in a range now: it sees what came and what changed, but
/// not a key that went while nothing else of the range was written. Whoever erases keys of a range that
/// others rest upon puts another key of it in the same commit; of the coordination's ranges, which are those
/// of guard keys, this holds.
///
/// Outcomes. A commit that could not be sent, or that etcd refused, is Unavailable; one that was sent and not
/// answered, or answered with what does not say whether it was applied (a timeout inside the cluster, a
/// stopped server, a proxy's 502), is Unknown. Reads are asked of the next endpoint instead.
///
/// Thread safety: all members may be called concurrently. Lifetime: snapshots and watches must not outlive
/// it.
class EVENKEEL_API EtcdStore final : public Store {
 public:
  /// Asks nothing yet. Throws std::invalid_argument for options out of their bounds.
  explicit EtcdStore(EtcdStoreOptions options = {});
  ~EtcdStore() override;
  EtcdStore(const EtcdStore&) = delete;
  EtcdStore& operator=(const EtcdStore&) = delete;

  /// "etcd http://127.0.0.1:2379", with all endpoints.
  std::string name() const override;
  /// All but server_ttl.
  Capabilities capabilities() const override;
  /// Of max_txn_ops and max_request_bytes; for the usual ones 3072 operations, 96 conditions, 1.3 MiB.
  Limits limits() const override;

  std::unique_ptr<StoreSnapshot> snapshot(std::stop_token stop = {}) override;
  CommitResult commit(const Commit& commit, std::stop_token stop = {}) override;
  /// One connection and one thread for each watch. `hint` is also called when the watch begins, and when it
  /// runs again after it was cut. It must not destroy its watch.
  std::unique_ptr<StoreWatch> watch(const KeyRange& range, std::function<void()> hint) override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
