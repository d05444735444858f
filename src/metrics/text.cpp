// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <prometheus/check_names.h>
#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>
#include <prometheus/metric_type.h>
#include <prometheus/text_serializer.h>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/metrics/text.hpp>

namespace evenkeel {
inline namespace v0 {
namespace {

// Formats the labels as ": a=1,b=2".
std::string text_of(const prometheus::ClientMetric& metric) {
  std::string text;
  for (const auto& label : metric.label)
    text.append(text.empty() ? ": " : ",").append(label.name).append("=").append(label.value);
  return text;
}

}  // namespace

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

  void add(std::string_view name, std::string_view help, prometheus::MetricType type,
           prometheus::ClientMetric metric) {
    prometheus::MetricFamily& known = family(name, help, type);
    std::vector<std::pair<std::string, std::string>> key{{known.name, ""}};
    for (const auto& label : metric.label) key.emplace_back(label.name, label.value);
    std::sort(key.begin() + 1, key.end());
    if (!series.insert(std::move(key)).second) {
      throw std::invalid_argument("PrometheusText: a series of " + known.name + " is there twice" +
                                  text_of(metric));
    }
    known.metric.push_back(std::move(metric));
  }

  std::vector<prometheus::MetricFamily> all;
  std::map<std::string, std::size_t> by_name;
  std::set<std::vector<std::pair<std::string, std::string>>> series;
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
  families_->add(name, help, prometheus::MetricType::Counter, std::move(metric));
}

void PrometheusText::gauge(std::string_view name, std::string_view help, MetricLabels labels, double value) {
  prometheus::ClientMetric metric = labelled(labels);
  metric.gauge.value = value;
  families_->add(name, help, prometheus::MetricType::Gauge, std::move(metric));
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
  families_->add(name, help, prometheus::MetricType::Histogram, std::move(metric));
}

std::string PrometheusText::str() const {
  return prometheus::TextSerializer().Serialize(families_->all);
}

}  // namespace v0
}  // namespace evenkeel
