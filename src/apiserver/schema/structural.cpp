// SPDX-License-Identifier: Apache-2.0
// Validation of a CRD's schema. Source: apiextensions pkg/apis/apiextensions/validation/validation.go
// (well-formedness), pkg/apiserver/schema/validation.go (structural schemas) and
// pkg/apiserver/schema/defaulting/validation.go (defaults).
#include "apiserver/schema/structural.hpp"

#include <algorithm>
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

void append(Errors& errors, Errors more) {
  errors.insert(errors.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

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

/// Calls `visit(name, schema, path)` for each property.
template <class Visit>
void each_property(const Json& schema, const std::string& path, const Visit& visit) {
  if (!schema["properties"].is_object()) return;
  for (const auto& [name, member] : schema["properties"].as_object())
    visit(name, member, path + ".properties[" + name + "]");
}

/// Calls `visit(schema, path)` for the schemas in not, allOf, oneOf and anyOf.
template <class Visit>
void each_junction(const Json& schema, const std::string& path, const Visit& visit) {
  if (schema["not"].is_object()) visit(schema["not"], path + ".not");
  for (const char* name : {"allOf", "oneOf", "anyOf"})
    for (std::size_t i = 0; i < schema[name].size(); ++i) visit(schema[name][i], place(path, name, i));
}

const Json::Array& types_of_values() {
  static const Json::Array types{Json("array"),  Json("boolean"), Json("integer"),
                                 Json("number"), Json("object"),  Json("string")};
  return types;
}
bool is_type(const Json& type) {
  return std::find(types_of_values().begin(), types_of_values().end(), type) != types_of_values().end();
}

bool is_header(std::string_view property) {
  return property == "metadata" || property == "kind" || property == "apiVersion";
}

/// Returns the reason why no structural schema can be made of a schema; empty if one can.
/// Source: pkg/apiserver/schema/convert.go NewStructural.
std::string unsupported_part(const Json& schema) {
  if (!schema.is_object()) return "";
  for (const auto& [keyword, name] :
       {std::pair("id", "id"), std::pair("$schema", "schema"), std::pair("$ref", "$ref")})
    if (!text(schema, keyword).empty()) return "OpenAPIV3Schema '" + std::string(name) + "' is not supported";
  for (const char* name : {"patternProperties", "dependencies", "definitions"})
    if (!schema[name].empty()) return "OpenAPIV3Schema '" + std::string(name) + "' is not supported";
  if (!schema["additionalItems"].is_null()) return "OpenAPIV3Schema 'additionalItems' is not supported";
  if (schema["x-kubernetes-preserve-unknown-fields"] == Json(false))
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
  if (schema["items"].is_array()) return "OpenAPIV3Schema 'items' must be a schema, but is an array";
  std::string problem;
  const auto add = [&](const Json& part) {
    if (problem.empty()) problem = unsupported_part(part);
  };
  add(schema["items"]);
  add(schema["additionalProperties"]);
  each_property(schema, "", [&](const std::string&, const Json& member, const std::string&) { add(member); });
  each_junction(schema, "", [&](const Json& part, const std::string&) { add(part); });
  return problem;
}

/// Checks the keywords of a schema. Source: validation.go ValidateCustomResourceDefinitionOpenAPISchema.
class KeywordCheck {
 public:
  /// Properties of the place of a schema.
  struct Place {
    bool is_root = false;
    bool in_metadata = false;
    bool takes_rules = true;          ///< Its rules are compiled.
    std::string no_defaults = {};     ///< Reason why it cannot have defaults.
    std::string uncorrelatable = {};  ///< Path of the list whose items are not compared with older ones.
  };

  void visit(const Json& schema, const std::string& path, const Place& at) {
    if (!schema.is_object()) return;
    const std::size_t before = errors.size();
    check_support(schema, path, at);
    check_parts(schema, path, at);
    check_type_names(schema, path);
    check_list(schema, path);
    const Json& rules = schema["x-kubernetes-validations"];
    for (std::size_t i = 0; i < rules.size(); ++i)
      check_rule(rules[i], schema, place(path, "x-kubernetes-validations", i));
    if (errors.size() > before || !at.takes_rules) return;
    for (std::size_t i = 0; i < rules.size(); ++i)
      check_old_self(rules[i], place(path, "x-kubernetes-validations", i), at);
  }

  Errors errors;
  Errors rule_errors;  ///< Follow the others.

 private:
  void forbid(const std::string& path, const char* name, std::string_view why) {
    errors.push_back(field_forbidden(path + "." + name, why));
  }

  void check_support(const Json& schema, const std::string& path, const Place& at) {
    const Json& type = schema["type"];
    if (!type.is_null() && !is_type(type))
      errors.push_back(field_not_supported(path + ".type", type, types_of_values()));
    if (!at.no_defaults.empty() && !schema["default"].is_null())
      forbid(path, "default", "must not be set " + at.no_defaults);
    for (const char* name :
         {"id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"})
      if (!schema[name].is_null()) forbid(path, name, std::string(name) + " is not supported");
    if (type == Json("null"))
      forbid(path, "type", "type cannot be set to null, use nullable as an alternative");
    if (schema["items"].is_array()) forbid(path, "items", "items must be a schema object and not an array");
    if (at.in_metadata && flag(schema, "x-kubernetes-embedded-resource"))
      forbid(path, "x-kubernetes-embedded-resource", "must not be used inside of resource meta");
    if (flag(schema, "uniqueItems"))
      forbid(path, "uniqueItems",
             "uniqueItems cannot be set to true since the runtime complexity becomes quadratic");
    const Json& additional = schema["additionalProperties"];
    if (!schema["properties"].empty() && !additional.is_null() && additional != Json(true))
      forbid(path, "additionalProperties", "additionalProperties and properties are mutual exclusive");
    const Json& preserve = schema["x-kubernetes-preserve-unknown-fields"];
    if (preserve == Json(false))
      errors.push_back(field_invalid(path + ".x-kubernetes-preserve-unknown-fields", preserve,
                                     "must be true or undefined"));
  }

  void check_parts(const Json& schema, const std::string& path, const Place& at) {
    Place inner = at;
    inner.is_root = false;
    if (at.in_metadata) inner.no_defaults = "inside additionalProperties applying to object metadata";
    visit(schema["additionalProperties"], path + ".additionalProperties", inner);
    inner.no_defaults = at.no_defaults;
    const bool is_whole = at.is_root || flag(schema, "x-kubernetes-embedded-resource");
    each_property(schema, path, [&](const std::string& name, const Json& member, const std::string& where) {
      if (!is_whole || !is_header(name)) return visit(member, where, inner);
      Place header = inner;
      header.in_metadata = true;
      if (at.is_root) header.no_defaults = "in top-level " + name;
      visit(member, where, header);
    });
    Place values = inner;
    values.takes_rules = false;
    each_junction(schema, path,
                  [&](const Json& part, const std::string& where) { visit(part, where, values); });
    if (schema["x-kubernetes-list-type"] != Json("map") && inner.uncorrelatable.empty())
      inner.uncorrelatable = path;
    const Json& items = schema["items"];
    visit(items, path + ".items", inner);
    if (items.is_array())
      for (std::size_t i = 0; i < items.size(); ++i) visit(items[i], place(path, "items", i), inner);
  }

  /// Checks that the type is the one that another keyword needs.
  bool check_needed_type(const Json& schema, const std::string& path, std::string_view needed,
                         const char* keyword) {
    if (schema[keyword].is_null() || schema["type"] == Json(needed)) return true;
    const std::string why = "must be " + std::string(needed) + " if " + keyword + " is specified";
    errors.push_back(schema["type"].is_null() ? field_required(path + ".type", why)
                                              : field_invalid(path + ".type", schema["type"], why));
    return false;
  }

  void check_type_names(const Json& schema, const std::string& path) {
    check_needed_type(schema, path, "object", "x-kubernetes-map-type");
    const Json& map_type = schema["x-kubernetes-map-type"];
    if (!map_type.is_null() && map_type != Json("atomic") && map_type != Json("granular"))
      errors.push_back(
          field_not_supported(path + ".x-kubernetes-map-type", map_type, {Json("atomic"), Json("granular")}));
  }

  void check_list(const Json& schema, const std::string& path) {
    const Json& list_type = schema["x-kubernetes-list-type"];
    const Json& keys = schema["x-kubernetes-list-map-keys"];
    const std::string field = path + ".x-kubernetes-list-type";
    const bool is_map = list_type == Json("map"), is_set = list_type == Json("set");
    if (check_needed_type(schema, path, "array", "x-kubernetes-list-type") && is_set)
      check_set_items(schema["items"], path + ".items");
    if (!list_type.is_null() && list_type != Json("atomic") && !is_set && !is_map)
      errors.push_back(field_not_supported(field, list_type, {Json("atomic"), Json("set"), Json("map")}));
    constexpr std::string_view needs_map = "must be map if x-kubernetes-list-map-keys is non-empty";
    if (!keys.empty() && !is_map)
      errors.push_back(list_type.is_null() ? field_required(field, needs_map)
                                           : field_invalid(field, list_type, needs_map));
    if (is_map) check_keys(schema["items"], keys, path);
    if ((is_map || is_set) && flag(schema["items"], "nullable"))
      forbid(path, "items.nullable",
             "cannot be nullable when x-kubernetes-list-type is " + list_type.as_string());
    if (is_map) check_presence_of_keys(schema["items"], keys, path + ".items");
  }

  /// Items of sets are compared as a whole.
  void check_set_items(const Json& items, const std::string& path) {
    constexpr std::string_view why = "must be atomic as item of a list with x-kubernetes-list-type=set";
    const Json& list_type = items["x-kubernetes-list-type"];
    if (items["type"] == Json("object") && items["x-kubernetes-map-type"] != Json("atomic"))
      errors.push_back(field_invalid(path + ".x-kubernetes-map-type", items["x-kubernetes-map-type"], why));
    if (items["type"] == Json("array") && !list_type.is_null() && list_type != Json("atomic"))
      errors.push_back(field_invalid(path + ".x-kubernetes-list-type", list_type, why));
  }

  void check_keys(const Json& items, const Json& keys, const std::string& path) {
    const std::string field = path + ".x-kubernetes-list-map-keys";
    if (keys.empty())
      errors.push_back(field_required(field, "must not be empty if x-kubernetes-list-type is map"));
    if (items.is_null())
      errors.push_back(
          field_required(path + ".items", "must have a schema if x-kubernetes-list-type is map"));
    if (items.is_array())
      errors.push_back(field_invalid(path + ".items", items,
                                     "must only have a single schema if x-kubernetes-list-type is map"));
    if (!items.is_object()) return;
    if (items["type"] != Json("object"))
      return errors.push_back(
          field_invalid(path + ".items.type", Json(text(items, "type")),
                        "must be object if parent array's x-kubernetes-list-type is map"));
    std::set<std::string> seen;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const std::string key = keys[i].string_or("");
      const Json& property = items["properties"][key];
      if (property.is_null())
        errors.push_back(field_invalid(field, keys, "entries must all be names of item properties"));
      else if (property["type"] == Json("object") || property["type"] == Json("array"))
        errors.push_back(
            field_invalid(path + ".items.properties[" + key + "].type", property["type"],
                          "must be a scalar type if parent array's x-kubernetes-list-type is map"));
      if (!seen.insert(key).second)
        errors.push_back(field_invalid(field, keys, "must not contain duplicate entries"));
    }
  }

  /// Keys of a list identify its items, so that each item must have them.
  void check_presence_of_keys(const Json& items, const Json& keys, const std::string& path) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const std::string key = keys[i].string_or("");
      const Json& property = items["properties"][key];
      if (property.is_null()) continue;
      const std::string where = path + ".properties[" + key + "]";
      if (!lists(items["required"], keys[i]) && property["default"].is_null())
        errors.push_back(field_required(
            where + ".default",
            "this property is in x-kubernetes-list-map-keys, so it must have a default or be a "
            "required property"));
      if (flag(property, "nullable"))
        forbid(where, "nullable", "this property is in x-kubernetes-list-map-keys, so it cannot be nullable");
    }
  }

  static bool is_blank(const std::string& words) {
    return words.find_first_not_of(" \t\r\n\v\f") == std::string::npos;
  }
  /// Returns true for a line break that does not end or begin the text.
  static bool has_lines(const std::string& words) {
    const std::size_t first = words.find_first_not_of(" \t\r\n\v\f");
    const std::size_t line = words.find_first_of("\r\n", std::min(first, words.size()));
    return line < words.find_last_not_of(" \t\r\n\v\f");
  }

  void check_rule(const Json& rule, const Json& schema, const std::string& path) {
    static const Json::Array reasons{Json("FieldValueDuplicate"), Json("FieldValueForbidden"),
                                     Json("FieldValueInvalid"), Json("FieldValueRequired")};
    const std::string body = text(rule, "rule"), message = text(rule, "message");
    if (is_blank(body))
      errors.push_back(field_required(path + ".rule", "rule is not specified"));
    else if (!message.empty() && is_blank(message))
      errors.push_back(field_invalid(path + ".message", message, "must be non-empty if specified"));
    else if (!is_blank(message) && has_lines(message))
      errors.push_back(field_invalid(path + ".message", message, "must not contain line breaks"));
    else if (message.empty() && has_lines(body))
      errors.push_back(
          field_required(path + ".message", "message must be specified if rule contains line breaks"));
    const std::string expression = text(rule, "messageExpression");
    if (!expression.empty() && is_blank(expression))
      errors.push_back(
          field_required(path + ".messageExpression", "messageExpression must be non-empty if specified"));
    const Json& reason = rule["reason"];
    if (!reason.is_null() && std::find(reasons.begin(), reasons.end(), reason) == reasons.end())
      errors.push_back(field_not_supported(path + ".reason", reason, reasons));
    const std::string field_path = text(rule, "fieldPath"), field = path + ".fieldPath";
    if (field_path.empty()) return;
    if (is_blank(field_path))
      errors.push_back(field_invalid(field, field_path, "must be non-empty if specified"));
    if (field_path.find_first_of("\r\n") != std::string::npos)
      errors.push_back(field_invalid(field, field_path, "must not contain line breaks"));
    if (unsupported_part(schema).empty() && !field_path_problem(field_path, schema).empty())
      errors.push_back(field_invalid(field, field_path, "must be a valid path"));
  }

  void check_old_self(const Json& rule, const std::string& path, const Place& at) {
    try {
      const bool uses = CelExpression(text(rule, "rule")).uses("oldSelf");
      if (uses && !at.uncorrelatable.empty())
        rule_errors.push_back(
            field_invalid(path + ".rule", rule["rule"],
                          "oldSelf cannot be used on the uncorrelatable portion of the schema within " +
                              at.uncorrelatable));
      if (!uses && !rule["optionalOldSelf"].is_null())
        rule_errors.push_back(field_invalid(path + ".optionalOldSelf", rule["optionalOldSelf"],
                                            "may not be set if oldSelf is not used in rule"));
    } catch (const CelError&) {
      // An invalid rule is reported with all others.
    }
  }
};

