// SPDX-License-Identifier: Apache-2.0
// Expectations with the name of a scenario are responses of a real kube-apiserver.
#include "apiserver/merge/managed_fields.hpp"

#include <random>

#include <gtest/gtest.h>

#include "apiserver/schema/defaults.hpp"
#include "apiserver/schema/pruning.hpp"
#include "schema_fixture.hpp"

namespace evenkeel::apiserver {
namespace {

constexpr const char* first = "2025-01-01T00:00:00Z";
constexpr const char* later = "2025-01-01T00:01:00Z";

Json config_map(std::string_view data) {
  return Json::object({{"apiVersion", "v1"},
                       {"kind", "ConfigMap"},
                       {"metadata", Json::object({{"name", "a"}})},
                       {"data", parse(data)}});
}

/// Returns an object as the server stores it.
Json stored(Json object) {
  object["metadata"]["uid"] = "u";
  object["metadata"]["namespace"] = "default";
  return object;
}

class ManagedFields : public ::testing::Test {
 protected:
  Json created(Json object, const KindSchema& kind, const std::string& manager = "u") {
    apply_defaults(object, kind);
    canonicalize(object, kind);
    track_update(Json(), object, kind, {.manager = manager, .now = first});
    return stored(std::move(object));
  }
  static Json applied(const Json& live, const Json& object, const KindSchema& kind,
                      const std::string& manager, const std::string& now = first, Force force = Force::no) {
    const ApplyResult result = apply(live, object, kind, {.manager = manager, .now = now}, force);
    EXPECT_TRUE(result.conflicts.empty());
    return result.object;
  }
  static const Json& entries(const Json& object) { return object.at({"metadata", "managedFields"}); }
  static Json fields(const Json& object, std::size_t entry) { return entries(object)[entry]["fieldsV1"]; }

  Shapes shapes;
};

TEST_F(ManagedFields, CreateOwnsWhatItSets) {
  const Json object = created(config_map(R"({"k": "v"})"), *shapes.config_map);
  EXPECT_EQ(entries(object), parse(R"([{"manager": "u", "operation": "Update", "apiVersion": "v1",
    "time": "2025-01-01T00:00:00Z", "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {".": {}, "f:k": {}}}}])"));
}

TEST_F(ManagedFields, CreateOfADeploymentOwnsDefaultsButNoStructs) {  // scenario strategic-patch
  const Json object =
      created(parse(R"({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
    "spec": {"replicas": 1, "selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}},
    "spec": {"containers": [{"name": "c", "image": "x:1", "env": [{"name": "A", "value": "1"}]}]}}}})"),
              *shapes.deployment);
  EXPECT_EQ(fields(object, 0), parse(R"({"f:spec": {"f:progressDeadlineSeconds": {}, "f:replicas": {},
    "f:revisionHistoryLimit": {}, "f:selector": {}, "f:strategy": {"f:rollingUpdate": {".": {}, "f:maxSurge": {},
    "f:maxUnavailable": {}}, "f:type": {}}, "f:template": {"f:metadata": {"f:labels": {".": {}, "f:a": {}}},
    "f:spec": {"f:containers": {"k:{\"name\":\"c\"}": {".": {}, "f:env": {".": {}, "k:{\"name\":\"A\"}": {".": {},
    "f:name": {}, "f:value": {}}}, "f:image": {}, "f:imagePullPolicy": {}, "f:name": {}, "f:resources": {},
    "f:terminationMessagePath": {}, "f:terminationMessagePolicy": {}}}, "f:dnsPolicy": {}, "f:restartPolicy": {},
    "f:schedulerName": {}, "f:securityContext": {}, "f:terminationGracePeriodSeconds": {}}}}})"));
}

TEST_F(ManagedFields, CreateOfACustomObjectOwnsItsSpec) {  // scenario create-cr-defaults
  const Json object = created(
      widget(R"({"size": 3, "free": {"x": [1, {"y": null}]}, "parts": [{"name": "a"}]})"), *shapes.widget);
  EXPECT_EQ(fields(object, 0), parse(R"({"f:spec": {".": {}, "f:color": {}, "f:free": {".": {}, "f:x": {}},
    "f:parts": {".": {}, "k:{\"name\":\"a\"}": {".": {}, "f:count": {}, "f:name": {}}}, "f:replicas": {},
    "f:size": {}}})"));
}

