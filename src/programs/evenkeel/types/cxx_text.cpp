// SPDX-License-Identifier: Apache-2.0
#include "programs/evenkeel/types/cxx_text.hpp"

#include <vector>

#include "base/shown_text.hpp"

namespace evenkeel::program {
namespace {

/// Returns the words of the first paragraph.
std::vector<std::string> words_of_paragraph(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  int breaks = 0;
  while (!text.empty()) {
    if (text[0] == '\n' && !(words.empty() && word.empty()) && ++breaks == 2) break;
    if (text[0] != '\n' && text[0] != ' ' && text[0] != '\t' && text[0] != '\r') breaks = 0;
    const auto [bytes, hidden] = evenkeel::detail::first_character(text);
    if (!hidden && text[0] != ' ') {
      word += text.substr(0, bytes);
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
    text.remove_prefix(bytes);
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
  while (!text.empty()) {
    const auto [bytes, hidden] = evenkeel::detail::first_character(text);
    const char c = text[0];
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '?' && before == '?') {
      out += "\\?";
    } else if (hidden && bytes == 1 && c != '\n') {
      // Always three digits, so that no digit behind it counts.
      const auto code = static_cast<unsigned char>(c);
      out += '\\';
      for (const int shift : {6, 3, 0}) out += static_cast<char>('0' + ((code >> shift) & 7));
    } else {
      out +=
          hidden ? evenkeel::detail::shown_text(text.substr(0, bytes)) : std::string(text.substr(0, bytes));
    }
    before = c;
    text.remove_prefix(bytes);
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
