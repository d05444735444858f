// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <evenkeel/client/list_splitter.hpp>

#include "random_json.hpp"

namespace evenkeel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Read {
  std::vector<std::string> items;
  ListMetadata metadata;
};

/// Feeds `body` in chunks of the given sizes, the last size repeated. Each chunk is a separate copy of
/// exactly its size, so that the address sanitizer detects reads past its end.
Read read(std::string_view body, const std::vector<std::size_t>& sizes, ListSplitterOptions options = {}) {
  ListSplitter splitter(options);
  Read result;
  for (std::size_t at = 0, turn = 0; at < body.size(); ++turn) {
    const std::size_t size = std::min(sizes[std::min(turn, sizes.size() - 1)], body.size() - at);
    const std::vector<char> piece(body.begin() + static_cast<std::ptrdiff_t>(at),
                                  body.begin() + static_cast<std::ptrdiff_t>(at + size));
    splitter.feed({piece.data(), piece.size()});
    while (const auto item = splitter.next()) result.items.emplace_back(*item);
    at += size;
  }
  result.metadata = splitter.finish();
  EXPECT_EQ(splitter.items(), result.items.size());
  return result;
}

std::string error_of(std::string_view body, ListSplitterOptions options = {}) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{7}, body.size() + 1}) {
    try {
      read(body, {size}, options);
      return "no error with pieces of " + std::to_string(size);
    } catch (const DecodeError& error) {
      if (size > body.size()) return error.what();
    }
  }
  return {};
}

TEST(ListSplitter, YieldsItemsAndMetadataWhicheverComesFirst) {
  const std::string head = R"("metadata":{"resourceVersion":"12","continue":"next","remainingItemCount":3})";
  const std::string items = R"("items":[{"a":1},{"b":"}]{["}])";
  for (const std::string& body : {R"({"kind":"PodList","apiVersion":"v1",)" + head + "," + items + "}",
                                  "{" + items + R"(,"apiVersion":"v1",)" + head + R"(,"kind":"PodList"})"}) {
    const Read result = read(body, {body.size()});
    EXPECT_THAT(result.items, ElementsAre(R"({"a":1})", R"({"b":"}]{["})"));
    EXPECT_EQ(result.metadata.kind, "PodList");
    EXPECT_EQ(result.metadata.api_version, "v1");
    EXPECT_EQ(result.metadata.resource_version, "12");
    EXPECT_EQ(result.metadata.continue_token, "next");
    EXPECT_EQ(result.metadata.remaining_items, 3);
  }
}

TEST(ListSplitter, TakesEmptyAndNullItems) {
  EXPECT_TRUE(read(R"({"items":[]})", {3}).items.empty());
  EXPECT_TRUE(read(R"({"items":null,"metadata":null})", {3}).items.empty());
  EXPECT_TRUE(read("\n{ \"items\" : [ ] }\n ", {1}).items.empty());
}

TEST(ListSplitter, SkipsMembersThatItDoesNotKnow) {
  const std::string big = "[" + std::string(5000, ' ') + R"({"items":[{"no":1}]},"\\\"",-1.5e9,null])";
  const Read result =
      read(R"({"x":)" + big + R"(,"y":"items","z":12,"it\u0065ms":[{"yes":1}],"w":true})", {11});
  EXPECT_THAT(result.items, ElementsAre(R"({"yes":1})"));
}

TEST(ListSplitter, HandsOutAnItemAsSoonAsItsLastByteIsThere) {
  ListSplitter splitter;
  splitter.feed(R"({"items":[{"a":1)");
  EXPECT_FALSE(splitter.next());
  splitter.feed("}");
  EXPECT_EQ(splitter.next(), R"({"a":1})");
  EXPECT_FALSE(splitter.next());
}

