// SPDX-License-Identifier: Apache-2.0
#include "apiserver/openapi/openapi.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "apiserver/openapi/openapi_paths.hpp"
#include "schema_fixture.hpp"

namespace evenkeel::apiserver {
namespace {

/// Maps field numbers to payloads of a protobuf message; fails if it is invalid.
std::multimap<std::uint64_t, std::string> fields_of(std::string_view bytes) {
  std::multimap<std::uint64_t, std::string> result;
  const auto varint = [&] {
    std::uint64_t value = 0;
    for (unsigned shift = 0; !bytes.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes.front());
      bytes.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) break;
    }
    return value;
  };
  while (!bytes.empty()) {
    const std::uint64_t key = varint();
    std::string payload;
    if ((key & 7U) == 2) {
      const std::size_t length = varint();
      EXPECT_LE(length, bytes.size());
      payload = bytes.substr(0, length);
      bytes.remove_prefix(std::min(length, bytes.size()));
    } else if ((key & 7U) == 1) {
      payload = bytes.substr(0, 8);
      bytes.remove_prefix(std::min<std::size_t>(8, bytes.size()));
    } else {
      EXPECT_EQ(key & 7U, 0U);
      payload = std::to_string(varint());
    }
    result.emplace(key >> 3U, payload);
  }
  return result;
}

std::string only(const std::multimap<std::uint64_t, std::string>& fields, std::uint64_t number) {
  EXPECT_EQ(fields.count(number), 1U) << number;
  const auto found = fields.find(number);
  return found == fields.end() ? "" : found->second;
}

/// Returns the value of a {name, value} entry.
std::string named(const std::string& message, std::uint64_t field, std::string_view name) {
  const auto fields = fields_of(message);
  for (auto [at, end] = fields.equal_range(field); at != end; ++at) {
    const auto entry = fields_of(at->second);
    if (only(entry, 1) == name) return only(entry, 2);
  }
  ADD_FAILURE() << "no " << name;
  return "";
}

class OpenApi : public ::testing::Test {
 protected:
  SchemaCatalog catalog_;  // first: data refers to it
  BuiltinData& data = catalog_.data();
  std::vector<CustomKind> custom{widget_kind()};

  static void check_references(const Json& node, const Json& document) {
    if (node.is_array()) {
      for (const Json& item : node.as_array()) check_references(item, document);
    } else if (node.is_object()) {
      for (const auto& [name, value] : node.as_object()) {
        check_references(value, document);
        if (name != "$ref" || !value.is_string()) continue;
        const std::string path = value.as_string();
        const bool old = path.starts_with("#/definitions/");
        const Json& types = old ? document["definitions"] : document["components"]["schemas"];
        EXPECT_TRUE(types.contains(path.substr(path.rfind('/') + 1))) << path;
      }
    }
  }
};

TEST_F(OpenApi, NamesTypesByReversedGroups) {
  EXPECT_EQ(openapi_type_name("conformance.example.com", "v1", "Widget"),
            "com.example.conformance.v1.Widget");
}

TEST_F(OpenApi, Version2DescribesEveryKindWithoutDefaults) {
  const Json document = openapi_v2(data, custom);
  check_references(document, document);
  const Json& types = document["definitions"];
  EXPECT_EQ(types["io.k8s.apimachinery.pkg.util.intstr.IntOrString"],
            parse(R"({"type": "string", "format": "int-or-string"})"));
  const Json& widget = types["com.example.conformance.v1.Widget"];
  EXPECT_EQ(widget["x-kubernetes-group-version-kind"],
            parse(R"([{"group": "conformance.example.com", "kind": "Widget", "version": "v1"}])"));
  const Json& spec = widget["properties"]["spec"]["properties"];
  EXPECT_FALSE(spec["color"].contains("default"));
  EXPECT_FALSE(spec["note"].contains("type"));
  EXPECT_FALSE(spec["port"].contains("type"));
  EXPECT_EQ(types["io.k8s.api.core.v1.PodSpec"]["properties"]["containers"]["x-kubernetes-patch-merge-key"],
            Json("name"));
}

