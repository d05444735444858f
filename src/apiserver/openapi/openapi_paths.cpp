// SPDX-License-Identifier: Apache-2.0
#include "apiserver/openapi/openapi_paths.hpp"

#include <algorithm>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

constexpr std::string_view api_version_description =
    "APIVersion defines the versioned schema of this representation of an object. Servers should convert "
    "recognized "
    "schemas to the latest internal value, and may reject unrecognized values. More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources";
constexpr std::string_view kind_description =
    "Kind is a string value representing the REST resource this object represents. Servers may infer this "
    "from the "
    "endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds";
constexpr std::string_view metadata_description =
    "Standard object's metadata. More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";
constexpr std::string_view list_metadata_description =
    "Standard list metadata. More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds";
constexpr std::string_view embedded_api_version_description =
    "apiVersion defines the versioned schema of this representation of an object. More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources";
constexpr std::string_view embedded_kind_description =
    "kind is a string value representing the type of this object. In CamelCase. More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds";

OpenApiResource builtin_resource(BuiltinData& data, const BuiltinGroupVersion& group_version,
                                 const BuiltinResource& source) {
  const auto has = [&](std::string_view subresource) {
    const auto& all = group_version.resources;
    const std::string name = source.name + "/" + std::string(subresource);
    return std::any_of(all.begin(), all.end(),
                       [&](const BuiltinResource& other) { return other.name == name; });
  };
  return {.group = group_version.group,
          .version = group_version.version,
          .kind = source.kind,
          .plural = source.name,
          .namespaced = source.namespaced,
          .status = has("status"),
          .scale = has("scale"),
          .verbs = source.verbs,
          .type = std::string(data.type_of(group_version.group, group_version.version, source.kind)),
          .list_type =
              std::string(data.type_of(group_version.group, group_version.version, source.kind + "List"))};
}

OpenApiResource custom_resource(const CustomKind& kind) {
  return {.group = kind.group,
          .version = kind.version,
          .kind = kind.kind,
          .plural = kind.plural,
          .namespaced = kind.namespaced,
          .status = kind.status_subresource,
          .scale = kind.scale.is_object(),
          .verbs = {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"},
          .type = openapi_type_name(kind.group, kind.version, kind.kind),
          .list_type = openapi_type_name(kind.group, kind.version, kind.list_kind)};
}

/// Returns the path of the objects of one namespace, or of all.
std::string path_part(const OpenApiResource& resource, bool in_namespace) {
  const std::string root = resource.group.empty() ? "/api/" + resource.version
                                                  : "/apis/" + resource.group + "/" + resource.version;
  return root + (in_namespace ? "/namespaces/{namespace}/" : "/") + resource.plural;
}

struct Operation {
  std::string_view verb;    // as in discovery
  std::string_view method;  // get, post, ...
  std::string_view action;  // x-kubernetes-action
  bool on_item;
  bool writes;
};

constexpr Operation operations[] = {{"list", "get", "list", false, false},
                                    {"create", "post", "post", false, true},
                                    {"deletecollection", "delete", "deletecollection", false, false},
                                    {"get", "get", "get", true, false},
                                    {"update", "put", "put", true, true},
                                    {"patch", "patch", "patch", true, true},
                                    {"delete", "delete", "delete", true, false}};

Json parameters_of(const Operation& operation, const OpenApiForm& form) {
  Json result = Json::array();
  const auto query = [&](std::string_view name, std::string_view type) {
    result.push_back(form.parameter(name, "query", type));
  };
  if (operation.writes || operation.method == "delete") query("dryRun", "string");
  if (operation.writes) {
    query("fieldManager", "string");
    query("fieldValidation", "string");
  }
  if (operation.method == "patch") query("force", "boolean");
  if (operation.action == "list" || operation.action == "deletecollection") {
    for (const char* name :
         {"continue", "fieldSelector", "labelSelector", "resourceVersion", "resourceVersionMatch"})
      query(name, "string");
    query("limit", "integer");
    query("timeoutSeconds", "integer");
  }
  if (operation.action == "list") query("watch", "boolean");
  return result;
}

constexpr std::string_view all_namespaces = "ForAllNamespaces";

Json operation_of(const Operation& operation, const OpenApiResource& resource, const OpenApiForm& form,
                  std::string_view suffix) {
  std::string id(operation.action);
  const bool in_namespace = resource.namespaced && suffix != all_namespaces;
  id.append(in_namespace ? "Namespaced" : "").append(resource.kind).append(suffix);
  Json result = Json::object(
      {{"operationId", id + "_" + resource.group + "/" + resource.version},
       {"parameters", parameters_of(operation, form)},
       {"x-kubernetes-action", operation.action},
       {"x-kubernetes-group-version-kind",
        Json::object({{"group", resource.group}, {"kind", resource.kind}, {"version", resource.version}})}});
  const bool list = operation.action == "list" && !resource.list_type.empty();
  const std::string type = list                ? resource.list_type
                           : suffix == "Scale" ? std::string(openapi_scale)
                                               : resource.type;
  form.content(result, type, operation.writes);
  return result;
}

}  // namespace

