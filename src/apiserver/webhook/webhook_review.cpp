// SPDX-License-Identifier: Apache-2.0
#include "apiserver/webhook/webhook_review.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <utility>

#include <evenkeel/api/bytes.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

constexpr int https_port = 443;

bool is_space(char letter) {
  return std::isspace(static_cast<unsigned char>(letter)) != 0;
}

/// A bundle of white space counts as none.
std::string bundle_of(const Json& config) {
  const auto bundle = Bytes::from_base64(config["caBundle"].string_or(""));
  if (!bundle) return {};
  const std::string& text = bundle->value();
  return std::all_of(text.begin(), text.end(), is_space) ? std::string() : text;
}

/// Returns the words of a real server for a status that is an error.
/// Source: apimachinery pkg/api/errors NewGenericServerResponse.
std::string status_problem(const WebhookAnswer& answer) {
  if (answer.status == 400) return "the server rejected our request for an unknown reason";
  if (answer.status == 404) return "the server could not find the requested resource";
  if (answer.status < 500)
    return "the server responded with the status code " + std::to_string(answer.status) +
           " but did not return more information";
  const bool is_text = answer.content_type.empty() || answer.content_type.starts_with("text/");
  std::string text = is_text ? answer.body : "unknown";
  while (!text.empty() && is_space(text.back())) text.pop_back();
  return "an error on the server (" + Json(text).dump() + ") has prevented the request from succeeding";
}

}  // namespace

StatusError internal_error(const std::string& problem) {
  return {500, "InternalError", "Internal error occurred: " + problem,
          Json::object({{"causes", Json::array({Json::object({{"message", problem}})})}})};
}

WebhookCall webhook_call(std::string name, const Json& client_config, std::int64_t timeout_seconds) {
  WebhookCall out{.webhook = std::move(name),
                  .url = client_config["url"].string_or(""),
                  .ca_bundle = bundle_of(client_config),
                  .timeout = std::chrono::seconds(timeout_seconds)};
  if (const Json& service = client_config["service"]; service.is_object()) {
    out.service_namespace = service["namespace"].string_or("");
    out.service_name = service["name"].string_or("");
    out.service_port = static_cast<int>(service["port"].integer_or(https_port));
    const std::string path = service["path"].string_or("/");
    out.url = "https://" + out.service_name + "." + out.service_namespace +
              ".svc:" + std::to_string(out.service_port) + (path.starts_with('/') ? "" : "/") + path;
  }
  out.url += (out.url.find('?') == std::string::npos ? "?" : "&") + std::string("timeout=") +
             std::to_string(timeout_seconds) + "s";
  return out;
}

Json review_in(const WebhookAnswer& answer, std::string_view kind, std::string_view group) {
  if (!answer.error.empty()) throw FailedCall{answer.error};
  if (answer.status < 200 || answer.status > 299) throw FailedCall{status_problem(answer)};
  Json review;
  try {
    review = Json::parse(answer.body);
  } catch (const DecodeError& problem) {
    throw FailedCall{std::string("couldn't get version/kind; json parse error: ") + problem.what()};
  }
  const std::string found = std::as_const(review)["kind"].string_or("");
  const std::string version = std::as_const(review)["apiVersion"].string_or("");
  if (found.empty()) throw FailedCall{"Object 'Kind' is missing in '" + answer.body + "'"};
  if (found != kind || (version != std::string(group) + "/v1" && version != std::string(group) + "/v1beta1"))
    throw FailedCall{"no kind " + Json(found).dump() + " is registered for version " + Json(version).dump()};
  return review;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
