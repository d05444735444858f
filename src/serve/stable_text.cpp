// SPDX-License-Identifier: Apache-2.0
#include "serve/stable_text.hpp"

#include <cstddef>

namespace evenkeel {
inline namespace v0 {
namespace http::detail {
namespace {

constexpr std::string_view since = " (since ";

bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}
bool is_word(char letter) {
  return is_digit(letter) || letter == '_' || (letter >= 'a' && letter <= 'z') ||
         (letter >= 'A' && letter <= 'Z');
}

// Returns the length of the number with a unit at the beginning of `text`; 0 for none.
std::size_t one_unit(std::string_view text) {
  std::size_t size = 0;
  while (size < text.size() && is_digit(text[size])) ++size;
  if (size == 0) return 0;
  if (text.substr(size).starts_with('.')) ++size;
  while (size < text.size() && is_digit(text[size])) ++size;
  for (const std::string_view unit : {"ms", "us", "ns", "\u00b5s", "s", "m", "h"}) {
    if (text.substr(size).starts_with(unit)) return size + unit.size();
  }
  return 0;
}

// Returns the length of the duration at the beginning of `text`; 0 for none.
std::size_t duration_size(std::string_view text) {
  std::size_t size = 0;
  while (const std::size_t more = one_unit(text.substr(size))) size += more;
  return size < text.size() && is_word(text[size]) ? 0 : size;
}

}  // namespace

std::string stable_text(std::string_view message) {
  std::string text;
  for (std::size_t at = 0; at < message.size();) {
    const std::string_view rest = message.substr(at);
    if (rest.starts_with(since)) {
      const std::size_t end = rest.find(')');
      if (end != std::string_view::npos) {
        at += end + 1;
        continue;
      }
    }
    const bool begins = at == 0 || (!is_word(message[at - 1]) && message[at - 1] != '.');
    if (const std::size_t size = begins ? duration_size(rest) : 0; size > 0) {
      text += '_';
      at += size;
    } else {
      text += message[at++];
    }
  }
  return text;
}

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