/// Checks that a schema is structural. Source: pkg/apiserver/schema/validation.go.
class StructuralCheck {
 public:
  enum class Place { root, field, item };

  void visit(const Json& schema, const std::string& path, Place where) {
    if (!schema.is_object()) return;
    if (schema["type"] == Json("array") && schema["items"].is_null())
      errors.push_back(field_required(path + ".items", "must be specified"));
    check_type(schema, path, where);
    check_embedded(schema, path);
    check_metadata(schema, path, where);
    check_values(schema, path, says_int_or_string(schema["anyOf"]), true);
    if (where == Place::root && !schema["additionalProperties"].is_null())
      errors.push_back(field_forbidden(path + ".additionalProperties", "must not be used at the root"));
    each_property(schema, path, [this](const std::string&, const Json& member, const std::string& at) {
      visit(member, at, Place::field);
    });
    visit(schema["additionalProperties"], path + ".additionalProperties", Place::field);
    visit(schema["items"], path + ".items", Place::item);
  }

  /// Checks that the root has all fields that its conditions are about.
  void check_complete(const Json& schema, const std::string& path) {
    each_junction(schema, path, [&](const Json& part, const std::string& where) {
      check_known(part, schema, path, where);
    });
  }

  Errors errors;

 private:
  void check_type(const Json& schema, const std::string& path, Place where) {
    const std::string type = text(schema, "type");
    constexpr std::string_view wanted = "must be object if x-kubernetes-embedded-resource is true";
    if (flag(schema, "x-kubernetes-embedded-resource") && type != "object") {
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
    if (!flag(schema, "x-kubernetes-int-or-string")) return;
    for (const char* name : {"x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"})
      if (flag(schema, name))
        errors.push_back(field_invalid(path + "." + name, schema[name],
                                       "must be false if x-kubernetes-int-or-string is true"));
  }

  void check_embedded(const Json& schema, const std::string& path) {
    if (!flag(schema, "x-kubernetes-embedded-resource")) return;
    if (!schema["additionalProperties"].is_null())
      errors.push_back(field_forbidden(path + ".additionalProperties",
                                       "must not be used if x-kubernetes-embedded-resource is set"));
    if (!flag(schema, "x-kubernetes-preserve-unknown-fields") && schema["properties"].empty())
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

  /// Checks that a schema has the fields in a part of its conditions.
  void check_known(const Json& part, const Json& schema, const std::string& path, const std::string& at) {
    if (!part.is_object()) return;
    if (!schema.is_object()) return errors.push_back(field_required(path, "because it is defined in " + at));
    each_junction(part, at, [&](const Json& inner, const std::string& where) {
      check_known(inner, schema, path, where);
    });
    check_known(part["items"], schema["items"], path + ".items", at + ".items");
    each_property(part, at, [&](const std::string& name, const Json& member, const std::string& where) {
      check_known(member, schema["properties"][name], path + ".properties[" + name + "]", where);
    });
  }

  /// Checks the value validations of a schema. The first one in allOf may say that its value is an integer or
  /// a string, too.
  void check_values(const Json& schema, const std::string& path, bool skips_any_of, bool is_structure) {
    const bool skips_first = is_structure && says_int_or_string(schema["allOf"][0]["anyOf"]);
    for (std::size_t i = 0; i < schema["anyOf"].size() && !skips_any_of; ++i)
      check_nested(schema["anyOf"][i], place(path, "anyOf", i));
    for (std::size_t i = 0; i < schema["allOf"].size(); ++i)
      check_nested(schema["allOf"][i], place(path, "allOf", i), skips_first && i == 0);
    for (std::size_t i = 0; i < schema["oneOf"].size(); ++i)
      check_nested(schema["oneOf"][i], place(path, "oneOf", i));
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
  void check_nested(const Json& schema, const std::string& path, bool skips_any_of = false) {
    if (!schema.is_object()) return;
    check_values(schema, path, skips_any_of, false);
    const auto forbid = [&](const char* name, std::string_view word) {
      if (!schema[name].is_null())
        errors.push_back(
            field_forbidden(path + "." + name, "must be " + std::string(word) + " to be structural"));
    };
    for (const char* name :
         {"type", "title", "description", "x-kubernetes-list-map-keys", "x-kubernetes-validations"})
      forbid(name, "empty");
    for (const char* name : {"default", "x-kubernetes-list-type", "x-kubernetes-map-type"})
      forbid(name, "undefined");
    if (schema["additionalProperties"] != Json(false)) forbid("additionalProperties", "undefined");
    for (const char* name : {"nullable", "x-kubernetes-preserve-unknown-fields",
                             "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string"})
      forbid(name, "false");
    if (!schema["properties"]["metadata"].is_null())
      errors.push_back(
          field_forbidden(path + ".properties[metadata]", "must not be specified in a nested context"));
    each_property(schema, path, [this](const std::string&, const Json& member, const std::string& at) {
      check_nested(member, at);
    });
    check_nested(schema["items"], path + ".items");
  }
};

/// Checks that a default matches its own schema and its rules, without unknown fields. In metadata, fields
/// are unknown to no schema.
void check_default(const Json& schema, const std::string& path, bool is_whole, bool in_metadata,
                   Errors& errors) {
  const Json* standard = schema.find("default");
  if (standard == nullptr || standard->is_null()) return;
  const auto pool = std::make_shared<SchemaPool>();
  Schema& object_meta = pool->add();
  object_meta.preserve_unknown_fields = true;
  Json source = schema;
  if (is_whole) source["x-kubernetes-embedded-resource"] = true;  // the root, too
  const KindSchema kind(pool, read_custom_schema(*pool, source, object_meta));
  Json pruned = *standard;
  if (!prune(pruned, kind).empty() && !in_metadata)
    errors.push_back(field_invalid(path + ".default", *standard, "must not have unknown fields"));
  const std::string field = path + ".default";
  const std::size_t before = errors.size();
  for (const char* name : {"apiVersion", "kind"})
    if (is_whole && standard->is_object() && text(*standard, name).empty())
      errors.push_back(field_required(field + "." + name, "must not be empty"));
  if (errors.size() > before) return;
  Errors found = validate_value(*standard, kind.root(), field);
  // A real server takes the index of an item for the name of a field.
  for (FieldError& error : found)
    if (error.field.starts_with(field + "[")) error.field.insert(field.size(), ".");
  if (found.empty() && !text(schema, "type").empty() && !is_type(schema["type"]))
    found.push_back(field_type_invalid(field, *standard, "must be of type " + text(schema, "type")));
  if (found.empty()) found = check_rules_of_default(*standard, kind.root(), field);
  if (in_metadata && !found.empty() && found.front().reason == "FieldValueTypeInvalid")
    found = {field_invalid(field, *standard, "must result in valid metadata")};
  append(errors, std::move(found));
}

/// Checks the defaults of a schema and its parts; values of maps cannot have one.
/// Source: pkg/apiserver/schema/defaulting/validation.go.
void check_defaults(const Json& schema, const std::string& path, bool is_whole, bool in_metadata,
                    Errors& errors) {
  if (!schema.is_object()) return;
  is_whole = is_whole || flag(schema, "x-kubernetes-embedded-resource");
  in_metadata = in_metadata && !is_whole;
  check_default(schema, path, is_whole, in_metadata, errors);
  check_defaults(schema["items"], path + ".items", false, in_metadata, errors);
  each_property(schema, path, [&](const std::string& name, const Json& member, const std::string& at) {
    check_defaults(member, at, false, in_metadata || (is_whole && is_header(name)), errors);
  });
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

std::vector<FieldError> check_root(const Json& schema, std::string_view path) {
  const std::string field(path);
  const auto has_any = [&](std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(), [&](const char* name) { return !schema[name].is_null(); });
  };
  const std::string type = text(schema, "type");
  const bool has_references = has_any({"id", "$schema", "$ref"});
  if (!has_references && !type.empty() && type != "object")
    return {field_invalid(field + ".type", type,
                          "only \"object\" is allowed as the type at the root of the schema if the status "
                          "subresource is enabled")};
  if (!has_references &&
      !has_any({"nullable", "default", "enum", "maxProperties", "minProperties", "allOf", "oneOf", "anyOf",
                "not", "additionalProperties", "patternProperties", "dependencies", "additionalItems",
                "definitions", "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string",
                "x-kubernetes-list-map-keys", "x-kubernetes-list-type", "x-kubernetes-map-type"}))
    return {};
  return {field_invalid(
      field, schema,
      "only [Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength "
      "MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs "
      "Example XPreserveUnknownFields XValidations] fields are allowed at the root of the schema if the "
      "status subresource is enabled")};
}

std::vector<FieldError> check_structural(const Json& schema, std::string_view path) {
  const std::string root(path);
  Errors errors;
  if (flag(schema, "nullable"))
    errors.push_back(field_forbidden(root + ".nullable", "nullable cannot be true at the root"));
  const std::string unsupported = unsupported_part(schema);
  StructuralCheck structural;
  if (unsupported.empty()) {
    structural.visit(schema, root, StructuralCheck::Place::root);
    structural.check_complete(schema, root);
    std::sort(structural.errors.begin(), structural.errors.end(),
              [](const FieldError& a, const FieldError& b) { return a.text() < b.text(); });
    if (structural.errors.empty()) check_defaults(schema, root, true, false, structural.errors);
  }
  KeywordCheck keywords;
  keywords.visit(schema, root,
                 {.is_root = true, .takes_rules = unsupported.empty() && structural.errors.empty()});
  const bool readable =
      unsupported.empty() && errors.empty() && structural.errors.empty() && keywords.errors.empty();
  if (readable) check_rules(schema, root, keywords.rule_errors);
  append(errors, std::move(structural.errors));
  append(errors, std::move(keywords.errors));
  append(errors, std::move(keywords.rule_errors));
  if (errors.empty() && !unsupported.empty()) errors.push_back(field_invalid(root, Json(""), unsupported));
  return errors;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
