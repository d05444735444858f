// SPDX-License-Identifier: Apache-2.0
#include "apiserver/rest/discovery.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "apiserver/openapi/openapi.hpp"
#include "apiserver/query/negotiation.hpp"
#include "apiserver/store/storage.hpp"
#include "apiserver/text/json_members.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

constexpr std::string_view json_type = "application/json";
constexpr std::string_view aggregated_type =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
// The media type that old clients request is invalid by RFC 2045; the response has the valid one.
constexpr std::string_view openapi_v2_asked = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
constexpr std::string_view openapi_v2_type = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
constexpr std::string_view openapi_v3_type = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf";

std::vector<std::string> subresource_verbs(const ResourceType& type, std::string_view name) {
  if (const BuiltinResource* entry = type.subresource(name)) return entry->verbs;
  return {"get", "patch", "update"};
}

/// Returns the names of the subresources of a resource: built-in ones as listed, status and scale of custom
/// ones.
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
  out["verbs"] = json_strings(type.verbs);
  if (!type.short_names.empty()) out["shortNames"] = json_strings(type.short_names);
  if (!type.categories.empty()) out["categories"] = json_strings(type.categories);
  if (type.has_verb("list") && type.has_verb("create"))
    out["storageVersionHash"] = storage_version_hash(type);
  return out;
}

Json listed_subresource(const ResourceType& type, const std::string& name) {
  const KindName kind = subresource_kind(type, name);
  Json out = Json::object({{"name", type.plural + "/" + name},
                           {"singularName", ""},
                           {"namespaced", type.namespaced},
                           {"kind", kind.kind}});
  out["verbs"] = json_strings(subresource_verbs(type, name));
  if (kind.group != type.group || kind.version != type.version) {
    out["group"] = kind.group;
    out["version"] = kind.version;
  }
  return out;
}

std::optional<ServedVersion> find_version(Storage& storage, std::string_view group,
                                          std::string_view version) {
  for (ServedVersion& entry : storage.registry.versions())
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
  Json out = Json::object({{"kind", "APIResourceList"}, {"groupVersion", served.api_version()}});
  if (!served.group.empty()) out["apiVersion"] = "v1";
  out["resources"] = std::move(resources);
  return out;
}

Json group_version(const ServedVersion& served) {
  return Json::object({{"groupVersion", served.api_version()}, {"version", served.version}});
}

/// Returns APIGroup documents without kind and apiVersion, in the order of service.
std::vector<Json> groups(Storage& storage) {
  std::vector<Json> out;
  for (const ServedVersion& served : storage.registry.versions()) {
    if (served.group.empty()) continue;
    if (out.empty() || std::as_const(out.back())["name"] != Json(served.group)) {
      out.push_back(Json::object({{"name", served.group}, {"versions", Json::array()}}));
      out.back()["preferredVersion"] = group_version(served);
    }
    out.back()["versions"].push_back(group_version(served));
  }
  return out;
}

/// Built-in kinds contain their group and version only if these differ from the list's.
Json response_kind(const ResourceType& type, const KindName& kind) {
  const bool same = !type.custom && kind.group == type.group && kind.version == type.version;
  return Json::object(
      {{"group", same ? "" : kind.group}, {"version", same ? "" : kind.version}, {"kind", kind.kind}});
}