TEST_F(ManagedFields, UpdatesOfOneManagerShareAnEntryAndMoveItsTime) {
  const Json live = created(config_map(R"({"k": "v"})"), *shapes.config_map);
  Json object = live;
  object["data"]["n"] = "w";
  track_update(live, object, *shapes.config_map, {.manager = "u", .now = later});
  ASSERT_EQ(entries(object).size(), 1U);
  EXPECT_EQ(fields(object, 0), parse(R"({"f:data": {".": {}, "f:k": {}, "f:n": {}}})"));
  EXPECT_EQ(entries(object)[std::size_t{0}]["time"], Json(later));
}

TEST_F(ManagedFields, AnUpdateThatChangesNothingKeepsTheTime) {
  const Json live = created(config_map(R"({"k": "v"})"), *shapes.config_map);
  Json object = live;
  track_update(live, object, *shapes.config_map, {.manager = "other", .now = later});
  EXPECT_EQ(object, live);
}

TEST_F(ManagedFields, AnUpdateTakesWhatItChangesFromItsOwner) {
  const Json live = created(config_map(R"({"k": "v", "l": "v"})"), *shapes.config_map);
  Json object = live;
  object["data"]["k"] = "w";
  track_update(live, object, *shapes.config_map, {.manager = "other", .now = later});
  EXPECT_EQ(fields(object, 0), parse(R"({"f:data": {".": {}, "f:l": {}}})"));
  EXPECT_EQ(fields(object, 1), parse(R"({"f:data": {"f:k": {}}})"));
}

TEST_F(ManagedFields, RemovedFieldsBelongToNobody) {
  const Json live = created(config_map(R"({"k": "v", "l": "v"})"), *shapes.config_map);
  Json object = live;
  object["data"].erase("l");
  track_update(live, object, *shapes.config_map, {.manager = "other", .now = later});
  ASSERT_EQ(entries(object).size(), 1U);
  EXPECT_EQ(fields(object, 0), parse(R"({"f:data": {".": {}, "f:k": {}}})"));
}

TEST_F(ManagedFields, AnEmptyListResetsAndNothingIsTrackedUntilAnApply) {
  const Json live = created(config_map(R"({"k": "v"})"), *shapes.config_map);
  Json object = live;
  object["metadata"]["managedFields"] = Json::array();
  track_update(live, object, *shapes.config_map, {.manager = "u", .now = later});
  EXPECT_TRUE(entries(object).is_null());
  const Json after = applied(object, config_map(R"({"n": "x"})"), *shapes.config_map, "m", later);
  ASSERT_EQ(entries(after).size(), 2U);
  EXPECT_EQ(entries(after)[1]["manager"], Json("before-first-apply"));
}

TEST_F(ManagedFields, BrokenEntriesFromAClientAreIgnored) {
  const Json live = created(config_map(R"({"k": "v"})"), *shapes.config_map);
  Json object = live;
  object["metadata"]["managedFields"] = parse(R"([{"manager": "x", "operation": "Nonsense"}])");
  track_update(live, object, *shapes.config_map, {.manager = "u", .now = later});
  EXPECT_EQ(object, live);
}

TEST_F(ManagedFields, AStatusWriterOwnsNoSpecAndTheOthersNoStatus) {
  const Json live = created(widget(R"({"size": 3})"), *shapes.widget);
  Json object = live;
  object["spec"]["size"] = 4;
  object["status"] = parse(R"({"ready": 1})");
  Json by_status = object;
  track_update(live, by_status, *shapes.widget, {.manager = "c", .subresource = "status", .now = later});
  ASSERT_EQ(entries(by_status).size(), 2U);
  EXPECT_EQ(entries(by_status)[1]["subresource"], Json("status"));
  EXPECT_EQ(fields(by_status, 1), parse(R"({"f:status": {".": {}, "f:ready": {}}})"));
  track_update(live, object, *shapes.widget, {.manager = "c", .now = later});
  EXPECT_EQ(fields(object, 1), parse(R"({"f:spec": {"f:size": {}}})"));
}

