// SPDX-License-Identifier: Apache-2.0
#include "cache/recent_deletions.hpp"

#include <string>

#include <gtest/gtest.h>

#include "objects.hpp"

namespace evenkeel::recent_deletions_tests {
namespace {

using tests::object;

StoreDelta deleted(const tests::ObjectParts& parts) {
  const WireObject last = object(parts);
  return {.type = EventType::deleted, .object = last, .old = last, .final_state_unknown = true};
}

TEST(RecentDeletions, ForgetsTheOldestOnes) {
  detail::RecentDeletions deletions;
  for (std::size_t i = 0; i <= detail::RecentDeletions::remembered; ++i)
    deletions.on_deleted(object({.name = std::to_string(i), .version = "10"}));
  EXPECT_FALSE(deletions.is_over(object({.name = "0", .version = "9"})));
  EXPECT_TRUE(deletions.is_over(object({.name = "1", .version = "9"})));
}

// A server that was restored from a backup counts its versions again.
TEST(RecentDeletions, AnOlderListEndsThem) {
  detail::RecentDeletions deletions;
  deletions.on_deleted(object({.name = "a", .version = "10"}));
  deletions.on_deleted(object({.name = "b", .version = "20"}));
  deletions.on_listed("15",
                      {deleted({.name = "c", .version = "14"}), deleted({.name = "d", .version = "16"})});
  EXPECT_TRUE(deletions.is_over(object({.name = "a", .version = "9"})));
  EXPECT_FALSE(deletions.is_over(object({.name = "b", .version = "9"})));
  EXPECT_TRUE(deletions.is_over(object({.name = "c", .version = "14"})));
  EXPECT_FALSE(deletions.is_over(object({.name = "d", .version = "16"})));
  deletions.on_listed("opaque", {});
  EXPECT_FALSE(deletions.is_over(object({.name = "a", .version = "9"})));
}

TEST(RecentDeletions, KnowsOnlyWhatCanBeCompared) {
  detail::RecentDeletions deletions;
  deletions.on_deleted(object({.name = "a", .version = "10"}));
  deletions.on_deleted(object({.name = "a", .version = "8"}));
  EXPECT_TRUE(deletions.is_over(object({.name = "a", .version = "9"}))) << "the latest deletion counts";
  EXPECT_TRUE(deletions.is_over(object({.name = "a", .version = "10"})));
  EXPECT_FALSE(deletions.is_over(object({.name = "a", .version = "10", .uid = "other"})))
      << "servers whose versions do not change";
  EXPECT_FALSE(deletions.is_over(object({.name = "a", .version = "11"})));
  EXPECT_FALSE(deletions.is_over(object({.name = "a", .version = "opaque"})));
  EXPECT_FALSE(deletions.is_over(object({.name = "a", .version = ""})));
  EXPECT_FALSE(deletions.is_over(object({.name = "a", .version = "9", .namespace_ = "other"})));
}

}  // namespace
}  // namespace evenkeel::recent_deletions_tests
