// SPDX-License-Identifier: Apache-2.0
#include "base/shown_text.hpp"

#include <cstdint>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/json_text.hpp"

namespace evenkeel::shown_text_tests {
namespace {

using namespace std::string_view_literals;
using detail::bounded_text;
using detail::LineBreaks;
using detail::shown_text;

std::string in_json(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

/// Returns the UTF-8 of a code point below U+10000.
std::string utf8(char32_t code) {
  const auto rest = [&](unsigned shift) { return static_cast<char>(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xc0 | code >> 6), rest(0)};
  return {static_cast<char>(0xe0 | code >> 12), rest(6), rest(0)};
}

TEST(ShownText, EscapesControlCharacters) {
  EXPECT_EQ(shown_text("a\x1b[2J\x07\0z\x7f"sv), R"(a\x1b[2J\x07\x00z\x7f)");
  EXPECT_EQ(shown_text("one\r\n\ttwo"), R"(one\r\n\ttwo)");
  EXPECT_EQ(shown_text("\u0085\u009b31m"), R"(\u0085\u009b31m)");
}

TEST(ShownText, EscapesMarksOfDirectionAndSeparators) {
  EXPECT_EQ(shown_text("user\u202e \u2066// admins\u2069 \u2066"),
            R"(user\u202e \u2066// admins\u2069 \u2066)");
  EXPECT_EQ(shown_text("\u061c\u200e\u200f\u2028\u2029"), R"(\u061c\u200e\u200f\u2028\u2029)");
}

TEST(ShownText, EscapesBytesThatAreNoUtf8) {
  EXPECT_EQ(shown_text("ok\xc3(\x9b"), R"(ok\xc3(\x9b)");
  EXPECT_EQ(shown_text("\xe2\x80"), R"(\xe2\x80)");
  EXPECT_EQ(shown_text("\xed\xa0\x80"), R"(\xed\xa0\x80)");
}

TEST(ShownText, LeavesEverythingElse) {
  const std::string text = "a \"b\" \\ gr\u00fc\u00df \u05d0 \u200b\u200d \u20ac \U0001F6A2 \u00a0";
  EXPECT_EQ(shown_text(text), text);
}

TEST(ShownText, KeepsLineBreaksOnRequest) {
  EXPECT_EQ(shown_text("a\n\x1b\r\n", 100, LineBreaks::kept), "a\n\\x1b\\r\n");
}

TEST(ShownText, CutsAtACharacterAndTellsTheSize) {
  EXPECT_EQ(bounded_text("12345", 5), "12345");
  EXPECT_EQ(bounded_text("123456", 5), "12345... (6 bytes)");
  EXPECT_EQ(bounded_text("1234\u20ac", 5), "1234... (7 bytes)");
  EXPECT_EQ(shown_text("\x1b\x1b\x1b", 2), R"(\x1b\x1b... (3 bytes))");
  EXPECT_EQ(shown_text(std::string(1'000'000, 'x')).size(), limits::shown_bytes + 19);
}

// A character is escaped in a text if and only if it is escaped in JSON.
TEST(ShownText, AgreesWithJsonForEveryCharacter) {
  std::size_t hidden = 0;
  for (char32_t code = 1; code < 0x10000; ++code) {
    if (code >= 0xd800 && code < 0xe000) continue;
    const std::string text = utf8(code);
    const bool is_shown = shown_text(text) == text;
    EXPECT_EQ(is_shown, !detail::is_hidden(code)) << static_cast<std::uint32_t>(code);
    if (code == '"' || code == '\\') continue;
    EXPECT_EQ(in_json(text) == "\"" + text + "\"", is_shown) << static_cast<std::uint32_t>(code);
    hidden += is_shown ? 0 : 1;
  }
  EXPECT_EQ(hidden, 31U + 33U + 3U + 7U + 4U);
}

TEST(ShownText, JsonHasTheSameCharactersAsEscapes) {
  EXPECT_EQ(in_json("a\x1b\x7f\u009b\u202e\n\u00fc\xff"), "\"a\\u001b\\u007f\\u009b\\u202e\\n\u00fc\ufffd\"");
}

}  // namespace
}  // namespace evenkeel::shown_text_tests
