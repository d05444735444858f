// SPDX-License-Identifier: Apache-2.0
// Conversion webhooks in the core: what is asked for which request, and what comes of the answers.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core_conversion_fixture.hpp"

namespace evenkeel::apiserver::tests::conversions {
namespace {

TEST_F(ConversionWebhookTest, StoresOneVersionAndShowsBoth) {
  const CoreReply made = ask(http::Method::post, v2, new_ship("a", 7).dump());
  ASSERT_EQ(made.status, 201) << made.text;
  EXPECT_EQ(made["apiVersion"], Json("example.com/v2"));
  EXPECT_EQ(made["spec"], Json::parse(R"({"people":{"count":7}})"));
  EXPECT_THAT(std::exchange(asked, {}), ElementsAre("v1: a", "v2: a")) << "to the store and back";
  const CoreReply old = get(ships + "/a");
  EXPECT_EQ(old["apiVersion"], Json("example.com/v1"));
  EXPECT_EQ(old["spec"], Json::parse(R"({"crew":7})"));
  EXPECT_EQ(old.version(), made.version());
  EXPECT_EQ(old.uid(), made.uid());
  EXPECT_THAT(asked, IsEmpty());
  const CoreReply read = ask(v2 + "/a");
  EXPECT_EQ(read.text, made.text);
  EXPECT_THAT(asked, ElementsAre("v2: a"));
}

TEST_F(ConversionWebhookTest, AsksWithTheReviewOfARealServer) {
  store("a", 3);
  ASSERT_EQ(ask(v2 + "/a").status, 200);
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0].webhook, "conversion_webhook_for_ships.example.com");
  EXPECT_EQ(calls[0].url, "https://127.0.0.1:9443/convert?timeout=30s");
  EXPECT_EQ(calls[0].timeout, 30s);
  Json review = Json::parse(calls[0].body);
  EXPECT_EQ(review["apiVersion"], Json("apiextensions.k8s.io/v1"));
  EXPECT_EQ(review["kind"], Json("ConversionReview"));
  EXPECT_EQ(review["request"]["uid"].as_string().size(), 36U);
  review["request"].erase("uid");
  Json& object = review["request"]["objects"][0];
  for (const char* member : {"uid", "creationTimestamp", "managedFields"}) {
    EXPECT_FALSE(std::as_const(object)["metadata"][member].is_null()) << member;
    object["metadata"].erase(member);
  }
  EXPECT_EQ(review["request"],
            Json::parse(R"({"desiredAPIVersion":"example.com/v2","objects":[{"apiVersion":"example.com/v1",)"
                        R"("kind":"Ship","metadata":{"name":"a","namespace":"default","generation":1},)"
                        R"("spec":{"crew":3}}]})"))
      << "stored objects have no resourceVersion: " << review.dump();
}

TEST_F(ConversionWebhookTest, CallsAServiceWithItsBundle) {
  Json changed = definition();
  changed["spec"]["conversion"]["webhook"]["clientConfig"] =
      Json::parse(R"({"service":{"namespace":"team","name":"hooks","path":"/convert"},"caBundle":"Cg=="})");
  ASSERT_EQ(remove(crds + "/ships.example.com").status, 200);
  tick_after(1s);
  ASSERT_EQ(post(crds, changed).status, 201);
  store("a", 3);
  ASSERT_EQ(ask(v2 + "/a").status, 200);
  EXPECT_EQ(calls[0].url, "https://hooks.team.svc:443/convert?timeout=30s");
  EXPECT_EQ(calls[0].service_name, "hooks");
  EXPECT_EQ(calls[0].service_namespace, "team");
  EXPECT_EQ(calls[0].ca_bundle, "") << "white space is no bundle";
}

