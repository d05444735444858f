// SPDX-License-Identifier: Apache-2.0
// The ranges of hashes that are the slots of a ring, and the part of them that the caches of a member hold.
#include "sharding/slot_ranges.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/cells.hpp"
#include "base/fnv1a.hpp"
#include "sharding/needed_ranges.hpp"

namespace evenkeel::slot_ranges_tests {
namespace {

using detail::NeededRanges;
using detail::ShardTable;
using detail::SlotEntry;
using detail::SlotRanges;
using ::testing::ElementsAre;
using ::testing::Optional;

constexpr std::uint64_t most = ~std::uint64_t{0};

std::vector<std::uint64_t> hashes_of(const std::string& beginning, int count) {
  std::vector<std::uint64_t> hashes;
  for (int i = 0; i < count; ++i) hashes.push_back(detail::fnv1a(beginning + std::to_string(i)));
  return hashes;
}

/// Returns the number of hashes in the fullest slot.
std::size_t fullest(const SlotRanges& ranges, const std::vector<std::uint64_t>& hashes) {
  std::map<Slot, std::size_t> counts;
  std::size_t result = 0;
  for (const std::uint64_t hash : hashes) result = std::max(result, ++counts[ranges.slot_of(hash)]);
  return result;
}

TEST(SlotRanges, AreEqualWithoutNamespaces) {
  const SlotRanges ranges = SlotRanges::around({}, 4);
  EXPECT_THAT(ranges.starts(), ElementsAre(0, 1ULL << 62U, 1ULL << 63U, 3ULL << 62U));
  EXPECT_EQ(ranges[0], (HashRange{0, (1ULL << 62U) - 1}));
  EXPECT_EQ(ranges[3], (HashRange{3ULL << 62U, most}));
  for (const char* name : {"blue", "green", "kube-system", "web"})
    EXPECT_EQ(detail::slot_in(ranges, name, "x"), slot_of(name, "x", 4, ShardBy::namespace_range)) << name;
}

// Equal ranges have them in 2 of 64 slots.
TEST(SlotRanges, AreEqualInTheNumberOfNamespacesThatHaveACommonBeginning) {
  const auto hashes = hashes_of("team-", 100);
  EXPECT_EQ(fullest(SlotRanges::around({}, 64), hashes), 90U);
  const SlotRanges ranges = SlotRanges::around(hashes, 64);
  EXPECT_LE(fullest(ranges, hashes), 2U);
  EXPECT_LE(fullest(SlotRanges::around(hashes, 10), hashes), 10U);
  // Later ones of such names have the ranges of earlier ones.
  EXPECT_LE(fullest(SlotRanges::around(hashes_of("team-", 50), 64), hashes), 40U);
}

TEST(SlotRanges, SpreadFewNamespacesOverAllSlots) {
  const auto hashes = hashes_of("team-", 4);
  const SlotRanges ranges = SlotRanges::around(hashes, 64);
  std::vector<Slot> slots;
  for (const std::uint64_t hash : hashes) slots.push_back(ranges.slot_of(hash));
  std::sort(slots.begin(), slots.end());
  EXPECT_THAT(slots, ElementsAre(8, 24, 40, 56));
}

TEST(SlotRanges, CoverAllHashesOnceForAnyNamespaces) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 500; ++round) {
    const std::size_t slots = 1 + random() % 100;
    std::vector<std::uint64_t> hashes;
    for (std::uint64_t count = random() % 200; count > 0; --count)
      hashes.push_back(random() % 3 == 0 ? most - random() % 8 : random() % 3 == 0 ? random() % 8 : random());
    const SlotRanges ranges = SlotRanges::around(hashes, slots);
    ASSERT_EQ(ranges.size(), slots);
    ASSERT_EQ(SlotRanges(ranges.starts()), ranges);  // they ascend from 0
    std::vector<HashRange> all;
    for (Slot slot = 0; slot < slots; ++slot) all.push_back(ranges[slot]);
    ASSERT_TRUE(HashRanges(all).is_all());
    for (const std::uint64_t hash : hashes) ASSERT_TRUE(ranges[ranges.slot_of(hash)].contains(hash)) << round;
  }
}

TEST(SlotRanges, RefuseStartsThatDoNotAscendFromZero) {
  for (const std::vector<std::uint64_t>& bad : {std::vector<std::uint64_t>{}, {1, 2}, {0, 5, 5}, {0, 5, 4}}) {
    try {
      const SlotRanges ranges(bad);
      ADD_FAILURE();
    } catch (const std::invalid_argument& error) {
      EXPECT_STREQ(error.what(), "the first must be 0, and they must ascend");
    }
  }
}

