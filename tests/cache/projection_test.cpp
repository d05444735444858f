// SPDX-License-Identifier: Apache-2.0
// Projections on described structs: what they select, and objects that keep no more.
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/dynamic.hpp>
#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/json.hpp>
#include <evenkeel/api/kinds/pods.hpp>
#include <evenkeel/cache/informer.hpp>
#include <evenkeel/cache/projection.hpp>
#include <evenkeel/cache/wire_object.hpp>

#include "random_json.hpp"

namespace evenkeel {
namespace projection_tests {

struct PlacementSpec {
  std::string node_name;
};
EVENKEEL_FIELDS(PlacementSpec, node_name)

struct Placement {
  static constexpr ResourceInfo resource = Pod::resource;
  ObjectMeta metadata = {};
  PlacementSpec spec = {};
};
EVENKEEL_FIELDS(Placement, metadata, spec)

struct Security {
  std::optional<bool> run_as_non_root;
};
EVENKEEL_FIELDS(Security, run_as_non_root)

struct NamedContainer {
  std::string name;
};
EVENKEEL_FIELDS(NamedContainer, name)

struct AuditSpec {
  std::optional<Security> security_context;
  std::vector<NamedContainer> containers;
  std::map<std::string, NamedContainer> by_name;
  Json affinity;
};
EVENKEEL_FIELDS(AuditSpec, security_context, containers, by_name, affinity)

struct Audit {
  static constexpr ResourceInfo resource = Pod::resource;
  ObjectMeta metadata = {};
  AuditSpec spec = {};
};
EVENKEEL_FIELDS(Audit, metadata, spec)

namespace {

using ::testing::HasSubstr;

template <class T>
WireObject scan(std::string_view text) {
  return WireScanner({.form = WireForm::projected,
                      .projection = Projection::of<T>(),
                      .api_version = "v1",
                      .kind = "Pod"})
      .object(text);
}

template <class T>
std::string kept(std::string_view text) {
  return std::string(scan<T>(text).raw());
}

template <class F>
std::string error_of(F call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

TEST(Projection, CoversWhatHasNoMoreMembers) {
  const auto placement = Projection::of<Placement>();
  const auto audit = Projection::of<Audit>();
  const auto pod = Projection::of<Pod>();
  EXPECT_TRUE(pod.covers(placement));
  EXPECT_FALSE(placement.covers(pod));
  EXPECT_FALSE(placement.covers(audit));
  EXPECT_TRUE(placement.covers(Projection()));
  EXPECT_FALSE(Projection().covers(placement));
  const auto both = placement.with(audit);
  EXPECT_TRUE(both.covers(placement));
  EXPECT_TRUE(both.covers(audit));
  EXPECT_EQ(both, audit.with(placement));
  EXPECT_EQ(both.with(audit), both);
  EXPECT_FALSE(both.covers(pod));
}

TEST(KeptParts, ServeThoseWhoNeedNoMore) {
  const KeptParts metadata{.form = WireForm::metadata_only};
  const KeptParts whole;
  const KeptParts compressed{.form = WireForm::compressed};
  const KeptParts placement{.form = WireForm::projected, .projection = Projection::of<Placement>()};
  const KeptParts audit{.form = WireForm::projected, .projection = Projection::of<Audit>()};
  EXPECT_TRUE(placement.serve(metadata));
  EXPECT_TRUE(compressed.serve(whole));
  EXPECT_TRUE(whole.serve(audit));
  EXPECT_FALSE(placement.serve(whole));
  EXPECT_FALSE(placement.serve(compressed));
  EXPECT_FALSE(placement.serve(audit));
  EXPECT_FALSE(metadata.serve(placement));
  EXPECT_EQ(metadata.with(placement), placement);
  EXPECT_EQ(placement.with(metadata), placement);
  EXPECT_EQ(placement.with(compressed), compressed);
  EXPECT_EQ(compressed.with(whole), compressed);
  EXPECT_TRUE(placement.with(audit).serve(placement));
  EXPECT_TRUE(placement.with(audit).serve(audit));
}

TEST(ProjectedObject, KeepsTheMembersOfTheStruct) {
  const WireObject pod = scan<Placement>(
      R"({"metadata":{"name":"a","uid":"u","labels":{"app":"web"},"managedFields":[{}]},)"
      R"("spec":{"containers":[{"name":"c"}],"nodeName":"n-1","volumes":[]},"status":{"phase":"Running"}})");
  EXPECT_EQ(pod.raw(),
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","uid":"u","labels":{"app":"web"}},)"
            R"("spec":{"nodeName":"n-1"}})");
  EXPECT_EQ(pod.form(), WireForm::projected);
  EXPECT_EQ(pod.label("app"), "web");
  EXPECT_EQ(pod.uid(), "u");
  EXPECT_EQ(pod.decode<Placement>()->spec.node_name, "n-1");
  EXPECT_EQ(pod.decode<PartialObject>()->metadata.labels.at("app"), "web");
}

TEST(ProjectedObject, TakesTheCommaOfAMemberWithIt) {
  EXPECT_EQ(kept<Placement>(R"({"a":1,"b":{},"metadata":{"name":"n"},"spec":{"x":1,"y":2}})"),
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"n"},"spec":{}})");
  EXPECT_EQ(kept<Placement>(R"({"spec":{"x":1,"nodeName":"m","y":2,"z":3},"metadata":{"name":"n"}})"),
            R"({"apiVersion":"v1","kind":"Pod","spec":{"nodeName":"m"},"metadata":{"name":"n"}})");
  EXPECT_EQ(
      kept<Placement>(R"({"spec":{"nodeName":"m","y":[1,{"a":","}]},"metadata":{"name":"n"},"b":1,"c":2})"),
      R"({"apiVersion":"v1","kind":"Pod","spec":{"nodeName":"m"},"metadata":{"name":"n"}})");
  EXPECT_EQ(kept<Placement>(R"({ "x" : 1 , "y" : 2 , "metadata" : { "name" : "n" } , "z" : 3 })"),
            R"({"apiVersion":"v1","kind":"Pod", "metadata" : { "name" : "n" } })");
  EXPECT_EQ(kept<Placement>(R"({"metadata":{"managedFields":[],"name":"n","selfLink":"x"},"x":1})"),
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"n","selfLink":"x"}})");
}

