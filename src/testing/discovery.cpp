// SPDX-License-Identifier: Apache-2.0
#include "testing/discovery.hpp"

#include <algorithm>
#include <utility>

#include "testing/openapi.hpp"
#include "testing/server.hpp"

namespace evenkeel::inline v0::testing {
namespace {

constexpr std::string_view json_type = "application/json";
// What old clients ask for is no media type by RFC 2045; they are answered with the one that is.
constexpr std::string_view openapi_v2_asked = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
constexpr std::string_view openapi_v2_type = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
constexpr std::string_view openapi_v3_type = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf";

Json strings(const std::vector<std::string>& items) {
  Json out = Json::array();
  for (const std::string& item : items) out.push_back(item);
  return out;
}

std::vector<std::string> subresource_verbs(const ResourceType& type, std::string_view name) {
  if (const BuiltinResource* entry = type.subresource(name)) return entry->verbs;
  return {"get", "patch", "update"};
}

/// Names of the subresources of a resource: built-in ones as listed, status and scale of custom ones.
std::vector<std::string> subresource_names(const ResourceType& type) {
  std::vector<std::string> out;
  for (const BuiltinResource& entry : type.subresources)
    out.push_back(entry.name.substr(type.plural.size() + 1));
  if (!type.custom) return out;
  if (type.has_status) out.emplace_back("status");
  if (type.scale) out.emplace_back("scale");
  return out;
}

struct KindName {
  std::string group;
  std::string version;
  std::string kind;
};
KindName subresource_kind(const ResourceType& type, std::string_view name) {
  if (const BuiltinResource* entry = type.subresource(name))
    return {entry->kind_group.empty() && entry->kind_version.empty() ? type.group : entry->kind_group,
            entry->kind_version.empty() ? type.version : entry->kind_version, entry->kind};
  if (name == "scale") return {"autoscaling", "v1", "Scale"};
  return {type.group, type.version, type.kind};
}

Json listed_resource(const ResourceType& type) {
  Json out = Json::object({{"name", type.plural},
                           {"singularName", type.singular},
                           {"namespaced", type.namespaced},
                           {"kind", type.kind}});
  out["verbs"] = strings(type.verbs);
  if (!type.short_names.empty()) out["shortNames"] = strings(type.short_names);
  if (!type.categories.empty()) out["categories"] = strings(type.categories);
  if (type.has_verb("list")) out["storageVersionHash"] = storage_version_hash(type);
  return out;
}

Json listed_subresource(const ResourceType& type, const std::string& name) {
  const KindName kind = subresource_kind(type, name);
  Json out = Json::object({{"name", type.plural + "/" + name},
                           {"singularName", ""},
                           {"namespaced", type.namespaced},
                           {"kind", kind.kind}});
  out["verbs"] = strings(subresource_verbs(type, name));
  if (kind.group != type.group || kind.version != type.version) {
    out["group"] = kind.group;
    out["version"] = kind.version;
  }
  return out;
}

std::optional<ServedVersion> find_version(Server& server, std::string_view group, std::string_view version) {
  for (ServedVersion& entry : server.registry.versions())
    if (entry.group == group && entry.version == version) return std::move(entry);
  return std::nullopt;
}

Json resource_list(const ServedVersion& served) {
  Json resources = Json::array();
  for (const ResourceTypePtr& type : served.resources) {
    resources.push_back(listed_resource(*type));
    for (const std::string& name : subresource_names(*type))
      resources.push_back(listed_subresource(*type, name));
  }
  Json out = Json::object(
      {{"kind", "APIResourceList"}, {"apiVersion", "v1"}, {"groupVersion", served.api_version()}});
  out["resources"] = std::move(resources);
  return out;
}

Json group_version(const ServedVersion& served) {
  return Json::object({{"groupVersion", served.api_version()}, {"version", served.version}});
}

/// APIGroup documents without kind and apiVersion, in order of service.
std::vector<Json> groups(Server& server) {
  std::vector<Json> out;
  for (const ServedVersion& served : server.registry.versions()) {
    if (served.group.empty()) continue;
    if (out.empty() || std::as_const(out.back())["name"] != Json(served.group)) {
      out.push_back(Json::object({{"name", served.group}, {"versions", Json::array()}}));
      out.back()["preferredVersion"] = group_version(served);
    }
    out.back()["versions"].push_back(group_version(served));
  }
  return out;
}

Json aggregated_resource(const ResourceType& type) {
  const auto response_kind = [](const KindName& kind) {
    return Json::object({{"group", kind.group}, {"version", kind.version}, {"kind", kind.kind}});
  };
  Json out = Json::object({{"resource", type.plural},
                           {"scope", type.namespaced ? "Namespaced" : "Cluster"},
                           {"singularResource", type.singular}});
  out["responseKind"] = response_kind({type.group, type.version, type.kind});
  out["verbs"] = strings(type.verbs);
  if (!type.short_names.empty()) out["shortNames"] = strings(type.short_names);
  if (!type.categories.empty()) out["categories"] = strings(type.categories);
  Json subresources = Json::array();
  for (const std::string& name : subresource_names(type)) {
    Json entry = Json::object({{"subresource", name}});
    entry["responseKind"] = response_kind(subresource_kind(type, name));
    entry["verbs"] = strings(subresource_verbs(type, name));
    subresources.push_back(std::move(entry));
  }
  if (!subresources.empty()) out["subresources"] = std::move(subresources);
  return out;
}

Json aggregated_version(const ServedVersion& served) {
  Json resources = Json::array();
  for (const ResourceTypePtr& type : served.resources) resources.push_back(aggregated_resource(*type));
  Json out = Json::object({{"version", served.version}, {"freshness", "Current"}});
  out["resources"] = std::move(resources);
  return out;
}

/// `path` is "/api" or "/apis".
Json aggregated(Server& server, std::string_view path, std::string_view version) {
  Json items = Json::array();
  std::string last;
  for (const ServedVersion& served : server.registry.versions()) {
    if (served.group.empty() != (path == "/api")) continue;
    if (items.empty() || served.group != last) {
      Json metadata = Json::object({{"creationTimestamp", nullptr}});
      if (!served.group.empty()) metadata["name"] = served.group;
      Json item = Json::object({{"versions", Json::array()}});
      item["metadata"] = std::move(metadata);
      items.push_back(std::move(item));
    }
    last = served.group;
    items.as_array().back()["versions"].push_back(aggregated_version(served));
  }
  Json out = Json::object({{"kind", "APIGroupDiscoveryList"}, {"metadata", Json::object()}});
  out["apiVersion"] = "apidiscovery.k8s.io/" + std::string(version);
  out["items"] = std::move(items);
  return out;
}

/// The version of the aggregated form that the Accept header prefers over the plain one.
std::string aggregated_form(const http::Headers& headers) {
  const std::string* accept = headers.find("Accept");
  if (!accept) return "";
  std::string_view rest = *accept;
  while (!rest.empty()) {
    const auto comma = rest.find(',');
    const std::string_view range = rest.substr(0, comma);
    if (range.find("as=APIGroupDiscoveryList") != std::string_view::npos) {
      if (range.find("v=v2beta1") != std::string_view::npos) return "v2beta1";
      if (range.find("v=v2") != std::string_view::npos) return "v2";
    } else if (range.find("json") != std::string_view::npos) {
      return "";
    }
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  return "";
}

Json version_document(const std::string& version) {
  const auto dot = version.find('.');
  return Json::object({{"major", version.substr(0, dot)},
                       {"minor", version.substr(dot + 1, version.find('.', dot + 1) - dot - 1)},
                       {"gitVersion", "v" + version},
                       {"gitCommit", ""},
                       {"gitTreeState", "clean"},
                       {"buildDate", "1970-01-01T00:00:00Z"},
                       {"goVersion", ""},
                       {"compiler", "g++"},
                       {"platform", "linux/amd64"}});
}

http::Response reply(std::string_view type, std::string body) {
  return {200, {{"Content-Type", std::string(type)}}, std::move(body)};
}

bool is_health_check(std::string_view name) {
  return name == "healthz" || name == "readyz" || name == "livez";
}

std::string joined(const std::vector<std::string>& segments) {
  std::string out;
  for (const std::string& segment : segments) out += "/" + segment;
  return out;
}

/// The plain document of /api, /apis, /apis/G, /api/V and /apis/G/V; null if it is none of them.
Json plain_document(Server& server, const std::vector<std::string>& path) {
  if (path.size() == 1 && path[0] == "api")
    return Json::object(
        {{"kind", "APIVersions"},
         {"versions", Json::array({"v1"})},
         {"serverAddressByClientCIDRs",
          Json::array({Json::object({{"clientCIDR", "0.0.0.0/0"}, {"serverAddress", ""}})})}});
  if (path.size() == 1) {
    Json list = Json::object({{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", Json::array()}});
    for (Json& group : groups(server)) list["groups"].push_back(std::move(group));
    return list;
  }
  if (path[0] == "apis" && path.size() == 2) {
    for (Json& group : groups(server)) {
      if (std::as_const(group)["name"] != Json(path[1])) continue;
      group["kind"] = "APIGroup";
      group["apiVersion"] = "v1";
      return std::move(group);
    }
    return Json();
  }
  const auto served = find_version(server, path[0] == "api" ? "" : path[1], path.back());
  return served ? resource_list(*served) : Json();
}

}  // namespace

const Discovery::Document& Discovery::cached(Server& server, const std::string& key,
                                             Document (*make)(Server&, const std::string&)) {
  if (generation_ != server.registry.generation()) {
    documents_.clear();
    generation_ = server.registry.generation();
  }
  const auto at = documents_.find(key);
  if (at != documents_.end()) return at->second;
  return documents_.emplace(key, make(server, key)).first->second;
}

http::Response Discovery::openapi(Server& server, const http::Request& request,
                                  const std::vector<std::string>& path) {
  const auto json_v2 = [](Server& of, const std::string&) {
    const auto custom = of.registry.custom_kinds();
    return Document{std::string(json_type), openapi_v2(of.catalog.data(), custom).dump()};
  };
  const auto protobuf_v2 = [](Server& of, const std::string&) {
    const auto custom = of.registry.custom_kinds();
    return Document{std::string(openapi_v2_type), openapi_v2_protobuf(openapi_v2(of.catalog.data(), custom))};
  };
  const auto index_v3 = [](Server& of, const std::string&) {
    const auto custom = of.registry.custom_kinds();
    return Document{std::string(json_type), openapi_v3_index(of.catalog.data(), custom).dump()};
  };
  const auto json_v3 = [](Server& of, const std::string& key) {
    const auto custom = of.registry.custom_kinds();
    const std::vector<std::string> parts = parse_target(key).segments;  // openapi/v3/apis/GROUP/VERSION
    const Json document =
        openapi_v3(of.catalog.data(), parts.size() == 5 ? parts[3] : "", parts.back(), custom);
    return Document{std::string(json_type), document.is_null() ? std::string() : document.dump()};
  };
  const std::string key = joined(path);
  const Document* document = nullptr;
  if (path[1] == "v2") {
    const std::string type = negotiate_any(request.headers, {json_type, openapi_v2_asked, openapi_v2_type});
    if (type.empty())
      throw StatusError::not_acceptable({std::string(json_type), std::string(openapi_v2_type)});
    document =
        type == json_type ? &cached(server, key, json_v2) : &cached(server, key + "+protobuf", protobuf_v2);
  } else if (path.size() == 2) {
    document = &cached(server, key, index_v3);
  } else {
    if (path.size() < 4 || path.size() > 5) throw PageNotFound{};
    document = &cached(server, key, json_v3);
    if (document->body.empty()) throw PageNotFound{};
    if (negotiate_any(request.headers, {json_type, openapi_v3_type}) == openapi_v3_type)
      return reply(openapi_v3_type, openapi_v3_protobuf(Json::parse(document->body)));
  }
  return reply(document->type, document->body);
}

std::optional<http::Response> Discovery::answer(Server& server, const http::Request& request,
                                                const Target& target) {
  const std::vector<std::string>& path = target.segments;
  if (!path.empty() && is_health_check(path[0])) return reply("text/plain; charset=utf-8", "ok");
  if (path.size() == 1 && path[0] == "version")
    return reply(json_type, version_document(server.options.version).dump(2));
  if (path.size() >= 2 && path[0] == "openapi" && (path[1] == "v2" || path[1] == "v3"))
    return openapi(server, request, path);
  if (path.empty()) {
    Json paths = Json::array({"/api", "/api/v1", "/apis"});
    for (const ServedVersion& served : server.registry.versions())
      if (!served.group.empty()) paths.push_back("/apis/" + served.api_version());
    for (const char* each : {"/healthz", "/livez", "/openapi/v2", "/openapi/v3", "/readyz", "/version"})
      paths.push_back(each);
    return reply(json_type, Json::object({{"paths", std::move(paths)}}).dump());
  }
  const bool api = path[0] == "api" && path.size() <= 2;
  const bool apis = path[0] == "apis" && path.size() <= 3;
  if (!api && !apis) return std::nullopt;
  const std::string form = path.size() == 1 ? aggregated_form(request.headers) : "";
  if (!form.empty())
    return reply("application/json;g=apidiscovery.k8s.io;v=" + form + ";as=APIGroupDiscoveryList",
                 aggregated(server, "/" + path[0], form).dump());
  const Json document = plain_document(server, path);
  if (document.is_null()) throw PageNotFound{};
  return reply(json_type, document.dump());
}

}  // namespace evenkeel::inline v0::testing
