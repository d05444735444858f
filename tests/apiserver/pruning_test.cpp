// SPDX-License-Identifier: Apache-2.0
#include "apiserver/schema/pruning.hpp"

#include <random>
#include <utility>

#include <gtest/gtest.h>

#include "schema_fixture.hpp"

namespace evenkeel::apiserver {
namespace {

using Paths = std::vector<std::string>;

TEST(Prune, RemovesAndNamesWhatIsUnknown) {
  Shapes shapes;
  Json object =
      widget(R"({"size": 3, "unknown": 1, "parts": [{"name": "a", "colour": "x"}], "free": {"any": {"b": 1}},
    "settings": {"k": "v"}})");
  object["extra"] = 1;
  object["metadata"]["labels"] = parse(R"({"a": "b"})");
  object["metadata"]["nonsense"] = 1;
  EXPECT_EQ(prune(object, *shapes.widget),
            (Paths{"extra", "spec.parts[0].colour", "spec.unknown", "metadata.nonsense"}));
  EXPECT_EQ(object["spec"], parse(R"({"size": 3, "parts": [{"name": "a"}], "free": {"any": {"b": 1}},
    "settings": {"k": "v"}})"));
  EXPECT_EQ(object["metadata"], parse(R"({"name": "w", "labels": {"a": "b"}})"));
}

TEST(Prune, RemovesNullsThatOnlyStandForNothing) {
  Shapes shapes;
  Json object =
      widget(R"({"size": 3, "label": null, "note": null, "color": null, "free": {"x": [1, {"y": null}]}})");
  EXPECT_TRUE(prune(object, *shapes.widget).empty());
  EXPECT_EQ(object["spec"],
            parse(R"({"size": 3, "note": null, "color": null, "free": {"x": [1, {"y": null}]}})"));
}

TEST(Prune, KeepsListsBelowFieldsThatPreserve) {
  Shapes shapes;
  const auto kind = shapes.with_spec(R"({"type": "object", "properties": {
    "any": {"x-kubernetes-preserve-unknown-fields": true},
    "list": {"type": "array", "x-kubernetes-preserve-unknown-fields": true, "items": {"type": "object"}},
    "lists": {"type": "array", "x-kubernetes-preserve-unknown-fields": true, "items": {"type": "array",
      "items": {"type": "object", "properties": {"x": {"type": "object", "properties": {}}}}}},
    "items": {"type": "array", "items": {"x-kubernetes-preserve-unknown-fields": true}},
    "object": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}})");
  Json object = parse(R"({"spec": {
    "any": [{"k": "v"}, [{"k": [{"l": 1}]}]], "list": [{"k": {"m": 1}}], "lists": [[{"x": {}, "y": 1}], {"q": 1}],
    "items": [{"k": 1}, ["x", {"k": 1}], 3], "object": [{"k": [{"z": 1}]}]}})");
  const Json before = object;
  EXPECT_EQ(prune(object, *kind), Paths{});
  EXPECT_EQ(object, before);
  object["spec"]["lists"][0][0]["x"]["z"] = 1;
  EXPECT_EQ(prune(object, *kind), Paths{"spec.lists[0][0].x.z"}) << "of a schema that does not preserve";
  EXPECT_EQ(object, before);
}

TEST(Prune, RemovesFieldsOfValuesOfAnotherType) {
  Shapes shapes;
  const auto kind = shapes.with_spec(R"({"type": "object", "properties": {
    "map": {"type": "object", "properties": {"x": {"type": "string"}}}, "text": {"type": "string"},
    "true": {"type": "object", "additionalProperties": true}}})");
  Json object = parse(
      R"({"spec": {"map": [{"x": 1}], "text": {"a": 1}, "true": {"a": {"b": 1}, "c": [{"d": 1}], "e": 1}}})");
  EXPECT_EQ(prune(object, *kind),
            (Paths{"spec.map[0].x", "spec.text.a", "spec.true.a.b", "spec.true.c[0].d"}));
  EXPECT_EQ(object["spec"], parse(R"({"map": [{}], "text": {}, "true": {"a": {}, "c": [{}], "e": 1}})"));
}

