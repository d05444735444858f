// SPDX-License-Identifier: Apache-2.0
// What a client's requests amount to: how many, how they ended, how long they took and how large they were.
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

/// The figures of one server at one moment. `code` is an answer's status, or "<error>" where none came.
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
    Histogram<sizes.size()> request_size = {};   ///< Of bodies, in bytes.
    Histogram<sizes.size()> response_size = {};  ///< Likewise.
  };
  using CodeAndMethod = std::pair<std::string, std::string>;

  std::string host = {};  ///< "10.0.0.1:6443"
  std::map<CodeAndMethod, std::uint64_t> requests =
      {};  ///< Each try counts; watches and streamed lists, too.
  std::map<CodeAndMethod, std::uint64_t> retries =
      {};                                  ///< What was tried again, by how the try before ended.
  std::map<std::string, Verb> verbs = {};  ///< By method; of collected answers.

  /// Adds the figures of another client of the same server.
  EVENKEEL_API RequestMetrics& operator+=(const RequestMetrics& other);
};

/// Gives `metrics` to `sink` under client-go's names (rest_client_requests_total and so on).
/// Source: controller-runtime pkg/metrics/client_go_adapter.go, where all but the first are off by default.
EVENKEEL_API void collect(const RequestMetrics& metrics, MetricSink& sink);

/// Counts; a client has one, which its copies share. Thread safety: all members may be called concurrently.
class EVENKEEL_API RequestMeter {
 public:
  explicit RequestMeter(std::string host) { metrics_.host = std::move(host); }

  /// A try ended with an answer; `took` from sending it to the end of its body.
  void answered(http::Method method, int status, Duration took, std::size_t request_size,
                std::size_t response_size) EVENKEEL_EXCLUDES(mutex_);
  /// A stream was answered, or not: `status` 0.
  void streamed(http::Method method, int status) EVENKEEL_EXCLUDES(mutex_);
  /// A try ended without an answer.
  void failed(http::Method method, Duration took) EVENKEEL_EXCLUDES(mutex_);
  /// What ended with `status`, 0 for no answer, is tried again.
  void retried(http::Method method, int status) EVENKEEL_EXCLUDES(mutex_);

  RequestMetrics metrics() const EVENKEEL_EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  RequestMetrics metrics_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace v0
}  // namespace evenkeel
