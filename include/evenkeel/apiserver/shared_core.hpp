// SPDX-License-Identifier: Apache-2.0
// An API server core shared by several transports: sockets (apiserver/api_server.hpp) and in-process
// transports (apiserver/in_process_transport.hpp), with authentication, faults and a clock.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/apiserver/api_server_core.hpp>
#include <evenkeel/apiserver/faults.hpp>
#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/http/message.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

class WebhookCaller;

namespace detail {
class Backend;
class CoreHost;
}  // namespace detail

/// A completed request, for logs and assertions.
struct ServedRequest {
  http::Method method = http::Method::get;
  std::string target = {};  ///< Path and query, as sent.
  std::string user = {};
  int status = 0;  ///< 0: a fault rule dropped the connection instead of answering.
};

struct SharedCoreOptions {
  ApiServerCoreOptions core = {};
  /// The state in which the server begins; `core` is then replaced by the options of the server that it was
  /// taken from.
  std::optional<World> world = {};
  /// Accepted tokens, in addition to those that the server issues for service accounts. Empty, and without
  /// RBAC: all requests are accepted and come from the default Caller. Otherwise a request without a known
  /// token (or, over TLS, without a client certificate signed by the server's authority) gets 401.
  std::vector<TokenUser> tokens = {};
  /// With RBAC: a request without credentials counts as one of system:anonymous instead of getting a 401.
  bool anonymous = true;
  /// Rules that are active from the start.
  std::vector<FaultRule> faults = {};
  /// Caller of the webhooks of admission; unset: HTTPS, without services (apiserver/webhook_caller.hpp).
  std::shared_ptr<WebhookCaller> webhooks = {};
  /// Clock for timestamps and for the delays of transports without sockets.
  std::shared_ptr<const Clock> clock = real_clock();
  /// Called for each request when its response is known, on the thread that serves it; must not throw or
  /// block.
  std::function<void(const ServedRequest&)> on_request = {};
};

/// Shell: the owner of a core and its faults.
/// Thread safety: all members may be called concurrently.
/// Lifetime: kept alive by each transport and server.
class EVENKEEL_API SharedCore {
 public:
  /// Throws std::invalid_argument for options that ApiServerCore or check(FaultRule) reject.
  explicit SharedCore(SharedCoreOptions options = {});
  ~SharedCore();
  SharedCore(const SharedCore&) = delete;
  SharedCore& operator=(const SharedCore&) = delete;

  /// Answers a request as the default Caller, bypassing all faults. A watch ends at once.
  http::Response handle(const http::Request& request);
  /// Creates the objects of a manifest (YAML documents or JSON, Lists too); existing objects are not changed.
  /// Throws DecodeError, or Error with kind, name and the server's message if one is rejected.
  void install(std::string_view manifest);

  /// Adds a rule after the existing ones. Throws std::invalid_argument like check().
  FaultId inject(FaultRule rule);
  /// Removes a rule; its counters remain. Running watches that it delays catch up, and are not cut any more;
  /// a connection that it silenced stays silent. Unknown ids are ignored.
  void remove_fault(FaultId id);
  void clear_faults();
  /// Returns zeros for unknown ids.
  FaultCounts fault_counts(FaultId id) const;
  /// Ends all running watches as if their connections had broken; returns their number.
  std::size_t cut_watches();

  /// Returns the state of the server, from which other servers can start. The time that it takes does not
  /// depend on the number of objects.
  World snapshot();
  /// Runs `action` with exclusive access to the core.
  void with(const std::function<void(ApiServerCore&)>& action);

  /// For servers and transports.
  const std::shared_ptr<detail::CoreHost>& host() const { return host_; }

 private:
  std::shared_ptr<detail::CoreHost> host_;
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
