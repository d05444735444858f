// SPDX-License-Identifier: Apache-2.0
// Choice of the connection that is evicted for a new one.
#include "serve/connection_table.hpp"

#include <gtest/gtest.h>

#include "serve/body_budget.hpp"

namespace evenkeel::http::detail {
namespace {

TEST(ConnectionTable, BelowItsLimitsNothingGivesWay) {
  ConnectionTable table(3, 2);
  EXPECT_FALSE(table.admit("a").evicted);
  EXPECT_FALSE(table.admit("a").evicted);
  EXPECT_FALSE(table.admit("b").evicted);
  EXPECT_EQ(table.size(), 3u);
  EXPECT_EQ(table.of_peer("a"), 2u);
}

TEST(ConnectionTable, AFullSiteGivesUpTheLongestWaitingConnection) {
  ConnectionTable table(3, 3);
  const auto first = table.admit("a").id;
  const auto second = table.admit("b").id;
  const auto third = table.admit("c").id;
  table.answered(first);
  const auto fourth = table.admit("d");
  EXPECT_EQ(fourth.evicted, second);
  EXPECT_EQ(fourth.reason, Eviction::site_full);
  EXPECT_EQ(table.admit("e").evicted, third);
  EXPECT_EQ(table.admit("f").evicted, first);
  EXPECT_EQ(table.admit("g").evicted, fourth.id);
  EXPECT_EQ(table.size(), 3u);
}

TEST(ConnectionTable, EvictsForLackOfSomethingElse) {
  ConnectionTable table(3, 3);
  const auto first = table.admit("a").id;
  const auto second = table.admit("b").id;
  table.answered(first);
  EXPECT_EQ(table.evict(), second);
  EXPECT_EQ(table.evict(), first);
  EXPECT_EQ(table.evict(), std::nullopt);
}

TEST(BodyBudget, TheBodyThatArrivesLongestGivesWay) {
  BodyBudget<int> bodies(100);
  int a = 0;
  int b = 0;
  int c = 0;
  bodies.on_arrived(&c, 40);
  bodies.on_arrived(&a, 40);
  EXPECT_EQ(bodies.next_excess(), nullptr);
  bodies.on_arrived(&b, 21);
  EXPECT_EQ(bodies.next_excess(), &c);
  bodies.on_freed(&c);
  EXPECT_EQ(bodies.next_excess(), nullptr);
  EXPECT_EQ(bodies.total(), 61u);
  bodies.on_arrived(&c, 40);
  EXPECT_EQ(bodies.next_excess(), &a);
}

TEST(BodyBudget, ACompleteBodyDoesNotGiveWay) {
  BodyBudget<int> bodies(100);
  int a = 0;
  int b = 0;
  bodies.on_arrived(&a, 90);
  bodies.on_complete(&a);
  bodies.on_arrived(&b, 20);
  EXPECT_EQ(bodies.next_excess(), &b);
  bodies.on_complete(&b);
  EXPECT_EQ(bodies.next_excess(), nullptr);
  bodies.on_freed(&b);
  bodies.on_freed(&b);
  EXPECT_EQ(bodies.total(), 90u);
}

TEST(ConnectionTable, APeerAtItsLimitGivesUpOneOfItsOwn) {
  ConnectionTable table(4, 2);
  const auto other = table.admit("other").id;
  const auto first = table.admit("greedy").id;
  table.admit("greedy");
  for (int i = 0; i < 100; ++i) {
    const auto more = table.admit("greedy");
    ASSERT_TRUE(more.evicted);
    EXPECT_NE(*more.evicted, other);
    EXPECT_EQ(more.reason, Eviction::peer_full);
    if (i == 0) {
      EXPECT_EQ(*more.evicted, first);
    }
  }
  EXPECT_EQ(table.of_peer("greedy"), 2u);
  EXPECT_EQ(table.of_peer("other"), 1u);
}

TEST(ConnectionTable, WhatHasLeftIsIgnored) {
  ConnectionTable table(1, 1);
  const auto first = table.admit("a").id;
  EXPECT_EQ(table.admit("a").evicted, first);
  table.closed(first);
  table.answered(first);
  EXPECT_EQ(table.size(), 1u);
  EXPECT_EQ(table.of_peer("a"), 1u);
}

TEST(ConnectionTable, HasRoomForOneAtLeast) {
  ConnectionTable table(0, 0);
  EXPECT_FALSE(table.admit("a").evicted);
  EXPECT_TRUE(table.admit("b").evicted);
}

}  // namespace
}  // namespace evenkeel::http::detail
