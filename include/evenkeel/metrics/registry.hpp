// SPDX-License-Identifier: Apache-2.0
// A program's own metrics: what it counts itself, and whom else to ask when somebody wants to know.
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

/// A number that only grows, one for each combination of label values: `moves.add(1, {{"zone", zone}})`. A
/// family without labels is there with 0 from the start, one with labels from the first call for each.
/// Copies count into the same family, and may outlive the registry.
/// Thread safety: all members may be called concurrently, of all copies.
/// Errors: std::invalid_argument if the labels are not those of the registration, in whichever order.
class EVENKEEL_API Counter {
 public:
  /// Throws std::invalid_argument, too, if `by` is negative or no number.
  void add(double by = 1, MetricLabels labels = {}) const;
  /// Forgets the series, if it is there: of an object that is no more.
  void remove(MetricLabels labels) const;

 private:
  friend class MetricRegistry;
  explicit Counter(std::shared_ptr<detail::MetricFamily> family) : family_(std::move(family)) {}
  std::shared_ptr<detail::MetricFamily> family_;
};

/// A number that goes up and down. Otherwise as Counter.
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

/// Numbers by their size. Otherwise as Counter.
class EVENKEEL_API Histogram {
 public:
  void observe(double value, MetricLabels labels = {}) const;
  void remove(MetricLabels labels) const;

 private:
  friend class MetricRegistry;
  explicit Histogram(std::shared_ptr<detail::MetricFamily> family) : family_(std::move(family)) {}
  std::shared_ptr<detail::MetricFamily> family_;
};

/// What a manager serves beside its own figures: see Manager::metrics(). Registering and counting are
/// possible at any time, also while it runs.
///
/// Names are registered once: a second registration, of a metric or of a source, throws
/// std::invalid_argument, as does a name that Prometheus would not take, a label that is twice there, and a
/// name that begins with what a manager serves itself (controller_runtime_, evenkeel_, leader_election_,
/// process_, rest_client_, workqueue_).
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
  /// `bounds` are those of client_golang if they are not given: 5 ms to 10 s. Throws std::invalid_argument,
  /// too, if there are none, or if they do not ascend.
  Histogram histogram(std::string name, std::string help, std::vector<std::string> labels = {},
                      std::vector<double> bounds = default_bounds()) EVENKEEL_EXCLUDES(mutex_);
  /// Has `collect` asked each time: for parts that keep figures of their own. `name` is for errors. It is
  /// called on the thread that collects, by several at once, with no lock held, as long as the registry is
  /// there; it should not block.
  void add(std::string name, std::function<void(MetricSink&)> collect) EVENKEEL_EXCLUDES(mutex_);

  /// Gives everything to `sink`, in the order of registration. Throws Error, with the name in front, for what
  /// a source or the sink throws: then the answer to a scrape is 500, as in controller-runtime.
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
