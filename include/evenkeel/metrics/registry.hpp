// SPDX-License-Identifier: Apache-2.0
// A program's own metrics: counters, gauges and histograms, and callbacks that collect others.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/metrics.hpp>
#include <evenkeel/base/mutex.hpp>

namespace evenkeel {
inline namespace v0 {

class MetricRegistry;
namespace detail {
class MetricFamily;
}

/// A monotonically increasing number, one for each combination of label values: `moves.add(1, {{"zone",
/// zone}})`. A family without labels starts with a series at 0; a family with labels gets each series at its
/// first use. Copies refer to the same family and may outlive the registry.
/// Thread safety: all members may be called concurrently, on all copies.
/// Errors: std::invalid_argument if the labels, in any order, are not those of the registration.
class EVENKEEL_API Counter {
 public:
  /// Also throws std::invalid_argument if `by` is negative or NaN.
  void add(double by = 1, MetricLabels labels = {}) const;
  /// Removes the series, if it exists, for example when its object was deleted.
  void remove(MetricLabels labels) const;

 private:
  friend class MetricRegistry;
  explicit Counter(std::shared_ptr<detail::MetricFamily> family) : family_(std::move(family)) {}
  std::shared_ptr<detail::MetricFamily> family_;
};

/// A number that goes up and down. Otherwise like Counter.
class EVENKEEL_API Gauge {
 public:
  void set(double value, MetricLabels labels = {}) const;
  void add(double by, MetricLabels labels = {}) const;
  void remove(MetricLabels labels) const;

 private:
  friend class MetricRegistry;
  explicit Gauge(std::shared_ptr<detail::MetricFamily> family) : family_(std::move(family)) {}
  std::shared_ptr<detail::MetricFamily> family_;
};

/// A histogram of observed values. Otherwise like Counter.
class EVENKEEL_API Histogram {
 public:
  void observe(double value, MetricLabels labels = {}) const;
  void remove(MetricLabels labels) const;

 private:
  friend class MetricRegistry;
  explicit Histogram(std::shared_ptr<detail::MetricFamily> family) : family_(std::move(family)) {}
  std::shared_ptr<detail::MetricFamily> family_;
};

/// Metrics that a manager serves in addition to its own; see Manager::metrics(). Registration and updates are
/// possible at any time, also while it runs.
///
/// Names are unique: a second registration, of a metric or of a source, throws std::invalid_argument, as does
/// a name that is invalid in Prometheus, a duplicate label, and a name with a prefix reserved for the manager
/// (controller_runtime_, evenkeel_, leader_election_, process_, rest_client_, workqueue_).
/// Thread safety: all members may be called concurrently.
/// Source: prometheus/client_golang Registry.MustRegister and its vectors, as controller-runtime has them in
/// metrics.Registry; unlike there, no registry is global.
class EVENKEEL_API MetricRegistry {
 public:
  MetricRegistry() = default;
  MetricRegistry(const MetricRegistry&) = delete;
  MetricRegistry& operator=(const MetricRegistry&) = delete;

  Counter counter(std::string name, std::string help, std::vector<std::string> labels = {})
      EVENKEEL_EXCLUDES(mutex_);
  Gauge gauge(std::string name, std::string help, std::vector<std::string> labels = {})
      EVENKEEL_EXCLUDES(mutex_);
  /// `bounds` default to those of client_golang: 5 ms to 10 s. Also throws std::invalid_argument if `bounds`
  /// is empty or not ascending.
  Histogram histogram(std::string name, std::string help, std::vector<std::string> labels = {},
                      std::vector<double> bounds = default_bounds()) EVENKEEL_EXCLUDES(mutex_);
  /// Registers a callback that is called on each collection, for components with their own metrics. `name` is
  /// used in errors. `collect` is called on the collecting thread, possibly concurrently, with no lock held,
  /// for the lifetime of the registry; it should not block.
  void add(std::string name, std::function<void(MetricSink&)> collect) EVENKEEL_EXCLUDES(mutex_);

  /// Writes everything to `sink`, in the order of registration. Errors of a source or of the sink are thrown
  /// as Error, prefixed with the name; the scrape is then answered with 500, as in controller-runtime.
  void collect(MetricSink& sink) const EVENKEEL_EXCLUDES(mutex_);

  static std::vector<double> default_bounds();

 private:
  struct Source {
    std::string name = {};
    std::function<void(MetricSink&)> collect = {};
  };
  std::shared_ptr<detail::MetricFamily> add(std::shared_ptr<detail::MetricFamily> family);

  mutable Mutex mutex_;
  std::vector<Source> sources_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace v0
}  // namespace evenkeel
