// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include <evenkeel/api/json.hpp>

using evenkeel::DecodeError;
using evenkeel::Json;

namespace {

TEST(Json, MembersAreSortedAndUnique) {
  EXPECT_EQ(Json::parse(R"({"b":1,"a":2,"b":3})").dump(), R"({"a":2,"b":3})");
  EXPECT_EQ(Json::object({{"b", 1}, {"a", 2}}).dump(), R"({"a":2,"b":1})");
}

TEST(Json, IntegersAndNumbersOfOneValueAreEqual) {
  EXPECT_EQ(Json(1), Json(1.0));
  EXPECT_NE(Json(1), Json(1.5));
  EXPECT_NE(Json(1), Json("1"));
  EXPECT_NE(Json(0), Json(false));
  EXPECT_NE(Json(), Json(0));
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

TEST(Json, RefusesWhatIsNoJsonWithLineAndColumn) {
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

}  // namespace
