// SPDX-License-Identifier: Apache-2.0
#include "apiserver/store/crd_rules.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "apiserver/store/registry.hpp"
#include "apiserver/text/formats.hpp"
#include "apiserver/text/regular_expression.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

const std::vector<std::string> all_verbs = {"delete", "deletecollection", "get",    "list",
                                            "patch",  "create",           "update", "watch"};

std::vector<std::string> strings_of(const Json& list) {
  std::vector<std::string> out;
  if (list.is_array())
    for (const Json& item : list.as_array()) out.push_back(item.string_or(""));
  return out;
}

std::vector<std::string> selectable_fields(const Json& version) {
  std::vector<std::string> out;
  const Json& fields = version["selectableFields"];
  for (std::size_t i = 0; i < fields.size(); ++i) {
    std::string path = fields[i]["jsonPath"].string_or("");
    if (path.starts_with('.')) path.erase(0, 1);
    out.push_back(std::move(path));
  }
  return out;
}

CustomKind custom_kind(const Json& spec, const Json& version) {
  const Json& names = spec["names"];
  CustomKind kind;
  kind.group = spec["group"].string_or("");
  kind.version = version["name"].string_or("");
  kind.kind = names["kind"].string_or("");
  kind.list_kind = names["listKind"].string_or(kind.kind + "List");
  kind.plural = names["plural"].string_or("");
  kind.singular = names["singular"].string_or("");
  kind.namespaced = spec["scope"].string_or("") != "Cluster";
  kind.status_subresource = version["subresources"].contains("status");
  kind.preserve_unknown_fields = spec["preserveUnknownFields"].bool_or(false);
  kind.scale = version.at({"subresources", "scale"});
  kind.columns = version["additionalPrinterColumns"];
  kind.schema = version.at({"schema", "openAPIV3Schema"});
  kind.selectable_fields = selectable_fields(version);
  return kind;
}

/// Returns the warning for users of a deprecated version: the CRD's text, or a pointer to another version.
std::string deprecation_of(const Json& spec, const Json& version) {
  if (!version["deprecated"].bool_or(false)) return {};
  if (const Json* own = version.find("deprecationWarning")) return own->string_or("");
  const std::string group = spec["group"].string_or(""), kind = spec["names"]["kind"].string_or("");
  const std::string name = version["name"].string_or("");
  std::string better;
  const Json& versions = spec["versions"];
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const std::string other = versions[i]["name"].string_or("");
    if (!versions[i]["served"].bool_or(false) || versions[i]["deprecated"].bool_or(false)) continue;
    if (version_before(other, better.empty() ? name : better)) better = other;
  }
  std::string text = group + "/" + name + " " + kind + " is deprecated";
  if (!better.empty()) text.append("; use ").append(group + "/" + better).append(" ").append(kind);
  return text;
}

ResourceType resource_of(const Json& crd, const Json& version) {
  const Json& spec = crd["spec"];
  auto custom = std::make_shared<CustomKind>(custom_kind(spec, version));
  ResourceType type;
  type.group = custom->group;
  type.version = custom->version;
  type.kind = custom->kind;
  type.list_kind = custom->list_kind;
  type.plural = custom->plural;
  type.singular = custom->singular;
  type.namespaced = custom->namespaced;
  type.custom = true;
  type.has_status = custom->status_subresource;
  if (const Json& scale = custom->scale; scale.is_object())
    type.scale =
        ScalePaths{scale["specReplicasPath"].string_or(""), scale["statusReplicasPath"].string_or(""),
                   scale["labelSelectorPath"].string_or("")};
  type.verbs = all_verbs;
  type.short_names = strings_of(spec["names"]["shortNames"]);
  type.categories = strings_of(spec["names"]["categories"]);
  type.selectable_fields = custom->selectable_fields;
  type.rules.unconditional_update = false;
  type.rules.generation = type.has_status ? GenerationRule::all_but_status : GenerationRule::all_but_metadata;
  type.registry_key = "/registry/" + type.group + "/" + type.plural;
  type.custom_kind = std::move(custom);
  type.crd_name = crd.at({"metadata", "name"}).string_or("");
  type.terminating = !crd.at({"metadata", "deletionTimestamp"}).is_null();
  return type;
}

}  // namespace

void prepare_new_crd(Json& crd) {
  crd["status"] = Json::object({{"conditions", nullptr},
                                {"acceptedNames", Json::object({{"plural", ""}, {"kind", ""}})},
                                {"storedVersions", nullptr}});
  keep_stored_versions(crd);
}

void keep_stored_versions(Json& crd) {
  const Json& versions = std::as_const(crd).at({"spec", "versions"});
  for (std::size_t i = 0; i < versions.size(); ++i) {
    if (!versions[i]["storage"].bool_or(false)) continue;
    const Json name = versions[i]["name"];
    Json& stored = crd["status"]["storedVersions"];
    if (!stored.is_array()) stored = Json::array();
    const Json::Array& known = std::as_const(stored).as_array();
    if (std::find(known.begin(), known.end(), name) == known.end()) stored.push_back(name);
    return;
  }
}

