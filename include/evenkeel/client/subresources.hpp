// SPDX-License-Identifier: Apache-2.0
// Subresources other than status and scale: eviction of a Pod, tokens of a service account, binding of a Pod,
// and any other as JSON. Sent by Client::run() and Client::start().
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/api/resource.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/object_key.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/client/call.hpp>
#include <evenkeel/client/options.hpp>

namespace evenkeel {
inline namespace v0 {

struct TokenOptions {
  std::vector<std::string> audiences = {};     ///< Empty: the API server itself.
  std::optional<Duration> expires_after = {};  ///< Whole seconds, 10 min or more; unset: the server's choice.
};

/// A token of a service account.
struct ServiceAccountToken {
  std::string token = {};
  std::string expires_at = {};  ///< "2026-01-02T15:04:05Z"; may be earlier than was asked for.
};

namespace calls {

/// Evicts a Pod: deletes it unless that violates a PodDisruptionBudget. Then the server answers with 429,
/// which is retried as RetryOptions say; `client.with({.max_retries = 0})` returns it at once. Fails with 404
/// if there is no such Pod.
EVENKEEL_API ApiCall<std::monostate> evict(const ObjectKey& pod, const DeleteOptions& options = {});
/// Returns a new token of a service account.
EVENKEEL_API ApiCall<ServiceAccountToken> create_token(const ObjectKey& service_account,
                                                       const TokenOptions& options = {});
/// Assigns a Pod to a node, as a scheduler does. Fails with 409 if it has one.
EVENKEEL_API ApiCall<std::monostate> bind(const ObjectKey& pod, const std::string& node);

/// Reads any subresource.
EVENKEEL_API ApiCall<Json> get_subresource(const ResourceId& resource, const ObjectKey& key,
                                           std::string subresource);
/// Sends `body` to any subresource, and returns the response.
EVENKEEL_API ApiCall<Json> create_subresource(const ResourceId& resource, const ObjectKey& key,
                                              std::string subresource, const Json& body);

}  // namespace calls
}  // namespace v0
}  // namespace evenkeel