TEST_F(ManagedFields, ScaleTakesReplicasWithoutATime) {  // scenario scale
  const Json live = created(widget(R"({"size": 3})"), *shapes.widget, "unknown");
  Json object = live;
  object["spec"]["replicas"] = 5;
  track_scale(live, object, *shapes.widget, ".spec.replicas", {.manager = "unknown", .now = later});
  ASSERT_EQ(entries(object).size(), 2U);
  const bool scale_first = entries(object)[std::size_t{0}].contains("subresource");
  const Json& scale = entries(object)[scale_first ? 0 : 1];
  EXPECT_EQ(scale, parse(R"({"apiVersion": "conformance.example.com/v1", "fieldsType": "FieldsV1",
    "fieldsV1": {"f:spec": {"f:replicas": {}}}, "manager": "unknown", "operation": "Update",
    "subresource": "scale"})"));
  EXPECT_EQ(fields(object, scale_first ? 1 : 0),
            parse(R"({"f:spec": {".": {}, "f:color": {}, "f:size": {}}})"));
}

TEST_F(ManagedFields, AppliesToAScaleDecideItsOwners) {
  const auto owners = [](const Json& entries) {
    std::string text;
    for (std::size_t i = 0; i < entries.size(); ++i)
      text += (i > 0 ? ", " : "") + entries[i]["manager"].string_or("") + " " +
              entries[i]["apiVersion"].string_or("") + " " + entries[i]["fieldsV1"].dump();
    return text;
  };
  Json object = created(widget(R"({"size": 3, "replicas": 2})"), *shapes.widget, "a");
  Json scale = scale_managers(object, ".spec.replicas");
  EXPECT_EQ(owners(scale), R"(a autoscaling/v1 {"f:spec":{"f:replicas":{}}})");
  EXPECT_EQ(scale_managers(object, ".spec.crew"), Json());
  scale[std::size_t{0}]["manager"] = "b";
  take_scale_managers(object, *shapes.widget, ".spec.replicas", scale);
  EXPECT_EQ(owners(entries(object)),
            R"(b conformance.example.com/v1 {"f:spec":{"f:replicas":{}}}, )"
            R"(a conformance.example.com/v1 {"f:spec":{".":{},"f:color":{},"f:size":{}}})");
  take_scale_managers(object, *shapes.widget, ".spec.replicas", Json());
  EXPECT_EQ(entries(object).size(), 1U);
}

TEST_F(ManagedFields, AnUntypedValueMayChangeItsType) {
  const auto kind = shapes.with_spec(R"({"type": "object", "properties": {
    "a": {"x-kubernetes-preserve-unknown-fields": true}}})");
  const auto thing = [](std::string_view a) {
    return Json::object({{"apiVersion", "test.example.com/v1"},
                         {"kind", "Thing"},
                         {"metadata", Json::object({{"name", "t"}})},
                         {"spec", Json::object({{"a", parse(a)}})}});
  };
  // The fields of the first manager, and of the second.
  const auto after = [&](std::string_view before, std::string_view then) {
    const Json live = created(thing(before), *kind);
    Json object = stored(thing(then));
    track_update(live, object, *kind, {.manager = "w", .now = later});
    return fields(object, 0).dump() + " " + fields(object, 1).dump();
  };
  EXPECT_EQ(after(R"({"p": {"q": 1}})", "3"), R"({"f:spec":{}} {"f:spec":{"f:a":{}}})");
  EXPECT_EQ(after(R"({"p": 1})", "[1]"), R"({"f:spec":{}} {"f:spec":{"f:a":{}}})");
  EXPECT_EQ(after("3", R"({"p": 1})"), R"({"f:spec":{}} {"f:spec":{"f:a":{".":{},"f:p":{}}}})");
  EXPECT_EQ(after("[1]", R"({"p": 1})"), R"({"f:spec":{}} {"f:spec":{"f:a":{".":{},"f:p":{}}}})");
  EXPECT_EQ(after(R"({"p": {"q": 1}})", R"({"p": 2})"),
            R"({"f:spec":{".":{},"f:a":{}}} {"f:spec":{"f:a":{"f:p":{}}}})");
  EXPECT_EQ(after(R"({"p": 2})", R"({"p": {"q": {"r": 1}}})"),
            R"({"f:spec":{".":{},"f:a":{}}} {"f:spec":{"f:a":{"f:p":{".":{},"f:q":{".":{},"f:r":{}}}}}})");
  EXPECT_EQ(after("3", "{}"), R"({"f:spec":{}} {"f:spec":{"f:a":{}}})");
}

