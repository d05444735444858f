// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <evenkeel/api/bytes.hpp>
#include <evenkeel/api/dynamic.hpp>
#include <evenkeel/api/patch.hpp>
#include <evenkeel/base/error.hpp>
#include <evenkeel/http/message.hpp>
#include <evenkeel/testing/admit.hpp>
#include <evenkeel/webhook/answer.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing {
namespace {

AdmissionRequest request_for(const Webhook& webhook, const Json& object, const AdmitOptions& options) {
  const DynamicObject named(object);
  const bool removes = options.operation == AdmissionOperation::remove;
  AdmissionRequest request{.uid = "00000000-0000-0000-0000-000000000001",
                           .resource = webhook.resource(),
                           .subresource = options.subresource,
                           .name = std::string(named.name()),
                           .namespace_ = std::string(named.namespace_()),
                           .operation = options.operation,
                           .user = options.user,
                           .dry_run = options.dry_run};
  (removes ? request.old_object : request.object) = object;
  if (!removes) request.old_object = options.old_object;
  return request;
}

// Returns the member "response" of the answer.
Json call(const Webhook& webhook, WebhookVerb verb, const AdmissionRequest& request) {
  std::string failure;
  const http::Response response = answer_admission(webhook, verb,
                                                   {.method = http::Method::post,
                                                    .headers = {{"Content-Type", "application/json"}},
                                                    .body = admission_review(request).dump()},
                                                   failure);
  if (response.status != 200) throw Error("the webhook answered " + response.body);
  return Json::parse(response.body)["response"];
}

// Returns false if the write is denied.
bool take(const Json& response, Admission& admission) {
  const Json& warnings = response["warnings"];
  for (std::size_t at = 0; at < warnings.size(); ++at)
    admission.warnings.push_back(warnings[at].string_or(""));
  admission.allowed = response["allowed"].bool_or(false);
  if (!admission.allowed) {
    const int code = static_cast<int>(response["status"]["code"].integer_or(500));
    admission.status = Status::decode(code, response["status"].dump());
  }
  return admission.allowed;
}

Json patch_of(const Json& response) {
  const auto text = Bytes::from_base64(response["patch"].string_or(""));
  return text && !text->empty() ? Json::parse(text->value(), "patch") : Json();
}

}  // namespace

Admission admit(const Webhook& webhook, const Json& object, const AdmitOptions& options) {
  AdmissionRequest request = request_for(webhook, object, options);
  Admission admission;
  const Json defaults = call(webhook, WebhookVerb::mutate, request);
  if (!take(defaults, admission)) return admission;
  admission.patch = patch_of(defaults);
  if (!admission.patch.is_null()) {
    request.object = apply_json_patch(std::move(request.object), admission.patch);
    const Json again = patch_of(call(webhook, WebhookVerb::mutate, request));
    if (!again.is_null())
      throw Error(request.what() + ": the defaults are not stable; called again, they change " +
                  again.dump());
  }
  admission.object = request.object;
  take(call(webhook, WebhookVerb::validate, request), admission);
  return admission;
}

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
