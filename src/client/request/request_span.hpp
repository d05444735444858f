// SPDX-License-Identifier: Apache-2.0
// The span of one request with its retries.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <evenkeel/base/trace.hpp>
#include <evenkeel/client/rest_request.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Records a span of kind client: "patch demos/status". Does nothing without a tracer.
/// Thread safety: one thread at a time.
/// Source of the names: OpenTelemetry's semantic conventions for HTTP clients and for Kubernetes.
class RequestSpan {
 public:
  RequestSpan(const std::shared_ptr<Tracer>& tracer, const RestRequest& request,
              const std::optional<SpanContext>& parent);
  ~RequestSpan() { end(); }
  RequestSpan(const RequestSpan&) = delete;
  RequestSpan& operator=(const RequestSpan&) = delete;

  const SpanContext& context() const noexcept { return span_.context(); }
  /// Passes the span on to the server, which may record what it does, in the header traceparent.
  void on_sending(http::Request& wire);
  void on_status(int status) noexcept { status_ = status; }
  /// Marks the attempt as failed. `type` is of low cardinality.
  void on_error(std::string_view type, std::string_view message);
  /// Ends the span, with the outcome of the last attempt. Idempotent.
  void end() noexcept;

 private:
  struct Failure {
    std::string type;
    std::string message;
  };

  void add_outcome();

  Span span_;
  std::int64_t attempts_ = 0;
  int status_ = 0;  // of the last attempt; 0: it had no answer
  std::optional<Failure> failure_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
