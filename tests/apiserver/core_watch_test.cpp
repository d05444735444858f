// SPDX-License-Identifier: Apache-2.0
// Watches of the core: their start, events and end.
#include <algorithm>

#include "core_fixture.hpp"

namespace evenkeel::apiserver::tests {
namespace {

class ApiServerCoreWatches : public CoreFixture {
 protected:
  ApiServerCoreWatches() : CoreFixture({.bookmark_interval = std::chrono::seconds(10)}) {}
  CoreReply watch(const std::string& query = "") { return get(maps + "?watch=true" + query); }
};

TEST_F(ApiServerCoreWatches, WithoutAVersionStartsWithWhatThereIs) {
  post(maps, config_map("a"));
  const CoreReply all = watch();
  EXPECT_EQ(all.status, 200);
  EXPECT_EQ(seen(all), "ADDED a");
  EXPECT_EQ(seen(watch("&resourceVersion=0")), "ADDED a");
}

TEST_F(ApiServerCoreWatches, FromAVersionTellsWhatCameAfter) {
  const CoreReply a = post(maps, config_map("a"));
  post(maps, config_map("b"));
  merge(maps + "/a", R"({"data":{"k":"w"}})");
  remove(maps + "/b");
  EXPECT_EQ(seen(watch("&resourceVersion=" + a.version())), "ADDED b, MODIFIED a, DELETED b");
}

TEST_F(ApiServerCoreWatches, EventsComeInOrderOfVersions) {
  const CoreReply stream = watch();
  post(maps, config_map("a"));
  merge(maps + "/a", R"({"data":{"k":"w"}})");
  remove(maps + "/a");
  std::uint64_t last = 0;
  for (const Json& event : events(stream)) {
    const std::uint64_t version =
        std::stoull(event.at({"object", "metadata", "resourceVersion"}).as_string());
    EXPECT_LT(last, version);
    last = version;
  }
  EXPECT_EQ(last, core.resource_version());
}

TEST_F(ApiServerCoreWatches, ATooOldVersionIsAnErrorInTheStream) {
  const CoreReply stream = watch("&resourceVersion=1");
  const std::vector<Json> got = events(stream);
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0]["type"], Json("ERROR"));
  EXPECT_EQ(got[0].at({"object", "code"}), Json(410));
  EXPECT_EQ(got[0].at({"object", "reason"}), Json("Expired"));
  EXPECT_TRUE(ended);
}

// Regression: a streamed list of a version that the server does not have yet showed the present state as of
// that version. Source: apiserver pkg/storage/cacher waitUntilFreshAndBlock.
TEST_F(ApiServerCoreWatches, AStreamedListOfAFutureVersionIsAnErrorInTheStream) {
  post(maps, config_map("a"));
  const CoreReply stream = watch(
      "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
      "&resourceVersion=999999");
  EXPECT_EQ(stream.status, 200);
  const std::vector<Json> got = events(stream);
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0]["type"], Json("ERROR"));
  EXPECT_EQ(got[0].at({"object", "code"}), Json(504));
  EXPECT_EQ(got[0].at({"object", "reason"}), Json("Timeout"));
  EXPECT_EQ(got[0].at({"object", "message"}), Json("Timeout: Too large resource version: 999999, current: " +
                                                   std::to_string(core.resource_version())));
  EXPECT_TRUE(ended);
}

// Regression: a watch from a version that the server does not have yet had the changes before that version
// too. Source: apiserver pkg/storage/cacher/cache_watcher.go process.
TEST_F(ApiServerCoreWatches, FromAFutureVersionTellsOnlyWhatComesAfterIt) {
  post(maps, config_map("first"));
  const std::uint64_t asked = core.resource_version() + 2;
  const CoreReply stream = watch("&allowWatchBookmarks=true&resourceVersion=" + std::to_string(asked));
  post(maps, config_map("a"));
  tick_after(std::chrono::seconds(10));
  post(maps, config_map("b"));
  EXPECT_EQ(core.resource_version(), asked);
  tick_after(std::chrono::seconds(10));
  EXPECT_EQ(seen(stream), "");
  EXPECT_FALSE(ended);
  post(maps, config_map("c"));
  tick_after(std::chrono::seconds(10));
  EXPECT_EQ(seen(stream), "ADDED c, BOOKMARK");
}

