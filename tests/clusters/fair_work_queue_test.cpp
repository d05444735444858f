// SPDX-License-Identifier: Apache-2.0
#include "clusters/fair_work_queue.hpp"

#include <functional>
#include <string>

#include <gtest/gtest.h>

namespace evenkeel::fair_work_queue_tests {
namespace {

using detail::FairWorkQueue;

class FairWorkQueueTest : public ::testing::Test {
 protected:
  void add(FairWorkQueue::Owner owner, const std::string& name) {
    queue.add(owner, [this, name] { said += name + " "; });
  }
  /// Does the next piece of work, without its end; returns its owner, or 0.
  FairWorkQueue::Owner begin() {
    const auto turn = queue.next_turn();
    if (!turn) return 0;
    turn->work();
    return turn->owner;
  }

  FairWorkQueue queue;
  std::string said;
};

TEST_F(FairWorkQueueTest, AnOwnerHasOnePieceOfWorkAtATime) {
  add(1, "a1");
  add(1, "a2");
  EXPECT_EQ(queue.ready(), 1U);
  EXPECT_EQ(begin(), 1U);
  EXPECT_EQ(begin(), 0U) << "its first one goes on";
  add(1, "a3");
  EXPECT_EQ(queue.ready(), 0U);
  queue.on_done(1);
  EXPECT_EQ(begin(), 1U);
  queue.on_done(1);
  EXPECT_EQ(begin(), 1U);
  queue.on_done(1);
  EXPECT_EQ(begin(), 0U);
  EXPECT_EQ(said, "a1 a2 a3 ");
}

TEST_F(FairWorkQueueTest, OwnersTakeTurns) {
  for (const char* name : {"a1", "a2", "a3"}) add(1, name);
  for (const char* name : {"b1", "b2"}) add(2, name);
  while (const FairWorkQueue::Owner owner = begin()) queue.on_done(owner);
  EXPECT_EQ(said, "a1 b1 a2 b2 a3 ");
}

TEST_F(FairWorkQueueTest, WorkThatGoesOnDelaysNoOtherOwner) {
  for (const char* name : {"a1", "a2"}) add(1, name);
  EXPECT_EQ(begin(), 1U);
  for (const char* name : {"b1", "b2"}) add(2, name);
  EXPECT_EQ(begin(), 2U);
  queue.on_done(2);
  EXPECT_EQ(begin(), 2U);
  EXPECT_EQ(said, "a1 b1 b2 ");
}

TEST_F(FairWorkQueueTest, AnOwnerMayComeBack) {
  add(1, "a1");
  EXPECT_EQ(begin(), 1U);
  queue.on_done(1);
  queue.on_done(1);
  add(1, "a2");
  EXPECT_EQ(begin(), 1U);
  EXPECT_EQ(said, "a1 a2 ");
}

}  // namespace
}  // namespace evenkeel::fair_work_queue_tests
