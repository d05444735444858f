// SPDX-License-Identifier: Apache-2.0
#include "tracing/otlp_json.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include <evenkeel/api/json.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

constexpr std::size_t most_of_a_body = 200;  // in a problem's text

std::string nanoseconds(WallTime time) {
  return std::to_string(std::chrono::duration_cast<Duration>(time.time_since_epoch()).count());
}

// Numbers that JSON lacks have names in protobuf's JSON form.
Json double_value(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

Json any_value(const SpanValue& value) {
  return std::visit(
      [](const auto& held) {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::string>) return Json::object({{"stringValue", held}});
        if constexpr (std::is_same_v<Held, std::int64_t>)
          return Json::object({{"intValue", std::to_string(held)}});
        if constexpr (std::is_same_v<Held, double>)
          return Json::object({{"doubleValue", double_value(held)}});
        if constexpr (std::is_same_v<Held, bool>) return Json::object({{"boolValue", held}});
      },
      value);
}

Json key_values(const std::vector<SpanAttribute>& attributes) {
  Json::Array values;
  for (const SpanAttribute& one : attributes)
    values.push_back(Json::object({{"key", one.name}, {"value", any_value(one.value)}}));
  return values;
}

// "SPAN_KIND_INTERNAL" is 1.
int kind_number(SpanKind kind) {
  return static_cast<int>(kind) + 1;
}

Json links_of(const SpanRecord& span) {
  Json::Array links;
  for (const SpanLink& link : span.links) {
    Json one =
        Json::object({{"traceId", to_hex(link.context.trace_id)}, {"spanId", to_hex(link.context.span_id)}});
    if (!link.attributes.empty()) one.as_object()["attributes"] = key_values(link.attributes);
    links.push_back(std::move(one));
  }
  return links;
}

Json status_of(const SpanRecord& span) {
  Json status = Json::object();
  if (span.status != SpanStatus::unset) status.as_object()["code"] = static_cast<int>(span.status);
  if (!span.status_message.empty()) status.as_object()["message"] = span.status_message;
  return status;
}

Json span_json(const SpanRecord& span) {
  Json json = Json::object({{"traceId", to_hex(span.context.trace_id)},
                            {"spanId", to_hex(span.context.span_id)},
                            {"name", span.name},
                            {"kind", kind_number(span.kind)},
                            {"startTimeUnixNano", nanoseconds(span.start)},
                            {"endTimeUnixNano", nanoseconds(span.end)},
                            {"attributes", key_values(span.attributes)},
                            {"links", links_of(span)},
                            {"status", status_of(span)},
                            {"flags", span.context.sampled ? 1 : 0}});
  if (span.parent != SpanId{}) json.as_object()["parentSpanId"] = to_hex(span.parent);
  return json;
}

// Integers above 32 bits are strings in OTLP's JSON; collectors are lenient about the others.
std::uint64_t count_in(const Json& value) {
  if (value.is_integer()) return static_cast<std::uint64_t>(std::max<std::int64_t>(0, value.as_integer()));
  if (!value.is_string()) return 0;
  std::uint64_t count = 0;
  for (const char c : value.as_string()) {
    if (c < '0' || c > '9' || count > UINT64_MAX / 10 - 9) return 0;
    count = 10 * count + static_cast<std::uint64_t>(c - '0');
  }
  return count;
}

OtlpAnswer taken(const std::string& body) {
  OtlpAnswer answer;
  if (body.empty()) return answer;
  try {
    const Json document = Json::parse(body, "answer of the collector");
    const Json* const partial = document.is_object() ? document.as_object().find("partialSuccess") : nullptr;
    if (partial == nullptr || !partial->is_object()) return answer;
    if (const Json* const rejected = partial->as_object().find("rejectedSpans"))
      answer.outcome.rejected = count_in(*rejected);
    if (answer.outcome.rejected == 0) return answer;
    answer.problem = "the collector rejected " + std::to_string(answer.outcome.rejected) + " spans";
    if (const Json* const message = partial->as_object().find("errorMessage");
        message && message->is_string())
      answer.problem += ": " + message->as_string().substr(0, most_of_a_body);
  } catch (const DecodeError&) {  // what was taken was taken
  }
  return answer;
}

std::optional<Duration> retry_after(const http::Headers& headers) {
  const std::string* const text = headers.find("Retry-After");
  if (text == nullptr || text->empty() || text->size() > 6) return std::nullopt;
  std::int64_t seconds = 0;
  for (const char c : *text) {
    if (c < '0' || c > '9') return std::nullopt;
    seconds = 10 * seconds + (c - '0');
  }
  return std::chrono::seconds{seconds};
}

// A Collector answers with a Status, {"code":14,"message":"..."}; a proxy before it with any text.
std::string reason_in(const std::string& body) {
  try {
    const Json status = Json::parse(body, "answer of the collector");
    if (const Json* const message = status.find("message"); message != nullptr && message->is_string())
      return message->as_string().substr(0, most_of_a_body);
  } catch (const DecodeError&) {  // not JSON
  }
  return body.substr(0, most_of_a_body);
}

bool may_be_retried(int status) {
  return status == 429 || status == 502 || status == 503 || status == 504;
}

}  // namespace

std::string otlp_json(const std::vector<SpanAttribute>& resource, const std::vector<SpanRecord>& spans) {
  Json::Array list;
  for (const SpanRecord& span : spans) list.push_back(span_json(span));
  const Json scope =
      Json::object({{"scope", Json::object({{"name", "evenkeel"}})}, {"spans", std::move(list)}});
  const Json of_resource = Json::object({{"resource", Json::object({{"attributes", key_values(resource)}})},
                                         {"scopeSpans", Json::array({scope})}});
  return Json::object({{"resourceSpans", Json::array({of_resource})}}).dump();
}

OtlpAnswer read_otlp_answer(const http::Response& response) {
  if (response.status >= 200 && response.status < 300) return taken(response.body);
  OtlpAnswer answer;
  const bool again = may_be_retried(response.status);
  answer.outcome.kind = again ? ExportOutcome::Kind::retry : ExportOutcome::Kind::refused;
  if (again) answer.outcome.retry_after = retry_after(response.headers);
  answer.problem =
      "the collector answered " + std::to_string(response.status) + ": " + reason_in(response.body);
  return answer;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
