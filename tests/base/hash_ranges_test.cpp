// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/base/hash_ranges.hpp>

namespace evenkeel::hash_ranges_tests {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::uint64_t most = ~std::uint64_t{0};

TEST(HashRanges, AreSortedAndJoinedWhereTheyTouch) {
  const HashRanges ranges({{20, 29}, {0, 4}, {5, 9}, {25, 40}, {most, most}});
  EXPECT_THAT(ranges.ranges(), ElementsAre(HashRange{0, 9}, HashRange{20, 40}, HashRange{most, most}));
  EXPECT_TRUE(ranges.contains(0));
  EXPECT_TRUE(ranges.contains(9));
  EXPECT_FALSE(ranges.contains(10));
  EXPECT_FALSE(ranges.contains(19));
  EXPECT_TRUE(ranges.contains(40));
  EXPECT_FALSE(ranges.contains(most - 1));
  EXPECT_TRUE(ranges.contains(most));
}

TEST(HashRanges, OfNothingAndOfAll) {
  EXPECT_TRUE(HashRanges().empty());
  EXPECT_FALSE(HashRanges().contains(0));
  EXPECT_TRUE(HashRanges::all().contains(most));
  EXPECT_TRUE(HashRanges::all().is_all());
  EXPECT_TRUE(HashRanges({{0, 6}, {7, most}}).is_all());
  EXPECT_FALSE(HashRanges({{1, most}}).is_all());
  EXPECT_THAT(HashRanges::all().without(HashRanges::all()).ranges(), IsEmpty());
  EXPECT_TRUE(HashRanges::all().without(HashRanges()).is_all());
}

TEST(HashRanges, DifferencesKeepBothEnds) {
  const HashRanges some({{10, 20}, {30, most}});
  EXPECT_THAT(some.without(HashRanges({{0, 10}, {15, 32}, {most, most}})).ranges(),
              ElementsAre(HashRange{11, 14}, HashRange{33, most - 1}));
  EXPECT_THAT(HashRanges::all().without(some).ranges(), ElementsAre(HashRange{0, 9}, HashRange{21, 29}));
}

TEST(HashRanges, BecomeFewerAtTheNarrowestGaps) {
  const HashRanges ranges({{0, 1}, {10, 11}, {13, 14}, {50, 60}});
  EXPECT_EQ(ranges.coarse(4), ranges);
  EXPECT_THAT(ranges.coarse(3).ranges(), ElementsAre(HashRange{0, 1}, HashRange{10, 14}, HashRange{50, 60}));
  EXPECT_THAT(ranges.coarse(1).ranges(), ElementsAre(HashRange{0, 60}));
  EXPECT_THAT(HashRanges().coarse(1).ranges(), IsEmpty());
}

TEST(HashRanges, HaveTheTextOfAShardSelector) {
  EXPECT_EQ(HashRanges({{0, 0xff}, {0x8000000000000000, most}}).shard_selector("object.metadata.namespace"),
            "shardRange(object.metadata.namespace, '0x0000000000000000', '0x0000000000000100') || "
            "shardRange(object.metadata.namespace, '0x8000000000000000', '0x10000000000000000')");
}

// Sets of few numbers say what the operations on ranges must give; the last one is the largest hash.
TEST(HashRanges, AgreeWithSetsOfNumbers) {
  constexpr std::uint64_t count = 24;
  const auto hash_of = [](std::uint64_t number) { return number + 1 == count ? most : number; };
  std::mt19937_64 random(1);
  for (int round = 0; round < 2000; ++round) {
    HashRanges ranges[2];
    std::set<std::uint64_t> sets[2];
    for (int which = 0; which < 2; ++which) {
      std::vector<HashRange> parts;
      for (std::uint64_t part = random() % 5; part > 0; --part) {
        const std::uint64_t first = random() % count;
        const std::uint64_t last = first + random() % (count - first);
        parts.push_back({hash_of(first), hash_of(last)});
        for (std::uint64_t number = first; number <= last; ++number) sets[which].insert(number);
      }
      ranges[which] = HashRanges(std::move(parts));
    }
    for (std::uint64_t number = 0; number < count; ++number) {
      const bool left = sets[0].contains(number);
      const bool right = sets[1].contains(number);
      const std::uint64_t hash = hash_of(number);
      ASSERT_EQ(ranges[0].contains(hash), left) << round;
      ASSERT_EQ(ranges[0].with(ranges[1]).contains(hash), left || right) << round;
      ASSERT_EQ(ranges[0].within(ranges[1]).contains(hash), left && right) << round;
      ASSERT_EQ(ranges[0].without(ranges[1]).contains(hash), left && !right) << round;
      ASSERT_TRUE(!left || ranges[0].coarse(1).contains(hash)) << round;
    }
    ASSERT_EQ(ranges[0].without(ranges[1]).with(ranges[0].within(ranges[1])), ranges[0]) << round;
  }
}

}  // namespace
}  // namespace evenkeel::hash_ranges_tests