TEST(ProjectedObject, FindsItsMetadataBehindWhatIsLeftOut) {
  const WireObject pod = scan<Placement>(
      R"({"status":{"phase":"Running"},"spec":{"x":1,"nodeName":"m"},"metadata":{"name":"n","namespace":"s",)"
      R"("managedFields":[1],"labels":{"k":"v"},"resourceVersion":"7"},"z":1,"kind":"Pod","apiVersion":"v1"})");
  EXPECT_EQ(pod.name(), "n");
  EXPECT_EQ(pod.namespace_(), "s");
  EXPECT_EQ(pod.label("k"), "v");
  EXPECT_EQ(pod.resource_version(), "7");
  EXPECT_EQ(pod.kind(), "Pod");
  EXPECT_EQ(pod.api_version(), "v1");
}

TEST(ProjectedObject, ReadsEscapedNamesOfMembers) {
  EXPECT_EQ(kept<Placement>(R"({"metadata":{"name":"n"},"sp\u0065c":{"node\u004eame":"m","\u0061":1}})"),
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"n"},"sp\u0065c":{"node\u004eame":"m"}})");
}

TEST(ProjectedObject, KeepsListsMapsAndJsonWhole) {
  const char* const spec =
      R"("spec":{"securityContext":{"runAsNonRoot":true},"containers":[{"name":"c","image":"i"}],)"
      R"("byName":{"a":{"name":"b","other":1}},"affinity":{"x":{"y":1}}})";
  const std::string text = std::string(R"({"metadata":{"name":"n"},)") + spec + "}";
  EXPECT_THAT(kept<Audit>(text), HasSubstr(spec));
  EXPECT_THAT(kept<Audit>(R"({"metadata":{"name":"n"},"spec":{"securityContext":{"fsGroup":1}}})"),
              HasSubstr(R"("spec":{"securityContext":{}})"));
}