TEST_F(OpenApi, Version2SaysThatPatchesCanBeDry) {
  const Json document = openapi_v2(data, custom);
  const Json& patch = document["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"];
  EXPECT_EQ(patch["x-kubernetes-group-version-kind"],
            parse(R"({"group": "apps", "kind": "Deployment", "version": "v1"})"));
  EXPECT_NE(patch["parameters"].dump().find("\"dryRun\""), std::string::npos);
  EXPECT_TRUE(document["paths"].contains("/api/v1/nodes/{name}"));
  EXPECT_TRUE(document["paths"].contains(
      "/apis/conformance.example.com/v1/namespaces/{namespace}/widgets/{name}/status"));
}

TEST_F(OpenApi, Version2HasAProtobufForm) {
  const Json document = openapi_v2(data, custom);
  const std::string bytes = openapi_v2_protobuf(document);
  const auto root = fields_of(bytes);
  EXPECT_EQ(only(root, 1), "2.0");
  const auto widget = fields_of(named(only(root, 9), 1, "com.example.conformance.v1.Widget"));
  EXPECT_EQ(only(fields_of(only(widget, 22)), 1), "object");
  const auto spec = fields_of(named(only(widget, 25), 1, "spec"));
  const auto size = fields_of(named(only(spec, 25), 1, "size"));
  EXPECT_EQ(only(fields_of(only(size, 22)), 1), "integer");
  EXPECT_EQ(only(size, 9).size(), 8U);
  EXPECT_EQ(parse(only(fields_of(named(named(only(root, 9), 1, "com.example.conformance.v1.Widget"), 31,
                                       "x-kubernetes-group-version-kind")),
                       2)),
            document["definitions"]["com.example.conformance.v1.Widget"]["x-kubernetes-group-version-kind"]);
}

TEST_F(OpenApi, Version3HasADocumentPerGroupVersion) {
  const Json document = openapi_v3(data, "conformance.example.com", "v1", custom);
  check_references(document, document);
  const Json& widget = document["components"]["schemas"]["com.example.conformance.v1.Widget"];
  EXPECT_EQ(widget["properties"]["spec"]["properties"]["color"]["default"], Json("red"));
  EXPECT_EQ(widget["properties"]["metadata"]["allOf"],
            parse(R"([{"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}])"));
  const Json& paths = document["paths"];
  EXPECT_NE(
      paths["/apis/conformance.example.com/v1/namespaces/{namespace}/widgets/{name}"]["patch"]["parameters"]
          .dump()
          .find("fieldValidation"),
      std::string::npos);
  EXPECT_TRUE(openapi_v3(data, "nobody.example.com", "v1", custom).is_null());
  for (const BuiltinGroupVersion& known : data.group_versions()) {
    const Json built_in = openapi_v3(data, known.group, known.version, custom);
    check_references(built_in, built_in);
  }
}

TEST_F(OpenApi, HasThePathsOfAllNamespacesAndOfTheScale) {
  custom[0].scale = parse(R"({"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.ready"})");
  const std::string root = "/apis/conformance.example.com/v1/";
  const Json three = openapi_v3(data, "conformance.example.com", "v1", custom);
  check_references(three, three);
  for (const Json& document : {three, openapi_v2(data, custom)}) {
    const Json& all = document["paths"][root + "widgets"];
    EXPECT_EQ(all["get"]["x-kubernetes-action"], Json("list"));
    EXPECT_EQ(all["parameters"].dump().find("namespace"), std::string::npos);
    EXPECT_FALSE(all.contains("post"));
    const Json& scale = document["paths"][root + "namespaces/{namespace}/widgets/{name}/scale"];
    for (const char* method : {"get", "put", "patch"})
      EXPECT_NE(scale[method]["responses"].dump().find("io.k8s.api.autoscaling.v1.Scale"), std::string::npos);
    EXPECT_FALSE(scale.contains("delete"));
  }
  EXPECT_TRUE(openapi_v3(data, "apps", "v1", {})["paths"].contains(
      "/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale"));
  custom[0].namespaced = false;
  EXPECT_TRUE(
      openapi_v3(data, "conformance.example.com", "v1", custom)["paths"][root + "widgets"].contains("post"));
}

