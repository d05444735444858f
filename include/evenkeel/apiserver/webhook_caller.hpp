// SPDX-License-Identifier: Apache-2.0
// Calls from an embedded API server to webhooks: over HTTP, or of functions in the same process.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <evenkeel/apiserver/api_server_core.hpp>
#include <evenkeel/base/export.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Interface for calling webhooks.
/// Thread safety: called concurrently, on threads of servers and transports; must not block for long.
class EVENKEEL_API WebhookCaller {
 public:
  virtual ~WebhookCaller() = default;
  /// Performs `call` and passes the answer to `done`, once, on any thread, also during the call. Must not
  /// throw; must give up after the timeout of the call.
  virtual void call(const WebhookCall& call, std::function<void(WebhookAnswer)> done) = 0;
};

/// Returns "host:port" for the service of a call; empty: there is no such service.
using ServiceResolver = std::function<std::string(const WebhookCall&)>;

/// Returns a caller over HTTPS: it verifies certificates with the caBundle of the call, and for services the
/// name "service.namespace.svc". Without `resolve` no service is found.
/// Lifetime: running calls end with an error when it is destroyed.
EVENKEEL_API std::shared_ptr<WebhookCaller> make_http_webhook_caller(ServiceResolver resolve = {});

/// A webhook in this process: gets the text of a review and returns that of the answered review. An
/// exception is a failed call.
using WebhookFunction = std::function<std::string(const std::string& review)>;

struct FunctionWebhookOptions {
  /// Threads that run the functions, which may then be slow and may send requests to the server that called
  /// them. 0: the functions run on the thread that serves the request, which makes them deterministic in
  /// virtual time; they must then not block or send such requests.
  std::size_t threads = 0;
  /// Performs the calls of other URLs; null: they fail.
  std::shared_ptr<WebhookCaller> otherwise = nullptr;
};

/// Returns a caller that answers with functions, by the URL of the call without its query:
/// "https://service.namespace.svc:443/path". It waits for them beyond the timeout of a call.
/// Lifetime: the destructor waits for running functions.
EVENKEEL_API std::shared_ptr<WebhookCaller> make_function_webhook_caller(
    std::map<std::string, WebhookFunction, std::less<>> functions, FunctionWebhookOptions options = {});

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
