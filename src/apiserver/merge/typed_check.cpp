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

  void visit(const Json& value, const Schema* schema, const std::string& path) {
    if (schema == nullptr || value.is_null()) return;
    switch (schema->type) {
      case SchemaType::object:
        if (value.is_object()) return visit_fields(value, *schema, path);
        return fail(path, "a map", value);
      case SchemaType::array:
        if (value.is_array()) return visit_items(value.as_array(), *schema, path);
        return fail(path, "a list", value);
      default:
        return visit_scalar(value, schema->type, path);
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

  void visit_scalar(const Json& value, SchemaType type, const std::string& path) {
    const bool container = value.is_array() || value.is_object();
    if ((type == SchemaType::integer || type == SchemaType::number) && !value.is_number())
      fail(path, "a number", value);
    if (type == SchemaType::string && !value.is_string()) fail(path, "a string", value);
    if (type == SchemaType::boolean && !value.is_bool()) fail(path, "a boolean", value);
    if (type == SchemaType::int_or_string && container) fail(path, "a scalar", value);
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

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