TEST_F(ApiServerCoreWatches, SelectorsTurnChangesIntoComingAndGoing) {
  const CoreReply stream = watch("&labelSelector=on%3D1");
  post(maps, config_map("a"));
  merge(maps + "/a", R"({"metadata":{"labels":{"on":"1"}}})");
  merge(maps + "/a", R"({"data":{"k":"w"}})");
  const CoreReply left = merge(maps + "/a", R"({"metadata":{"labels":null}})");
  remove(maps + "/a");
  const std::vector<Json> got = events(stream);
  ASSERT_EQ(got.size(), 3U);
  EXPECT_EQ(got[0]["type"], Json("ADDED"));
  EXPECT_EQ(got[1]["type"], Json("MODIFIED"));
  EXPECT_EQ(got[2]["type"], Json("DELETED"));
  EXPECT_EQ(got[2].at({"object", "metadata", "labels", "on"}), Json("1")) << "the object as it was";
  EXPECT_EQ(got[2].at({"object", "metadata", "resourceVersion"}), Json(left.version()))
      << "at the version of the change";
}

TEST_F(ApiServerCoreWatches, OneObjectByName) {
  const CoreReply stream = watch("&fieldSelector=metadata.name%3Db");
  post(maps, config_map("a"));
  post(maps, config_map("b"));
  EXPECT_EQ(seen(stream), "ADDED b");
}

TEST_F(ApiServerCoreWatches, OtherNamespacesAndKindsAreNotHeardOf) {
  const CoreReply stream = watch();
  const CoreReply all = get("/api/v1/configmaps?watch=1");
  post("/api/v1/namespaces/kube-system/configmaps", config_map("a"));
  post("/api/v1/namespaces/default/secrets", Json::parse(R"({"metadata":{"name":"s"}})"));
  EXPECT_EQ(seen(stream), "");
  EXPECT_EQ(seen(all), "ADDED a");
}

TEST_F(ApiServerCoreWatches, StreamedListsEndWithAMarkedBookmark) {
  post(maps, config_map("a"));
  const CoreReply stream =
      watch("&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true");
  const std::vector<Json> got = events(stream);
  ASSERT_EQ(got.size(), 2U);
  EXPECT_EQ(got[1]["type"], Json("BOOKMARK"));
  EXPECT_EQ(got[1].at({"object", "metadata", "annotations", "k8s.io/initial-events-end"}), Json("true"));
  EXPECT_EQ(got[1].at({"object", "metadata", "resourceVersion"}),
            Json(std::to_string(core.resource_version())));
  EXPECT_EQ(watch("&sendInitialEvents=true").status, 422);
}

TEST_F(ApiServerCoreWatches, BookmarksComeInTimeToThoseWhoAsk) {
  const CoreReply with = watch("&allowWatchBookmarks=true");
  const CoreReply without = watch();
  ASSERT_TRUE(core.next_due().has_value());
  EXPECT_EQ(*core.next_due(), now + std::chrono::seconds(10));
  tick_after(std::chrono::seconds(9));
  EXPECT_EQ(seen(with), "");
  post("/api/v1/namespaces/default/secrets", Json::parse(R"({"metadata":{"name":"s"}})"));
  tick_after(std::chrono::seconds(1));
  const std::vector<Json> got = events(with);
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0]["type"], Json("BOOKMARK"));
  EXPECT_EQ(got[0].at({"object", "metadata", "resourceVersion"}),
            Json(std::to_string(core.resource_version())));
  EXPECT_EQ(seen(without), "");
}

