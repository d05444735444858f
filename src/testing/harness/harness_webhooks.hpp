// SPDX-License-Identifier: Apache-2.0
// The webhooks and conversions of a harness: the API server calls their functions, at once and without a
// socket.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/apiserver/webhook_caller.hpp>
#include <evenkeel/webhook/conversion.hpp>
#include <evenkeel/webhook/webhook.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing {

/// Returns a caller that answers with the functions of `webhooks` and `conversions`.
std::shared_ptr<apiserver::WebhookCaller> make_webhook_caller(std::span<const Webhook> webhooks,
                                                              std::span<const Conversion> conversions);

/// Returns the configurations that tell the API server to use that caller.
std::vector<Json> harness_webhook_configurations(std::span<const Webhook> webhooks);

/// Returns the definitions of the converted kinds, with conversion by that caller. Throws
/// std::invalid_argument if a version has no definition.
std::vector<Json> harness_definitions(std::span<const Conversion> conversions);

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
