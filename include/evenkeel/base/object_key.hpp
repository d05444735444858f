// SPDX-License-Identifier: Apache-2.0
// Namespace and name of an object, as all floors use them.
#pragma once

#include <compare>
#include <cstddef>
#include <string>

namespace evenkeel {
inline namespace v0 {

/// Namespace and name of an object. `namespace_` is empty for cluster-scoped kinds.
struct ObjectKey {
  std::string namespace_ = {};
  std::string name = {};

  auto operator<=>(const ObjectKey&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm

  /// "namespace/name", or "name" without a namespace.
  std::string str() const { return namespace_.empty() ? name : namespace_ + "/" + name; }
};

}  // namespace v0
}  // namespace evenkeel

template <>
struct std::hash<evenkeel::ObjectKey> {
  std::size_t operator()(const evenkeel::ObjectKey& key) const noexcept {
    const std::size_t first = std::hash<std::string>{}(key.namespace_);
    return first ^ (std::hash<std::string>{}(key.name) + 0x9e3779b97f4a7c15ULL + (first << 6) + (first >> 2));
  }
};
