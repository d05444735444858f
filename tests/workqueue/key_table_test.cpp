// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/workqueue/key_table.hpp>
#include <evenkeel/workqueue/request_key.hpp>

namespace evenkeel {
namespace {

TEST(KeyTable, GivesOneEntryPerName) {
  KeyTable table;
  const RequestKey one = table.intern("east", "default", "web");
  const RequestKey two = table.intern("east", "default", "web");
  EXPECT_EQ(table.size(), 1U);
  EXPECT_EQ(one, two);
  EXPECT_EQ(one.name().data(), two.name().data());
  EXPECT_EQ(one.cluster(), "east");
  EXPECT_EQ(one.namespace_(), "default");
  EXPECT_EQ(one.name(), "web");
  EXPECT_EQ(one.object_key(), (ObjectKey{.namespace_ = "default", .name = "web"}));
}

TEST(KeyTable, DistinguishesDifferentSplitsOfOneText) {
  KeyTable table;
  std::vector<RequestKey> keys{table.intern("a", "b", "c"), table.intern("", "ab", "c"),
                               table.intern("ab", "", "c"), table.intern("", "", "abc"),
                               table.intern("", "a", "bc"), table.intern("a", "bc", "")};
  EXPECT_EQ(table.size(), keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    for (std::size_t j = 0; j < keys.size(); ++j) EXPECT_EQ(keys[i] == keys[j], i == j);
  }
}

TEST(KeyTable, ForgetsANameWithItsLastHandle) {
  KeyTable table;
  {
    const RequestKey one = table.intern({.namespace_ = "ns", .name = "n"});
    RequestKey two = one;
    const RequestKey three = std::move(two);
    EXPECT_EQ(table.size(), 1U);
    two = table.intern("", "ns", "other");
    EXPECT_EQ(table.size(), 2U);
    two = three;
    EXPECT_EQ(table.size(), 1U);
    RequestKey& same = two;
    two = same;  // self-assignment
    EXPECT_EQ(two.str(), "ns/n");
  }
  EXPECT_EQ(table.size(), 0U);
}

TEST(KeyTable, HandlesMayOutliveIt) {
  RequestKey key;
  {
    KeyTable table;
    key = table.intern("", "default", "web");
  }
  const RequestKey copy = key;
  key = RequestKey();
  EXPECT_EQ(copy.str(), "default/web");
}

TEST(RequestKey, NamesNothingByDefault) {
  KeyTable table;
  const RequestKey none;
  EXPECT_EQ(none.str(), "");
  EXPECT_EQ(none.cluster(), "");
  EXPECT_EQ(none.object_key(), ObjectKey{});
  EXPECT_EQ(none, RequestKey());
  EXPECT_FALSE(none == table.intern("", "", "x"));
}

TEST(RequestKey, PrintsItsParts) {
  KeyTable table;
  EXPECT_EQ(table.intern("", "default", "web").str(), "default/web");
  EXPECT_EQ(table.intern("", "", "node-1").str(), "node-1");
  EXPECT_EQ(table.intern("east", "default", "web").str(), "east:default/web");
  EXPECT_EQ(table.intern("east", "", "node-1").str(), "east:node-1");
}

TEST(RequestKey, IsOrderedByClusterThenNamespaceThenName) {
  KeyTable table;
  const std::vector<RequestKey> ordered{RequestKey(), table.intern("", "a", "z"), table.intern("", "b", "a"),
                                        table.intern("", "b", "b"), table.intern("x", "", "")};
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    for (std::size_t j = 0; j < ordered.size(); ++j) EXPECT_EQ(ordered[i] <=> ordered[j], i <=> j) << i << j;
  }
}

TEST(RequestKey, OfTwoTablesAreComparedByTheirNames) {
  KeyTable one;
  KeyTable two;
  EXPECT_EQ(one.intern("c", "ns", "n"), two.intern("c", "ns", "n"));
  EXPECT_EQ(one.intern("c", "ns", "n").hash(), two.intern("c", "ns", "n").hash());
  EXPECT_FALSE(one.intern("c", "ns", "n") == two.intern("d", "ns", "n"));
}

TEST(RequestKey, HashesWell) {
  KeyTable table;
  std::vector<RequestKey> keys;
  std::unordered_set<std::size_t> hashes;
  for (int i = 0; i < 1000; ++i) {
    keys.push_back(table.intern("", "ns" + std::to_string(i % 10), "name" + std::to_string(i)));
    keys.push_back(table.intern("", "name" + std::to_string(i), "ns" + std::to_string(i % 10)));
  }
  for (const RequestKey& key : keys) hashes.insert(std::hash<RequestKey>{}(key));
  EXPECT_EQ(hashes.size(), keys.size());
}

// Handles are made, copied and dropped by many threads, so that counts pass through zero all the time.
TEST(KeyTableConcurrency, NoEntryIsFreedTwiceOrRevived) {
  KeyTable table;
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        std::mt19937 random(seed + t);
        std::vector<RequestKey> held(3);
        for (int i = 0; i < 20'000; ++i) {
          const std::string name = std::to_string(random() % 4);
          RequestKey key = table.intern("", "ns", name);
          if (key.name() != name) ++wrong;
          held[random() % held.size()] = random() % 2 == 0 ? key : RequestKey();
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(table.size(), 0U);
}

}  // namespace
}  // namespace evenkeel
