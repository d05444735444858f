// SPDX-License-Identifier: Apache-2.0
#include "apiserver/text/regular_expression.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

#include "apiserver/text/formats.hpp"

namespace evenkeel::apiserver {
namespace {

struct Case {
  const char* expression;
  const char* text;
  bool found;
};

TEST(RegularExpression, FindsWhatRe2Finds) {
  const Case cases[] = {{"abc", "xabcx", true},
                        {"^abc$", "xabc", false},
                        {"^a.c$", "abc", true},
                        {"^a.c$", "a\nc", false},
                        {"(?s)^a.c$", "a\nc", true},
                        {"a|b|", "", true},
                        {"^(a|bc)+$", "abcbca", true},
                        {"^(a|bc)+$", "abb", false},
                        {"^a{2,3}$", "aa", true},
                        {"^a{2,3}$", "aaaa", false},
                        {"^a{2}$", "aa", true},
                        {"^a{2,}$", "aaaaa", true},
                        {"^a{0,2}b$", "b", true},
                        {"a{,2}", "a{,2}", true},
                        {"^[a-c]+$", "abc", true},
                        {"^[^a-c]+$", "abc", false},
                        {"^[]a]+$", "]a", true},
                        {"^[a\\-z]+$", "a-z", true},
                        {"^[-a]+$", "-a", true},
                        {"^\\d+\\s\\w$", "12 a", true},
                        {"^\\D$", "1", false},
                        {"^[\\d.]+$", "1.2", true},
                        {"^[^\\d]$", "1", false},
                        {"^[[:alpha:]_]+$", "ab_", true},
                        {"(?i)^abc$", "aBC", true},
                        {"^(?i:a)b$", "AB", false},
                        {"^(?P<n>a)(?:b)$", "ab", true},
                        {"\\bword\\b", "a word.", true},
                        {"\\bword\\b", "sword", false},
                        {"\\Aa\\z", "a", true},
                        {"(?m)^b$", "a\nb\nc", true},
                        {"^b$", "a\nb\nc", false},
                        {"^ä.$", "äö", true},
                        {"^\\x41\\x{e4}\\.$", "Aä.", true},
                        {"^a*?b$", "aab", true},
                        {"^(a*)*$", "aaa", true},
                        {"^(|a)+$", "aa", true},
                        {"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "a-b", true},
                        {"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "a-", false}};
  for (const Case& each : cases)
    EXPECT_EQ(RegularExpression(each.expression).found_in(each.text), each.found)
        << each.expression << " in " << each.text;
}

TEST(RegularExpression, RefusesWhatIsNone) {
  for (const char* expression :
       {"(", ")", "[a", "a{3,2}", "a{2000}", "*a", "\\", "[z-a]", "(?x)a", "\\8", "(?P<n"})
    EXPECT_THROW(RegularExpression{expression}, std::invalid_argument) << expression;
  EXPECT_THROW(RegularExpression{std::string(5000, '(')}, std::invalid_argument);
  EXPECT_THROW(RegularExpression{"((a{1000}){1000}){1000}"}, std::invalid_argument);
}

TEST(RegularExpression, TakesLinearTime) {
  // Backtracking would take 2^10000 steps.
  EXPECT_FALSE(RegularExpression("^(a|a|aa)*b$").found_in(std::string(10000, 'a')));
}

TEST(Formats, KnowThoseOfCustomResources) {
  const Case cases[] = {{"ipv4", "1.2.3.4", true},
                        {"ipv4", "1.2.3.256", false},
                        {"ipv4", "01.2.3.4", false},
                        {"ipv6", "::1", true},
                        {"ipv6", "1::2::3", false},
                        {"ipv6", "1:2:3:4:5:6:7:8", true},
                        {"ipv6", "::ffff:1.2.3.4", true},
                        {"ipv6", "1:2:3", false},
                        {"cidr", "10.0.0.0/8", true},
                        {"cidr", "10.0.0.0/33", false},
                        {"date", "2024-02-29", true},
                        {"date", "2023-02-29", false},
                        {"date-time", "2024-01-01T00:00:00.5+02:00", true},
                        {"date-time", "2024-01-01 00:00:00", false},
                        {"duration", "1h30m", true},
                        {"duration", "soon", false},
                        {"byte", "eA==", true},
                        {"byte", "e", false},
                        {"uuid", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", true},
                        {"uuid", "x", false},
                        {"hostname", "a.example.com", true},
                        {"hostname", "-a", false},
                        {"email", "a@b.c", true},
                        {"email", "nobody", false},
                        {"isbn", "978-0321751041", true},
                        {"isbn", "978-0321751042", false},
                        {"uri", "https://x/y", true},
                        {"uri", "no uri", false},
                        {"mac", "01:02:03:04:05:06", true},
                        {"hexcolor", "#FFF", true},
                        {"k8s-short-name", "a-b", true},
                        {"k8s-short-name", "A", false},
                        {"unheard-of", "anything", true}};
  for (const Case& each : cases)
    EXPECT_EQ(has_format(each.text, each.expression), each.found) << each.expression << ' ' << each.text;
  EXPECT_TRUE(is_string_format("date-time"));
  EXPECT_FALSE(is_string_format("unheard-of"));
}

// Alternatives and groups must not be copied once for each of them that follows.
TEST(RegularExpression, ReadsLongExpressionsInLittleTime) {
  std::string choices = "x";
  for (int i = 0; i < 12'000; ++i) choices += "|a";
  EXPECT_TRUE(RegularExpression("^(" + choices + ")$").found_in("a"));
  std::string wide = "[";
  for (int i = 0; i < 50'000; ++i) wide += "a-z";
  EXPECT_TRUE(RegularExpression("(?i)^(" + wide + "]){1000}$").found_in(std::string(1000, 'Q')));
}

std::string problem(std::string_view expression) {
  try {
    RegularExpression{expression};
    return "";
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

// Source: Go regexp/syntax/parse.go parser.repeat.
TEST(RegularExpression, RefusesStackedRepetitions) {
  EXPECT_EQ(problem("a**"), "error parsing regexp: bad repetition operator: **");
  EXPECT_EQ(problem("a{2}{3}"), "error parsing regexp: bad repetition operator: {2}{3}");
  EXPECT_EQ(problem("a+?*"), "error parsing regexp: bad repetition operator: +?*");
  EXPECT_EQ(problem("(a*)*"), "");
  EXPECT_EQ(problem("a*?b+?"), "");
}

TEST(RegularExpression, ReadsNamedGroupsInBothForms) {
  EXPECT_TRUE(RegularExpression("^(?<n>a)(?P<m>b)$").found_in("ab"));
  EXPECT_TRUE(RegularExpression("^[(?<]+$").found_in("(?<"));
  EXPECT_TRUE(RegularExpression("^[](?<]+$").found_in("](?<"));
  EXPECT_TRUE(RegularExpression("^[^](?<]+$").found_in("Pn>"));
  EXPECT_TRUE(RegularExpression("^\\Q(?<n>\\E(?<n>a)$").found_in("(?<n>a"));
  EXPECT_TRUE(RegularExpression("^\\(?<n>$").found_in("<n>"));
  EXPECT_NE(problem("(?<n"), "");
}

TEST(RegularExpression, KnowsClassesOfUnicode) {
  EXPECT_TRUE(RegularExpression("^\\p{Lu}\\p{Greek}\\pN$").found_in("Äω٣"));
  EXPECT_FALSE(RegularExpression("^\\P{L}$").found_in("ä"));
  EXPECT_TRUE(RegularExpression("(?i)^ä$").found_in("Ä"));
}

}  // namespace
}  // namespace evenkeel::apiserver
