// SPDX-License-Identifier: Apache-2.0
#include "apiserver/schema/cel_type.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "apiserver/schema/cel_node.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

using Kind = CelType::Kind;

constexpr std::pair<std::string_view, Kind> kind_names[] = {
    {"dyn", Kind::dyn},
    {"null_type", Kind::null},
    {"bool", Kind::boolean},
    {"int", Kind::integer},
    {"uint", Kind::uint},
    {"double", Kind::number},
    {"string", Kind::string},
    {"bytes", Kind::bytes},
    {"list", Kind::list},
    {"map", Kind::map},
    {"object", Kind::object},
    {"google.protobuf.Duration", Kind::duration},
    {"google.protobuf.Timestamp", Kind::timestamp},
    {"type", Kind::type},
    {"optional_type", Kind::optional},
};

/// Reads `text` from the front.
CelType take_type(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_of("(,)"), text.size());
  const std::string name(text.substr(0, end));
  text.remove_prefix(end);
  CelType result{.name = name};
  const auto known = std::find_if(std::begin(kind_names), std::end(kind_names),
                                  [&](const auto& each) { return each.first == name; });
  result.kind = known != std::end(kind_names) ? known->second
                : name.size() == 1            ? Kind::parameter
                                              : Kind::special;
  if (!text.starts_with('(')) return result;
  text.remove_prefix(1);
  while (!text.starts_with(')')) {
    if (text.starts_with(", ")) text.remove_prefix(2);
    result.parts.push_back(take_type(text));
  }
  text.remove_prefix(1);
  return result;
}

/// Returns true if the parameter of a signature may stand for this kind.
bool allows(const std::string& parameter, Kind kind) {
  const bool number = kind == Kind::integer || kind == Kind::uint || kind == Kind::number;
  if (parameter == "N" || parameter == "M") return number;
  if (parameter == "S") return number || kind == Kind::duration;
  if (parameter == "C")
    return number || kind == Kind::boolean || kind == Kind::duration || kind == Kind::timestamp ||
           kind == Kind::string || kind == Kind::bytes;
  return true;
}

bool may_be_null(Kind kind) {
  return kind == Kind::null || kind == Kind::object || kind == Kind::duration || kind == Kind::timestamp ||
         kind == Kind::special || kind == Kind::optional;
}

/// Returns true if additionalProperties is just true.
bool takes_anything(const Schema& schema) {
  return schema.type == SchemaType::any && schema.preserve_unknown_fields && schema.nullable;
}

CelType object_type(const Schema& schema, bool root) {
  return {.kind = Kind::object, .schema = &schema, .root = root};
}

const Schema& metadata_schema() {
  static const Schema text{.type = SchemaType::string};
  static const Schema metadata{.type = SchemaType::object,
                               .properties = {{"generateName", &text}, {"name", &text}}};
  return metadata;
}

CelType text_type(const std::string& format) {
  if (format == "byte") return CelType::of(Kind::bytes);
  if (format == "duration") return CelType::of(Kind::duration);
  return CelType::of(format == "date" || format == "date-time" ? Kind::timestamp : Kind::string);
}

}  // namespace

std::string CelType::str() const {
  if (kind == Kind::special || kind == Kind::parameter) return name;
  if (kind == Kind::open) return "dyn";
  std::string result;
  for (const auto& [text, each] : kind_names)
    if (each == kind) result = text;
  if (kind == Kind::type) return result;
  for (std::size_t i = 0; i < parts.size(); ++i) result += (i == 0 ? "(" : ", ") + parts[i].str();
  return parts.empty() ? result : result + ")";
}

CelType parse_cel_type(std::string_view text) {
  return take_type(text);
}

std::optional<CelType> cel_type_of(const Schema& schema, bool root) {
  switch (schema.type) {
    case SchemaType::int_or_string:
      return CelType{};
    case SchemaType::array: {
      if (schema.items == nullptr) return std::nullopt;
      auto item = cel_type_of(*schema.items, schema.items->embedded_resource);
      if (!item) return std::nullopt;
      return CelType::of(Kind::list, {*std::move(item)});
    }
    case SchemaType::object: {
      if (schema.additional == nullptr || takes_anything(*schema.additional))
        return object_type(schema, root);
      auto value = cel_type_of(*schema.additional, schema.additional->embedded_resource);
      if (!value) return std::nullopt;
      return CelType::of(Kind::map, {CelType::of(Kind::string), *std::move(value)});
    }
    case SchemaType::string:
      return text_type(schema.format);
    case SchemaType::integer:
      return CelType::of(Kind::integer);
    case SchemaType::number:
      return CelType::of(Kind::number);
    case SchemaType::boolean:
      return CelType::of(Kind::boolean);
    case SchemaType::any:
      break;
  }
  return std::nullopt;
}

std::optional<CelType> cel_field_type(const CelType& object, std::string_view identifier) {
  if (object.root && identifier == "metadata") return object_type(metadata_schema(), false);
  if (object.root && (identifier == "kind" || identifier == "apiVersion")) return CelType::of(Kind::string);
  for (const Property& property : object.schema->properties) {
    // Reserved words may be written as they are as well.
    const auto name = escaped_field(property.name);
    if (name == identifier || name == "__" + std::string(identifier) + "__")
      return cel_type_of(*property.schema, property.schema->embedded_resource);
  }
  return std::nullopt;
}

bool accepts(const CelType& wanted, const CelType& given, CelBindings& bindings) {
  if (wanted.kind == Kind::parameter) {
    const auto [bound, is_new] = bindings.try_emplace(wanted.name, given);
    if (!given.is_open() && !allows(wanted.name, given.kind)) return false;
    if (is_new) return true;
    CelBindings none;
    if (!accepts(bound->second, given, none)) return false;
    bound->second = joined(bound->second, given);
    return true;
  }
  if (wanted.is_open() || given.is_open()) return true;
  if (wanted.kind == Kind::null) return may_be_null(given.kind);
  if (given.kind == Kind::null) return may_be_null(wanted.kind);
  if (wanted.kind != given.kind || wanted.schema != given.schema) return false;
  if (wanted.kind == Kind::special) return wanted.name == given.name;
  if (wanted.kind == Kind::type) return true;
  return std::equal(wanted.parts.begin(), wanted.parts.end(), given.parts.begin(), given.parts.end(),
                    [&](const CelType& one, const CelType& other) { return accepts(one, other, bindings); });
}

CelType joined(const CelType& one, const CelType& other) {
  if (one.kind == Kind::open || one.kind == Kind::null) return other;
  if (other.kind == Kind::open || other.kind == Kind::null) return one;
  if (one.kind != other.kind) return {};
  CelType result = one;
  for (std::size_t i = 0; i < std::min(one.parts.size(), other.parts.size()); ++i)
    result.parts[i] = joined(one.parts[i], other.parts[i]);
  return result;
}

CelType substituted(const CelType& type, const CelBindings& bindings) {
  if (type.kind == Kind::parameter) {
    const auto bound = bindings.find(type.name);
    return bound == bindings.end() ? CelType::of(Kind::open) : bound->second;
  }
  CelType result = type;
  for (CelType& part : result.parts) part = substituted(part, bindings);
  return result;
}

bool equivalent(const CelType& one, const CelType& other) {
  if (one.kind == Kind::open || other.kind == Kind::open) return true;
  if (one.kind != other.kind || one.schema != other.schema) return false;
  if (one.kind == Kind::special) return one.name == other.name;
  return std::equal(one.parts.begin(), one.parts.end(), other.parts.begin(), other.parts.end(), equivalent);
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
