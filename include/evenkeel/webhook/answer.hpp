// SPDX-License-Identifier: Apache-2.0
// Answers to AdmissionReviews, independent of a server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/client/errors.hpp>
#include <evenkeel/http/message.hpp>
#include <evenkeel/webhook/admission.hpp>
#include <evenkeel/webhook/webhook.hpp>

namespace evenkeel {
inline namespace v0 {

/// Largest body of a review: two objects of 3 MiB, the API server's limit for a request, and the other
/// members.
/// Source: controller-runtime pkg/webhook/admission/http.go, maxRequestSize.
inline constexpr std::size_t max_review_size = std::size_t{7} << 20;

/// The function of a webhook that a path selects.
enum class WebhookVerb : std::uint8_t { mutate, validate };

/// The result of an admission.
struct AdmissionResponse {
  std::string uid = {};
  bool allowed = true;
  Json patch = {};     ///< RFC 6902; null: nothing changes.
  Status status = {};  ///< Error of a denied write.
  std::vector<std::string> warnings = {};
  std::string failure = {};  ///< The error of a function that failed rather than denied; for the log.
};

/// Calls the webhook's function. Never throws: an exception becomes a denial, see WebhookFor.
EVENKEEL_API AdmissionResponse admit(const Webhook& webhook, WebhookVerb verb,
                                     const AdmissionRequest& request);

/// Returns the AdmissionReview that carries `response`.
EVENKEEL_API Json admission_review(const AdmissionResponse& response);

/// Returns the answer to a POST to the webhook's path. A body that is not an AdmissionReview gets 400, one
/// above max_review_size 413, another media type 415; their text names the problem. `failure` receives it, or
/// the error of a function that failed.
EVENKEEL_API http::Response answer_admission(const Webhook& webhook, WebhookVerb verb,
                                             const http::Request& request, std::string& failure);

}  // namespace v0
}  // namespace evenkeel