TEST(Prune, KeepsNullsOfTypedFieldsOnRequest) {
  Shapes shapes;
  const auto kind = shapes.with_spec(R"({"type": "object", "properties": {"s": {"type": "string"},
    "any": {"x-kubernetes-preserve-unknown-fields": true},
    "l": {"type": "array", "items": {"type": "object", "properties": {"x": {"type": "integer"}}}}}})");
  Json object = parse(R"({"spec": {"s": null, "any": null, "l": [{"x": null, "y": null}]}})");
  EXPECT_EQ(prune(object, *kind, Unset::kept), Paths{"spec.l[0].y"});
  EXPECT_EQ(object["spec"], parse(R"({"s": null, "l": [{"x": null}]})"));
}

TEST(Prune, LeavesKindsWithoutASchemaAlone) {
  Shapes shapes;
  const auto plain = shapes.catalog.custom({.group = "g.example.com", .version = "v1", .kind = "Plain"});
  const Json object = parse(R"({"kind": "Plain", "spec": {"a": [1, null]}, "x": 1})");
  Json pruned = object;
  EXPECT_TRUE(prune(pruned, *plain).empty());
  EXPECT_EQ(pruned, object);
}

TEST(Prune, KnowsMetadataOfEmbeddedResources) {
  Shapes shapes;
  const auto kind = shapes.with_spec(R"({"type": "object", "properties": {"template": {"type": "object",
    "x-kubernetes-embedded-resource": true, "properties": {"spec": {"type": "object"}}}}})");
  Json object =
      parse(R"({"spec": {"template": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "x": 1},
    "spec": {"y": 1}, "z": 1}}})");
  EXPECT_EQ(prune(object, *kind),
            (Paths{"spec.template.spec.y", "spec.template.z", "spec.template.metadata.x"}));
}

TEST(Prune, OfBuiltinKindsKeepsWhatIsOpaque) {
  Shapes shapes;
  const auto revision = shapes.catalog.builtin("apps", "v1", "ControllerRevision");
  Json object = parse(R"({"data": {"spec": {"a": 1}}, "revision": 1, "what": 2})");
  EXPECT_EQ(prune(object, *revision), Paths{"what"});
  EXPECT_EQ(object["data"], parse(R"({"spec": {"a": 1}})"));
}

TEST(Canonicalize, WritesObjectsAsGoStructsWould) {
  Shapes shapes;
  Json object = parse(R"({"metadata": {"name": "a", "labels": {}, "annotations": null, "generateName": ""},
    "data": {"k": "v", "n": null}, "binaryData": {}})");
  canonicalize(object, *shapes.config_map);
  EXPECT_EQ(object, parse(R"({"metadata": {"name": "a"}, "data": {"k": "v", "n": ""}})"));
}

TEST(Canonicalize, MetadataOfEmbeddedResources) {
  Shapes shapes;
  const auto kind = shapes.with_spec(R"({"type": "object", "properties": {"list": {"type": "array", "items":
    {"type": "object", "x-kubernetes-embedded-resource": true}}}})");
  Json object = parse(R"({"spec": {"list": [{"metadata": null}, {"metadata": {"creationTimestamp": null,
    "labels": {}, "name": "a"}}, {}]}})");
  prune(object, *kind);
  canonicalize(object, *kind);
  EXPECT_EQ(object["spec"], parse(R"({"list": [{"metadata": {}}, {"metadata": {"name": "a"}}, {}]})"));
}

TEST(Canonicalize, OmitsZeroesOfCustomResourceDefinitions) {
  Shapes shapes;
  const auto definition = shapes.catalog.builtin("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
  Json object =
      parse(R"({"spec": {"preserveUnknownFields": false, "versions": [{"name": "v1", "served": false,
    "deprecated": false, "storage": true, "schema": {"openAPIV3Schema": {"nullable": false, "uniqueItems": false}},
    "additionalPrinterColumns": [{"name": "A", "type": "integer", "jsonPath": ".a", "priority": 0},
                                 {"name": "B", "type": "integer", "jsonPath": ".b", "priority": 1}]}]}})");
  canonicalize(object, *definition);
  EXPECT_FALSE(object["spec"].contains("preserveUnknownFields"));
  EXPECT_EQ(object["spec"]["versions"][0], parse(R"({"name": "v1", "served": false, "storage": true,
    "schema": {"openAPIV3Schema": {}},
    "additionalPrinterColumns": [{"name": "A", "type": "integer", "jsonPath": ".a"},
                                 {"name": "B", "type": "integer", "jsonPath": ".b", "priority": 1}]})"));
}

