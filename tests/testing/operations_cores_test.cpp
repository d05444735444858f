// SPDX-License-Identifier: Apache-2.0
// The cores of operations(): paths, candidates, properties, and values of known types, which are held against
// the embedded API server.
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/pods.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/client/errors.hpp>
#include <evenkeel/client/resource_client.hpp>
#include <evenkeel/testing/harness.hpp>

#include "operations_cache.hpp"
#include "testing/operations/candidates.hpp"
#include "testing/operations/error_report.hpp"
#include "testing/operations/known_values.hpp"
#include "testing/operations/properties.hpp"
#include "testing/operations/property_path.hpp"
#include "testing/operations/text_candidates.hpp"

namespace evenkeel::testing {
namespace operations_cores {

using detail::Candidate;
using detail::KnownValues;
using detail::PropertyPath;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsSupersetOf;
using ::testing::Not;

// ---- Paths

TEST(PropertyPath, ReadsItsOwnText) {
  for (const char* text : {"spec", "spec.ports[0].port", "spec.settings[\"a.b/c\"]", "spec.a[1][2].b"})
    EXPECT_EQ(PropertyPath::parse(text).str(), text);
}

std::string refusal_of(const std::string& text) {
  try {
    PropertyPath::parse(text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(PropertyPath, RefusesMalformedTexts) {
  EXPECT_EQ(refusal_of(""), "operations: the path \"\" is empty");
  EXPECT_EQ(refusal_of("spec..a"), "operations: the path \"spec..a\" has an empty name");
  EXPECT_EQ(refusal_of("spec[1"), "operations: the path \"spec[1\" has no ]");
  EXPECT_EQ(refusal_of("spec[\"a]"), "operations: the path \"spec[\"a]\" has no \"]");
  EXPECT_EQ(refusal_of("spec[x]"), "operations: the path \"spec[x]\" has an index that is not a number");
}

TEST(PropertyPath, SetsFindsAndErases) {
  Json document = Json::parse(R"({"spec":{"ports":[{"port":1}]}})");
  PropertyPath::parse("spec.ports[0].port").set(document, Json(2));
  PropertyPath::parse("spec.ports[1].port").set(document, Json(3));
  PropertyPath::parse("spec.extra.deep").set(document, Json("a"));
  EXPECT_EQ(document.dump(), R"({"spec":{"extra":{"deep":"a"},"ports":[{"port":2},{"port":3}]}})");
  EXPECT_EQ(*PropertyPath::parse("spec.ports[1].port").find(document), Json(3));
  EXPECT_EQ(PropertyPath::parse("spec.ports[2].port").find(document), nullptr);
  PropertyPath::parse("spec.ports[0]").erase(document);
  PropertyPath::parse("spec.extra").erase(document);
  PropertyPath::parse("spec.unknown.deep").erase(document);
  EXPECT_EQ(document.dump(), R"({"spec":{"ports":[{"port":3}]}})");
}

// ---- Candidates

std::vector<std::string> values(const std::string& name, const std::string& schema, const Json* current,
                                ValueKind kind) {
  std::vector<std::string> texts;
  for (const Candidate& one : detail::candidates({.name = name, .schema = Json::parse(schema)}, current)) {
    if (one.kind == kind) texts.push_back(one.value ? one.value->dump() : "removed");
  }
  return texts;
}

std::vector<std::string> valid(const std::string& name, const std::string& schema, const Json& current) {
  return values(name, schema, &current, ValueKind::valid);
}

std::vector<std::string> wrong(const std::string& name, const std::string& schema, const Json& current) {
  return values(name, schema, &current, ValueKind::wrong);
}

TEST(Candidates, KeepIntegersWithinTheirBounds) {
  const std::string schema = R"({"type":"integer","minimum":1,"maximum":3})";
  EXPECT_THAT(valid("keep", schema, Json(2)), ElementsAre("3", "1"));
  EXPECT_THAT(wrong("keep", schema, Json(2)), ElementsAre("0", "4", "\"evenkeel\""));
}

TEST(Candidates, TakeANegativeCountForWrong) {
  EXPECT_THAT(wrong("replicas", R"({"type":"integer"})", Json(2)), Contains("-1"));
  EXPECT_THAT(wrong("offset", R"({"type":"integer"})", Json(2)), Not(Contains("-1")));
  EXPECT_THAT(valid("replicas", R"({"type":"integer"})", Json(2)), ElementsAre("3", "1", "4", "0", "22"));
}

TEST(Candidates, RecognizeTextsByNameAndPresentValue) {
  const std::string text = R"({"type":"string"})";
  EXPECT_THAT(valid("memory", text, Json("1Gi")), ElementsAre("\"2Gi\"", "\"4Gi\""));
  EXPECT_THAT(wrong("memory", text, Json("1Gi")), IsSupersetOf({"\"10 gigabytes\"", "\"-1Gi\""}));
  EXPECT_THAT(wrong("size", text, Json("small")), ElementsAre("7"));
  EXPECT_THAT(valid("schedule", text, Json("0 1 * * *")), ElementsAre("\"*/5 * * * *\"", "\"0 3 * * *\""));
  EXPECT_THAT(wrong("schedule", text, Json("0 1 * * *")), Contains("\"every day\""));
  EXPECT_THAT(valid("timeout", text, Json("30s")), ElementsAre("\"1m0s\"", "\"1h0m0s\""));
  EXPECT_THAT(valid("image", text, Json("web:1.9")), Contains("\"web:1.10\""));
  EXPECT_THAT(wrong("image", text, Json("web:1")), Contains("\"web:1 \""));
}

TEST(Candidates, TakeTheOtherWordsOfAnEnumeration) {
  const std::string schema = R"({"type":"string","enum":["A","B","C"]})";
  EXPECT_THAT(valid("mode", schema, Json("B")), ElementsAre("\"A\"", "\"C\""));
  EXPECT_THAT(wrong("mode", schema, Json("B")), Contains("\"evenkeel-unknown\""));
}

TEST(Candidates, GrowAndShrinkListsAndMaps) {
  const std::string list =
      R"({"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"port":{"type":"integer"}}}})";
  EXPECT_THAT(valid("ports", list, Json::parse(R"([{"name":"http","port":80}])")),
              ElementsAre(R"([{"name":"http","port":80},{"name":"http-2","port":81}])", "[]"));
  const std::string map = R"({"type":"object","additionalProperties":{"type":"string"}})";
  EXPECT_THAT(valid("settings", map, Json::parse(R"({"a":"1"})")),
              ElementsAre(R"({"a":"1","zz-evenkeel":"evenkeel-a"})", "{}"));
}

TEST(Candidates, NextText) {
  EXPECT_EQ(detail::next_text("web:9"), "web:10");
  EXPECT_EQ(detail::next_text("v1.2.3-rc"), "v1.2.4-rc");
  EXPECT_EQ(detail::next_text("web"), "web-2");
  EXPECT_EQ(detail::next_text("99"), "100");
}

TEST(Candidates, SmallestValueHasWhatIsRequired) {
  const Json schema =
      Json::parse(R"({"type":"object","required":["name","ports"],"properties":{"name":{"type":"string"},)"
                  R"("ports":{"type":"array","minItems":1,"items":{"type":"integer","minimum":5}},)"
                  R"("size":{"type":"integer"}}})");
  EXPECT_EQ(detail::smallest_value(schema, "x").dump(), R"({"name":"evenkeel-a","ports":[5]})");
}

// ---- Properties

std::vector<std::string> paths(const CacheSpec& spec, const std::set<std::string>& untouched = {}) {
  std::vector<std::string> found;
  const Json schema = detail::operations_schema(type_info<Cache>());
  for (const detail::Property& one : detail::properties_of(schema, to_tree(main_cache(spec)), untouched).all)
    found.push_back(one.path.str());
  return found;
}

TEST(Properties, FollowTheDocument) {
  EXPECT_THAT(paths({}), ElementsAre("spec.backup", "spec.eviction", "spec.image", "spec.memory",
                                     "spec.replicas", "spec.settings"));
  EXPECT_THAT(
      paths({.backup = BackupSpec{}, .settings = {{"a.b", "c"}}}),
      ElementsAre("spec.backup.keep", "spec.backup.schedule", "spec.backup", "spec.eviction", "spec.image",
                  "spec.memory", "spec.replicas", "spec.settings", "spec.settings[\"a.b\"]"));
  EXPECT_THAT(paths({.backup = BackupSpec{}}, {"spec.backup", "spec.settings"}),
              ElementsAre("spec.eviction", "spec.image", "spec.memory", "spec.replicas"));
}

struct Flags {
  bool a_on = true;
  bool b_off = false;
  int c = 1;
  Duration wait = {};
};
EVENKEEL_FIELDS(Flags, a_on, b_off, c, wait)

TEST(Properties, SwitchOnFirstAndOffLast) {
  const Json schema = detail::operations_schema(type_info<Flags>());
  std::vector<std::string> found;
  for (const detail::Property& one : detail::properties_of(schema, to_tree(Flags{}), {}).all)
    found.push_back(one.path.str());
  EXPECT_THAT(found, ElementsAre("bOff", "c", "wait", "aOn"));
  EXPECT_EQ(schema.at({"properties", "wait", detail::text_type_member}), Json("duration"));
}

struct Templated {
  core_v1::PodTemplateSpec pod_template = {};
  Json free = {};
};
EVENKEEL_FIELDS(Templated, (pod_template, wire("template")), free)

TEST(Properties, OfAPodTemplateAreTheUsualOnes) {
  Templated object;
  object.pod_template.spec.containers = {{.name = "web", .image = "web:1"}};
  object.pod_template.metadata.labels = {{"app", "web"}};
  object.free = Json::parse(R"({"level":3})");
  const Json schema = detail::operations_schema(type_info<Templated>());
  const detail::Properties properties = detail::properties_of(schema, to_tree(object), {});
  std::vector<std::string> found;
  for (const detail::Property& one : properties.all) found.push_back(one.path.str());
  EXPECT_THAT(found,
              IsSupersetOf({"template.spec.affinity", "template.spec.containers", "template.spec.tolerations",
                            "template.spec.containers[0].image", "template.spec.containers[0].resources",
                            "template.spec.containers[0].env", "template.metadata.labels", "free.level"}));
  EXPECT_THAT(found, Not(Contains("template.spec.hostIPC")));
  EXPECT_THAT(properties.left_out, Contains("template.spec.hostIPC"));
}

// ---- Values of known types: each is in an object that the API server accepts or refuses, as it says.

constexpr const char* pod_with = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":)"
                                 R"({"containers":[{"name":"a","image":"a:1"}]}})";

Json pod(const std::string& path, Json value) {
  Json object = Json::parse(pod_with);
  PropertyPath::parse(path).set(object, std::move(value));
  return object;
}

Json claim(const std::string& path, Json value) {
  Json object =
      Json::parse(R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"a"},)"
                  R"("spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}})");
  PropertyPath::parse(path).set(object, std::move(value));
  return object;
}

