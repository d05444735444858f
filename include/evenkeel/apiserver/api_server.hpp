// SPDX-License-Identifier: Apache-2.0
// The embedded API server: the Kubernetes API over HTTP on a loopback port, in this process, for kubectl, for
// the library's own client and for clients in any language.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/apiserver/faults.hpp>
#include <evenkeel/apiserver/kubelet.hpp>
#include <evenkeel/apiserver/shared_core.hpp>
#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/client/config.hpp>
#include <evenkeel/http/transport.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

struct ApiServerOptions {
  std::string host = "127.0.0.1";  ///< Address or name to listen on.
  std::uint16_t port = 0;          ///< 0: a free one; see ApiServer::port().
  /// Use TLS, with certificates generated at start for `host`, localhost and the loopback addresses. The
  /// authority is in kubeconfig() and config().
  bool tls = false;
  /// If set, requests must have this bearer token, or one of `tokens`.
  std::string token = {};
  /// Additional tokens and their users.
  std::vector<TokenUser> tokens = {};
  /// With tls: kubeconfig() and config() have a client certificate instead of a token.
  bool client_certificate = false;
  /// rbac: roles and bindings decide; so does core.authorization. Without a token and a client certificate,
  /// config() and kubeconfig() then have a token made at start, whose user may do everything.
  Authorization authorization = Authorization::always_allow;
  /// See SharedCoreOptions.
  bool anonymous = true;
  /// See SharedCoreOptions.
  std::shared_ptr<WebhookCaller> webhooks = {};
  std::vector<FaultRule> faults = {};  ///< Rules that are active from the start.
  ApiServerCoreOptions core = {};
  std::shared_ptr<const Clock> clock = real_clock();  ///< Clock for timestamps.
  /// See SharedCoreOptions; called on the server's thread.
  std::function<void(const ServedRequest&)> on_request = {};
  /// A connection is closed if its client reads no byte of a response or watch for this long.
  Duration write_timeout = std::chrono::seconds{60};
  /// Functions that act as the node of Pods; only for requests to the server's port.
  Kubelet kubelet = {};
};

/// Serves from construction until stop() or destruction, on one dedicated thread. A client that reads watch
/// events too slowly is disconnected when core.max_unread_bytes are pending, or after write_timeout.
/// Thread safety: all members may be called concurrently.
class EVENKEEL_API ApiServer {
 public:
  /// Throws Error if the address cannot be listened on; std::invalid_argument for invalid options.
  explicit ApiServer(ApiServerOptions options = {});
  /// A server for a shared core; core, faults, tokens, clock and on_request are those of the core and must
  /// not be set in `options`.
  ApiServer(std::shared_ptr<SharedCore> core, ApiServerOptions options);
  ~ApiServer();
  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;

  std::uint16_t port() const;
  /// Returns "http://127.0.0.1:41234", or "https://..." with TLS.
  std::string url() const;
  /// Returns the configuration of a client: server, authority, and token or client certificate.
  Config config() const;
  /// Like config(), for kubectl, as YAML. Without TLS, kubectl ignores the token of a kubeconfig.
  std::string kubeconfig() const;
  /// Returns the authority that signed the server's certificate, as PEM; empty without TLS.
  std::string certificate_authority() const;
  /// Returns a transport to the same core without sockets, with a dedicated thread; it requires tokens as
  /// well.
  std::shared_ptr<http::Transport> transport() const;
  /// Returns the core that the server serves.
  const std::shared_ptr<SharedCore>& core() const;

  /// See SharedCore.
  FaultId inject(FaultRule rule);
  void remove_fault(FaultId id);
  void clear_faults();
  FaultCounts fault_counts(FaultId id) const;
  std::size_t cut_watches();
  void install(std::string_view manifest);

  /// Returns the number of open connections.
  std::size_t connections() const;
  /// Closes all connections, watches included, and joins the thread. Idempotent; must not be called from
  /// on_request.
  void stop() noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
