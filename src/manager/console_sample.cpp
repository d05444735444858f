// SPDX-License-Identifier: Apache-2.0
#include "manager/console_sample.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/base/metrics.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

constexpr std::size_t most_labels = 32;

// Picks the members of a sample out of a controller's metrics.
class SampleSink final : public MetricSink {
 public:
  explicit SampleSink(ControllerSample& sample) : sample_(sample) {}

  void counter(std::string_view name, std::string_view, MetricLabels, double value) override {
    if (name == "controller_runtime_reconcile_total") sample_.reconciles += value;
    if (name == "controller_runtime_reconcile_errors_total") sample_.errors += value;
    if (name == "workqueue_retries_total") sample_.retries += value;
  }
  void gauge(std::string_view name, std::string_view, MetricLabels labels, double value) override {
    if (name == "workqueue_depth") {
      sample_.depth += value;
      add(sample_.priorities, labels, "priority", value);
    }
    if (name == "workqueue_lane_depth") add(sample_.lanes, labels, "lane", value);
    if (name == "controller_runtime_max_concurrent_reconciles") sample_.workers = value;
    if (name == "controller_runtime_active_workers") sample_.busy = value;
    if (name == "evenkeel_controller_stuck_reconciles") sample_.stuck = value;
  }
  void histogram(std::string_view name, std::string_view, MetricLabels, const HistogramView& value) override {
    if (name == "controller_runtime_reconcile_time_seconds") sample_.run_seconds = value.sum;
  }

 private:
  static void add(std::vector<std::pair<std::string, double>>& to, MetricLabels labels, std::string_view name,
                  double value) {
    for (const MetricLabel& label : labels) {
      if (label.name == name && to.size() < most_labels) to.emplace_back(label.value, value);
    }
  }

  ControllerSample& sample_;
};

}  // namespace

ControllerSample sample_of(const Controller& controller) {
  ControllerSample sample{.controller = controller.name()};
  SampleSink sink(sample);
  controller.collect(sink);
  sample.latency = controller.latency();
  return sample;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