TEST_F(ManagedFields, ApplyChecksTypesNoStricterThanARealServer) {
  const auto kind = shapes.with_spec(R"({"type": "object", "properties": {
    "t": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {
      "m": {"type": "object", "properties": {"x": {"type": "string"}}},
      "l": {"type": "array", "items": {"type": "object", "properties": {"x": {"type": "string"}}}},
      "e": {"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"x": {"type": "string"}}},
      "v": {"type": "object", "additionalProperties": {"type": "object", "properties": {"x": {"type": "string"}}}}}},
    "k": {"type": "array", "x-kubernetes-preserve-unknown-fields": true,
      "items": {"type": "object", "properties": {"x": {"type": "string"}}}},
    "o": {"type": "object"}, "port": {"x-kubernetes-int-or-string": true},
    "time": {"type": "string", "format": "date-time"}, "byte": {"type": "string", "format": "byte"},
    "closed": {"type": "object", "properties": {"x": {"type": "string"}}}}})");
  const auto problem = [&](std::string_view spec) -> std::string {
    try {
      apply(Json(),
            Json::object({{"apiVersion", "test.example.com/v1"},
                          {"kind", "Thing"},
                          {"metadata", Json::object({{"name", "t"}})},
                          {"spec", parse(spec)}}),
            *kind, {.manager = "m", .now = first}, Force::no);
    } catch (const ApplyError& error) {
      const std::string what = error.what();
      return what.substr(what.find("): ") + 3);
    }
    return "";
  };
  for (const char* accepted : {R"({"t": {"m": {"x": "1", "zz": {"y": 1}}}})", R"({"t": {"l": [{"zz": 1}]}})",
                               R"({"t": {"v": {"a": {"zz": 1}}}})", R"({"t": {"e": {"kind": "X", "zz": 1}}})",
                               R"({"k": [{"zz": 1}]})", R"({"o": {"a": {"b": 1}}})", R"({"port": ["a"]})",
                               R"({"port": {"a": 1}})", R"({"time": 5})", R"({"time": true})"})
    EXPECT_EQ(problem(accepted), "") << accepted;
  EXPECT_EQ(problem(R"({"t": {"m": {"x": 1}}})"), ".spec.t.m.x: expected a string, got 1");
  EXPECT_EQ(problem(R"({"t": {"e": {"metadata": {"zz": 1}}}})"),
            ".spec.t.e.metadata.zz: field not declared in schema");
  EXPECT_EQ(problem(R"({"time": ["a"]})"), ".spec.time: expected a scalar, got an array");
  EXPECT_EQ(problem(R"({"byte": 5})"), ".spec.byte: expected a string, got 5");
  EXPECT_EQ(problem(R"({"closed": {"zz": 1}})"), ".spec.closed.zz: field not declared in schema");
}

TEST_F(ManagedFields, TheOldestUpdatesAreMergedBeyondTen) {
  Json live = created(config_map(R"({"k": "v"})"), *shapes.config_map);
  for (int i = 0; i < 15; ++i) {
    Json object = live;
    object["data"]["k" + std::to_string(i)] = "v";
    track_update(
        live, object, *shapes.config_map,
        {.manager = "m" + std::to_string(i), .now = "2025-01-02T00:00:" + std::to_string(10 + i) + "Z"});
    live = object;
  }
  EXPECT_EQ(entries(live).size(), 10U);
  EXPECT_EQ(entries(live)[std::size_t{0}]["manager"], Json("ancient-changes"));
}

