// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

#include <evenkeel/api/attributes.hpp>

#include "programs/evenkeel/types/builtin_shapes.hpp"
#include "programs/evenkeel/types/cxx_names.hpp"
#include "programs/evenkeel/types/cxx_text.hpp"
#include "programs/evenkeel/types/type_model.hpp"

namespace evenkeel::program {
namespace {

constexpr std::size_t max_members = 200;  // of EVENKEEL_FIELDS
constexpr std::size_t max_words = 200;    // of EVENKEEL_ENUM, each of up to 63 characters
constexpr std::size_t max_rules = 4;      // of a field
constexpr std::size_t max_one_of = 16;
constexpr std::size_t max_keys = 4;

/// Words of the path from the kind to a type: {"Acme", "Solver"}.
using Path = std::vector<std::string>;

/// A declaration whose name is not chosen yet. In types it is written as a mark with its number.
struct Draft {
  Declaration declaration = {};
  std::vector<Path> paths = {};  ///< Places where it is used.
};

std::string mark(std::size_t draft) {
  return "\x01" + std::to_string(draft) + "\x02";
}

/// The C++ type for a schema.
struct Value {
  std::string type = {};
  TypeKind kind = TypeKind::json;
  TypeKind item = TypeKind::json;  ///< Kind of the items of a list or map.
  bool is_always_written = false;  ///< A plain member of the type is on the wire whatever its value.
  std::optional<std::size_t> draft = {};
};

Path operator+(Path path, const std::string& word) {
  path.push_back(word);
  return path;
}

/// Returns `schema` without descriptions.
Json without_descriptions(const Json& schema, bool are_properties = false) {
  if (!schema.is_object()) return schema;
  Json out = Json::object();
  for (const auto& [name, value] : schema.as_object()) {
    if (!are_properties && name == "description") continue;
    out[name] =
        name == "default" ? value : without_descriptions(value, !are_properties && name == "properties");
  }
  return out;
}

/// Returns a text that is equal for what is one type: schemas at places whose names end in the same word.
std::string type_key(const std::string& schema, const Path& words) {
  const std::vector<std::string> last = words_of(words.back());
  return (last.empty() ? std::string() : last.back()) + " " + schema;
}

/// Returns the schema of a struct without what belongs to the field.
std::string struct_schema(const Json& schema) {
  Json key = without_descriptions(schema);
  for (const std::string_view name : {"default", "nullable", "minProperties", "maxProperties",
                                      "x-kubernetes-map-type", "x-kubernetes-preserve-unknown-fields"})
    key.erase(name);
  return key.dump();
}

/// Returns the number as C++: an integer if it is exact as one.
std::string number_text(const Json& value) {
  const double number = value.as_number();
  if (std::trunc(number) == number && std::fabs(number) < 9e15)
    return std::to_string(static_cast<std::int64_t>(number));
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, number, std::chars_format::scientific);
  return std::string(text, end.ptr);
}

bool is_required(const Json& schema, std::string_view name) {
  const Json& required = schema["required"];
  for (std::size_t i = 0; i < required.size(); ++i) {
    if (required[i] == Json(name)) return true;
  }
  return false;
}

/// Rank of a member in its struct: as in built-in kinds.
int rank(std::string_view wire) {
  constexpr std::string_view first[] = {"metadata", "name", "spec", "status"};
  return static_cast<int>(std::find(std::begin(first), std::end(first), wire) - std::begin(first));
}

class Builder {
 public:
  Builder(const CrdSource& source, const TypeOptions& options) : source_(source), options_(options) {}

  TypeModel build(std::set<std::string>& taken) {
    model_.headers = {"evenkeel/api/crd.hpp", "evenkeel/api/fields.hpp", "evenkeel/api/metadata.hpp"};
    add_kind();
    add_notes_of_definition();
    name_drafts(taken);
    return std::move(model_);
  }

 private:
  // ---- Errors and notes ----

