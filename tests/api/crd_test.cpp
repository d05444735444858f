// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/api/bytes.hpp>
#include <evenkeel/api/crd.hpp>
#include <evenkeel/api/int_or_string.hpp>
#include <evenkeel/api/metadata.hpp>
#include <evenkeel/api/quantity.hpp>

#include "rich.hpp"

namespace ek = evenkeel;
using ek::Json;

namespace crd_types {

struct DemoSpec {
  int replicas = 1;
  std::string image = {};
};
struct DemoStatus {
  int ready_replicas = 0;
};
struct Demo {
  static constexpr ek::ResourceInfo resource{
      .group = "demo.evenkeel.dev", .version = "v1alpha1", .kind = "Demo", .plural = "demos"};
  ek::ObjectMeta metadata = {};
  DemoSpec spec = {};
  DemoStatus status = {};
};
EVENKEEL_FIELDS(DemoSpec, replicas, image)
EVENKEEL_FIELDS(DemoStatus, ready_replicas)
EVENKEEL_FIELDS(Demo, metadata, spec, status)

struct Peer {
  int port = 1;
  std::string protocol = "TCP";
  std::optional<std::string> host = {};
};
struct Ruled {
  static constexpr ek::CelRule rules[] = {{.rule = "self.nested.low > self.plain.port"}};
  Nested nested = {};
  Peer plain = {};
  std::optional<int> absent = {};
};
struct HoldsRuled {
  Ruled ruled = {};
  Peer with_rule = {};
};
EVENKEEL_FIELDS(Peer, port, protocol, host)
EVENKEEL_FIELDS(Ruled, nested, plain, absent)
EVENKEEL_FIELDS(HoldsRuled, ruled, (with_rule, ek::rule("self.port > 0")))

struct Unnamed {
  static constexpr ek::ResourceInfo resource{.version = "v1", .kind = "Unnamed", .plural = "unnameds"};
  ek::ObjectMeta metadata = {};
};
EVENKEEL_FIELDS(Unnamed, metadata)

struct Dotless {
  static constexpr ek::ResourceInfo resource{.group = "widgets", .kind = "Widget", .plural = "widgets"};
  ek::ObjectMeta metadata = {};
};
EVENKEEL_FIELDS(Dotless, metadata)

struct Gateway {
  static constexpr ek::ResourceInfo resource{
      .group = "gateway.networking.k8s.io", .kind = "Gateway", .plural = "gateways", .installs_crd = true};
  ek::ObjectMeta metadata = {};
};
EVENKEEL_FIELDS(Gateway, metadata)

struct ApprovedGateway {
  static constexpr ek::ResourceInfo resource = Gateway::resource;
  static constexpr std::string_view api_approved = "https://github.com/kubernetes-sigs/gateway-api/pull/1";
  ek::ObjectMeta metadata = {};
};
EVENKEEL_FIELDS(ApprovedGateway, metadata)

struct Wide {
  std::uint64_t count = 0;
};
struct Wider {
  std::uint64_t most = 9'223'372'036'854'775'807U;
  std::int64_t exact = 9'007'199'254'740'993;
  std::int64_t least = std::numeric_limits<std::int64_t>::min();
  std::uint64_t given = 0;
};
EVENKEEL_FIELDS(Wide, count)
EVENKEEL_FIELDS(Wider, most, exact, least, (given, ek::default_to("9223372036854775807")))

// One struct for each default that the API server would reject.
struct LargePlain {
  std::uint64_t big = ~std::uint64_t{0};
};
struct LargeOptional {
  std::optional<std::uint64_t> big = 9'223'372'036'854'775'808U;
};
struct LargeItem {
  std::vector<std::uint64_t> list = {1, ~std::uint64_t{0}};
};
struct LargeValue {
  std::map<std::string, std::uint64_t> map = {{"a", ~std::uint64_t{0}}};
};
struct LargeNested {
  std::vector<Wide> records = {{.count = ~std::uint64_t{0}}};
};
struct LargeGiven {
  std::uint64_t big = 1;
};
struct LargeSilent {
  std::uint64_t big = ~std::uint64_t{0};
};
EVENKEEL_FIELDS(LargePlain, big)
EVENKEEL_FIELDS(LargeOptional, big)
EVENKEEL_FIELDS(LargeItem, list)
EVENKEEL_FIELDS(LargeValue, map)
EVENKEEL_FIELDS(LargeNested, records)
EVENKEEL_FIELDS(LargeGiven, (big, ek::default_to("18446744073709551615")))
EVENKEEL_FIELDS(LargeSilent, (big, ek::no_default))

struct GivenText {
  int size = 1;
};
struct GivenRubbish {
  int size = 1;
};
struct WrongKey {
  std::vector<Endpoint> list = {};
};
EVENKEEL_FIELDS(GivenText, (size, ek::default_to("\"one\"")))
EVENKEEL_FIELDS(GivenRubbish, (size, ek::default_to("{")))
EVENKEEL_FIELDS(WrongKey, (list, ek::list_map("prot")))

}  // namespace crd_types

