// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <prometheus/check_names.h>
#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>
#include <prometheus/metric_type.h>
#include <prometheus/text_serializer.h>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/metrics/text.hpp>

namespace evenkeel::inline v0 {

struct PrometheusText::Families {
  prometheus::MetricFamily& family(std::string_view name, std::string_view help,
                                   prometheus::MetricType type) {
    std::string key(name);
    if (const auto known = by_name.find(key); known != by_name.end()) {
      prometheus::MetricFamily& family = all[known->second];
      if (family.type != type || family.help != help) {
        throw std::invalid_argument("PrometheusText: " + key + " is known with another kind or help");
      }
      return family;
    }
    if (!prometheus::CheckMetricName(key)) {
      throw std::invalid_argument("PrometheusText: not a metric's name: \"" + key + '"');
    }
    by_name.emplace(key, all.size());
    return all.emplace_back(prometheus::MetricFamily{std::move(key), std::string(help), type, {}});
  }

  std::vector<prometheus::MetricFamily> all;
  std::map<std::string, std::size_t> by_name;
};

namespace {

prometheus::ClientMetric labelled(MetricLabels labels) {
  prometheus::ClientMetric metric;
  metric.label.reserve(labels.size());
  for (const MetricLabel& label : labels) {
    std::string name(label.name);
    if (!prometheus::CheckLabelName(name)) {
      throw std::invalid_argument("PrometheusText: not a label's name: \"" + name + '"');
    }
    metric.label.push_back({std::move(name), std::string(label.value)});
  }
  return metric;
}

}  // namespace

PrometheusText::PrometheusText() : families_(std::make_unique<Families>()) {}
PrometheusText::~PrometheusText() = default;

void PrometheusText::counter(std::string_view name, std::string_view help, MetricLabels labels,
                             double value) {
  prometheus::ClientMetric metric = labelled(labels);
  metric.counter.value = value;
  families_->family(name, help, prometheus::MetricType::Counter).metric.push_back(std::move(metric));
}

void PrometheusText::gauge(std::string_view name, std::string_view help, MetricLabels labels, double value) {
  prometheus::ClientMetric metric = labelled(labels);
  metric.gauge.value = value;
  families_->family(name, help, prometheus::MetricType::Gauge).metric.push_back(std::move(metric));
}

void PrometheusText::histogram(std::string_view name, std::string_view help, MetricLabels labels,
                               const HistogramView& value) {
  prometheus::ClientMetric metric = labelled(labels);
  std::uint64_t so_far = 0;
  for (std::size_t i = 0; i <= value.size; ++i) {
    so_far += value.counts[i];
    const double bound = i < value.size ? value.bounds[i] : std::numeric_limits<double>::infinity();
    metric.histogram.bucket.push_back({so_far, bound});
  }
  metric.histogram.sample_count = so_far;
  metric.histogram.sample_sum = value.sum;
  families_->family(name, help, prometheus::MetricType::Histogram).metric.push_back(std::move(metric));
}

std::string PrometheusText::str() const {
  return prometheus::TextSerializer().Serialize(families_->all);
}

}  // namespace evenkeel::inline v0
