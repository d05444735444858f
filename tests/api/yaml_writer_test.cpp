// SPDX-License-Identifier: Apache-2.0
#include "api/yaml_writer.hpp"

#include <string>

#include <gtest/gtest.h>

#include "api/yaml_scalar.hpp"
#include "client/config/yaml_text.hpp"

namespace evenkeel {
namespace {

using detail::to_yaml;

std::string yaml_of(const char* text) {
  return to_yaml(Json::object({{"k", text}}));
}

/// Returns the text as it is after it was written and read.
Json read_back(const char* text) {
  const std::string yaml = yaml_of(text);
  return detail::yaml_to_json(detail::load_yaml(yaml), detail::yaml_allowance(yaml.size()))["k"];
}

TEST(Yaml, WritesBlocks) {
  const Json document =
      Json::parse(R"({"apiVersion": "v1", "metadata": {"labels": {}, "list": []}, "n": null, "yes": true,
                      "items": [{"name": "a", "ports": [1, 2]}, "x", [3, [4]]]})");
  EXPECT_EQ(to_yaml(document), R"(apiVersion: v1
items:
- name: a
  ports:
  - 1
  - 2
- x
- - 3
  - - 4
metadata:
  labels: {}
  list: []
"n": null
"yes": true
)");
}

// Members stand in the order of sigs.k8s.io/yaml: digits by value, letters after other characters.
TEST(Yaml, SortsMembersNaturally) {
  EXPECT_EQ(to_yaml(Json::parse(R"({"b": 1, "a10": 1, "a9": 1, "a/b": 1, "_": 1})")),
            "_: 1\na/b: 1\na9: 1\na10: 1\nb: 1\n");
}

TEST(Yaml, QuotesTextsThatWouldBeReadAsSomethingElse) {
  for (const char* text :
       {"true", "Yes", "off", "null", "~", "1", "1.5", "0x10", "", "2026-01-01", "1:30", "="})
    EXPECT_EQ(yaml_of(text), "k: " + Json(text).dump() + "\n") << text;
  for (const char* text : {"a: b", "a #b", "- a", "@a", "{a", "*a", "trailing ", "a:", "? a", "---"})
    EXPECT_EQ(yaml_of(text), "k: '" + std::string(text) + "'\n") << text;
  for (const char* text : {"demos.demo.evenkeel.dev", "apiextensions.k8s.io/v1", "how many, at most",
                           "readyReplicas", "-1x", "a:b", "ü"})
    EXPECT_EQ(yaml_of(text), std::string("k: ") + text + "\n") << text;
  EXPECT_EQ(yaml_of("@it's"), "k: '@it''s'\n");
}

// Regression: Go reads these as numbers, but they had no quotes: integers above 63 bits that are not decimal,
// and numbers with underscores that are not integers of 63 bits.
TEST(Yaml, QuotesTextsThatAreNumbersToGo) {
  for (const char* text :
       {"0xFFFFFFFFFFFFFFFF", "0xffff_ffff_ffff_ffff", "01777777777777777777777", "0o1777777777777777777777",
        "0b1111111111111111111111111111111111111111111111111111111111111111", "18446744073709551615",
        "18_446_744_073_709_551_615", "99_999_999_999_999_999_999", "-9223372036854775808", "1_000.5",
        "-1_0e3", "+1_0.", "1_000"}) {
    EXPECT_EQ(yaml_of(text), "k: " + Json(text).dump() + "\n");
    EXPECT_EQ(read_back(text), Json(text)) << text;
  }
  // An underscore in front of the first digit makes a word.
  for (const char* text : {"_1", "._5", ".5_0", "1_000.5.1"}) {
    EXPECT_EQ(yaml_of(text), std::string("k: ") + text + "\n");
    EXPECT_EQ(read_back(text), Json(text)) << text;
  }
}

TEST(Yaml, ReadsNumbersAsGoDoes) {
  EXPECT_EQ(detail::plain_scalar("0xFFFFFFFFFFFFFFFF"), Json(18446744073709551615.0));
  EXPECT_EQ(detail::plain_scalar("18_446_744_073_709_551_615"), Json(18446744073709551615.0));
  EXPECT_EQ(detail::plain_scalar("1_000.5"), Json(1000.5));
  EXPECT_EQ(detail::plain_scalar("0x1FFFFFFFFFFFFFFFF"), Json("0x1FFFFFFFFFFFFFFFF"));
  EXPECT_EQ(detail::plain_scalar("-0x8000000000000001"), Json("-0x8000000000000001"));
  EXPECT_EQ(detail::plain_scalar("-9223372036854775808").dump(), "-9223372036854775808");
  EXPECT_EQ(detail::plain_scalar("0x7fff_ffff_ffff_ffff").dump(), "9223372036854775807");
}

TEST(Yaml, ReadsMergesAndTagsAsGoDoes) {
  const auto read = [](const std::string& yaml) {
    try {
      return detail::yaml_to_json(detail::load_yaml(yaml), detail::yaml_allowance(yaml.size())).dump();
    } catch (const DecodeError& error) {
      return error.problem();
    }
  };
  EXPECT_EQ(read("b: &b {x: 1, y: 2}\nk: {<<: *b, y: 3}\n"),
            R"({"b":{"true":2,"x":1},"k":{"true":3,"x":1}})");
  EXPECT_EQ(read("{z: 3, <<: {x: 1, z: 2}}"), R"({"x":1,"z":2})");
  EXPECT_EQ(read("<<: [{a: 1}, {a: 2, c: {<<: {d: 3}}}]\n"), R"({"a":1,"c":{"d":3}})");
  EXPECT_EQ(read("'<<': {a: 1}\n"), R"({"<<":{"a":1}})");
  EXPECT_EQ(read("<<: a\n"), "map merge requires map or sequence of maps as the value");
  EXPECT_EQ(read("{k: !!binary aGk=, l: !!binary /w==, m: !!str 5, q: !own 5, o: !!float 5, p: !!null ''}"),
            "{\"k\":\"hi\",\"l\":\"\xef\xbf\xbd\",\"m\":\"5\",\"o\":5,\"p\":null,\"q\":\"5\"}");
  EXPECT_EQ(read("k: !!binary '?'"), "!!binary value contains invalid base64 data");
  EXPECT_EQ(read("k: !!int x"), "not a !!int");
  EXPECT_EQ(read("{a: 1, a: 2}"), R"({"a":2})");
}

TEST(Yaml, WritesLinesAsALiteral) {
  EXPECT_EQ(yaml_of("a\nb"), "k: |-\n  a\n  b\n");
  EXPECT_EQ(yaml_of("a\n\nb\n"), "k: |\n  a\n\n  b\n");
  EXPECT_EQ(yaml_of(" a\nb\n\n"), "k: |2+\n   a\n  b\n\n");
  EXPECT_EQ(yaml_of("a \nb"), "k: \"a \\nb\"\n");
}

// U+0085, U+2028 and U+2029 end a line of YAML 1.1, U+FEFF is a mark; a reader would lose them.
TEST(Yaml, EscapesLettersThatAReaderWouldNotGiveBack) {
  EXPECT_EQ(yaml_of("a\tb\x01\x7f"), "k: \"a\\tb\\x01\\x7F\"\n");
  EXPECT_EQ(yaml_of("a\u0085\u2028\u2029b"), "k: \"a\\N\\L\\Pb\"\n");
  EXPECT_EQ(yaml_of("\uFEFFa"), "k: \"\\uFEFFa\"\n");
  EXPECT_EQ(yaml_of("\U0001F600"), "k: \"\\U0001F600\"\n");
  EXPECT_EQ(yaml_of("a\n\u2028\u00fc"), "k: \"a\\n\\L\u00fc\"\n");
  EXPECT_EQ(yaml_of("a\u202e\u061c"), "k: \"a\\u202E\\u061C\"\n");
}

TEST(Yaml, ABareScalarIsADocument) {
  EXPECT_EQ(to_yaml(Json("web")), "web\n");
  EXPECT_EQ(to_yaml(Json::array()), "[]\n");
}

}  // namespace
}  // namespace evenkeel
