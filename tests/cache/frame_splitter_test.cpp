// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/json.hpp>
#include <evenkeel/client/frame_splitter.hpp>

#include "random_json.hpp"

namespace evenkeel {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> frames(std::string_view text, std::size_t size, FrameSplitter& splitter) {
  std::vector<std::string> result;
  for (std::size_t at = 0; at < text.size(); at += size) {
    const std::string piece(text.substr(at, size));
    splitter.feed(piece);
    while (const auto frame = splitter.next()) result.emplace_back(*frame);
  }
  return result;
}

TEST(FrameSplitter, YieldsLinesForPiecesOfAnySize) {
  const std::string text = "{\"a\":1}\n\n{\"b\":\"\\n\"}\r\n  \n{\"c\":3}\n";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    FrameSplitter splitter;
    EXPECT_THAT(frames(text, size, splitter), ElementsAre("{\"a\":1}", "{\"b\":\"\\n\"}\r", "{\"c\":3}"))
        << size;
    EXPECT_FALSE(splitter.in_frame());
  }
}

TEST(FrameSplitter, KnowsThatAStreamEndedInsideAFrame) {
  FrameSplitter splitter;
  EXPECT_FALSE(splitter.in_frame());
  EXPECT_THAT(frames("{\"a\":1}\n{\"b\":", 4, splitter), ElementsAre("{\"a\":1}"));
  EXPECT_TRUE(splitter.in_frame());
  EXPECT_THAT(frames("2}\n", 3, splitter), ElementsAre("{\"b\":2}"));
  EXPECT_FALSE(splitter.in_frame());
  EXPECT_THAT(frames(" \r", 1, splitter), ElementsAre());
  EXPECT_FALSE(splitter.in_frame());
}

TEST(FrameSplitter, RefusesLinesBeyondItsBound) {
  for (const std::size_t size : {1U, 3U, 100U}) {
    FrameSplitter fits({.max_frame_bytes = 7});
    EXPECT_THAT(frames("{\"a\":1}\n", size, fits), ElementsAre("{\"a\":1}"));
    FrameSplitter splitter({.max_frame_bytes = 6});
    EXPECT_THROW(frames("{\"a\":1}\n", size, splitter), DecodeError);
  }
}

TEST(FrameSplitter, AgreesWithPlainSplittingOnRandomFrames) {
  tests::RandomJson random(tests::fresh_seed());
  for (int round = 0; round < 100; ++round) {
    std::vector<std::string> expected;
    std::string text;
    for (std::size_t count = random.below(6); count > 0; --count) {
      expected.push_back(Json::parse(random.object(4)).dump());
      text += expected.back() + "\n";
    }
    FrameSplitter splitter;
    EXPECT_EQ(frames(text, 1 + random.below(300), splitter), expected);
  }
}

}  // namespace
}  // namespace evenkeel
