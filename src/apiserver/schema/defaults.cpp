// SPDX-License-Identifier: Apache-2.0
#include "apiserver/schema/defaults.hpp"

#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

/// Returns true for a null that means "not set".
bool is_unset(const Json& value, const Schema& schema) {
  return value.is_null() && !schema.nullable;
}

void default_fields(Json& object, const Schema& schema) {
  for (const Property& property : schema.properties) {
    if (!property.schema->default_value) continue;
    Json* value = object.find(property.name);
    if (value == nullptr || is_unset(*value, *property.schema))
      object[property.name] = *property.schema->default_value;
  }
  for (auto& [name, value] : object.as_object()) {
    const Schema* member = schema.member(name);
    if (member == nullptr) continue;
    if (member == schema.additional && is_unset(value, *member))
      value = member->default_value.value_or(Json());
    apply_schema_defaults(value, *member);
  }
}

/// Defaults that equal Go's zero value are not defaults of the API.
bool is_zero_default(const Json& value) {
  return value == Json::object() || value == Json("") || value == Json(0) || value == Json(false);
}

void builtin_schema_defaults(Json& value, const Schema& schema) {
  if (value.is_array() && schema.items != nullptr) {
    for (Json& item : value.as_array()) {
      if (item.is_null()) item = schema.items->default_value.value_or(Json());  // zero, as Go decodes it
      builtin_schema_defaults(item, *schema.items);
    }
  }
  if (!value.is_object() || schema.opaque) return;
  for (const Property& property : schema.properties) {
    const auto& standard = property.schema->default_value;
    const Json* present = std::as_const(value).find(property.name);
    if (standard && !is_zero_default(*standard) && (present == nullptr || present->is_null()))
      value[property.name] = *standard;
  }
  for (auto& [name, member] : value.as_object()) {
    if (const Schema* known = schema.member(name)) builtin_schema_defaults(member, *known);
  }
}

}  // namespace

void apply_schema_defaults(Json& value, const Schema& schema) {
  if (value.is_object()) return default_fields(value, schema);
  if (!value.is_array() || schema.items == nullptr) return;
  for (Json& item : value.as_array()) {
    if (is_unset(item, *schema.items)) item = schema.items->default_value.value_or(Json());
    apply_schema_defaults(item, *schema.items);
  }
}

void apply_defaults(Json& object, const KindSchema& kind) {
  if (!object.is_object()) return;
  if (!kind.built_in) {
    // ObjectMeta has built-in types, whose zero values must not be written.
    Json metadata;
    if (Json* present = object.find("metadata")) metadata = std::move(*present);
    const bool had = object.erase("metadata");
    apply_schema_defaults(object, kind.root());
    object.erase("metadata");
    if (had) object["metadata"] = std::move(metadata);
    return;
  }
  builtin_schema_defaults(object, kind.root());
  apply_builtin_defaults(object, kind);
}

Json zero_value(const Schema& schema) {
  Json result = Json::object();
  for (const Property& property : schema.properties) {
    const Schema& member = *property.schema;
    if (member.always_written)
      result[property.name] = zero_value(member);
    else if (schema.is_required(property.name) || member.written_when_unset)
      result[property.name] = member.default_value.value_or(Json());
  }
  return result;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
