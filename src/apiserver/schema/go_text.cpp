// SPDX-License-Identifier: Apache-2.0
#include "apiserver/schema/go_text.hpp"

#include "apiserver/schema/schema_validation.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

/// reflect.Kind of a decoded value.
std::string_view decoded_kind(const Json& value) {
  switch (value.kind()) {
    case Json::Kind::array:
      return "slice";
    case Json::Kind::object:
      return "map";
    case Json::Kind::string:
      return "string";
    case Json::Kind::boolean:
      return "bool";
    case Json::Kind::integer:
      return "int64";
    case Json::Kind::number:
      return "float64";
    case Json::Kind::null:
      break;
  }
  return "invalid";
}

/// reflect.Kind of the field; empty for those that are no scalars.
std::string scalar_kind(const Schema& schema) {
  switch (schema.type) {
    case SchemaType::string:
      return "string";
    case SchemaType::boolean:
      return "bool";
    case SchemaType::integer:
      return schema.format.empty() ? "int64" : schema.format;
    case SchemaType::number:
      return "float64";
    default:
      return "";
  }
}

bool is_number(std::string_view kind) {
  return kind.starts_with("int") || kind.starts_with("float");
}

std::optional<std::string> scalar_error(const Json& value, const std::string& wanted) {
  const std::string found(decoded_kind(value));
  if (found == wanted || (is_number(found) && is_number(wanted))) return std::nullopt;
  // In Go an integer converts to a string, of that character; the converter knows that it must not.
  if (found == "int64" && wanted == "string") return "cannot convert int64 to string";
  return "unrecognized type: " + wanted;
}

std::optional<std::string> restore(const Json& value, const Schema& schema) {
  if (value.is_null() || schema.opaque || schema.type == SchemaType::any ||
      schema.type == SchemaType::int_or_string)
    return std::nullopt;
  if (schema.format == "date-time" || schema.format == "byte") return std::nullopt;  // decode_error() tells
  if (const std::string wanted = scalar_kind(schema); !wanted.empty()) return scalar_error(value, wanted);
  const std::string found(decoded_kind(value));
  if (schema.type == SchemaType::array) {
    if (!value.is_array()) return "cannot restore slice from " + found;
    for (const Json& item : value.as_array())
      if (schema.items != nullptr)
        if (auto problem = restore(item, *schema.items)) return problem;
    return std::nullopt;
  }
  if (!value.is_object())
    return schema.additional == nullptr ? "cannot restore struct from: " + found
                                        : "cannot restore map from " + found;
  for (const auto& [name, member] : value.as_object())
    if (const Schema* known = schema.member(name))
      if (auto problem = restore(member, *known)) return problem;
  return std::nullopt;
}

}  // namespace

std::string go_text(const Json& value) {
  if (value.is_null()) return "<nil>";
  if (value.is_string()) return value.as_string();
  std::string out;
  if (value.is_array()) {
    for (const Json& item : value.as_array()) out += (out.empty() ? "" : " ") + go_text(item);
    return "[" + out + "]";
  }
  if (value.is_object()) {
    for (const auto& [name, member] : value.as_object())
      out += (out.empty() ? "" : " ") + name + ":" + go_text(member);
    return "map[" + out + "]";
  }
  return value.dump();
}

std::string_view go_type(const Json& value) {
  if (value.is_array()) return "[]interface {}";
  if (value.is_object()) return "map[string]interface {}";
  return value.is_null() ? "<nil>" : decoded_kind(value);
}

std::optional<std::string> restore_error(const Json& object, const KindSchema& kind) {
  if (auto problem = restore(object, kind.root())) return problem;
  return decode_error(object, kind);
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
