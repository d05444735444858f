// SPDX-License-Identifier: Apache-2.0
#include "base/json_text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include "base/shown_text.hpp"
#include "base/utf8.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

void append_unicode_escape(std::string& out, char32_t code) {
  static constexpr char hex[] = "0123456789abcdef";
  out += "\\u";
  for (const unsigned shift : {12U, 8U, 4U, 0U}) out += hex[code >> shift & 15U];
}

void append_escape(std::string& out, unsigned char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  append_unicode_escape(out, c);
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  std::size_t start = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const auto c = static_cast<unsigned char>(text[at]);
    if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') {
      ++at;
      continue;
    }
    const auto [bytes, hidden] = detail::first_character(text.substr(at));
    if (c >= 0x80 && !hidden) {
      at += bytes;
      continue;
    }
    out.append(text, start, at - start);
    if (c < 0x80) {
      append_escape(out, c);
    } else if (bytes > 1) {
      append_unicode_escape(out, detail::utf8_code(text.substr(at, bytes)));
    } else {
      out += detail::utf8_replacement;
    }
    start = at += bytes;
  }
  out.append(text, start);
  out += '"';
}

void append_json_number(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";  // JSON cannot represent it
    return;
  }
  if (value == 0) value = 0;  // drop the sign: "-0" would be read as the integer 0
  const double size = std::fabs(value);
  const bool large = size >= 1e16;  // the fixed format has all digits of large numbers, also superfluous ones
  const bool fixed = value == 0 || (size >= 1e-6 && !large);
  std::array<char, 32> buffer;
  const std::to_chars_result written =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                    fixed ? std::chars_format::fixed : std::chars_format::scientific);
  std::string text(buffer.data(), written.ptr);
  if (const std::size_t zero = text.find("e-0"); !fixed && zero != std::string::npos) text.erase(zero + 2, 1);
  if (large && size < 1e21) {
    const std::size_t mark = text.find('e');
    const std::size_t digits = std::stoul(text.substr(mark + 1)) + (value < 0 ? 2 : 1);
    text.resize(mark);
    std::erase(text, '.');
    text.resize(digits, '0');
  }
  out += text;
}

void append_json_integer(std::string& out, std::int64_t value) {
  std::array<char, 20> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  out.append(buffer.data(), end);
}

}  // namespace v0
}  // namespace evenkeel