TEST(Canonicalize, KeepsPointersThatAreEmpty) {
  Shapes shapes;
  const auto claim = shapes.catalog.builtin("", "v1", "PersistentVolumeClaim");
  Json object = parse(R"({"spec": {"storageClassName": "", "volumeName": ""}})");
  canonicalize(object, *claim);
  EXPECT_EQ(object["spec"], parse(R"({"storageClassName": "", "resources": {}})"));
  Json pod =
      parse(R"({"spec": {"containers": [], "volumes": [{"name": "v", "emptyDir": {}}], "hostNetwork": false,
    "automountServiceAccountToken": false}})");
  canonicalize(pod, *shapes.pod);
  EXPECT_EQ(pod["spec"], parse(R"({"containers": [], "volumes": [{"name": "v", "emptyDir": {}}],
    "automountServiceAccountToken": false})"));
}

TEST(Canonicalize, WritesWhatGoAlwaysWritesAndTimesInItsForm) {  // scenario events-core
  Shapes shapes;
  const auto event = shapes.catalog.builtin("", "v1", "Event");
  Json object = parse(R"({"metadata": {"name": "e"}, "lastTimestamp": "2025-01-01T01:00:00.75+01:00"})");
  canonicalize(object, *event);
  EXPECT_EQ(object,
            parse(R"({"metadata": {"name": "e"}, "involvedObject": {}, "source": {}, "eventTime": null,
    "firstTimestamp": null, "lastTimestamp": "2025-01-01T00:00:00Z", "reportingComponent": "",
    "reportingInstance": ""})"));
  const auto lease = shapes.catalog.builtin("coordination.k8s.io", "v1", "Lease");
  Json held = parse(R"({"spec": {"renewTime": "2025-01-01T00:00:00.000120Z"}})");
  canonicalize(held, *lease);
  EXPECT_EQ(held["spec"]["renewTime"], Json("2025-01-01T00:00:00.000120Z"));
}

TEST(Canonicalize, WritesQuantitiesAsGoDoes) {
  Shapes shapes;
  const auto of = [&](const Json& amount) {
    Json object = parse(R"({"spec": {"containers": [{"name": "c", "resources": {"limits": {}}}], "volumes": [
      {"name": "v", "emptyDir": {}}]}})");
    object["spec"]["containers"][0]["resources"]["limits"]["cpu"] = amount;
    object["spec"]["volumes"][0]["emptyDir"]["sizeLimit"] = amount;
    canonicalize(object, *shapes.pod);
    return std::as_const(object)["spec"]["containers"][0]["resources"]["limits"]["cpu"].as_string() + " " +
           std::as_const(object)["spec"]["volumes"][0]["emptyDir"]["sizeLimit"].as_string();
  };
  // Lists of resources have no fractions of thousandths, other quantities have.
  const std::pair<const char*, const char*> cases[] = {{"1.441", "1.441 1.441"},
                                                       {"1E3", "1E3 1E3"},
                                                       {"+5", "+5 +5"},
                                                       {"5.", "5. 5."},
                                                       {"00100", "00100 00100"},
                                                       {" 1 ", "1 1"},
                                                       {"1000m", "1 1"},
                                                       {"0.5", "500m 500m"},
                                                       {"1u", "1m 1u"},
                                                       {"3.14159", "3142m 3141590u"},
                                                       {"1024Ki", "1Mi 1Mi"},
                                                       {"1025Ki", "1025Ki 1025Ki"},
                                                       {"1.5Gi", "1536Mi 1536Mi"},
                                                       {".", "0 0"},
                                                       {"-", "0 0"},
                                                       {"m", "0 0"},
                                                       {"-1.5", "-1500m -1500m"},
                                                       {"1E1", "10 10"},
                                                       {"2000E", "2e21 2e21"}};
  for (const auto& [text, stored] : cases) EXPECT_EQ(of(Json(text)), stored) << text;
  EXPECT_EQ(of(Json(1.441)), "1.441 1.441");
  EXPECT_EQ(of(Json(1500)), "1500 1500");
}

TEST(Canonicalize, WritesBytesInOneLine) {
  Shapes shapes;
  Json object =
      parse(R"({"binaryData": {"a": "aGVs\r\nbG8=\n", "b": [1, 2], "c": [null], "d": "aGl=", "e": []}})");
  canonicalize(object, *shapes.config_map);
  EXPECT_EQ(object["binaryData"],
            parse(R"({"a": "aGVsbG8=", "b": "AQI=", "c": "AA==", "d": "aGk=", "e": ""})"));
}