Json cron_job(const std::string& path, Json value) {
  Json object = Json::parse(
      R"({"apiVersion":"batch/v1","kind":"CronJob","metadata":{"name":"a"},"spec":{"schedule":"0 1 * * *",)"
      R"("jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never",)"
      R"("containers":[{"name":"a","image":"a:1"}]}}}}}})");
  PropertyPath::parse(path).set(object, std::move(value));
  return object;
}

Json workload(Json selector) {
  Json object = Json::parse(
      R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"a"},"spec":{"minAvailable":1}})");
  object["spec"]["selector"] = std::move(selector);
  return object;
}

// Returns an object that has the value of a known type.
Json example(const std::string& type, const Json& value) {
  const std::string container = "spec.containers[0].";
  if (type == "affinity" || type == "securityContext" || type == "serviceAccountName")
    return pod("spec." + type, value);
  if (type == "toleration") return pod("spec.tolerations[0]", value);
  if (type == "spread constraint") return pod("spec.topologySpreadConstraints[0]", value);
  if (type == "resources" || type == "imagePullPolicy") return pod(container + type, value);
  if (type == "env") return pod(container + "env[0]", value);
  if (type == "container port") return pod(container + "ports[0]", value);
  if (type == "probe") return pod(container + "livenessProbe", value);
  if (type == "labels" || type == "annotations") return pod("metadata." + type, value);
  if (type == "claim resources") return claim("spec.resources", value);
  if (type == "accessModes" || type == "storageClassName" || type == "volumeMode")
    return claim("spec." + type, value);
  if (type == "schedule" || type == "timeZone") return cron_job("spec." + type, value);
  if (type == "selector") return workload(value);
  ADD_FAILURE() << "there is no example of " << type;
  return {};
}

