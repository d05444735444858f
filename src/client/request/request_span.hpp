// SPDX-License-Identifier: Apache-2.0
// The span of one request with its retries.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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

  const SpanContext& context() const noexcept { return span_.context(); }
  /// Passes the span on to the server, which may record what it does, in the header traceparent.
  void on_sending(http::Request& wire);
  void on_status(int status);
  /// Marks the call as failed; a later attempt that succeeds clears it. `type` is of low cardinality.
  void on_error(std::string_view type, std::string_view message);
  void end() noexcept { span_.end(); }

 private:
  Span span_;
  std::int64_t attempts_ = 0;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
