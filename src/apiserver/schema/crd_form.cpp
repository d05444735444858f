// SPDX-License-Identifier: Apache-2.0
#include "apiserver/schema/crd_form.hpp"

#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/text/json_problem.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

/// Go types of fields. Those of pointers are written with their zero value, too.
enum class Form : std::uint8_t {
  text,
  text_pointer,
  flag,
  flag_pointer,
  integer,  ///< A pointer, like number.
  number,
  any,
  texts,
  values,
  schema,
  schemas,
  named_schemas,
  items,
  schema_or_flag,
  dependencies,
  documentation,
  rules
};

struct SchemaKeyword {
  std::string_view name;
  Form form;
};

constexpr SchemaKeyword schema_fields[] = {{"id", Form::text},
                                           {"$schema", Form::text},
                                           {"$ref", Form::text_pointer},
                                           {"description", Form::text},
                                           {"type", Form::text},
                                           {"format", Form::text},
                                           {"title", Form::text},
                                           {"default", Form::any},
                                           {"maximum", Form::number},
                                           {"exclusiveMaximum", Form::flag},
                                           {"minimum", Form::number},
                                           {"exclusiveMinimum", Form::flag},
                                           {"maxLength", Form::integer},
                                           {"minLength", Form::integer},
                                           {"pattern", Form::text},
                                           {"maxItems", Form::integer},
                                           {"minItems", Form::integer},
                                           {"uniqueItems", Form::flag},
                                           {"multipleOf", Form::number},
                                           {"enum", Form::values},
                                           {"maxProperties", Form::integer},
                                           {"minProperties", Form::integer},
                                           {"required", Form::texts},
                                           {"items", Form::items},
                                           {"allOf", Form::schemas},
                                           {"oneOf", Form::schemas},
                                           {"anyOf", Form::schemas},
                                           {"not", Form::schema},
                                           {"properties", Form::named_schemas},
                                           {"additionalProperties", Form::schema_or_flag},
                                           {"patternProperties", Form::named_schemas},
                                           {"dependencies", Form::dependencies},
                                           {"additionalItems", Form::schema_or_flag},
                                           {"definitions", Form::named_schemas},
                                           {"externalDocs", Form::documentation},
                                           {"example", Form::any},
                                           {"nullable", Form::flag},
                                           {"x-kubernetes-preserve-unknown-fields", Form::flag_pointer},
                                           {"x-kubernetes-embedded-resource", Form::flag},
                                           {"x-kubernetes-int-or-string", Form::flag},
                                           {"x-kubernetes-list-map-keys", Form::texts},
                                           {"x-kubernetes-list-type", Form::text_pointer},
                                           {"x-kubernetes-map-type", Form::text_pointer},
                                           {"x-kubernetes-validations", Form::rules}};
constexpr SchemaKeyword rule_fields[] = {
    {"rule", Form::text_pointer},   {"message", Form::text},   {"messageExpression", Form::text},
    {"reason", Form::text_pointer}, {"fieldPath", Form::text}, {"optionalOldSelf", Form::flag_pointer}};
constexpr SchemaKeyword documentation_fields[] = {{"description", Form::text}, {"url", Form::text}};

class Converter {
 public:
  std::optional<std::string> problem = {};

  void schema(Json& value, const std::string& path) { fields(value, schema_fields, path); }

 private:
  /// Records the error of a value that is not of the expected type; it is kept.
  bool expect(bool is_expected, std::string_view type, const Json& value, const std::string& path) {
    if (!is_expected && !problem) problem = wrong_type(path, type, value);
    return is_expected;
  }

  void fields(Json& value, std::span<const SchemaKeyword> known, const std::string& path) {
    if (value.is_null()) value = Json::object();
    if (!expect(value.is_object(), "an object", value, path)) return;
    std::vector<std::string> gone;
    for (auto& [name, member] : value.as_object()) {
      const SchemaKeyword* field = nullptr;
      for (const SchemaKeyword& each : known)
        if (each.name == name) field = &each;
      if (field == nullptr || member.is_null() || !is_written(member, field->form, path + "." + name))
        gone.push_back(name);
    }
    for (const std::string& name : gone) value.erase(name);
  }

  template <class Convert>
  bool items(Json& value, const std::string& path, const Convert& convert) {
    if (!expect(value.is_array(), "an array", value, path)) return true;
    Json::Array& list = value.as_array();
    for (std::size_t i = 0; i < list.size(); ++i) convert(list[i], path + "[" + std::to_string(i) + "]");
    return !list.empty();
  }

  template <class Convert>
  bool members(Json& value, const std::string& path, const Convert& convert) {
    if (!expect(value.is_object(), "an object", value, path)) return true;
    for (auto& [name, member] : value.as_object()) convert(member, path + "." + name);
    return !value.empty();
  }

  bool texts(Json& value, const std::string& path) {
    return items(value, path, [this](Json& item, const std::string& at) {
      if (item.is_null()) item = Json("");
      expect(item.is_string(), "a string", item, at);
    });
  }