TEST_F(OpenApi, DescribesSelectableFieldsAndEmbeddedResources) {
  custom[0].selectable_fields = {"spec.color"};
  Json& properties = custom[0].schema["properties"]["spec"]["properties"];
  properties["one"] =
      parse(R"({"type": "object", "x-kubernetes-embedded-resource": true, "required": ["kind"],
    "properties": {"spec": {"type": "string"}}})");
  properties["any"] =
      parse(R"({"type": "array", "items": {"type": "object", "x-kubernetes-embedded-resource": true,
    "x-kubernetes-preserve-unknown-fields": true}})");
  const std::string type = "com.example.conformance.v1.Widget";
  const Json three = openapi_v3(data, "conformance.example.com", "v1", custom);
  check_references(three, three);
  const Json& schemas = three["components"]["schemas"];
  for (const std::string& name : {type, type + "List"})
    EXPECT_EQ(schemas[name]["x-kubernetes-selectable-fields"], parse(R"([{"fieldPath": "spec.color"}])"));
  const Json& spec = schemas[type]["properties"]["spec"]["properties"];
  for (const Json& embedded : {spec["one"], spec["any"]["items"]}) {
    for (const char* name : {"apiVersion", "kind", "metadata"})
      EXPECT_TRUE(embedded["properties"].contains(name));
    EXPECT_EQ(embedded["required"], parse(R"(["kind", "apiVersion"])"));
  }
  const Json two = openapi_v2(data, custom);
  const Json& old = two["definitions"][type]["properties"]["spec"]["properties"];
  EXPECT_TRUE(old["one"]["properties"].contains("metadata"));
  EXPECT_EQ(old["any"]["items"], parse(R"({"x-kubernetes-embedded-resource": true,
    "x-kubernetes-preserve-unknown-fields": true})"))
      << "as kubectl would refuse unknown fields";
}

TEST_F(OpenApi, Version3PutsWhatStandsBesideAReferenceIntoAnAllOf) {
  const Json document = openapi_v3(data, "apps", "v1", {});
  EXPECT_EQ(
      document["components"]["schemas"]["io.k8s.api.apps.v1.Deployment"]["properties"]["spec"],
      parse(
          R"({"allOf": [{"$ref": "#/components/schemas/io.k8s.api.apps.v1.DeploymentSpec"}], "default": {}})"));
}

TEST_F(OpenApi, TheIndexChangesWithTheSchema) {
  const auto url = [&] {
    return openapi_v3_index(data, custom)["paths"]["apis/conformance.example.com/v1"]["serverRelativeURL"]
        .string_or("");
  };
  const std::string before = url();
  EXPECT_EQ(before.substr(0, 51), "/openapi/v3/apis/conformance.example.com/v1?hash=" + before.substr(49, 2));
  EXPECT_EQ(before.size(), 49U + 128U);
  EXPECT_EQ(url(), before);
  custom[0].schema["properties"]["spec"]["properties"]["new"] = parse(R"({"type": "string"})");
  EXPECT_NE(url(), before);
  EXPECT_EQ(openapi_hash("abc").substr(0, 16), "DDAF35A193617ABA");
}

TEST_F(OpenApi, Version3HasAProtobufForm) {
  const auto root = fields_of(openapi_v3_protobuf(openapi_v3(data, "conformance.example.com", "v1", custom)));
  EXPECT_EQ(only(root, 1), "3.0.0");
  const std::string schemas = only(fields_of(only(root, 5)), 1);
  const auto widget = fields_of(only(fields_of(named(schemas, 1, "com.example.conformance.v1.Widget")), 1));
  EXPECT_EQ(only(widget, 25), "object");
}

}  // namespace
}  // namespace evenkeel::apiserver
