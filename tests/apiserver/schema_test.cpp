// SPDX-License-Identifier: Apache-2.0
#include "apiserver/schema/schema.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "apiserver/schema/defaults.hpp"
#include "schema_fixture.hpp"

namespace evenkeel::apiserver {
namespace {

TEST(BuiltinData, ListsGroupVersionsWithTheirResources) {
  BuiltinData data;
  ASSERT_GE(data.group_versions().size(), 17U);
  EXPECT_EQ(data.group_versions().front().api_version(), "v1");
  const BuiltinGroupVersion* apps = data.find("apps", "v1");
  ASSERT_NE(apps, nullptr);
  const auto named = [&](std::string_view name) {
    return std::find_if(apps->resources.begin(), apps->resources.end(),
                        [&](const BuiltinResource& resource) { return resource.name == name; });
  };
  ASSERT_NE(named("deployments"), apps->resources.end());
  EXPECT_EQ(named("deployments")->short_names, std::vector<std::string>{"deploy"});
  EXPECT_EQ(named("deployments")->categories, std::vector<std::string>{"all"});
  EXPECT_TRUE(named("deployments")->namespaced);
  EXPECT_EQ(named("deployments/scale")->kind_group, "autoscaling");
  EXPECT_EQ(data.find("apps", "v9"), nullptr);
}

TEST(BuiltinData, KnowsTheTypeOfEveryServedKind) {
  BuiltinData data;
  for (const BuiltinGroupVersion& group_version : data.group_versions()) {
    for (const BuiltinResource& resource : group_version.resources) {
      if (!resource.kind_version.empty() || resource.name.find('/') != std::string::npos) continue;
      const auto type = data.type_of(group_version.group, group_version.version, resource.kind);
      EXPECT_FALSE(type.empty()) << resource.kind;
      EXPECT_TRUE(data.type(type).is_object()) << type;
    }
  }
  EXPECT_TRUE(data.type("no.such.Type").is_null());
}

TEST(SchemaCatalog, ResolvesReferencesWithWhatStandsBesideThem) {
  Shapes shapes;
  const Schema& root = shapes.deployment->root();
  const Schema* spec = root.property("spec");
  ASSERT_NE(spec, nullptr);
  EXPECT_TRUE(spec->always_written);
  EXPECT_TRUE(spec->is_required("selector"));
  EXPECT_TRUE(spec->property("strategy")->patch_retain_keys);
  EXPECT_EQ(spec->property("selector")->map_type, MapType::atomic);
  EXPECT_FALSE(spec->property("selector")->always_written);
  const Schema* containers = spec->property("template")->property("spec")->property("containers");
  EXPECT_EQ(containers->list_type, ListType::map);
  EXPECT_EQ(containers->merge_key, "name");
  EXPECT_EQ(containers->items->property("ports")->list_keys,
            (std::vector<std::string>{"containerPort", "protocol"}));
  EXPECT_TRUE(shapes.deployment->status_subresource);
  EXPECT_FALSE(shapes.config_map->status_subresource);
}

TEST(SchemaCatalog, ResolvesTypesThatContainThemselves) {
  Shapes shapes;
  const auto crd = shapes.catalog.builtin("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
  ASSERT_NE(crd, nullptr);
  const Schema* version = crd->root().property("spec")->property("versions")->items;
  const Schema* props = version->property("schema")->property("openAPIV3Schema");
  const Schema* below = props->property("properties")->additional;
  ASSERT_NE(below, nullptr);
  EXPECT_NE(below->property("properties"), nullptr);
  EXPECT_EQ(below->property("not")->property("type")->type, SchemaType::string);
}

TEST(SchemaCatalog, KeepsShapesAliveBeyondItself) {
  std::shared_ptr<const KindSchema> kind;
  {
    SchemaCatalog catalog;
    kind = catalog.custom(widget_kind());
  }
  EXPECT_EQ(kind->root().property("metadata")->property("labels")->additional->type, SchemaType::string);
}

TEST(SchemaCatalog, HasNoShapeForUnknownKinds) {
  SchemaCatalog catalog;
  EXPECT_EQ(catalog.builtin("apps", "v1", "Nothing"), nullptr);
}

TEST(BuiltinSchemasConcurrency, AreReadOnceForAllServers) {
  constexpr std::size_t threads = 4;
  std::array<std::map<std::string, const Schema*>, threads> roots;
  const auto read_all = [](std::map<std::string, const Schema*>& found) {
    SchemaCatalog catalog;
    for (const BuiltinGroupVersion& group_version : catalog.data().group_versions()) {
      for (const BuiltinResource& resource : group_version.resources) {
        const auto kind = catalog.builtin(group_version.group, group_version.version, resource.kind);
        if (!kind) continue;
        EXPECT_FALSE(kind->root().properties.empty()) << resource.kind;
        found[group_version.api_version() + " " + resource.kind] = &kind->root();
      }
    }
  };
  {
    std::vector<std::jthread> readers;
    for (auto& found : roots) readers.emplace_back(read_all, std::ref(found));
  }
  EXPECT_GE(roots[0].size(), 50U);
  for (const auto& found : roots) EXPECT_EQ(found, roots[0]);
}

TEST(ZeroValue, IsWhatAnEmptyGoStructIs) {
  Shapes shapes;
  EXPECT_EQ(zero_value(shapes.deployment->root()), parse(R"({"metadata": {}, "spec": {"selector": null,
    "strategy": {}, "template": {"metadata": {}, "spec": {"containers": null}}}, "status": {}})"));
  EXPECT_EQ(zero_value(shapes.config_map->root()), parse(R"({"metadata": {}})"));
}

TEST(FieldErrors, HaveTheTextsOfTheServer) {
  EXPECT_EQ(field_required("spec.size").text(), "spec.size: Required value");
  EXPECT_EQ(field_invalid("a", Json("x"), "no").text(), "a: Invalid value: \"x\": no");
  EXPECT_EQ(field_not_supported("a", Json("x"), {Json("b"), Json(1)}).message,
            "Unsupported value: \"x\": supported values: \"b\", \"1\"");
  EXPECT_EQ(field_too_long("a", 1).message, "Too long: may not be more than 1 byte");
  EXPECT_EQ(field_too_many("a", 3, 2).message, "Too many: 3: must have at most 2 items");
  EXPECT_EQ(field_duplicate("a", parse(R"({"name":"a"})")).message, "Duplicate value: {\"name\":\"a\"}");
  EXPECT_EQ(field_forbidden("a", "why").message, "Forbidden: why");
  EXPECT_EQ(describe({field_required("a"), field_required("b")}), "[a: Required value, b: Required value]");
  EXPECT_EQ(causes({field_required("a")}),
            parse(R"([{"reason": "FieldValueRequired", "message": "Required value", "field": "a"}])"));
}

TEST(Structural, TellsWhatASchemaMayNotSay) {
  const auto problems = [](std::string_view schema) {
    std::string text;
    for (const FieldError& error : check_structural(parse(schema), "s")) text += error.text() + "\n";
    return text;
  };
  EXPECT_EQ(problems(widget_kind().schema.dump()), "");
  EXPECT_EQ(problems("{}"), "s.type: Required value: must not be empty at the root\n");
  EXPECT_EQ(problems(R"({"type": "object", "properties": {"a": {}}})"),
            "s.properties[a].type: Required value: must not be empty for specified object fields\n");
  EXPECT_EQ(problems(R"({"type": "object", "properties": {"a": {"type": "array"}}})"),
            "s.properties[a].items: Required value: must be specified\n");
  EXPECT_EQ(
      problems(R"({"type": "object", "properties": {"a": {"type": "array", "x-kubernetes-list-type": "map",
    "items": {"type": "object", "properties": {"n": {"type": "string"}}}, "x-kubernetes-list-map-keys": ["n"]}}})"),
      "s.properties[a].items.properties[n].default: Required value: this property is in "
      "x-kubernetes-list-map-keys, so it must have a default or be a required property\n");
}

