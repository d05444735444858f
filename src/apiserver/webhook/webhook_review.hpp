// SPDX-License-Identifier: Apache-2.0
// Calls of webhooks by their clientConfig, and the reviews in their answers: common to admission and
// conversion.
#pragma once

#include <string>
#include <string_view>

#include <evenkeel/api/json.hpp>
#include <evenkeel/apiserver/api_server_core.hpp>

#include "apiserver/schema/status_error.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// A call that failed, or whose answer is not valid.
struct FailedCall {
  std::string problem;
};

/// Returns the error for a failure inside of the server: a 500 with the reason InternalError.
StatusError internal_error(const std::string& problem);

/// Returns the call of a webhook, without its body.
WebhookCall webhook_call(std::string name, const Json& client_config, std::int64_t timeout_seconds);

/// Returns the review in an answer, of v1 or v1beta1 of `group`. Throws FailedCall.
Json review_in(const WebhookAnswer& answer, std::string_view kind, std::string_view group);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
