// SPDX-License-Identifier: Apache-2.0
#include "sharding/shard_table.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/client/client.hpp>
#include <evenkeel/sharding/shards.hpp>

namespace evenkeel::shard_table {
namespace {

using detail::division_name;
using detail::ShardTable;
using detail::SlotEntry;

std::string refusal(const std::string& text) {
  Json lease = Json::object({{"metadata", Json::object({{"namespace", "apps"}, {"name", "op"}})}});
  if (!text.empty()) lease["metadata"]["annotations"][ShardTable::annotation] = text;
  try {
    ShardTable::read(lease);
    return {};
  } catch (const std::exception& error) {
    return error.what();
  }
}
bool nobody_ended(const std::string&) {
  return false;
}

TEST(ShardTable, NamesTheLeaseAndTheFieldOfABadTable) {
  const std::string where = "Lease apps/op: annotation sharding.evenkeel.dev/table";
  EXPECT_EQ(refusal(""), where + ": it is missing");
  EXPECT_EQ(refusal(R"({"slots":[]})"), where + ": members: expected array");
  EXPECT_EQ(refusal(R"({"members":["a"],"slots":[]})"), where + ": slots: expected array of 1 to 4096 items");
  EXPECT_EQ(refusal(R"({"members":["a"],"slots":[[0,1,1]]})"), where + ": slots[0]: there is no member 1");
  EXPECT_EQ(refusal(R"({"members":["a"],"slots":[[0,-1]]})"),
            where + ": slots[0]: expected holder, next and generation");
}

TEST(ShardTable, ReadsWhatItWrites) {
  const ShardTable table{.slots = {{"a", "b", 7}, {"", "", 0}, {"b", "", 1}},
                         .leaving = {"a"},
                         .division = division_name(ShardBy::namespace_)};
  Json lease;
  lease["metadata"]["labels"][ShardTable::division_label] = "namespace";
  lease["metadata"]["annotations"][ShardTable::annotation] = table.text();
  EXPECT_EQ(ShardTable::read(lease), table);
}

TEST(ShardTable, ReadsTheRangesThatItWrites) {
  const ShardTable table{.slots = {{"a", "", 1}, {"a", "", 1}},
                         .division = division_name(ShardBy::namespace_range),
                         .ranges = detail::SlotRanges({0, 0xc000000000000001})};
  EXPECT_NE(table.text().find(R"("starts":["0000000000000000","c000000000000001"])"), std::string::npos)
      << table.text();
  Json lease;
  lease["metadata"]["labels"][ShardTable::division_label] = "namespace-range";
  lease["metadata"]["annotations"][ShardTable::annotation] = table.text();
  EXPECT_EQ(ShardTable::read(lease), table);
}

TEST(ShardTable, NamesTheFieldOfBadRanges) {
  const std::string where = "Lease apps/op: annotation sharding.evenkeel.dev/table: starts: ";
  const auto of = [](const std::string& starts) {
    return refusal(R"({"members":["a"],"slots":[[0,-1,1],[0,-1,1]],"starts":)" + starts + "}");
  };
  EXPECT_EQ(of(R"(["0000000000000000"])"), where + "expected an item for each slot");
  for (const char* bad : {"1", "00000000000000001", "000000000000000g", ""})
    EXPECT_EQ(of(R"(["0000000000000000",")" + std::string(bad) + "\"]"),
              where + "expected texts of 16 hexadecimal digits");
  EXPECT_EQ(of(R"(["0000000000000000","0000000000000000"])"),
            where + "the first must be 0, and they must ascend");
  Json lease = Json::object({{"metadata", Json::object({{"namespace", "apps"}, {"name", "op"}})}});
  lease["metadata"]["labels"][ShardTable::division_label] = "namespace-range";
  lease["metadata"]["annotations"][ShardTable::annotation] = R"({"members":["a"],"slots":[[0,-1,1]]})";
  try {
    ShardTable::read(lease);
    ADD_FAILURE();
  } catch (const std::exception& error) {
    EXPECT_EQ(error.what(), where + "expected array");
  }
}

TEST(ShardTable, GivesAFreeSlotAtOnceAndAsksForAHeldOne) {
  ShardTable table{.slots = std::vector<SlotEntry>(4)};
  table.plan({"a"}, nobody_ended);
  for (const SlotEntry& slot : table.slots) EXPECT_EQ(slot, (SlotEntry{"a", "", 1}));
  table.plan({"a", "b"}, nobody_ended);
  const auto asked = std::count(table.slots.begin(), table.slots.end(), SlotEntry{"a", "b", 1});
  const auto kept = std::count(table.slots.begin(), table.slots.end(), SlotEntry{"a", "", 1});
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(kept, 2);
  const ShardTable planned = table;
  table.plan({"a", "b"}, nobody_ended);
  EXPECT_EQ(table, planned);
}

TEST(ShardTable, GivesTheSlotsOfAnEndedMemberToAllOthersAndMovesNoOther) {
  ShardTable table{.slots = std::vector<SlotEntry>(9)};
  for (Slot slot = 0; slot < 9; ++slot) table.give(slot, std::string(1, static_cast<char>('a' + slot % 3)));
  const ShardTable before = table;
  table.plan({"a", "b"}, [](const std::string& member) { return member == "c"; });
  for (Slot slot = 0; slot < 9; ++slot) {
    if (before.slots[slot].holder != "c") {
      EXPECT_EQ(table.slots[slot], before.slots[slot]);
    } else {
      EXPECT_NE(table.slots[slot].holder, "c");
      EXPECT_EQ(table.slots[slot].generation, 2U);
    }
  }
}

TEST(ShardTable, BeginsADivisionWithGreaterGenerations) {
  ShardTable table{.slots = {{"a", "b", 2}, {"b", "", 7}, {"", "", 3}}, .leaving = {"a"}};
  table.divide("namespace");
  table.plan({"c"}, nobody_ended);
  const ShardTable divided{.slots = {{"c", "", 8}, {"c", "", 8}, {"c", "", 8}}, .division = "namespace"};
  EXPECT_EQ(table, divided);
}

TEST(Slot, IsTheSameInAllVersionsAndEvenForSequentialNames) {
  EXPECT_EQ(slot_of("default", "web", 64), 2U);
  EXPECT_EQ(slot_of("default", "web", 64, ShardBy::namespace_),
            slot_of("default", "db", 64, ShardBy::namespace_));
  std::vector<int> count(16);
  for (int i = 0; i < 1600; ++i) ++count[slot_of("team-" + std::to_string(i), "", 16, ShardBy::namespace_)];
  EXPECT_GT(*std::min_element(count.begin(), count.end()), 60);
  EXPECT_LT(*std::max_element(count.begin(), count.end()), 140);
}

TEST(ShardOptions, RefusesWhatIsOutOfBounds) {
  const auto problem = [](const ShardOptions& options) {
    try {
      const Shards shards(Client(Config{.server = "http://127.0.0.1:1"}), options);
      return std::string();
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(problem({.name = "Op"}),
            "ShardOptions: name must be up to 40 lower-case letters, digits and '-', not \"Op\"");
  EXPECT_EQ(problem({.name = "op", .slots = 0}), "ShardOptions: slots must be 1 to 4096, not 0");
  const std::string label = "sharding.evenkeel.dev/cell";
  EXPECT_EQ(problem({.name = "op", .slots = 257, .by = ShardBy::namespace_range, .label = label}),
            "ShardOptions: with a label, slots must be 1 to 256, the number of its values, not 257");
  EXPECT_EQ(problem({.name = "op", .by = ShardBy::namespace_, .label = label}),
            "ShardOptions: a label needs ShardBy::namespace_range");
  EXPECT_THAT(problem({.name = "op", .by = ShardBy::namespace_range, .label = "a b"}),
              ::testing::StartsWith("ShardOptions: label \"a b\" is not the key of a label: "));
  EXPECT_EQ(problem({.name = "op", .identity = "a_b"}),
            "ShardOptions: identity must be up to 63 lower-case letters, digits and '-', not \"a_b\"");
  EXPECT_EQ(problem({.name = "op", .namespace_ = "apps"}), "");
}

}  // namespace
}  // namespace evenkeel::shard_table