TEST_F(ConversionWebhookTest, ConvertsWhatUpdatesAndPatchesReadAndWrite) {
  store("a", 3);
  Json object = ask(v2 + "/a").body;
  object["spec"]["people"]["count"] = 4;
  CoreReply reply = ask(http::Method::put, v2 + "/a", object.dump());
  EXPECT_EQ(reply.status, 200) << reply.text;
  EXPECT_EQ(reply["spec"], Json::parse(R"({"people":{"count":4}})"));
  EXPECT_EQ(reply.body.at({"metadata", "generation"}), Json(2));
  EXPECT_EQ(get(ships + "/a")["spec"], Json::parse(R"({"crew":4})"));
  reply = ask(http::Method::patch, v2 + "/a", R"({"spec":{"people":{"count":5},"port":"Kiel"}})", merge_type);
  EXPECT_EQ(reply.status, 200) << reply.text;
  EXPECT_EQ(get(ships + "/a")["spec"], Json::parse(R"({"crew":5,"port":"Kiel"})"));
  reply = ask(http::Method::patch, v2 + "/a/status", R"({"status":{"crew":5}})", merge_type);
  EXPECT_EQ(reply.status, 200) << reply.text;
  EXPECT_EQ(get(ships + "/a")["status"], Json::parse(R"({"crew":5})"));
  EXPECT_EQ(ask(v2 + "/a/scale").body.at({"spec", "replicas"}), Json(5));
  reply = ask(http::Method::patch, v2 + "/a/scale", R"({"spec":{"replicas":6}})", merge_type);
  EXPECT_EQ(reply.body.at({"spec", "replicas"}), Json(6)) << reply.text;
  EXPECT_EQ(get(ships + "/a").body.at({"spec", "crew"}), Json(6));
}

TEST_F(ConversionWebhookTest, WritesNothingIfNothingChanges) {
  store("a", 3);
  const CoreReply before = ask(v2 + "/a");
  const CoreReply reply = ask(http::Method::put, v2 + "/a", before.text);
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.text, before.text);
}

TEST_F(ConversionWebhookTest, ConvertsInADryRunToo) {
  const CoreReply reply = ask(http::Method::post, v2 + "?dryRun=All", new_ship("a", 7).dump());
  EXPECT_EQ(reply["spec"], Json::parse(R"({"people":{"count":7}})"));
  EXPECT_THAT(asked, ElementsAre("v1: a", "v2: a"));
  EXPECT_EQ(get(ships + "/a").status, 404);
}

TEST_F(ConversionWebhookTest, ConvertsAListByOneReview) {
  store("a", 1, "Kiel");
  store("b", 2, "Bonn");
  store("c", 3, "Kiel");
  CoreReply list = ask(v2);
  EXPECT_EQ(list["kind"], Json("ShipList"));
  EXPECT_EQ(list["apiVersion"], Json("example.com/v2"));
  ASSERT_EQ(list["items"].size(), 3U);
  EXPECT_EQ(list["items"][2]["spec"], Json::parse(R"({"people":{"count":3},"port":"Kiel"})"));
  EXPECT_THAT(std::exchange(asked, {}), ElementsAre("v2: a b c"));
  list = ask(v2 + "?limit=2");
  EXPECT_THAT(std::exchange(asked, {}), ElementsAre("v2: a b")) << "those of the page";
  list = ask(v2 + "?limit=2&continue=" + list["metadata"]["continue"].as_string());
  EXPECT_THAT(std::exchange(asked, {}), ElementsAre("v2: c"));
  list = ask(v2 + "?fieldSelector=spec.port%3DKiel");
  EXPECT_THAT(asked, ElementsAre("v2: a b c")) << "a selector looks at converted objects";
  EXPECT_EQ(list["items"].size(), 2U);
}

TEST_F(ConversionWebhookTest, ShowsTheStateInWhichAReadBegan) {
  store("a", 1);
  meanwhile = [this] { ASSERT_EQ(merge(ships + "/a", R"({"spec":{"crew":2}})").status, 200); };
  EXPECT_EQ(ask(v2 + "/a").body.at({"spec", "people", "count"}), Json(1));
  EXPECT_THAT(asked, ElementsAre("v2: a")) << "and asks once";
}

TEST_F(ConversionWebhookTest, WritesWhatOthersHaveWrittenMeanwhile) {
  store("a", 1);
  meanwhile = [this] { ASSERT_EQ(merge(ships + "/a", R"({"spec":{"port":"Kiel"}})").status, 200); };
  ASSERT_EQ(ask(http::Method::patch, v2 + "/a", R"({"spec":{"people":{"count":9}}})", merge_type).status,
            200);
  EXPECT_EQ(get(ships + "/a")["spec"], Json::parse(R"({"crew":9,"port":"Kiel"})"));
}

