// SPDX-License-Identifier: Apache-2.0
#include "webhook/webhook_meter.hpp"

#include <algorithm>
#include <chrono>

namespace evenkeel {
inline namespace v0 {
namespace detail {

void WebhookMeter::add(const std::string& path) {
  MutexLock lock(mutex_);
  series_.try_emplace(path);
}

void WebhookMeter::began(const std::string& path) {
  MutexLock lock(mutex_);
  ++series_[path].in_flight;
}

void WebhookMeter::ended(const std::string& path, int code, Duration took) {
  const double seconds = std::chrono::duration<double>(took).count();
  const auto bucket = std::lower_bound(bounds.begin(), bounds.end(), seconds) - bounds.begin();
  MutexLock lock(mutex_);
  Series& series = series_[path];
  --series.in_flight;
  ++series.codes[code];
  ++series.counts[static_cast<std::size_t>(bucket)];
  series.seconds += seconds;
}

void WebhookMeter::refused(const std::string& path) {
  MutexLock lock(mutex_);
  ++series_[path].codes[503];
}

void WebhookMeter::threw(WebhookKind kind) {
  MutexLock lock(mutex_);
  ++(kind == WebhookKind::admission ? admission_panics_ : conversion_panics_);
}

void WebhookMeter::collect(MetricSink& sink) const {
  std::map<std::string, Series> all;
  std::uint64_t admission = 0;
  std::uint64_t conversion = 0;
  {
    MutexLock lock(mutex_);
    all = series_;
    admission = admission_panics_;
    conversion = conversion_panics_;
  }
  for (const auto& [path, series] : all) {
    sink.histogram("controller_runtime_webhook_latency_seconds", "Time that a webhook took to answer",
                   {{"webhook", path}},
                   {.bounds = bounds.data(),
                    .counts = series.counts.data(),
                    .size = bounds.size(),
                    .sum = series.seconds});
  }
  for (const auto& [path, series] : all) {
    for (const auto& [code, count] : series.codes) {
      sink.counter("controller_runtime_webhook_requests_total", "Requests to a webhook, by HTTP status",
                   {{"code", std::to_string(code)}, {"webhook", path}}, static_cast<double>(count));
    }
  }
  for (const auto& [path, series] : all) {
    sink.gauge("controller_runtime_webhook_requests_in_flight", "Requests that a webhook is answering",
               {{"webhook", path}}, static_cast<double>(series.in_flight));
  }
  sink.counter("controller_runtime_webhook_panics_total", "Exceptions of functions of admission webhooks", {},
               static_cast<double>(admission));
  sink.counter("controller_runtime_conversion_webhook_panics_total", "Exceptions of conversions", {},
               static_cast<double>(conversion));
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
