// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <evenkeel/base/error.hpp>
#include <evenkeel/metrics/registry.hpp>

#include "metrics/names.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

enum class Kind : std::uint8_t { counter, gauge, histogram };

[[noreturn]] void refuse(const std::string& why) {
  throw std::invalid_argument("MetricRegistry: " + why);
}

// Prefixes of the metrics that Manager::collect() exports itself.
constexpr std::array<std::string_view, 6> taken_prefixes{
    "controller_runtime_", "evenkeel_", "leader_election_", "process_", "rest_client_", "workqueue_"};

void check_name(const std::string& name) {
  if (!detail::is_metric_name(name)) refuse("not a metric's name: \"" + name + '"');
  for (const std::string_view prefix : taken_prefixes) {
    if (name.starts_with(prefix)) refuse(name + ": the manager's own begin with " + std::string(prefix));
  }
}

void check_labels(const std::string& name, const std::vector<std::string>& labels, Kind kind) {
  std::set<std::string_view> seen;
  for (const std::string& label : labels) {
    if (!detail::is_label_name(label)) refuse(name + ": not a label's name: \"" + label + '"');
    if (kind == Kind::histogram && label == "le") refuse(name + ": histograms have a label le already");
    if (!seen.insert(label).second) refuse(name + ": the label " + label + " is there twice");
  }
}

void check_bounds(const std::string& name, const std::vector<double>& bounds) {
  if (bounds.empty()) refuse(name + ": a histogram needs bounds");
  for (std::size_t at = 0; at < bounds.size(); ++at) {
    const bool ascends = at == 0 || bounds[at - 1] < bounds[at];
    if (!std::isfinite(bounds[at]) || !ascends) refuse(name + ": bounds must be numbers that ascend");
  }
}

}  // namespace

namespace detail {

/// The series of one metric.
class MetricFamily {
 public:
  using Kind = v0::Kind;
  struct Series {
    double value = 0;  // for a histogram: the sum
    std::vector<std::uint64_t> counts = {};
  };

  MetricFamily(Kind kind, std::string name, std::string help, std::vector<std::string> labels,
               std::vector<double> bounds)
      : kind_(kind),
        name_(std::move(name)),
        help_(std::move(help)),
        labels_(std::move(labels)),
        bounds_(std::move(bounds)) {
    if (labels_.empty()) series_.emplace(Values(), fresh());
  }

  const std::string& name() const noexcept { return name_; }

  template <class Change>
  void change(MetricLabels labels, Change change) EVENKEEL_EXCLUDES(mutex_) {
    Values values = values_of(labels);
    MutexLock lock(mutex_);
    change(series_.try_emplace(std::move(values), fresh()).first->second);
  }
  void add(double by, MetricLabels labels) {
    change(labels, [&](Series& series) { series.value += by; });
  }
  void observe(double value, MetricLabels labels) {
    const auto bucket = std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
    change(labels, [&](Series& series) {
      ++series.counts[static_cast<std::size_t>(bucket)];
      series.value += value;
    });
  }
  void remove(MetricLabels labels) EVENKEEL_EXCLUDES(mutex_) {
    const Values values = values_of(labels);
    MutexLock lock(mutex_);
    series_.erase(values);
  }

  void collect(MetricSink& sink) const EVENKEEL_EXCLUDES(mutex_) {
    std::map<Values, Series> all;
    {
      MutexLock lock(mutex_);
      all = series_;
    }
    for (const auto& [values, series] : all) give(values, series, sink);
  }

 private:
  using Values = std::vector<std::string>;

  Series fresh() const {
    return {.counts = std::vector<std::uint64_t>(kind_ == Kind::histogram ? bounds_.size() + 1 : 0)};
  }

  Values values_of(MetricLabels labels) const {
    Values values;
    for (const std::string& name : labels_) {
      const auto* found = std::find_if(labels.begin(), labels.end(),
                                       [&](const MetricLabel& label) { return label.name == name; });
      if (found == labels.end()) refuse(name_ + ": the label " + name + " is missing");
      values.emplace_back(found->value);
    }
    if (labels.size() != labels_.size()) refuse(name_ + ": there are more labels than were registered");
    return values;
  }