ResourceId resource_of(const std::string& kind) {
  if (kind == "Pod") return {"", "v1", "Pod", "pods"};
  if (kind == "PersistentVolumeClaim") return {"", "v1", kind, "persistentvolumeclaims"};
  if (kind == "CronJob") return {"batch", "v1", kind, "cronjobs"};
  return {"policy", "v1", kind, "poddisruptionbudgets"};
}

// Returns the refusal; empty if the server accepts the object.
std::string answer(const Client& client, Json object) {
  object["metadata"]["namespace"] = "default";
  const ResourceClient objects =
      client.with({.dry_run = true}).resource(resource_of(object["kind"].as_string()));
  try {
    objects.create(DynamicObject(std::move(object)));
  } catch (const ApiError& error) {
    return error.message();
  }
  return "";
}

TEST(KnownValues, AreAsTheServerJudgesThem) {
  const Harness harness;
  const Client& client = harness.client();
  for (const KnownValues& known : detail::all_known_values()) {
    const std::string type(known.type);
    for (const std::string_view text : known.valid)
      EXPECT_EQ(answer(client, example(type, Json::parse(text))), "") << type << " " << text;
    for (const std::string_view text : known.wrong)
      EXPECT_NE(answer(client, example(type, Json::parse(text))), "") << type << " " << text;
  }
}