TEST(ProjectedObject, LeavesWrongTypesToTheReader) {
  const WireObject pod = scan<Placement>(R"({"metadata":{"name":"n"},"spec":[1]})");
  EXPECT_THAT(error_of([&] { pod.decode<Placement>(); }), HasSubstr("spec"));
  EXPECT_EQ(scan<Placement>(R"({"metadata":{"name":"n"},"spec":null})").decode<Placement>()->spec.node_name,
            "");
}

TEST(ProjectedObject, RefusesReadersWhoNeedMore) {
  const WireObject pod = scan<Placement>(R"({"metadata":{"name":"n","namespace":"s"},"spec":{}})");
  EXPECT_EQ(error_of([&] { pod.decode<Pod>(); }),
            "Pod s/n: the cache keeps a projection that does not have every member of Pod");
  EXPECT_EQ(error_of([&] { pod.decode<DynamicObject>(); }),
            "Pod s/n: the cache keeps a projection, which is not the whole object");
  EXPECT_EQ(
      scan<Pod>(R"({"metadata":{"name":"n"},"spec":{"nodeName":"m"}})").decode<Placement>()->spec.node_name,
      "m");
}

TEST(ProjectedObject, SkipsWhatIsNestedTooDeeply) {
  const std::string deep = std::string(10'000, '[') + std::string(10'000, ']');
  EXPECT_EQ(kept<Placement>(R"({"more":)" + deep + R"(,"metadata":{"name":"n"},"spec":{"x":)" + deep + "}}"),
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"n"},"spec":{}})");
}

/// Returns the object without what the struct does not have.
Json pruned(Json object) {
  Json result = Json::object({{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", object["metadata"]}});
  result["metadata"].erase("managedFields");
  const Json& spec = std::as_const(object)["spec"];
  if (object.find("spec") == nullptr) return result;
  if (!spec.is_object()) {
    result["spec"] = spec;
    return result;
  }
  result["spec"] = Json::object();
  if (const Json* node = spec.find("nodeName")) result["spec"]["nodeName"] = *node;
  return result;
}

TEST(ProjectedObject, EqualsThePrunedDocument) {
  std::mt19937 random(20261123);
  const std::vector<std::string> names = {"spec", "status", "a", "\\u0062", "nodeName", "spec2"};
  for (int round = 0; round < 2000; ++round) {
    const auto pick = [&random](std::size_t count) { return random() % count; };
    const auto member = [&](const std::string& name, const std::string& value) {
      const std::string space(pick(3), ' ');
      return space + "\"" + name + "\"" + space + ":" + space + value + space;
    };
    const auto object = [](const std::vector<std::string>& members) {
      std::string text = "{";
      for (const std::string& one : members) text.append(text.size() > 1 ? "," : "").append(one);
      return text + "}";
    };
    std::vector<std::string> inner;
    for (std::size_t i = pick(4); i > 0; --i)
      inner.push_back(member(names[pick(names.size())], "[1,{\"b\":\",}\"}]"));
    std::vector<std::string> metadata = {member("name", "\"n\"")};
    if (pick(2) == 0) metadata.push_back(member("managedFields", "[{}]"));
    std::shuffle(metadata.begin(), metadata.end(), random);
    std::vector<std::string> outer = {member("metadata", object(metadata)), member("spec", object(inner))};
    for (std::size_t i = pick(4); i > 0; --i) outer.push_back(member(names[1 + pick(4)], "{\"x\":[]}"));
    std::shuffle(outer.begin(), outer.end(), random);
    const std::string text = object(outer);
    EXPECT_EQ(Json::parse(kept<Placement>(text)), pruned(Json::parse(text))) << text;
  }
}

}  // namespace
}  // namespace projection_tests
}  // namespace evenkeel
