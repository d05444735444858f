// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <evenkeel/api/json.hpp>
#include <evenkeel/cache/wire_object.hpp>

#include "base/json_scan.hpp"
#include "random_json.hpp"

namespace evenkeel::wire_object_tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr const char* pod =
    R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-0","namespace":"default",)"
    R"("uid":"u-1","resourceVersion":"17","generation":3,)"
    R"("labels":{"app":"web","tier":"fr\u00f6nt"},"annotations":{"note":"a \"b\""},)"
    R"("ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web",)"
    R"("uid":"u-0","controller":true,"blockOwnerDeletion":true}],)"
    R"("managedFields":[{"manager":"m","fieldsV1":{"f:a":{}}}]},)"
    R"("spec":{"nodeName":"n-1"},"status":{"phase":"Running"}})";

WireObject scan(std::string_view text, WireScannerOptions options = {}) {
  return WireScanner(std::move(options)).object(text);
}

void expect_metadata_of_pod(const WireObject& object) {
  EXPECT_EQ(object.api_version(), "v1");
  EXPECT_EQ(object.kind(), "Pod");
  EXPECT_EQ(object.namespace_(), "default");
  EXPECT_EQ(object.name(), "web-0");
  EXPECT_EQ(object.key(), (ObjectKey{"default", "web-0"}));
  EXPECT_EQ(object.uid(), "u-1");
  EXPECT_EQ(object.resource_version(), "17");
  EXPECT_EQ(object.generation(), 3);
  EXPECT_FALSE(object.is_being_deleted());
  EXPECT_THAT(object.labels(), ElementsAre(Pair("app", "web"), Pair("tier", "frönt")));
  EXPECT_THAT(object.annotations(), ElementsAre(Pair("note", "a \"b\"")));
  EXPECT_EQ(object.label("tier"), "frönt");
  EXPECT_EQ(object.label("none"), std::nullopt);
  EXPECT_EQ(object.annotation("note"), "a \"b\"");
  ASSERT_EQ(object.owners().size(), 1u);
  const WireOwner owner = object.owners()[0];
  EXPECT_EQ(owner.kind, "ReplicaSet");
  EXPECT_EQ(owner.group(), "apps");
  EXPECT_EQ(owner.name, "web");
  EXPECT_EQ(owner.uid, "u-0");
  EXPECT_TRUE(owner.controller);
}

Json without_managed_fields(std::string_view text) {
  Json tree = Json::parse(text);
  if (Json* metadata = tree.find("metadata"); metadata != nullptr && metadata->is_object())
    metadata->erase("managedFields");
  return tree;
}

TEST(WireObject, GivesMetadataAndTheJsonWithoutManagedFields) {
  const WireObject object = scan(pod);
  expect_metadata_of_pod(object);
  EXPECT_EQ(object.form(), WireForm::whole);
  EXPECT_EQ(Json::parse(object.raw()), without_managed_fields(pod));
  EXPECT_THAT(std::string(object.raw()), Not(HasSubstr("managedFields")));
}

TEST(WireObject, KeepsMetadataOnlyIfAskedTo) {
  const WireObject object = scan(pod, {.form = WireForm::metadata_only});
  expect_metadata_of_pod(object);
  EXPECT_EQ(object.form(), WireForm::metadata_only);
  EXPECT_EQ(object.raw(), "");
  EXPECT_LT(object.bytes(), 400u);
}

TEST(WireObject, NamesApiVersionAndKindWhereAListItemDoesNot) {
  const WireScannerOptions options{.api_version = "v1", .kind = "ConfigMap"};
  const WireObject object = scan(R"({"metadata":{"name":"a","managedFields":[]},"data":{"x":"y"}})", options);
  EXPECT_EQ(object.kind(), "ConfigMap");
  EXPECT_EQ(object.raw(),
            R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"x":"y"}})");
  EXPECT_EQ(object.name(), "a");
  const WireObject named = scan(R"({"kind":"Other","apiVersion":"v2","metadata":{"name":"a"}})", options);
  EXPECT_EQ(named.raw(), R"({"kind":"Other","apiVersion":"v2","metadata":{"name":"a"}})");
  const WireObject partial = scan(R"({"kind":"PartialObjectMetadata","metadata":{"name":"a"}})",
                                  {.form = WireForm::metadata_only, .api_version = "v1", .kind = "Pod"});
  EXPECT_EQ(partial.kind(), "Pod");
}

