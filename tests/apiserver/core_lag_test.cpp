// SPDX-License-Identifier: Apache-2.0
// Reads from a stale watch cache.
#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "core_fixture.hpp"

namespace evenkeel::apiserver {
namespace {

using namespace std::chrono_literals;
using tests::CoreFixture;
using tests::CoreReply;

class CoreLag : public CoreFixture {
 protected:
  /// Sends a request that a lagging cache answers.
  CoreReply late(const std::string& target, const CacheLag& lag) {
    return send(http::Method::get, target, "", "application/json", "application/json", lag);
  }
  /// Returns the names in a list, one letter each.
  static std::string names(const CoreReply& list) {
    std::string out;
    for (std::size_t at = 0; at < list["items"].size(); ++at)
      out += list["items"][at].at({"metadata", "name"}).string_or("?");
    return out;
  }
};

TEST_F(CoreLag, ReadsOfAnyVersionSeeThePastByTime) {
  const CacheLag lag{.time = 5s};
  post(maps, config_map("a"));
  const std::string first = get(maps).version();
  now += 4s;
  const std::string second = post(maps, config_map("b")).version();
  now += 1s;
  const CoreReply any = late(maps + "?resourceVersion=0", lag);
  EXPECT_EQ(names(any), "a");
  EXPECT_EQ(any.version(), first) << "its version is that of what it shows";
  EXPECT_EQ(late(maps + "/b?resourceVersion=0", lag).status, 404);
  EXPECT_EQ(late(maps + "/a?resourceVersion=0", lag).status, 200);
  EXPECT_EQ(names(late(maps, lag)), "ab") << "a consistent read";
  EXPECT_EQ(late(maps + "/b", lag).status, 200);
  EXPECT_EQ(names(late(maps + "?resourceVersion=" + second, lag)), "ab") << "not older than this";
  now += 4s;
  EXPECT_EQ(names(late(maps + "?resourceVersion=0", lag)), "ab");
}

TEST_F(CoreLag, ReadsOfAnyVersionSeeThePastByVersions) {
  const CacheLag lag{.versions = 2};
  for (const char* name : {"a", "b", "c"}) post(maps, config_map(name));
  EXPECT_EQ(names(late(maps + "?resourceVersion=0", lag)), "a");
  post("/api/v1/namespaces/default/secrets", Json::object({{"metadata", Json::object({{"name", "s"}})}}));
  EXPECT_EQ(names(late(maps + "?resourceVersion=0", lag)), "ab") << "changes of anything count";
}

TEST_F(CoreLag, AnOldObjectIsSeenAsItWas) {
  post(maps, config_map("a", "old"));
  now += 1s;
  merge(maps + "/a", R"({"data":{"k":"new"}})");
  EXPECT_EQ(late(maps + "/a?resourceVersion=0", {.time = 1s}).body.at({"data", "k"}), Json("old"));
  now += 1s;
  remove(maps + "/a");
  EXPECT_EQ(late(maps + "/a?resourceVersion=0", {.time = 1s}).body.at({"data", "k"}), Json("new"));
  EXPECT_EQ(late(maps + "/a", {.time = 1s}).status, 404);
}

TEST_F(CoreLag, AWatchIsToldEachChangeLateAndInOrder) {
  post(maps, config_map("a"));
  now += 3s;
  post(maps, config_map("b"));
  now += 1s;
  const CoreReply watch = late(maps + "?watch=1&resourceVersion=0", {.time = 5s});
  EXPECT_EQ(seen(watch), "");
  EXPECT_EQ(core.next_due(), now + 1s);
  tick_after(1s);
  EXPECT_EQ(core.ready_watches(), std::vector<WatchId>{*watch.watch});
  EXPECT_EQ(seen(watch), "ADDED a");
  merge(maps + "/a", R"({"data":{"k":"w"}})");
  tick_after(3s);
  EXPECT_EQ(seen(watch), "ADDED b");
  tick_after(2s);
  EXPECT_EQ(seen(watch), "MODIFIED a");
  EXPECT_EQ(seen(watch), "");
}

TEST_F(CoreLag, AWatchIsToldWhenSoManyMoreChangesWereMade) {
  post(maps, config_map("a"));
  const CoreReply watch = late(maps + "?watch=1&resourceVersion=0", {.versions = 2});
  EXPECT_EQ(seen(watch), "");
  core.ready_watches();
  post(maps, config_map("b"));
  EXPECT_TRUE(core.ready_watches().empty());
  post("/api/v1/namespaces/default/secrets", Json::object({{"metadata", Json::object({{"name", "s"}})}}));
  EXPECT_EQ(core.ready_watches(), std::vector<WatchId>{*watch.watch});
  EXPECT_EQ(seen(watch), "ADDED a");
  core.catch_up(*watch.watch);
  EXPECT_EQ(core.ready_watches(), std::vector<WatchId>{*watch.watch});
  EXPECT_EQ(seen(watch), "ADDED b");
  post(maps, config_map("c"));
  EXPECT_EQ(seen(watch), "ADDED c") << "no longer held back";
}

TEST_F(CoreLag, DelayedEventsBeginWithTheFreshState) {
  post(maps, config_map("a"));
  const CoreReply watch = late(maps + "?watch=1&resourceVersion=0", {.events = 5s});
  EXPECT_EQ(seen(watch), "ADDED a");
  post(maps, config_map("b"));
  tick_after(4s);
  EXPECT_EQ(seen(watch), "");
  tick_after(1s);
  EXPECT_EQ(seen(watch), "ADDED b");
}

TEST_F(CoreLag, AStreamingListOfNoVersionIsConsistent) {
  const std::string query =
      "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=1";
  post(maps, config_map("a"));
  const std::string old = get(maps).version();
  now += 3s;
  const std::string fresh = post(maps, config_map("b")).version();
  const auto bookmark = [&](const std::string& version) {
    const CoreReply watch = late(maps + query + version, {.time = 2s});
    return events(watch).back().at({"object", "metadata", "resourceVersion"}).string_or("");
  };
  EXPECT_EQ(bookmark(""), fresh);
  EXPECT_EQ(bookmark("&resourceVersion=0"), old);
  EXPECT_EQ(bookmark("&resourceVersion=" + fresh), fresh);
}

TEST_F(CoreLag, ABookmarkComesAfterTheChangesThatItSpeaksOf) {
  const CoreReply watch = late(maps + "?watch=1&resourceVersion=0&allowWatchBookmarks=1", {.time = 61s});
  seen(watch);
  tick_after(60s);
  post(maps, config_map("a"));
  tick_after(60s);
  EXPECT_EQ(seen(watch), "") << "a bookmark was due, and is held back";
  tick_after(1s);
  EXPECT_EQ(seen(watch), "BOOKMARK, ADDED a");
}

TEST_F(CoreLag, AWatchThatEndsDropsWhatIsHeldBack) {
  const CoreReply watch = late(maps + "?watch=1&resourceVersion=0&timeoutSeconds=3", {.events = 5s});
  seen(watch);
  post(maps, config_map("a"));
  tick_after(3s);
  EXPECT_EQ(seen(watch), "");
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace evenkeel::apiserver
