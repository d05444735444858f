// SPDX-License-Identifier: Apache-2.0
// When the store is read for the console, and what is shown meanwhile; in virtual time.
#include "coordination/overview_feed.hpp"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include <evenkeel/api/json.hpp>

namespace evenkeel::coordination::overview_feed_tests {
namespace {

using namespace std::chrono_literals;
using detail::OverviewFeed;

struct World {
  TimePoint now = TimePoint{1h};
  OverviewFeed feed{"etcd http://127.0.0.1:2379", "/db", 5s};

  bool looks() { return feed.on_look(now); }
  std::string shown() const { return feed.latest(now).dump(); }
};

Json blocks() {
  return Json::parse(R"([{"title":"Lock","content":{"holder":"dc1"}}])");
}

TEST(OverviewFeed, ReadsWhenSomebodyLooksAndNotAgainWithinTheInterval) {
  World world;
  EXPECT_TRUE(world.looks());
  EXPECT_FALSE(world.looks()) << "one read at a time";
  world.now += 3s;
  EXPECT_FALSE(world.looks());
  world.feed.on_read(blocks(), 7, world.now);
  world.now += 4999ms;
  EXPECT_FALSE(world.looks()) << "counted from the end of the last read";
  world.now += 1ms;
  EXPECT_TRUE(world.looks());
}

TEST(OverviewFeed, AFailedReadIsNotRepeatedEarlier) {
  World world;
  ASSERT_TRUE(world.looks());
  world.feed.on_failure("cut off", world.now);
  EXPECT_FALSE(world.looks());
  world.now += 5s;
  EXPECT_TRUE(world.looks());
}

TEST(OverviewFeed, ShowsWhatWasReadWithItsAge) {
  World world;
  EXPECT_EQ(world.shown(), R"([{"content":{"keys below":"/db","read":"not yet",)"
                           R"("store":"etcd http://127.0.0.1:2379"},"title":"Store"}])");
  ASSERT_TRUE(world.looks());
  world.feed.on_read(blocks(), 7, world.now);
  world.now += 90s;
  EXPECT_EQ(world.shown(), R"([{"content":{"keys below":"/db","read":"1m30s ago",)"
                           R"("store":"etcd http://127.0.0.1:2379","version":7},"title":"Store"},)"
                           R"({"content":{"holder":"dc1"},"title":"Lock"}])");
}

TEST(OverviewFeed, KeepsWhatWasReadBesideTheProblem) {
  World world;
  ASSERT_TRUE(world.looks());
  world.feed.on_read(blocks(), 7, world.now);
  world.now += 10s;
  ASSERT_TRUE(world.looks());
  world.feed.on_failure("etcd: connection refused", world.now);
  world.now += 1s;
  EXPECT_EQ(world.shown(), R"([{"content":{"keys below":"/db","problem":"etcd: connection refused",)"
                           R"("read":"11s ago","store":"etcd http://127.0.0.1:2379","version":7},)"
                           R"("title":"Store"},{"content":{"holder":"dc1"},"title":"Lock"}])");
  world.now += 4s;
  ASSERT_TRUE(world.looks());
  EXPECT_EQ(world.feed.latest(world.now)[0]["content"]["problem"], Json("etcd: connection refused"))
      << "until the next read has ended";
  world.feed.on_read(blocks(), 8, world.now);
  EXPECT_FALSE(world.feed.latest(world.now)[0]["content"].contains("problem"));
}

TEST(OverviewFeed, ReportsForHowLongTheStoreHasNotAnswered) {
  World world;
  ASSERT_TRUE(world.looks());
  world.now += 4999ms;
  EXPECT_FALSE(world.feed.latest(world.now)[0]["content"].contains("problem"));
  world.now += 65s;
  EXPECT_EQ(world.feed.latest(world.now)[0]["content"]["problem"],
            Json("the store has not answered for 1m9s"));
  EXPECT_FALSE(world.looks()) << "no second read beside the one that hangs";
}

TEST(OverviewFeed, CutsOffLongTexts) {
  OverviewFeed feed(std::string(1000, 's'), std::string(1000, 'r'), 5s);
  ASSERT_TRUE(feed.on_look(TimePoint{}));
  feed.on_failure(std::string(100'000, 'p'), TimePoint{});
  const Json latest = feed.latest(TimePoint{});
  const Json& content = latest[0]["content"];
  EXPECT_EQ(content["store"], Json(std::string(240, 's') + "\u2026"));
  EXPECT_EQ(content["keys below"], Json(std::string(240, 'r') + "\u2026"));
  EXPECT_EQ(content["problem"], Json(std::string(240, 'p') + "\u2026"));
}

}  // namespace
}  // namespace evenkeel::coordination::overview_feed_tests
