// SPDX-License-Identifier: Apache-2.0
#include "testing/harness/harness_webhooks.hpp"

#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include <evenkeel/api/crd.hpp>
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

apiserver::WebhookFunction function_of(std::span<const Conversion> conversions) {
  return [all = std::vector<Conversion>(conversions.begin(), conversions.end())](const std::string& review) {
    std::string failure;
    return answer_conversion_review(all, Json::parse(review), failure).dump();
  };
}

}  // namespace

std::shared_ptr<apiserver::WebhookCaller> make_webhook_caller(std::span<const Webhook> webhooks,
                                                              std::span<const Conversion> conversions) {
  const std::string server = "https://harness-webhooks.default.svc:443";
  std::map<std::string, apiserver::WebhookFunction, std::less<>> functions;
  for (const Webhook& webhook : webhooks) {
    functions.emplace(server + mutate_path(webhook.resource()), function_of(webhook, WebhookVerb::mutate));
    functions.emplace(server + validate_path(webhook.resource()),
                      function_of(webhook, WebhookVerb::validate));
  }
  functions.emplace(server + std::string(convert_path), function_of(conversions));
  return apiserver::make_function_webhook_caller(std::move(functions));
}

std::vector<Json> harness_webhook_configurations(std::span<const Webhook> webhooks) {
  return webhook_configurations(webhooks, "harness", target());
}

std::vector<Json> harness_definitions(std::span<const Conversion> conversions) {
  std::vector<Json> definitions;
  for (const Conversion& conversion : conversions) {
    std::vector<Json> versions;
    for (const Conversion::Version& version : conversion.versions()) {
      if (!version.crd)
        throw std::invalid_argument("HarnessOptions::conversions: " + version.resource.kind + " (" +
                                    version.resource.api_version() +
                                    ") has no definition: set ResourceInfo::installs_crd");
      versions.push_back(version.crd());
    }
    definitions.push_back(merge_versions(versions).front());
    set_conversion_webhook(definitions.back(), target());
  }
  return definitions;
}

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