TEST_F(ManagedFields, TimesAloneAreNoChange) {
  const Json live = created(config_map(R"({"k": "v"})"), *shapes.config_map);
  Json object = live;
  object["metadata"]["managedFields"][std::size_t{0}]["time"] = later;
  Json changed = object;
  changed["data"]["k"] = "w";
  ignore_time_only_changes(live, object);
  EXPECT_EQ(object, live);
  ignore_time_only_changes(live, changed);
  EXPECT_EQ(changed["metadata"]["managedFields"][std::size_t{0}]["time"], Json(later));
}

TEST_F(ManagedFields, NamesTheManagerByUserAgent) {
  EXPECT_EQ(default_manager("kubectl/v1.32 (linux)"), "kubectl");
  EXPECT_EQ(default_manager(""), "unknown");
  EXPECT_EQ(default_manager("/x"), "unknown");
  EXPECT_EQ(default_manager(std::string(200, 'a')).size(), 128U);
}

TEST_F(ManagedFields, ApplyCreatesAndApplyingAgainChangesNothing) {  // scenario apply-create
  Json live = stored(applied(Json(), config_map(R"({"k": "v"})"), *shapes.config_map, "m1"));
  EXPECT_EQ(entries(live), parse(R"([{"manager": "m1", "operation": "Apply", "apiVersion": "v1",
    "time": "2025-01-01T00:00:00Z", "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:k": {}}}}])"));
  EXPECT_EQ(applied(live, config_map(R"({"k": "v"})"), *shapes.config_map, "m1", later), live);
}

TEST_F(ManagedFields,
       ApplyConflictsWithOwnersOfOtherValues) {  // scenarios apply-conflict, apply-after-update
  const Json live = stored(applied(Json(), config_map(R"({"k": "v"})"), *shapes.config_map, "m1"));
  const ApplyResult result = apply(live, config_map(R"({"k": "w"})"), *shapes.config_map,
                                   {.manager = "m2", .now = later}, Force::no);
  EXPECT_EQ(describe(result.conflicts), "Apply failed with 1 conflict: conflict with \"m1\": .data.k");
  EXPECT_EQ(causes(result.conflicts),
            parse(R"([{"reason": "FieldManagerConflict", "message": "conflict with \"m1\"",
    "field": ".data.k"}])"));
  const Json updated = created(config_map(R"({"k": "v", "l": "v"})"), *shapes.config_map);
  const ApplyResult several = apply(updated, config_map(R"({"k": "w", "l": "w"})"), *shapes.config_map,
                                    {.manager = "m2", .now = later}, Force::no);
  EXPECT_EQ(describe(several.conflicts),
            "Apply failed with 2 conflicts: conflicts with \"u\" using v1:\n- .data.k\n- .data.l");
}

TEST_F(ManagedFields, ForceTakesTheFields) {  // scenario apply-conflict
  const Json live = stored(applied(Json(), config_map(R"({"k": "v"})"), *shapes.config_map, "m1"));
  const Json after = applied(live, config_map(R"({"k": "w"})"), *shapes.config_map, "m2", later, Force::yes);
  ASSERT_EQ(entries(after).size(), 1U);
  EXPECT_EQ(entries(after)[std::size_t{0}]["manager"], Json("m2"));
  EXPECT_EQ(after["data"]["k"], Json("w"));
}

TEST_F(ManagedFields, FieldsNoLongerAppliedGoUnlessAnotherHasThem) {  // scenario apply-remove
  Json live = stored(applied(Json(), config_map(R"({"k": "v", "l": "v"})"), *shapes.config_map, "m1"));
  live = applied(live, config_map(R"({"l": "v"})"), *shapes.config_map, "m2", later);
  ASSERT_EQ(entries(live).size(), 2U);
  const bool m2_first = entries(live)[std::size_t{0}]["manager"] == Json("m2");
  EXPECT_FALSE(entries(live)[m2_first ? 0 : 1].contains("time"));  // it changed nothing
  live = applied(live, config_map(R"({"m": "v"})"), *shapes.config_map, "m1", later);
  EXPECT_EQ(live["data"], parse(R"({"l": "v", "m": "v"})"));
  EXPECT_EQ(fields(live, 0), parse(R"({"f:data": {"f:l": {}}})"));
  EXPECT_EQ(fields(live, 1), parse(R"({"f:data": {"f:m": {}}})"));
}

