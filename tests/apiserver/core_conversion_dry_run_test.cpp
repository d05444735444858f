// SPDX-License-Identifier: Apache-2.0
// Dry runs in a version into which a webhook converts: as the write, up to the store.
#include <string>
#include <utility>
#include <vector>

#include "core_conversion_fixture.hpp"

namespace evenkeel::apiserver::tests::conversions {
namespace {

class ConversionDryRunTest : public ConversionWebhookTest {
 protected:
  struct Write {
    std::string step = {};
    http::Method method = {};
    std::string target = {};  ///< With a query.
    std::string body = {};
    std::string type = json_type;
  };

  CoreReply rehearse(const Write& write) {
    return ask(write.method, write.target + "&dryRun=All", write.body, write.type);
  }
  /// Makes a write, after a dry run that must have the same answer, and returns it.
  CoreReply make(const Write& write) {
    const CoreReply rehearsed = rehearse(write);
    CoreReply made = ask(write.method, write.target, write.body, write.type);
    EXPECT_LT(made.status, 300) << write.step << ": " << made.text;
    EXPECT_EQ(rehearsed.status, made.status) << write.step << ": " << rehearsed.text;
    EXPECT_EQ(comparable(rehearsed), comparable(made)) << write.step << ": " << rehearsed.text << "\n"
                                                       << made.text;
    return made;
  }
  /// Returns a reply without what the store decides.
  static Json comparable(const CoreReply& reply) {
    Json body = reply.body;
    for (const char* member : {"uid", "resourceVersion"}) body["metadata"].erase(member);
    return body;
  }
  /// Lets the webhook label objects with their version, and add a field that no schema has.
  void leave_marks() {
    change = [this](Json& response) {
      Json& object = response["convertedObjects"][0];
      object["metadata"]["labels"]["to"] = asked_for()["desiredAPIVersion"].as_string().substr(12);
      object["spec"]["wheels"] = 4;
    };
  }
  /// Returns the stored ship with another crew.
  std::string with_crew(int count) {
    Json object = ask(one).body;
    object["spec"]["people"]["count"] = count;
    return object.dump();
  }

  const std::string one = v2 + "/a";
};

TEST_F(ConversionDryRunTest, ShowsTheObjectAsItComesBack) {
  leave_marks();
  const CoreReply reply =
      rehearse({"create", http::Method::post, v2 + "?fieldManager=me", new_ship("a", 7).dump()});
  EXPECT_EQ(reply.status, 201) << reply.text;
  EXPECT_EQ(reply["apiVersion"], Json("example.com/v2"));
  EXPECT_EQ(reply["spec"], Json::parse(R"({"people":{"count":7}})")) << "and is pruned";
  EXPECT_EQ(reply.body.at({"metadata", "labels", "to"}), Json("v2"));
  EXPECT_THAT(asked, ElementsAre("v1: a", "v2: a"));
  EXPECT_EQ(get(ships + "/a").status, 404);
}

TEST_F(ConversionDryRunTest, AnswersLikeTheWrite) {
  leave_marks();
  make({"create", http::Method::post, v2 + "?fieldManager=me", new_ship("a", 7).dump()});
  make({"update", http::Method::put, one + "?fieldManager=me", with_crew(8)});
  make({"patch", http::Method::patch, one + "?fieldManager=me", R"({"spec":{"port":"Kiel"}})", merge_type});
  make({"status", http::Method::patch, one + "/status?fieldManager=me", R"({"status":{"crew":5}})",
        merge_type});
  make({"scale", http::Method::patch, one + "/scale?fieldManager=me", R"({"spec":{"replicas":6}})",
        merge_type});
  make({"apply", http::Method::patch, one + "?fieldManager=other&force=true", new_ship("a", 9).dump(),
        apply_type});
  make({"apply that creates", http::Method::patch, v2 + "/b?fieldManager=other", new_ship("b", 1).dump(),
        apply_type});
  const CoreReply same =
      make({"update without a change", http::Method::put, one + "?fieldManager=me", ask(one).text});
  EXPECT_EQ(same.version(), ask(one).version());
  make({"deletion", http::Method::delete_, one + "?propagationPolicy=Foreground", ""});
}

TEST_F(ConversionDryRunTest, HasTheDefaultsOfTheStoredVersion) {
  Json next = definition();
  next["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["port"] =
      Json::parse(R"({"type":"string","default":"Kiel"})");
  next["metadata"]["resourceVersion"] = get(crds + "/ships.example.com").version();
  ASSERT_EQ(put(crds + "/ships.example.com", next).status, 200);
  const CoreReply made =
      make({"create", http::Method::post, v2 + "?fieldManager=me", new_ship("a", 7).dump()});
  EXPECT_EQ(made["spec"], Json::parse(R"({"people":{"count":7},"port":"Kiel"})"));
}

// A real server's store removes the version before it converts; a dry run has no store.
TEST_F(ConversionDryRunTest, ShowsTheVersionOfAnObjectToTheWebhook) {
  ASSERT_EQ(ask(http::Method::post, v2, new_ship("a", 7).dump()).status, 201);
  const std::string live = get(ships + "/a").version();
  const Write update{"update", http::Method::put, one + "?fieldManager=me", with_crew(8)};
  const auto versions = [&] {
    std::vector<std::string> out;
    for (const WebhookCall& call : std::exchange(calls, {}))
      out.push_back(Json::parse(call.body)
                        .at({"request", "objects", "0", "metadata", "resourceVersion"})
                        .string_or("none"));
    return out;
  };
  versions();
  EXPECT_EQ(rehearse(update).version(), live);
  EXPECT_THAT(versions(), ElementsAre("none", live, live)) << "the live object, and both ways";
  ASSERT_EQ(ask(update.method, update.target, update.body).status, 200);
  EXPECT_THAT(versions(), ElementsAre("none", "none", "none"));
}

TEST_F(ConversionDryRunTest, FailsWhereTheWriteFails) {
  const Write create{"create", http::Method::post, v2 + "?fieldManager=me", new_ship("a", 7).dump()};
  for (const std::string& wanted : {std::string("example.com/v1"), std::string("example.com/v2")}) {
    change = [this, wanted](Json& response) {
      if (asked_for()["desiredAPIVersion"] == Json(wanted))
        response["result"] = Json::parse(R"({"status":"Failure","message":"no way"})");
    };
    const CoreReply rehearsed = rehearse(create);
    EXPECT_EQ(rehearsed.status, 500) << rehearsed.text;
    EXPECT_EQ(get(ships + "/a").status, 404) << wanted;
    const CoreReply made = ask(create.method, create.target, create.body);
    EXPECT_EQ(rehearsed.text, made.text);
    EXPECT_EQ(get(ships + "/a").status, wanted == "example.com/v1" ? 404 : 200);
  }
}

}  // namespace
}  // namespace evenkeel::apiserver::tests::conversions
