// SPDX-License-Identifier: Apache-2.0
#include "apiserver/merge/typed_check.hpp"

#include <set>
#include <stdexcept>

#include "apiserver/merge/field_walk.hpp"
#include "apiserver/text/json_problem.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

class Checker {
 public:
  explicit Checker(Duplicates duplicates) : duplicates_(duplicates) {}

  /// `lenient`: a schema above preserves unknown fields.
  void visit(const Json& value, const Schema* schema, const std::string& path, bool lenient = false) {
    if (schema == nullptr || value.is_null()) return;
    // The metadata of a resource is a type of its own.
    lenient = (lenient && schema->type_name.empty()) || schema->preserve_unknown_fields;
    switch (schema->type) {
      case SchemaType::object:
        if (value.is_object()) return visit_fields(value, *schema, path, lenient);
        return fail(path, "a map", value);
      case SchemaType::array:
        if (value.is_array()) return visit_items(value.as_array(), *schema, path, lenient);
        return fail(path, "a list", value);
      default:
        return visit_scalar(value, *schema, path);
    }
  }

  std::vector<std::string> problems;

 private:
  void fail(const std::string& path, const std::string& text) {
    problems.push_back(path.empty() ? text : path + ": " + text);
  }

  void fail(const std::string& path, std::string_view expected, const Json& found) {
    problems.push_back(wrong_type(path, expected, found));
  }

  void visit_scalar(const Json& value, const Schema& schema, const std::string& path) {
    const SchemaType type = schema.type;
    const bool container = value.is_array() || value.is_object();
    if ((type == SchemaType::integer || type == SchemaType::number) && !value.is_number())
      fail(path, "a number", value);
    // Other formats accept every scalar here.
    const bool text = schema.format.empty() || schema.format == "byte";
    if (type == SchemaType::string && text && !value.is_string()) fail(path, "a string", value);
    if (type == SchemaType::string && !text && container) fail(path, "a scalar", value);
    if (type == SchemaType::boolean && !value.is_bool()) fail(path, "a boolean", value);
    // In a CRD its schema has no type, and leaves everything to the validation.
    if (type == SchemaType::int_or_string && container && !schema.type_name.empty())
      fail(path, "a scalar", value);
  }

  void visit_fields(const Json& object, const Schema& schema, const std::string& path, bool lenient) {
    if (schema.opaque) return;
    const bool open = lenient || schema.properties.empty();
    for (const auto& [name, value] : object.as_object()) {
      const Schema* member = schema.member(name);
      if (member == nullptr && !open) return fail(path + "." + name, "field not declared in schema");
      visit(value, member, path + "." + name, lenient);
    }
  }

  void visit_items(const Json::Array& items, const Schema& schema, const std::string& path, bool lenient) {
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
      visit(items[i], schema.items, path + element.describe(), lenient);
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

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