  bool schemas(Json& value, const std::string& path) {
    return items(value, path, [this](Json& item, const std::string& at) { schema(item, at); });
  }

  void rule(Json& value, const std::string& path) {
    fields(value, rule_fields, path);
    if (value.is_object() && !value.contains("rule")) value["rule"] = "";
  }

  /// Whole numbers have no fraction, as Go writes them.
  static void shorten(Json& value) {
    const double number = value.as_number();
    if (!value.is_integer() && std::trunc(number) == number && std::fabs(number) < 9e15)
      value = Json(static_cast<std::int64_t>(number));
  }

  /// Converts the value of a keyword, which is not null; returns false if it is omitted.
  bool is_written(Json& value, Form form, const std::string& path) {
    switch (form) {
      case Form::text:
      case Form::text_pointer:
        return !expect(value.is_string(), "a string", value, path) || form == Form::text_pointer ||
               !value.as_string().empty();
      case Form::flag:
      case Form::flag_pointer:
        return !expect(value.is_bool(), "a boolean", value, path) || form == Form::flag_pointer ||
               value.as_bool();
      case Form::integer:
        expect(value.is_integer(), "an integer of 64 bits", value, path);
        return true;
      case Form::number:
        if (expect(value.is_number(), "a number", value, path)) shorten(value);
        return true;
      case Form::any:
        return true;
      case Form::texts:
        return texts(value, path);
      case Form::values:
        return items(value, path, [](Json&, const std::string&) {});
      case Form::rules:
        return items(value, path, [this](Json& item, const std::string& at) { rule(item, at); });
      case Form::schema:
        schema(value, path);
        return true;
      case Form::schemas:
        return schemas(value, path);
      case Form::named_schemas:
        return members(value, path, [this](Json& member, const std::string& at) { schema(member, at); });
      case Form::items:  // other values are ignored
        if (value.is_object()) schema(value, path);
        return value.is_object() || (value.is_array() && schemas(value, path));
      case Form::schema_or_flag:
        if (!value.is_bool() && expect(value.is_object(), "a boolean or a schema", value, path))
          schema(value, path);
        return true;
      case Form::dependencies:
        members(value, path, [this](Json& member, const std::string& at) {
          if (member.is_object()) schema(member, at);
          if (member.is_array()) texts(member, at);
        });
        return true;  // an empty one is refused
      case Form::documentation:
        fields(value, documentation_fields, path);
        return true;
    }
    return true;
  }
};

/// Replaces null members of an object by a zero value.
void replace_nulls(Json& object, std::initializer_list<std::string_view> names, const Json& zero) {
  if (!object.is_object()) return;
  for (const std::string_view name : names) {
    Json* member = object.find(name);
    if (member != nullptr && member->is_null()) *member = zero;
  }
}

/// Returns the items of a list of structs, where null is an empty one.
std::span<Json> structs_in(Json& owner, std::string_view name) {
  Json* list = owner.is_object() ? owner.find(name) : nullptr;
  if (list == nullptr || !list->is_array()) return {};
  for (Json& item : list->as_array())
    if (item.is_null()) item = Json::object();
  return list->as_array();
}

}  // namespace

std::optional<std::string> canonicalize_crd(Json& crd) {
  Json* spec = crd.find("spec");
  if (spec == nullptr || !spec->is_object()) return std::nullopt;
  Converter converter;
  replace_nulls(*spec, {"group", "scope"}, Json(""));
  if (Json* names = spec->find("names")) replace_nulls(*names, {"plural", "kind"}, Json(""));
  if (Json* conversion = spec->find("conversion"); conversion != nullptr && conversion->is_object()) {
    const Json& webhook = std::as_const(*conversion)["webhook"];
    if (webhook["clientConfig"].is_null() && webhook["conversionReviewVersions"].is_null())
      conversion->erase("webhook");
  }
  std::size_t index = 0;
  for (Json& version : structs_in(*spec, "versions")) {
    replace_nulls(version, {"name"}, Json(""));
    replace_nulls(version, {"served", "storage"}, Json(false));
    if (std::as_const(version)["deprecated"] == Json(false)) version.erase("deprecated");
    for (Json& column : structs_in(version, "additionalPrinterColumns"))
      replace_nulls(column, {"name", "type", "jsonPath"}, Json(""));
    for (Json& field : structs_in(version, "selectableFields")) replace_nulls(field, {"jsonPath"}, Json(""));
    const std::string path = "spec.versions[" + std::to_string(index++) + "].schema.openAPIV3Schema";
    Json* validation = version.is_object() ? version.find("schema") : nullptr;
    Json* schema =
        validation != nullptr && validation->is_object() ? validation->find("openAPIV3Schema") : nullptr;
    if (schema != nullptr && !schema->is_null()) converter.schema(*schema, path);
  }
  return converter.problem;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
