// SPDX-License-Identifier: Apache-2.0
#include "clusters/owner_turns.hpp"

#include <functional>
#include <string>

#include <gtest/gtest.h>

namespace evenkeel::owner_turns_tests {
namespace {

using detail::OwnerTurns;

class OwnerTurnsTest : public ::testing::Test {
 protected:
  void add(OwnerTurns::Owner owner, const std::string& name) {
    turns.add(owner, [this, name] { said += name + " "; });
  }
  /// Does the next piece of work, without its end; returns its owner, or 0.
  OwnerTurns::Owner begin() {
    const auto turn = turns.next_turn();
    if (!turn) return 0;
    turn->work();
    return turn->owner;
  }

  OwnerTurns turns;
  std::string said;
};

TEST_F(OwnerTurnsTest, AnOwnerHasOnePieceOfWorkAtATime) {
  add(1, "a1");
  add(1, "a2");
  EXPECT_EQ(turns.ready(), 1U);
  EXPECT_EQ(begin(), 1U);
  EXPECT_EQ(begin(), 0U) << "its first one goes on";
  add(1, "a3");
  EXPECT_EQ(turns.ready(), 0U);
  turns.on_done(1);
  EXPECT_EQ(begin(), 1U);
  turns.on_done(1);
  EXPECT_EQ(begin(), 1U);
  turns.on_done(1);
  EXPECT_EQ(begin(), 0U);
  EXPECT_EQ(said, "a1 a2 a3 ");
}

TEST_F(OwnerTurnsTest, OwnersTakeTurns) {
  for (const char* name : {"a1", "a2", "a3"}) add(1, name);
  for (const char* name : {"b1", "b2"}) add(2, name);
  while (const OwnerTurns::Owner owner = begin()) turns.on_done(owner);
  EXPECT_EQ(said, "a1 b1 a2 b2 a3 ");
}

TEST_F(OwnerTurnsTest, WorkThatGoesOnDelaysNoOtherOwner) {
  for (const char* name : {"a1", "a2"}) add(1, name);
  EXPECT_EQ(begin(), 1U);
  for (const char* name : {"b1", "b2"}) add(2, name);
  EXPECT_EQ(begin(), 2U);
  turns.on_done(2);
  EXPECT_EQ(begin(), 2U);
  EXPECT_EQ(said, "a1 b1 b2 ");
}

TEST_F(OwnerTurnsTest, AnOwnerMayComeBack) {
  add(1, "a1");
  EXPECT_EQ(begin(), 1U);
  turns.on_done(1);
  turns.on_done(1);
  add(1, "a2");
  EXPECT_EQ(begin(), 1U);
  EXPECT_EQ(said, "a1 a2 ");
}

}  // namespace
}  // namespace evenkeel::owner_turns_tests