// The texts are those of a server of 1.36.
TEST(Structural, DefaultsObeyTheRulesOfTheirSchema) {
  const auto problems = [](const std::string& property) {
    std::string text;
    const Json schema = parse(R"({"type": "object", "properties": {"a": )" + property + "}}");
    for (const FieldError& error : check_structural(schema, "s")) text += error.text();
    return text;
  };
  const auto number = [](const std::string& rule) {
    return R"({"type": "integer", "default": 7, "x-kubernetes-validations": [{"rule": ")" + rule + R"("}]})";
  };
  EXPECT_EQ(problems(number("self > 5")), "");
  EXPECT_EQ(problems(number("self < 5")), "s.properties[a].default: Invalid value: 7: failed rule: self < 5");
  EXPECT_EQ(problems(number("self == oldSelf")), "");
  EXPECT_EQ(problems(number("self < oldSelf")),
            "s.properties[a].default: Invalid value: 7: failed rule: self < oldSelf");
  const auto object = [&number](const std::string& standard) {
    return R"({"type": "object", "default": )" + standard + R"(, "properties": {"n": )" + number("self > 5") +
           R"(, "m": {"type": "integer"}}, "x-kubernetes-validations": [{"rule": "self.n > self.m"}]})";
  };
  EXPECT_EQ(problems(object(R"({"n": 8, "m": 7})")), "");
  EXPECT_EQ(problems(object(R"({"n": 6, "m": 7})")),
            "s.properties[a].default: Invalid value: failed rule: self.n > self.m");
  EXPECT_EQ(problems(object(R"({"n": 4, "m": 3})")),
            "s.properties[a].default.n: Invalid value: 4: failed rule: self > 5");
  EXPECT_EQ(problems(object("{}")),
            "s.properties[a].default: Invalid value: \"object\": no such key: n evaluating rule: self.n > "
            "self.m");
}

}  // namespace
}  // namespace evenkeel::apiserver
