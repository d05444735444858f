// SPDX-License-Identifier: Apache-2.0
// Destination of metrics. Components write their metrics to a sink on request; there is no registration, and
// no work between scrapes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace evenkeel {
inline namespace v0 {

struct MetricLabel {
  std::string_view name = {};
  std::string_view value = {};
};

/// A view of the labels of a series.
class MetricLabels {
 public:
  constexpr MetricLabels() = default;
  constexpr MetricLabels(const MetricLabel* first, std::size_t size) : first_(first), size_(size) {}
  /// Valid until the end of the full expression that contains the braces.
  constexpr MetricLabels(std::initializer_list<MetricLabel> labels) {
    first_ = labels.begin();
    size_ = labels.size();
  }

  constexpr const MetricLabel* begin() const { return first_; }
  constexpr const MetricLabel* end() const { return first_ + size_; }
  constexpr std::size_t size() const { return size_; }

 private:
  const MetricLabel* first_ = nullptr;
  std::size_t size_ = 0;
};

/// A histogram: `counts[i]` observations are at most `bounds[i]` and above `bounds[i - 1]`; the last,
/// `counts[size]`, counts observations above all bounds.
struct HistogramView {
  const double* bounds = nullptr;
  const std::uint64_t* counts = nullptr;
  std::size_t size = 0;  ///< Number of bounds; there is one count more.
  double sum = 0;        ///< Sum of all observations.
};

/// Receives one series per call: the name of its family, the family's help text, its labels and its value.
/// All series of a family have the same type and help. All views are valid only during the call.
/// Thread safety: one thread at a time.
class MetricSink {
 public:
  MetricSink() = default;
  MetricSink(const MetricSink&) = default;
  MetricSink& operator=(const MetricSink&) = default;
  virtual ~MetricSink() = default;

  /// Adds a counter: a monotonically increasing number.
  virtual void counter(std::string_view name, std::string_view help, MetricLabels labels, double value) = 0;
  /// Adds a gauge: a number that goes up and down.
  virtual void gauge(std::string_view name, std::string_view help, MetricLabels labels, double value) = 0;
  virtual void histogram(std::string_view name, std::string_view help, MetricLabels labels,
                         const HistogramView& value) = 0;
};

}  // namespace v0
}  // namespace evenkeel
