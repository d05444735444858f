// SPDX-License-Identifier: Apache-2.0
#include "apiserver/schema/metadata_validation.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "apiserver/schema/name_rules.hpp"
#include "base/ascii.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

constexpr std::int64_t max_annotation_bytes = 256 << 10;

void add_all(FieldErrors& errors, const std::string& field, const std::string& value,
             const std::vector<std::string>& problems) {
  for (const std::string& problem : problems) errors.push_back(field_invalid(field, value, problem));
}

void check_labels(const Json& labels, FieldErrors& errors) {
  if (!labels.is_object()) return;
  for (const auto& [key, value] : labels.as_object()) {
    add_all(errors, "metadata.labels", key, qualified_name_problems(key));
    const std::string text = value.string_or("");
    add_all(errors, "metadata.labels", text, label_value_problems(text));
  }
}

void check_annotations(const Json& annotations, FieldErrors& errors) {
  if (!annotations.is_object()) return;
  std::size_t total = 0;
  for (const auto& [key, value] : annotations.as_object()) {
    add_all(errors, "metadata.annotations", key,
            qualified_name_problems(evenkeel::detail::ascii::lower(key)));
    total += key.size() + value.string_or("").size();
  }
  if (total > static_cast<std::size_t>(max_annotation_bytes))
    errors.push_back(field_too_long("metadata.annotations", max_annotation_bytes));
}

/// Formats a reference like Go: members in the order of the struct.
std::string reference_text(const Json& reference) {
  std::string out = "{";
  for (const char* name : {"apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"}) {
    const Json* value = reference.find(name);
    if (!value) continue;
    if (out.size() > 1) out += ',';
    out += '"' + std::string(name) + "\":" + value->dump();
  }
  return out + "}";
}

void check_owner(const Json& owner, FieldErrors& errors) {
  const std::string path = "metadata.ownerReferences";
  const std::string api_version = owner["apiVersion"].string_or("");
  const std::string kind = owner["kind"].string_or("");
  if (api_version.empty() || api_version.back() == '/' ||
      std::count(api_version.begin(), api_version.end(), '/') > 1)
    errors.push_back(field_invalid(path + ".apiVersion", api_version, "version must not be empty"));
  for (const char* name : {"kind", "name", "uid"})
    if (owner[name].string_or("").empty())
      errors.push_back(field_invalid(path + "." + name, "", "must not be empty"));
  if (api_version == "v1" && kind == "Event")
    errors.push_back(
        {"FieldValueInvalid",
         "Invalid value: " + reference_text(owner) + ": /v1, Kind=Event is disallowed from being an owner",
         path});
}

void check_owners(const Json& owners, FieldErrors& errors) {
  if (!owners.is_array()) return;
  const Json* controller = nullptr;
  std::string all = "[";
  for (const Json& owner : owners.as_array())
    all.append(all.size() > 1 ? "," : "").append(reference_text(owner));
  all += "]";
  for (const Json& owner : owners.as_array()) {
    check_owner(owner, errors);
    if (!owner["controller"].bool_or(false)) continue;
    const auto named = [](const Json& of) {
      return of["kind"].string_or("") + "/" + of["name"].string_or("");
    };
    if (controller)
      errors.push_back(
          {"FieldValueInvalid",
           "Invalid value: " + all +
               ": Only one reference can have Controller set to true. Found \"true\" in references for " +
               named(*controller) + " and " + named(owner),
           "metadata.ownerReferences"});
    else
      controller = &owner;
  }
}

void check_finalizers(const Json& finalizers, FieldErrors& errors) {
  if (!finalizers.is_array()) return;
  bool orphan = false;
  bool foreground = false;
  for (const Json& finalizer : finalizers.as_array()) {
    const std::string name = finalizer.string_or("");
    add_all(errors, "metadata.finalizers", name, qualified_name_problems(name));
    orphan = orphan || name == "orphan";
    foreground = foreground || name == "foregroundDeletion";
  }
  if (orphan && foreground)
    errors.push_back(field_invalid("metadata.finalizers", finalizers,
                                   "finalizer orphan and foregroundDeletion cannot be both set"));
}

