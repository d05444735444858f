// SPDX-License-Identifier: Apache-2.0
#include "apiserver/query/list_options.hpp"

#include <array>
#include <charconv>
#include <string_view>
#include <type_traits>

#include <evenkeel/api/json.hpp>

#include "apiserver/schema/status_error.hpp"
#include "apiserver/text/json_problem.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

constexpr std::string_view base64_letters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string base64(std::string_view bytes) {
  std::string out;
  unsigned bits = 0;
  unsigned value = 0;
  for (const char c : bytes) {
    value = (value << 8) | static_cast<unsigned char>(c);
    for (bits += 8; bits >= 6; bits -= 6) out += base64_letters[(value >> (bits - 6)) & 63];
  }
  if (bits > 0) out += base64_letters[(value << (6 - bits)) & 63];
  return out;
}

/// Returns the error of Go's strconv for text that is not a number of this type.
template <class Number>
std::string number_problem(std::string_view function, std::string_view text) {
  const std::string_view digits = text.substr(std::is_signed_v<Number> && text.starts_with('-') ? 1 : 0);
  const bool numeric = !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
  return "strconv." + std::string(function) + ": parsing " + Json(text).dump() +
         (numeric ? ": value out of range" : ": invalid syntax");
}

[[noreturn]] void refuse_continue(const std::string& problem) {
  throw StatusError::bad_request("invalid continue token: " + problem);
}

std::string unbase64(std::string_view text) {
  std::string out;
  unsigned bits = 0;
  unsigned value = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto letter = base64_letters.find(text[i]);
    if (letter == std::string_view::npos || (i + 1 == text.size() && text.size() % 4 == 1))
      refuse_continue("continue key is not valid: illegal base64 data at input byte " + std::to_string(i));
    value = (value << 6) | static_cast<unsigned>(letter);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    out += static_cast<char>((value >> bits) & 255);
  }
  return out;
}

