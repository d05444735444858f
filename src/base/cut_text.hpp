// SPDX-License-Identifier: Apache-2.0
// Texts of limited length.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Returns `text`, cut to at most `most` bytes at the end of a character of UTF-8.
inline std::string_view cut_view(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most;
  // The bytes 10xxxxxx continue a character.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end);
}
inline std::string cut_text(std::string_view text, std::size_t most) {
  return std::string(cut_view(text, most));
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
