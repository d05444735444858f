// SPDX-License-Identifier: Apache-2.0
// The objects that tell the API server to call a program's webhooks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/webhook/webhook.hpp>

namespace evenkeel {
inline namespace v0 {

/// The Service that leads to a program's webhooks.
struct WebhookService {
  std::string namespace_ = {};
  std::string name = {};
  std::uint16_t port = 443;

  bool operator==(const WebhookService&) const = default;
};

/// The address under which the API server calls a program: a Service in its cluster, or a URL.
struct WebhookTarget {
  WebhookService service = {};
  /// "https://host:port", to which the path is appended. If it is set, the Service is not used.
  std::string url = {};
  /// Authorities that the API server accepts, as PEM. Empty: injected later, or the authorities of its
  /// system.
  std::string ca_bundle = {};
};

/// Names of the configurations of a program called `name`: "demo-mutating", "demo-validating".
EVENKEEL_API std::string mutating_configuration_name(std::string_view name);
EVENKEEL_API std::string validating_configuration_name(std::string_view name);

/// Returns the MutatingWebhookConfiguration and the ValidatingWebhookConfiguration
/// (admissionregistration.k8s.io/v1) of these webhooks; one that would have no webhook is left out. `name` is
/// that of the program.
EVENKEEL_API std::vector<Json> webhook_configurations(std::span<const Webhook> webhooks,
                                                      std::string_view name, const WebhookTarget& target);

/// Makes the CustomResourceDefinition `crd` convert by webhook at convert_path of `target`.
EVENKEEL_API void set_conversion_webhook(Json& crd, const WebhookTarget& target);

}  // namespace v0
}  // namespace evenkeel
