// SPDX-License-Identifier: Apache-2.0
// Texts of others, as they are shown to people: in logs, explanations, errors, terminals and generated code.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <evenkeel/base/export.hpp>

#include "base/limits.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Returns true for C0, DEL and C1.
constexpr bool is_control(char32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

/// Returns true for characters that terminals and editors obey instead of showing them: control characters,
/// marks of text direction, and separators of lines and paragraphs.
constexpr bool is_hidden(char32_t code) {
  return is_control(code) || code == 0x61c || code == 0x200e || code == 0x200f ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

/// The first character of a text.
struct FirstCharacter {
  std::size_t bytes = 1;
  bool hidden = true;  ///< is_hidden(), or a byte that is not UTF-8: it must not be shown as it is.
};
/// `text` is not empty.
EVENKEEL_API FirstCharacter first_character(std::string_view text) noexcept;

/// Returns `text`, or its first `most` bytes and "... (N bytes)", N being the size of the whole.
EVENKEEL_API std::string bounded_text(std::string_view text, std::size_t most = limits::shown_bytes);

/// Treatment of line breaks.
enum class LineBreaks : bool { escaped, kept };

/// Returns bounded_text() with escapes for what is hidden: \n, \r and \t, \x1b for other bytes, and \u202e
/// for characters of more bytes.
EVENKEEL_API std::string shown_text(std::string_view text, std::size_t most = limits::shown_bytes,
                                    LineBreaks breaks = LineBreaks::escaped);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