TEST_F(ManagedFields, ListsMergeByTheirType) {  // scenario apply-cr-lists
  const KindSchema& kind = *shapes.widget;
  Json live = applied(Json(), widget(R"({"size": 3, "parts": [{"name": "a", "count": 2}], "tags": ["x"]})"),
                      kind, "m1");
  apply_defaults(live, kind);
  live = stored(live);
  live = applied(live, widget(R"({"parts": [{"name": "b"}], "tags": ["y"]})"), kind, "m2", later);
  apply_defaults(live, kind);
  EXPECT_EQ(live["spec"],
            parse(R"({"color": "red", "parts": [{"count": 2, "name": "a"}, {"count": 1, "name": "b"}],
    "replicas": 1, "size": 3, "tags": ["x", "y"]})"));
  EXPECT_EQ(fields(live, 1), parse(R"({"f:spec": {"f:parts": {"k:{\"name\":\"b\"}": {".": {}, "f:name": {}}},
    "f:tags": {"v:\"y\"": {}}}})"));
  live = applied(live, widget(R"({"size": 3})"), kind, "m1", "2025-01-01T00:02:00Z");
  EXPECT_EQ(live["spec"],
            parse(R"({"color": "red", "parts": [{"count": 1, "name": "b"}], "replicas": 1, "size": 3,
    "tags": ["y"]})"));
  EXPECT_EQ(entries(live)[1]["manager"], Json("m1"));
  EXPECT_EQ(fields(live, 1), parse(R"({"f:spec": {"f:size": {}}})"));
}

TEST_F(ManagedFields, KubectlTakesOverWhatItsClientSideApplySet) {
  Json object = config_map(R"({"k": "v"})");
  const std::string last = object.dump();
  object["metadata"]["annotations"] =
      Json::object({{"kubectl.kubernetes.io/last-applied-configuration", last}});
  const Json live = created(object, *shapes.config_map, "kubectl-client-side-apply");
  const Json after = applied(live, config_map(R"({"k": "w"})"), *shapes.config_map, "kubectl", later);
  EXPECT_EQ(after["data"]["k"], Json("w"));
  const std::string annotation =
      after.at({"metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"}).string_or("");
  EXPECT_EQ(parse(annotation)["data"]["k"], Json("w"));
  const Json escaped =
      applied(live, config_map("{\"k\": \"<1 & \u2028\u202ex\"}"), *shapes.config_map, "kubectl", later);
  EXPECT_EQ(escaped.at({"metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"}),
            Json("{\"apiVersion\":\"v1\",\"data\":{\"k\":\"\\u003c1 \\u0026 \\u2028\u202ex\"},"
                 "\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"}}\n"));
  EXPECT_FALSE(
      apply(live, config_map(R"({"k": "w"})"), *shapes.config_map, {.manager = "x", .now = later}, Force::no)
          .conflicts.empty());
}

TEST_F(ManagedFields, ApplyRefusesWhatItCannotUse) {  // scenario apply-bad
  const auto problem = [&](Json object, const KindSchema& kind) -> std::string {
    try {
      apply(Json(), object, kind, {.manager = "m", .now = first}, Force::no);
    } catch (const ApplyError& error) {
      return std::to_string(error.code()) + " " + error.what();
    }
    return "";
  };
  Json with_managers = config_map("{}");
  with_managers["metadata"]["managedFields"] = parse(R"([{"manager": "x"}])");
  EXPECT_EQ(problem(with_managers, *shapes.config_map), "400 metadata.managedFields must be nil");
  EXPECT_EQ(problem(parse(R"({"metadata": {"name": "a"}})"), *shapes.config_map),
            "400 invalid object type: /, Kind=");
  Json unknown = config_map("{}");
  unknown["unknown"] = 1;
  EXPECT_EQ(problem(unknown, *shapes.config_map),
            "500 failed to create typed patch object (/a; /v1, Kind=ConfigMap): .unknown: field not declared "
            "in schema");
  EXPECT_EQ(problem(widget(R"({"size": "x", "tags": ["a", "a"]})"), *shapes.widget),
            "500 failed to create typed patch object (/w; conformance.example.com/v1, Kind=Widget): errors:\n"
            "  .spec.size: expected a number, got \"x\"\n"
            "  .spec.tags: duplicate entries for key [=\"a\"]");
}