Json aggregated_resource(const ResourceType& type) {
  Json out = Json::object({{"resource", type.plural},
                           {"scope", type.namespaced ? "Namespaced" : "Cluster"},
                           {"singularResource", type.singular}});
  out["responseKind"] = response_kind(type, {type.group, type.version, type.kind});
  out["verbs"] = json_strings(type.verbs);
  if (!type.short_names.empty()) out["shortNames"] = json_strings(type.short_names);
  if (!type.categories.empty()) out["categories"] = json_strings(type.categories);
  Json subresources = Json::array();
  for (const std::string& name : subresource_names(type)) {
    Json entry = Json::object({{"subresource", name}});
    entry["responseKind"] = response_kind(type, subresource_kind(type, name));
    entry["verbs"] = json_strings(subresource_verbs(type, name));
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
Json aggregated(Storage& storage, std::string_view path) {
  Json items = Json::array();
  std::string last;
  for (const ServedVersion& served : storage.registry.versions()) {
    if (served.group.empty() != (path == "/api")) continue;
    if (items.empty() || served.group != last) {
      Json metadata = Json::object();
      if (!served.group.empty()) metadata["name"] = served.group;
      Json item = Json::object({{"versions", Json::array()}});
      item["metadata"] = std::move(metadata);
      items.push_back(std::move(item));
    }
    last = served.group;
    items.as_array().back()["versions"].push_back(aggregated_version(served));
  }
  Json out = Json::object({{"kind", "APIGroupDiscoveryList"}, {"metadata", Json::object()}});
  out["apiVersion"] = "apidiscovery.k8s.io/v2";
  out["items"] = std::move(items);
  return out;
}

Json version_document(const std::string& version) {
  const auto dot = version.find('.');
  const std::string major = version.substr(0, dot);
  const std::string minor = version.substr(dot + 1, version.find('.', dot + 1) - dot - 1);
  int number = 0;
  std::from_chars(minor.data(), minor.data() + minor.size(), number);
  return Json::object({{"major", major},
                       {"minor", minor},
                       {"emulationMajor", major},
                       {"emulationMinor", minor},
                       {"minCompatibilityMajor", major},
                       {"minCompatibilityMinor", std::to_string(std::max(number - 1, 0))},
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

/// The health checks; each has its own path.
constexpr std::array<std::string_view, 3> health_checks = {"ping", "log", "etcd"};

/// Answers /healthz, /livez and /readyz, and a single check of them; std::nullopt for other paths.
std::optional<http::Response> health(const Target& target) {
  const std::vector<std::string>& path = target.segments;
  if (path.empty() || (path[0] != "healthz" && path[0] != "livez" && path[0] != "readyz"))
    return std::nullopt;
  const bool known = path.size() == 1 ||
                     (path.size() == 2 &&
                      std::find(health_checks.begin(), health_checks.end(), path[1]) != health_checks.end());
  if (!known || target.trailing_slash) throw PageNotFound{};
  std::string text = "ok";
  if (path.size() == 1 && target.query.has("verbose")) {
    text.clear();
    const std::vector<std::string> excluded = target.query.all("exclude");
    for (const std::string_view check : health_checks) {
      const bool left_out = std::find(excluded.begin(), excluded.end(), check) != excluded.end();
      text.append("[+]").append(check).append(left_out ? " excluded: ok\n" : " ok\n");
    }
    text += path[0] + " check passed\n";
  }
  http::Response out = reply("text/plain; charset=utf-8", std::move(text));
  out.headers.set("X-Content-Type-Options", "nosniff");
  return out;
}

std::string path_text(const std::vector<std::string>& segments) {
  std::string out;
  for (const std::string& segment : segments) out += "/" + segment;
  return out;
}

void require_get(const http::Request& request) {
  if (request.method != http::Method::get) throw StatusError::method_not_allowed();
}

/// Returns the plain document of /api, /apis, /apis/G, /api/V and /apis/G/V; null for other paths.
Json plain_document(Storage& storage, const std::vector<std::string>& path) {
  if (path.size() == 1 && path[0] == "api")
    return Json::object(
        {{"kind", "APIVersions"},
         {"versions", Json::array({"v1"})},
         {"serverAddressByClientCIDRs",
          Json::array({Json::object({{"clientCIDR", "0.0.0.0/0"}, {"serverAddress", ""}})})}});
  if (path.size() == 1) {
    Json list = Json::object({{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", Json::array()}});
    for (Json& group : groups(storage)) list["groups"].push_back(std::move(group));
    return list;
  }
  if (path[0] == "apis" && path.size() == 2) {
    for (Json& group : groups(storage)) {
      if (std::as_const(group)["name"] != Json(path[1])) continue;
      group["kind"] = "APIGroup";
      group["apiVersion"] = "v1";
      return std::move(group);
    }
    return Json();
  }
  const auto served = find_version(storage, path[0] == "api" ? "" : path[1], path.back());
  return served ? resource_list(*served) : Json();
}

/// Returns the document with its tag, or 304 if the client's copy is current.
http::Response tagged(const http::Request& request, std::string_view type, const std::string& body,
                      const std::string& tag) {
  const std::string* known = request.headers.find("If-None-Match");
  const bool fresh = known != nullptr && *known == tag;
  http::Response out{.status = fresh ? 304 : 200};
  if (!fresh) out.headers.set("Content-Type", std::string(type));
  out.headers.set("ETag", tag);
  out.headers.set("Vary", "Accept");
  if (!fresh) out.body = body;
  return out;
}

}  // namespace

const Discovery::Document& Discovery::cached(Storage& storage, const std::string& key,
                                             Document (*make)(Storage&, const std::string&)) {
  if (generation_ != storage.registry.generation()) {
    documents_.clear();
    generation_ = storage.registry.generation();
  }
  const auto at = documents_.find(key);
  if (at != documents_.end()) return at->second;
  Document made = make(storage, key);
  made.tag = "\"" + openapi_hash(made.body) + "\"";
  return documents_.emplace(key, std::move(made)).first->second;
}

http::Response Discovery::openapi(Storage& storage, const http::Request& request,
                                  const std::vector<std::string>& path) {
  const auto json_v2 = [](Storage& of, const std::string&) {
    const auto custom = of.registry.custom_kinds();
    return Document{std::string(json_type), openapi_v2(of.catalog.data(), custom).dump()};
  };
  const auto protobuf_v2 = [](Storage& of, const std::string&) {
    const auto custom = of.registry.custom_kinds();
    return Document{std::string(openapi_v2_type), openapi_v2_protobuf(openapi_v2(of.catalog.data(), custom))};
  };
  const auto index_v3 = [](Storage& of, const std::string&) {
    const auto custom = of.registry.custom_kinds();
    return Document{std::string(json_type), openapi_v3_index(of.catalog.data(), custom).dump()};
  };
  const auto json_v3 = [](Storage& of, const std::string& key) {
    const auto custom = of.registry.custom_kinds();
    const std::vector<std::string> parts = parse_target(key).segments;  // openapi/v3/apis/GROUP/VERSION
    const Json document =
        openapi_v3(of.catalog.data(), parts.size() == 5 ? parts[3] : "", parts.back(), custom);
    return Document{std::string(json_type), document.is_null() ? std::string() : document.dump()};
  };
  const std::string key = path_text(path);
  const Document* document = nullptr;
  if (path[1] == "v2") {
    if (path.size() > 2) throw PageNotFound{};
    const std::string type = negotiate_any(request.headers, {json_type, openapi_v2_asked, openapi_v2_type});
    if (type.empty())
      throw StatusError::not_acceptable({std::string(json_type), std::string(openapi_v2_type)});
    document =
        type == json_type ? &cached(storage, key, json_v2) : &cached(storage, key + "+protobuf", protobuf_v2);
  } else if (path.size() == 2) {
    document = &cached(storage, key, index_v3);
  } else {
    if (path.size() < 4 || path.size() > 5) return http::Response{.status = 404};
    document = &cached(storage, key, json_v3);
    if (document->body.empty()) return http::Response{.status = 404};
    if (negotiate_any(request.headers, {json_type, openapi_v3_type}) == openapi_v3_type)
      return reply(openapi_v3_type, openapi_v3_protobuf(Json::parse(document->body)));
  }
  return tagged(request, document->type, document->body, document->tag);
}

std::optional<http::Response> Discovery::answer(Storage& storage, const http::Request& request,
                                                const Target& target) {
  const std::vector<std::string>& path = target.segments;
  if (auto checked = health(target)) return checked;
  if (path.size() == 1 && path[0] == "version") {
    require_get(request);
    if (negotiate_any(request.headers, {json_type}).empty())
      throw StatusError::no_representation({std::string(json_type)});
    return reply(json_type, version_document(version_).dump(2));
  }
  if (path.size() >= 2 && path[0] == "openapi" && (path[1] == "v2" || path[1] == "v3"))
    return openapi(storage, request, path);
  if (path.empty()) {
    Json paths = Json::array({"/api", "/api/v1", "/apis"});
    for (const ServedVersion& served : storage.registry.versions())
      if (!served.group.empty()) paths.push_back("/apis/" + served.api_version());
    for (const char* each : {"/healthz", "/livez", "/openapi/v2", "/openapi/v3", "/readyz", "/version"})
      paths.push_back(each);
    return reply(json_type, Json::object({{"paths", std::move(paths)}}).dump());
  }
  const bool api = path[0] == "api" && path.size() <= 2;
  const bool apis = path[0] == "apis" && path.size() <= 3;
  if (!api && !apis) return std::nullopt;
  const Json plain = plain_document(storage, path);
  if (plain.is_null() && path.size() > 1 &&
      storage.registry.is_builtin_group(path[0] == "api" ? "" : path[1]) &&
      path.size() == (path[0] == "api" ? 2 : 3))
    throw StatusError::no_such_path();
  if (plain.is_null()) throw PageNotFound{};
  if (path.size() > 1 || api) require_get(request);
  const DiscoveryForm form = negotiate_discovery(request.headers, path.size() == 1);
  if (!form.aggregated) return reply(json_type, plain.dump());
  const Document& document = cached(storage, "/" + path[0], [](Storage& of, const std::string& key) {
    return Document{std::string(aggregated_type), aggregated(of, key).dump()};
  });
  return tagged(request, document.type, document.body, document.tag);
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
