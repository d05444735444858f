// SPDX-License-Identifier: Apache-2.0
// Prometheus text exposition format.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/metrics.hpp>

namespace evenkeel {
inline namespace v0 {

/// Collects series and formats them in Prometheus' text exposition format 0.0.4, with families in the order
/// of their first appearance. Bytes that are not UTF-8 become U+FFFD in values of labels and helps. Make one
/// per scrape: collect into it, then call str(). Thread safety: one thread at a time.
class EVENKEEL_API PrometheusText final : public MetricSink {
 public:
  /// Content type of a response with str().
  static constexpr std::string_view content_type = "text/plain; version=0.0.4; charset=utf-8";

  PrometheusText();
  ~PrometheusText() override;
  PrometheusText(const PrometheusText&) = delete;
  PrometheusText& operator=(const PrometheusText&) = delete;

  /// These throw std::invalid_argument if a name is invalid in Prometheus, if the family already has another
  /// type or help, or if the series was already written.
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
