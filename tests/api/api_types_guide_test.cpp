// SPDX-License-Identifier: Apache-2.0
// The examples of docs/api-types.md, which quotes them.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/api/crd.hpp>
#include <evenkeel/api/dynamic.hpp>
#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/api/patch.hpp>
#include <evenkeel/api/quantity.hpp>
#include <evenkeel/api/selector.hpp>

namespace {

namespace ek = evenkeel;

enum class Phase { pending, ready };
EVENKEEL_ENUM(Phase, pending, (ready, "Running"))  // "Pending" and "Running"

struct Port {
  std::string name = {};
  int port = 0;
};
EVENKEEL_FIELDS(Port, (name, ek::required), (port, ek::minimum(1), ek::maximum(65535)))

struct CacheSpec {
  static constexpr ek::CelRule rules[] = {
      {.rule = "self.replicas > 0 || self.ports.size() == 0", .message = "ports need replicas"}};
  int replicas = 1;
  std::vector<Port> ports = {};
  std::optional<std::string> image = {};
  std::map<std::string, std::string> settings = {};
};
EVENKEEL_FIELDS(CacheSpec, (replicas, ek::minimum(0)), (ports, ek::list_map("name")),
                (image, ek::pattern("^[a-z0-9./:-]+$")), (settings, ek::max_items(16)))

struct CacheStatus {
  int ready_replicas = 0;  // "readyReplicas" on the wire
  Phase phase = Phase::pending;
};
EVENKEEL_FIELDS(CacheStatus, ready_replicas, phase)

struct Cache {
  static constexpr ek::ResourceInfo resource{.group = "example.com",
                                             .version = "v1",
                                             .kind = "Cache",
                                             .plural = "caches",
                                             .short_name = "ca",
                                             .installs_crd = true};
  static constexpr ek::PrinterColumn columns[] = {
      {.name = "Ready", .type = "integer", .json_path = ".status.readyReplicas"}};
  ek::ObjectMeta metadata = {};
  CacheSpec spec = {};
  CacheStatus status = {};
};
EVENKEEL_FIELDS(Cache, metadata, spec, status)

TEST(ApiTypesGuide, TheDefinitionFollowsFromTheType) {
  const ek::Json crd = ek::crd_for<Cache>();
  EXPECT_EQ(crd.at({"metadata", "name"}).as_string(), "caches.example.com");
  const ek::Json& version = crd["spec"]["versions"][0];
  const ek::Json& fields = version.at({"schema", "openAPIV3Schema", "properties"});
  EXPECT_EQ(fields.at({"spec", "properties", "replicas"}).dump(),
            R"({"default":1,"format":"int32","minimum":0,"type":"integer"})");
  EXPECT_EQ(fields.at({"spec", "properties", "ports", "x-kubernetes-list-map-keys"}).dump(), R"(["name"])");
  EXPECT_EQ(fields.at({"status", "properties", "phase"}).dump(),
            R"({"enum":["Pending","Running"],"type":"string"})");  // no defaults below the status
  EXPECT_EQ(version["subresources"].dump(),
            R"({"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.readyReplicas"},)"
            R"("status":{}})");
  EXPECT_EQ(version["additionalPrinterColumns"][1]["name"].as_string(), "Age");
}

TEST(ApiTypesGuide, JsonBecomesAnObjectAndBack) {
  const auto cache = ek::from_json<Cache>(
      R"({"metadata": {"name": "web"}, "spec": {"image": null, "unknown": [1, 2]}})", "caches/default/web");
  EXPECT_EQ(cache.spec.replicas, 1);  // absent: the initialiser stays
  EXPECT_FALSE(cache.spec.image);     // null counts as absent
  EXPECT_EQ(ek::to_json(cache.spec), R"({"replicas":1})");
  try {
    ek::from_json<Cache>(R"({"spec": {"ports": [{"port": "http"}]}})", "caches/default/web");
    FAIL() << "a port is an integer";
  } catch (const ek::DecodeError& error) {
    EXPECT_STREQ(error.what(),
                 R"(caches/default/web: spec.ports[0].port: expected integer, found string "http")");
  }
}

TEST(ApiTypesGuide, ADynamicObjectIsItsDocument) {
  const ek::ResourceId caches("example.com", "v1", "Cache", "caches");
  ek::DynamicObject object(caches, "default", "web");
  object["spec"]["replicas"] = 3;
  object["spec"]["ports"].push_back(ek::Json::object({{"name", "http"}, {"port", 80}}));
  object.set_label("team", "blue");

  const ek::DynamicObject& read = object;  // through a const reference nothing is inserted
  EXPECT_EQ(read["spec"]["replicas"].integer_or(0), 3);
  EXPECT_EQ(read["spec"]["image"].string_or("none"), "none");
  EXPECT_EQ(read.body().at({"spec", "ports", "0", "port"}).as_integer(), 80);
  EXPECT_EQ(read.label("team"), "blue");
  EXPECT_EQ(read.what(), "Cache default/web");

  const auto typed = object.as<Cache>();  // throws DecodeError if it is not one
  EXPECT_EQ(typed.spec.ports.at(0).port, 80);
}

TEST(ApiTypesGuide, PatchesAreComputedAndApplied) {
  const ek::Json before = ek::Json::parse(R"({"spec": {"replicas": 1, "image": "web:1"}})");
  const ek::Json after = ek::Json::parse(R"({"spec": {"replicas": 2}})");
  const ek::Json merge = ek::merge_patch(before, after);
  EXPECT_EQ(merge.dump(), R"({"spec":{"image":null,"replicas":2}})");
  EXPECT_EQ(ek::apply_merge_patch(before, merge), after);
  EXPECT_EQ(ek::apply_json_patch(before, ek::json_patch(before, after)), after);
  EXPECT_EQ(ek::Patch::merge(merge).type, ek::PatchType::merge);  // the body of client.patch<T>(key, patch)
}

TEST(ApiTypesGuide, AStrategicPatchChangesItemsOfLists) {
  ek::Service web{.metadata = {.name = "web"}};
  web.spec.ports = {{.name = "http", .port = 80}, {.name = "https", .port = 443}};
  const ek::Service old = web;
  web.spec.ports.at(0).target_port = 8080;
  EXPECT_EQ(ek::strategic_patch(old, web).at({"spec", "ports"}).dump(), R"([{"port":80,"targetPort":8080}])");
}

TEST(ApiTypesGuide, ATypedChangeKeepsWhatTheTypeDoesNotDeclare) {
  const ek::Json raw = ek::Json::parse(
      R"({"apiVersion": "example.com/v1", "kind": "Cache", "metadata": {"name": "web"},)"
      R"( "spec": {"replicas": 1, "ports": [{"name": "http", "port": 80, "protocol": "TCP"}]}})");
  const auto before = ek::from_tree<Cache>(raw);
  Cache after = before;
  after.spec.ports.at(0).port = 8080;
  EXPECT_EQ(ek::overlay(raw, before, after).at({"spec", "ports", "0"}).dump(),
            R"({"name":"http","port":8080,"protocol":"TCP"})");
}

TEST(ApiTypesGuide, ValuesHaveTypesOfTheirOwn) {
  EXPECT_EQ(ek::Quantity::parse("1536Mi").value(), ek::Quantity::parse("1.5Gi").value());
  EXPECT_FALSE(ek::Quantity::parse("1 GB"));
  EXPECT_EQ(ek::IntOrString("25%").scaled(10, ek::IntOrString::Round::up), 3);
  const auto selector = ek::LabelSelector::parse("app=web,tier in (a,b),!old");
  EXPECT_TRUE(selector.matches({{"app", "web"}, {"tier", "b"}}));
  const ek::Secret secret{.metadata = {.name = "tls"}, .data = {{"key", "bytes"}}};
  EXPECT_EQ(ek::to_tree(secret).at({"data", "key"}).as_string(), "Ynl0ZXM=");  // base64 on the wire only
}

}  // namespace
