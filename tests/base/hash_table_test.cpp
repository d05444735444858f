// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>

#include <gtest/gtest.h>

#include <evenkeel/base/hash_table.hpp>

namespace evenkeel {
namespace {

struct Node : TableLink<Node> {
  explicit Node(int number) : value(number) {}
  int value;
};

Node* find(const HashTable<Node>& table, int value, std::size_t hash) {
  return table.find(hash, [value](const Node& node) { return node.value == value; });
}

class HashTableOf : public testing::TestWithParam<std::size_t> {
 protected:
  // Hashes that are all distinct, that come in groups, and that are all equal.
  std::size_t hash(int value) const { return static_cast<std::size_t>(value) % GetParam(); }
};

TEST_P(HashTableOf, FindsWhatIsInItAndNothingElse) {
  HashTable<Node> table;
  std::deque<Node> nodes;
  EXPECT_EQ(find(table, 1, 1), nullptr);
  for (int value = 0; value < 1000; ++value) table.insert(nodes.emplace_back(value), hash(value));
  EXPECT_EQ(table.size(), 1000U);
  for (int value = 0; value < 1000; value += 2) table.erase(nodes[static_cast<std::size_t>(value)]);
  EXPECT_EQ(table.size(), 500U);
  for (int value = 0; value < 1000; ++value) {
    Node* expected = value % 2 == 0 ? nullptr : &nodes[static_cast<std::size_t>(value)];
    EXPECT_EQ(find(table, value, hash(value)), expected) << value;
  }
  std::set<int> seen;
  table.for_each([&](const Node& node) { seen.insert(node.value); });
  EXPECT_EQ(seen.size(), 500U);
  std::set<int> disposed;
  table.clear([&](const Node& node) { disposed.insert(node.value); });
  EXPECT_EQ(disposed, seen);
  EXPECT_EQ(table.size(), 0U);
  table.insert(nodes[0], hash(0));  // usable again
  EXPECT_EQ(find(table, 0, hash(0)), &nodes[0]);
}

TEST_P(HashTableOf, IsScannedInPartsThatSeeEachNodeOnce) {
  HashTable<Node> table;
  std::deque<Node> nodes;
  EXPECT_EQ(table.scan(0, 5, [](const Node&) { FAIL(); }), std::nullopt);
  for (int value = 0; value < 100; ++value) table.insert(nodes.emplace_back(value), hash(value));
  std::multiset<int> seen;
  int next = 100;
  for (std::optional<std::uint64_t> position = 0; position;) {
    position = table.scan(*position, 8, [&](const Node& node) { seen.insert(node.value); });
    for (int i = 0; i < 30 && next < 1000; ++i, ++next) table.insert(nodes.emplace_back(next), hash(next));
  }
  for (int value = 0; value < 100; ++value) EXPECT_EQ(seen.count(value), 1U) << value;
  for (const int value : seen) EXPECT_EQ(seen.count(value), 1U) << value;
}

INSTANTIATE_TEST_SUITE_P(Hashes, HashTableOf, testing::Values(1000, 7, 1));

}  // namespace
}  // namespace evenkeel
