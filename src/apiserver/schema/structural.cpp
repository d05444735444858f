// SPDX-License-Identifier: Apache-2.0
// Validation of a CRD's schema. Source: apiextensions pkg/apis/apiextensions/validation/validation.go
// (well-formedness), pkg/apiserver/schema/validation.go (structural schemas) and
// pkg/apiserver/schema/defaulting/validation.go (defaults).
#include "apiserver/schema/structural.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/schema/cel.hpp"
#include "apiserver/schema/cel_validation.hpp"
#include "apiserver/schema/pruning.hpp"
#include "apiserver/schema/schema.hpp"
#include "apiserver/schema/schema_reader.hpp"
#include "apiserver/schema/schema_validation.hpp"
#include "apiserver/text/regular_expression.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

using Errors = std::vector<FieldError>;

const Json nothing;

bool flag(const Json& schema, const char* name) {
  return schema[name].bool_or(false);
}

std::string text(const Json& schema, const char* name) {
  return schema[name].string_or("");
}

bool lists(const Json& list, const Json& wanted) {
  if (!list.is_array()) return false;
  return std::find(list.as_array().begin(), list.as_array().end(), wanted) != list.as_array().end();
}

std::string place(const std::string& path, const char* name, std::size_t index) {
  return path + "." + name + "[" + std::to_string(index) + "]";
}

/// Calls `visit(schema, path)` for each schema that is part of the structure, outer ones first.
template <class Visit>
void walk(const Json& schema, const std::string& path, const Visit& visit) {
  if (!schema.is_object()) return;
  visit(schema, path);
  if (schema["properties"].is_object())
    for (const auto& [name, member] : schema["properties"].as_object())
      walk(member, path + ".properties[" + name + "]", visit);
  walk(schema["additionalProperties"], path + ".additionalProperties", visit);
  walk(schema["items"], path + ".items", visit);
}

/// Checks that a schema is well-formed.
class ConstructionCheck {
 public:
  void visit(const Json& schema, const std::string& path) {
    check_forbidden(schema, path);
    check_type_names(schema, path);
    check_list(schema, path);
    check_rules(schema, path);
  }

  Errors errors;
  bool broken = false;  ///< The schema contains errors that prevent the construction of a structural schema.

 private:
  void check_forbidden(const Json& schema, const std::string& path) {
    if (flag(schema, "uniqueItems"))
      errors.push_back(field_forbidden(path + ".uniqueItems",
                                       "uniqueItems cannot be set to true since the runtime "
                                       "complexity becomes quadratic"));
    if (schema["properties"].is_object() && !schema["additionalProperties"].is_null())
      errors.push_back(field_forbidden(path + ".additionalProperties",
                                       "additionalProperties and properties are mutual exclusive"));
    for (const char* name :
         {"$ref", "definitions", "dependencies", "patternProperties", "id", "additionalItems"}) {
      if (schema[name].is_null()) continue;
      broken = true;
      errors.push_back(field_forbidden(path + "." + name, std::string(name) + " is not supported"));
    }
    if (schema["items"].is_array()) {
      broken = true;
      errors.push_back(field_forbidden(path + ".items", "items must be a schema object and not an array"));
    }
    const Json* preserve = schema.find("x-kubernetes-preserve-unknown-fields");
    if (preserve != nullptr && *preserve == Json(false))
      errors.push_back(field_invalid(path + ".x-kubernetes-preserve-unknown-fields", *preserve,
                                     "must be true or undefined"));
  }

  void check_type_names(const Json& schema, const std::string& path) {
    static const Json::Array types{Json("array"),  Json("boolean"), Json("integer"),
                                   Json("number"), Json("object"),  Json("string")};
    const Json& type = schema["type"];
    if (!text(schema, "type").empty() && std::find(types.begin(), types.end(), type) == types.end())
      errors.push_back(field_not_supported(path + ".type", type, types));
    const std::string map_type = text(schema, "x-kubernetes-map-type");
    if (map_type.empty()) return;
    if (type != Json("object"))
      errors.push_back(
          field_invalid(path + ".type", type, "must be object if x-kubernetes-map-type is specified"));
    if (map_type != "atomic" && map_type != "granular")
      errors.push_back(
          field_not_supported(path + ".x-kubernetes-map-type", map_type, {Json("atomic"), Json("granular")}));
  }

