// SPDX-License-Identifier: Apache-2.0
#include "programs/evenkeel/types/field_attributes.hpp"

#include <charconv>
#include <cmath>
#include <string_view>

#include "programs/evenkeel/types/builtin_shapes.hpp"
#include "programs/evenkeel/types/cxx_text.hpp"

namespace evenkeel::program {
namespace {

constexpr std::size_t max_rules = 4;  // of a field, and below those of one_of() and list_map()
constexpr std::size_t max_one_of = 16;
constexpr std::size_t max_keys = 4;

/// Returns the number as C++: an integer if it is exact as one.
std::string number_text(const Json& value) {
  const double number = value.as_number();
  if (std::trunc(number) == number && std::fabs(number) < 9e15)
    return std::to_string(static_cast<std::int64_t>(number));
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, number, std::chars_format::scientific);
  return std::string(text, end.ptr);
}

class AttributeWriter {
 public:
  AttributeWriter(const std::string& where, LostParts& lost) : where_(where), lost_(lost) {}

  std::vector<std::string> write(const Value& value, const Json& schema, const std::string& path) {
    add_attributes(value, schema, path);
    return std::move(attributes_);
  }

 private:
  void add_attributes(const Value& value, const Json& schema, const std::string& path) {
    using enum TypeKind;
    if (value.kind == string || value.kind == text || value.kind == enumeration ||
        value.kind == int_or_string)
      add_text_attributes(value, schema, path);
    if (value.kind == integer || value.kind == number || value.kind == int_or_string)
      add_number_attributes(value, schema, path);
    if (value.kind == list) add_list_attributes(value, schema, path);
    if (value.kind == map)
      add_counts(schema, "minProperties", "maxProperties", "ek::min_items", "ek::max_items");
    if (value.kind == record) lost_.add_members(schema, path, {"minProperties", "maxProperties"});
    if (schema["x-kubernetes-map-type"] == Json("atomic")) add_map_type(value, path);
    if (schema["x-kubernetes-embedded-resource"].bool_or(false)) attributes_.push_back("ek::embedded_object");
    if ((value.kind == map || value.kind == record) &&
        schema["x-kubernetes-preserve-unknown-fields"].bool_or(false))
      attributes_.push_back("ek::preserve_unknown");
    if (!takes_words(value.kind)) lost_.add_members(schema, path, {"enum"});
    if (!value.draft) add_rules(schema, path);
  }

  /// Those of numbers are noted with their attributes.
  static bool takes_words(TypeKind kind) {
    using enum TypeKind;
    return kind == string || kind == enumeration || kind == integer || kind == number;
  }

  void add_map_type(const Value& value, const std::string& path) {
    if (value.kind != TypeKind::map && value.kind != TypeKind::record)
      return lost_.add(path, "x-kubernetes-map-type atomic");
    attributes_.push_back("ek::map_atomic");
  }

  void add_rules(const Json& schema, const std::string& path) {
    const std::vector<Rule> rules = rules_of(schema, where_, path, lost_);
    for (std::size_t i = 0; i < rules.size(); ++i) {
      if (i >= max_rules) {
        lost_.add(path, "rules but the first " + std::to_string(max_rules));
        return;
      }
      const auto& [rule, message] = rules[i];
      attributes_.push_back("ek::rule(" + literal(rule) + (message.empty() ? "" : ", " + literal(message)) +
                            ")");
    }
  }

  void add_counts(const Json& schema, std::string_view least, std::string_view most,
                  const std::string& least_name, const std::string& most_name) {
    if (schema[least].is_number()) attributes_.push_back(least_name + "(" + number_text(schema[least]) + ")");
    if (schema[most].is_number()) attributes_.push_back(most_name + "(" + number_text(schema[most]) + ")");
  }