TEST(WireObject, CutsManagedFieldsWhereverTheyStand) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"metadata":{"managedFields":[{"a":"]}"}],"name":"x"}})", R"({"metadata":{"name":"x"}})"},
      {R"({"metadata":{"name":"x","managedFields":[{"a":[]}]}})", R"({"metadata":{"name":"x"}})"},
      {R"({"metadata":{"name":"x","managedFields":null,"uid":"u"}})",
       R"({"metadata":{"name":"x","uid":"u"}})"},
      {R"({"metadata":{"name":"x" , "managedFields" : [ 1 ] , "uid":"u"}})",
       R"({"metadata":{"name":"x" , "uid":"u"}})"},
      {"{\n \"metadata\": {\n \"name\": \"x\",\n \"managedFields\": []\n }\n}\n",
       R"({"metadata":{"name":"x"}})"},
      {R"({"spec":{"managedFields":1},"metadata":{"name":"x"}})",
       R"({"spec":{"managedFields":1},"metadata":{"name":"x"}})"},
  };
  for (const auto& [text, expected] : cases)
    EXPECT_EQ(Json::parse(scan(text).raw()), Json::parse(expected)) << text;
}

TEST(WireObject, TakesNullAsAbsent) {
  const WireObject object =
      scan(R"({"metadata":{"name":"x","namespace":null,"labels":null,"annotations":null,)"
           R"("ownerReferences":null,"deletionTimestamp":null,"generation":null}})");
  EXPECT_EQ(object.namespace_(), "");
  EXPECT_TRUE(object.labels().empty());
  EXPECT_TRUE(object.annotations().empty());
  EXPECT_TRUE(object.owners().empty());
  EXPECT_FALSE(object.is_being_deleted());
  EXPECT_TRUE(
      scan(R"({"metadata":{"name":"x","deletionTimestamp":"2026-01-01T00:00:00Z"}})").is_being_deleted());
}

TEST(WireObject, HandlesShareTheBlockAndLiveOnTheirOwn) {
  WireObject copy;
  EXPECT_FALSE(copy);
  {
    const WireObject object = scan(pod);
    copy = object;
    EXPECT_EQ(copy, object);
    const WireObject moved = std::move(copy);
    EXPECT_FALSE(copy);  // NOLINT(bugprone-use-after-move)
    copy = moved;
    WireObject& same = copy;
    copy = same;
  }
  expect_metadata_of_pod(copy);
  EXPECT_EQ(WireObject().raw(), "");
  EXPECT_EQ(WireObject().bytes(), 0u);
}

std::string error_of(std::string_view text) {
  try {
    scan(text, {.api_version = "v1", .kind = "Pod"});
    return "no error";
  } catch (const DecodeError& error) {
    return error.what();
  }
}

TEST(WireObject, NamesWhatIsKnownOfABrokenObject) {
  EXPECT_EQ(error_of(R"({"metadata":{"labels":"x","namespace":"ns","name":"web"}})"),
            "Pod ns/web: metadata.labels: expected object, found string");
  EXPECT_EQ(error_of(R"({"metadata":{"name":"web","labels":{"a":1}}})"),
            "Pod web: metadata.labels: expected string, found number");
  EXPECT_EQ(error_of(R"({"metadata":{"name":3}})"), "Pod: metadata.name: expected string, found number");
  EXPECT_EQ(error_of(R"({"metadata":{"name":"web","generation":1.5}})"),
            "Pod web: metadata.generation: expected integer, found another number");
  EXPECT_EQ(error_of(R"({"metadata":{"namespace":"ns"}})"), "Pod: metadata.name: missing");
  EXPECT_EQ(error_of("{}"), "Pod: metadata.name: missing");
  EXPECT_EQ(error_of(R"({"metadata":[]})"), "Pod: metadata: expected object, found array");
  EXPECT_EQ(error_of("[]"), "Pod: expected object, found array");
  EXPECT_THAT(error_of(""), HasSubstr("Pod: not JSON"));
  EXPECT_THAT(error_of(R"({"metadata":{"name":"web")"), HasSubstr("Pod web: not JSON"));
  EXPECT_THAT(error_of(R"({"metadata":{"name":"web"}} {})"), HasSubstr("Pod web: not JSON"));
  EXPECT_THAT(error_of(R"({"metadata":{"name":"web","uid":"a" "b"}})"), HasSubstr("Pod web: not JSON"));
  EXPECT_THAT(error_of(R"({"metadata":{"name":"web","uid":"a"b}})"), HasSubstr("Pod web"));
  EXPECT_EQ(error_of(R"({"metadata":{"name":"w","managedFields":[],"managedFields":[]}})"),
            "Pod w: metadata.managedFields: given twice");
}

