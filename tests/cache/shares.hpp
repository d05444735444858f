// SPDX-License-Identifier: Apache-2.0
// The ranges of namespaces, and what selects them, for tests of caches that hold a share.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/base/hash_ranges.hpp>
#include <evenkeel/cache/reflector.hpp>

#include "base/cells.hpp"
#include "base/fnv1a.hpp"

namespace evenkeel::cache_share_tests {

/// Returns the selection of these namespaces alone.
inline HashRanges of(const std::vector<std::string>& namespaces) {
  std::vector<HashRange> ranges;
  for (const std::string& name : namespaces) ranges.push_back({detail::fnv1a(name), detail::fnv1a(name)});
  return HashRanges(std::move(ranges));
}

inline std::string selector(const std::vector<std::string>& namespaces) {
  return of(namespaces).shard_selector("object.metadata.namespace");
}

inline ReflectorOptions paged(ReflectorOptions options = {}) {
  options.streaming_list = false;
  return options;
}

inline std::string cell(const std::string& namespace_) {
  return detail::cell_name(detail::hash_of(namespace_, NamespaceHash::mixed));
}

/// Returns the cells of these namespaces.
inline HashRanges cells_of(const std::vector<std::string>& namespaces) {
  std::vector<HashRange> ranges;
  for (const std::string& name : namespaces) {
    const std::uint64_t first = detail::hash_of(name, NamespaceHash::mixed) >> 56U << 56U;
    ranges.push_back({first, first + ((std::uint64_t{1} << 56U) - 1)});
  }
  return HashRanges(std::move(ranges));
}

inline std::string label_selector(const std::vector<std::string>& namespaces) {
  return detail::cell_selector("cell", cells_of(namespaces));
}

inline ReflectorOptions labelled() {
  return paged({.cell_label = "cell", .random = [] { return 0.0; }});
}

}  // namespace evenkeel::cache_share_tests
