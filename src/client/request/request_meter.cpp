// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <string_view>

#include <evenkeel/client/request_meter.hpp>

namespace evenkeel {
inline namespace v0 {
namespace {

template <std::size_t Size>
void observe(RequestMetrics::Histogram<Size>& histogram, const std::array<double, Size>& bounds,
             double value) {
  const auto at = std::lower_bound(bounds.begin(), bounds.end(), value);
  ++histogram.counts[static_cast<std::size_t>(at - bounds.begin())];
  histogram.sum += value;
}

template <std::size_t Size>
void add(RequestMetrics::Histogram<Size>& to, const RequestMetrics::Histogram<Size>& from) {
  for (std::size_t at = 0; at < to.counts.size(); ++at) to.counts[at] += from.counts[at];
  to.sum += from.sum;
}

template <std::size_t Size>
HistogramView view(const RequestMetrics::Histogram<Size>& histogram, const std::array<double, Size>& bounds) {
  return {bounds.data(), histogram.counts.data(), bounds.size(), histogram.sum};
}

// In client-go's form.
std::string code_text(int status) {
  return status == 0 ? "<error>" : std::to_string(status);
}

double in_seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

RequestMetrics& RequestMetrics::operator+=(const RequestMetrics& other) {
  for (const auto& [key, count] : other.requests) requests[key] += count;
  for (const auto& [key, count] : other.retries) retries[key] += count;
  for (const auto& [method, histogram] : other.waits) add(waits[method], histogram);
  for (const auto& [method, figures] : other.verbs) {
    Verb& mine = verbs[method];
    add(mine.duration, figures.duration);
    add(mine.request_size, figures.request_size);
    add(mine.response_size, figures.response_size);
  }
  return *this;
}

void collect(const RequestMetrics& metrics, MetricSink& sink) {
  const MetricLabel host{"host", metrics.host};
  for (const auto& [key, count] : metrics.requests) {
    sink.counter("rest_client_requests_total",
                 "Number of HTTP requests, partitioned by status code, method, and host.",
                 {{"code", key.first}, {"method", key.second}, host}, static_cast<double>(count));
  }
  for (const auto& [key, count] : metrics.retries) {
    sink.counter("rest_client_request_retries_total",
                 "Number of request retries, partitioned by status code, verb, and host.",
                 {{"code", key.first}, {"verb", key.second}, host}, static_cast<double>(count));
  }
  for (const auto& [method, histogram] : metrics.waits) {
    sink.histogram("rest_client_rate_limiter_duration_seconds",
                   "Client side rate limiter latency in seconds. Broken down by verb, and host.",
                   {{"verb", method}, host}, view(histogram, RequestMetrics::seconds));
  }
  for (const auto& [method, figures] : metrics.verbs) {
    const MetricLabel verb{"verb", method};
    sink.histogram("rest_client_request_duration_seconds",
                   "Request latency in seconds. Broken down by verb and host.", {verb, host},
                   view(figures.duration, RequestMetrics::seconds));
    sink.histogram("rest_client_request_size_bytes", "Request size in bytes. Broken down by verb and host.",
                   {verb, host}, view(figures.request_size, RequestMetrics::sizes));
    sink.histogram("rest_client_response_size_bytes", "Response size in bytes. Broken down by verb and host.",
                   {verb, host}, view(figures.response_size, RequestMetrics::sizes));
  }
}

void RequestMeter::answered(http::Method method, int status, Duration took, std::size_t request_size,
                            std::size_t response_size) {
  const std::string name(http::method_name(method));
  MutexLock lock(mutex_);
  ++metrics_.requests[{code_text(status), name}];
  RequestMetrics::Verb& verb = metrics_.verbs[name];
  observe(verb.duration, RequestMetrics::seconds, in_seconds(took));
  observe(verb.request_size, RequestMetrics::sizes, static_cast<double>(request_size));
  observe(verb.response_size, RequestMetrics::sizes, static_cast<double>(response_size));
}

void RequestMeter::streamed(http::Method method, int status) {
  MutexLock lock(mutex_);
  ++metrics_.requests[{code_text(status), std::string(http::method_name(method))}];
}

void RequestMeter::failed(http::Method method, Duration took) {
  const std::string name(http::method_name(method));
  MutexLock lock(mutex_);
  ++metrics_.requests[{code_text(0), name}];
  observe(metrics_.verbs[name].duration, RequestMetrics::seconds, in_seconds(took));
}

void RequestMeter::retried(http::Method method, int status) {
  MutexLock lock(mutex_);
  ++metrics_.retries[{code_text(status), std::string(http::method_name(method))}];
}

void RequestMeter::waited(http::Method method, Duration wait) {
  MutexLock lock(mutex_);
  observe(metrics_.waits[std::string(http::method_name(method))], RequestMetrics::seconds, in_seconds(wait));
}

RequestMetrics RequestMeter::metrics() const {
  MutexLock lock(mutex_);
  return metrics_;
}

}  // namespace v0
}  // namespace evenkeel