TEST_F(ConversionWebhookTest, ConvertsTheEventsOfWatches) {
  store("a", 1);
  const CoreReply first = ask(v2 + "?watch=1&resourceVersion=0");
  EXPECT_THAT(std::exchange(asked, {}), ElementsAre("v2: a"));
  ASSERT_EQ(seen(first), "ADDED a");
  const CoreReply second = ask(v2 + "?watch=1&resourceVersion=" + get(ships + "/a").version());
  store("b", 2);
  ASSERT_EQ(merge(ships + "/a", R"({"spec":{"crew":5}})").status, 200);
  EXPECT_EQ(seen(first), "") << "the events wait for the webhook";
  answer_watches();
  EXPECT_THAT(std::exchange(asked, {}), ElementsAre("v2: b a")) << "once for both watches";
  EXPECT_THAT(core.ready_watches(), ElementsAre(*first.watch, *second.watch));
  const std::vector<Json> events = this->events(first);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0]["type"], Json("ADDED"));
  EXPECT_EQ(events[0]["object"]["spec"], Json::parse(R"({"people":{"count":2}})"));
  EXPECT_EQ(events[1]["type"], Json("MODIFIED"));
  EXPECT_EQ(events[1].at({"object", "spec", "people", "count"}), Json(5));
  EXPECT_EQ(events[1].at({"object", "metadata", "resourceVersion"}), Json(get(ships + "/a").version()));
  EXPECT_EQ(seen(second), "ADDED b, MODIFIED a");
  ASSERT_EQ(remove(ships + "/a").status, 200);
  answer_watches();
  EXPECT_EQ(seen(first), "DELETED a");
}

TEST_F(ConversionWebhookTest, KeepsTheOrderOfEventsWhateverIsAnsweredFirst) {
  store("a", 1);
  const CoreReply watch = ask(v2 + "?watch=1&resourceVersion=" + get(ships + "/a").version());
  ASSERT_EQ(merge(ships + "/a", R"({"spec":{"crew":2}})").status, 200);
  const auto first = core.take_webhook_calls();
  ASSERT_EQ(merge(ships + "/a", R"({"spec":{"crew":3}})").status, 200);
  answer_watches();
  EXPECT_EQ(seen(watch), "");
  ASSERT_EQ(first.size(), 1U);
  core.on_webhook_answer(first[0].id, answer_to(first[0].call));
  const std::vector<Json> events = this->events(watch);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].at({"object", "spec", "people", "count"}), Json(2));
  EXPECT_EQ(events[1].at({"object", "spec", "people", "count"}), Json(3));
}

TEST_F(ConversionWebhookTest, SelectsConvertedEvents) {
  store("a", 1, "Kiel");
  const CoreReply watch =
      ask(v2 + "?watch=1&fieldSelector=spec.port%3DKiel&resourceVersion=" + get(ships + "/a").version());
  store("b", 1, "Bonn");
  ASSERT_EQ(merge(ships + "/b", R"({"spec":{"port":"Kiel"}})").status, 200);
  ASSERT_EQ(merge(ships + "/b", R"({"spec":{"crew":2}})").status, 200);
  ASSERT_EQ(merge(ships + "/b", R"({"spec":{"port":"Bonn"}})").status, 200);
  answer_watches();
  EXPECT_EQ(seen(watch), "ADDED b, MODIFIED b, DELETED b");
}

TEST_F(ConversionWebhookTest, ShowsWatchesTheDeletionsOfADefinitionThatIsRemoved) {
  store("a", 1);
  const CoreReply watch = ask(v2 + "?watch=1&resourceVersion=" + get(ships + "/a").version());
  ASSERT_EQ(remove(crds + "/ships.example.com").status, 200);
  tick_after(1s);
  ASSERT_EQ(get(crds + "/ships.example.com").status, 404);
  EXPECT_EQ(seen(watch), "") << "the webhook still works";
  EXPECT_FALSE(ended);
  answer_watches();
  EXPECT_EQ(seen(watch), "DELETED a");
  EXPECT_TRUE(ended);
}