TEST(Canonicalize, WritesTimesInUtcAndTheZeroTimeAsNull) {
  Shapes shapes;
  const auto of = [&](std::string_view time) {
    Json object = Json::object({{"firstTimestamp", time}});
    canonicalize(object, *shapes.catalog.builtin("", "v1", "Event"));
    return Json(std::as_const(object)["firstTimestamp"]);
  };
  EXPECT_EQ(of("2020-01-01T00:00:00+24:00"), Json("2019-12-31T00:00:00Z"));
  EXPECT_EQ(of("2020-01-01T5:04:05,75Z"), Json("2020-01-01T05:04:05Z"));
  EXPECT_EQ(of("2300-01-01T00:00:00.5Z"), Json("2300-01-01T00:00:00Z"));
  EXPECT_EQ(of("9999-12-31T23:59:59-01:00"), Json("10000-01-01T00:59:59Z"));
  EXPECT_EQ(of("0001-01-01T00:00:00.5Z"), Json());
  Json held = parse(R"({"spec": {"renewTime": "0001-01-01T00:00:00.000000Z"}})");
  canonicalize(held, *shapes.catalog.builtin("coordination.k8s.io", "v1", "Lease"));
  EXPECT_EQ(held["spec"], parse(R"({"renewTime": null})"));
  Json map = parse(R"({"metadata": {"creationTimestamp": "0001-01-01T00:00:00Z", "name": "a"}})");
  canonicalize(map, *shapes.config_map);
  EXPECT_EQ(map["metadata"], parse(R"({"name": "a"})"));
}

TEST(Canonicalize, WritesZeroForNull) {
  Shapes shapes;
  Json node =
      parse(R"({"spec": {"taints": [null]}, "status": {"addresses": [{"type": null, "address": "h"}]}})");
  canonicalize(node, *shapes.catalog.builtin("", "v1", "Node"));
  EXPECT_EQ(node["spec"]["taints"], parse(R"([{"effect": "", "key": ""}])"));
  EXPECT_EQ(node["status"]["addresses"], parse(R"([{"type": "", "address": "h"}])"));
}

TEST(Canonicalize, LeavesTheSpecOfCustomObjectsAlone) {
  Shapes shapes;
  Json object = widget(R"({"size": 1, "note": null, "label": ""})");
  object["metadata"]["labels"] = Json::object();
  canonicalize(object, *shapes.widget);
  EXPECT_EQ(object, widget(R"({"size": 1, "note": null, "label": ""})"));
}

/// Generates documents that contain, among others, names known to the schemas.
class RandomDocument {
 public:
  explicit RandomDocument(unsigned seed) : random_(seed) {}
  Json make(int depth) {
    static const std::vector<std::string> names{"spec", "metadata",   "parts",    "name",   "containers",
                                                "tags", "free",       "template", "labels", "x",
                                                "data", "conditions", "status"};
    const int kind = pick(depth > 0 ? 7 : 5);
    if (kind == 0) return {};
    if (kind == 1) return Json(pick(3));
    if (kind == 2) return Json("text");
    if (kind == 3) return Json(true);
    if (kind == 4) return Json("");
    Json result = kind == 5 ? Json::array() : Json::object();
    for (int i = pick(5); i > 0; --i) {
      if (kind == 5)
        result.push_back(make(depth - 1));
      else
        result[names[static_cast<std::size_t>(pick(static_cast<int>(names.size())))]] = make(depth - 1);
    }
    return result;
  }

 private:
  int pick(int limit) { return std::uniform_int_distribution<int>(0, limit - 1)(random_); }
  std::mt19937 random_;
};

TEST(Prune, IsIdempotentAndSoIsCanonicalize) {
  Shapes shapes;
  for (unsigned seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    const Json document = RandomDocument(seed).make(5);
    for (const auto& kind : {shapes.widget, shapes.deployment, shapes.config_map, shapes.pod}) {
      Json object = document;
      prune(object, *kind);
      Json again = object;
      EXPECT_TRUE(prune(again, *kind).empty());
      EXPECT_EQ(again, object);
      canonicalize(object, *kind);
      again = object;
      canonicalize(again, *kind);
      EXPECT_EQ(again, object);
    }
  }
}

}  // namespace
}  // namespace evenkeel::apiserver
