// SPDX-License-Identifier: Apache-2.0
// A store on etcd 3.4 or later, through its JSON API: POST /v3/kv/range, /v3/kv/txn, /v3/watch and
// /v3/auth/authenticate of the client port. It does not use gRPC.
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
  /// URLs of the members of one cluster. A request goes to the next one when a member cannot be reached.
  std::vector<std::string> endpoints = {"http://127.0.0.1:2379"};
  http::TlsOptions tls = {};
  /// Credentials for etcd's authentication. Tokens are requested when needed, and again when they expire.
  /// etcd does not map the name in a client certificate to a user of this API, and refuses a login over a
  /// connection whose client certificate has a common name.
  std::string user = {};
  std::string password = {};
  Duration request_timeout = std::chrono::seconds{5};  ///< For one request to one endpoint; > 0.
  Duration connect_timeout = std::chrono::seconds{2};  ///< For name resolution, TCP and TLS handshake; > 0.
  Duration watch_retry = std::chrono::seconds{1};      ///< Delay before a watch is re-established; > 0.
  std::size_t page_entries = 1000;  ///< Entries of one response to a scan without a limit; > 0.
  /// The servers' settings of --max-txn-ops and --max-request-bytes.
  std::size_t max_txn_ops = 128;                  ///< At least 16.
  std::size_t max_request_bytes = 1536UL * 1024;  ///< At least 64 KiB.
  /// A key that each snapshot reads in order to learn the revision; it need not exist. Where a role grants
  /// keys by prefix, set it to one of these.
  std::string revision_key = "/";
  /// Creates the transport to an endpoint, for tests. Unset: libcurl.
  std::function<std::shared_ptr<http::Transport>(const std::string& endpoint)> transport = {};
  std::shared_ptr<const Clock> clock = real_clock();  ///< Clock of the timeouts and of watch_retry.
  /// Sends user and password over plain http to another machine as well. Default: that is refused.
  bool credentials_in_clear = false;
};

/// Parses "etcd://host:port" or "etcds://user:password@one:2379,two:2379" (with TLS; user and password are
/// percent-encoded). Throws std::invalid_argument, whose text shows the form and no password.
EVENKEEL_API EtcdStoreOptions etcd_options(std::string_view url);

/// A store on etcd. A version is a revision of etcd. Reads are linearizable; a snapshot reads at the revision
/// at which it was taken, and throws SnapshotExpired once that revision was compacted. A commit is one
/// transaction: conditions are compares of mod_revision, and operations beyond the server's limit for one
/// list are nested.
///
/// Range conditions: etcd compares the keys that are in a range at the time of the commit. It detects added
/// and changed keys, but not a key that was erased while no other key of the range was written. A commit that
/// erases keys of a range on which others depend must put another key of the range. The ranges that
/// coordination reads consist of guard keys, for which this holds.
///
/// Outcomes: a commit that could not be sent, or that etcd refused, is Unavailable. A commit that was sent
/// and not answered, or whose answer does not say whether it was applied (a timeout inside the cluster, a
/// stopped server, a proxy's 502), is Unknown. Reads are retried at the next endpoint instead.
///
/// Thread safety: all members may be called concurrently.
/// Lifetime: must outlive its snapshots and watches.
class EVENKEEL_API EtcdStore final : public Store {
 public:
  /// Sends no request. Throws std::invalid_argument for options out of their bounds.
  explicit EtcdStore(EtcdStoreOptions options = {});
  ~EtcdStore() override;
  EtcdStore(const EtcdStore&) = delete;
  EtcdStore& operator=(const EtcdStore&) = delete;

  /// Returns "etcd http://127.0.0.1:2379", with all endpoints.
  std::string name() const override;
  /// Returns all capabilities.
  Capabilities capabilities() const override;
  /// Derived from max_txn_ops and max_request_bytes; 3072 operations, 96 conditions and 1.3 MiB for the
  /// defaults.
  Limits limits() const override;

  std::unique_ptr<StoreSnapshot> snapshot(std::stop_token stop = {}) override;
  CommitResult commit(const Commit& commit, std::stop_token stop = {}) override;
  /// Uses one connection and one thread per watch. `hint` is also called when the watch begins, and when it
  /// is re-established. It must not destroy its own watch.
  std::unique_ptr<StoreWatch> watch(const KeyRange& range, std::function<void()> hint) override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
