// SPDX-License-Identifier: Apache-2.0
#include "apiserver/merge/strategic_merge.hpp"

#include <random>

#include <gtest/gtest.h>

#include <evenkeel/api/patch.hpp>

#include "../api/random_pod.hpp"
#include "schema_fixture.hpp"

namespace evenkeel::apiserver {
namespace {

class StrategicMerge : public ::testing::Test {
 protected:
  Json pod(std::string_view target, std::string_view patch) {
    return strategic_merge(Json::object({{"spec", parse(target)}}), Json::object({{"spec", parse(patch)}}),
                           *shapes.pod)["spec"];
  }
  std::string problem(std::string_view target, std::string_view patch) {
    try {
      pod(target, patch);
    } catch (const StrategicMergeError& error) {
      return std::to_string(error.code()) + " " + error.what();
    }
    return "";
  }
  Shapes shapes;
};

TEST_F(StrategicMerge, MergesListsByKeyWithPatchedItemsFirst) {  // scenario strategic-patch
  EXPECT_EQ(
      pod(R"({"containers": [{"name": "c", "image": "x:1", "env": [{"name": "A", "value": "1"}]}]})",
          R"({"containers": [{"name": "c", "env": [{"name": "B", "value": "2"}]}, {"name": "e", "image": "y"}]})"),
      parse(R"({"containers": [{"name": "c", "image": "x:1", "env": [{"name": "B", "value": "2"},
              {"name": "A", "value": "1"}]}, {"name": "e", "image": "y"}]})"));
}

TEST_F(StrategicMerge, DeletesItemsByDirective) {
  EXPECT_EQ(
      pod(R"({"containers": [{"name": "c"}, {"name": "e"}]})",
          R"({"containers": [{"$patch": "delete", "name": "e"}, {"$patch": "delete", "name": "none"}]})"),
      parse(R"({"containers": [{"name": "c"}]})"));
}

TEST_F(StrategicMerge, ReplacesListsAndMapsByDirective) {
  EXPECT_EQ(pod(R"({"containers": [{"name": "c"}, {"name": "e"}]})",
                R"({"containers": [{"$patch": "replace"}, {"name": "f"}]})"),
            parse(R"({"containers": [{"name": "f"}]})"));
  EXPECT_EQ(pod("{\"containers\": [{\"name\": \"c\"}]}",
                R"({"containers": [{"name": "a"}, {"name": "b"}, {"name": "a"}, {"$patch": "replace"}]})"),
            parse(R"({"containers": [{"name": "a"}, {"name": "a"}, {"name": "b"}]})"));
  EXPECT_EQ(pod(R"({"securityContext": {"runAsUser": 1, "runAsGroup": 2}})",
                R"({"securityContext": {"$patch": "replace", "runAsUser": 3}})"),
            parse(R"({"securityContext": {"runAsUser": 3}})"));
  EXPECT_EQ(pod(R"({"securityContext": {"runAsUser": 1}, "nodeName": "n"})",
                R"({"securityContext": {"$patch": "delete"}})"),
            parse(R"({"securityContext": {}, "nodeName": "n"})"));
}

TEST_F(StrategicMerge, RemovesMembersByNull) {
  EXPECT_EQ(pod(R"({"nodeName": "n", "hostname": "h"})", R"({"nodeName": null, "subdomain": null})"),
            parse(R"({"hostname": "h"})"));
}

TEST_F(StrategicMerge, ReplacesAtomicLists) {
  EXPECT_EQ(pod(R"({"tolerations": [{"key": "a"}]})", R"({"tolerations": [{"key": "b"}]})"),
            parse(R"({"tolerations": [{"key": "b"}]})"));
}