std::vector<OpenApiResource> openapi_resources(BuiltinData& data, std::string_view group,
                                               std::string_view version, std::span<const CustomKind> custom) {
  std::vector<OpenApiResource> result;
  if (const BuiltinGroupVersion* known = data.find(group, version)) {
    for (const BuiltinResource& resource : known->resources) {
      if (resource.name.find('/') == std::string::npos)
        result.push_back(builtin_resource(data, *known, resource));
    }
  }
  for (const CustomKind& kind : custom) {
    if (kind.group == group && kind.version == version) result.push_back(custom_resource(kind));
  }
  return result;
}

void add_openapi_paths(Json& paths, const OpenApiResource& resource, const OpenApiForm& form) {
  const std::string collection = path_part(resource, resource.namespaced);
  const auto can = [&](std::string_view verb) {
    return std::find(resource.verbs.begin(), resource.verbs.end(), verb) != resource.verbs.end();
  };
  const auto add = [&](const std::string& path, const Operation& operation, std::string_view suffix) {
    Json& item = paths[path];
    item[operation.method] = operation_of(operation, resource, form, suffix);
    if (item.contains("parameters")) return;
    Json shared = Json::array();
    if (operation.on_item) shared.push_back(form.parameter("name", "path", "string"));
    if (resource.namespaced && suffix != all_namespaces)
      shared.push_back(form.parameter("namespace", "path", "string"));
    shared.push_back(form.parameter("pretty", "query", "string"));
    item["parameters"] = std::move(shared);
  };
  for (const Operation& operation : operations) {
    if (can(operation.verb)) add(operation.on_item ? collection + "/{name}" : collection, operation, "");
  }
  if (resource.namespaced && can("list")) add(path_part(resource, false), operations[0], all_namespaces);
  for (const Operation& operation : operations) {
    if (!operation.on_item || operation.method == "delete") continue;
    if (resource.status) add(collection + "/{name}/status", operation, "Status");
    if (resource.scale) add(collection + "/{name}/scale", operation, "Scale");
  }
}

std::string openapi_type_name(std::string_view group, std::string_view version, std::string_view kind) {
  std::string reversed;
  while (!group.empty()) {
    const std::size_t dot = group.rfind('.');
    reversed.append(dot == std::string_view::npos ? group : group.substr(dot + 1)).append(".");
    group = dot == std::string_view::npos ? std::string_view() : group.substr(0, dot);
  }
  return reversed.append(version).append(".").append(kind);
}

void add_openapi_types(BuiltinData& data, std::string_view type, std::set<std::string, std::less<>>& names) {
  if (type.empty() || !names.emplace(type).second) return;
  const std::function<void(const Json&)> visit = [&](const Json& node) {
    if (node.is_array()) {
      for (const Json& item : node.as_array()) visit(item);
    } else if (node.is_object()) {
      for (const auto& [name, value] : node.as_object()) {
        if (name == "$ref" && value.is_string())
          add_openapi_types(data, value.as_string(), names);
        else
          visit(value);
      }
    }
  };
  visit(data.type(type));
}

