// SPDX-License-Identifier: Apache-2.0
// Conversion webhooks that fail or take too long: what becomes of requests and watches.
#include <string>
#include <utility>
#include <vector>

#include "core_conversion_fixture.hpp"

namespace evenkeel::apiserver::tests::conversions {
namespace {

TEST_F(ConversionWebhookTest, ConvertsALargeListBySeveralReviews) {
  for (int i = 0; i < 1001; ++i) store("s" + std::to_string(i), i);
  EXPECT_EQ(ask(v2)["items"].size(), 1001U);
  EXPECT_EQ(asked.size(), 3U);
}

TEST_F(ConversionWebhookTest, AWatchWaitsForAWebhookThatFails) {
  store("a", 1);
  const CoreReply watch = ask(v2 + "?watch=1&resourceVersion=" + get(ships + "/a").version());
  ASSERT_EQ(merge(ships + "/a", R"({"spec":{"crew":2}})").status, 200);
  raw = WebhookAnswer{.error = "connection refused"};
  answer_watches();
  EXPECT_EQ(seen(watch), "");
  EXPECT_FALSE(ended);
  core.on_timeout(now);
  EXPECT_EQ(core.next_due(), now + 1s);
  EXPECT_THAT(core.take_webhook_calls(), IsEmpty()) << "not at once";
  retry(29);
  raw.reset();
  retry(1);
  EXPECT_EQ(seen(watch), "MODIFIED a") << "30 s after the first failure";
  EXPECT_FALSE(ended);
}

TEST_F(ConversionWebhookTest, EndsTheWatchesOfAVersionThatCannotShowAnObject) {
  store("a", 1);
  const std::string begin = get(ships + "/a").version();
  const CoreReply watch = ask(v2 + "?watch=1&resourceVersion=" + begin);
  const CoreReply elsewhere = ask("/apis/example.com/v2/namespaces/kube-system/ships?watch=1");
  const CoreReply stored = ask(ships + "?watch=1&resourceVersion=" + begin);
  refuse("bad");
  store("good", 1);
  store("bad", 1);
  store("later", 1);
  answer_watches();  // together
  retry(32);
  EXPECT_EQ(seen(watch), "ADDED good") << "without an ERROR event";
  EXPECT_TRUE(ended);
  EXPECT_EQ(seen(elsewhere), "");
  EXPECT_TRUE(ended);
  EXPECT_EQ(seen(stored), "ADDED good, ADDED bad, ADDED later");
  EXPECT_FALSE(ended);
}

TEST_F(ConversionWebhookTest, AVersionThatIsLostIsRefusedUntilAllObjectsCanBeShown) {
  store("a", 1);
  const std::string begin = get(ships + "/a").version();
  const CoreReply watch = ask(v2 + "?watch=1&resourceVersion=" + begin);
  refuse("bad");
  store("bad", 1);
  answer_watches();
  retry(31);
  const std::string failed = "conversion webhook for example.com/v1, Kind=Ship failed: no way";
  const std::string elsewhere = "/apis/example.com/v2/namespaces/kube-system/ships";
  for (const std::string& target : {v2 + "?watch=1", elsewhere, v2 + "?limit=5&labelSelector=a%3Db"}) {
    const CoreReply reply = ask(target);
    EXPECT_EQ(reply.status, 429) << target;
    EXPECT_EQ(reply.reason(), "TooManyRequests");
    EXPECT_EQ(reply.message(),
              "storage is (re)initializing: failed to list example.com/v2, Kind=Ship: " + failed);
    EXPECT_EQ(reply.body.at({"details", "retryAfterSeconds"}), Json(1));
  }
  EXPECT_EQ(ask(http::Method::delete_, v2 + "?labelSelector=a%3Db").status, 429);
  EXPECT_EQ(ask(v2 + "?limit=5").message(), failed) << "a page is not read from the watch cache";
  EXPECT_EQ(ask(v2 + "/a").status, 200);
  now += 40s;
  EXPECT_EQ(ask(v2).body.at({"details", "retryAfterSeconds"}), Json(11));
  change = nullptr;
  EXPECT_EQ(ask(v2)["items"].size(), 2U);
  const std::string present = std::to_string(core.resource_version());
  const std::vector<Json> old = events(ask(v2 + "?watch=1&resourceVersion=" + begin));
  ASSERT_EQ(old.size(), 1U);
  EXPECT_EQ(old[0].at({"object", "message"}),
            Json("too old resource version: " + begin + " (" + present + ")"));
  EXPECT_EQ(old[0].at({"object", "code"}), Json(410));
  EXPECT_EQ(seen(ask(v2 + "?watch=1")), "ADDED a, ADDED bad");
}

TEST_F(ConversionWebhookTest, AWatchBeginsOnlyIfAllItsObjectsCanBeShown) {
  store("bad", 1);
  refuse("bad");
  EXPECT_EQ(ask(v2 + "?watch=1").message(),
            "storage is (re)initializing: failed to list example.com/v2, Kind=Ship: conversion webhook for "
            "example.com/v1, Kind=Ship failed: no way");
  EXPECT_EQ(seen(ask(ships + "?watch=1")), "ADDED bad");
}

TEST_F(ConversionWebhookTest, ASecondTroubleWithinAMinuteEndsWatchesAtOnce) {
  store("a", 1);
  const CoreReply watch = ask(v2 + "?watch=1&resourceVersion=" + get(ships + "/a").version());
  const auto trouble = [&] {
    raw = WebhookAnswer{.error = "connection refused"};
    ASSERT_EQ(merge(ships + "/a", R"({"spec":{"crew":)" + std::to_string(++crew) + "}}").status, 200);
    answer_watches();
    raw.reset();
    retry(1);
  };
  trouble();
  EXPECT_EQ(seen(watch), "MODIFIED a");
  tick_after(62s);
  trouble();
  EXPECT_EQ(seen(watch), "MODIFIED a") << "a minute without a failure";
  tick_after(31s);
  trouble();
  EXPECT_EQ(seen(watch), "");
  EXPECT_TRUE(ended);
}

TEST_F(ConversionWebhookTest, SaysWhyACallFailed) {
  store("a", 1);
  raw = WebhookAnswer{.error =
                          R"(Post "https://127.0.0.1:9443/convert?timeout=30s": context deadline exceeded)"};
  const std::string failed = "conversion webhook for example.com/v1, Kind=Ship failed: ";
  CoreReply reply = ask(v2 + "/a");
  EXPECT_EQ(reply.status, 500);
  EXPECT_EQ(reply.reason(), "");
  EXPECT_EQ(reply.message(), failed + raw->error);
  raw = WebhookAnswer{.status = 404};
  EXPECT_EQ(ask(v2 + "/a").message(), failed + "the server could not find the requested resource");
  raw = WebhookAnswer{.status = 500, .body = "out of order\n"};
  EXPECT_EQ(ask(v2 + "/a").message(),
            failed + R"(an error on the server ("out of order") has prevented the request from succeeding)");
  raw = WebhookAnswer{.status = 200, .body = R"({"kind":"Ship"})"};
  EXPECT_EQ(ask(v2 + "/a").message(), failed + R"(no kind "Ship" is registered for version "")");
  raw = WebhookAnswer{.status = 200, .body = "{}"};
  EXPECT_EQ(ask(v2 + "/a").message(), failed + "Object 'Kind' is missing in '{}'");
  raw = WebhookAnswer{.status = 200,
                      .body = R"({"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1beta1"})"};
  EXPECT_EQ(ask(v2 + "/a").message(),
            failed +
                "expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got "
                "apiextensions.k8s.io/v1beta1, Kind=ConversionReview");
  raw = WebhookAnswer{.status = 200,
                      .body = R"({"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1"})"};
  EXPECT_EQ(ask(v2 + "/a").message(), failed + "no response provided");
  EXPECT_EQ(get(ships + "/a").status, 200) << "the stored version needs no webhook";
}

TEST_F(ConversionWebhookTest, RefusesAListInTheWordsForItsObject) {
  for (const char* name : {"a", "b", "c", "d", "e"}) store(name, 1);
  change = [this](Json& response) {
    // The text counts objects, as that of a webhook may.
    const Json request = asked_for();
    for (std::size_t i = 0; i < request["objects"].size(); ++i)
      if (const std::string name = request["objects"][i]["metadata"]["name"].as_string();
          name == "c" || name == "e")
        response["result"] =
            Json::object({{"status", "Failure"}, {"message", name + " at " + std::to_string(i)}});
  };
  const CoreReply reply = ask(v2);
  EXPECT_EQ(reply.status, 500);
  EXPECT_EQ(reply.reason(), "");
  EXPECT_EQ(reply.message(), "conversion webhook for example.com/v1, Kind=Ship failed: c at 0");
  EXPECT_THAT(asked, ElementsAre("v2: a b c d e", "v2: a b", "v2: c d", "v2: c"));
}

TEST_F(ConversionWebhookTest, DoesNotDivideAReviewThatTheWebhookDidNotAnswer) {
  store("a", 1);
  store("b", 2);
  raw = WebhookAnswer{.error = "connection refused"};
  EXPECT_EQ(ask(v2).message(), "conversion webhook for example.com/v1, Kind=Ship failed: connection refused");
  EXPECT_THAT(asked, ElementsAre("v2: a b"));
}

TEST_F(ConversionWebhookTest, TriesAWriteAgainUntilItsTimeIsOver) {
  for (const char* name : {"a", "b", "c", "d"}) store(name, 1);
  // Others write as often as the webhook is called, `pause` apart.
  const auto patch = [this](const std::string& name, const std::string& query,
                            std::chrono::milliseconds pause, int times) {
    always = [this, name, pause, times]() mutable {
      if (times-- <= 0) return;
      ASSERT_EQ(merge(ships + "/" + name, R"({"spec":{"crew":)" + std::to_string(++crew) + "}}").status, 200);
      now += pause;
    };
    asked.clear();
    return ask(http::Method::patch, v2 + "/" + name + query, R"({"spec":{"port":"Kiel"}})", merge_type);
  };
  const CoreReply written = patch("a", "", 20ms, 1200);
  EXPECT_EQ(written.status, 200) << "after more than 1,000 reviews: " << written.text;
  const CoreReply late = patch("b", "", 1s, 5000);
  EXPECT_EQ(late.status, 504);
  EXPECT_EQ(late.body,
            Json::parse(
                R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Timeout: )"
                R"(request did not complete within requested timeout - context deadline exceeded",)"
                R"("reason":"Timeout","details":{},"code":504})"));
  EXPECT_EQ(asked.size(), 34U);
  EXPECT_EQ(patch("c", "?timeout=5s", 1s, 5000).message(),
            "Timeout: request did not complete within the allotted timeout");
  EXPECT_EQ(asked.size(), 5U);
  EXPECT_EQ(patch("d", "", 0s, 5000).message(), late.message()) << "where the clock stands still";
}

TEST_F(ConversionWebhookTest, GivesAReadAMinute) {
  for (int i = 0; i < 501; ++i) store("s" + std::to_string(i), i);
  always = [this] { now += 30s; };
  EXPECT_EQ(ask(v2)["items"].size(), 501U);
  always = [this] { now += 61s; };
  const CoreReply late = ask(v2);
  EXPECT_EQ(late.status, 504);
  EXPECT_EQ(late.message(), "Timeout: request did not complete within the allotted timeout");
}

}  // namespace
}  // namespace evenkeel::apiserver::tests::conversions
