// SPDX-License-Identifier: Apache-2.0
#include "webhook/review.hpp"

#include <array>
#include <chrono>

#include <evenkeel/webhook/answer.hpp>

#include "api/bounded_json.hpp"
#include "base/shown_text.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

constexpr std::array<std::string_view, 7> kind_names{"null",   "boolean", "integer", "number",
                                                     "string", "array",   "object"};

bool is_json(const http::Headers& headers) {
  const std::string* type = headers.find("Content-Type");
  if (type == nullptr) return false;
  const std::string_view media = std::string_view(*type).substr(0, type->find(';'));
  return media.substr(0, media.find_last_not_of(' ') + 1) == "application/json";
}

}  // namespace

const Json& field(const Json& parent, std::string_view document, std::string_view path, std::string_view name,
                  Presence presence, Json::Kind kind) {
  const Json& value = parent[name];
  if (value.is_null() ? presence == Presence::optional : value.kind() == kind) return value;
  std::string where(document);
  where += ": ";
  where += path;
  if (!path.empty()) where += ".";
  where += name;
  throw DecodeError(std::move(where), "expected " + std::string(kind_names[static_cast<std::size_t>(kind)]) +
                                          ", found " + std::string(value.kind_name()));
}

void check_review(const Json& review, std::string_view kind, std::string_view group) {
  if (!review.is_object())
    throw DecodeError(std::string(kind), "expected object, found " + std::string(review.kind_name()));
  const std::string expected = std::string(group) + "/v1";
  const std::string version = review["apiVersion"].string_or("");
  const std::string found = review["kind"].string_or("");
  if (version == expected && found == kind) return;
  std::string problem = "expected " + std::string(kind) + " of " + expected + ", found \"" + found +
                        "\" of \"" + version + "\"";
  if (version == std::string(group) + "/v1beta1")
    problem +=
        "; v1beta1 is not served since Kubernetes 1.22: name v1 in the configuration's " +
        std::string(kind == "AdmissionReview" ? "admissionReviewVersions" : "conversionReviewVersions");
  throw DecodeError(std::string(kind), problem);
}

Json read_body(const http::Request& request, std::string_view name, std::size_t max_values) {
  if (request.body.size() > max_review_size)
    throw RefusedReview(413, "a body of " + std::to_string(request.body.size()) +
                                 " bytes is above the limit of " + std::to_string(max_review_size));
  if (request.body.empty()) throw RefusedReview(400, std::string(name) + ": the body is empty");
  if (!is_json(request.headers)) {
    const std::string* type = request.headers.find("Content-Type");
    throw RefusedReview(415, "expected Content-Type application/json, found " +
                                 (type == nullptr ? std::string("none") : "\"" + *type + "\""));
  }
  try {
    return parse_bounded(request.body, name, max_values);
  } catch (const DecodeError& error) {
    throw RefusedReview(400, error.what());
  }
}

http::Response json_answer(const Json& document) {
  return {.status = 200, .headers = {{"Content-Type", "application/json"}}, .body = document.dump()};
}

http::Response text_answer(int code, const std::string& text) {
  return {.status = code,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
          .body = std::to_string(code) + " " + bounded_text(text) + "\n"};
}

Json status_document(const Status& status) {
  Json out = Json::object({{"apiVersion", "v1"},
                           {"kind", "Status"},
                           {"status", "Failure"},
                           {"code", status.code},
                           {"reason", status.reason},
                           {"message", status.message}});
  if (!status.kind.empty()) out["details"]["kind"] = status.kind;
  if (!status.name.empty()) out["details"]["name"] = status.name;
  if (status.retry_after)
    out["details"]["retryAfterSeconds"] =
        std::chrono::duration_cast<std::chrono::seconds>(*status.retry_after).count();
  for (const StatusCause& cause : status.causes) {
    out["details"]["causes"].push_back(
        Json::object({{"reason", cause.reason}, {"message", cause.message}, {"field", cause.field}}));
  }
  return out;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
