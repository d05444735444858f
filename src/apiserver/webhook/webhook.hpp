// SPDX-License-Identifier: Apache-2.0
// The entries of MutatingWebhookConfigurations and ValidatingWebhookConfigurations, and what they match.
// Source: apiserver pkg/admission/plugin/webhook: generic/webhook.go, predicates.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/request/call.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

enum class WebhookKind : std::uint8_t { mutating, validating };

/// An operation on an object, as webhooks see it.
struct AdmissionEvent {
  std::string operation = {};  ///< CREATE, UPDATE or DELETE.
  std::string name = {};       ///< Empty if it is generated later.
  std::string subresource = {};
  Json old = {};      ///< Null on a create.
  Json options = {};  ///< The document of CreateOptions, UpdateOptions or DeleteOptions.
  bool dry_run = false;
  bool is_scale = false;  ///< The documents are Scales.
};

/// One webhook of a configuration.
struct Webhook {
  std::string configuration;
  Json spec;
  std::string name() const { return spec["name"].string_or(""); }
};

/// Returns all webhooks: by the name of the configuration, and then in its order.
std::vector<Webhook> webhooks(Storage& storage, WebhookKind kind);

/// Returns the version of the resource in which the webhook gets the object; null if it does not match.
/// Throws StatusError if a match condition cannot be evaluated and the webhook must not be ignored.
ResourceTypePtr matched_type(Call& call, const Webhook& webhook, const AdmissionEvent& event,
                             const Json& object);

/// Returns the AdmissionRequest of an operation. `type` is the version in which the webhook gets it.
Json admission_request(Call& call, const AdmissionEvent& event, const ResourceType& type, const Json& object);

/// Returns true if the webhook is called although its call fails.
bool ignores_failures(const Webhook& webhook);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
