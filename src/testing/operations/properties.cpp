// SPDX-License-Identifier: Apache-2.0
#include "testing/operations/properties.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <evenkeel/api/crd.hpp>

#include "testing/operations/known_values.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {
namespace {

constexpr std::size_t deepest = 16;

bool is_duration(const TextOps& text) {
  return text.expected.find("duration") != std::string_view::npos;
}

// `open`: types on the way, of which the schema describes only the first occurrence.
void mark_texts(const TypeInfo& type, Json& schema, std::vector<const TypeInfo*>& open) {
  switch (type.kind) {
    case TypeKind::text:
      if (is_duration(*type.text)) schema[text_type_member] = "duration";
      return;
    case TypeKind::optional:
      return mark_texts(type.item(), schema, open);
    case TypeKind::list:
      return mark_texts(type.item(), schema["items"], open);
    case TypeKind::map:
      return mark_texts(type.item(), schema["additionalProperties"], open);
    case TypeKind::record:
      break;
    default:
      return;
  }
  if (std::find(open.begin(), open.end(), &type) != open.end()) return;
  open.push_back(&type);
  Json* const properties = schema.find("properties");
  for (const Field& field : type.fields) {
    Json* const member = properties == nullptr ? nullptr : properties->find(field.wire);
    if (member != nullptr) mark_texts(field.type(), *member, open);
  }
  open.pop_back();
}

bool is_free(const Json& schema) {
  if (schema.contains("properties") || schema.contains("additionalProperties")) return false;
  const std::string type = schema["type"].string_or("");
  return (type.empty() || type == "object") && !schema["x-kubernetes-int-or-string"].bool_or(false);
}

bool requires_member(const Json& schema, std::string_view name) {
  const Json& required = schema["required"];
  for (std::size_t at = 0; at < required.size(); ++at) {
    if (required[at] == Json(name)) return true;
  }
  return false;
}

// Rank of a member in its record.
int rank(const Json& schema, const Json* current) {
  if (schema["type"] != Json("boolean")) return 1;
  return current != nullptr && current->bool_or(false) ? 2 : 0;
}

class Walk {
 public:
  Walk(const std::set<std::string>& untouched, Properties& out) : untouched_(untouched), out_(out) {}

  void record(const PropertyPath& path, const Json& schema, const Json& value, bool is_root = false);

 private:
  void visit(Property property, const Json* current);
  void visit_list(const Property& property, const Json& list);
  void visit_map(const Property& property, const Json& map);

  const std::set<std::string>& untouched_;
  Properties& out_;
};

bool belongs_to_server(std::string_view name) {
  return name == "apiVersion" || name == "kind" || name == "metadata" || name == "status";
}

void Walk::record(const PropertyPath& path, const Json& schema, const Json& value, bool is_root) {
  const std::set<std::string_view>* const usual = is_root ? nullptr : usual_members(schema);
  std::vector<std::pair<int, std::string>> names;
  for (const auto& [name, member] : schema["properties"].as_object()) {
    if (is_root && belongs_to_server(name)) continue;
    if (usual != nullptr && !usual->contains(name)) {
      out_.left_out.insert(path.member(name).str());
      continue;
    }
    names.emplace_back(rank(member, value.find(name)), name);
  }
  std::stable_sort(names.begin(), names.end(),
                   [](const auto& left, const auto& right) { return left.first < right.first; });
  for (const auto& [order, name] : names) {
    const Json& member = schema["properties"][name];
    const bool removable = !requires_member(schema, name) && !member.contains("default") && !is_root;
    visit({.path = path.member(name),
           .schema = {.name = name, .schema = member, .parent = schema, .removable = removable}},
          value.find(name));
  }
}

void Walk::visit(Property property, const Json* current) {
  if (property.path.size() > deepest || untouched_.contains(property.path.str())) return;
  Json& schema = property.schema.schema;
  if (is_free(schema) && current != nullptr && current->is_object() && !current->empty())
    schema = schema_of_value(*current);
  const bool known = known_values(schema, property.schema.name, property.schema.parent) != nullptr;
  if (!known && schema.contains("properties")) {
    property.is_container = true;
    if (current != nullptr) record(property.path, schema, *current);
    if (current == nullptr || property.schema.removable) out_.all.push_back(std::move(property));
    return;
  }
  const bool is_list = std::as_const(schema)["type"] == Json("array");
  const bool is_map = schema.contains("additionalProperties");
  property.is_container = !known && (is_list || is_map);
  out_.all.push_back(property);
  if (!property.is_container || current == nullptr || current->empty()) return;
  is_list ? visit_list(property, *current) : visit_map(property, *current);
}

void Walk::visit_list(const Property& property, const Json& list) {
  visit({.path = property.path.item(0),
         .schema = {.name = property.schema.name,
                    .schema = property.schema.schema["items"],
                    .parent = property.schema.parent}},
        &list[0]);
}

void Walk::visit_map(const Property& property, const Json& map) {
  const auto& [name, value] = *map.as_object().begin();
  visit({.path = property.path.member(name),
         .schema = {.name = name,
                    .schema = property.schema.schema["additionalProperties"],
                    .parent = property.schema.schema}},
        &value);
}

}  // namespace

Json operations_schema(const TypeInfo& type) {
  Json schema = schema_of(type);
  std::vector<const TypeInfo*> open;
  mark_texts(type, schema, open);
  return schema;
}

Properties properties_of(const Json& schema, const Json& document, const std::set<std::string>& untouched) {
  Properties properties;
  Walk(untouched, properties).record({}, schema, document, true);
  return properties;
}

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
