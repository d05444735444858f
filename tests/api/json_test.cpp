// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/api/json.hpp>

using evenkeel::DecodeError;
using evenkeel::Json;

namespace {

TEST(Json, MembersAreSortedAndUnique) {
  EXPECT_EQ(Json::parse(R"({"b":1,"a":2,"b":3})").dump(), R"({"a":2,"b":3})");
  EXPECT_EQ(Json::object({{"b", 1}, {"a", 2}}).dump(), R"({"a":2,"b":1})");
}

/// Returns an object of `count` members "k0000".. whose names arrive in this order, preceded by `prefix`.
std::string object_text(const std::vector<std::size_t>& order, const std::string& prefix = "") {
  std::string text = "{" + prefix;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::string digits = std::to_string(order[i]);
    text +=
        (i > 0 ? ",\"k" : "\"k") + std::string(7 - digits.size(), '0') + digits + "\":" + std::to_string(i);
  }
  return text + "}";
}

// Only the second parser reads numbers above 64 bits, so such a member selects it.
class JsonMembers : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(OfBothParsers, JsonMembers, ::testing::Values("", "\"\":18446744073709551616,"),
                         [](const auto& chosen) { return *chosen.param == 0 ? "fast" : "exact"; });

TEST_P(JsonMembers, ArriveInAnyOrderAndTheLastOfOneNameWins) {
  std::mt19937 random(7);
  for (const std::size_t count : {1U, 2U, 63U, 64U, 65U, 66U, 500U}) {
    std::vector<std::size_t> order(count);
    for (std::size_t& name : order) name = random() % count;
    std::map<std::string, std::size_t> expected;
    for (std::size_t i = 0; i < count; ++i)
      expected["k" + std::to_string(1'0000'000 + order[i]).substr(1)] = i;
    const Json read = Json::parse(object_text(order, GetParam()));
    std::string text;
    std::string last;
    for (const auto& [name, value] : read.as_object()) {
      EXPECT_TRUE(name.empty() || last < name);
      last = name;
      if (!name.empty()) text += name + "=" + value.dump() + " ";
    }
    std::string wanted;
    for (const auto& [name, value] : expected) wanted += name + "=" + std::to_string(value) + " ";
    EXPECT_EQ(text, wanted) << count;
  }
}

