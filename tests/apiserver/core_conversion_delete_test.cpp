// SPDX-License-Identifier: Apache-2.0
// Deletions in a version into which a webhook converts.
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core_conversion_fixture.hpp"

namespace evenkeel::apiserver::tests::conversions {
namespace {

TEST_F(ConversionWebhookTest, DeletesInAVersionOnlyWhatItCanShow) {
  store("a", 1);
  store("b", 1);
  raw = WebhookAnswer{.status = 404};
  EXPECT_EQ(ask(http::Method::delete_, v2 + "/a").status, 500);
  EXPECT_EQ(ask(http::Method::delete_, v2).status, 500);
  EXPECT_EQ(get(ships)["items"].size(), 2U);
  raw.reset();
  ASSERT_EQ(merge(ships + "/a", R"({"metadata":{"finalizers":["x.io/y"]}})").status, 200);
  const CoreReply marked = ask(http::Method::delete_, v2 + "/a");
  EXPECT_EQ(marked["spec"], Json::parse(R"({"people":{"count":1}})"));
  EXPECT_FALSE(marked.body.at({"metadata", "deletionTimestamp"}).is_null());
  EXPECT_EQ(get(ships + "/a")["spec"], Json::parse(R"({"crew":1})")) << "still stored in its version";
  ASSERT_EQ(ask(http::Method::patch, v2 + "/a", R"({"metadata":{"finalizers":null}})", merge_type).status,
            200);
  EXPECT_EQ(get(ships + "/a").status, 404);
  EXPECT_EQ(ask(http::Method::delete_, v2)["items"][0]["spec"], Json::parse(R"({"people":{"count":1}})"));
  EXPECT_EQ(get(ships)["items"].size(), 0U);
}

TEST_F(ConversionWebhookTest, MarksForDeletionByAWriteThatConvertsBothWays) {
  store("a", 1);
  store("b", 1);
  change = [this](Json& response) {
    response["convertedObjects"][0]["metadata"]["labels"] =
        Json::object({{"to", asked_for()["desiredAPIVersion"].as_string().substr(12)}});
  };
  const CoreReply watch = ask(v2 + "?watch=1&resourceVersion=" + get(ships + "/b").version());
  const CoreReply stored = ask(ships + "?watch=1&resourceVersion=" + get(ships + "/b").version());
  asked.clear();
  const CoreReply rehearsed = ask(http::Method::delete_, v2 + "/a?propagationPolicy=Foreground&dryRun=All");
  EXPECT_EQ(rehearsed.body.at({"metadata", "finalizers"}), Json::parse(R"(["foregroundDeletion"])"));
  EXPECT_TRUE(get(ships + "/a").body.at({"metadata", "deletionTimestamp"}).is_null());
  EXPECT_THAT(std::exchange(asked, {}), ElementsAre("v2: a", "v1: a", "v2: a"));
  for (const auto& [name, policy, finalizer] :
       {std::tuple("a", "Foreground", "foregroundDeletion"), std::tuple("b", "Orphan", "orphan")}) {
    const CoreReply marked =
        ask(http::Method::delete_, v2 + "/" + name + "?propagationPolicy=" + std::string(policy));
    EXPECT_EQ(marked.status, 200) << marked.text;
    EXPECT_EQ(marked["spec"], Json::parse(R"({"people":{"count":1}})"));
    EXPECT_EQ(marked.body.at({"metadata", "labels", "to"}), Json("v2"));
    EXPECT_EQ(marked.body.at({"metadata", "finalizers"}), Json::array({finalizer}));
    const CoreReply kept = get(ships + "/" + name);
    EXPECT_EQ(kept["spec"], Json::parse(R"({"crew":1})"));
    EXPECT_EQ(kept.body.at({"metadata", "labels", "to"}), Json("v1")) << "as the webhook left it";
    EXPECT_EQ(kept.version(), marked.version());
    EXPECT_EQ(ask(http::Method::delete_, v2 + "/" + name).version(), marked.version()) << "nothing changes";
  }
  answer_watches();
  EXPECT_EQ(seen(stored), "MODIFIED a, MODIFIED b");
  const std::vector<Json> shown = events(watch);
  ASSERT_EQ(shown.size(), 2U);
  EXPECT_EQ(shown[0].at({"object", "metadata", "labels", "to"}), Json("v2"));
  EXPECT_EQ(shown[0].at({"object", "spec"}), Json::parse(R"({"people":{"count":1}})"));
}

TEST_F(ConversionWebhookTest, DeletesInAVersionOnlyWhatHasAStoredForm) {
  store("a", 1);
  store("held", 1);
  ASSERT_EQ(merge(ships + "/held", R"({"metadata":{"finalizers":["x.io/y"]}})").status, 200);
  change = [this](Json& response) {
    if (asked_for()["desiredAPIVersion"] == Json("example.com/v1"))
      response["result"] = Json::parse(R"({"status":"Failure","message":"no way back"})");
  };
  for (const std::string& target : {v2 + "/a", v2 + "/held", v2})
    EXPECT_EQ(ask(http::Method::delete_, target).message(),
              "conversion webhook for example.com/v2, Kind=Ship failed: no way back");
  EXPECT_EQ(get(ships)["items"].size(), 2U);
  EXPECT_TRUE(get(ships + "/held").body.at({"metadata", "deletionTimestamp"}).is_null());
  EXPECT_EQ(ask(http::Method::delete_, v2 + "/a?dryRun=All").status, 200);
}

TEST_F(ConversionWebhookTest, MarksACollectionByFewReviews) {
  for (const char* name : {"a", "b", "c"}) store(name, 1);
  for (const char* name : {"a", "c"})
    ASSERT_EQ(merge(ships + "/" + name, R"({"metadata":{"finalizers":["x.io/y"]}})").status, 200);
  asked.clear();
  EXPECT_EQ(ask(http::Method::delete_, v2)["items"].size(), 3U);
  EXPECT_THAT(asked, ElementsAre("v2: a b c", "v1: a b c", "v2: a c"));
  EXPECT_FALSE(get(ships + "/a").body.at({"metadata", "deletionTimestamp"}).is_null());
  EXPECT_EQ(get(ships + "/b").status, 404);
}

TEST_F(ConversionWebhookTest, CollectsGarbageWithoutTheWebhook) {
  store("owner", 1);
  Json dependent = ship("dependent");
  dependent["metadata"]["ownerReferences"] =
      Json::array({Json::object({{"apiVersion", "example.com/v2"},
                                 {"kind", "Ship"},
                                 {"name", "owner"},
                                 {"uid", get(ships + "/owner").uid()}})});
  ASSERT_EQ(ask(http::Method::post, ships, dependent.dump()).status, 201);
  ASSERT_EQ(remove(ships + "/owner").status, 200);
  tick_after(1s);
  EXPECT_EQ(get(ships + "/dependent").status, 404);
  EXPECT_THAT(asked, IsEmpty());
}

}  // namespace
}  // namespace evenkeel::apiserver::tests::conversions
