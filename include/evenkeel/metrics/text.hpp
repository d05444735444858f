// SPDX-License-Identifier: Apache-2.0
// Metrics as the text that Prometheus scrapes.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/metrics.hpp>

namespace evenkeel {
inline namespace v0 {

/// Gathers what it is given and writes it in Prometheus' text exposition format 0.0.4, families in the
/// order in which they came first. Make one per scrape: collect(*this) of everything, then str().
/// Thread safety: one thread at a time.
class EVENKEEL_API PrometheusText final : public MetricSink {
 public:
  /// What an HTTP answer with str() says of it.
  static constexpr std::string_view content_type = "text/plain; version=0.0.4; charset=utf-8";

  PrometheusText();
  ~PrometheusText() override;
  PrometheusText(const PrometheusText&) = delete;
  PrometheusText& operator=(const PrometheusText&) = delete;

  /// These throw std::invalid_argument if a name is not one by Prometheus' rules, if the family is known
  /// with another kind or help, or if the series was given already.
  void counter(std::string_view name, std::string_view help, MetricLabels labels, double value) override;
  void gauge(std::string_view name, std::string_view help, MetricLabels labels, double value) override;
  void histogram(std::string_view name, std::string_view help, MetricLabels labels,
                 const HistogramView& value) override;

  std::string str() const;

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace v0
}  // namespace evenkeel
