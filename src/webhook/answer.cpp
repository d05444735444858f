// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <utility>

#include <evenkeel/api/bytes.hpp>
#include <evenkeel/api/patch.hpp>
#include <evenkeel/webhook/answer.hpp>

#include "base/caught.hpp"
#include "base/limits.hpp"
#include "base/shown_text.hpp"
#include "webhook/review.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

Status failure_status(int code, const char* reason, const char* what) {
  return {.code = code, .reason = reason, .message = detail::bounded_text(what)};
}

// Null if the function changes nothing.
Json patch_of(const Webhook& webhook, const AdmissionRequest& request) {
  if (!webhook.defaulter() || request.object.is_null() || request.operation == AdmissionOperation::remove)
    return {};
  Json patch = json_patch(request.object, webhook.defaulter()(request));
  return patch.empty() ? Json() : patch;
}

void judge(const Webhook& webhook, const AdmissionRequest& request, AdmissionResponse& response) {
  if (!webhook.validator()) return;
  const ValidationResult result = webhook.validator()(request);
  response.warnings = result.warnings();
  response.allowed = result.allowed();
  if (!response.allowed) response.status = result.status(request);
}

void deny(AdmissionResponse& response, Status status, std::string failure) {
  response.allowed = false;
  response.patch = {};
  response.status = std::move(status);
  response.failure = std::move(failure);
}

}  // namespace

AdmissionResponse admit(const Webhook& webhook, WebhookVerb verb, const AdmissionRequest& request) {
  AdmissionResponse response{.uid = request.uid};
  try {
    if (verb == WebhookVerb::mutate)
      response.patch = patch_of(webhook, request);
    else
      judge(webhook, request, response);
  } catch (const ApiError& error) {
    deny(response, error.status(), "");
  } catch (const DecodeError& error) {
    deny(response, failure_status(400, "BadRequest", error.what()), error.what());
  } catch (const std::exception& error) {
    deny(response, failure_status(500, "InternalError", error.what()), error.what());
  } catch (...) {
    const char* what = detail::foreign_exception;
    deny(response, failure_status(500, "InternalError", what), what);
  }
  return response;
}

Json admission_review(const AdmissionResponse& response) {
  Json to = Json::object({{"uid", response.uid}, {"allowed", response.allowed}});
  if (!response.allowed) to["status"] = detail::status_document(response.status);
  if (!response.patch.is_null()) {
    to["patchType"] = "JSONPatch";
    to["patch"] = Bytes(response.patch.dump()).base64();
  }
  for (const std::string& warning : response.warnings) to["warnings"].push_back(warning);
  return Json::object(
      {{"apiVersion", "admission.k8s.io/v1"}, {"kind", "AdmissionReview"}, {"response", std::move(to)}});
}

http::Response answer_admission(const Webhook& webhook, WebhookVerb verb, const http::Request& request,
                                std::string& failure) {
  try {
    const AdmissionRequest asked =
        read_admission_review(detail::read_body(request, "AdmissionReview", limits::admission_values));
    const AdmissionResponse response = admit(webhook, verb, asked);
    if (!response.failure.empty()) failure = asked.what() + ": " + response.failure;
    return detail::json_answer(admission_review(response));
  } catch (const detail::RefusedReview& error) {
    failure = error.what();
    return detail::text_answer(error.code(), error.what());
  } catch (const DecodeError& error) {
    failure = error.what();
    return detail::text_answer(400, error.what());
  }
}

}  // namespace v0
}  // namespace evenkeel
