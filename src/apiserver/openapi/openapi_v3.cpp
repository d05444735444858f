// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <openssl/evp.h>

#include "apiserver/openapi/openapi.hpp"
#include "apiserver/openapi/openapi_paths.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

constexpr std::string_view components_prefix = "#/components/schemas/";

Json component_reference(std::string_view type) {
  return Json::object({{"$ref", std::string(components_prefix) + std::string(type)}});
}

/// Returns a built-in type as in the real document: a reference with sibling members becomes an allOf.
Json builtin_component(const Json& source) {
  if (!source.is_object()) return source;
  Json result = Json::object();
  for (const auto& [name, value] : source.as_object()) {
    if (name == "$ref") {
      if (source.size() == 1) return component_reference(value.as_string());
      result["allOf"] = Json::array({component_reference(value.as_string())});
    } else if (name == "properties") {
      Json& properties = result[name] = Json::object();
      for (const auto& [property, schema] : value.as_object())
        properties[property] = builtin_component(schema);
    } else if (name == "items" || name == "additionalProperties") {
      result[name] = builtin_component(value);
    } else {
      result[name] = value;
    }
  }
  return result;
}

OpenApiForm form_v3() {
  OpenApiForm form;
  form.parameter = [](std::string_view name, std::string_view in, std::string_view type) {
    Json result = Json::object(
        {{"name", name}, {"in", in}, {"schema", Json::object({{"type", type}, {"uniqueItems", true}})}});
    if (in == "path") result["required"] = true;
    return result;
  };
  form.content = [](Json& operation, const std::string& type, bool body) {
    const Json content =
        Json::object({{"application/json", Json::object({{"schema", component_reference(type)}})}});
    if (body) operation["requestBody"] = Json::object({{"content", content}, {"required", true}});
    operation["responses"] =
        Json::object({{"200", Json::object({{"description", "OK"}, {"content", content}})},
                      {"401", Json::object({{"description", "Unauthorized"}})}});
  };
  form.prefix = components_prefix;
  return form;
}

/// Returns a text that identifies the state of a group version, without building its document.
std::string state_of(BuiltinData& data, const std::string& group, const std::string& version,
                     std::span<const CustomKind> custom) {
  std::string state = group + "/" + version + "\n";
  if (const BuiltinGroupVersion* known = data.find(group, version)) {
    for (const std::string& type : known->types) state += type + "\n";
  }
  for (const CustomKind& kind : custom) {
    if (kind.group != group || kind.version != version) continue;
    state += kind.kind + "\n" + kind.list_kind + "\n" + kind.plural + "\n" + (kind.namespaced ? "n" : "c") +
             (kind.status_subresource ? "s" : "-") + (kind.scale.is_object() ? "r" : "-") +
             kind.schema.dump() + "\n";
    for (const std::string& path : kind.selectable_fields) state += path + "\n";
  }
  return state;
}

}  // namespace

Json openapi_v3_index(BuiltinData& data, std::span<const CustomKind> custom) {
  std::set<std::pair<std::string, std::string>> versions;
  for (const BuiltinGroupVersion& known : data.group_versions()) versions.emplace(known.group, known.version);
  for (const CustomKind& kind : custom) versions.emplace(kind.group, kind.version);
  Json paths = Json::object();
  for (const auto& [group, version] : versions) {
    const std::string path = group.empty() ? "api/" + version : "apis/" + group + "/" + version;
    const std::string hash = openapi_hash(state_of(data, group, version, custom));
    paths[path] = Json::object({{"serverRelativeURL", "/openapi/v3/" + path + "?hash=" + hash}});
  }
  return Json::object({{"paths", std::move(paths)}});
}

Json openapi_v3(BuiltinData& data, std::string_view group, std::string_view version,
                std::span<const CustomKind> custom) {
  const std::vector<OpenApiResource> resources = openapi_resources(data, group, version, custom);
  if (resources.empty()) return {};
  Json paths = Json::object();
  const OpenApiForm form = form_v3();
  for (const OpenApiResource& resource : resources) add_openapi_paths(paths, resource, form);
  std::set<std::string, std::less<>> types;
  if (const BuiltinGroupVersion* known = data.find(group, version))
    types.insert(known->types.begin(), known->types.end());
  add_openapi_types(data, openapi_object_meta, types);
  add_openapi_types(data, openapi_list_meta, types);
  if (std::any_of(resources.begin(), resources.end(), [](const OpenApiResource& each) { return each.scale; }))
    add_openapi_types(data, openapi_scale, types);
  Json schemas = Json::object();
  for (const std::string& type : types) schemas[type] = builtin_component(data.type(type));
  for (const CustomKind& kind : custom) {
    if (kind.group == group && kind.version == version)
      add_openapi_kind(schemas, kind, kind.schema.is_object() ? kind.schema : Json::object(), form);
  }
  return Json::object({{"openapi", "3.0.0"},
                       {"info", Json::object({{"title", "Kubernetes"}, {"version", "v1.36.3"}})},
                       {"paths", std::move(paths)},
                       {"components", Json::object({{"schemas", std::move(schemas)}})}});
}

std::string openapi_hash(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &length, EVP_sha512(), nullptr);
  static constexpr std::string_view digits = "0123456789ABCDEF";
  std::string result;
  for (unsigned int i = 0; i < length; ++i) {
    result += digits[digest.at(i) >> 4U];
    result += digits[digest.at(i) & 15U];
  }
  return result;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