namespace {

using crd_types::Demo;
using crd_types::Rich;

TEST(Crd, OfTheFirstProgram) {
  EXPECT_EQ(ek::crd_for<Demo>(), Json::parse(R"({
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "demos.demo.evenkeel.dev"},
    "spec": {
      "group": "demo.evenkeel.dev",
      "names": {"kind": "Demo", "listKind": "DemoList", "plural": "demos", "singular": "demo"},
      "scope": "Namespaced",
      "versions": [{
        "name": "v1alpha1", "served": true, "storage": true,
        "schema": {"openAPIV3Schema": {
          "type": "object",
          "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": {
              "type": "object",
              "default": {},
              "properties": {
                "replicas": {"type": "integer", "format": "int32", "default": 1},
                "image": {"type": "string", "default": ""}
              }
            },
            "status": {
              "type": "object",
              "properties": {"readyReplicas": {"type": "integer", "format": "int32"}}
            }
          }
        }},
        "subresources": {
          "status": {},
          "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.readyReplicas"}
        }
      }]
    }
  })"));
}

class RichSchema : public testing::Test {
 protected:
  static Json spec() { return ek::schema_of<Rich>()["properties"]["spec"]; }
  static std::string property(std::string_view name) { return spec()["properties"][name].dump(); }
};

TEST_F(RichSchema, ScalarsHaveTypesBoundsAndDefaults) {
  EXPECT_EQ(
      property("replicas"),
      R"({"default":0,"description":"How many.","format":"int32","maximum":10,"minimum":0,"type":"integer"})");
  EXPECT_EQ(property("bytes"), R"({"default":5,"format":"int64","type":"integer"})");
  EXPECT_EQ(property("small"),
            R"({"default":0,"format":"int32","maximum":255,"minimum":0,"type":"integer"})");
  EXPECT_EQ(property("mask"),
            R"({"default":0,"format":"int64","maximum":4294967295,"minimum":0,"type":"integer"})");
  EXPECT_EQ(property("enabled"), R"({"default":true,"type":"boolean"})");
  EXPECT_EQ(property("level"), R"({"default":"low","enum":["low","high"],"type":"string"})");
  EXPECT_EQ(property("mode"), R"({"default":"VerySafe","enum":["Fast","VerySafe"],"type":"string"})");
  EXPECT_EQ(property("zone"), R"({"type":"string"})");
  EXPECT_EQ(property("limit"), R"({"format":"int32","nullable":true,"type":"integer"})");
}

TEST_F(RichSchema, AnInitialiserThatTheBoundsRefuseMakesTheFieldRequired) {
  EXPECT_EQ(property("ratio"), R"({"format":"double","minimum":0.5,"type":"number"})");
  EXPECT_EQ(property("image"), R"({"pattern":"^[a-z:]+$","type":"string"})");
  EXPECT_EQ(spec()["required"], Json::array({"ratio", "image", "strict"}));
  EXPECT_EQ(ek::schema_of<Rich>()["required"], Json::array({"spec"}));
}

TEST_F(RichSchema, ListsAndMapsCarryTheirTypes) {
  EXPECT_EQ(property("tags"),
            R"({"items":{"type":"string"},"maxItems":3,"type":"array","x-kubernetes-list-type":"set"})");
  EXPECT_EQ(
      property("endpoints"),
      R"({"items":{"properties":{"host":{"type":"string"},"port":{"format":"int32","type":"integer"},)"
      R"("protocol":{"default":"TCP","type":"string"}},"required":["port"],"type":"object"},"minItems":1,)"
      R"("type":"array","x-kubernetes-list-map-keys":["port","protocol"],"x-kubernetes-list-type":"map"})");
  EXPECT_EQ(property("labels"),
            R"({"additionalProperties":{"type":"string"},"maxProperties":4,"type":"object",)"
            R"("x-kubernetes-map-type":"atomic"})");
}

