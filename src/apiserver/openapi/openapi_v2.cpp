// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <utility>

#include "apiserver/openapi/openapi.hpp"
#include "apiserver/openapi/openapi_paths.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

constexpr std::string_view definitions_prefix = "#/definitions/";

Json reference(std::string_view type) {
  return Json(std::string(definitions_prefix) + std::string(type));
}

/// Returns a built-in type in version 2 form: no defaults, no oneOf.
Json builtin_schema(const Json& source) {
  if (source.contains("oneOf")) {
    Json result = Json::object({{"type", "string"}});
    if (source.contains("format")) result["format"] = source["format"];
    return result;
  }
  Json result = Json::object();
  for (const auto& [name, value] : source.as_object()) {
    if (name == "default") continue;
    if (name == "$ref") {
      result[name] = reference(value.as_string());
    } else if (name == "properties") {
      Json& properties = result[name] = Json::object();
      for (const auto& [property, schema] : value.as_object()) properties[property] = builtin_schema(schema);
    } else if ((name == "items" || name == "additionalProperties") && value.is_object()) {
      result[name] = builtin_schema(value);
    } else {
      result[name] = value;
    }
  }
  return result;
}

/// Reduces a CRD's schema to the subset of version 2 that old clients understand.
/// Source: apiextensions pkg/controller/openapi/v2 ToStructuralOpenAPIV2.
Json custom_schema(const Json& source) {
  static const std::set<std::string, std::less<>> left_out{"default", "nullable", "oneOf",
                                                           "anyOf",   "allOf",    "not"};
  const bool preserves = source["x-kubernetes-preserve-unknown-fields"].bool_or(false);
  const bool typeless =
      source["nullable"].bool_or(false) || source["x-kubernetes-int-or-string"].bool_or(false);
  Json result = Json::object();
  if (!source.is_object()) return result;
  for (const auto& [name, value] : source.as_object()) {
    const bool structure = name == "properties" || name == "items" || name == "required";
    const bool untyped = typeless || (preserves && (value == Json("object") || value == Json("array"))) ||
                         (value == Json("array") && !source["items"].is_object());
    if (left_out.contains(name) || (untyped && name == "type") || (structure && (typeless || preserves)))
      continue;
    if (name == "properties" && value.is_object()) {
      Json& properties = result[name] = Json::object();
      for (const auto& [property, schema] : value.as_object()) properties[property] = custom_schema(schema);
    } else if ((name == "items" || name == "additionalProperties") && value.is_object()) {
      result[name] = custom_schema(value);
    } else {
      result[name] = value;
    }
  }
  return result;
}

OpenApiForm form_v2() {
  OpenApiForm form;
  form.parameter = [](std::string_view name, std::string_view in, std::string_view type) {
    Json result = Json::object({{"name", name}, {"in", in}, {"type", type}, {"uniqueItems", true}});
    if (in == "path") result["required"] = true;
    return result;
  };
  form.content = [](Json& operation, const std::string& type, bool body) {
    const Json schema = Json::object({{"$ref", reference(type)}});
    if (body)
      operation["parameters"].push_back(
          Json::object({{"name", "body"}, {"in", "body"}, {"required", true}, {"schema", schema}}));
    operation["responses"] = Json::object({{"200", Json::object({{"description", "OK"}, {"schema", schema}})},
                                           {"401", Json::object({{"description", "Unauthorized"}})}});
  };
  form.prefix = definitions_prefix;
  form.references_have_siblings = true;
  return form;
}

}  // namespace

Json openapi_v2(BuiltinData& data, std::span<const CustomKind> custom) {
  Json paths = Json::object();
  Json definitions = Json::object();
  const OpenApiForm form = form_v2();
  std::set<std::pair<std::string, std::string>> versions;
  for (const BuiltinGroupVersion& known : data.group_versions()) {
    versions.emplace(known.group, known.version);
    for (const std::string& type : known.types) {
      if (!definitions.contains(type)) definitions[type] = builtin_schema(data.type(type));
    }
  }
  for (const CustomKind& kind : custom) {
    versions.emplace(kind.group, kind.version);
    add_openapi_kind(definitions, kind, custom_schema(kind.schema), form);
  }
  for (const auto& [group, version] : versions) {
    for (const OpenApiResource& resource : openapi_resources(data, group, version, custom))
      add_openapi_paths(paths, resource, form);
  }
  return Json::object({{"swagger", "2.0"},
                       {"info", Json::object({{"title", "Kubernetes"}, {"version", "v1.36.3"}})},
                       {"paths", std::move(paths)},
                       {"definitions", std::move(definitions)}});
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