  void check_list(const Json& schema, const std::string& path) {
    const std::string list_type = text(schema, "x-kubernetes-list-type");
    const Json& keys = schema["x-kubernetes-list-map-keys"];
    const std::string field = path + ".x-kubernetes-list-type";
    if (list_type.empty()) {
      if (!keys.empty())
        errors.push_back(field_required(field, "must be map if x-kubernetes-list-map-keys is non-empty"));
      return;
    }
    if (list_type != "atomic" && list_type != "set" && list_type != "map")
      errors.push_back(field_not_supported(field, list_type, {Json("atomic"), Json("set"), Json("map")}));
    if (schema["type"] != Json("array"))
      errors.push_back(field_invalid(path + ".type", schema["type"],
                                     "must be array if x-kubernetes-list-type is specified"));
    if (list_type == "set") check_set_items(schema["items"], path + ".items");
    if (list_type == "map") return check_keys(schema["items"], keys, path);
    if (!keys.empty())
      errors.push_back(
          field_invalid(field, Json(list_type), "must be map if x-kubernetes-list-map-keys is non-empty"));
  }

  /// Items of sets are compared as a whole.
  void check_set_items(const Json& items, const std::string& path) {
    if (items["type"] == Json("object") && items["x-kubernetes-map-type"] != Json("atomic"))
      errors.push_back(field_invalid(path + ".x-kubernetes-map-type", items["x-kubernetes-map-type"],
                                     "must be atomic as item of a list with x-kubernetes-list-type=set"));
    if (items["type"] == Json("array") && !items["x-kubernetes-list-type"].is_null() &&
        items["x-kubernetes-list-type"] != Json("atomic"))
      errors.push_back(field_invalid(path + ".x-kubernetes-list-type", items["x-kubernetes-list-type"],
                                     "must be atomic as item of a list with x-kubernetes-list-type=set"));
  }

  void check_keys(const Json& items, const Json& keys, const std::string& path) {
    const std::string field = path + ".x-kubernetes-list-map-keys";
    if (keys.empty())
      return errors.push_back(field_required(field, "must not be empty if x-kubernetes-list-type is map"));
    if (items.is_object() && items["type"] != Json("object"))
      errors.push_back(field_invalid(path + ".items.type", items["type"],
                                     "must be object if parent array's x-kubernetes-list-type is map"));
    std::set<std::string> seen;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const std::string key = keys[i].string_or("");
      if (!seen.insert(key).second)
        errors.push_back(field_invalid(field, keys, "must not contain duplicate entries"));
      const Json& property = items["properties"][key];
      const std::string where = path + ".items.properties[" + key + "]";
      if (property.is_null()) {
        errors.push_back(field_invalid(field, keys, "entries must all be names of item properties"));
      } else if (property["type"] == Json("object") || property["type"] == Json("array")) {
        errors.push_back(
            field_invalid(where + ".type", property["type"],
                          "must be a scalar type if parent array's x-kubernetes-list-type is map"));
      } else if (!lists(items["required"], keys[i]) && property["default"].is_null()) {
        errors.push_back(field_required(
            where + ".default",
            "this property is in x-kubernetes-list-map-keys, so it must have a default or be a "
            "required property"));
      }
    }
  }

  void check_rules(const Json& schema, const std::string& path) {
    const Json& rules = schema["x-kubernetes-validations"];
    for (std::size_t i = 0; i < rules.size(); ++i)
      check_rule(rules[i], schema, place(path, "x-kubernetes-validations", i));
  }

  static bool is_blank(const std::string& words) {
    return words.find_first_not_of(" \t\r\n") == std::string::npos;
  }

  void check_rule(const Json& rule, const Json& schema, const std::string& path) {
    if (is_blank(text(rule, "rule")))
      errors.push_back(field_required(path + ".rule", "rule is not specified"));
    for (const char* name : {"message", "messageExpression"}) {
      const std::string words = text(rule, name);
      if (!words.empty() && is_blank(words))
        errors.push_back(field_invalid(path + "." + name, words, "must be non-empty if specified"));
      else if (name == std::string_view("message") && words.find('\n') != std::string::npos)
        errors.push_back(field_invalid(path + "." + name, words, "must not contain line breaks"));
    }
    const std::string field_path = text(rule, "fieldPath");
    if (!field_path.empty() && !field_path_problem(field_path, schema).empty())
      errors.push_back(field_invalid(path + ".fieldPath", field_path, "must be a valid path"));
    if (!flag(rule, "optionalOldSelf")) return;
    try {
      if (!CelExpression(text(rule, "rule")).uses("oldSelf"))
        errors.push_back(field_invalid(path + ".optionalOldSelf", Json(true),
                                       "may not be set if oldSelf is not used in rule"));
    } catch (const CelError&) {
      // An invalid rule is reported with all others.
    }
  }
};