  void give(const Values& values, const Series& series, MetricSink& sink) const {
    std::vector<MetricLabel> labels;
    for (std::size_t at = 0; at < values.size(); ++at) labels.push_back({labels_[at], values[at]});
    const MetricLabels view(labels.data(), labels.size());
    if (kind_ == Kind::counter) sink.counter(name_, help_, view, series.value);
    if (kind_ == Kind::gauge) sink.gauge(name_, help_, view, series.value);
    if (kind_ != Kind::histogram) return;
    sink.histogram(name_, help_, view,
                   {.bounds = bounds_.data(),
                    .counts = series.counts.data(),
                    .size = bounds_.size(),
                    .sum = series.value});
  }

  const Kind kind_;
  const std::string name_;
  const std::string help_;
  const std::vector<std::string> labels_;
  const std::vector<double> bounds_;
  mutable Mutex mutex_;
  std::map<Values, Series> series_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace detail

namespace {

std::shared_ptr<detail::MetricFamily> make_family(Kind kind, std::string name, std::string help,
                                                  std::vector<std::string> labels,
                                                  std::vector<double> bounds = {}) {
  check_name(name);
  check_labels(name, labels, kind);
  if (kind == Kind::histogram) check_bounds(name, bounds);
  return std::make_shared<detail::MetricFamily>(kind, std::move(name), std::move(help), std::move(labels),
                                                std::move(bounds));
}

}  // namespace

void Counter::add(double by, MetricLabels labels) const {
  if (!(by >= 0)) refuse(family_->name() + ": a counter only grows");
  family_->add(by, labels);
}
void Counter::remove(MetricLabels labels) const {
  family_->remove(labels);
}

void Gauge::set(double value, MetricLabels labels) const {
  family_->change(labels, [value](detail::MetricFamily::Series& series) { series.value = value; });
}
void Gauge::add(double by, MetricLabels labels) const {
  family_->add(by, labels);
}
void Gauge::remove(MetricLabels labels) const {
  family_->remove(labels);
}

void Histogram::observe(double value, MetricLabels labels) const {
  family_->observe(value, labels);
}
void Histogram::remove(MetricLabels labels) const {
  family_->remove(labels);
}

std::vector<double> MetricRegistry::default_bounds() {
  return {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
}

Counter MetricRegistry::counter(std::string name, std::string help, std::vector<std::string> labels) {
  return Counter(add(make_family(Kind::counter, std::move(name), std::move(help), std::move(labels))));
}
Gauge MetricRegistry::gauge(std::string name, std::string help, std::vector<std::string> labels) {
  return Gauge(add(make_family(Kind::gauge, std::move(name), std::move(help), std::move(labels))));
}
Histogram MetricRegistry::histogram(std::string name, std::string help, std::vector<std::string> labels,
                                    std::vector<double> bounds) {
  return Histogram(add(
      make_family(Kind::histogram, std::move(name), std::move(help), std::move(labels), std::move(bounds))));
}

std::shared_ptr<detail::MetricFamily> MetricRegistry::add(std::shared_ptr<detail::MetricFamily> family) {
  add(family->name(), [family](MetricSink& sink) { family->collect(sink); });
  return family;
}

void MetricRegistry::add(std::string name, std::function<void(MetricSink&)> collect) {
  if (name.empty() || !collect) refuse("a source needs a name and a function");
  MutexLock lock(mutex_);
  for (const Source& known : sources_) {
    if (known.name == name) refuse(name + " is registered already");
  }
  sources_.push_back({std::move(name), std::move(collect)});
}

void MetricRegistry::collect(MetricSink& sink) const {
  std::vector<Source> sources;
  {
    MutexLock lock(mutex_);
    sources = sources_;
  }
  for (const Source& source : sources) {
    try {
      source.collect(sink);
    } catch (const std::exception& error) {
      throw Error("the metrics of " + source.name + ": " + error.what());
    }
  }
}

}  // namespace v0
}  // namespace evenkeel