namespace {

Json reference(const OpenApiForm& form, std::string_view type) {
  return Json::object({{"$ref", std::string(form.prefix) + std::string(type)}});
}

/// Returns the schema of a member of another type, with a description beside the reference.
Json described_reference(const OpenApiForm& form, std::string_view type, std::string_view description) {
  Json out = reference(form, type);
  if (!form.references_have_siblings) out = Json::object({{"allOf", Json::array({std::move(out)})}});
  out["description"] = description;
  return out;
}

Json described_text(std::string_view description) {
  return Json::object({{"type", "string"}, {"description", description}});
}

/// Returns the properties of a schema, to which more are added.
Json& properties_of(Json& schema) {
  Json& properties = schema["properties"];
  if (!properties.is_object()) properties = Json::object();
  return properties;
}

void add_header(Json& schema, Json metadata) {
  Json& properties = properties_of(schema);
  properties["apiVersion"] = described_text(api_version_description);
  properties["kind"] = described_text(kind_description);
  properties["metadata"] = std::move(metadata);
}

/// Source: apiextensions pkg/controller/openapi/builder/builder.go addEmbeddedProperties.
void add_embedded_headers(Json& schema, const OpenApiForm& form) {
  if (!schema.is_object()) return;
  if (Json* properties = schema.find("properties"); properties != nullptr && properties->is_object())
    for (auto& [name, property] : properties->as_object()) add_embedded_headers(property, form);
  for (const char* name : {"items", "additionalProperties"})
    if (Json* inner = schema.find(name)) add_embedded_headers(*inner, form);
  // In version 2, kubectl would reject the unknown fields.
  const bool hidden = form.references_have_siblings &&
                      std::as_const(schema)["x-kubernetes-preserve-unknown-fields"].bool_or(false);
  if (hidden || !std::as_const(schema)["x-kubernetes-embedded-resource"].bool_or(false)) return;
  Json& properties = properties_of(schema);
  properties["apiVersion"] = described_text(embedded_api_version_description);
  properties["kind"] = described_text(embedded_kind_description);
  properties["metadata"] = described_reference(form, openapi_object_meta, metadata_description);
  Json& required = schema["required"];
  if (!required.is_array()) required = Json::array();
  for (const char* name : {"kind", "apiVersion"}) {
    const Json::Array& present = std::as_const(required).as_array();
    if (std::find(present.begin(), present.end(), Json(name)) == present.end()) required.push_back(name);
  }
}

/// Adds the extensions that a kind and its list have.
void add_extensions(Json& schema, const CustomKind& custom, const std::string& kind) {
  schema["x-kubernetes-group-version-kind"] =
      Json::array({Json::object({{"group", custom.group}, {"kind", kind}, {"version", custom.version}})});
  if (custom.selectable_fields.empty()) return;
  Json& fields = schema["x-kubernetes-selectable-fields"] = Json::array();
  for (const std::string& path : custom.selectable_fields)
    fields.push_back(Json::object({{"fieldPath", path}}));
}

}  // namespace

void add_openapi_kind(Json& schemas, const CustomKind& kind, Json schema, const OpenApiForm& form) {
  const std::string type = openapi_type_name(kind.group, kind.version, kind.kind);
  add_embedded_headers(schema, form);
  // If unknown fields are preserved in version 2, clients must not reject anything.
  if (schema.contains("type"))
    add_header(schema, described_reference(form, openapi_object_meta, metadata_description));
  schema["type"] = "object";
  add_extensions(schema, kind, kind.kind);
  Json list = Json::object({{"type", "object"},
                            {"required", Json::array({"items"})},
                            {"description", kind.list_kind + " is a list of " + kind.kind}});
  add_header(list, described_reference(form, openapi_list_meta, list_metadata_description));
  list["properties"]["items"] = Json::object(
      {{"type", "array"},
       {"description", "List of " + kind.plural +
                           ". More info: https://git.k8s.io/community/contributors/devel/sig-architecture/"
                           "api-conventions.md"}});
  list["properties"]["items"]["items"] = reference(form, type);
  add_extensions(list, kind, kind.list_kind);
  schemas[type] = std::move(schema);
  schemas[openapi_type_name(kind.group, kind.version, kind.list_kind)] = std::move(list);
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