TEST_F(StrategicMerge, MergesPrimitivesAndDeletesThemByDirective) {
  const auto finalizers = [&](std::string_view target, std::string_view patch) {
    return strategic_merge(Json::object({{"metadata", parse(target)}}),
                           Json::object({{"metadata", parse(patch)}}), *shapes.pod)["metadata"];
  };
  EXPECT_EQ(finalizers(R"({"finalizers": ["a", "b"]})", R"({"finalizers": ["c", "a"]})"),
            parse(R"({"finalizers": ["c", "a", "b"]})"));
  EXPECT_EQ(
      finalizers(R"({"finalizers": ["a", "b"]})", R"({"$deleteFromPrimitiveList/finalizers": ["a", "x"]})"),
      parse(R"({"finalizers": ["b"]})"));
  EXPECT_EQ(finalizers("{}", R"({"$deleteFromPrimitiveList/finalizers": ["a"]})"), parse("{}"));
  EXPECT_EQ(finalizers(R"({"finalizers": ["a", "b"]})",
                       R"({"finalizers": ["a", "c"], "$deleteFromPrimitiveList/finalizers": ["a"]})"),
            parse(R"({"finalizers": ["c", "b"]})"));
  EXPECT_EQ(finalizers(R"({"finalizers": ["a"]})", R"({"$deleteFromPrimitiveList/finalizers": null})"),
            parse("{}"));
  EXPECT_EQ(finalizers(R"({"finalizers": ["a"]})", R"({"$deleteFromPrimitiveList/finalizers": "a"})"),
            parse(R"({"finalizers": ["a"]})"));
  EXPECT_THROW(finalizers(R"({"finalizers": ["a"]})", R"({"$deleteFromPrimitiveList/finalizers": [5]})"),
               StrategicMergeError);
  EXPECT_THROW(finalizers(R"({"finalizers": ["a"]})", R"({"finalizers": [null]})"), StrategicMergeError);
}

TEST_F(StrategicMerge, TakesNewItemsOfListsAsTheyAre) {
  EXPECT_EQ(pod(R"({"containers": [{"name": "c"}]})", R"({"containers": [{"name": null, "image": null}]})"),
            parse(R"({"containers": [{"name": null, "image": null}, {"name": "c"}]})"));
}

TEST_F(StrategicMerge, ComparesKeysLikeGo) {
  EXPECT_EQ(pod(R"({"containers": [{"name": "c", "ports": [{"containerPort": 80}]}]})",
                R"({"containers": [{"name": "c", "ports": [{"containerPort": 80.0, "name": "n"}]}]})"),
            parse(R"({"containers": [{"name": "c", "ports": [{"containerPort": 80.0, "name": "n"},
              {"containerPort": 80}]}]})"));
  EXPECT_EQ(problem(R"({"containers": [{"name": "c"}]})", R"({"containers": [["c"]]})"),
            R"(500 list element types are not identical: [[{"name":"c"}] [["c"]]])");
  EXPECT_EQ(problem("{}", R"({"$setElementOrder/zzz": ["a"]})"),
            R"(500 unable to find api field in struct PodSpec for the json field "zzz")");
  EXPECT_EQ(problem("{}", R"({"$setElementOrder/nodeSelector": ["a"]})"),
            "500 expected slice or array type, but got: struct");
}

TEST_F(StrategicMerge, ConvertsIntegersLikeGo) {
  const auto converted = [&](std::string_view replicas) {
    Json object = Json::object({{"spec", Json::object({{"replicas", parse(replicas)}})}});
    convert_integers(object, shapes.deployment->root());
    return object["spec"]["replicas"].dump();
  };
  EXPECT_EQ(converted("2.0"), "2");
  EXPECT_TRUE(converted("1e3") == "1000");
  EXPECT_EQ(converted("2.5"), "2.5");
  EXPECT_EQ(converted("4294967297"), "1");
  EXPECT_EQ(converted("2147483648"), "-2147483648");
  EXPECT_EQ(converted("9223372036854775808"), "0");
  EXPECT_EQ(converted("\"2\""), "\"2\"");
}

TEST_F(StrategicMerge, SetsTheOrderOfItems) {
  EXPECT_EQ(
      pod(R"({"containers": [{"name": "a"}, {"name": "b"}, {"name": "s"}, {"name": "c"}]})",
          R"({"$setElementOrder/containers": [{"name": "c"}, {"name": "a"}, {"name": "b"}],
                    "containers": [{"name": "b", "image": "x"}]})"),
      parse(R"({"containers": [{"name": "s"}, {"name": "c"}, {"name": "a"}, {"name": "b", "image": "x"}]})"));
  EXPECT_EQ(problem(R"({"containers": [{"name": "a"}]})",
                    R"({"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}],
                        "containers": [{"name": "a"}, {"name": "b"}]})")
                .substr(0, 27),
            "500 The order in patch list");
}

