// SPDX-License-Identifier: Apache-2.0
// An embedded API server that calls the webhooks of a WebhookServer, over TLS.
#pragma once

#include <chrono>
#include <string>

#include <evenkeel/apiserver/api_server.hpp>
#include <evenkeel/apiserver/webhook_caller.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/webhook/configuration.hpp>
#include <evenkeel/webhook/webhook_server.hpp>

#include "today.hpp"
#include "webhook/x509.hpp"

namespace evenkeel::webhook_tests {

using tests::today;

/// The two servers and a client. Webhooks are added to `hooks`, which is started then.
struct WebhookCluster {
  WebhookTarget by_url() const { return {.url = hooks.url(), .ca_bundle = authority.certificate}; }
  /// Returns the Service "hooks" of the namespace "team", which leads to `hooks`; no other Service exists.
  WebhookTarget by_service() const {
    return {.service = {"team", "hooks"}, .ca_bundle = authority.certificate};
  }

  http::TlsPair authority = detail::make_authority("test", today());
  WebhookServer hooks{{.address = "127.0.0.1:0", .workers = 4},
                      detail::make_serving(authority, {"127.0.0.1", "hooks.team.svc"}, today())};
  apiserver::ApiServer api{
      {.webhooks = apiserver::make_http_webhook_caller([this](const apiserver::WebhookCall& call) {
         return call.service_name == "hooks" && call.service_namespace == "team"
                    ? "127.0.0.1:" + std::to_string(hooks.port())
                    : std::string();
       })}};
  Client client{api.config()};
};

}  // namespace evenkeel::webhook_tests
