// SPDX-License-Identifier: Apache-2.0
// Metrics of a client's requests: their number, results, durations and sizes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/metrics.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/http/message.hpp>

namespace evenkeel {
inline namespace v0 {

/// Snapshot of the metrics of one server. `code` is the response's status, or "<error>" if there was none.
struct RequestMetrics {
  static constexpr std::array<double, 12> seconds{0.005, 0.025, 0.1, 0.25, 0.5,  1.0,
                                                  2.0,   4.0,   8.0, 15.0, 30.0, 60.0};
  static constexpr std::array<double, 11> sizes{64,    256,    512,     1024,    4096,    16384,
                                                65536, 262144, 1048576, 4194304, 16777216};
  template <std::size_t Bounds>
  struct Histogram {
    std::array<std::uint64_t, Bounds + 1> counts{};  ///< Per bucket; the last is above all bounds.
    double sum = 0;
  };
  struct Verb {
    Histogram<seconds.size()> duration = {};
    Histogram<sizes.size()> request_size = {};   ///< Body sizes in bytes.
    Histogram<sizes.size()> response_size = {};  ///< Body sizes in bytes.
  };
  using CodeAndMethod = std::pair<std::string, std::string>;

  std::string host = {};  ///< "10.0.0.1:6443"
  /// Counts every attempt, including watches and streamed lists.
  std::map<CodeAndMethod, std::uint64_t> requests = {};
  /// Counts retries, by the result of the previous attempt.
  std::map<CodeAndMethod, std::uint64_t> retries = {};
  /// Waits for the flow control, by method; only with one.
  std::map<std::string, Histogram<seconds.size()>> waits = {};
  std::map<std::string, Verb> verbs = {};  ///< By method; only responses read as a whole.

  /// Adds the metrics of another client of the same server.
  EVENKEEL_API RequestMetrics& operator+=(const RequestMetrics& other);
};

/// Writes `metrics` to `sink` under client-go's names (rest_client_requests_total and so on).
/// Source: controller-runtime pkg/metrics/client_go_adapter.go, where all but the first are off by default.
EVENKEEL_API void collect(const RequestMetrics& metrics, MetricSink& sink);

/// Counts requests; a client has one, which its copies share. Thread safety: all members may be called
/// concurrently.
class EVENKEEL_API RequestMeter {
 public:
  explicit RequestMeter(std::string host) { metrics_.host = std::move(host); }

  /// Records an attempt that got a response; `took` is the time from sending to the end of the body.
  void answered(http::Method method, int status, Duration took, std::size_t request_size,
                std::size_t response_size) EVENKEEL_EXCLUDES(mutex_);
  /// Records the response of a stream; `status` 0: there was none.
  void streamed(http::Method method, int status) EVENKEEL_EXCLUDES(mutex_);
  /// Records an attempt that got no response.
  void failed(http::Method method, Duration took) EVENKEEL_EXCLUDES(mutex_);
  /// Records that an attempt that ended with `status`, 0 for no response, is retried.
  void retried(http::Method method, int status) EVENKEEL_EXCLUDES(mutex_);

  /// Records the wait of an attempt for flow control, which may be zero.
  void waited(http::Method method, Duration wait) EVENKEEL_EXCLUDES(mutex_);

  RequestMetrics metrics() const EVENKEEL_EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  RequestMetrics metrics_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace v0
}  // namespace evenkeel
