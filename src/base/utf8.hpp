// SPDX-License-Identifier: Apache-2.0
// Recognition of UTF-8. In a header, because the metrics link no library.
#pragma once

#include <cstddef>
#include <string_view>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Stands for bytes that are not UTF-8: U+FFFD.
inline constexpr std::string_view utf8_replacement = "\xef\xbf\xbd";

/// Returns the length of the well-formed UTF-8 sequence at the beginning of `text`, or 0.
inline std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xc0U) == 0x80U; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    if (!follows(1) || !follows(2)) return 0;
    if (first == 0xe0 && byte(1) < 0xa0) return 0;   // overlong
    if (first == 0xed && byte(1) >= 0xa0) return 0;  // a surrogate
    return 3;
  }
  if (first < 0xf0 || first > 0xf4 || !follows(1) || !follows(2) || !follows(3)) return 0;
  if (first == 0xf0 && byte(1) < 0x90) return 0;
  if (first == 0xf4 && byte(1) >= 0x90) return 0;  // beyond U+10FFFF
  return 4;
}

/// Returns the code point of a well-formed sequence.
inline char32_t utf8_code(std::string_view sequence) {
  const auto byte = [&](std::size_t i) {
    return static_cast<char32_t>(static_cast<unsigned char>(sequence[i]));
  };
  if (sequence.size() == 1) return byte(0);
  char32_t code = byte(0) & (0x7fU >> sequence.size());
  for (std::size_t i = 1; i < sequence.size(); ++i) code = code << 6 | (byte(i) & 0x3fU);
  return code;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
