// SPDX-License-Identifier: Apache-2.0
// The embedded API server: Kubernetes' API over HTTP on a loopback port, in this process, for kubectl, for
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
  /// Speaks TLS, with certificates made at start for `host`, localhost and the loopback addresses. Clients
  /// find the authority in kubeconfig() and config().
  bool tls = false;
  /// If set, requests must carry this bearer token, or another one of `tokens`.
  std::string token = {};
  /// More tokens and whom they stand for.
  std::vector<TokenUser> tokens = {};
  /// With tls: kubeconfig() and config() carry a client certificate instead of a token.
  bool client_certificate = false;
  std::vector<FaultRule> faults = {};  ///< Injected from the start.
  ApiServerCoreOptions core = {};
  std::shared_ptr<const Clock> clock = real_clock();  ///< What timestamps come from.
  /// As in SharedCoreOptions; called on the server's thread.
  std::function<void(const ServedRequest&)> on_request = {};
  /// A client that takes no byte of an answer or watch for so long is cut.
  Duration write_timeout = std::chrono::seconds{60};
};

/// Serves from the constructor on, on one thread of its own, until stop() or destruction. Who takes watch
/// events too slowly is cut when core.max_unread_bytes wait for it, or after write_timeout.
/// Thread safety: all members may be called concurrently.
class EVENKEEL_API ApiServer {
 public:
  /// Throws Error if the address cannot be listened on; std::invalid_argument for options that make no sense.
  explicit ApiServer(ApiServerOptions options = {});
  /// A server for a core that others use as well; of `options` core, faults, tokens, clock and on_request
  /// are the core's own and must not be set here.
  ApiServer(std::shared_ptr<SharedCore> core, ApiServerOptions options);
  ~ApiServer();
  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;

  std::uint16_t port() const;
  /// "http://127.0.0.1:41234", "https://..." with TLS.
  std::string url() const;
  /// How our own client gets here: server, authority, and token or client certificate.
  Config config() const;
  /// The same for kubectl, as YAML. kubectl takes no token from a kubeconfig without TLS.
  std::string kubeconfig() const;
  /// The authority that signed the server's certificate, as PEM; empty without TLS.
  std::string certificate_authority() const;
  /// A way to the same core without sockets, with a thread of its own; tokens are asked for there, too.
  std::shared_ptr<http::Transport> transport() const;
  /// The core that the server serves.
  const std::shared_ptr<SharedCore>& core() const;

  /// As in SharedCore.
  FaultId inject(FaultRule rule);
  void remove_fault(FaultId id);
  void clear_faults();
  FaultCounts fault_counts(FaultId id) const;
  std::size_t cut_watches();
  void install(std::string_view manifest);

  /// Connections that are open now.
  std::size_t connections() const;
  /// Ends all connections, watches included, and joins the thread. Idempotent; not from on_request.
  void stop() noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
