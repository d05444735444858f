// SPDX-License-Identifier: Apache-2.0
#include "apiserver/store/resource_type.hpp"

#include <algorithm>
#include <utility>

#include "apiserver/schema/defaults.hpp"
#include "apiserver/schema/pruning.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

/// Custom resources are read with the current schema of the storage version, including defaults; other
/// versions then drop unknown fields, and default nothing.
Json as_read(const ResourceType& type, const StoredForm& form, Json body) {
  if (type.from_storage) return type.from_storage(std::move(body));
  if (type.reads_as_stored(form) || !type.storage_schema) return body;
  if (type.hook) {
    if (const auto own = type.schemas.find(form.version); own != type.schemas.end()) {
      prune(body, *own->second);
      apply_defaults(body, *own->second);
    }
    return body;
  }
  prune(body, *type.storage_schema);
  apply_defaults(body, *type.storage_schema);
  if (type.version != type.storage_version) prune(body, *type.schema);
  return body;
}

}  // namespace

bool ResourceType::has_verb(std::string_view verb) const {
  return std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
}

const BuiltinResource* ResourceType::subresource(std::string_view name) const {
  for (const BuiltinResource& entry : subresources)
    if (std::string_view(entry.name).substr(plural.size() + 1) == name) return &entry;
  return nullptr;
}

std::string ResourceType::head() const {
  return "\"kind\":\"" + kind + "\",\"apiVersion\":\"" + api_version() + "\"";
}

bool ResourceType::reads_as_stored(const StoredForm& form) const {
  if (from_storage != nullptr) return false;
  if (hook) return form.version == version && form.shape == shape;
  return !custom || (version == storage_version && form.shape == shape);
}

StoredForm ResourceType::stored_form(const Json& body) const {
  if (!custom) return {};
  StoredForm form{.shape = 0, .version = storage_version};
  if (version != storage_version || !schema) return form;
  // Defaults that the write dropped come back when the object is read: those of status in a create.
  Json defaulted = body;
  apply_defaults(defaulted, *schema);
  if (defaulted == body) form.shape = shape;
  return form;
}

Json ResourceType::read(const Stored& object) const {
  return as_read(*this, object.form(), object.document());
}

Json ResourceType::document(const StoredForm& form, Json body) const {
  body = as_read(*this, form, std::move(body));
  body["apiVersion"] = api_version();
  body["kind"] = kind;
  return body;
}

Json ResourceType::document_as_stored(const Stored& object) const {
  Json body = as_read(*this, object.form(), object.document());
  body["apiVersion"] = group + "/" + object.form().version;
  body["kind"] = kind;
  return body;
}

void ResourceType::append_members(const Stored& object, std::string& out) const {
  if (reads_as_stored(object.form())) {
    out += object.text();
    return;
  }
  const std::string whole = read(object).dump();
  out.append(whole, 1, whole.size() - 2);
}

std::string ResourceType::text(const Stored& object) const {
  std::string out = "{";
  out.append(head()).append(",");
  append_members(object, out);
  out += '}';
  return out;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
