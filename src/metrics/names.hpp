// SPDX-License-Identifier: Apache-2.0
// Names that Prometheus accepts. Source: https://prometheus.io/docs/concepts/data_model.
#pragma once

#include <string_view>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Returns true for letters, digits and underscores that start with no digit and not with two underscores,
/// which are Prometheus' own.
inline bool is_label_name(std::string_view name, bool colons = false) {
  if (name.empty() || name.starts_with("__") || (name.front() >= '0' && name.front() <= '9')) return false;
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!letter && c != '_' && (c != ':' || !colons)) return false;
  }
  return true;
}

/// Like is_label_name, but colons are letters, too.
inline bool is_metric_name(std::string_view name) {
  return is_label_name(name, true);
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
