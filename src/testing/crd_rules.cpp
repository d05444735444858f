// SPDX-License-Identifier: Apache-2.0
#include "testing/crd_rules.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "testing/name_rules.hpp"
#include "testing/registry.hpp"

namespace evenkeel::inline v0::testing {
namespace {

const std::vector<std::string> all_verbs = {"delete", "deletecollection", "get",    "list",
                                            "patch",  "create",           "update", "watch"};

std::vector<std::string> strings_of(const Json& list) {
  std::vector<std::string> out;
  if (list.is_array())
    for (const Json& item : list.as_array()) out.push_back(item.string_or(""));
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
  return kind;
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

/// What users of a deprecated version are told: the CRD's words, or which version to use instead.
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
  type.selectable_fields = selectable_fields(version);
  type.rules.unconditional_update = false;
  type.rules.generation = type.has_status ? GenerationRule::all_but_status : GenerationRule::all_but_metadata;
  type.registry_key = "/registry/" + type.group + "/" + type.plural;
  type.custom_kind = std::move(custom);
  type.crd_name = crd.at({"metadata", "name"}).string_or("");
  type.terminating = !crd.at({"metadata", "deletionTimestamp"}).is_null();
  return type;
}

std::string at(std::size_t index) {
  return "spec.versions[" + std::to_string(index) + "]";
}

void check_label(FieldErrors& errors, const std::string& field, const Json& value) {
  const std::string text = value.string_or("");
  if (text.empty())
    errors.push_back(field_required(field));
  else
    for (const std::string& problem : name_problems(text, NameRule::dns_1035_label))
      errors.push_back(field_invalid(field, text, problem));
}

void check_names(const Json& spec, FieldErrors& errors) {
  const Json& names = spec["names"];
  check_label(errors, "spec.names.plural", names["plural"]);
  if (names.contains("singular")) check_label(errors, "spec.names.singular", names["singular"]);
  const std::string kind = names["kind"].string_or("");
  if (kind.empty()) errors.push_back(field_required("spec.names.kind"));
  if (kind == names["listKind"].string_or(kind + "List") && !kind.empty())
    errors.push_back(field_invalid("spec.names.listKind", kind, "kind and listKind may not be the same"));
}

void check_versions(const Json& spec, FieldErrors& errors) {
  const Json& versions = spec["versions"];
  std::size_t stored = 0;
  std::vector<std::string> seen;
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const Json& version = versions[i];
    const std::string name = version["name"].string_or("");
    check_label(errors, at(i) + ".name", version["name"]);
    if (std::find(seen.begin(), seen.end(), name) != seen.end())
      errors.push_back(field_invalid("spec.versions", Json(name), "must contain unique version names"));
    seen.push_back(name);
    if (version["storage"].bool_or(false)) ++stored;
    const Json& schema = version.at({"schema", "openAPIV3Schema"});
    if (!schema.is_object()) {
      errors.push_back(field_required(at(i) + ".schema.openAPIV3Schema", "schemas are required"));
      continue;
    }
    FieldErrors found = check_structural(schema, at(i) + ".schema.openAPIV3Schema");
    errors.insert(errors.end(), found.begin(), found.end());
  }
  if (stored != 1)
    errors.push_back(
        field_invalid("spec.versions", versions, "must have exactly one version marked as storage version"));
}

void check_unchanged(const Json& crd, const Json& live, FieldErrors& errors) {
  if (crd.at({"spec", "scope"}) != live.at({"spec", "scope"}) && has_condition(live, "Established"))
    errors.push_back(field_invalid("spec.scope", crd.at({"spec", "scope"}), "field is immutable"));
  if (crd.at({"spec", "group"}) != live.at({"spec", "group"}))
    errors.push_back(field_invalid("spec.group", crd.at({"spec", "group"}), "field is immutable"));
  if (crd.at({"spec", "names", "plural"}) != live.at({"spec", "names", "plural"}))
    errors.push_back(
        field_invalid("spec.names.plural", crd.at({"spec", "names", "plural"}), "field is immutable"));
}

void check_stored_versions(const Json& crd, FieldErrors& errors) {
  const std::vector<std::string> stored = strings_of(crd.at({"status", "storedVersions"}));
  const Json& versions = crd.at({"spec", "versions"});
  for (std::size_t i = 0; i < stored.size(); ++i) {
    bool found = false;
    for (std::size_t j = 0; j < versions.size(); ++j) found = found || versions[j]["name"] == Json(stored[i]);
    if (!found)
      errors.push_back(
          field_invalid("status.storedVersions[" + std::to_string(i) + "]", stored[i],
                        "missing from spec.versions; " + stored[i] +
                            " was previously a storage version, and must remain in spec.versions until a "
                            "storage migration ensures no data remains persisted in " +
                            stored[i] + " and removes " + stored[i] + " from status.storedVersions"));
  }
}

}  // namespace

void prepare_new_crd(Json& crd) {
  Json stored = Json::array();
  const Json& versions = std::as_const(crd).at({"spec", "versions"});
  for (std::size_t i = 0; i < versions.size(); ++i)
    if (versions[i]["storage"].bool_or(false)) stored.push_back(versions[i]["name"]);
  crd["status"] = Json::object({{"conditions", nullptr},
                                {"acceptedNames", Json::object({{"plural", ""}, {"kind", ""}})},
                                {"storedVersions", std::move(stored)}});
}

FieldErrors check_crd(const Json& crd, const Json& live) {
  FieldErrors errors;
  const Json& spec = crd["spec"];
  const std::string name = crd.at({"metadata", "name"}).string_or("");
  const std::string wanted = spec.at({"names", "plural"}).string_or("") + "." + spec["group"].string_or("");
  if (name != wanted)
    errors.push_back(field_invalid("metadata.name", name, "must be spec.names.plural+\".\"+spec.group"));
  if (spec["group"].string_or("").empty()) errors.push_back(field_required("spec.group"));
  const std::string scope = spec["scope"].string_or("");
  if (scope.empty())
    errors.push_back(field_required("spec.scope"));
  else if (scope != "Cluster" && scope != "Namespaced")
    errors.push_back(field_not_supported("spec.scope", scope, {Json("Cluster"), Json("Namespaced")}));
  check_names(spec, errors);
  check_versions(spec, errors);
  if (!live.is_null()) {
    check_unchanged(crd, live, errors);
    check_stored_versions(crd, errors);
  }
  return errors;
}

std::vector<ResourceType> resources_of(const Json& crd) {
  std::vector<ResourceType> out;
  const Json& versions = crd.at({"spec", "versions"});
  std::shared_ptr<const CustomKind> storage;
  for (std::size_t i = 0; i < versions.size(); ++i)
    if (versions[i]["storage"].bool_or(false))
      storage = std::make_shared<CustomKind>(custom_kind(crd["spec"], versions[i]));
  for (std::size_t i = 0; i < versions.size(); ++i) {
    if (!versions[i]["served"].bool_or(false)) continue;
    out.push_back(resource_of(crd, versions[i]));
    out.back().storage_version = storage ? storage->version : "";
    out.back().storage_kind = storage;
    out.back().deprecation = deprecation_of(crd["spec"], versions[i]);
  }
  return out;
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

}  // namespace evenkeel::inline v0::testing
