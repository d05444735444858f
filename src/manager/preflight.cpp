// SPDX-License-Identifier: Apache-2.0
#include "manager/preflight.hpp"

#include <chrono>

#include <evenkeel/base/error.hpp>
#include <evenkeel/client/errors.hpp>
#include <evenkeel/http/transport.hpp>

#include "client/config/credential_check.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

void check_server(const Client& client, const Config& config, const Log& log) {
  // Any response will do, even 403: it proves that the server is there.
  const RestRequest question{.method = http::Method::get,
                             .resource = {"", "v1", "Namespace", "namespaces", Scope::cluster},
                             .name = "default"};
  try {
    (void)client.with({.timeout = std::chrono::seconds{10}, .max_retries = 0}).raw(question);
  } catch (const ApiError& error) {
    if (error.is_unauthorized()) {
      log.error(has_credentials(config) ? "the server rejects the credentials; retrying"
                                        : "the server requires credentials, and none are sent; retrying",
                {{"config", config.origin}, {"error", error.what()}});
    }
  } catch (const Cancelled&) {
    // A stop was requested already; the caller notices it next.
  } catch (const TransportError& error) {
    if (error.code() == TransportErrorCode::tls) throw;
    log.warn("cannot reach the server; retrying", {{"error", error.what()}});
  }
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