TEST_F(RichSchema, AListWhoseKeysMayBeAbsentIsOneValue) {
  EXPECT_EQ(spec()["properties"]["byHost"]["x-kubernetes-list-type"], Json("atomic"));
  EXPECT_FALSE(spec()["properties"]["byHost"].contains("x-kubernetes-list-map-keys"));
}

TEST_F(RichSchema, TextsHaveTheirFormats) {
  EXPECT_EQ(property("port"),
            R"({"anyOf":[{"type":"integer"},{"type":"string"}],"default":80,)"
            R"("maximum":2147483647,"minimum":-2147483648,"x-kubernetes-int-or-string":true})");
  EXPECT_EQ(spec()["properties"]["memory"]["x-kubernetes-int-or-string"], Json(true));
  EXPECT_TRUE(spec()["properties"]["memory"].contains("pattern"));
  EXPECT_FALSE(spec()["properties"]["memory"].contains("type"));
  EXPECT_EQ(property("since"),
            R"({"format":"date-time","pattern":"^[0-9-]{10}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9])"
            R"((\\.[0-9]+)?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$","type":"string"})");
  EXPECT_EQ(property("wait"),
            "{\"default\":\"30s\",\"pattern\":\"^[+-]?(0|(([0-9]+(\\\\.[0-9]*)?|\\\\.[0-9]+)"
            "(ns|us|\u00b5s|\u03bcs|ms|s|m|h))+)$\",\"type\":\"string\"}");
  EXPECT_EQ(property("token"), R"({"format":"byte","type":"string"})");
}

TEST_F(RichSchema, FreeFormAndRecursionAllowAnything) {
  EXPECT_EQ(property("free"), R"({"x-kubernetes-preserve-unknown-fields":true})");
  EXPECT_EQ(
      property("loop"),
      R"({"properties":{"children":{"items":{"type":"object","x-kubernetes-preserve-unknown-fields":true},)"
      R"("type":"array"}},"type":"object"})");
}

// Regression: the type was missing, and the property of maps that keeps fields, and maps had a schema of
// their values. API servers refuse each.
TEST_F(RichSchema, AWholeObjectHasTheTypeAndKeepsItsFields) {
  EXPECT_EQ(property("config"), R"({"type":"object","x-kubernetes-embedded-resource":true,)"
                                R"("x-kubernetes-preserve-unknown-fields":true})");
  EXPECT_EQ(property("parts"), R"({"type":"object","x-kubernetes-embedded-resource":true,)"
                               R"("x-kubernetes-preserve-unknown-fields":true})");
  EXPECT_EQ(property("ship"), R"({"properties":{"kind":{"default":"Ship","type":"string"}},"type":"object",)"
                              R"("x-kubernetes-embedded-resource":true})");
}

TEST_F(RichSchema, RulesStandOnFieldsAndRecords) {
  EXPECT_EQ(
      property("nested"),
      R"({"default":{"high":2,"low":1},"properties":{"high":{"default":2,"format":"int32","type":"integer"},)"
      R"("low":{"default":1,"format":"int32","type":"integer"}},"type":"object",)"
      R"("x-kubernetes-validations":[{"message":"low is above high","rule":"self.low <= self.high"}]})");
  EXPECT_EQ(property("strict"),
            R"({"properties":{"name":{"maxLength":5,"minLength":1,"type":"string",)"
            R"("x-kubernetes-validations":[{"message":"is immutable","rule":"self == oldSelf"}]}},)"
            R"("required":["name"],"type":"object"})");
  EXPECT_EQ(spec()["x-kubernetes-validations"].dump(),
            R"([{"message":"too many","rule":"self.replicas < 10"}])");
}

// A server evaluates the rules for a default before it fills the properties in.
TEST(Schema, TheDefaultOfARecordWithRulesIsComplete) {
  const Json properties = ek::schema_of<crd_types::HoldsRuled>()["properties"];
  EXPECT_EQ(properties["ruled"]["default"].dump(),
            R"({"nested":{"high":2,"low":1},"plain":{"port":1,"protocol":"TCP"}})");
  EXPECT_EQ(properties["ruled"]["properties"]["plain"]["default"].dump(), "{}");
  EXPECT_EQ(properties["withRule"]["default"].dump(), R"({"port":1,"protocol":"TCP"})");
}

