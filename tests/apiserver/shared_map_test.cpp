// SPDX-License-Identifier: Apache-2.0
// The map that servers share: the operations of a map, and independence of those that began from one.
#include "apiserver/store/shared_map.hpp"

#include <iterator>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace evenkeel::apiserver {
namespace {

using Map = SharedMap<std::string, int, 4>;
using Model = std::map<std::string, int, std::less<>>;

Model content(const Map& map) {
  return {map.begin(), map.end()};
}

/// Compares every operation that only reads.
void expect_equal(const Map& map, const Model& model) {
  ASSERT_EQ(map.size(), model.size());
  ASSERT_EQ(content(map), model);
  std::vector<std::string> backwards;
  for (auto at = map.end(); at != map.begin();) backwards.push_back((--at)->first);
  auto expected = model.rbegin();
  for (const std::string& key : backwards) ASSERT_EQ(key, (expected++)->first);
  for (int number = 0; number < 50; ++number) {
    const std::string key = std::to_string(number);
    ASSERT_EQ(map.contains(std::string_view(key)), model.contains(key));
    ASSERT_EQ(std::distance(map.begin(), map.lower_bound(key)),
              std::distance(model.begin(), model.lower_bound(key)));
    ASSERT_EQ(std::distance(map.begin(), map.upper_bound(key)),
              std::distance(model.begin(), model.upper_bound(key)));
  }
}

}  // namespace

TEST(SharedMap, BehavesLikeAMapAndItsCopiesAreIndependent) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  std::vector<std::pair<Map, Model>> worlds(1);
  for (int step = 0; step < 4000; ++step) {
    auto& [map, model] = worlds[random() % worlds.size()];
    const std::string key = std::to_string(random() % 50);
    switch (random() % 8) {
      case 0:
      case 1:
      case 2:
      case 3: {
        const auto known = model.find(key);
        ASSERT_EQ(map.exchange(key, step), known == model.end() ? 0 : known->second);
        model[key] = step;
        break;
      }
      case 4:
      case 5:
      case 6:
        ASSERT_EQ(map.extract(std::string_view(key)).has_value(), model.erase(key) == 1);
        break;
      default:
        if (worlds.size() == 8) worlds.erase(worlds.begin() + static_cast<std::ptrdiff_t>(random() % 8));
        auto& [from, state] = worlds[random() % worlds.size()];
        std::pair<Map, Model> made{Map(from.freeze()), state};
        worlds.push_back(std::move(made));
    }
    for (const auto& [each, expected] : worlds) ASSERT_EQ(content(each), expected) << step;
    if (step % 100 == 0)
      for (const auto& [each, expected] : worlds) expect_equal(each, expected);
  }
}

TEST(SharedMap, CopiesOnlyTheLeavesThatItChanges) {
  Map map;
  for (int key = 0; key < 400; ++key) map.exchange(std::to_string(10'000 + key), key);
  EXPECT_EQ(map.leaf_count(), 100U);  // growing keys fill them
  Map other(map.freeze());
  EXPECT_EQ(other.leaves_shared_with(map), 100U);
  other.exchange("10007", 1);
  other.exchange("10006", 1);
  EXPECT_EQ(other.leaves_shared_with(map), 99U);
  map.extract("10399");
  EXPECT_EQ(other.leaves_shared_with(map), 98U);
  EXPECT_EQ(map.find("10007")->second, 7);
  EXPECT_TRUE(other.contains("10399"));
}

TEST(SharedMap, DropsItsLeavesFromTheFront) {
  SharedMap<int, int, 4> log;
  for (int key = 0; key < 1000; ++key) {
    log.exchange(key, key);
    if (log.size() > 10) log.extract(log.front().first);
    ASSERT_LE(log.leaf_count(), 4U);
  }
  EXPECT_EQ(log.front().first, 990);
}

}  // namespace evenkeel::apiserver