/// Random specs, applied by random managers.
class RandomSpec {
 public:
  explicit RandomSpec(unsigned seed) : random_(seed) {}
  int pick(int limit) { return std::uniform_int_distribution<int>(0, limit - 1)(random_); }
  Json make() {
    Json spec = Json::object();
    if (pick(2) == 0) spec["size"] = 1 + pick(2);
    if (pick(2) == 0) spec["label"] = std::string(1, static_cast<char>('a' + pick(2)));
    if (pick(2) == 0) spec["settings"][std::string(1, static_cast<char>('a' + pick(3)))] = "v";
    for (const char* tag : {"x", "y", "z"}) {
      if (pick(2) == 0) add(spec["tags"], Json(tag));
    }
    for (const char* name : {"p", "q", "r"}) {
      if (pick(2) == 0) continue;
      Json part = Json::object({{"name", name}});
      if (pick(2) == 0) part["count"] = pick(3);
      add(spec["parts"], part);
    }
    if (pick(3) == 0) spec["steps"] = Json::array({pick(2) == 0 ? "a" : "b", "c"});
    if (pick(3) == 0) spec["free"] = parse(R"({"a": {"b": 1}})");
    return spec;
  }

 private:
  static void add(Json& list, Json item) {
    if (list.is_null()) list = Json::array();
    list.push_back(std::move(item));
  }
  std::mt19937 random_;
};

TEST_F(ManagedFields, ApplyingTwiceIsApplyingOnceWhateverOthersDid) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    RandomSpec random(seed);
    Json live = created(widget(R"({"size": 1})"), *shapes.widget);
    for (int i = 0; i < 6; ++i) {
      const std::string manager = "m" + std::to_string(random.pick(3));
      Json object = widget(random.make().dump());
      const Json once = applied(live, object, *shapes.widget, manager, later, Force::yes);
      const Json twice = applied(once, object, *shapes.widget, manager, "2030-01-01T00:00:00Z", Force::no);
      EXPECT_EQ(twice, once);
      // The object contains the applied fields.
      EXPECT_TRUE(
          compare(once, merge_by_schema(once, object, shapes.widget->root()), shapes.widget->root()).same());
      live = once;
    }
  }
}

TEST_F(ManagedFields, AnApplierThatGivesUpEverythingLeavesWhatOthersOwn) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    RandomSpec random(seed);
    const Json base = widget(random.make().dump());
    Json live = stored(applied(Json(), base, *shapes.widget, "base"));
    live = applied(live, widget(random.make().dump()), *shapes.widget, "guest", later, Force::yes);
    Json nothing = widget("{}");
    nothing.erase("spec");
    live = applied(live, nothing, *shapes.widget, "guest", later, Force::yes);
    for (std::size_t i = 0; i < entries(live).size(); ++i)
      EXPECT_NE(entries(live)[i]["manager"], Json("guest"));
    // Fields that still have an owner still exist in the object.
    const Schema& root = shapes.widget->root();
    const FieldSet present = fields_of(live, root).united(fields_of(live, root).with_named_parents(&root));
    for (std::size_t i = 0; i < entries(live).size(); ++i) {
      for (const FieldPath& path : FieldSet::from_json(fields(live, i)).paths())
        EXPECT_TRUE(present.has(path)) << describe(path);
    }
  }
}

}  // namespace
}  // namespace evenkeel::apiserver
