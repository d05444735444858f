// SPDX-License-Identifier: Apache-2.0
// Spans as the JSON form of OTLP's ExportTraceServiceRequest, and the collector's answers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/base/trace.hpp>
#include <evenkeel/http/message.hpp>

#include "tracing/export_core.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Returns the body of a request. Source: opentelemetry-proto, trace/v1/trace.proto; OTLP specification,
/// "JSON Protobuf Encoding": ids are hexadecimal, 64-bit integers are strings.
std::string otlp_json(const std::vector<SpanAttribute>& resource, const std::vector<SpanRecord>& spans);

struct OtlpAnswer {
  ExportOutcome outcome = {};
  std::string problem = {};  ///< Empty if all spans were taken.
};
/// Interprets the answer to a request.
OtlpAnswer read_otlp_answer(const http::Response& response);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