TEST_F(ConversionWebhookTest, ForgetsACallOfWatchesThatAreGone) {
  store("a", 1);
  const CoreReply watch = ask(v2 + "?watch=1&resourceVersion=" + get(ships + "/a").version());
  ASSERT_EQ(merge(ships + "/a", R"({"spec":{"crew":2}})").status, 200);
  const auto asked_before = core.take_webhook_calls();
  core.close_watch(*watch.watch);
  ASSERT_EQ(asked_before.size(), 1U);
  core.on_webhook_answer(asked_before[0].id, answer_to(asked_before[0].call));
  core.on_webhook_answer(asked_before[0].id, answer_to(asked_before[0].call));
  EXPECT_THAT(core.ready_watches(), IsEmpty());
}

TEST_F(ConversionWebhookTest, RefusesWrongAnswers) {
  store("a", 1);
  const std::string about = "conversion webhook for example.com/v1, Kind=Ship ";
  const std::string uid = "4";
  const std::string other_review = refusal([&](Json& r) { r["uid"] = uid; });
  EXPECT_EQ(other_review,
            about + "failed: expected response.uid=" + asked_for()["uid"].dump() + R"(, got "4")");
  EXPECT_EQ(refusal([](Json& r) { r["result"] = Json::parse(R"({"status":"Failure","message":"no way"})"); }),
            about + "failed: no way");
  EXPECT_EQ(refusal([](Json& r) { r["result"] = Json::parse(R"({"status":"Failure"})"); }),
            about + "failed: response.result.status was 'Failure', not 'Success'");
  EXPECT_EQ(refusal([](Json& r) { r["convertedObjects"] = Json::array(); }),
            about + "returned 0 objects, expected 1");
  const auto object = [](const std::function<void(Json&)>& wrong) {
    return [wrong](Json& r) { wrong(r["convertedObjects"][0]); };
  };
  EXPECT_EQ(refusal(object([](Json& o) { o = Json::parse(R"({"spec":{}})"); })),
            R"(Object 'Kind' is missing in '{"spec":{}}')");
  EXPECT_EQ(refusal(object([](Json& o) { o["apiVersion"] = "example.com/v1"; })),
            about +
                "returned invalid object at index 0: invalid groupVersion (expected example.com/v2, "
                "received example.com/v1)");
  EXPECT_EQ(refusal(object([](Json& o) { o["kind"] = "Boat"; })),
            about + "returned invalid object at index 0: invalid kind (expected Ship, received Boat)");
  EXPECT_EQ(refusal(object([](Json& o) { o["metadata"]["name"] = "b"; })),
            about + "returned invalid object: must have the same name: a != b");
  EXPECT_EQ(refusal(object([](Json& o) { o["metadata"].erase("namespace"); })),
            about + "returned invalid object: must have the same namespace: default != ");
  EXPECT_EQ(refusal(object([](Json& o) { o["metadata"]["uid"] = "u"; })),
            about + "returned invalid object: must have the same UID: " + get(ships + "/a").uid() + " != u");
  EXPECT_EQ(refusal(object([](Json& o) { o["metadata"]["labels"] = 3; })),
            about + "returned invalid metadata: invalid metadata.labels of type int64 in converted object");
  EXPECT_EQ(refusal(object([](Json& o) {
              o["metadata"]["labels"] = Json::object({{"a", true}});
            })),
            about +
                "returned invalid metadata: metadata.labels[a] must be a string, but is bool in converted "
                "object");
  EXPECT_EQ(refusal(object([](Json& o) {
              o["metadata"]["labels"] = Json::object({{"a", "?"}});
            })),
            about +
                R"(returned invalid metadata: metadata.labels: Invalid value: "?": a valid label must be an )"
                R"(empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and )"
                R"(end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex )"
                R"(used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?'))");
}

TEST_F(ConversionWebhookTest, TakesOnlyLabelsAndAnnotationsOfTheMetadata) {
  store("a", 1);
  change = [](Json& response) {
    Json& metadata = response["convertedObjects"][0]["metadata"];
    metadata["labels"] = Json::object({{"l", "1"}});
    metadata["annotations"] = Json::object({{"n", "2"}});
    metadata["generation"] = 99;
    metadata["finalizers"] = Json::array({"x/y"});
    response["convertedObjects"][0]["spec"]["crew"] = 4;  // not of this version
  };
  const Json seen_as = ask(v2 + "/a").body;
  EXPECT_EQ(seen_as.at({"metadata", "labels"}).dump(), R"({"l":"1"})");
  EXPECT_EQ(seen_as.at({"metadata", "annotations"}).dump(), R"({"n":"2"})");
  EXPECT_EQ(seen_as.at({"metadata", "generation"}), Json(1));
  EXPECT_TRUE(seen_as.at({"metadata", "finalizers"}).is_null());
  EXPECT_EQ(seen_as["spec"], Json::parse(R"({"people":{"count":1}})"));
}

