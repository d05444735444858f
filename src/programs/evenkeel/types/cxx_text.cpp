// SPDX-License-Identifier: Apache-2.0
#include "programs/evenkeel/types/cxx_text.hpp"

#include <vector>

namespace evenkeel::program {
namespace {

/// Returns the bytes at the beginning of `text` that a comment must not have: 0 if there are none. Marks of
/// text direction (U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069) and line separators (U+2028, U+2029)
/// have three.
std::size_t unsafe_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  if (byte(0) < 0x20 || byte(0) == 0x7f) return 1;
  if (byte(0) != 0xe2) return 0;
  const bool direction =
      byte(1) == 0x80 && (byte(2) == 0x8e || byte(2) == 0x8f || (byte(2) >= 0xa8 && byte(2) <= 0xae));
  const bool isolate = byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9;
  return direction || isolate ? 3 : 0;
}

/// Returns the words of the first paragraph.
std::vector<std::string> words_of_paragraph(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  int breaks = 0;
  while (!text.empty()) {
    if (text[0] == '\n' && !(words.empty() && word.empty()) && ++breaks == 2) break;
    if (text[0] != '\n' && text[0] != ' ' && text[0] != '\t' && text[0] != '\r') breaks = 0;
    const std::size_t unsafe = text[0] == ' ' ? 1 : unsafe_bytes(text);
    if (unsafe == 0) {
      word += text[0];
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
    text.remove_prefix(unsafe == 0 ? 1 : unsafe);
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

std::string ended(std::string line) {
  // A trigraph of a backslash counts as one.
  if (line.ends_with('\\') || line.ends_with("?\?/")) line += " .";
  return line + "\n";
}

}  // namespace

std::string literal(std::string_view text) {
  std::string out = "\"";
  char before = '\0';
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '?' && before == '?') {
      out += "\\?";
    } else if (code < 0x20 || code == 0x7f) {
      out += '\\';  // always three digits, so that no digit behind it counts
      for (const int shift : {6, 3, 0}) out += static_cast<char>('0' + ((code >> shift) & 7));
    } else {
      out += c;
    }
    before = c;
  }
  return out + "\"";
}

std::string comment(std::string_view text, std::string_view indent) {
  const std::string start = std::string(indent) + "///";
  std::string out;
  std::string line = start;
  for (const std::string& word : words_of_paragraph(text)) {
    if (line.size() + 1 + word.size() > line_width && line.size() > start.size()) {
      out += ended(std::move(line));
      line = start;
    }
    line += " " + word;
  }
  return line.size() == start.size() ? out : out + ended(std::move(line));
}

}  // namespace evenkeel::program
