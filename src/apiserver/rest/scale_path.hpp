// SPDX-License-Identifier: Apache-2.0
// Paths of a scale subresource into its object.
#pragma once

#include <algorithm>
#include <string_view>

#include <evenkeel/api/json.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Returns the value at a path such as ".spec.replicas"; null if it does not exist.
inline const Json& value_at(const Json& document, std::string_view path) {
  const Json* at = &document;
  while (!path.empty()) {
    path.remove_prefix(path.front() == '.' ? 1 : 0);
    const std::size_t end = std::min(path.find('.'), path.size());
    at = &(*at)[path.substr(0, end)];
    path.remove_prefix(end);
  }
  return *at;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