  [[noreturn]] void fail(const std::string& path, const std::string& problem) const {
    throw DecodeError(source_.where + ": " + path, problem);
  }
  void lose(const std::string& path, const std::string& part) {
    std::string field = path.substr(std::min(path.size(), source_.schema_path.size()));
    std::string shown;
    for (std::size_t at; (at = field.find(".properties.")) != std::string::npos;) {
      shown += field.substr(0, at) + ".";
      field.erase(0, at + 12);
    }
    shown += field;
    model_.lost.push_back((shown.empty() ? "" : shown + ": ") + part);
  }
  void lose_members(const Json& schema, const std::string& path,
                    std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) {
      if (schema.contains(name)) lose(path, std::string(name));
    }
  }
  const Json& object_in(const Json& schema, std::string_view name, const std::string& path) const {
    const Json& value = schema[name];
    if (!value.is_null() && !value.is_object())
      fail(path + "." + std::string(name), "expected object, found " + std::string(value.kind_name()));
    return value;
  }

  // ---- The kind ----

  void add_kind() {
    const Json& schema = source_.schema;
    const std::string& path = source_.schema_path;
    check(schema, path);
    if (type_name(schema, path) != "object") fail(path + ".type", "the schema of a kind is of type object");
    Draft kind;
    kind.declaration.description = schema["description"].string_or("");
    kind.declaration.rules = rules_of(schema, path);
    kind.declaration.members.push_back({.wire = "metadata", .name = "metadata", .type = "ek::ObjectMeta"});
    std::set<std::string> names = {"metadata",   "resource",    "columns",      "scale",   "rules",
                                   "categories", "description", "api_approved", "complete"};
    for (const Json::Member* property : ordered(object_in(schema, "properties", path))) {
      if (property->name == "apiVersion" || property->name == "kind" || property->name == "metadata")
        continue;
      if (auto member = member_of(*property, schema, path, {}, names))
        kind.declaration.members.push_back(std::move(*member));
    }
    if (schema["x-kubernetes-preserve-unknown-fields"].bool_or(false))
      lose(path, "x-kubernetes-preserve-unknown-fields");
    drafts_.push_back(std::move(kind));
  }

  void add_notes_of_definition() {
    const Json& properties = source_.schema["properties"];
    if (source_.short_names.size() > 1) lose({}, "short names but the first");
    if (properties.contains("status") && !source_.has_status)
      lose({}, "the status has no subresource here: write it with the object, not with patch_status()");
    if (source_.has_status && !properties.contains("status"))
      lose({}, "subresource status, without a schema");
    const Json& status = properties["status"]["properties"];
    const auto counts = [](const Json& schema) { return schema["type"] == Json("integer"); };
    model_.suppresses_scale = !source_.scale && counts(properties["spec"]["properties"]["replicas"]) &&
                              (counts(status["replicas"]) || counts(status["readyReplicas"]));
  }

  // ---- Structs ----

  std::vector<const Json::Member*> ordered(const Json& properties) const {
    std::vector<const Json::Member*> out;
    if (properties.is_null()) return out;
    for (const Json::Member& property : properties.as_object()) out.push_back(&property);
    std::stable_sort(out.begin(), out.end(), [](const Json::Member* a, const Json::Member* b) {
      return rank(a->name) < rank(b->name);
    });
    return out;
  }

  Value struct_of(const Json& schema, const std::string& path, const Path& words) {
    Draft draft;
    draft.declaration.description = schema["description"].string_or("");
    draft.declaration.rules = rules_of(schema, path);
    draft.paths.push_back(words);
    std::set<std::string> names;
    if (!draft.declaration.rules.empty()) names.insert("rules");
    bool is_always_written = false;
    for (const Json::Member* property : ordered(schema["properties"])) {
      auto member = member_of(*property, schema, path, words, names);
      if (!member) continue;
      is_always_written = is_always_written || last_is_always_written_;
      draft.declaration.members.push_back(std::move(*member));
    }
    Value value{.kind = TypeKind::record, .is_always_written = is_always_written};
    const auto [found, is_new] = known_.try_emplace(type_key(struct_schema(schema), words), drafts_.size());
    if (is_new) {
      drafts_.push_back(std::move(draft));
    } else {
      drafts_[found->second].paths.push_back(words);
    }
    value.draft = found->second;
    value.type = mark(found->second);
    return value;
  }

