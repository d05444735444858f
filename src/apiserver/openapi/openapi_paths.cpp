// SPDX-License-Identifier: Apache-2.0
#include "apiserver/openapi/openapi_paths.hpp"

#include <algorithm>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

OpenApiResource builtin_resource(BuiltinData& data, const BuiltinGroupVersion& group_version,
                                 const BuiltinResource& source) {
  const auto has_status = [&](const BuiltinResource& other) { return other.name == source.name + "/status"; };
  const auto& all = group_version.resources;
  return {.group = group_version.group,
          .version = group_version.version,
          .kind = source.kind,
          .plural = source.name,
          .namespaced = source.namespaced,
          .status = std::any_of(all.begin(), all.end(), has_status),
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
          .verbs = {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"},
          .type = openapi_type_name(kind.group, kind.version, kind.kind),
          .list_type = openapi_type_name(kind.group, kind.version, kind.list_kind)};
}

std::string path_part(const OpenApiResource& resource) {
  const std::string root = resource.group.empty() ? "/api/" + resource.version
                                                  : "/apis/" + resource.group + "/" + resource.version;
  return root + (resource.namespaced ? "/namespaces/{namespace}/" : "/") + resource.plural;
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

Json operation_of(const Operation& operation, const OpenApiResource& resource, const OpenApiForm& form,
                  std::string_view suffix) {
  std::string id(operation.action);
  id.append(resource.namespaced ? "Namespaced" : "").append(resource.kind).append(suffix);
  Json result = Json::object(
      {{"operationId", id + "_" + resource.group + "/" + resource.version},
       {"parameters", parameters_of(operation, form)},
       {"x-kubernetes-action", operation.action},
       {"x-kubernetes-group-version-kind",
        Json::object({{"group", resource.group}, {"kind", resource.kind}, {"version", resource.version}})}});
  const bool list = operation.action == "list" && !resource.list_type.empty();
  form.content(result, list ? resource.list_type : resource.type, operation.writes);
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
  const std::string collection = path_part(resource);
  const auto can = [&](std::string_view verb) {
    return std::find(resource.verbs.begin(), resource.verbs.end(), verb) != resource.verbs.end();
  };
  const auto add = [&](const std::string& path, const Operation& operation, std::string_view suffix) {
    Json& item = paths[path];
    item[operation.method] = operation_of(operation, resource, form, suffix);
    if (item.contains("parameters")) return;
    Json shared = Json::array();
    if (operation.on_item) shared.push_back(form.parameter("name", "path", "string"));
    if (resource.namespaced) shared.push_back(form.parameter("namespace", "path", "string"));
    shared.push_back(form.parameter("pretty", "query", "string"));
    item["parameters"] = std::move(shared);
  };
  for (const Operation& operation : operations) {
    if (can(operation.verb)) add(operation.on_item ? collection + "/{name}" : collection, operation, "");
  }
  for (const Operation& operation : operations) {
    const bool on_status = operation.on_item && operation.method != "delete";
    if (resource.status && on_status) add(collection + "/{name}/status", operation, "Status");
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

Json openapi_kind_extension(const CustomKind& custom, const std::string& kind) {
  return Json::array({Json::object({{"group", custom.group}, {"kind", kind}, {"version", custom.version}})});
}

void add_openapi_header(Json& schema, Json metadata) {
  Json& properties = schema["properties"];
  if (!properties.is_object()) properties = Json::object();
  properties["apiVersion"] =
      Json::object({{"type", "string"}, {"description", openapi_api_version_description}});
  properties["kind"] = Json::object({{"type", "string"}, {"description", openapi_kind_description}});
  metadata["description"] = openapi_metadata_description;
  properties["metadata"] = std::move(metadata);
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