// ---- Reports of errors

TEST(ErrorReport, IsAConditionOrAText) {
  const auto shows = [](const char* status) { return detail::shows_error(Json::parse(status)); };
  EXPECT_TRUE(shows(R"({"message":"memory is invalid"})"));
  EXPECT_TRUE(shows(R"({"lastError":"x"})"));
  EXPECT_TRUE(shows(R"({"conditions":[{"type":"Stalled","status":"True"}]})"));
  EXPECT_TRUE(shows(R"({"conditions":[{"type":"Ready","status":"False","reason":"InvalidSpec"}]})"));
  EXPECT_TRUE(shows(R"({"conditions":[{"type":"Accepted","status":"False"}]})"));
  EXPECT_FALSE(shows(R"({"message":"3 of 3 are ready","replicas":3,"lastError":""})"));
  EXPECT_FALSE(shows(R"({"conditions":[{"type":"Ready","status":"False","reason":"Starting"}]})"));
  EXPECT_FALSE(shows(R"({"conditions":[{"type":"Stalled","status":"False"}]})"));
  EXPECT_FALSE(shows("null"));
}

TEST(ErrorReport, DoesNotChangeWithAnObservedGeneration) {
  const Json before = Json::parse(
      R"([{"type":"Ready","status":"True","reason":"Done","message":"","observedGeneration":0}])");
  Json after = before;
  after[0]["observedGeneration"] = Json(-1);
  EXPECT_FALSE(detail::shows_change(before, after));
  after[0]["reason"] = Json("Waiting");
  EXPECT_TRUE(detail::shows_change(before, after));
}

TEST(PropertyChange, IsPrintedAsCppThatCompiles) {
  EXPECT_EQ(set_property("spec.image", R"("web")").code(),
            R"x(ek::testing::set_property("spec.image", R"("web")"))x");
  EXPECT_EQ(set_property("spec.text", R"x("a (b)")x").code(),
            "ek::testing::set_property(\"spec.text\", R\"json(\"a (b)\")json\")");
  EXPECT_EQ(remove_property(R"(spec.settings["a.b"])").code(),
            R"x(ek::testing::remove_property(R"(spec.settings["a.b"])"))x");
}

TEST(ErrorReport, ChangesWithTheWordsForPeople) {
  const auto changed = [](const char* before, const char* after) {
    return detail::shows_change(Json::parse(before), Json::parse(after));
  };
  EXPECT_TRUE(changed("null", R"({"phase":"Blocked"})"));
  EXPECT_TRUE(changed(R"({"conditions":[{"type":"Ready","status":"True"}]})",
                      R"({"conditions":[{"type":"Ready","status":"False"}]})"));
  EXPECT_FALSE(changed(R"({"replicas":1})", R"({"replicas":2,"image":"web:2"})"));
  EXPECT_FALSE(changed(R"({"phase":"Ready"})", R"({"phase":"Ready"})"));
}

}  // namespace operations_cores
}  // namespace evenkeel::testing