  /// Returns the member for a property; nothing if it cannot be described.
  std::optional<Member> member_of(const Json::Member& property, const Json& owner,
                                  const std::string& owner_path, const Path& words,
                                  std::set<std::string>& names) {
    const Json& schema = property.value;
    const std::string path = owner_path + ".properties." + property.name;
    if (property.name.empty() || property.name.find(':') != std::string::npos) {
      lose(path, "left out: a field's name cannot be empty or have a colon");
      return std::nullopt;
    }
    const bool is_part_of_kind = words.empty() && (property.name == "spec" || property.name == "status");
    const Value value = value_of(schema, path, words + pascal_name(property.name), property.name);
    Member member{.wire = property.name,
                  .name = member_name(property.name, names),
                  .description = schema["description"].string_or("")};
    const bool required = is_required(owner, property.name);
    const bool is_plain =
        is_plain_member(value, schema, required) || (is_part_of_kind && value.kind == TypeKind::record);
    member.type = is_plain ? value.type : optional_of(value.type);
    last_is_always_written_ = is_plain && required && value.is_always_written;
    if (wire_of_member(member.name) != property.name)
      member.attributes.push_back("ek::wire(" + literal(property.name) + ")");
    add_presence(member, schema, path, required, is_plain && value.kind == TypeKind::record);
    add_attributes(member, value, schema, path);
    if (options_.describe && !member.description.empty())
      member.attributes.push_back("ek::doc(" + literal(member.description) + ")");
    return member;
  }

  /// Returns the name of a member: a trailing underscore tells it from a constant of the struct.
  static std::string member_name(const std::string& wire, std::set<std::string>& names) {
    std::string name = snake_name(wire);
    if (names.contains(name) && !name.ends_with('_')) name += '_';
    if (names.contains(name)) name.pop_back();
    return take_name(name, names);
  }

  /// Plain are lists and maps, which are left out when they are empty, and what is required and written
  /// always.
  static bool is_plain_member(const Value& value, const Json& schema, bool required) {
    if (value.kind == TypeKind::json) return true;
    if (value.kind == TypeKind::list || value.kind == TypeKind::map) {
      const Json& least = schema[value.kind == TypeKind::list ? "minItems" : "minProperties"];
      return !required || least.integer_or(0) > 0;
    }
    return required && value.is_always_written && !schema.contains("default");
  }

  std::string optional_of(const std::string& type) const { return "std::optional<" + type + ">"; }

  void add_presence(Member& member, const Json& schema, const std::string& path, bool required,
                    bool is_plain_struct) {
    if (const Json* given = schema.find("default")) {
      member.attributes.push_back("ek::default_to(" + literal(given->dump()) + ")");
      if (required) lose(path, "required, beside a default");
    } else if (required) {
      member.attributes.push_back("ek::required");
    } else if (is_plain_struct) {
      member.attributes.push_back("ek::no_default");
    }
    if (schema["nullable"].bool_or(false)) member.attributes.push_back("ek::nullable");
  }

  // ---- Types ----

  /// Refuses what no structural schema has.
  void check(const Json& schema, const std::string& path) const {
    if (!schema.is_object()) fail(path, "expected object, found " + std::string(schema.kind_name()));
    for (const std::string_view name : {"$ref", "definitions"}) {
      if (schema.contains(name))
        fail(path + "." + std::string(name),
             "a schema that refers to another one, or to itself, is not structural; API servers refuse it");
    }
  }