TEST(ListSplitter, NamesTheKindOfPlaceInWhichAPieceEnded) {
  ListSplitter splitter;
  const auto place_after = [&](const char* piece) {
    splitter.feed(piece);
    while (splitter.next()) {
    }
    return splitter.place();
  };
  EXPECT_EQ(place_after("{"), ListPlace::between);
  EXPECT_EQ(place_after("\"ki"), ListPlace::in_metadata) << "a name";
  EXPECT_EQ(place_after("nd\":"), ListPlace::between);
  EXPECT_EQ(place_after("\"Po"), ListPlace::in_metadata) << "a value";
  EXPECT_EQ(place_after("dList\",\"other\":{"), ListPlace::in_metadata) << "one that is not kept";
  EXPECT_EQ(place_after("},\"items\":["), ListPlace::between);
  EXPECT_EQ(place_after("{\"a\""), ListPlace::in_item);
  EXPECT_EQ(place_after(":1}"), ListPlace::between);
  EXPECT_EQ(place_after(",  "), ListPlace::between);
  EXPECT_EQ(place_after("{}]}"), ListPlace::between);
}

TEST(ListSplitter, RefusesEveryTruncation) {
  const std::string body =
      R"({"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[{"a":"b"},{"c":[1]}]})";
  for (std::size_t size = 0; size < body.size(); ++size) {
    EXPECT_THROW(read(std::string_view(body).substr(0, size), {size + 1}), DecodeError) << size;
  }
  EXPECT_NO_THROW(read(body, {body.size()}));
}

TEST(ListSplitter, SaysWhereAndWhatItDidNotExpect) {
  EXPECT_EQ(error_of("<html>"), "list: offset 0: expected '{', found '<'");
  EXPECT_EQ(error_of(R"({"items":[{},3]})"), "list: offset 13: expected an object, found '3'");
  EXPECT_EQ(error_of(R"({"items":[{},]})"), "list: offset 13: expected an object, found ']'");
  EXPECT_EQ(error_of(R"({"items":[{}{}]})"), "list: offset 12: expected ',' or ']', found '{'");
  EXPECT_EQ(error_of(R"({"items":[]} x)"), "list: offset 13: expected the end, found 'x'");
  EXPECT_EQ(error_of(R"({"items":[],})"), "list: offset 12: expected a member name, found '}'");
  EXPECT_EQ(error_of(R"({"items" [])"), "list: offset 9: expected ':', found '['");
  EXPECT_EQ(error_of("{\"items\":[\x01]}"), "list: offset 10: expected an object or ']', found byte 1");
  EXPECT_EQ(error_of(R"({"items":{"a":1}})"), R"(list: items: expected an array, found object)");
  EXPECT_EQ(error_of(R"({"items":[],"metadata":{"resourceVersion":7}})"),
            "list: metadata.resourceVersion: expected string, found integer");
  EXPECT_EQ(error_of(R"({"kind":"Status","code":403})"), "list: expected a list, found Status");
  EXPECT_EQ(error_of("{}"), "list: expected a list, found an object without items");
  EXPECT_EQ(error_of(R"({"items":[],"items":[]})"), "list: offset 20: items twice");
  EXPECT_EQ(error_of(R"({"items":[{"a":1)"), "list: offset 16: the body ends in the middle of the list");
}

TEST(ListSplitter, HoldsNoMoreThanItsBounds) {
  const std::string item = R"({"a":")" + std::string(100, 'x') + R"("})";
  EXPECT_NO_THROW(read(R"({"items":[)" + item + "]}", {9}, {.max_item_bytes = item.size()}));
  EXPECT_THAT(error_of(R"({"items":[)" + item + "]}", {.max_item_bytes = item.size() - 1}),
              HasSubstr("an item is larger than 107 bytes"));
  EXPECT_THAT(error_of(R"({"metadata":)" + item + R"(,"items":[]})", {.max_metadata_bytes = 50}),
              HasSubstr("list metadata is larger than 50 bytes"));
  EXPECT_NO_THROW(read(R"({"other":)" + item + R"(,"items":[]})", {9}, {.max_metadata_bytes = 50}));
}