/// Checks that a schema is structural.
class StructuralCheck {
 public:
  enum class Place { root, field, item };

  void visit(const Json& schema, const std::string& path, Place where) {
    if (!schema.is_object()) return;
    check_type(schema, path, where);
    check_metadata(schema, path, where);
    check_values(schema, path);
    if (schema["type"] == Json("array") && schema["items"].is_null())
      errors.push_back(field_required(path + ".items", "must be specified"));
    if (where == Place::root && !schema["additionalProperties"].is_null())
      errors.push_back(field_forbidden(path + ".additionalProperties", "must not be used at the root"));
    if (schema["properties"].is_object())
      for (const auto& [name, member] : schema["properties"].as_object())
        visit(member, path + ".properties[" + name + "]", Place::field);
    visit(schema["additionalProperties"], path + ".additionalProperties", Place::field);
    visit(schema["items"], path + ".items", Place::item);
  }

  Errors errors;

 private:
  void check_type(const Json& schema, const std::string& path, Place where) {
    const std::string type = text(schema, "type");
    const bool embedded = flag(schema, "x-kubernetes-embedded-resource");
    constexpr std::string_view wanted = "must be object if x-kubernetes-embedded-resource is true";
    if (embedded && type != "object") {
      errors.push_back(type.empty() ? field_required(path + ".type", wanted)
                                    : field_invalid(path + ".type", type, wanted));
    } else if (type.empty() && !flag(schema, "x-kubernetes-int-or-string") &&
               !flag(schema, "x-kubernetes-preserve-unknown-fields")) {
      errors.push_back(field_required(path + ".type", where == Place::root ? "must not be empty at the root"
                                                      : where == Place::field
                                                          ? "must not be empty for specified object fields"
                                                          : "must not be empty for specified array items"));
    }
    if (where == Place::root && !type.empty() && type != "object")
      errors.push_back(field_invalid(path + ".type", type, "must be object at the root"));
    if (embedded && !flag(schema, "x-kubernetes-preserve-unknown-fields") && schema["properties"].empty())
      errors.push_back(field_required(path + ".properties",
                                      "must not be empty if x-kubernetes-embedded-resource is true without "
                                      "x-kubernetes-preserve-unknown-fields"));
  }

  /// Checks apiVersion, kind and metadata of a whole resource.
  void check_metadata(const Json& schema, const std::string& path, Place where) {
    const bool whole = where == Place::root || flag(schema, "x-kubernetes-embedded-resource");
    for (const char* name : {"kind", "apiVersion"}) {
      const Json& member = schema["properties"][name];
      if (whole && member.is_object() && text(member, "type") != "string")
        errors.push_back(field_invalid(path + ".properties[" + name + "].type", Json(text(member, "type")),
                                       "must be string"));
    }
    const Json& metadata = schema["properties"]["metadata"];
    if (!metadata.is_object()) return;
    const std::string field = path + ".properties[metadata]";
    if (whole && text(metadata, "type") != "object")
      errors.push_back(field_invalid(field + ".type", Json(text(metadata, "type")), "must be object"));
    if (where == Place::root && says_too_much(metadata))
      errors.push_back(field_forbidden(field,
                                       "must not specify anything other than name and generateName, but "
                                       "metadata is implicitly specified"));
  }

  static bool says_too_much(const Json& metadata) {
    for (const auto& [name, value] : metadata.as_object()) {
      if (name == "type" || name == "default") continue;
      if (name != "properties" || !value.is_object()) return true;
      for (const auto& [property, schema] : value.as_object())
        if (property != "name" && property != "generateName") return true;
    }
    return false;
  }

  static bool says_int_or_string(const Json& any_of) {
    return any_of.size() == 2 && any_of[0] == Json::object({{"type", "integer"}}) &&
           any_of[1] == Json::object({{"type", "string"}});
  }

  /// Checks the value validations of a schema.
  void check_values(const Json& schema, const std::string& path) {
    if (!says_int_or_string(schema["anyOf"]))
      for (std::size_t i = 0; i < schema["anyOf"].size(); ++i)
        check_nested(schema["anyOf"][i], place(path, "anyOf", i));
    for (const char* junctor : {"allOf", "oneOf"})
      for (std::size_t i = 0; i < schema[junctor].size(); ++i)
        check_nested(schema[junctor][i], place(path, junctor, i));
    check_nested(schema["not"], path + ".not");
    const std::string pattern = text(schema, "pattern");
    if (pattern.empty()) return;
    try {
      const RegularExpression expression(pattern);
    } catch (const std::invalid_argument& problem) {
      errors.push_back(
          field_invalid(path + ".pattern", pattern,
                        std::string("must be a valid regular expression, but isn't: ") + problem.what()));
    }
  }

