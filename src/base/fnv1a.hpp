// SPDX-License-Identifier: Apache-2.0
// The hash of what other programs and versions must find again, as it is stored: FNV-1a with 64 bits.
#pragma once

#include <cstdint>
#include <string_view>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Returns the hash of `text`; `state` is the hash of what stands before it.
/// Source: http://www.isthe.com/chongo/tech/comp/fnv/.
constexpr std::uint64_t fnv1a(std::string_view text, std::uint64_t state = 0xcbf29ce484222325ULL) noexcept {
  for (const char c : text) state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return state;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
