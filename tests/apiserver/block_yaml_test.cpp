// SPDX-License-Identifier: Apache-2.0
// The parser of YAML in block style agrees with yaml-cpp on every document that it accepts.
#include "apiserver/text/block_yaml.hpp"

#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/yaml_writer.hpp"
#include "client/config/yaml_text.hpp"

namespace evenkeel::apiserver {
namespace {

Json by_other_parser(const std::string& text) {
  return v0::detail::yaml_to_json(v0::detail::load_yaml(text), v0::detail::yaml_allowance(text.size()));
}

/// Returns the document as JSON, or "left".
std::string parsed(std::string_view text) {
  const auto result = parse_block_yaml(text);
  return result ? result->document.dump() : "left";
}

/// Returns true if the document is accepted; then it is the one that yaml-cpp reads.
bool agrees(const std::string& text) {
  const auto result = parse_block_yaml(text);
  if (!result) return false;
  try {
    EXPECT_EQ(result->document.dump(), by_other_parser(text).dump()) << text;
  } catch (const YAML::Exception& error) {
    ADD_FAILURE() << error.what() << "\n" << text;
  }
  return true;
}

class Documents {
 public:
  explicit Documents(unsigned seed) : random_(seed) {}

  template <class Item>
  const Item& one_of(const std::vector<Item>& items) {
    return items[random_() % items.size()];
  }

  Json document(int depth) {
    switch (depth == 0 ? 2 : random_() % 4) {
      case 0: {
        Json out = Json::array();
        for (auto count = random_() % 4; count > 0; --count) out.push_back(document(depth - 1));
        return out;
      }
      case 1: {
        Json out = Json::object();
        for (auto count = random_() % 4; count > 0; --count) out[one_of(keys)] = document(depth - 1);
        return out;
      }
      default:
        return one_of(scalars);
    }
  }

  /// Lines of tokens that are mostly, but not always, YAML.
  std::string lines() {
    std::string out;
    for (auto count = 1 + random_() % 6; count > 0; --count) {
      out.append(random_() % 5, ' ');
      for (auto parts = 1 + random_() % 3; parts > 0; --parts) out += one_of(tokens);
      out += random_() % 10 == 0 ? "" : "\n";
    }
    return out;
  }

 private:
  const std::vector<std::string> keys = {
      "a", "b", "spec", "f:labels", ".", "k:{\"port\":1}", "null", "y", "1", "a b", "-x", "#", "", "it's"};
  const std::vector<Json> scalars = {
      1,       -2.5,  true,   Json(), "",    "text",       "a: b", "a #b",   "yes",
      "0x10",  "- a", "it's", "|",    "a\n", "a\nb",       "\n a", "a\n\nb", "x\\y",
      "\"q\"", "~",   "null", "1e3",  "a:",  "2026-01-01", "=",    "{}",     "http://x:80/y?z",
      "%a",    "@a",  "a,b]", "!x",   "&a",  "*a",         ">",    "a\tb",   "tr "};
  const std::vector<std::string> tokens = {
      "a: ", "b:",  "- ", "-",   "x",    "1",    "\"q\"", "'s'",     "{}",   "[]",   "|",     "|-",  " ",
      "#",   "# c", ": ", "~",   "null", "yes",  "-1",    "k:v",     "---",  "...",  "it''s", "\\n", "{",
      "]",   "&a ", "*a", "!t ", ">",    "? ",   "a b: ", "\"a\": ", "'b':", "\\\"", "%",     "@",   ",",
      "a",   "\"",  "'",  "\t",  "y: ",  "0x1F", "1_0",   "|+",      "|2",   ": |\n"};
  std::mt19937 random_;
};

}  // namespace

TEST(BlockYaml, ReadsWhatKubectlWrites) {
  EXPECT_EQ(
      parsed(R"(# A comment.
apiVersion: v1
data:
  empty: ""
  script: |
    #!/bin/sh
      echo "a: b"

    exit
  tail: |-
    x
metadata:
  labels: {}
  managedFields:
  - fieldsV1:
      f:metadata:
        f:labels:
          .: {}
          k:{"port":80,"protocol":"TCP"}: {}
    manager: 'it''s'
  - name: "a\tb\"c\\"
list:
  - - 1
    - 0x10
  -
    yes: no
  # Another one.
  - ~
  - http://a:80
none:
)"),
      R"({"apiVersion":"v1","data":{"empty":"","script":"#!/bin/sh\n  echo \"a: b\"\n\nexit\n","tail":"x"},)"
      R"("list":[[1,16],{"true":false},null,"http://a:80"],"metadata":{"labels":{},"managedFields":[{"fieldsV1":)"
      R"({"f:metadata":{"f:labels":{".":{},"k:{\"port\":80,\"protocol\":\"TCP\"}":{}}}},"manager":"it's"},)"
      R"({"name":"a\tb\"c\\"}]},"none":null})");
}

