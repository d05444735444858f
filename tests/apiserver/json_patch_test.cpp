// SPDX-License-Identifier: Apache-2.0
// Deviations of a real server's JSON patch from RFC 6902, and its error texts.
#include "apiserver/merge/json_patch.hpp"

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "apiserver/text/go_json.hpp"

namespace ek = evenkeel;
using ek::Json;

namespace {

/// Returns the document after the operations, or "refused".
std::string patched(const std::string& document, const std::string& operations) {
  try {
    return ek::apiserver::apply_lax_json_patch(Json::parse(document), Json::parse(operations), operations)
        .dump();
  } catch (const ek::apiserver::JsonPatchError&) {
    return "refused";
  }
}

}  // namespace

TEST(JsonPatch, TakesMissingMembersForNull) {
  EXPECT_EQ(patched(R"({"a": 1})", R"([{"op": "replace", "path": "/b", "value": 2}])"), R"({"a":1,"b":2})");
  EXPECT_EQ(patched(R"({"a": 1})", R"([{"op": "copy", "from": "/x", "path": "/b"}])"), R"({"a":1,"b":null})");
  EXPECT_EQ(patched(R"({"a": 1})", R"([{"op": "test", "path": "/x", "value": null}])"), R"({"a":1})");
  EXPECT_EQ(patched(R"({"a": 1})", R"([{"op": "add", "path": "/b"}])"), R"({"a":1,"b":null})");
}

TEST(JsonPatch, TestsCompareTheTextOfScalars) {
  const std::string document = R"({"i":1,"x":1.5,"l":[1,{"b":true}],"s":"a<b\u2028é","n":null,"e":1e21})";
  const auto equal = [&](const std::string& path, const std::string& value) {
    return patched(document, R"([{"op": "test", "path": "/)" + path + R"(", "value": )" + value + "}]") !=
           "refused";
  };
  EXPECT_TRUE(equal("i", " 1 "));
  EXPECT_FALSE(equal("i", "1.0"));
  EXPECT_FALSE(equal("i", "1e0"));
  EXPECT_FALSE(equal("i", "\"1\""));
  EXPECT_TRUE(equal("x", "1.5"));
  EXPECT_FALSE(equal("x", "1.50"));
  EXPECT_TRUE(equal("e", "1e+21"));
  EXPECT_FALSE(equal("e", "1e21"));
  EXPECT_TRUE(equal("l", "[ 1, {\"b\" : true} ]"));
  EXPECT_FALSE(equal("l", "[1.0,{\"b\":true}]"));
  EXPECT_TRUE(equal("s", R"("a\u003cb\u2028é")"));
  EXPECT_FALSE(equal("s", R"("a<b\u2028é")"));
  EXPECT_FALSE(equal("s", R"("a\u003cb\u2028\u00e9")"));
  EXPECT_TRUE(equal("n", "null"));
  EXPECT_FALSE(equal("n", "0"));
  EXPECT_EQ(patched(document, R"([{"op":"add","path":"/i","value":"\u0076"},
    {"op":"test","path":"/i","value":"\u0076"}, {"op":"test","path":"/x","value":1.5}])"),
            R"({"e":1e+21,"i":"v","l":[1,{"b":true}],"n":null,"s":"a<b\u2028é","x":1.5})");
  EXPECT_EQ(patched(document, R"([{"op":"add","path":"/i","value":"\u0076"},
    {"op":"test","path":"/i","value":"v"}])"),
            "refused");
}

TEST(MergePatch, DropsNullsWithinLists) {
  const auto merged = [](const std::string& document, const std::string& patch) {
    return ek::apiserver::apply_lax_merge_patch(Json::parse(document), Json::parse(patch)).dump();
  };
  EXPECT_EQ(merged(R"({"l": 1})", R"({"l": [{"x": null, "y": [{"z": null}]}, null, [{"q": null}]]})"),
            R"({"l":[{"y":[{}]},null,[{}]]})");
  EXPECT_EQ(merged("{}", R"({"a": {"b": [{"x": null}], "c": null}})"), R"({"a":{"b":[{}]}})");
  EXPECT_EQ(merged(R"({"a": {"b": 1}})", R"({"a": {"b": null, "c": [{"x": null}]}})"), R"({"a":{"c":[{}]}})");
  EXPECT_EQ(merged(R"({"a": {"b": 1}})", R"({"a": [{"x": null}]})"), R"({"a":[{"x":null}]})");
  EXPECT_EQ(merged(R"({"a": {"b": 1}})", R"({"a": 5, "c": null})"), R"({"a":5})");
}