  /// allOf, anyOf, oneOf and not may contain value validations only, no structure.
  void check_nested(const Json& schema, const std::string& path) {
    if (!schema.is_object()) return;
    check_values(schema, path);
    const auto forbid = [&](const char* name, std::string_view word) {
      const Json& value = schema[name];
      if (!value.is_null() && value != Json(false) && value != Json("") &&
          !(value.is_array() && value.empty()))
        errors.push_back(
            field_forbidden(path + "." + name, "must be " + std::string(word) + " to be structural"));
    };
    for (const char* name : {"type", "title", "description", "x-kubernetes-list-map-keys"})
      forbid(name, "empty");
    for (const char* name :
         {"default", "additionalProperties", "x-kubernetes-list-type", "x-kubernetes-map-type"})
      forbid(name, "undefined");
    for (const char* name : {"nullable", "x-kubernetes-preserve-unknown-fields",
                             "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string"})
      forbid(name, "false");
    if (schema["properties"].is_object())
      for (const auto& [name, member] : schema["properties"].as_object())
        check_nested(member, path + ".properties[" + name + "]");
    check_nested(schema["items"], path + ".items");
  }
};

/// Checks that defaults match their own schema and its rules, without unknown fields.
void check_default(const Json& schema, const std::string& path, Errors& errors) {
  const Json* standard = schema.find("default");
  if (standard == nullptr || standard->is_null()) return;
  const auto pool = std::make_shared<SchemaPool>();
  const Schema& object_meta = pool->add();
  const KindSchema kind(pool, read_custom_schema(*pool, schema, object_meta));
  Json pruned = *standard;
  if (!prune(pruned, kind).empty())
    errors.push_back(field_invalid(path + ".default", *standard, "must not have unknown fields"));
  Errors found = validate_value(*standard, kind.root(), path + ".default");
  if (found.empty()) found = check_rules_of_default(*standard, kind.root(), path + ".default");
  errors.insert(errors.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
}

/// Checks that rules compile. Source: ValidateCustomResourceDefinitionOpenAPISchema.
void check_rules(const Json& schema, const std::string& path, Errors& errors) {
  SchemaPool pool;
  const Schema& object_meta = pool.add();
  Errors found = check_rule_types(read_custom_schema(pool, schema, object_meta), path);
  errors.insert(errors.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
}

/// Follows a path; returns the error, if any.
std::string follow(std::string_view path, const Json*& at) {
  while (!path.empty()) {
    const bool bracket = path.starts_with("['");
    if (!bracket && !path.starts_with('.'))
      return "expected [ or . but got: " + std::string(path.substr(0, path.find_first_of(".[")));
    path.remove_prefix(bracket ? 2 : 1);
    const std::size_t end = std::min(bracket ? path.find("']") : path.find_first_of(".["), path.size());
    const std::string_view name = path.substr(0, end);
    path.remove_prefix(std::min(end + (bracket ? 2 : 0), path.size()));
    const Json& property = (*at)["properties"][name];
    const Json& next = property.is_object() ? property : (*at)["additionalProperties"];
    if (!next.is_object()) return "does not refer to a valid field";
    at = &next;
  }
  return "";
}

}  // namespace

std::string field_path_problem(std::string_view path, const Json& schema) {
  const Json* at = &schema;
  return follow(path, at);
}

const Json& schema_at(std::string_view path, const Json& schema) {
  const Json* at = &schema;
  return follow(path, at).empty() ? *at : nothing;
}

std::vector<FieldError> check_structural(const Json& schema, std::string_view path) {
  const std::string root(path);
  ConstructionCheck construction;
  walk(schema, root, [&](const Json& each, const std::string& where) { construction.visit(each, where); });
  Errors errors = std::move(construction.errors);
  if (construction.broken) return errors;
  StructuralCheck structural;
  structural.visit(schema, root, StructuralCheck::Place::root);
  if (structural.errors.empty() && errors.empty()) check_rules(schema, root, errors);
  if (structural.errors.empty())
    walk(schema, root,
         [&](const Json& each, const std::string& where) { check_default(each, where, errors); });
  errors.insert(errors.end(), structural.errors.begin(), structural.errors.end());
  return errors;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