TEST(BlockYaml, LeavesEverythingElse) {
  for (const char* text : {"",
                           "# a\n",
                           "a",
                           "- [1]",
                           "a: {b: c}",
                           "a: &x b",
                           "a: *x",
                           "<<:\n  a: b\n",
                           "a: !t b",
                           "a: >\n  b\n",
                           "a: b\n  c\n",
                           "? a\n: b\n",
                           "a:\n  |\n  b\n",
                           "\ta: b\n",
                           "a: b\n\t\n",
                           "a: \xFF\n",
                           "\xEF\xBB\xBF"
                           "a: b\n",
                           "a: \"\\N\"\n",
                           "a: \"\\ud83d\\ude00\"\n",
                           "a: \"b\n  c\"\n",
                           "--- \na: b\n",
                           "a: b\n...\n",
                           "%YAML 1.1\n",
                           "? a\n",
                           "a:\tb\n",
                           "a: \xC3\xBC\n",
                           "a: b\r\n",
                           "a: b\n c: d\n",
                           " a: b\nc: d\n",
                           "a: 'b\n",
                           "a: b: c\n",
                           "a:\n- b\n c\n",
                           "null: a\n",
                           "a: .inf\n",
                           ".nan: a\n",
                           "a: @b\n",
                           "a: |\nb\n",
                           "a: |\n  b\n c: d\n"})
    EXPECT_EQ(parsed(text), "left") << text;
  EXPECT_EQ(parsed(std::string(200, ' ').insert(0, "a:\n") + "b: c"), R"({"a":{"b":"c"}})");
  std::string deep;
  for (int at = 0; at < 200; ++at) deep += std::string(static_cast<std::size_t>(at), ' ') + "a:\n";
  EXPECT_EQ(parsed(deep), "left");
}

TEST(BlockYaml, ReadsWhatPeopleWrite) {
  for (const auto& [text, document] : std::vector<std::pair<const char*, const char*>>{
           {"a: b # c\n", R"({"a":"b"})"},
           {"a: |2\n   b\n", R"({"a":" b\n"})"},
           {"a: |+\n  b\n\nc: d\n", R"({"a":"b\n\n","c":"d"})"},
           {"a: |\n\n  b\n", R"({"a":"\nb\n"})"},
           {"a: |\n  b", R"({"a":"b"})"},
           {"\"\\x41\" : 'b'\n", R"({"A":"b"})"},
           {"y: 010\n1: 1_000\nb: 0o7\nc: +1\nd: 1:30\n", R"({"1":1000,"b":7,"c":1,"d":"1:30","true":8})"},
           {"- 2026-01-01\n- 1e3\n- 'no'\n- Off\n- =\n", R"(["2026-01-01",1000,"no",false,"="])"},
       }) {
    EXPECT_EQ(parsed(text), document) << text;
    EXPECT_TRUE(agrees(text)) << text;
  }
}

// Beyond 1,024 characters a key needs a question mark.
TEST(BlockYaml, AgreesWithTheOtherParserOnLongKeys) {
  for (const std::size_t size : {1'000U, 1'023U, 1'024U, 1'025U, 100'000U})
    for (const char* quote : {"", "'", "\""})
      for (const char* colon : {":", "  :"}) {
        const std::string text = quote + std::string(size, 'k') + quote + colon + " v\n";
        EXPECT_EQ(agrees(text), text.find(':') <= 1'024) << size << quote << colon;
      }
}

TEST(BlockYaml, ReportsDuplicateKeys) {
  EXPECT_FALSE(parse_block_yaml("a:\n  b: 1\nb:\n  b: 1\n")->duplicates);
  const auto twice = parse_block_yaml("a:\n  b: 1\n  b: 2\n");
  EXPECT_TRUE(twice->duplicates);
  EXPECT_EQ(twice->document.dump(), R"({"a":{"b":2}})");
}

TEST(BlockYaml, PassesItemsOn) {
  std::string items;
  const auto list = parse_block_yaml("items:\n- a: 1\n- items:\n  - 2\nkind: List\n",
                                     [&](const Json& item) { items += item.dump(); });
  EXPECT_EQ(list->document.dump(), R"({"items":[],"kind":"List"})");
  EXPECT_EQ(items, R"({"a":1}{"items":[2]})");
}

TEST(BlockYaml, AgreesWithTheOtherParserOnDocuments) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Documents documents(seed);
  int accepted = 0;
  for (int round = 0; round < 3000; ++round)
    accepted += agrees(v0::detail::to_yaml(Json::object({{"a", documents.document(3)}}))) ? 1 : 0;
  EXPECT_GT(accepted, 1000);
}

TEST(BlockYaml, AgreesWithTheOtherParserOnLines) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Documents documents(seed);
  int accepted = 0;
  for (int round = 0; round < 100'000; ++round) accepted += agrees(documents.lines()) ? 1 : 0;
  EXPECT_GT(accepted, 500);
}

}  // namespace evenkeel::apiserver