TEST(GoJson, ReadsAndWritesStringsLikeGo) {
  const auto read = [](std::string_view text) { return ek::apiserver::parse_go_json(text).as_string(); };
  EXPECT_EQ(read(R"("\ud83d")"), "\xef\xbf\xbd");
  EXPECT_EQ(read(R"("\uDE00\uD83D")"), "\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(read(R"("\ud83d\ud83d\ude00x")"), "\xef\xbf\xbd\xf0\x9f\x98\x80x");
  EXPECT_EQ(read(R"("\\ud83d\ud83d\n")"), "\\ud83d\xef\xbf\xbd\n");
  EXPECT_THROW(ek::apiserver::parse_go_json("\"\\"), ek::DecodeError);
  EXPECT_THROW(ek::apiserver::parse_go_json("\"\\ud83"), ek::DecodeError);
  EXPECT_TRUE(ek::apiserver::escapes_surrogates(R"(["\ud83d\ude00"])"));
  EXPECT_FALSE(ek::apiserver::escapes_surrogates(R"(["\\ud83d", "\ue000", "\ud7ff"])"));
  try {
    ek::apiserver::parse_go_json("\xef\xbb\xbf{}");
    FAIL();
  } catch (const ek::DecodeError& error) {
    EXPECT_EQ(error.problem(), "parse error at line 1, column 1: a byte order mark");
  }
  EXPECT_EQ(ek::apiserver::go_json(Json::object(
                {{"<a>", Json::array({"&\u2028\u2029\u202e\x7f", "\x01\b\f\n\"\\"})}, {"n", 1e20}})),
            "{\"\\u003ca\\u003e\":[\"\\u0026\\u2028\\u2029\u202e\x7f\",\"\\u0001\\b\\f\\n\\\"\\\\\"],"
            "\"n\":100000000000000000000}");
}

TEST(JsonPatch, RefusesWhatIsNotThere) {
  EXPECT_EQ(patched(R"({"a": 1})", R"([{"op": "remove", "path": "/b"}])"), "refused");
  EXPECT_EQ(patched(R"({"a": 1})", R"([{"op": "move", "from": "/b", "path": "/c"}])"), "refused");
  EXPECT_EQ(patched(R"({"a": 1})", R"([{"op": "add", "path": "/b/c", "value": 1}])"), "refused");
  EXPECT_EQ(patched(R"({"a": 1})", R"([{"op": "test", "path": "/a", "value": 2}])"), "refused");
  EXPECT_EQ(patched(R"({"a": 1})", R"([{"op": "frob", "path": "/a"}])"), "refused");
  EXPECT_EQ(patched(R"({"a": 1})", R"([{"op": "add", "path": "", "value": {}}])"), "refused");
}

TEST(JsonPatch, CountsNegativeIndexesFromTheEnd) {
  const std::string list = R"({"l": [1, 2, 3]})";
  EXPECT_EQ(patched(list, R"([{"op": "replace", "path": "/l/-1", "value": 9}])"), R"({"l":[1,2,9]})");
  EXPECT_EQ(patched(list, R"([{"op": "remove", "path": "/l/-3"}])"), R"({"l":[2,3]})");
  EXPECT_EQ(patched(list, R"([{"op": "remove", "path": "/l/-4"}])"), "refused");
  EXPECT_EQ(patched(list, R"([{"op": "add", "path": "/l/-1", "value": 9}])"), R"({"l":[1,2,3,9]})");
  EXPECT_EQ(patched(list, R"([{"op": "add", "path": "/l/01", "value": 9}])"), R"({"l":[1,9,2,3]})");
  EXPECT_EQ(patched(list, R"([{"op": "add", "path": "/l/4", "value": 9}])"), "refused");
}

TEST(JsonPatch, TakesAPathWithoutSlashForTheRoot) {
  EXPECT_EQ(patched(R"({"a": {}})", R"([{"op": "add", "path": "a/b", "value": 1}])"), R"({"a":{},"b":1})");
  EXPECT_EQ(patched(R"({"a": {}})", R"([{"op": "add", "path": "/x~1y~0z", "value": 1}])"),
            R"({"a":{},"x/y~z":1})");
}

std::string copies(std::size_t count, const std::string& from, const std::string& path) {
  std::string operations = "[";
  for (std::size_t i = 0; i < count; ++i)
    operations += (i > 0 ? "," : "") + (R"({"op": "copy", "from": ")" + from + R"(", "path": ")" + path +
                                        std::to_string(i) + R"("})");
  return operations + "]";
}

// Source: apiserver pkg/server/config.go JSONPatchMaxCopyBytes.
TEST(JsonPatch, RefusesCopiesThatGrowWithoutBound) {
  const std::string text = R"({"a": {"t": ")" + std::string(1000, 'x') + R"("}})";
  EXPECT_EQ(patched(text, copies(40, "/a", "/a/c")), "refused");
  EXPECT_EQ(patched(text, copies(4000, "/a/t", "/a/c")), "refused");
  EXPECT_EQ(patched(text, copies(3000, "/a/t", "/a/c")).substr(0, 10), R"({"a":{"c0")");
}

TEST(JsonPatch, RefusesDocumentsThatNestTooDeeply) {
  std::string added = "[";
  std::string moved = R"([{"op": "add", "path": "/a", "value": [[1]]})";
  std::string path;
  for (int i = 0; i < 600; ++i) {
    path += "/a";
    added += std::string(i > 0 ? "," : "") + R"({"op": "add", "path": ")" + path + R"(", "value": {}})";
    const std::string step = "/m" + std::to_string(i);
    moved += R"(,{"op": "add", "path": ")" + step +
             R"(", "value": {}},{"op": "move", "from": "/a", "path": ")" + step +
             R"(/a"},{"op": "move", "from": ")" + step + R"(", "path": "/a"})";
  }
  EXPECT_EQ(patched("{}", added + "]"), "refused");
  EXPECT_EQ(patched("{}", moved + "]"), "refused");
  EXPECT_EQ(patched("{}", R"([{"op": "add", "path": "/a", "value": )" + std::string(510, '[') +
                              std::string(510, ']') + "}]")
                .size(),
            1026U);
}

TEST(JsonPatch, SaysWhatCannotBeDecoded) {
  EXPECT_EQ(ek::apiserver::json_patch_decode_problem(Json::parse("[1]")), "[0]: expected an object, got 1");
  EXPECT_EQ(ek::apiserver::json_patch_decode_problem(Json::parse(R"([{"op": "add", "path": 5}])")),
            "[0].path: expected a string, got 5");
  const std::string text = R"([{"op": "add", "op": "add", "path": "/a", "more": 1}])";
  const std::vector<std::string> problems = {"json patch duplicate field \"[0].op\"",
                                             "json patch unknown field \"[0].more\""};
  EXPECT_EQ(ek::apiserver::json_patch_strict_problems(text, Json::parse(text)), problems);
}
