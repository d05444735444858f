// SPDX-License-Identifier: Apache-2.0
// The forms of a value in server-side apply: a leaf, a list of named items, or a map of fields.
#pragma once

#include <cstdint>

#include "apiserver/merge/field_set.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

enum class FieldForm : std::uint8_t { leaf, items, fields };

/// Returns the form of a value (or of two values of one field; either may be nullptr). Without a schema the
/// form is that of the value: objects have fields, all others are leaves.
inline FieldForm form_of(const Schema* schema, const Json* one, const Json* other) {
  const Json* told = one != nullptr && !one->is_null() ? one : other;
  const auto both = [&](auto test) {
    return (one == nullptr || one->is_null() || test(*one)) &&
           (other == nullptr || other->is_null() || test(*other));
  };
  const bool typed = schema != nullptr && schema->type != SchemaType::any;
  const bool object = typed ? schema->type == SchemaType::object : told != nullptr && told->is_object();
  if (object && both([](const Json& value) { return value.is_object(); }))
    return schema != nullptr && schema->map_type == MapType::atomic ? FieldForm::leaf : FieldForm::fields;
  if (typed && schema->type == SchemaType::array && schema->list_type != ListType::atomic &&
      both([](const Json& value) { return value.is_array(); }))
    return FieldForm::items;
  return FieldForm::leaf;
}

inline bool is_empty(const Json* value) {
  return value == nullptr || value->is_null() || value->empty();
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
