// SPDX-License-Identifier: Apache-2.0
#include "testing/typed_check.hpp"

#include <set>
#include <stdexcept>

#include "testing/field_walk.hpp"

namespace evenkeel::inline v0::testing {

namespace {

/// A value as Go prints the structure that holds it.
std::string go_value(const Json& value) {
  if (value.is_string()) return value.as_string();
  if (value.is_array()) {
    std::string text = "[";
    for (const Json& item : value.as_array()) text += (text.size() > 1 ? " " : "") + go_value(item);
    return text + "]";
  }
  if (value.is_object()) {
    std::string text = "map[";
    for (const auto& [name, member] : value.as_object())
      text += (text.size() > 4 ? " " : "") + name + ":" + go_value(member);
    return text + "]";
  }
  return value.is_null() ? "<nil>" : value.dump();
}

std::string_view go_type(const Json& value) {
  switch (value.kind()) {
    case Json::Kind::string:
      return "string";
    case Json::Kind::boolean:
      return "bool";
    case Json::Kind::integer:
      return "int64";
    case Json::Kind::number:
      return "float64";
    case Json::Kind::array:
      return "[]interface {}";
    case Json::Kind::object:
      return "map[string]interface {}";
    case Json::Kind::null:
      break;
  }
  return "<nil>";
}

class Checker {
 public:
  explicit Checker(Duplicates duplicates) : duplicates_(duplicates) {}

  void visit(const Json& value, const Schema* schema, const std::string& path) {
    if (schema == nullptr || value.is_null()) return;
    switch (schema->type) {
      case SchemaType::object:
        if (value.is_object()) return visit_fields(value, *schema, path);
        return fail(path, "expected map, got &{" + go_value(value) + "}");
      case SchemaType::array:
        if (value.is_array()) return visit_items(value.as_array(), *schema, path);
        return fail(path, "expected list, got &{" + go_value(value) + "}");
      default:
        return visit_scalar(value, schema->type, path);
    }
  }

  std::vector<std::string> problems;

 private:
  void fail(const std::string& path, const std::string& text) {
    problems.push_back(path.empty() ? text : path + ": " + text);
  }

  void visit_scalar(const Json& value, SchemaType type, const std::string& path) {
    const bool container = value.is_array() || value.is_object();
    if ((type == SchemaType::integer || type == SchemaType::number) && !value.is_number())
      fail(path, "expected numeric (int or float), got " + std::string(go_type(value)));
    if (type == SchemaType::string && !value.is_string())
      fail(path, "expected string, got &value.valueUnstructured{Value:" + go_value(value) + "}");
    if (type == SchemaType::boolean && !value.is_bool())
      fail(path, "expected boolean, got &{" + go_value(value) + "}");
    if (type == SchemaType::int_or_string && container)
      fail(path, "expected any scalar, got &{" + go_value(value) + "}");
  }

  void visit_fields(const Json& object, const Schema& schema, const std::string& path) {
    if (schema.opaque) return;
    for (const auto& [name, value] : object.as_object()) {
      const Schema* member = schema.member(name);
      if (member == nullptr && !schema.preserve_unknown_fields)
        return fail(path + "." + name, "field not declared in schema");
      visit(value, member, path + "." + name);
    }
  }

  void visit_items(const Json::Array& items, const Schema& schema, const std::string& path) {
    std::set<PathElement> seen;
    for (std::size_t i = 0; i < items.size(); ++i) {
      PathElement element;
      try {
        element = item_element(items[i], i, schema);
      } catch (const std::invalid_argument& error) {
        return fail(path, "element " + std::to_string(i) + ": " + error.what());
      }
      if (schema.list_type != ListType::atomic && !seen.insert(element).second &&
          duplicates_ == Duplicates::refused)
        fail(path, "duplicate entries for key " + element.describe());
      visit(items[i], schema.items, path + element.describe());
    }
  }

  const Duplicates duplicates_;
};

}  // namespace

std::vector<std::string> typed_problems(const Json& object, const Schema& schema, Duplicates duplicates) {
  Checker checker(duplicates);
  checker.visit(object, &schema, "");
  return std::move(checker.problems);
}

}  // namespace evenkeel::inline v0::testing
