// SPDX-License-Identifier: Apache-2.0
#include "testing/harness_webhooks.hpp"

#include <functional>
#include <map>
#include <string>
#include <utility>

#include <evenkeel/base/error.hpp>
#include <evenkeel/http/message.hpp>
#include <evenkeel/webhook/answer.hpp>
#include <evenkeel/webhook/configuration.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing {
namespace {

// The Service that the configurations name; it does not exist.
WebhookTarget target() {
  return {.service = {.namespace_ = "default", .name = "harness-webhooks"}};
}

apiserver::WebhookFunction function_of(const Webhook& webhook, WebhookVerb verb) {
  return [webhook, verb](const std::string& review) {
    std::string failure;
    http::Response response = answer_admission(
        webhook, verb,
        {.method = http::Method::post, .headers = {{"Content-Type", "application/json"}}, .body = review},
        failure);
    if (response.status != 200) throw Error("the webhook answered " + response.body);
    return std::move(response.body);
  };
}

}  // namespace

std::shared_ptr<apiserver::WebhookCaller> make_webhook_caller(std::span<const Webhook> webhooks) {
  const std::string server = "https://harness-webhooks.default.svc:443";
  std::map<std::string, apiserver::WebhookFunction, std::less<>> functions;
  for (const Webhook& webhook : webhooks) {
    functions.emplace(server + mutate_path(webhook.resource()), function_of(webhook, WebhookVerb::mutate));
    functions.emplace(server + validate_path(webhook.resource()),
                      function_of(webhook, WebhookVerb::validate));
  }
  return apiserver::make_function_webhook_caller(std::move(functions));
}

std::vector<Json> harness_webhook_configurations(std::span<const Webhook> webhooks) {
  return webhook_configurations(webhooks, "harness", target());
}

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