TEST(SlotRanges, DivideClusterScopedObjectsAndOtherClustersEvenly) {
  const SlotRanges ranges = SlotRanges::around(hashes_of("team-", 100), 64);
  EXPECT_EQ(detail::slot_in(ranges, "", "node-1"), slot_of("", "node-1", 64, ShardBy::namespace_));
  EXPECT_EQ(detail::slot_in(ranges, "eu:web", "a"), slot_of("eu:web", "a", 64, ShardBy::namespace_));
  EXPECT_EQ(detail::slot_in(ranges, "web", "a"), ranges.slot_of(detail::fnv1a("web")));
}

// ---- The needed part

/// A ring of four slots, each a quarter.
ShardTable quarters() {
  return {
      .slots = std::vector<SlotEntry>(4), .division = "namespace-range", .ranges = SlotRanges::around({}, 4)};
}

HashRanges part(std::uint64_t first, std::uint64_t quarters) {
  return HashRanges({{first << 62U, (first << 62U) + ((quarters << 62U) - 1)}});
}

TEST(SlotRanges, OfCellsAreUnionsOfThem) {
  EXPECT_EQ(SlotRanges::of_cells(256)[255].first, 0xff00000000000000);
  EXPECT_EQ(SlotRanges::of_cells(64), SlotRanges::around({}, 64));
  const SlotRanges uneven = SlotRanges::of_cells(100);
  for (const std::uint64_t start : uneven.starts()) EXPECT_EQ(start & 0x00ffffffffffffff, 0U);
  for (Slot slot = 0; slot < 100; ++slot) {
    const std::uint64_t cells = (uneven[slot].last >> 56U) - (uneven[slot].first >> 56U) + 1;
    EXPECT_TRUE(cells == 2 || cells == 3) << cells;
  }
  EXPECT_EQ(SlotRanges::of_cells(1000), SlotRanges::around({}, 1000));
}

// The mixed hash needs no fit to the namespaces: the fullest of 64 slots has little more than its part.
TEST(SlotRanges, OfCellsDivideNamespacesThatHaveACommonBeginning) {
  std::vector<std::uint64_t> hashes;
  for (const std::uint64_t hash : hashes_of("team-", 1000)) hashes.push_back(detail::mixed(hash));
  EXPECT_LE(fullest(SlotRanges::of_cells(64), hashes), 32U);
}

TEST(SlotRanges, OfCellsHaveTheNamespacesOfTheirCells) {
  EXPECT_EQ(cell_of("default"), "d4");
  const SlotRanges ranges = SlotRanges::of_cells(256);
  for (const char* name : {"blue", "green", "kube-system", "web"}) {
    const Slot slot = detail::slot_in(ranges, name, "x", NamespaceHash::mixed);
    EXPECT_EQ(cell_of(name), detail::hash_text(slot).substr(16)) << name;
  }
}

TEST(NeededRanges, IsThatOfTheSlotsInUseAndOfThePromisedOnes) {
  ShardTable table = quarters();
  NeededRanges share;
  share.on_joined();
  EXPECT_EQ(share.next_needed(table, "a", {}), std::nullopt);
  EXPECT_THAT(share.next_needed(table, "a", {true, false, false, false}), Optional(part(0, 1)));
  EXPECT_EQ(share.next_needed(table, "a", {true, false, false, false}), std::nullopt);
  table.slots[1].next = "a";
  table.slots[2].next = "b";
  EXPECT_THAT(share.next_needed(table, "a", {true, false, false, false}), Optional(part(0, 2)));
  table.slots[1].next = "";
  EXPECT_EQ(share.next_needed(table, "a", {true, true, false, false}), std::nullopt);
  EXPECT_THAT(share.next_needed(table, "a", {false, true, false, false}), Optional(part(1, 1)));
  EXPECT_THAT(share.next_needed(table, "a", {false, false, false, false}), Optional(HashRanges()));
}

TEST(NeededRanges, StaysAfterALostMembershipUntilTheNextOneHasASlot) {
  ShardTable table = quarters();
  NeededRanges share;
  share.on_joined();
  EXPECT_THAT(share.next_needed(table, "a1", {true, true, false, false}), Optional(part(0, 2)));
  share.on_joined();
  EXPECT_EQ(share.next_needed(table, "a2", {false, false, false, false}), std::nullopt);
  table.slots[2].next = "a2";
  EXPECT_THAT(share.next_needed(table, "a2", {false, false, false, false}), Optional(part(0, 3)));
  EXPECT_THAT(share.next_needed(table, "a2", {false, true, false, false}), Optional(part(1, 2)));
}

TEST(NeededRanges, IsNothingInARingOfAnotherDivision) {
  ShardTable table = quarters();
  table.ranges = {};
  NeededRanges share;
  EXPECT_EQ(share.next_needed(table, "a", {true, true, true, true}), std::nullopt);
}

}  // namespace
}  // namespace evenkeel::slot_ranges_tests