  void add_text_attributes(const Value& value, const Json& schema, const std::string& path) {
    add_counts(schema, "minLength", "maxLength", "ek::min_length", "ek::max_length");
    const std::string pattern = schema["pattern"].string_or("");
    if (!pattern.empty() && !has_own_pattern(schema))
      attributes_.push_back("ek::pattern(" + literal(pattern) + ")");
    const std::string format = schema["format"].string_or("");
    const bool has_own =
        value.type == "ek::Time" || value.type == "ek::Bytes" || value.kind == TypeKind::enumeration;
    if (!format.empty() && !has_own) attributes_.push_back("ek::format(" + literal(format) + ")");
    if (value.kind == TypeKind::string && schema["enum"].is_array()) add_one_of(schema["enum"], path);
  }

  void add_one_of(const Json& words, const std::string& path) {
    if (words.size() == 0 || words.size() > max_one_of)
      return lost_.add(path, "enum of " + std::to_string(words.size()) + " words");
    std::string text;
    for (const Json& word : words.as_array()) {
      if (!word.is_null()) text += (text.empty() ? "" : ", ") + literal(word.as_string());
    }
    attributes_.push_back("ek::one_of(" + text + ")");
  }

  void add_number_attributes(const Value& value, const Json& schema, const std::string& path) {
    if (value.kind == TypeKind::int_or_string && has_own_bounds(schema)) return;
    add_counts(schema, "minimum", "maximum", "ek::minimum", "ek::maximum");
    if (value.kind == TypeKind::int_or_string) return;
    if (schema.contains("enum")) lost_.add(path, "enum of numbers");
    const std::string format = schema["format"].string_or("");
    for (const std::string_view known : {"", "int32", "int64", "float", "double"}) {
      if (format == known) return;
    }
    attributes_.push_back("ek::format(" + literal(format) + ")");
  }

  void add_list_attributes(const Value& value, const Json& schema, const std::string& path) {
    add_counts(schema, "minItems", "maxItems", "ek::min_items", "ek::max_items");
    const std::string type = schema["x-kubernetes-list-type"].string_or("");
    const bool is_of_objects = value.item == TypeKind::record || value.item == TypeKind::map;
    if (type == "atomic") attributes_.push_back("ek::list_atomic");
    if (type == "set" && is_of_objects) lost_.add(path, "x-kubernetes-list-type set, of objects");
    if (type == "set" && !is_of_objects) attributes_.push_back("ek::list_set");
    if (type != "map") return;
    std::string keys;
    const Json& given = schema["x-kubernetes-list-map-keys"];
    for (std::size_t i = 0; i < given.size(); ++i)
      keys += (keys.empty() ? "" : ", ") + literal(given[i].string_or(""));
    if (value.item != TypeKind::record || given.size() == 0 || given.size() > max_keys)
      return lost_.add(path, "keys of the list");
    attributes_.push_back("ek::list_map(" + keys + ")");
  }

  const std::string& where_;
  LostParts& lost_;
  std::vector<std::string> attributes_;
};

}  // namespace

std::vector<std::string> attributes_of(const Value& value, const Json& schema, const std::string& where,
                                       const std::string& path, LostParts& lost) {
  return AttributeWriter(where, lost).write(value, schema, path);
}

std::vector<Rule> rules_of(const Json& schema, const std::string& where, const std::string& path,
                           LostParts& lost) {
  std::vector<Rule> rules;
  const Json& given = schema["x-kubernetes-validations"];
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string at = path + ".x-kubernetes-validations[" + std::to_string(i) + "]";
    if (!given[i]["rule"].is_string())
      throw DecodeError(where + ": " + at + ".rule",
                        "expected string, found " + std::string(given[i]["rule"].kind_name()));
    lost.add_members(given[i], at, {"messageExpression", "reason", "fieldPath", "optionalOldSelf"});
    rules.push_back({.rule = given[i]["rule"].as_string(), .message = given[i]["message"].string_or("")});
  }
  return rules;
}

}  // namespace evenkeel::program