  std::string type_name(const Json& schema, const std::string& path) const {
    const Json& type = schema["type"];
    if (!type.is_null() && !type.is_string())
      fail(path + ".type", "expected string, found " + std::string(type.kind_name()));
    return type.string_or("");
  }

  Value value_of(const Json& schema, const std::string& path, const Path& words, std::string_view field) {
    check(schema, path);
    lose_members(schema, path,
                 {"oneOf", "allOf", "not", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"});
    const std::string type = type_name(schema, path);
    if (schema["x-kubernetes-int-or-string"].bool_or(false)) return int_or_string(schema);
    lose_members(schema, path, {"anyOf"});
    if (type == "object") return object_of(schema, path, words, field);
    if (type == "array") return list_of(schema, path, words);
    if (type == "string") return string_of(schema, path, words);
    if (type == "integer")
      return {.type = integer_type(schema), .kind = TypeKind::integer, .is_always_written = true};
    if (type == "number")
      return {.type = schema["format"] == Json("float") ? "float" : "double",
              .kind = TypeKind::number,
              .is_always_written = true};
    if (type == "boolean") return {.type = "bool", .kind = TypeKind::boolean, .is_always_written = true};
    if (!type.empty())
      fail(path + ".type",
           "expected array, boolean, integer, number, object or string, found string " + literal(type));
    if (!schema["x-kubernetes-preserve-unknown-fields"].bool_or(false))
      fail(path,
           "has no type, which only x-kubernetes-int-or-string and x-kubernetes-preserve-unknown-fields "
           "allow");
    return json();
  }

  Value json() {
    model_.headers.insert("evenkeel/api/json.hpp");
    return {.type = "ek::Json", .kind = TypeKind::json};
  }

  Value int_or_string(const Json& schema) {
    const bool quantity = is_quantity(schema);
    model_.headers.insert(quantity ? "evenkeel/api/quantity.hpp" : "evenkeel/api/int_or_string.hpp");
    return {.type = quantity ? "ek::Quantity" : "ek::IntOrString",
            .kind = quantity ? TypeKind::text : TypeKind::int_or_string,
            .is_always_written = true};
  }

  static std::string integer_type(const Json& schema) {
    return schema["format"] == Json("int32") ? "std::int32_t" : "std::int64_t";
  }

  Value string_of(const Json& schema, const std::string& path, const Path& words) {
    const std::string format = schema["format"].string_or("");
    if (schema["enum"].is_array()) return words_of_enum(schema, path, words);
    if (format == "date-time") {
      model_.headers.insert("evenkeel/api/time.hpp");
      return {.type = "ek::Time", .kind = TypeKind::text};
    }
    if (format == "byte") {
      model_.headers.insert("evenkeel/api/bytes.hpp");
      return {.type = "ek::Bytes", .kind = TypeKind::text};
    }
    return {.type = "std::string", .kind = TypeKind::string, .is_always_written = true};
  }

  /// An enumeration, or a string if it cannot be one.
  Value words_of_enum(const Json& schema, const std::string& path, const Path& words) {
    Draft draft;
    std::set<std::string> names;
    const Json& given = schema["enum"];
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (given[i].is_null()) continue;
      const std::string at = path + ".enum[" + std::to_string(i) + "]";
      if (!given[i].is_string()) fail(at, "expected string, found " + std::string(given[i].kind_name()));
      const std::string& word = given[i].as_string();
      std::string name = snake_name(word.empty() ? "none" : word);
      draft.declaration.words.push_back({.name = take_name(name, names), .wire = word});
    }
    const auto& all = draft.declaration.words;
    const bool fits = !all.empty() && all.size() <= max_words &&
                      std::all_of(all.begin(), all.end(), [](const Enumerator& each) {
                        return each.wire.size() < 64 && each.name.size() < 64;
                      });
    if (!fits) return {.type = "std::string", .kind = TypeKind::string, .is_always_written = true};
    draft.declaration.description = schema["description"].string_or("");
    const auto [found, is_new] = known_.try_emplace(type_key(given.dump(), words), drafts_.size());
    if (is_new) drafts_.push_back(std::move(draft));
    drafts_[found->second].paths.push_back(words);
    return {.type = mark(found->second), .kind = TypeKind::enumeration, .is_always_written = true};
  }

  Value list_of(const Json& schema, const std::string& path, const Path& words) {
    if (!schema.contains("items")) fail(path, "an array needs items");
    Path item_words = words;
    item_words.back() = singular_of(item_words.back());
    const Value item = value_of(schema["items"], path + ".items", item_words, item_words.back());
    lose_bounds(schema["items"], item, path + ".items");
    if (schema["uniqueItems"].bool_or(false)) lose(path, "uniqueItems");
    return {.type = "std::vector<" + item.type + ">", .kind = TypeKind::list, .item = item.kind};
  }

  Value object_of(const Json& schema, const std::string& path, const Path& words, std::string_view field) {
    const Json& properties = object_in(schema, "properties", path);
    const Json& values = schema["additionalProperties"];
    const bool keeps_unknown = schema["x-kubernetes-preserve-unknown-fields"].bool_or(false);
    if (values.is_object() && properties.empty()) {
      Path value_words = words;
      value_words.back() = singular_of(value_words.back());
      const Value value = value_of(values, path + ".additionalProperties", value_words, value_words.back());
      lose_bounds(values, value, path + ".additionalProperties");
      return {.type = "std::map<std::string, " + value.type + ">", .kind = TypeKind::map, .item = value.kind};
    }
    if (schema["x-kubernetes-embedded-resource"].bool_or(false)) return json();
    if (properties.empty() && (keeps_unknown || values.bool_or(false))) return json();
    if (values.is_object() || values.bool_or(false)) lose(path, "additionalProperties, beside properties");
    if (properties.size() > max_members) {
      lose(path, std::to_string(properties.size()) + " fields, of which a struct takes " +
                     std::to_string(max_members));
      return json();
    }
    if (!keeps_unknown) {
      if (const BuiltinType* builtin = builtin_type_for(schema, field)) return builtin_of(*builtin, schema);
    }
    return struct_of(schema, path, words);
  }

  Value builtin_of(const BuiltinType& builtin, const Json& schema) {
    model_.headers.insert(std::string(builtin.header));
    const Json& required = schema["required"];
    return {.type = std::string(builtin.name),
            .kind = TypeKind::record,
            // Plain members of built-in types; others are optional there.
            .is_always_written = builtin.name == "ek::Condition" ||
                                 (required.size() > 0 && builtin.name == "ek::core_v1::EnvVar")};
  }

  // ---- Attributes ----

  std::vector<Rule> rules_of(const Json& schema, const std::string& path) {
    std::vector<Rule> rules;
    const Json& given = schema["x-kubernetes-validations"];
    for (std::size_t i = 0; i < given.size(); ++i) {
      const std::string at = path + ".x-kubernetes-validations[" + std::to_string(i) + "]";
      if (!given[i]["rule"].is_string())
        fail(at + ".rule", "expected string, found " + std::string(given[i]["rule"].kind_name()));
      lose_members(given[i], at, {"messageExpression", "reason", "fieldPath", "optionalOldSelf"});
      rules.push_back({.rule = given[i]["rule"].as_string(), .message = given[i]["message"].string_or("")});
    }
    return rules;
  }

  /// Notes attributes of an item or a value, which only fields have.
  void lose_bounds(const Json& schema, const Value& value, const std::string& path) {
    Member none;
    add_attributes(none, value, schema, path);
    if (schema["nullable"].bool_or(false)) lose(path, "nullable");
    if (schema.contains("default")) lose(path, "default");
    for (const std::string& each : none.attributes)
      lose(path,
           each.substr(4, each.find('(') == std::string::npos ? std::string::npos : each.find('(') - 4));
  }

  void add_attributes(Member& member, const Value& value, const Json& schema, const std::string& path) {
    using enum TypeKind;
    const bool is_json = value.kind == json_kind;
    if (value.kind == string || value.kind == text || value.kind == enumeration ||
        value.kind == int_or_string_kind)
      add_text_attributes(member, value, schema, path);
    if (value.kind == integer || value.kind == number || value.kind == int_or_string_kind)
      add_number_attributes(member, value, schema, path);
    if (value.kind == list) add_list_attributes(member, value, schema, path);
    if (value.kind == map)
      add_counts(member, schema, "minProperties", "maxProperties", "ek::min_items", "ek::max_items");
    if (value.kind == record) lose_members(schema, path, {"minProperties", "maxProperties"});
    if ((value.kind == map || value.kind == record) && schema["x-kubernetes-map-type"] == Json("atomic"))
      member.attributes.push_back("ek::map_atomic");
    if (schema["x-kubernetes-embedded-resource"].bool_or(false))
      member.attributes.push_back("ek::embedded_object");
    if (!is_json && schema["x-kubernetes-preserve-unknown-fields"].bool_or(false)) {
      if (value.kind == record || value.kind == map) member.attributes.push_back("ek::preserve_unknown");
    }
    if (!value.draft) add_rules(member, schema, path);
  }

  void add_rules(Member& member, const Json& schema, const std::string& path) {
    const std::vector<Rule> rules = rules_of(schema, path);
    for (std::size_t i = 0; i < rules.size(); ++i) {
      if (i >= max_rules) {
        lose(path, "rules but the first " + std::to_string(max_rules));
        return;
      }
      const auto& [rule, message] = rules[i];
      member.attributes.push_back("ek::rule(" + literal(rule) +
                                  (message.empty() ? "" : ", " + literal(message)) + ")");
    }
  }

  static void add_counts(Member& member, const Json& schema, std::string_view least, std::string_view most,
                         const std::string& least_name, const std::string& most_name) {
    if (schema[least].is_number())
      member.attributes.push_back(least_name + "(" + number_text(schema[least]) + ")");
    if (schema[most].is_number())
      member.attributes.push_back(most_name + "(" + number_text(schema[most]) + ")");
  }

  void add_text_attributes(Member& member, const Value& value, const Json& schema, const std::string& path) {
    add_counts(member, schema, "minLength", "maxLength", "ek::min_length", "ek::max_length");
    const std::string pattern = schema["pattern"].string_or("");
    if (!pattern.empty() && value.type != "ek::Quantity")
      member.attributes.push_back("ek::pattern(" + literal(pattern) + ")");
    const std::string format = schema["format"].string_or("");
    const bool has_own =
        value.type == "ek::Time" || value.type == "ek::Bytes" || value.kind == TypeKind::enumeration;
    if (!format.empty() && !has_own) member.attributes.push_back("ek::format(" + literal(format) + ")");
    if (value.kind == TypeKind::string && schema["enum"].is_array()) add_one_of(member, schema["enum"], path);
  }

  void add_one_of(Member& member, const Json& words, const std::string& path) {
    if (words.size() == 0 || words.size() > max_one_of)
      return lose(path, "enum of " + std::to_string(words.size()) + " words");
    std::string text;
    for (const Json& word : words.as_array()) {
      if (!word.is_null()) text += (text.empty() ? "" : ", ") + literal(word.as_string());
    }
    member.attributes.push_back("ek::one_of(" + text + ")");
  }

  void add_number_attributes(Member& member, const Value& value, const Json& schema,
                             const std::string& path) {
    add_counts(member, schema, "minimum", "maximum", "ek::minimum", "ek::maximum");
    if (value.kind == TypeKind::int_or_string) return;
    if (schema.contains("enum")) lose(path, "enum of numbers");
    const std::string format = schema["format"].string_or("");
    for (const std::string_view known : {"", "int32", "int64", "float", "double"}) {
      if (format == known) return;
    }
    member.attributes.push_back("ek::format(" + literal(format) + ")");
  }

  void add_list_attributes(Member& member, const Value& value, const Json& schema, const std::string& path) {
    add_counts(member, schema, "minItems", "maxItems", "ek::min_items", "ek::max_items");
    const std::string type = schema["x-kubernetes-list-type"].string_or("");
    const bool is_of_objects = value.item == TypeKind::record || value.item == TypeKind::map;
    if (type == "atomic") member.attributes.push_back("ek::list_atomic");
    if (type == "set" && is_of_objects) lose(path, "x-kubernetes-list-type set, of objects");
    if (type == "set" && !is_of_objects) member.attributes.push_back("ek::list_set");
    if (type != "map") return;
    std::string keys;
    const Json& given = schema["x-kubernetes-list-map-keys"];
    for (std::size_t i = 0; i < given.size(); ++i)
      keys += (keys.empty() ? "" : ", ") + literal(given[i].string_or(""));
    if (value.item != TypeKind::record || given.size() == 0 || given.size() > max_keys)
      return lose(path, "keys of the list");
    member.attributes.push_back("ek::list_map(" + keys + ")");
  }

  // ---- Names ----

  /// Returns the words that the ends of all paths have in common, joined.
  static std::string common_end(const std::vector<Path>& paths) {
    std::vector<Path> parts;
    for (const Path& path : paths) {
      Path words;
      for (const std::string& word : path) {
        for (const std::string& part : words_of(word)) words.push_back(pascal_name(part));
      }
      parts.push_back(std::move(words));
    }
    std::string end;
    for (std::size_t back = 1; back <= parts[0].size(); ++back) {
      const std::string& word = parts[0][parts[0].size() - back];
      for (const Path& each : parts) {
        if (back > each.size() || each[each.size() - back] != word) return end;
      }
      end.insert(0, word);
    }
    return end;
  }

  static std::string joined(const Path& path) {
    std::string out;
    // "Spec" is left out of the names below it.
    for (std::size_t i = path.size() > 1 && path[0] == "Spec" ? 1 : 0; i < path.size(); ++i) out += path[i];
    return out;
  }

  void name_drafts(std::set<std::string>& taken) {
    const std::string kind = pascal_name(source_.kind);
    std::vector<std::string> names;
    for (const Draft& draft : drafts_) {
      if (draft.paths.empty()) {
        names.push_back(kind);
        continue;
      }
      std::string name = kind + joined(draft.paths[0]);
      if (draft.paths.size() > 1) {
        const std::string shared = common_end(draft.paths);
        if (!shared.empty() && !taken.contains(kind + shared)) name = kind + shared;
      }
      names.push_back(take_name(name, taken));
    }
    for (std::size_t i = 0; i < drafts_.size(); ++i) {
      Declaration& declaration = drafts_[i].declaration;
      declaration.name = names[i];
      for (Member& member : declaration.members) member.type = resolve(member.type, names);
      model_.declarations.push_back(std::move(declaration));
    }
  }

  static std::string resolve(std::string type, const std::vector<std::string>& names) {
    const std::size_t start = type.find('\x01');
    if (start == std::string::npos) return type;
    const std::size_t end = type.find('\x02');
    return type.replace(start, end - start + 1, names[std::stoul(type.substr(start + 1, end - start - 1))]);
  }

  static constexpr TypeKind json_kind = TypeKind::json;
  static constexpr TypeKind int_or_string_kind = TypeKind::int_or_string;

  const CrdSource& source_;
  const TypeOptions& options_;
  TypeModel model_;
  std::vector<Draft> drafts_;
  std::map<std::string, std::size_t> known_;  // type_key() -> draft
  bool last_is_always_written_ = false;       // of the member made last
};

}  // namespace

TypeModel make_types(const CrdSource& source, const TypeOptions& options, std::set<std::string>& taken) {
  return Builder(source, options).build(taken);
}

}  // namespace evenkeel::program
