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
                        {"ipv4", "01.2.3.4", true},
                        {"ipv4", "::ffff:1.2.3.4", true},
                        {"ipv4", "1.2.3", false},
                        {"ipv6", "::1", true},
                        {"ipv6", "1::2::3", false},
                        {"ipv6", "1:2:3:4:5:6:7:8", true},
                        {"ipv6", "::ffff:1.2.3.4", true},
                        {"ipv6", "1:2:3", false},
                        {"ipv6", "00001::", false},
                        {"ipv6", "fe80::1%eth0", false},
                        {"cidr", "10.0.0.0/8", true},
                        {"cidr", "10.0.0.0/33", false},
                        {"cidr", "010.0.0.0/08", true},
                        {"cidr", "::1/128", true},
                        {"cidr", "::1/129", false},
                        {"cidr", "10.0.0.0/+8", false},
                        {"cidr", "10.0.0.0", false},
                        {"date", "2024-02-29", true},
                        {"date", "2023-02-29", false},
                        {"date-time", "2024-01-01T00:00:00.5+02:00", true},
                        {"date-time", "2024-01-01 00:00:00", false},
                        {"date-time", "2024-01-01T23:59:60Z", false},
                        {"date-time", "2024-01-01T24:00:00Z", false},
                        {"date-time", "2024-01-01T00:00:00+0200", false},
                        {"date-time", "2024-01-01T00:00:00+99:99", true},
                        {"date-time", "2024-01-01t00:00:00,5z", true},
                        {"date-time", "2024-01-01T00:00:00.Z", false},
                        {"date-time", "2024-02-30T00:00:00Z", false},
                        {"date-time", "2024-01-01T00:00:00", false},
                        {"duration", "1h30m", true},
                        {"duration", "soon", false},
                        {"duration", "1h30", true},
                        {"duration", "P1D", true},
                        {"duration", "1ms 2s", true},
                        {"duration", "1.5 days", true},
                        {"duration", "3 Weeks", true},
                        {"duration", "2 hrs", false},
                        {"duration", "1 micros", true},
                        {"duration", "5", false},
                        {"duration", "", false},
                        {"duration", "99999999999999999999 s", false},
                        {"duration", "1..5s", true},
                        {"byte", "eA==", true},
                        {"byte", "e", false},
                        {"byte", "", false},
                        {"byte", "eA", false},
                        {"byte", "e A=", false},
                        {"uuid", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", true},
                        {"uuid", "x", false},
                        {"hostname", "a.example.com", true},
                        {"hostname", "-a", false},
                        {"hostname", "a", true},
                        {"hostname", "a-", true},
                        {"hostname", "a.b", false},
                        {"hostname", "a.bc", true},
                        {"hostname", "a.", false},
                        {"hostname", "1.2.3.4", false},
                        {"hostname", "\u00e4.example.com", true},
                        {"hostname", "a_b.example.com", false},
                        {"email", "a@b.c", true},
                        {"email", "nobody", false},
                        {"email", "\"a b\"@c.d", true},
                        {"email", "a@b..c", false},
                        {"email", "a..b@c.d", false},
                        {"email", "A B <a@b.c>", true},
                        {"email", "\"A\" (x (y)) <a@b.c> (z)", true},
                        {"email", "a@b.c (name)", true},
                        {"email", "a@[1.2.3.4]", true},
                        {"email", "a@[x]", false},
                        {"email", "group: a@b.c;", true},
                        {"email", "group: a@b.c, d@e.f;", false},
                        {"email", "<a@b.c", false},
                        {"email", "a@b.c, d@e.f", false},
                        {"isbn", "978-0321751041", true},
                        {"isbn", "978-0321751042", false},
                        {"isbn10", "0-8044-2957-X", true},
                        {"isbn10", "0-8044-2957-x", false},
                        {"creditcard", "4012888888881881", true},
                        {"creditcard", "4012888888881882", false},
                        {"ssn", "111-11-1111", true},
                        {"ssn", "111111111", false},
                        {"rgbcolor", "rgb(1, 2,255)", true},
                        {"rgbcolor", "rgb(1,2,256)", false},
                        {"uri", "https://x/y", true},
                        {"uri", "no uri", false},
                        {"uri", "", false},
                        {"uri", "/a b", true},
                        {"uri", "*", true},
                        {"uri", "mailto:a@b.c", true},
                        {"uri", "http://[::1", false},
                        {"uri", "http://[::1%25eth0]:80/", true},
                        {"uri", "http://[1.2.3.4]/", false},
                        {"uri", "http://h/%zz", false},
                        {"uri", "http://h/?%zz", true},
                        {"uri", "http://h:port", false},
                        {"uri", "http://a:b:1", false},
                        {"uri", "postgres://a:1,b:2/", true},
                        {"uri", "http://u:p@h", true},
                        {"uri", "http://#x@h", false},
                        {"uri", "http://a b/", false},
                        {"uri", "http://%41/", false},
                        {"uri", "1http://a", false},
                        {"uri", "://a", false},
                        {"uri", "http://a/\n", false},
                        {"mac", "01:02:03:04:05:06", true},
                        {"mac", "01:02:03-04:05:06", false},
                        {"mac", "0102.0304.0506", true},
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