TEST(WireObject, AgreesWithAParserOnRandomObjects) {
  tests::RandomJson random(tests::fresh_seed());
  WireScanner scanner;
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::string> members = {"\"name\":\"" + std::string(1, "abc"[random.below(3)]) + "\""};
    if (random.chance(50)) members.push_back("\"managedFields\":" + random.value(3));
    if (random.chance(50)) members.push_back("\"resourceVersion\":" + random.string());
    if (random.chance(50)) members.push_back("\"extra\":" + random.value(3));
    std::vector<std::pair<std::string, std::string>> labels;
    std::string label_text = "{";
    for (std::size_t i = random.below(4); i > 0; --i)
      label_text += "\"k" + std::to_string(i) + "\":" + random.string() + (i > 1 ? "," : "");
    members.push_back("\"labels\":" + label_text + "}");
    std::shuffle(members.begin(), members.end(), random.engine());
    std::string text =
        "{" + random.space() + "\"spec\":" + random.value(3) + ",\"metadata\":" + random.space() + "{";
    for (std::size_t i = 0; i < members.size(); ++i)
      text += (i > 0 ? "," : "") + random.space() + members[i] + random.space();
    text += "}" + random.space() + "}";
    SCOPED_TRACE(text);

    const WireObject object = scanner.object(text);
    const Json tree = without_managed_fields(text);
    ASSERT_EQ(Json::parse(object.raw()), tree);
    ASSERT_EQ(object.name(), tree.at({"metadata", "name"}).as_string());
    ASSERT_EQ(object.resource_version(), tree.at({"metadata", "resourceVersion"}).string_or(""));
    const Json& tree_labels = tree.at({"metadata", "labels"});
    ASSERT_EQ(object.labels().size(), tree_labels.size());
    for (const auto& [name, value] : object.labels()) ASSERT_EQ(value, tree_labels[name].as_string());
    ASSERT_LE(object.bytes(), text.size() * 3 + 200);
  }
}