TEST_F(StrategicMerge, RetainsOnlyTheListedKeys) {
  const Json target =
      parse(R"({"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}})");
  const Json patch = parse(R"({"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}})");
  EXPECT_EQ(strategic_merge(target, patch, *shapes.deployment),
            parse(R"({"spec": {"strategy": {"type": "Recreate"}}})"));
  EXPECT_EQ(problem("{}", R"({"$retainKeys": ["a"], "nodeName": "n"})"),
            "400 invalid patch format of retainKeys");
}

TEST_F(StrategicMerge, RefusesItemsWithoutKeysAndUnknownDirectives) {
  EXPECT_EQ(problem(R"({"containers": [{"name": "c"}]})", R"({"containers": [{"image": "x"}]})"),
            R"(500 map: {"image":"x"} does not contain declared merge key: name)");
  EXPECT_EQ(problem("{}", R"({"$patch": "shred"})").substr(0, 30), "500 unknown patch type: shred ");
  EXPECT_EQ(
      problem(R"({"containers": [{"name": "c"}]})", R"({"containers": [{"$patch": "merge", "name": "c"}]})"),
      "500 merging lists cannot yet be specified in the patch");
  EXPECT_THROW(strategic_merge(Json::object(), parse("[]"), *shapes.pod), StrategicMergeError);
}

TEST_F(StrategicMerge, DropsDirectivesOfNewValues) {
  EXPECT_EQ(pod("{}", R"({"containers": [{"name": "c", "image": null}, {"$patch": "delete", "name": "d"}],
                          "securityContext": {"$patch": "delete"}})"),
            parse(R"({"containers": [{"name": "c"}]})"));
}

TEST_F(StrategicMerge, ComputedPatchesLeadFromOneObjectToTheOther) {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    tests::RandomPod random(seed);
    const Json before = random.make();
    const Json after = random.make();
    const Json patch = strategic_patch(before, after);
    const Json found = strategic_merge(before, patch, *shapes.pod);
    ASSERT_EQ(found["metadata"], after["metadata"]) << patch.dump();
    ASSERT_EQ(tests::without_order(found["spec"]), tests::without_order(after["spec"])) << patch.dump();
    ASSERT_EQ(strategic_patch(before, before), Json::object());
  }
}

/// The documented rules, on a list of items with keys: items in the patch are merged, the others are
/// unchanged.
TEST_F(StrategicMerge, FollowsItsRulesOnRandomLists) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto pick = [&](int limit) { return std::uniform_int_distribution<int>(0, limit - 1)(random); };
    Json live = Json::array();
    Json patch = Json::array();
    std::map<std::string, Json> expected;
    for (const char* name : {"a", "b", "c", "d", "e"}) {
      if (pick(2) == 0) {
        Json item = Json::object({{"name", name}, {"image", "live"}, {"workingDir", "w"}});
        expected[name] = item;
        live.push_back(item);
      }
    }
    for (const char* name : {"e", "c", "b", "a", "f"}) {
      const int what = pick(4);
      if (what == 0) {
        patch.push_back(Json::object({{"name", name}, {"$patch", "delete"}}));
        expected.erase(name);
      } else if (what == 1) {
        Json item = Json::object({{"name", name}, {"image", "new"}});
        if (expected.contains(name)) item["workingDir"] = Json();
        patch.push_back(item);
        if (!expected.contains(name)) expected[name] = Json::object({{"name", name}});
        expected[name]["image"] = "new";
        expected[name].erase("workingDir");
      }
    }
    const Json target = Json::object({{"spec", Json::object({{"containers", live}})}});
    const Json document = Json::object({{"spec", Json::object({{"containers", patch}})}});
    const Json merged = strategic_merge(target, document, *shapes.pod);
    std::map<std::string, Json> found;
    for (const Json& item : merged["spec"]["containers"].as_array()) found[item["name"].string_or("")] = item;
    EXPECT_EQ(merged["spec"]["containers"].size(), found.size());
    EXPECT_EQ(found, expected);
    EXPECT_EQ(strategic_merge(merged, document, *shapes.pod), merged) << "applying twice";
  }
}

}  // namespace
}  // namespace evenkeel::apiserver
