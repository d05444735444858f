// SPDX-License-Identifier: Apache-2.0
// Export of spans to an OpenTelemetry collector.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/log.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/base/trace.hpp>
#include <evenkeel/http/message.hpp>
#include <evenkeel/http/tls.hpp>

namespace evenkeel {
inline namespace v0 {

class MetricSink;
namespace http {
class Transport;
}

/// Defaults are those of OpenTelemetry's batch processor and OTLP exporter, unless stated.
struct OtlpOptions {
  /// URL to which spans are posted.
  std::string endpoint = "http://localhost:4318/v1/traces";
  std::string service_name = "evenkeel";     ///< Attribute service.name of all spans.
  std::string service_version = {};          ///< Attribute service.version; empty: none.
  std::vector<SpanAttribute> resource = {};  ///< Further attributes of the process: "k8s.pod.name".
  http::Headers headers = {};                ///< Added to each request, for example a token.
  http::TlsOptions tls = {};
  std::size_t max_queue = 2048;                       ///< Spans that wait; further ones are dropped.
  std::size_t max_batch = 512;                        ///< Spans of a request; at most `max_queue`.
  Duration schedule_delay = std::chrono::seconds{5};  ///< Longest wait of a span for a full batch.
  Duration timeout = std::chrono::seconds{10};        ///< Timeout of a request.
  Duration first_retry = std::chrono::seconds{1};     ///< Doubled for each further attempt ...
  Duration max_retry = std::chrono::seconds{30};      ///< ... up to this.
  Duration give_up_after = std::chrono::minutes{5};   ///< Age of a batch that is dropped.
  Duration drain_timeout = std::chrono::seconds{2};   ///< Time limit of the destructor's flush.
  std::shared_ptr<const Clock> clock = real_clock();
  Log log = {};
  std::shared_ptr<http::Transport> transport = {};  ///< Null: libcurl.
};

struct OtlpCounts {
  std::uint64_t exported = 0;  ///< Spans that the collector took.
  std::uint64_t dropped = 0;   ///< Spans that did not fit, or that the collector rejected or never took.
};

/// Sends spans in batches with OTLP over HTTP, encoded as JSON. A collector that is away is tried again with
/// back-off; 429, 502, 503 and 504 are retried, after Retry-After if the answer has it. Each cause of loss is
/// logged once until an export succeeds.
/// Thread safety: all members may be called concurrently.
/// Lifetime: one thread; the destructor flushes for at most `drain_timeout` and joins it.
/// Source: OpenTelemetry Protocol 1.x, "OTLP/HTTP"; SDK specification, "Batching processor".
class EVENKEEL_API OtlpExporter final : public SpanExporter {
 public:
  /// Throws std::invalid_argument for an endpoint that is not an http or https URL with a host, or for
  /// options out of range.
  explicit OtlpExporter(OtlpOptions options = {});
  ~OtlpExporter() override;
  OtlpExporter(const OtlpExporter&) = delete;
  OtlpExporter& operator=(const OtlpExporter&) = delete;

  void on_end(SpanRecord span) noexcept override;
  /// Sends all spans without waiting for full batches. Returns true if all had been sent or dropped within
  /// `limit`.
  bool flush(Duration limit);
  OtlpCounts counts() const;
  /// Writes evenkeel_trace_spans_total{result="exported"|"dropped"}.
  void collect(MetricSink& sink) const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace v0
}  // namespace evenkeel
