// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "controller/explain/flight_recorder.hpp"

namespace evenkeel::detail {
namespace {

TEST(RunTable, AgreesWithASetWhileItGrowsAndShrinks) {
  std::mt19937 random(7);
  RunTable table;
  std::multiset<std::uint64_t> model;
  const auto check = [&](std::uint64_t key) {
    const FlightRun* const run = table.find(key);
    ASSERT_EQ(run != nullptr, model.contains(key)) << key;
    EXPECT_TRUE(run == nullptr || run->key == key);
  };
  for (int step = 0; step < 20'000; ++step) {
    // Grows for a thousand steps, then shrinks. A few keys share a hash.
    const bool grows = step / 1000 % 2 == 0;
    const std::uint64_t key = random() % 300;
    if (random() % 4 == 0 ? !grows : grows) {
      table.add({.key = key});
      model.insert(key);
    } else {
      table.erase(key);
      if (const auto found = model.find(key); found != model.end()) model.erase(found);
    }
    check(key);
    check(random() % 300);
    ASSERT_EQ(table.all().size(), model.size());
  }
  const std::set<std::uint64_t> keys(model.begin(), model.end());
  for (const std::uint64_t key : keys) {
    while (model.contains(key)) {
      table.erase(key);
      model.erase(model.find(key));
      check(key);
    }
  }
  EXPECT_TRUE(table.empty());
}

}  // namespace
}  // namespace evenkeel::detail