TEST(WireObject, SurvivesDamagedText) {
  tests::RandomJson random(tests::fresh_seed());
  WireScanner scanner({.api_version = "v1", .kind = "Pod"});
  std::size_t refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = pod;
    for (std::size_t hits = 1 + random.below(3); hits > 0; --hits) {
      if (text.empty()) break;
      const std::size_t at = random.below(text.size());
      if (random.chance(30))
        text.resize(at + 1);
      else if (random.chance(30))
        text.erase(at, 1 + random.below(20));
      else
        text[at] =
            random.chance(70) ? "{}[]\",:\\ 0n"[random.below(11)] : static_cast<char>(random.below(256));
    }
    try {
      const WireObject object = scanner.object(text);
      for (const auto& [name, value] : object.labels()) EXPECT_LE(name.size() + value.size(), text.size());
      for (const WireOwner& owner : object.owners()) EXPECT_LE(owner.name.size(), text.size());
    } catch (const DecodeError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 5'000u);
}

TEST(WireScanner, ReadsTheFramesOfAWatch) {
  WireScanner scanner({.api_version = "v1", .kind = "Pod"});
  const std::pair<const char*, WatchType> types[] = {
      {"ADDED", WatchType::added}, {"MODIFIED", WatchType::modified}, {"DELETED", WatchType::deleted}};
  for (const auto& [name, type] : types) {
    const std::string usual = std::string(R"({"type":")") + name + R"(","object":)" + pod + "}";
    const std::string odd =
        std::string(R"( { "object" : )") + pod + R"(, "x":1, "type" : ")" + name + R"("} )";
    for (const std::string& frame : {usual, odd, usual + "\r"}) {
      const WireEvent event = scanner.event(frame);
      EXPECT_EQ(event.type, type);
      expect_metadata_of_pod(event.object);
    }
  }
}

TEST(WireScanner, ReadsBookmarksAndErrors) {
  WireScanner scanner({.api_version = "v1", .kind = "Pod"});
  const WireEvent bookmark = scanner.event(
      R"({"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"99",)"
      R"("annotations":{"k8s.io/initial-events-end":"true"}},"spec":{}}})");
  EXPECT_EQ(bookmark.type, WatchType::bookmark);
  EXPECT_EQ(bookmark.object.resource_version(), "99");
  EXPECT_EQ(bookmark.object.annotation("k8s.io/initial-events-end"), "true");
  const WireEvent error = scanner.event(
      R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old"}})");
  EXPECT_EQ(error.type, WatchType::error);
  EXPECT_EQ(error.error.code, 410);
  EXPECT_EQ(error.error.reason, "Expired");
  EXPECT_EQ(error.error.message, "too old");
}

TEST(WireScanner, RefusesFramesThatAreNone) {
  WireScanner scanner({.api_version = "v1", .kind = "Pod"});
  for (const char* frame :
       {"", "{}", "nonsense", R"({"type":"LATER","object":{"metadata":{"name":"a"}}})",
        R"({"type":"ADDED","object":{}})", R"({"type":"ADDED"})", R"({"type":"ADDED","object":3})",
        R"({"type":"ADDED","object":{"metadata":{"name":"a"}})",
        R"({"type":"ADDED","object":{"metadata":{"name":"a"}},"object":{"metadata":{}}})"}) {
    EXPECT_THROW(scanner.event(frame), DecodeError) << frame;
  }
}

TEST(ResourceVersions, CompareAsNumbersOfAnyLengthOrNotAtAll) {
  const auto order = [](const char* left, const char* right) {
    return compare_resource_versions(left, right);
  };
  EXPECT_EQ(order("9", "10"), std::strong_ordering::less);
  EXPECT_EQ(order("10", "9"), std::strong_ordering::greater);
  EXPECT_EQ(order("99999999999999999999998", "99999999999999999999999"), std::strong_ordering::less);
  EXPECT_EQ(order("12", "12"), std::strong_ordering::equal);
  EXPECT_EQ(order("abc", "abc"), std::strong_ordering::equal);
  EXPECT_EQ(order("abc", "12"), std::nullopt);
  EXPECT_EQ(order("", "12"), std::nullopt);
  EXPECT_EQ(order("012", "12"), std::nullopt);
  EXPECT_EQ(order("-1", "1"), std::nullopt);
}

TEST(WireObjectConcurrency, HandlesAreCopiedAndDroppedByManyThreads) {
  for (int round = 0; round < 50; ++round) {
    WireObject object = scan(pod);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([object] {
        for (int turn = 0; turn < 1000; ++turn) {
          const WireObject copy = object;
          ASSERT_EQ(copy.name(), "web-0");
        }
      });
    }
    object = {};
    for (std::thread& thread : threads) thread.join();
  }
}

TEST(WireScanner, WhiteSpaceAroundAnObjectIsNoPartOfIt) {
  const WireScannerOptions options{.api_version = "v1", .kind = "Thing"};
  const WireObject plain = scan(R"({"metadata":{"name":"a"}})", options);
  for (const char* text :
       {"\t\t{\"metadata\":{\"name\":\"a\"}}", " \r\n{\"metadata\":{\"name\":\"a\"}} \n"}) {
    const WireObject object = scan(text, options);
    EXPECT_EQ(Json::parse(object.raw()), Json::parse(plain.raw()));
    EXPECT_EQ(object.raw().front(), '{');
  }
}

// A backslash outside of strings is not valid JSON; the end of a container must still not depend on the
// chunks.
TEST(ContainerScan, FindsTheSameEndForAnyPieces) {
  const std::string filler(70, ' ');
  for (const std::string text : {R"({"a":[1,2]\},3])", R"({\"a":"}"\\"}]"})", R"([\[1]\]])",
                                 R"({"a":"\\"}]}]})", R"({"a\"}":"]"\})"}) {
    for (const std::string& whole : {text + filler, text + filler + text}) {
      detail::ContainerScan at_once;
      const std::size_t end = at_once.feed(whole);
      for (const std::size_t piece : {1U, 3U, 63U, 64U, 65U}) {
        detail::ContainerScan scan;
        std::size_t eaten = 0;
        while (!scan.done() && eaten < whole.size())
          eaten += scan.feed(std::string_view(whole).substr(eaten, piece));
        EXPECT_EQ(eaten, end) << piece << " of " << whole;
      }
    }
  }
}

}  // namespace
}  // namespace evenkeel::wire_object_tests