/// Returns true if a path has no empty, "." or ".." segments, which could escape from its prefix.
bool is_clean(std::string_view path) {
  if (path.starts_with('/')) path.remove_prefix(1);
  while (true) {
    const auto slash = path.find('/');
    const std::string_view segment = path.substr(0, slash);
    if (segment.empty() || segment == "." || segment == "..") return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

Continuation decode_continue(std::string_view text) {
  const std::string bytes = unbase64(text);
  if (!json_problem(bytes).empty()) refuse_continue("continue key is not valid: not a token of this server");
  const Json token = Json::parse(bytes);
  if (token["v"].string_or("") != "meta.k8s.io/v1")
    refuse_continue("continue key is not valid: server does not recognize this encoded version " +
                    token["v"].string_or(""));
  const std::int64_t version = token["rv"].integer_or(-1);
  const std::string start = token["start"].string_or("");
  if (version == 0)
    refuse_continue(
        "continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
  if (start.empty())
    refuse_continue("continue key is not valid: encoded start key empty (version meta.k8s.io/v1)");
  if (!is_clean(start)) refuse_continue("continue key is not valid: " + start);
  return {version < 0 ? 0 : static_cast<std::uint64_t>(version), start};
}

[[noreturn]] void refuse(const FieldErrors& errors) {
  throw StatusError::invalid({"meta.k8s.io", "ListOptions"}, "", errors);
}

std::string version_problem(std::string_view text) {
  return "resourceVersion: Invalid value: " + Json(text).dump() + ": " +
         number_problem<std::uint64_t>("ParseUint", text);
}

FieldErrors check_list(const Query& query, std::string_view match) {
  FieldErrors errors;
  const std::string_view version = query.get("resourceVersion");
  if (!match.empty()) {
    if (version.empty())
      errors.push_back(field_forbidden(
          "resourceVersionMatch", "resourceVersionMatch is forbidden unless resourceVersion is provided"));
    if (!query.get("continue").empty())
      errors.push_back(field_forbidden("resourceVersionMatch",
                                       "resourceVersionMatch is forbidden when continue is provided"));
    if (match != "Exact" && match != "NotOlderThan")
      errors.push_back(field_not_supported("resourceVersionMatch", match,
                                           {Json("Exact"), Json("NotOlderThan"), Json("")}));
    if (match == "Exact" && version == "0")
      errors.push_back(field_forbidden(
          "resourceVersionMatch", "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\""));
  }
  if (query.has("sendInitialEvents"))
    errors.push_back(field_forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  return errors;
}

FieldErrors check_watch(const Query& query, std::string_view match) {
  FieldErrors errors;
  const bool initial = query.has("sendInitialEvents");
  if (initial && match != "NotOlderThan")
    errors.push_back(field_forbidden(
        "resourceVersionMatch", "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
  if (match.empty()) return errors;
  if (!initial)
    errors.push_back(
        field_forbidden("resourceVersionMatch",
                        "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"));
  if (match != "NotOlderThan")
    errors.push_back(field_not_supported("resourceVersionMatch", match, {Json("NotOlderThan")}));
  if (!query.get("continue").empty())
    errors.push_back(field_forbidden("resourceVersionMatch",
                                     "resourceVersionMatch is forbidden when continue is provided"));
  return errors;
}

}  // namespace

std::int64_t query_integer(const Query& query, std::string_view name) {
  if (!query.has(name)) return 0;
  const auto value = number<std::int64_t>(query.get(name));
  if (!value) throw StatusError::bad_request(number_problem<std::int64_t>("ParseInt", query.get(name)));
  return *value;
}

std::string encode_continue(const Continuation& next) {
  const std::int64_t version = next.version == 0 ? -1 : static_cast<std::int64_t>(next.version);
  return base64(Json::object({{"v", "meta.k8s.io/v1"}, {"rv", version}, {"start", next.start}}).dump());
}

ListOptions list_options(const Query& query) {
  const std::string_view match = query.get("resourceVersionMatch");
  query_integer(query, "timeoutSeconds");
  const std::int64_t limit = query_integer(query, "limit");
  if (const FieldErrors errors = check_list(query, match); !errors.empty()) refuse(errors);
  ListOptions out;
  const std::string_view version = query.get("resourceVersion");
  const std::string_view token = query.get("continue");
  if (!token.empty() && !version.empty() && version != "0")
    throw StatusError::bad_request("specifying resource version is not allowed when using continue");
  if (!token.empty()) out.next = decode_continue(token);
  if (!version.empty()) {
    const auto parsed = number<std::uint64_t>(version);
    if (!parsed) throw StatusError::bad_request("invalid resource version: " + version_problem(version));
    out.version = *parsed;
    out.cached = match != "Exact";
  }
  // A page of any cached version is not limited; one of a given version without match is of exactly that
  // version.
  if (limit > 0 && version != "0") out.limit = static_cast<std::size_t>(limit);
  out.exact = match == "Exact" || (out.limit > 0 && out.version > 0 && match.empty());
  return out;
}

std::uint64_t object_version(const Query& query) {
  const std::string_view version = query.get("resourceVersion");
  const auto parsed = version.empty() ? 0 : number<std::uint64_t>(version);
  if (!parsed) throw StatusError::internal(version_problem(version));
  return *parsed;
}

WatchOptions watch_options(const Query& query) {
  const std::int64_t seconds = query_integer(query, "timeoutSeconds");
  query_integer(query, "limit");
  if (const FieldErrors errors = check_watch(query, query.get("resourceVersionMatch")); !errors.empty())
    refuse(errors);
  WatchOptions out;
  const std::string_view version = query.get("resourceVersion");
  if (!version.empty()) {
    const auto parsed = number<std::uint64_t>(version);
    if (!parsed) throw StatusError::internal(version_problem(version));
    out.version = *parsed;
    out.version_given = true;
  }
  if (query.has("sendInitialEvents")) out.send_initial_events = query.flag("sendInitialEvents");
  out.bookmarks = query.flag("allowWatchBookmarks");
  if (seconds > 0) out.timeout_seconds = seconds;
  return out;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