TEST_F(RichSchema, MetadataInsideOfAnObjectIsDescribed) {
  const Json metadata = spec()["properties"]["podMetadata"];
  EXPECT_EQ(metadata["properties"]["labels"].dump(),
            R"({"additionalProperties":{"type":"string"},"type":"object"})");
  EXPECT_FALSE(metadata.contains("default"));
}

TEST_F(RichSchema, StatusHasNoDefaults) {
  const Json status = ek::schema_of<Rich>()["properties"]["status"];
  EXPECT_EQ(status["properties"]["replicas"].dump(), R"({"format":"int64","type":"integer"})");
  EXPECT_FALSE(status.contains("default"));
  EXPECT_FALSE(status.contains("required"));
  EXPECT_EQ(status["properties"]["conditions"]["x-kubernetes-list-map-keys"], Json::array({"type"}));
}

TEST(Crd, CarriesTheConstantsOfTheType) {
  const Json crd = ek::crd_for<Rich>();
  EXPECT_EQ(crd["spec"]["scope"], Json("Cluster"));
  EXPECT_EQ(
      crd["spec"]["names"].dump(),
      R"({"categories":["all"],"kind":"Rich","listKind":"RichList","plural":"riches","shortNames":["ri"],)"
      R"("singular":"rich"})");
  const Json version = crd["spec"]["versions"][std::size_t{0}];
  EXPECT_EQ(version.at({"schema", "openAPIV3Schema", "description"}), Json("A rich thing."));
  EXPECT_EQ(version["additionalPrinterColumns"].dump(),
            R"([{"jsonPath":".spec.replicas","name":"Replicas","type":"integer"},)"
            R"({"description":"A note.","jsonPath":".spec.note","name":"Note","priority":1,"type":"string"},)"
            R"({"jsonPath":".metadata.creationTimestamp","name":"Age","type":"date"}])");
  EXPECT_EQ(version["subresources"]["scale"]["statusReplicasPath"], Json(".status.replicas"));
}

TEST(Crd, NeedsAGroup) {
  EXPECT_THROW(static_cast<void>(ek::crd_for<crd_types::Unnamed>()), std::invalid_argument);
}

TEST(Crd, NeedsAGroupWithADot) {
  try {
    static_cast<void>(ek::crd_for<crd_types::Dotless>());
    FAIL() << "accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "crd_for: group \"widgets\" of Dotless has no dot; the API server refuses "
                 "CustomResourceDefinitions of such groups");
  }
}