void check_collections(const Json& metadata, FieldErrors& errors) {
  check_labels(metadata["labels"], errors);
  check_annotations(metadata["annotations"], errors);
  check_owners(metadata["ownerReferences"], errors);
}

bool is_standard_finalizer(std::string_view name) {
  return name == "kubernetes" || name == "orphan" || name == "foregroundDeletion";
}

bool contains(const Json& list, const Json& wanted) {
  return list.is_array() &&
         std::find(list.as_array().begin(), list.as_array().end(), wanted) != list.as_array().end();
}

void check_no_new_finalizers(const Json& finalizers, const Json& old, FieldErrors& errors) {
  std::string added;
  if (finalizers.is_array())
    for (const Json& finalizer : finalizers.as_array())
      if (!contains(old, finalizer)) added += (added.empty() ? "" : ", ") + finalizer.dump();
  if (!added.empty())
    errors.push_back(
        field_forbidden("metadata.finalizers",
                        "no new finalizers can be added if the object is being deleted, found new "
                        "finalizers []string{" +
                            added + "}"));
}

}  // namespace

void check_finalizer_name(const std::string& name, const std::string& path, FieldErrors& errors) {
  if (name.find('/') == std::string::npos && !is_standard_finalizer(name))
    errors.push_back(
        field_invalid(path, name, "name is neither a standard finalizer name nor is it fully qualified"));
}

FieldErrors check_new_metadata(const Json& metadata, const MetadataRules& rules) {
  FieldErrors errors;
  const std::string generate = metadata["generateName"].string_or("");
  const std::string name = metadata["name"].string_or("");
  if (!generate.empty())
    add_all(errors, "metadata.generateName", generate, name_problems(generate, rules.name, NamePart::prefix));
  if (name.empty())
    errors.push_back(field_required("metadata.name", "name or generateName is required"));
  else
    add_all(errors, "metadata.name", name, name_problems(name, rules.name));
  const std::string namespace_ = metadata["namespace"].string_or("");
  if (!rules.namespaced && !namespace_.empty())
    errors.push_back(field_forbidden("metadata.namespace", "not allowed on this type"));
  check_collections(metadata, errors);
  check_finalizers(metadata["finalizers"], errors);
  const Json& finalizers = metadata["finalizers"];
  for (std::size_t i = 0; !rules.custom && i < finalizers.size(); ++i)
    check_finalizer_name(finalizers[i].string_or(""), "metadata.finalizers[" + std::to_string(i) + "]",
                         errors);
  return errors;
}

FieldErrors check_metadata_parts(const Json& metadata) {
  FieldErrors errors;
  check_collections(metadata, errors);
  check_finalizers(metadata["finalizers"], errors);
  return errors;
}

FieldErrors check_metadata_update(const Json& metadata, const Json& old) {
  FieldErrors errors;
  if (!old["deletionTimestamp"].is_null())
    check_no_new_finalizers(metadata["finalizers"], old["finalizers"], errors);
  static constexpr std::array<std::string_view, 5> immutable = {
      "name", "namespace", "uid", "deletionTimestamp", "deletionGracePeriodSeconds"};
  for (const std::string_view field : immutable)
    if (metadata[field] != old[field])
      errors.push_back(
          field_invalid("metadata." + std::string(field), metadata[field], "field is immutable"));
  check_collections(metadata, errors);
  return errors;
}

std::vector<std::string> finalizer_warnings(const Json& metadata, const Json& old) {
  std::vector<std::string> warnings;
  const Json& finalizers = metadata["finalizers"];
  if (!finalizers.is_array()) return warnings;
  for (const Json& finalizer : finalizers.as_array()) {
    const std::string name = finalizer.string_or("");
    if (name.find('/') != std::string::npos || is_standard_finalizer(name) ||
        contains(old["finalizers"], finalizer))
      continue;
    const std::string_view path = name.find('.') == std::string::npos ? "" : " including a path (/)";
    warnings.push_back("metadata.finalizers: " + Json(name).dump() +
                       ": prefer a domain-qualified finalizer name" + std::string(path) +
                       " to avoid accidental conflicts with other finalizer writers");
  }
  return warnings;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
