// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include <gtest/gtest.h>

#include <evenkeel/coordination/observations.hpp>

namespace evenkeel::coordination::observations_tests {
namespace {

using std::chrono::seconds;

constexpr TimePoint at(int second) {
  return TimePoint(seconds{second});
}

TEST(Observations, CountsFromTheFirstSightOfAVersion) {
  Observations seen;
  EXPECT_EQ(seen.see("lock", 7, at(1)), at(1));
  EXPECT_EQ(seen.see("lock", 7, at(5)), at(1));
  EXPECT_EQ(seen.since("lock", 7), at(1));
  EXPECT_EQ(seen.since("lock", 8), std::nullopt);
}

TEST(Observations, BeginsAnewWithEveryChange) {
  Observations seen;
  seen.see("lock", 7, at(1));
  EXPECT_EQ(seen.see("lock", 9, at(5)), at(5));
  // A shard that was restored from a copy has lower versions; that is a change as well.
  EXPECT_EQ(seen.see("lock", 3, at(6)), at(6));
  seen.forget("lock");
  EXPECT_EQ(seen.see("lock", 3, at(8)), at(8));
}

TEST(Observations, ForgetsWhatWentButNothingOutsideTheRange) {
  Observations seen;
  seen.see("a/1", 1, at(1));
  seen.see("a/2", 1, at(1));
  seen.see("b/1", 1, at(1));
  seen.see_all(prefix_range("a/"), {{"a/2", "", 1}, {"a/3", "", 2}}, at(4));
  EXPECT_EQ(seen.since("a/1", 1), std::nullopt);
  EXPECT_EQ(seen.since("a/2", 1), at(1));
  EXPECT_EQ(seen.since("a/3", 2), at(4));
  EXPECT_EQ(seen.since("b/1", 1), at(1));
}

}  // namespace
}  // namespace evenkeel::coordination::observations_tests
