// SPDX-License-Identifier: Apache-2.0
// What makes a CRD's schema structural. Source: apiextensions pkg/apiserver/schema/validation.go.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "testing/schema.hpp"

namespace evenkeel::inline v0::testing {

namespace {

constexpr std::array types{std::string_view("array"),   std::string_view("boolean"),
                           std::string_view("integer"), std::string_view("number"),
                           std::string_view("object"),  std::string_view("string")};

class StructuralCheck {
 public:
  enum class Place { root, field, item };

  void visit(const Json& schema, const std::string& path, Place place) {
    if (!schema.is_object()) return;
    check_type(schema, path, place);
    check_forbidden(schema, path);
    check_lists(schema, path);
    if (schema["properties"].is_object()) {
      for (const auto& [name, member] : schema["properties"].as_object())
        visit(member, path + ".properties[" + name + "]", Place::field);
    }
    visit(schema["additionalProperties"], path + ".additionalProperties", Place::field);
    visit(schema["items"], path + ".items", Place::item);
    for (const char* junctor : {"allOf", "anyOf", "oneOf"}) {
      for (std::size_t i = 0; i < schema[junctor].size(); ++i)
        check_value_part(schema[junctor][i], path + "." + junctor + "[" + std::to_string(i) + "]");
    }
    check_value_part(schema["not"], path + ".not");
  }

  std::vector<FieldError> errors;

 private:
  void check_type(const Json& schema, const std::string& path, Place place) {
    const std::string type = schema["type"].string_or("");
    const bool typeless =
        schema["x-kubernetes-int-or-string"].bool_or(false) ||
        (schema["x-kubernetes-preserve-unknown-fields"].bool_or(false) && place != Place::root);
    if (type.empty() && !typeless) {
      const std::string_view where = place == Place::root    ? "must not be empty at the root"
                                     : place == Place::field ? "must not be empty for specified object fields"
                                                             : "must not be empty for specified array items";
      errors.push_back(field_required(path + ".type", where));
    } else if (!type.empty() && std::find(types.begin(), types.end(), type) == types.end()) {
      errors.push_back(
          field_not_supported(path + ".type", schema["type"], Json::Array(types.begin(), types.end())));
    } else if (place == Place::root && type != "object") {
      errors.push_back(field_invalid(path + ".type", schema["type"], "must be object at the root"));
    }
  }

  void check_forbidden(const Json& schema, const std::string& path) {
    if (schema["uniqueItems"].bool_or(false))
      errors.push_back(field_forbidden(path + ".uniqueItems",
                                       "uniqueItems cannot be set to true since the runtime "
                                       "complexity becomes quadratic"));
    if (schema["properties"].is_object() && !schema["additionalProperties"].is_null())
      errors.push_back(field_forbidden(path + ".additionalProperties",
                                       "additionalProperties and properties are mutual exclusive"));
    if (schema["additionalProperties"].is_bool() && !schema["additionalProperties"].as_bool())
      errors.push_back(
          field_forbidden(path + ".additionalProperties", "additionalProperties cannot be set to false"));
    for (const char* name :
         {"$ref", "definitions", "dependencies", "patternProperties", "id", "additionalItems"}) {
      if (schema.contains(name) && !schema[name].is_null())
        errors.push_back(field_forbidden(path + "." + name, std::string(name) + " is not supported"));
    }
  }

  void check_lists(const Json& schema, const std::string& path) {
    const std::string type = schema["type"].string_or("");
    if (type == "array" && schema["items"].is_null())
      errors.push_back(field_required(path + ".items", "must be specified"));
    const std::string list_type = schema["x-kubernetes-list-type"].string_or("");
    if (!list_type.empty() && type != "array")
      errors.push_back(
          field_invalid(path + ".type", Json(type), "must be array if x-kubernetes-list-type is specified"));
    const Json& keys = schema["x-kubernetes-list-map-keys"];
    if (list_type == "map" && keys.empty())
      errors.push_back(field_required(path + ".x-kubernetes-list-map-keys",
                                      "must not be empty if x-kubernetes-list-type is map"));
    if (list_type != "map" && !keys.empty())
      errors.push_back(field_invalid(path + ".x-kubernetes-list-type", Json(list_type),
                                     "must be map if x-kubernetes-list-map-keys is non-empty"));
    if (list_type != "map") return;
    const Json& item = schema["items"];
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const Json& key = item["properties"][keys[i].string_or("")];
      const std::string field = path + ".items.properties[" + keys[i].string_or("") + "]";
      if (key.is_null()) {
        errors.push_back(field_invalid(path + ".x-kubernetes-list-map-keys[" + std::to_string(i) + "]",
                                       keys[i], "entries must all be names of item properties"));
      } else if (!is_required(item, keys[i]) && !key.contains("default")) {
        errors.push_back(field_required(
            field + ".default",
            "this property is in x-kubernetes-list-map-keys, so it must have a default or be a "
            "required property"));
      }
    }
  }

  static bool is_required(const Json& schema, const Json& name) {
    const Json& required = schema["required"];
    for (std::size_t i = 0; i < required.size(); ++i) {
      if (required[i] == name) return true;
    }
    return false;
  }

  /// Inside allOf and its kin there may be checks only, no structure.
  void check_value_part(const Json& schema, const std::string& path) {
    if (!schema.is_object()) return;
    for (const char* name : {"type", "default", "nullable", "title", "description", "additionalProperties"}) {
      const Json& value = schema[name];
      if (!value.is_null() && value != Json(false) && value != Json(""))
        errors.push_back(field_forbidden(path + "." + name, "must be empty to be structural"));
    }
    if (schema["properties"].is_object()) {
      for (const auto& [name, member] : schema["properties"].as_object())
        check_value_part(member, path + ".properties[" + name + "]");
    }
    check_value_part(schema["items"], path + ".items");
  }
};

}  // namespace

std::vector<FieldError> check_structural(const Json& schema, std::string_view path) {
  StructuralCheck check;
  check.visit(schema, std::string(path), StructuralCheck::Place::root);
  return std::move(check.errors);
}

}  // namespace evenkeel::inline v0::testing
