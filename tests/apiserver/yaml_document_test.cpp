// SPDX-License-Identifier: Apache-2.0
// Request bodies and manifests in YAML: their types, and errors for what is malformed, deep or large.
#include "apiserver/text/yaml_document.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "apiserver/shell/manifest.hpp"

namespace evenkeel::apiserver {
namespace {

/// Returns the document as JSON, or the error.
std::string read(std::string_view text) {
  try {
    return parse_yaml_whole(text).dump();
  } catch (const DecodeError& error) {
    return error.what();
  }
}

std::string repeated(std::string_view piece, std::size_t times) {
  std::string out;
  for (; times > 0; --times) out += piece;
  return out;
}

/// Mappings in each other, a line each.
std::string nested(std::size_t depth) {
  std::string out;
  for (std::size_t at = 0; at < depth; ++at) out += std::string(at, ' ') + "a:\n";
  return out;
}

}  // namespace

TEST(YamlDocument, ReadsScalarsOfYaml11) {
  EXPECT_EQ(read("{a: y, b: off, c: 'no', d: 0x10, e: 010, f: 1_000, g: -5, h: ~}"),
            R"({"a":true,"b":false,"c":"no","d":16,"e":8,"f":1000,"g":-5,"h":null})");
}

TEST(YamlDocument, WritesKeysAsGoDoes) {
  const std::string wanted =
      R"({"-.inf":8,".nan":7,"1.2345679e+08":9,"1.5":5,"1e+06":6,"8":3,"16":4,"false":2,"true":1})";
  EXPECT_EQ(
      Json::parse(read("y: 1\nno: 2\n010: 3\n0x10: 4\n1.5: 5\n1e6: 6\n.NaN: 7\n-.inf: 8\n123456789.5: 9\n")),
      Json::parse(wanted));
  EXPECT_EQ(
      Json::parse(read("{y: 1, no: 2, 010: 3, 0x10: 4, 1.5: 5, 1e6: 6, .NaN: 7, -.inf: 8, 123456789.5: 9}")),
      Json::parse(wanted));
  EXPECT_EQ(read("'y': 1\n\"010\": 2\n!!str no: 3\n"), R"({"010":2,"no":3,"y":1})");
  EXPECT_EQ(read("~: 1\n"), "yaml: unsupported map key: nothing");
  EXPECT_EQ(read("{a: {null: 1}}"), "yaml: unsupported map key: nothing");
  EXPECT_EQ(read("? [a]\n: 1\n"), "yaml: unsupported map key: a list");
  EXPECT_EQ(read("? {a: b}\n: 1\n"), "yaml: unsupported map key: a map");
}

TEST(YamlDocument, MergesMaps) {
  EXPECT_EQ(read("x: &x {a: 1, b: 2}\ny1:\n  <<: *x\n  b: 3\n"), R"({"x":{"a":1,"b":2},"y1":{"a":1,"b":3}})");
  EXPECT_EQ(read("a:\n  <<: [{b: 1}, {b: 2, c: 2}]\n"), R"({"a":{"b":1,"c":2}})");
}

TEST(YamlDocument, RefusesNumbersThatJsonLacks) {
  EXPECT_EQ(read("a: .inf\n"), "yaml: json: unsupported value: .inf");
  EXPECT_EQ(read("a: [-.Inf]\n"), "yaml: json: unsupported value: -.inf");
  EXPECT_EQ(read("a: .NAN\n"), "yaml: json: unsupported value: .nan");
  EXPECT_EQ(read("a: '.nan'\nb: .Nan\n"), R"({"a":".nan","b":".Nan"})");
}

TEST(YamlDocument, RefusesControlCharacters) {
  for (const std::string_view character : {"\x01", "\x07", "\x1b", "\x7f", "\xc2\x9f", "\xef\xbf\xbe"})
    EXPECT_EQ(read("a: \"b" + std::string(character) + "\"\n"), "yaml: control characters are not allowed");
  EXPECT_EQ(read(std::string("a: b\0c", 6)), "yaml: control characters are not allowed");
  EXPECT_EQ(read("a: \"b\tc\"\n"), R"({"a":"b\tc"})");
}

TEST(YamlDocument, TakesOtherLineEndsAndUtf16) {
  EXPECT_EQ(read("a: b\rc:\r  d: e\r"), R"({"a":"b","c":{"d":"e"}})");
  EXPECT_EQ(read("a: b\r\nc: d\r\n"), R"({"a":"b","c":"d"})");
  EXPECT_EQ(read("a: b\xc2\x85"
                 "c: 'd\xc2\x85"
                 "e'\n"),
            R"({"a":"b","c":"d e"})");
  const auto utf16 = [](std::string_view text, bool big) {
    std::string out = big ? "\xfe\xff" : "\xff\xfe";
    for (const char c : text) out += big ? std::string{'\0', c} : std::string{c, '\0'};
    return out;
  };
  for (const bool big : {false, true}) EXPECT_EQ(parse_yaml(utf16("a: b\n", big)).dump(), R"({"a":"b"})");
}

TEST(YamlDocument, FindsKeysGivenTwice) {
  const std::vector<std::string> twice = {"line 2: key \"k\" already set in map"};
  EXPECT_EQ(yaml_duplicates("a: {k: 1,\n  k: 2}\nb: {k: 1}\n"), twice);
  EXPECT_EQ(yaml_duplicates("k: 1\n'k': 2\n"), twice);
  EXPECT_EQ(read("k: 1\n'k': 2\n"), R"({"k":2})");
  EXPECT_EQ(yaml_duplicates("8: 1\n010: 2\n"), std::vector<std::string>{"line 2: key 8 already set in map"});
}

TEST(YamlDocument, SaysWhatIsMalformed) {
  EXPECT_EQ(read("a: b: c\n"), "yaml: line 1: illegal map value");
  EXPECT_EQ(read("a: \"\\q\"\n"), "yaml: line 1: unknown escape character: q");
  EXPECT_EQ(read("a: *b\n"), "yaml: line 1: the referenced anchor is not defined");
  EXPECT_EQ(read("a: b\n---\nc: d\n"), "yaml: line 3: a second document; expected one");
}

TEST(YamlDocument, RefusesTabsThatIndent) {
  EXPECT_EQ(read("a:\n\tb: c\n"), "yaml: line 2: illegal map value");
  EXPECT_EQ(read("a: b\n\t\n"), "yaml: line 2: illegal tab when looking for indentation");
  EXPECT_EQ(read("a:\tb\tc\n"), R"({"a":"b\tc"})");
}

// Keys that differ would be equal once they are written.
TEST(YamlDocument, RefusesInvalidUtf8) {
  EXPECT_EQ(read("a: \xC3\xA9\nb: \xFF\n"), "yaml: line 2: invalid UTF-8");
  EXPECT_EQ(read("\xC3: 1\n\xC2: 2\n"), "yaml: line 1: invalid UTF-8");
  EXPECT_EQ(read("a: \xED\xA0\x80"), "yaml: line 1: invalid UTF-8");  // a surrogate
}

TEST(YamlDocument, KeepsTheLastOfManyUnsortedKeys) {
  std::string block;
  std::string flow;
  Json wanted = Json::object();
  for (int i = 1000; i > 0; --i) {
    const std::string key = "k" + std::to_string(i * 7 % 500);
    block += key + ": " + std::to_string(i) + "\n";
    flow += (flow.empty() ? "{" : ", ") + key + ": " + std::to_string(i);
    wanted[key] = i;
  }
  EXPECT_EQ(read(block), wanted.dump());
  EXPECT_EQ(read(flow + "}"), wanted.dump());
  EXPECT_EQ(yaml_duplicates(block).size(), 500U);
}

TEST(YamlDocument, RefusesDeepNesting) {
  constexpr std::size_t depth = 10'000;
  for (const std::string& text :
       {repeated("[", depth), repeated("[", depth) + repeated("]", depth), repeated("{a: ", depth),
        repeated("[{a: ", depth), repeated("- ", depth) + "a\n", repeated("? ", depth) + "a\n"}) {
    EXPECT_EQ(read(text), "yaml: line 1: bad file") << text.substr(0, 10);
    EXPECT_THROW(read_manifest(text), DecodeError) << text.substr(0, 10);
  }
  EXPECT_EQ(read(nested(1'000)), "yaml: line 499: bad file");
  EXPECT_EQ(read(nested(300)), repeated(R"({"a":)", 300) + "null" + repeated("}", 300));
}

TEST(YamlDocument, ReadsLargeScalars) {
  const std::string large(3'000'000, 'x');
  for (const std::string& text : {"a: " + large + "\n", "a: \"" + large + "\"\n", "a: '" + large + "'\n",
                                  "a: |-\n  " + large + "\n", "#" + large + "\na: " + large + "\n"})
    EXPECT_TRUE(read(text) == R"({"a":")" + large + "\"}") << text.substr(0, 10);
  EXPECT_EQ(read(large + ": a\n"), "yaml: line 1: illegal map value");
}

}  // namespace evenkeel::apiserver
