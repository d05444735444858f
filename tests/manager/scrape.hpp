// SPDX-License-Identifier: Apache-2.0
// A parser of Prometheus' text format, as far as tests need it.
#pragma once

#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace evenkeel::tests {

struct Family {
  std::string type;
  std::set<std::string> labels;  // of all series, without le
  std::vector<double> bounds;    // of the first series' buckets, without +Inf
};

struct Scrape {
  std::map<std::string, Family> families;
  std::map<std::string, double> series;  // by the text before the value

  /// Returns the value of `demo_total{a="b"}`; -1 if it does not exist.
  double value(const std::string& name) const {
    const auto found = series.find(name);
    return found == series.end() ? -1 : found->second;
  }
};

/// Returns the family of a series: histograms have three names in it.
inline std::string family_of(const std::map<std::string, Family>& families, const std::string& name) {
  for (const std::string_view end : {"_bucket", "_sum", "_count"}) {
    if (!name.ends_with(end)) continue;
    const std::string base = name.substr(0, name.size() - end.size());
    const auto found = families.find(base);
    if (found != families.end() && found->second.type == "histogram") return base;
  }
  return name;
}

/// Label values must not contain quotes, commas or braces.
inline Scrape parse_scrape(const std::string& text) {
  Scrape scrape;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# TYPE ")) {
      std::istringstream words(line.substr(7));
      std::string name;
      words >> name >> scrape.families[name].type;
      if (scrape.families[name].type.empty()) words >> scrape.families[name].type;
      continue;
    }
    if (line.empty() || line.front() == '#') continue;
    const std::size_t space = line.rfind(' ');
    const std::string what = line.substr(0, space);
    scrape.series[what] = std::stod(line.substr(space + 1));
    const std::size_t brace = what.find('{');
    Family& family = scrape.families[family_of(scrape.families, what.substr(0, brace))];
    if (brace == std::string::npos) continue;
    std::istringstream labels(what.substr(brace + 1, what.size() - brace - 2));
    for (std::string label; std::getline(labels, label, ',');) {
      const std::string key = label.substr(0, label.find('='));
      if (key != "le") {
        family.labels.insert(key);
      } else if (const std::string bound = label.substr(4, label.size() - 5); bound != "+Inf") {
        if (family.bounds.empty() || family.bounds.back() < std::stod(bound))
          family.bounds.push_back(std::stod(bound));
      }
    }
  }
  return scrape;
}

}  // namespace evenkeel::tests