namespace {

/// Returns null if the versions are converted by their names only.
std::shared_ptr<const ConversionHook> hook_of(const Json& spec) {
  const Json& conversion = spec["conversion"];
  if (conversion["strategy"] != Json("Webhook")) return nullptr;
  auto hook = std::make_shared<ConversionHook>();
  hook->client = conversion.at({"webhook", "clientConfig"});
  hook->reviews = conversion.at({"webhook", "conversionReviewVersions"});
  const Json& versions = spec["versions"];
  for (std::size_t i = 0; i < versions.size(); ++i) hook->kinds.push_back(custom_kind(spec, versions[i]));
  return hook;
}

}  // namespace

std::vector<ResourceType> resources_of(const Json& crd) {
  std::vector<ResourceType> out;
  const Json& versions = crd.at({"spec", "versions"});
  const std::shared_ptr<const ConversionHook> hook = hook_of(crd["spec"]);
  std::shared_ptr<const CustomKind> storage;
  for (std::size_t i = 0; i < versions.size(); ++i)
    if (versions[i]["storage"].bool_or(false))
      storage = std::make_shared<CustomKind>(custom_kind(crd["spec"], versions[i]));
  for (std::size_t i = 0; i < versions.size(); ++i) {
    if (!versions[i]["served"].bool_or(false)) continue;
    out.push_back(resource_of(crd, versions[i]));
    out.back().storage_version = storage ? storage->version : "";
    out.back().storage_kind = storage;
    out.back().hook = hook;
    out.back().deprecation = deprecation_of(crd["spec"], versions[i]);
  }
  return out;
}

namespace {

/// Source: apiextensions pkg/apiserver/validation/formats.go GetUnrecognizedFormats.
bool is_recognized_format(std::string_view format, std::string_view type) {
  if (type.empty() || type == "string") return is_string_format(format);
  if (type == "integer") return format == "int32" || format == "int64";
  return type == "number" && (format == "float" || format == "double");
}

/// Adds the formats in a schema that are not recognized.
void add_unrecognized_formats(const Json& schema, std::set<std::string>& out) {
  if (!schema.is_object()) return;
  const std::string format = schema["format"].string_or("");
  if (!format.empty() && !is_recognized_format(format, schema["type"].string_or(""))) out.insert(format);
  for (const char* name : {"items", "not", "additionalProperties"})
    add_unrecognized_formats(schema[name], out);
  for (const char* name : {"allOf", "anyOf", "oneOf"})
    for (std::size_t i = 0; i < schema[name].size(); ++i) add_unrecognized_formats(schema[name][i], out);
  if (const Json& properties = schema["properties"]; properties.is_object())
    for (const auto& [name, property] : properties.as_object()) add_unrecognized_formats(property, out);
}

std::set<std::string> unrecognized_formats(const Json& crd) {
  std::set<std::string> out;
  const Json& versions = crd.at({"spec", "versions"});
  for (std::size_t i = 0; i < versions.size(); ++i)
    add_unrecognized_formats(versions[i].at({"schema", "openAPIV3Schema"}), out);
  return out;
}

}  // namespace

std::vector<std::string> crd_warnings(const Json& crd, const Json& live) {
  std::vector<std::string> out;
  const std::set<std::string> known = unrecognized_formats(live);
  for (const std::string& format : unrecognized_formats(crd))
    if (!known.contains(format)) out.push_back("unrecognized format " + Json(format).dump());
  return out;
}

std::optional<Approval> approval_of(const Json& crd) {
  const std::string group = "." + crd.at({"spec", "group"}).string_or("");
  if (!group.ends_with(".k8s.io") && !group.ends_with(".kubernetes.io")) return std::nullopt;
  static const RegularExpression url("^[A-Za-z][A-Za-z0-9+.-]*://[^/?#]");
  const std::string given = crd.at({"metadata", "annotations"})[approval_annotation].string_or("");
  const std::string wanted =
      "protected groups must have approval annotation " + Json(approval_annotation).dump();
  const std::string see = ", see https://github.com/kubernetes/enhancements/pull/1111";
  if (given.empty()) return Approval{false, "MissingAnnotation", wanted + see};
  if (given.starts_with("unapproved"))
    return Approval{false, "UnapprovedAnnotation", "not approved: " + Json(given).dump()};
  if (has_format(given, "uri") && url.found_in(given))
    return Approval{true, "ApprovedAnnotation", "approved in " + given};
  return Approval{false, "InvalidAnnotation",
                  wanted + " with either a URL or a reason starting with \"unapproved\"" + see};
}

bool has_condition(const Json& crd, std::string_view type) {
  const Json& conditions = crd.at({"status", "conditions"});
  for (std::size_t i = 0; i < conditions.size(); ++i)
    if (conditions[i]["type"] == Json(type)) return conditions[i]["status"] == Json("True");
  return false;
}

bool set_condition(Json& crd, const CrdCondition& condition, const std::string& now) {
  Json& conditions = crd["status"]["conditions"];
  if (!conditions.is_array()) conditions = Json::array();
  Json wanted = Json::object({{"type", condition.type},
                              {"status", condition.holds ? "True" : "False"},
                              {"reason", condition.reason},
                              {"message", condition.message},
                              {"lastTransitionTime", now}});
  for (Json& each : conditions.as_array()) {
    if (std::as_const(each)["type"] != Json(condition.type)) continue;
    if (std::as_const(each)["status"] == wanted["status"])
      wanted["lastTransitionTime"] = std::as_const(each)["lastTransitionTime"];
    if (each == wanted) return false;
    each = std::move(wanted);
    return true;
  }
  conditions.push_back(std::move(wanted));
  return true;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