// Takes minutes if each insertion moves the members after it.
TEST_P(JsonMembers, InDescendingOrderAreReadInLittleTime) {
  std::vector<std::size_t> order(200'000);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = order.size() - i;
  const Json read = Json::parse(object_text(order, GetParam()));
  EXPECT_EQ(read["k0200000"], Json(0));
  EXPECT_EQ(read["k0000001"], Json(199'999));
}

TEST(Json, IntegersAndNumbersOfOneValueAreEqual) {
  EXPECT_EQ(Json(1), Json(1.0));
  EXPECT_NE(Json(1), Json(1.5));
  EXPECT_NE(Json(1), Json("1"));
  EXPECT_NE(Json(0), Json(false));
  EXPECT_NE(Json(), Json(0));
}

TEST(Json, WritesNegativeZeroAsWhatItEquals) {
  for (const char* text : {"-0E4", "-0.0", "-0", "0.0"}) {
    const Json zero = Json::parse(text);
    EXPECT_EQ(zero.dump(), "0") << text;
    EXPECT_EQ(Json::parse(zero.dump()), zero) << text;
  }
}

TEST(Json, KeepsIntegersExact) {
  EXPECT_EQ(Json::parse("9223372036854775807").as_integer(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(Json::parse("-9223372036854775808").dump(), "-9223372036854775808");
  EXPECT_EQ(Json::parse("9223372036854775808").kind(), Json::Kind::number);
}

TEST(Json, ReadingWhatIsAbsentNeverThrowsOrInserts) {
  const Json document = Json::parse(R"({"a":[{"b":1}]})");
  EXPECT_EQ(document.at({"a", "0", "b"}), Json(1));
  EXPECT_TRUE(document.at({"a", "1", "b"}).is_null());
  EXPECT_TRUE(document.at({"a", "x"}).is_null());
  EXPECT_TRUE(document["a"]["b"]["c"].is_null());
  EXPECT_EQ(document.size(), 1U);
}

TEST(Json, WritingMakesObjectsOfNulls) {
  Json document;
  document["a"]["b"] = 1;
  document["c"].push_back("x");
  EXPECT_EQ(document.dump(), R"({"a":{"b":1},"c":["x"]})");
  EXPECT_THROW(document["c"]["d"] = 1, DecodeError);
  EXPECT_TRUE(document.erase("a"));
  EXPECT_FALSE(document.erase("a"));
}

TEST(Json, MayBeAssignedAPartOfItself) {
  Json document = Json::parse(R"({"a":{"b":{"c":1}}})");
  document = document["a"];
  EXPECT_EQ(document.dump(), R"({"b":{"c":1}})");
  document = std::move(document["b"]);
  EXPECT_EQ(document.dump(), R"({"c":1})");
}

TEST(Json, WrongKindsAreNamed) {
  try {
    static_cast<void>(Json("x").as_integer());
    ADD_FAILURE();
  } catch (const DecodeError& error) {
    EXPECT_STREQ(error.what(), "expected integer, found string");
  }
}

TEST(Json, RefusesInvalidJsonWithLineAndColumn) {
  try {
    static_cast<void>(Json::parse("{\n  \"a\": nope\n}", "config"));
    ADD_FAILURE();
  } catch (const DecodeError& error) {
    EXPECT_EQ(std::string(error.what()).rfind("config: parse error at line 2, column", 0), 0U)
        << error.what();
  }
  for (const char* text :
       {"", "{", "[1,]", "{\"a\":1,}", "01", "+1", "'a'", "{} {}", "\"\\u12\"", "\"\xff\"", "nul"})
    EXPECT_THROW(static_cast<void>(Json::parse(text)), DecodeError) << text;
}

// The text may be a Secret.
TEST(Json, ErrorsQuoteNothing) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"data":{"password":"hunter2)",
       "parse error at line 1, column 29: syntax error while parsing value - invalid string: missing closing "
       "quote"},
      {R"({"data":{"password":hunter2}})",
       "parse error at line 1, column 21: syntax error while parsing value - invalid literal"},
      {R"({"data":{"password":"hunter2'; expected hunter2\x"}})",
       "parse error at line 1, column 49: syntax error while parsing value - invalid string: forbidden "
       "character "
       "after backslash"},
      {R"({"data":{"password":22771e99999}})", "number overflow"},
  };
  for (const auto& [text, problem] : cases) {
    try {
      static_cast<void>(Json::parse(text));
      ADD_FAILURE() << "accepted: " << text;
    } catch (const DecodeError& error) {
      EXPECT_EQ(error.what(), "JSON: " + problem);
    }
  }
}

TEST(Json, RefusesDeepNesting) {
  EXPECT_NO_THROW(static_cast<void>(Json::parse(std::string(512, '[') + std::string(512, ']'))));
  EXPECT_THROW(static_cast<void>(Json::parse(std::string(513, '[') + std::string(513, ']'))), DecodeError);
  EXPECT_THROW(static_cast<void>(Json::parse(std::string(100000, '['))), DecodeError);
}

TEST(Json, PrintsIndented) {
  EXPECT_EQ(Json::parse(R"({"a":[1,{}],"b":[]})").dump(2),
            "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": []\n}");
}

TEST(Json, WhatIsNotFiniteIsNull) {
  EXPECT_EQ(Json(std::numeric_limits<double>::infinity()).dump(), "null");
  EXPECT_EQ(Json(0.1).dump(), "0.1");
  EXPECT_EQ(Json(1e300).dump(), "1e+300");
}

TEST(Json, WritesNumbersLikeGo) {
  const auto written = [](std::string_view text) { return Json::parse(text).dump(); };
  EXPECT_EQ(written("9223372036854775808"), "9223372036854776000");
  EXPECT_EQ(written("-9223372036854775809"), "-9223372036854776000");
  EXPECT_EQ(written("18446744073709551615"), "18446744073709552000");
  EXPECT_EQ(written("12345678901234567.0"), "12345678901234568");
  EXPECT_EQ(written("1e16"), "10000000000000000");
  EXPECT_EQ(written("1e20"), "100000000000000000000");
  EXPECT_EQ(written("1e21"), "1e+21");
  EXPECT_EQ(written("123456789012345678901234567890"), "1.2345678901234568e+29");
  EXPECT_EQ(written("0.000001"), "0.000001");
  EXPECT_EQ(written("-0.00001234"), "-0.00001234");
  EXPECT_EQ(written("0.0000001"), "1e-7");
  EXPECT_EQ(written("5e-324"), "5e-324");
  EXPECT_EQ(written("1.0"), "1");
}

TEST(JsonValue, IntegersAboveTheSignedRangeBecomeNumbersAndNotNegative) {
  EXPECT_EQ(Json(std::uint64_t{9'223'372'036'854'775'807U}).dump(), "9223372036854775807");
  EXPECT_EQ(Json(~std::uint64_t{0}).as_number(), 18446744073709551616.0);
  EXPECT_FALSE(Json(~std::uint64_t{0}).is_integer());
  EXPECT_EQ(Json(std::uint32_t{0xffffffff}).dump(), "4294967295");
}

}  // namespace