TEST_F(ApiServerCoreWatches, EndWhenTheirTimeIsUp) {
  const CoreReply stream = watch("&timeoutSeconds=5");
  tick_after(std::chrono::seconds(4));
  events(stream);
  EXPECT_FALSE(ended);
  post(maps, config_map("a"));
  tick_after(std::chrono::seconds(1));
  EXPECT_EQ(seen(stream), "ADDED a") << "what was queued is still told";
  EXPECT_TRUE(ended);
  EXPECT_TRUE(core.read_watch(*stream.watch).ended);
}

TEST_F(ApiServerCoreWatches, ReadyNamesEachOnce) {
  const CoreReply one = watch();
  const CoreReply two = watch();
  EXPECT_TRUE(core.ready_watches().empty());
  post(maps, config_map("a"));
  post(maps, config_map("b"));
  EXPECT_EQ(core.ready_watches(), (std::vector<WatchId>{*one.watch, *two.watch}));
  EXPECT_TRUE(core.ready_watches().empty());
  core.close_watch(*two.watch);
  post(maps, config_map("c"));
  EXPECT_EQ(core.ready_watches(), std::vector<WatchId>{*one.watch});
  EXPECT_EQ(seen(one), "ADDED a, ADDED b, ADDED c");
}

TEST_F(ApiServerCoreWatches, MetadataOnly) {
  const CoreReply stream =
      get(maps + "?watch=1", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1");
  post(maps, config_map("a"));
  const std::vector<Json> got = events(stream);
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].at({"object", "kind"}), Json("PartialObjectMetadata"));
  EXPECT_FALSE(got[0]["object"].contains("data"));
}

TEST_F(ApiServerCoreWatches, AsTablesShowTheColumnsOnce) {
  const CoreReply stream = get(maps + "?watch=1", "application/json;as=Table;g=meta.k8s.io;v=v1");
  post(maps, config_map("a"));
  post(maps, config_map("b"));
  const std::vector<Json> got = events(stream);
  ASSERT_EQ(got.size(), 2U);
  EXPECT_EQ(got[0].at({"object", "kind"}), Json("Table"));
  EXPECT_GT(got[0].at({"object", "columnDefinitions"}).size(), 0U);
  EXPECT_EQ(got[1].at({"object", "columnDefinitions"}).size(), 0U);
}

TEST(ApiServerCoreWatchLimits, AReaderThatFallsBehindIsLetGo) {
  ApiServerCore core({.max_unread_bytes = 2000});
  const auto ask = [&](http::Method method, const std::string& target, const std::string& body = "") {
    return core.handle(
        {.method = method, .target = target, .headers = {{"Content-Type", "application/json"}}, .body = body},
        {});
  };
  const Answer stream = ask(http::Method::get, "/api/v1/configmaps?watch=1");
  for (int i = 0; i < 20; ++i)
    ask(http::Method::post, "/api/v1/namespaces/default/configmaps", R"({"metadata":{"generateName":"x"}})");
  const WatchOutput output = core.read_watch(*stream.watch);
  EXPECT_TRUE(output.ended);
}

TEST(ApiServerCoreWatchLimits, AFirstStateOfAnySizeIsSent) {
  ApiServerCore core({.max_unread_bytes = 2000});
  const auto ask = [&](http::Method method, const std::string& target, const std::string& body = "") {
    return core.handle(
        {.method = method, .target = target, .headers = {{"Content-Type", "application/json"}}, .body = body},
        {});
  };
  const auto create = [&] {
    ask(http::Method::post, "/api/v1/namespaces/default/configmaps", R"({"metadata":{"generateName":"x"}})");
  };
  for (int i = 0; i < 20; ++i) create();
  const Answer stream = ask(http::Method::get,
                            "/api/v1/configmaps?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&"
                            "resourceVersionMatch=NotOlderThan");
  const WatchOutput output = core.read_watch(*stream.watch);
  EXPECT_FALSE(output.ended);
  EXPECT_EQ(std::count(output.bytes.begin(), output.bytes.end(), '\n'), 21);
  for (int i = 0; i < 20; ++i) create();
  EXPECT_TRUE(core.read_watch(*stream.watch).ended) << "afterwards the limit is the one of any watch";
}

}  // namespace
}  // namespace evenkeel::apiserver::tests