TEST_F(ConversionWebhookTest, StoresNothingThatHasNoStoredForm) {
  raw = WebhookAnswer{.status = 404};
  EXPECT_EQ(
      ask(http::Method::post, v2, new_ship("a", 7).dump()).message(),
      "conversion webhook for example.com/v2, Kind=Ship failed: the server could not find the requested "
      "resource");
  EXPECT_EQ(get(ships + "/a").status, 404);
}

TEST_F(ConversionWebhookTest, ShowsTheDefaultsOfTheStoredVersion) {
  Json next = definition();
  next["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["port"]
      ["default"] = "Kiel";
  next["metadata"]["resourceVersion"] = get(crds + "/ships.example.com").version();
  ASSERT_EQ(put(crds + "/ships.example.com", next).status, 200);
  const CoreReply made = ask(http::Method::post, v2, new_ship("a", 7).dump());
  EXPECT_EQ(made["spec"], Json::parse(R"({"people":{"count":7},"port":"Kiel"})")) << made.text;
  EXPECT_EQ(ask(v2 + "/a").text, made.text);
}

TEST_F(ConversionWebhookTest, StoresWhatOnlyTheAnswerCannotShow) {
  change = [this](Json& response) {
    if (asked_for()["desiredAPIVersion"] == Json("example.com/v2")) response["uid"] = "4";
  };
  const CoreReply reply = ask(http::Method::post, v2, new_ship("a", 7).dump());
  EXPECT_EQ(reply.status, 500) << "as with a real server, the object exists nevertheless";
  EXPECT_EQ(get(ships + "/a")["spec"], Json::parse(R"({"crew":7})"));
}

TEST_F(ConversionWebhookTest, MovesObjectsToANewStorageVersionWhenTheyAreWritten) {
  store("a", 3);
  Json next = definition("v2");
  next["metadata"]["resourceVersion"] = get(crds + "/ships.example.com").version();
  const CoreReply switched = put(crds + "/ships.example.com", next);
  ASSERT_EQ(switched.status, 200) << switched.text;
  EXPECT_EQ(switched.body.at({"status", "storedVersions"}), Json::parse(R"(["v1","v2"])"));
  EXPECT_EQ(ask(ships + "/a")["spec"], Json::parse(R"({"crew":3})"));
  EXPECT_THAT(asked, IsEmpty()) << "it is still stored in v1";
  const CoreReply before = ask(v2 + "/a");
  EXPECT_EQ(before["spec"], Json::parse(R"({"people":{"count":3}})"));
  EXPECT_THAT(std::exchange(asked, {}), ElementsAre("v2: a"));
  const CoreReply written = ask(http::Method::put, v2 + "/a", before.text);
  EXPECT_EQ(written.status, 200) << written.text;
  EXPECT_NE(written.version(), before.version()) << "a migration: the same object in another form";
  asked.clear();
  EXPECT_EQ(ask(v2 + "/a")["spec"], before["spec"]);
  EXPECT_THAT(std::exchange(asked, {}), IsEmpty());
  EXPECT_EQ(ask(ships + "/a")["spec"], Json::parse(R"({"crew":3})"));
  EXPECT_THAT(asked, ElementsAre("v1: a"));
  EXPECT_EQ(ask(http::Method::put, v2 + "/a", ask(v2 + "/a").text).version(), written.version())
      << "once is enough";
}

TEST_F(ConversionWebhookTest, RefusesToReadAVersionThatIsGone) {
  store("a", 3);
  Json next = definition("v2");
  next["metadata"]["resourceVersion"] = get(crds + "/ships.example.com").version();
  ASSERT_EQ(put(crds + "/ships.example.com", next).status, 200);
  ASSERT_EQ(merge(crds + "/ships.example.com/status", R"({"status":{"storedVersions":["v2"]}})").status, 200);
  next["spec"]["versions"] = Json::array({next["spec"]["versions"][1]});
  next["metadata"]["resourceVersion"] = get(crds + "/ships.example.com").version();
  const CoreReply removed = put(crds + "/ships.example.com", next);
  ASSERT_EQ(removed.status, 200) << removed.text;
  EXPECT_EQ(ask(v2 + "/a").message(), "request to convert CR from an invalid group/version: example.com/v1");
}

TEST_F(ConversionWebhookTest, ChangesOnlyTheNameOfTheVersionWithoutAWebhook) {
  Json plain = definition("v1", R"({"strategy":"None"})");
  plain["metadata"]["resourceVersion"] = get(crds + "/ships.example.com").version();
  ASSERT_EQ(put(crds + "/ships.example.com", plain).status, 200);
  Json object = ship("a", 3);
  object["spec"]["port"] = "Kiel";
  ASSERT_EQ(post(ships, object).status, 201);
  EXPECT_EQ(get(v2 + "/a")["spec"], Json::parse(R"({"port":"Kiel"})")) << "the schema of v2 has no crew";
}

TEST_F(ConversionWebhookTest, ComparesFieldsInTheVersionOfTheirManager) {
  EXPECT_EQ(applied(ships, "one", ship("a", 3)), R"({"crew":3})");
  EXPECT_EQ(applied(v2, "two", new_ship("a", 3)), R"({"people":{"count":3}})") << "equal: both own it";
  EXPECT_EQ(applied(v2, "two", new_ship("a", 4)),
            R"(Apply failed with 1 conflict: conflict with "one": .spec.crew)");
  EXPECT_EQ(applied(v2, "two", new_ship("a", 4), "&force=true"), R"({"people":{"count":4}})");
  EXPECT_EQ(get(ships + "/a")["spec"], Json::parse(R"({"crew":4})"));
  const Json managers = get(ships + "/a").body.at({"metadata", "managedFields"});
  ASSERT_EQ(managers.size(), 1U) << managers.dump();
  EXPECT_EQ(managers[0]["manager"], Json("two"));
  EXPECT_EQ(managers[0]["apiVersion"], Json("example.com/v2"));
  EXPECT_EQ(managers[0]["fieldsV1"].dump(), R"({"f:spec":{"f:people":{"f:count":{}}}})");
}

TEST_F(ConversionWebhookTest, AnUpdateTakesFieldsFromManagersOfAnotherVersion) {
  EXPECT_EQ(applied(ships, "one", ship("a", 3)), R"({"crew":3})");
  ASSERT_EQ(
      ask(http::Method::patch, v2 + "/a?fieldManager=u", R"({"spec":{"people":{"count":5}}})", merge_type)
          .status,
      200);
  const Json managers = get(ships + "/a").body.at({"metadata", "managedFields"});
  ASSERT_EQ(managers.size(), 1U) << managers.dump();
  EXPECT_EQ(managers[0]["manager"], Json("u"));
}

TEST_F(ConversionWebhookTest, RemovesWhatAnApplierHadInItsLastVersion) {
  Json first = ship("a", 3);
  first["spec"]["port"] = "Kiel";
  EXPECT_EQ(applied(ships, "one", first), R"({"crew":3,"port":"Kiel"})");
  EXPECT_EQ(applied(v2, "one", new_ship("a", 3)), R"({"people":{"count":3}})") << "the port is gone";
  EXPECT_EQ(get(ships + "/a")["spec"], Json::parse(R"({"crew":3})"));
}

TEST_F(ConversionWebhookTest, SaysThatAnApplyCouldNotCompare) {
  EXPECT_EQ(applied(v2, "one", new_ship("a", 3)), R"({"people":{"count":3}})");
  const std::string failed = "conversion webhook for example.com/v1, Kind=Ship failed: ";
  change = [this](Json& response) {
    if (asked_for().at({"objects", "0", "spec", "crew"}) == Json(4))
      response["result"] = Json::parse(R"({"status":"Failure","message":"no way"})");
  };
  EXPECT_EQ(applied(ships, "two", ship("a", 4)), "failed to convert new object: " + failed + "no way");
  raw = WebhookAnswer{.status = 404};
  EXPECT_EQ(applied(ships, "two", ship("a", 4)), failed + "the server could not find the requested resource");
}

TEST_F(ConversionWebhookTest, SaysWhichStepOfPruningFailed) {
  Json first = ship("a", 3);
  first["spec"]["port"] = "Kiel";
  EXPECT_EQ(applied(ships, "one", first), R"({"crew":3,"port":"Kiel"})");
  change = [this](Json& response) {
    const Json object = asked_for()["objects"][0];
    if (object.at({"spec", "people", "count"}) == Json(9) || object.at({"spec", "crew"}) == Json(9))
      response["result"] = Json::parse(R"({"status":"Failure","message":"no way"})");
  };
  EXPECT_EQ(
      applied(v2, "one", new_ship("a", 9)),
      "failed to prune fields: failed to convert merged object to last applied version: conversion webhook "
      "for example.com/v2, Kind=Ship failed: no way");
  EXPECT_EQ(applied(v2, "two", new_ship("a", 3)), R"({"people":{"count":3},"port":"Kiel"})");
  EXPECT_EQ(applied(ships, "one", ship("a", 9)),
            "failed to prune fields: failed add back owned items: failed to convert merged object at version "
            "example.com/v2: conversion webhook for example.com/v1, Kind=Ship failed: no way");
}

TEST_F(ConversionWebhookTest, RefusesToCompareForAManagerOfAVersionThatIsGone) {
  EXPECT_EQ(applied(ships, "one", ship("a", 3)), R"({"crew":3})");
  Json next = definition("v2");
  next["metadata"]["resourceVersion"] = get(crds + "/ships.example.com").version();
  ASSERT_EQ(put(crds + "/ships.example.com", next).status, 200);
  ASSERT_EQ(ask(http::Method::put, v2 + "/a", ask(v2 + "/a").text).status, 200);  // moves it
  ASSERT_EQ(merge(crds + "/ships.example.com/status", R"({"status":{"storedVersions":["v2"]}})").status, 200);
  next["spec"]["versions"] = Json::array({next["spec"]["versions"][1]});
  next["metadata"]["resourceVersion"] = get(crds + "/ships.example.com").version();
  ASSERT_EQ(put(crds + "/ships.example.com", next).status, 200);
  EXPECT_EQ(applied(v2, "two", new_ship("a", 4)),
            "request to convert CR to an invalid group/version: example.com/v1");
  const CoreReply changed =
      ask(http::Method::patch, v2 + "/a", R"({"spec":{"people":{"count":5}}})", merge_type);
  EXPECT_EQ(changed.status, 200) << changed.text;
  EXPECT_TRUE(changed.body.at({"metadata", "managedFields"}).is_null()) << "an update leaves no managers";
  EXPECT_EQ(applied(v2, "two", new_ship("a", 5)), R"({"people":{"count":5}})");
}

TEST_F(ConversionWebhookTest, ShowsAdmissionTheVersionOfItsRules) {
  ASSERT_EQ(post("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
                 Json::parse(
                     R"({"metadata":{"name":"v"},"webhooks":[{"name":"v.example.com","sideEffects":"None",)"
                     R"("admissionReviewVersions":["v1"],"clientConfig":{"url":"https://127.0.0.1:9443/v"},)"
                     R"("rules":[{"apiGroups":["example.com"],"apiVersions":["v1"],"resources":["ships"],)"
                     R"("operations":["CREATE"]}]}]})"))
                .status,
            201);
  Json reviewed;
  const auto answer = [&](const WebhookCall& call) -> WebhookAnswer {
    if (call.webhook != "v.example.com") return answer_to(call);
    const Json review = Json::parse(call.body);
    reviewed = review.at({"request", "object"});
    const Json response = Json::object({{"uid", review.at({"request", "uid"})}, {"allowed", true}});
    const Json body = Json::object(
        {{"apiVersion", review["apiVersion"]}, {"kind", "AdmissionReview"}, {"response", response}});
    return {.status = 200, .body = body.dump()};
  };
  const CoreReply reply = send_answering(answer, http::Method::post, v2, new_ship("a", 7).dump());
  EXPECT_EQ(reply.status, 201) << reply.text;
  EXPECT_EQ(reviewed["apiVersion"], Json("example.com/v1"));
  EXPECT_EQ(reviewed["spec"], Json::parse(R"({"crew":7})"));
}

TEST_F(ConversionWebhookTest, GoesOnInAWorld) {
  store("a", 3);
  const World world = core.snapshot(now);
  ApiServerCore other(world);
  const http::Request request{.target = v2 + "/a"};
  Answer answer = other.handle(request, now);
  ASSERT_TRUE(answer.call);
  answer.progress.add(*answer.call, answer_to(*answer.call));
  answer = other.handle(request, now, {}, {}, answer.progress);
  EXPECT_EQ(Json::parse(answer.response.body)["spec"], Json::parse(R"({"people":{"count":3}})"));
}

class ConversionDefinitionTest : public CoreFixture {
 protected:
  std::string refusal(const std::string& conversion) {
    return post(crds, definition("v1", conversion)).message();
  }
  static std::string client(const std::string& config) {
    return R"({"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":)" + config +
           "}}";
  }
  const std::string invalid =
      R"(CustomResourceDefinition.apiextensions.k8s.io "ships.example.com" is invalid: )";
  const std::string url = "spec.conversion.webhookClientConfig.url: Invalid value: ";
};

TEST_F(ConversionDefinitionTest, NeedsAStrategyAndAWebhook) {
  EXPECT_EQ(
      refusal(R"({"strategy":"Magic"})"),
      invalid +
          R"(spec.conversion.strategy: Unsupported value: "Magic": supported values: "None", "Webhook")");
  EXPECT_EQ(refusal(R"({"strategy":"Webhook"})"),
            invalid +
                "[spec.conversion.webhookClientConfig: Required value: required when strategy is set to "
                "Webhook, spec.conversion.conversionReviewVersions: Required value]");
  EXPECT_EQ(
      refusal(R"({"strategy":"Webhook","webhook":{"conversionReviewVersions":["v7"],"clientConfig":{}}})"),
      invalid +
          "[spec.conversion.webhookClientConfig: Required value: exactly one of url or service is "
          R"(required, spec.conversion.conversionReviewVersions: Invalid value: ["v7"]: must include )"
          "at least one of v1, v1beta1]");
  EXPECT_EQ(refusal(R"({"strategy":"None","webhook":{"conversionReviewVersions":["v1"]}})"),
            invalid +
                "spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy is "
                "not set to Webhook");
}

TEST_F(ConversionDefinitionTest, NeedsAnAddressThatCanBeCalled) {
  const std::string form = "; desired format: https://host[/path]";
  EXPECT_EQ(refusal(client(R"({"url":"http://a/b"})")),
            invalid + url + R"("http": 'https' is the only allowed URL scheme)" + form);
  EXPECT_EQ(refusal(client(R"({"url":"https:///b"})")),
            invalid + url + R"("": host must be specified)" + form);
  EXPECT_EQ(refusal(client(R"({"url":"https://me@a/b?c=d#e"})")),
            invalid + "[" + url + R"("me": user information is not permitted in the URL, )" + url +
                R"("e": fragments are not permitted in the URL, )" + url +
                R"("c=d": query parameters are not permitted in the URL])");
  EXPECT_EQ(
      refusal(client(R"({"service":{"namespace":"n","name":"s","port":0,"path":"x"}})")),
      invalid +
          "[spec.conversion.webhookClientConfig.service.port: Invalid value: 0: port is not valid: "
          "must be between 1 and 65535, inclusive, spec.conversion.webhookClientConfig.service.path: "
          R"(Invalid value: "x": must start with a '/', )"
          R"(spec.conversion.webhookClientConfig.service.path: Invalid value: "x": segment[0] may not be empty])");
}

TEST_F(ConversionDefinitionTest, KeepsABundleReadable) {
  ASSERT_EQ(post(crds, definition()).status, 201);
  EXPECT_EQ(merge(crds + "/ships.example.com",
                  R"({"spec":{"conversion":{"webhook":{"clientConfig":{"caBundle":"bm9uZQ=="}}}}})")
                .message(),
            invalid +
                R"(spec.conversion.webhookClientConfig.caBundle: Invalid value: "bm9uZQ==": unable to load )"
                "root certificates: unable to parse bytes as PEM block");
}

}  // namespace
}  // namespace evenkeel::apiserver::tests::conversions
