// SPDX-License-Identifier: Apache-2.0
#include "base/shown_text.hpp"

#include "base/cut_text.hpp"
#include "base/utf8.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

void append_hex(std::string& out, char32_t value, int digits) {
  static constexpr char hex[] = "0123456789abcdef";
  for (int i = digits - 1; i >= 0; --i) out += hex[value >> (4 * i) & 15U];
}

void append_escaped(std::string& out, std::string_view hidden) {
  static constexpr std::string_view named = "\n\r\t";
  if (hidden.size() > 1) return append_hex(out += "\\u", utf8_code(hidden), 4);
  if (const std::size_t found = named.find(hidden.front()); found != std::string_view::npos) {
    out += {'\\', "nrt"[found]};
    return;
  }
  append_hex(out += "\\x", static_cast<unsigned char>(hidden.front()), 2);
}

}  // namespace

FirstCharacter first_character(std::string_view text) noexcept {
  const std::size_t bytes = utf8_length(text);
  if (bytes == 0) return {};
  return {.bytes = bytes, .hidden = is_hidden(utf8_code(text.substr(0, bytes)))};
}

std::string bounded_text(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  return cut_text(text, most) + "... (" + std::to_string(text.size()) + " bytes)";
}

std::string shown_text(std::string_view text, std::size_t most, LineBreaks breaks) {
  const std::string bounded = bounded_text(text, most);
  std::string out;
  out.reserve(bounded.size());
  for (std::string_view rest = bounded; !rest.empty();) {
    const auto [bytes, hidden] = first_character(rest);
    if (hidden && !(rest.front() == '\n' && breaks == LineBreaks::kept)) {
      append_escaped(out, rest.substr(0, bytes));
    } else {
      out += rest.substr(0, bytes);
    }
    rest.remove_prefix(bytes);
  }
  return out;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