// Source: validateAPIApproval in apiextensions-apiserver, pkg/apis/apiextensions/validation/validation.go.
TEST(Crd, OfAProtectedGroupCarriesTheApprovalThatTheServerRequires) {
  const auto annotations = [](const Json& crd) { return crd.at({"metadata", "annotations"}).dump(); };
  EXPECT_EQ(annotations(ek::crd_for<crd_types::Gateway>()), R"({"api-approved.kubernetes.io":"unapproved"})");
  EXPECT_EQ(annotations(ek::crd_for<crd_types::ApprovedGateway>()),
            R"({"api-approved.kubernetes.io":"https://github.com/kubernetes-sigs/gateway-api/pull/1"})");
}

template <class T>
std::string schema_problem() {
  try {
    static_cast<void>(ek::schema_of<T>());
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "none";
}

TEST(Crd, DefaultsOfIntegersAreExact) {
  const Json properties = ek::schema_of<crd_types::Wider>()["properties"];
  EXPECT_EQ(properties["most"]["default"].dump(), "9223372036854775807");
  EXPECT_EQ(properties["exact"]["default"].dump(), "9007199254740993");
  EXPECT_EQ(properties["least"]["default"].dump(), "-9223372036854775808");
  EXPECT_EQ(properties["given"]["default"].dump(), "9223372036854775807");
}

TEST(Crd, RefusesDefaultsThatTheServerCannotHold) {
  const std::string end = " is above 9223372036854775807, the largest integer that the API server holds";
  const std::string largest = "the default 18446744073709551615" + end;
  EXPECT_EQ(schema_problem<crd_types::LargePlain>(), "schema of LargePlain: big: " + largest);
  EXPECT_EQ(schema_problem<crd_types::LargeOptional>(),
            "schema of LargeOptional: big: the default 9223372036854775808" + end);
  EXPECT_EQ(schema_problem<crd_types::LargeItem>(), "schema of LargeItem: list: " + largest);
  EXPECT_EQ(schema_problem<crd_types::LargeValue>(), "schema of LargeValue: map: " + largest);
  EXPECT_EQ(schema_problem<crd_types::LargeNested>(), "schema of LargeNested: records: " + largest);
  EXPECT_EQ(schema_problem<crd_types::LargeGiven>(), "schema of LargeGiven: big: " + largest);
  EXPECT_EQ(schema_problem<crd_types::LargeSilent>(), "none");
}

TEST(Crd, RefusesAGivenDefaultThatIsNotAValueOfTheField) {
  EXPECT_EQ(schema_problem<crd_types::GivenText>(),
            "schema of GivenText: default_to: size: expected integer, found string \"one\"");
  EXPECT_EQ(schema_problem<crd_types::GivenRubbish>().find("schema of GivenRubbish: default_to: "), 0U);
}

TEST(Crd, RefusesKeysThatTheItemsDoNotHave) {
  EXPECT_EQ(
      schema_problem<crd_types::WrongKey>(),
      "schema of WrongKey: list: list_map or match_by names the key prot, which Endpoint does not have");
}

std::string crd_problem(const ek::CrdOptions& options) {
  try {
    static_cast<void>(ek::crd_for(ek::type_info<Demo>(), options));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "none";
}

std::string column_problem(const ek::PrinterColumn& column) {
  return crd_problem({.columns = std::span(&column, 1)});
}

TEST(Crd, RefusesColumnsThatTheServerRefuses) {
  EXPECT_EQ(column_problem({.name = "Size", .type = "integer", .json_path = ".spec.size", .format = "int32"}),
            "none");
  EXPECT_EQ(column_problem({.type = "integer", .json_path = ".spec.size"}),
            "crd_for: Demo: column \"\": needs a name");
  EXPECT_EQ(
      column_problem({.name = "Size", .type = "int", .json_path = ".spec.size"}),
      "crd_for: Demo: column \"Size\": type \"int\" is not one of integer, number, string, boolean, date");
  EXPECT_EQ(column_problem({.name = "Size", .json_path = "spec.size"}),
            "crd_for: Demo: column \"Size\": json_path \"spec.size\" does not begin with a dot");
  EXPECT_EQ(
      column_problem({.name = "Size", .json_path = ".spec.size", .format = "uint8"}),
      "crd_for: Demo: column \"Size\": format \"uint8\" is not one of int32, int64, float, double, byte, "
      "date, date-time, password");
}

TEST(Crd, RefusesScalePathsThatTheServerRefuses) {
  for (const ek::ScaleSubresource& scale :
       {ek::ScaleSubresource{.spec_replicas_path = ".status.replicas"},
        ek::ScaleSubresource{.status_replicas_path = "status.replicas"},
        ek::ScaleSubresource{.label_selector_path = ".metadata.selector"}}) {
    EXPECT_EQ(crd_problem({.scale = &scale}),
              "crd_for: Demo: scale: its paths must begin with .spec. and .status.");
  }
  const ek::ScaleSubresource off{.spec_replicas_path = "none", .enabled = false};
  EXPECT_EQ(crd_problem({.scale = &off}), "none");
}

/// Checks the rules of structural schemas that the API server enforces and a generator can violate.
void check_structural(const Json& schema, const std::string& path) {
  const bool any = schema["x-kubernetes-preserve-unknown-fields"] == Json(true) ||
                   schema["x-kubernetes-int-or-string"] == Json(true);
  EXPECT_TRUE(any || schema.contains("type")) << path;
  EXPECT_FALSE(schema.contains("properties") && schema.contains("additionalProperties")) << path;
  EXPECT_FALSE(schema["type"] == Json("array") && !schema.contains("items")) << path;
  if (schema.contains("default") && schema.contains("enum")) {
    bool found = false;
    for (const Json& value : schema["enum"].as_array()) found |= value == schema["default"];
    EXPECT_TRUE(found) << path;
  }
  if (const Json* required = schema.find("required")) {
    EXPECT_FALSE(required->empty()) << path;
    for (const Json& name : required->as_array())
      EXPECT_TRUE(schema["properties"].contains(name.as_string())) << path;
  }
  if (const Json* properties = schema.find("properties")) {
    for (const auto& [name, property] : properties->as_object())
      check_structural(property, path + "." + name);
  }
  if (const Json* items = schema.find("items")) check_structural(*items, path + "[]");
  if (const Json* values = schema.find("additionalProperties")) check_structural(*values, path + "{}");
}

TEST(Crd, SchemasAreStructural) {
  check_structural(ek::schema_of<Demo>(), "Demo");
  check_structural(ek::schema_of<Rich>(), "Rich");
}

}  // namespace
