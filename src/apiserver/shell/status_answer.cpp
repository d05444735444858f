// SPDX-License-Identifier: Apache-2.0
#include "apiserver/shell/status_answer.hpp"

#include <utility>

#include <evenkeel/api/json.hpp>

#include "apiserver/schema/status_error.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

// Source: apimachinery's metav1.StatusReason and the codes documented for each.
std::string usual_reason(int code) {
  constexpr std::pair<int, const char*> reasons[] = {{400, "BadRequest"},
                                                     {401, "Unauthorized"},
                                                     {403, "Forbidden"},
                                                     {404, "NotFound"},
                                                     {405, "MethodNotAllowed"},
                                                     {406, "NotAcceptable"},
                                                     {409, "Conflict"},
                                                     {410, "Expired"},
                                                     {413, "RequestEntityTooLarge"},
                                                     {415, "UnsupportedMediaType"},
                                                     {422, "Invalid"},
                                                     {429, "TooManyRequests"},
                                                     {500, "InternalError"},
                                                     {503, "ServiceUnavailable"},
                                                     {504, "Timeout"}};
  for (const auto& [known, reason] : reasons) {
    if (known == code) return reason;
  }
  return "";
}

http::Response status_answer(int code, const std::string& reason, const std::string& message,
                             std::optional<std::chrono::seconds> retry_after) {
  http::Response response{.status = code, .headers = {{"Content-Type", "application/json"}}};
  Json details = code == 405 ? Json::object() : Json();
  if (retry_after) {
    details = Json::object({{"retryAfterSeconds", retry_after->count()}});
    response.headers.set("Retry-After", std::to_string(retry_after->count()));
  }
  const StatusError status(code, reason.empty() ? usual_reason(code) : reason, message, std::move(details));
  response.body = status.body().dump();
  return response;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
