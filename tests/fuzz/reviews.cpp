// SPDX-License-Identifier: Apache-2.0
// Bodies that the API server sends to webhooks. A request that can be read survives a round trip, and every
// answer is a review with its uid.
#include <string>

#include <evenkeel/api/json.hpp>
#include <evenkeel/webhook/answer.hpp>
#include <evenkeel/webhook/conversion.hpp>
#include <evenkeel/webhook/webhook.hpp>

#include "fuzz.hpp"
#include "targets.hpp"

namespace evenkeel::fuzz {
namespace {

Webhook labelling() {
  return webhook_for(ResourceId("demo.example.com", "v1", "Demo", "demos"))
      .defaults([](DynamicObject& object, const AdmissionRequest&) { object.body()["seen"] = true; })
      .validates([](const Validation<DynamicObject>&) { return ValidationResult::allow(); });
}

}  // namespace

void reviews(std::string_view input) {
  static const Webhook webhook = labelling();
  const http::Request request{.method = http::Method::post,
                              .headers = {{"Content-Type", "application/json"}},
                              .body = std::string(input)};
  std::string failure;
  for (const WebhookVerb verb : {WebhookVerb::mutate, WebhookVerb::validate}) {
    const http::Response answer = answer_admission(webhook, verb, request, failure);
    if (answer.status != 200) continue;
    const AdmissionRequest read = read_admission_review(Json::parse(input));
    check(admission_review(read_admission_review(admission_review(read))) == admission_review(read),
          "a request survives a round trip");
    check(Json::parse(answer.body)["response"]["uid"] == Json(read.uid), "an answer has the uid");
  }
  answer_conversion({}, request, failure);
}

}  // namespace evenkeel::fuzz
