// SPDX-License-Identifier: Apache-2.0
// An API server core that several ways in share: sockets (testing/api_server.hpp) and transports in the same
// process (testing/in_process_transport.hpp), with callers, faults and a clock.
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

namespace detail {
class Backend;
class CoreHost;
}  // namespace detail

/// A bearer token and who shows it.
struct TokenUser {
  std::string token = {};
  Caller caller = {};
  /// From then on, by the core's clock, requests with it are answered with 401. Watches that run go on, as
  /// with a real server.
  std::optional<WallTime> expires = {};
};

/// A request that was answered, for logs and assertions.
struct ServedRequest {
  http::Method method = http::Method::get;
  std::string target = {};  ///< As sent: path and query.
  std::string user = {};
  int status = 0;  ///< 0: a fault rule dropped the connection instead of answering.
};

struct SharedCoreOptions {
  ApiServerCoreOptions core = {};
  /// Who may come in; empty: everybody, as the default Caller. Otherwise a request without a known token
  /// (or, over TLS, a client certificate of the server's own authority) is answered with 401.
  std::vector<TokenUser> tokens = {};
  /// Injected from the start.
  std::vector<FaultRule> faults = {};
  /// What timestamps come from, and what a transport without sockets waits with.
  std::shared_ptr<const Clock> clock = real_clock();
  /// Called for each request when its answer is known, on the thread that serves it; must not throw or block.
  std::function<void(const ServedRequest&)> on_request = {};
};

/// Owns a core and its faults.
/// Thread safety: all members may be called concurrently. Lifetime: held by each way in that was made for it.
class EVENKEEL_API SharedCore {
 public:
  /// Throws std::invalid_argument for options that ApiServerCore or check(FaultRule) refuse.
  explicit SharedCore(SharedCoreOptions options = {});
  ~SharedCore();
  SharedCore(const SharedCore&) = delete;
  SharedCore& operator=(const SharedCore&) = delete;

  /// Answers a request as the default Caller, past all faults. A watch is ended at once.
  http::Response handle(const http::Request& request);
  /// Creates the objects of a manifest (YAML documents or JSON, Lists too); what is there already stays as
  /// it is. Throws DecodeError, or Error with kind, name and the server's message for what it refuses.
  void install(std::string_view manifest);

  /// Adds a rule after those that are there. Throws std::invalid_argument as check() does.
  FaultId inject(FaultRule rule);
  /// Takes a rule away; its counts remain. Running watches that it holds back catch up, and are not cut any
  /// more; a connection that it made silent stays so. Unknown ids are ignored.
  void remove_fault(FaultId id);
  void clear_faults();
  /// Zero for unknown ids.
  FaultCounts fault_counts(FaultId id) const;
  /// Ends all running watches as if their connections had broken; returns how many there were.
  std::size_t cut_watches();

  /// Runs `action` on the core, while nobody else uses it.
  void with(const std::function<void(ApiServerCore&)>& action);

  /// For the ways in.
  const std::shared_ptr<detail::CoreHost>& host() const { return host_; }

 private:
  std::shared_ptr<detail::CoreHost> host_;
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