/// Compares text and content of the items with those of a parser that sees the whole body.
void compare(const std::string& body, const std::vector<std::size_t>& sizes) {
  const nlohmann::json tree = nlohmann::json::parse(body);
  const Read result = read(body, sizes);
  const nlohmann::json& items = tree["items"];
  ASSERT_EQ(result.items.size(), items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    ASSERT_EQ(nlohmann::json::parse(result.items[i]), items[i]);
    ASSERT_NE(body.find(result.items[i]), std::string::npos) << "not a verbatim part of the body";
  }
  ASSERT_EQ(result.metadata.resource_version, tree["metadata"]["resourceVersion"].get<std::string>());
}

std::string random_list(tests::RandomJson& random) {
  std::vector<std::string> members = {R"("kind":"DemoList")"};
  std::string items = "\"items\"" + random.space() + ":" + random.space() + "[" + random.space();
  for (std::size_t count = random.below(6); count > 0; --count) {
    items += random.object(4) + random.space();
    if (count > 1) items += "," + random.space();
  }
  members.push_back(items + "]");
  members.push_back("\"metadata\":" + random.space() + R"({"resourceVersion":"42","other":)" +
                    random.value(2) + "}");
  for (std::size_t count = random.below(3); count > 0; --count)
    members.push_back("\"x" + std::to_string(count) + "\":" + random.value(3));
  std::shuffle(members.begin(), members.end(), random.engine());
  std::string body = random.space() + "{";
  for (std::size_t i = 0; i < members.size(); ++i)
    body += (i > 0 ? "," : "") + random.space() + members[i] + random.space();
  return body + "}" + random.space();
}

TEST(ListSplitter, AgreesWithAParserOnRandomListsCutAnywhere) {
  tests::RandomJson random(tests::fresh_seed());
  for (int round = 0; round < 300; ++round) {
    const std::string body = random_list(random);
    SCOPED_TRACE(body);
    compare(body, {1});
    compare(body, {body.size()});
    std::vector<std::size_t> sizes;
    for (std::size_t total = 0; total < body.size(); total += sizes.back())
      sizes.push_back(1 + random.below(200));
    compare(body, sizes);
    if (HasFatalFailure()) return;
  }
}

TEST(ListSplitter, AgreesWithAParserForEverySingleCut) {
  tests::RandomJson random(tests::fresh_seed());
  for (int round = 0; round < 5; ++round) {
    const std::string body = random_list(random);
    for (std::size_t cut = 1; cut < body.size(); ++cut) {
      compare(body, {cut, body.size()});
      if (HasFatalFailure()) return;
    }
  }
}

// Runs of backslashes of every length, at every position in a block of 64 bytes.
TEST(ListSplitter, CountsBackslashesAcrossBlocks) {
  for (std::size_t offset = 0; offset < 70; ++offset) {
    for (std::size_t run = 1; run < 9; ++run) {
      std::string text(offset, 'x');
      for (std::size_t i = 0; i < run; ++i) text += "\\\\";
      const std::string body = R"({"metadata":{"resourceVersion":"1"},"items":[{"a":")" + text +
                               R"(\"}]","b":")" + text + R"("},{}]})" + std::string(64, ' ');
      compare(body, {body.size()});
      compare(body, {64, 1, 63, 65});
      if (HasFatalFailure()) return;
    }
  }
}

TEST(ListSplitter, CostsTheSamePerByteForOneByteAsForTwiceTheList) {
  // Counting work would be better than time; a quadratic splitter is slower here by a factor of thousands.
  const std::string item = R"({"a":")" + std::string(1'000'000, 'x') + R"("})";
  const std::string body = R"({"items":[)" + item + "]}";
  const auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(read(body, {1}).items.size(), 1u);
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(20));
}

}  // namespace
}  // namespace evenkeel
