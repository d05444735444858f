// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/metrics/text.hpp>

#include "base/utf8.hpp"
#include "metrics/names.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

// Formats the labels as ": a=1,b=2".
std::string text_of(const Labels& labels) {
  std::string text;
  for (const auto& [name, value] : labels)
    text.append(text.empty() ? ": " : ",").append(name).append("=").append(value);
  return text;
}

/// Sixteen significant digits, whatever the locale of the program.
std::string number_text(double value) {
  if (std::isnan(value)) return "Nan";
  if (std::isinf(value)) return value < 0 ? "-Inf" : "+Inf";
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 16).ptr;
  return {text, end};
}

// Bytes that are not UTF-8 are replaced: because of one, Prometheus would reject all metrics.
void append_escaped(std::string& out, std::string_view text, bool quoted) {
  while (!text.empty()) {
    const char c = text.front();
    const std::size_t length = static_cast<unsigned char>(c) < 0x80 ? 1 : detail::utf8_length(text);
    if (length == 0)
      out += detail::utf8_replacement;
    else if (c == '\n')
      out += "\\n";
    else if (c == '\\' || (c == '"' && quoted))
      (out += '\\') += c;
    else
      out += text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
}

/// Appends `name{a="1",le="2"} value`; without `le` if that is empty.
void append_sample(std::string& out, const std::string& name, const Labels& labels, const std::string& le,
                   const std::string& value) {
  out += name;
  char before = '{';
  const auto append = [&](std::string_view label, std::string_view text) {
    (out += std::exchange(before, ',')).append(label).append("=\"");
    append_escaped(out, text, true);
    out += '"';
  };
  for (const auto& [label, text] : labels) append(label, text);
  if (!le.empty()) append("le", le);
  if (before == ',') out += '}';
  out.append(" ").append(value).append("\n");
}

Labels copied(MetricLabels labels) {
  Labels copy;
  copy.reserve(labels.size());
  for (const MetricLabel& label : labels) {
    if (!detail::is_label_name(label.name))
      throw std::invalid_argument("PrometheusText: not a label's name: \"" + std::string(label.name) + '"');
    copy.emplace_back(label.name, label.value);
  }
  return copy;
}

}  // namespace

struct PrometheusText::Families {
  struct Family {
    std::string_view type;
    std::string help;
    std::string samples = {};
  };

  /// Returns the samples of the family, for one more series.
  std::string& add(const std::string& name, std::string_view help, std::string_view type,
                   const Labels& labels) {
    Family& known = family(name, help, type);
    Labels key = labels;
    std::sort(key.begin(), key.end());
    if (!series.emplace(name, std::move(key)).second) {
      throw std::invalid_argument("PrometheusText: a series of " + name + " is there twice" +
                                  text_of(labels));
    }
    return known.samples;
  }

  Family& family(const std::string& name, std::string_view help, std::string_view type) {
    if (const auto known = by_name.find(name); known != by_name.end()) {
      if (known->second.type != type || known->second.help != help) {
        throw std::invalid_argument("PrometheusText: " + name + " is known with another kind or help");
      }
      return known->second;
    }
    if (!detail::is_metric_name(name)) {
      throw std::invalid_argument("PrometheusText: not a metric's name: \"" + name + '"');
    }
    order.push_back(name);
    return by_name.emplace(name, Family{type, std::string(help)}).first->second;
  }

  std::vector<std::string> order;
  std::map<std::string, Family> by_name;
  std::set<std::pair<std::string, Labels>> series;
};

PrometheusText::PrometheusText() : families_(std::make_unique<Families>()) {}
PrometheusText::~PrometheusText() = default;

void PrometheusText::counter(std::string_view name, std::string_view help, MetricLabels labels,
                             double value) {
  const std::string family(name);
  const Labels copy = copied(labels);
  append_sample(families_->add(family, help, "counter", copy), family, copy, "", number_text(value));
}

void PrometheusText::gauge(std::string_view name, std::string_view help, MetricLabels labels, double value) {
  const std::string family(name);
  const Labels copy = copied(labels);
  append_sample(families_->add(family, help, "gauge", copy), family, copy, "", number_text(value));
}

void PrometheusText::histogram(std::string_view name, std::string_view help, MetricLabels labels,
                               const HistogramView& value) {
  const std::string family(name);
  const Labels copy = copied(labels);
  std::string& out = families_->add(family, help, "histogram", copy);
  std::uint64_t total = 0;
  for (std::size_t i = 0; i <= value.size; ++i) total += value.counts[i];
  append_sample(out, family + "_count", copy, "", std::to_string(total));
  append_sample(out, family + "_sum", copy, "", number_text(value.sum));
  std::uint64_t so_far = 0;
  for (std::size_t i = 0; i <= value.size; ++i) {
    so_far += value.counts[i];
    const std::string bound = i < value.size ? number_text(value.bounds[i]) : "+Inf";
    append_sample(out, family + "_bucket", copy, bound, std::to_string(so_far));
  }
}

std::string PrometheusText::str() const {
  std::string text;
  for (const std::string& name : families_->order) {
    const Families::Family& family = families_->by_name.at(name);
    if (!family.help.empty()) {
      text.append("# HELP ").append(name).append(" ");
      append_escaped(text, family.help, false);
      text += '\n';
    }
    text.append("# TYPE ").append(name).append(" ").append(family.type).append("\n").append(family.samples);
  }
  return text;
}

}  // namespace v0
}  // namespace evenkeel
