// SPDX-License-Identifier: Apache-2.0
// Where metrics go. Whoever has figures gives them to a sink when it is asked; nothing is registered,
// and nothing runs in between.
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

/// A view on the labels of a series.
class MetricLabels {
 public:
  constexpr MetricLabels() = default;
  constexpr MetricLabels(const MetricLabel* first, std::size_t size) : first_(first), size_(size) {}
  /// Valid to the end of the full expression that the braces are in.
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

/// Observations by size: `counts[i]` of them are at most `bounds[i]` and above `bounds[i - 1]`;
/// `counts[size]`, the last, are above all bounds.
struct HistogramView {
  const double* bounds = nullptr;
  const std::uint64_t* counts = nullptr;
  std::size_t size = 0;  ///< How many bounds there are; the counts are one more.
  double sum = 0;        ///< Of all that was observed.
};

/// Takes one series per call: the name of its family, the family's help text, its labels, its value. All
/// series of a family have the same kind and help. Whatever is viewed is valid during the call.
/// Thread safety: one thread at a time.
class MetricSink {
 public:
  MetricSink() = default;
  MetricSink(const MetricSink&) = default;
  MetricSink& operator=(const MetricSink&) = default;
  virtual ~MetricSink() = default;

  /// A number that only grows.
  virtual void counter(std::string_view name, std::string_view help, MetricLabels labels, double value) = 0;
  /// A number that goes up and down.
  virtual void gauge(std::string_view name, std::string_view help, MetricLabels labels, double value) = 0;
  virtual void histogram(std::string_view name, std::string_view help, MetricLabels labels,
                         const HistogramView& value) = 0;
};

}  // namespace v0
}  // namespace evenkeel
