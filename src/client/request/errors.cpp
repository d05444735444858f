// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <limits>

#include <evenkeel/api/json.hpp>
#include <evenkeel/client/errors.hpp>

#include "base/limits.hpp"
#include "base/shown_text.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

constexpr std::size_t longest_text = 2048;  // limit for a body that is not a Status

/// Returns the reason that the server uses for a code, for responses without one.
std::string_view reason_of(int code) {
  switch (code) {
    case 400:
      return "BadRequest";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "NotFound";
    case 405:
      return "MethodNotAllowed";
    case 406:
      return "NotAcceptable";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 413:
      return "RequestEntityTooLarge";
    case 415:
      return "UnsupportedMediaType";
    case 422:
      return "Invalid";
    case 429:
      return "TooManyRequests";
    case 500:
      return "InternalError";
    case 503:
      return "ServiceUnavailable";
    case 504:
      return "Timeout";
    default:
      return "Unknown";
  }
}

/// Returns one readable line: control characters become spaces, runs of spaces become one.
std::string one_line(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, longest_text)) {
    const bool blank = static_cast<unsigned char>(c) <= ' ';
    if (!blank) {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

/// Returns a body that is not a Status as one line. What may be an object, or a piece of one, is not shown,
/// because it may be a Secret: only what it calls its message or its error.
std::string shown_body(std::string_view body) {
  const std::size_t first = body.find_first_not_of(" \t\r\n");
  const bool may_be_object =
      first != std::string_view::npos &&
      (body[first] == '{' || body[first] == '[' || body[first] == '"' ||
       body.find("\":") != std::string_view::npos || body.find("Secret") != std::string_view::npos);
  if (!may_be_object) return one_line(body);
  try {
    const Json document = Json::parse(body);
    const bool is_api_object = !document["kind"].is_null() || !document["data"].is_null();
    for (const char* name : {"message", "error"}) {
      if (!is_api_object && document[name].is_string()) return one_line(document[name].as_string());
    }
  } catch (const DecodeError&) {  // not JSON, or not all of it
  }
  return std::to_string(body.size()) + " bytes that are not a Status";
}

/// Clamped before it becomes a Duration, which can represent 292 years.
Duration clamped(std::int64_t seconds) {
  constexpr auto most = std::chrono::duration_cast<std::chrono::seconds>(limits::retry_after).count();
  return std::chrono::seconds{std::min<std::int64_t>(seconds, most)};
}

/// Parses the seconds of a Retry-After header; nullopt for a date, which client-go does not parse either, and
/// for anything else that is not a number. Numbers that overflow count as the maximum.
std::optional<Duration> retry_after_of(std::string_view text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  std::int64_t seconds = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (end.ec != std::errc()) seconds = std::numeric_limits<std::int64_t>::max();
  return clamped(seconds);
}

/// Returns the code of a Status; 0 if it is not a valid code.
int code_of(const Json& code) {
  const std::int64_t number = code.integer_or(0);
  return number > 0 && number < 1000 ? static_cast<int>(number) : 0;
}

void take_details(Status& status, const Json& details) {
  status.kind = details["kind"].string_or("");
  status.name = details["name"].string_or("");
  if (const std::int64_t seconds = details["retryAfterSeconds"].integer_or(0); seconds > 0)
    status.retry_after = clamped(seconds);
  if (!details["causes"].is_array()) return;
  for (const Json& cause : details["causes"].as_array()) {
    status.causes.push_back({.reason = cause["reason"].string_or(""),
                             .message = cause["message"].string_or(""),
                             .field = cause["field"].string_or("")});
  }
}

/// Returns true if the object is a Status. Some servers omit the kind in an ERROR event of a watch, whose
/// code stands nowhere else.
bool is_status(const Json& object, bool in_event) {
  if (object["kind"].string_or("") == "Status") return true;
  if (!in_event) return false;
  const bool has_reason = object["kind"].is_null() && !object["reason"].string_or("").empty();
  return code_of(object["code"]) != 0 || has_reason;
}

bool take_status(Status& status, std::string_view body) {
  if (body.find('{') == std::string_view::npos) return false;
  try {
    const Json document = Json::parse(body);
    if (!is_status(document, status.code == 0)) return false;
    status.reason = document["reason"].string_or("");
    status.message = document["message"].string_or("");
    if (status.code == 0) status.code = code_of(document["code"]);
    take_details(status, document["details"]);
    return true;
  } catch (const DecodeError&) {
    return false;
  }
}

std::string text_of(const std::string& call, const Status& status) {
  std::string text = call + ": " + std::to_string(status.code) + " " +
                     detail::bounded_text(status.reason, limits::status_bytes);
  if (!status.message.empty()) text += ": " + detail::bounded_text(status.message, limits::status_bytes);
  return text;
}

}  // namespace

Status Status::decode(int code, std::string_view body) {
  Status status{.code = code};
  if (!take_status(status, body)) status.message = shown_body(body);
  if (status.reason.empty()) status.reason = reason_of(status.code);
  return status;
}

Status Status::decode(const http::Response& response) {
  Status status = decode(response.status, response.body);
  if (const std::string* header = response.headers.find("Retry-After")) {
    if (const auto delay = retry_after_of(*header)) status.retry_after = delay;
  }
  return status;
}

ApiError::ApiError(std::string call, Status status)
    : Error(text_of(call, status)), status_(std::move(status)) {}

bool ApiError::is_about_another_object() const noexcept {
  return code() == 422 && std::any_of(status_.causes.begin(), status_.causes.end(),
                                      [](const StatusCause& cause) { return cause.field == "metadata.uid"; });
}

}  // namespace v0
}  // namespace evenkeel
