// SPDX-License-Identifier: Apache-2.0
// The earlier of two optional times.
#pragma once

#include <algorithm>
#include <optional>
#include <type_traits>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Returns the earlier time; std::nullopt if neither is set.
template <class Time>
constexpr std::optional<Time> earlier(std::optional<Time> one,
                                      std::type_identity_t<std::optional<Time>> other) {
  if (!one || !other) return one ? one : other;
  return std::min(*one, *other);
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
