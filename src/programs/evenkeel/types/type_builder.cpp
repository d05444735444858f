// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>

#include <evenkeel/api/attributes.hpp>

#include "programs/evenkeel/types/builtin_shapes.hpp"
#include "programs/evenkeel/types/cxx_names.hpp"
#include "programs/evenkeel/types/cxx_text.hpp"
#include "programs/evenkeel/types/field_attributes.hpp"
#include "programs/evenkeel/types/type_model.hpp"
#include "programs/evenkeel/types/type_names.hpp"

namespace evenkeel::program {
namespace {

constexpr std::size_t max_members = 200;  // of EVENKEEL_FIELDS
constexpr std::size_t max_words = 200;    // of EVENKEEL_ENUM, each of up to 63 characters
using Path = TypePath;

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
  Builder(const CrdSource& source, const TypeOptions& options)
      : source_(source), options_(options), lost_(source.schema_path) {}

  TypeModel build(std::set<std::string>& taken) {
    model_.headers = {"evenkeel/api/crd.hpp", "evenkeel/api/fields.hpp", "evenkeel/api/metadata.hpp"};
    add_kind();
    add_notes_of_definition();
    model_.declarations = name_types(std::move(drafts_), pascal_name(source_.kind), taken);
    model_.lost = lost_.take();
    return std::move(model_);
  }

 private:
  // ---- Errors and notes ----

  [[noreturn]] void fail(const std::string& path, const std::string& problem) const {
    throw DecodeError(source_.where + ": " + path, problem);
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
    TypeDraft kind;
    kind.declaration.description = schema["description"].string_or("");
    kind.declaration.rules = rules_of(schema, source_.where, path, lost_);
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
      lost_.add(path, "x-kubernetes-preserve-unknown-fields");
    if (is_required(schema, "metadata")) lost_.add(path, "required metadata");
    drafts_.push_back(std::move(kind));
  }

  void add_notes_of_definition() {
    const Json& properties = source_.schema["properties"];
    for (const std::string& part : source_.lost) lost_.add({}, part);
    if (source_.short_names.size() > 1) lost_.add({}, "short names but the first");
    if (properties.contains("status") && !source_.has_status)
      lost_.add({}, "the status has no subresource here: write it with the object, not with patch_status()");
    if (source_.has_status && !properties.contains("status"))
      lost_.add({}, "subresource status, without a schema");
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
    TypeDraft draft;
    draft.declaration.description = schema["description"].string_or("");
    draft.declaration.rules = rules_of(schema, source_.where, path, lost_);
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
    value.type = draft_mark(found->second);
    return value;
  }

  /// Returns the member for a property; nothing if it cannot be described.
  std::optional<Member> member_of(const Json::Member& property, const Json& owner,
                                  const std::string& owner_path, const Path& words,
                                  std::set<std::string>& names) {
    const Json& schema = property.value;
    const std::string path = owner_path + ".properties." + property.name;
    if (property.name.empty() || property.name.find(':') != std::string::npos) {
      lost_.add(path, "left out: a field's name cannot be empty or have a colon");
      return std::nullopt;
    }
    const bool is_part_of_kind = words.empty() && (property.name == "spec" || property.name == "status");
    const Value value = value_of(schema, path, words + pascal_name(property.name), property.name);
    Member member{.wire = property.name,
                  .name = member_name(property.name, names),
                  .description = schema["description"].string_or("")};
    const bool required = is_required(owner, property.name);
    const bool is_plain = is_part_of_kind && value.kind == TypeKind::record
                              ? is_plain_part(value, schema, required)
                              : is_plain_member(value, schema, required);
    member.type = is_plain ? value.type : optional_of(value.type);
    last_is_always_written_ = is_plain && required && value.is_always_written;
    if (wire_of_member(member.name) != property.name)
      member.attributes.push_back("ek::wire(" + literal(property.name) + ")");
    add_presence(member, schema, path, required, is_plain && value.kind == TypeKind::record);
    for (std::string& attribute : attributes_of(value, schema, source_.where, path, lost_))
      member.attributes.push_back(std::move(attribute));
    if (options_.describe && !member.description.empty())
      member.attributes.push_back("ek::doc(" + literal(member.description) + ")");
    return member;
  }

  /// Returns the name of a member: a trailing underscore tells it from a constant of the struct.
  static std::string member_name(const std::string& wire, std::set<std::string>& names) {
    std::string name = snake_name(wire);
    if (names.contains(name) && !name.ends_with('_')) name += '_';
    // A number follows the word itself, unless that is reserved.
    if (names.contains(name) && names.contains(name.substr(0, name.size() - 1))) name.pop_back();
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

  /// The spec and the status are plain if an object that does not set them has them exactly when it must.
  static bool is_plain_part(const Value& value, const Json& schema, bool required) {
    return value.is_always_written == (required && !schema.contains("default"));
  }

  std::string optional_of(const std::string& type) const { return "std::optional<" + type + ">"; }

  void add_presence(Member& member, const Json& schema, const std::string& path, bool required,
                    bool is_plain_struct) {
    if (const Json* given = schema.find("default")) {
      member.attributes.push_back("ek::default_to(" + literal(given->dump()) + ")");
      if (required) lost_.add(path, "required, beside a default");
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
    lost_.add_members(schema, path,
                      {"oneOf", "allOf", "not", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"});
    const std::string type = type_name(schema, path);
    if (schema["x-kubernetes-int-or-string"].bool_or(false)) return int_or_string(schema);
    lost_.add_members(schema, path, {"anyOf"});
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
    if (format == "date-time" || is_duration(schema)) {
      model_.headers.insert("evenkeel/api/time.hpp");
      return {.type = is_duration(schema) ? "ek::Duration" : "ek::Time", .kind = TypeKind::text};
    }
    if (format == "byte") {
      model_.headers.insert("evenkeel/api/bytes.hpp");
      return {.type = "ek::Bytes", .kind = TypeKind::text};
    }
    return {.type = "std::string", .kind = TypeKind::string, .is_always_written = true};
  }

  /// An enumeration, or a string if it cannot be one.
  Value words_of_enum(const Json& schema, const std::string& path, const Path& words) {
    TypeDraft draft;
    std::set<std::string> names;
    std::set<std::string> seen;
    const Json& given = schema["enum"];
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (given[i].is_null()) continue;
      const std::string at = path + ".enum[" + std::to_string(i) + "]";
      if (!given[i].is_string()) fail(at, "expected string, found " + std::string(given[i].kind_name()));
      const std::string& word = given[i].as_string();
      if (!seen.insert(word).second) continue;
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
    return {.type = draft_mark(found->second), .kind = TypeKind::enumeration, .is_always_written = true};
  }

  Value list_of(const Json& schema, const std::string& path, const Path& words) {
    if (!schema.contains("items")) fail(path, "an array needs items");
    Path item_words = words;
    item_words.back() = singular_of(item_words.back());
    const Value item = value_of(schema["items"], path + ".items", item_words, item_words.back());
    note_bounds(schema["items"], item, path + ".items");
    if (schema["uniqueItems"].bool_or(false)) lost_.add(path, "uniqueItems");
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
      note_bounds(values, value, path + ".additionalProperties");
      return {.type = "std::map<std::string, " + value.type + ">", .kind = TypeKind::map, .item = value.kind};
    }
    if (schema["x-kubernetes-embedded-resource"].bool_or(false)) {
      lost_.add_members(schema, path, {"properties", "minProperties", "maxProperties"});
      return json();
    }
    if (properties.empty() && (keeps_unknown || values.bool_or(false))) {
      lost_.add(path, "type object");
      lost_.add_members(schema, path, {"minProperties", "maxProperties"});
      return json();
    }
    if (values.is_object() || values.bool_or(false))
      lost_.add(path, "additionalProperties, beside properties");
    if (properties.size() > max_members) {
      lost_.add(path, std::to_string(properties.size()) + " fields, of which a struct takes " +
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

  /// Notes attributes of an item or a value, which only fields have.
  void note_bounds(const Json& schema, const Value& value, const std::string& path) {
    if (schema["nullable"].bool_or(false)) lost_.add(path, "nullable");
    if (schema.contains("default")) lost_.add(path, "default");
    for (const std::string& each : attributes_of(value, schema, source_.where, path, lost_)) {
      const std::size_t start = each.find(':') + 2;
      lost_.add(path, each.substr(start, each.find('(') - start));
    }
  }

  const CrdSource& source_;
  const TypeOptions& options_;
  TypeModel model_;
  LostParts lost_;
  std::vector<TypeDraft> drafts_;
  std::map<std::string, std::size_t> known_;  // type_key() -> draft
  bool last_is_always_written_ = false;       // of the member made last
};

}  // namespace

TypeModel make_types(const CrdSource& source, const TypeOptions& options, std::set<std::string>& taken) {
  return Builder(source, options).build(taken);
}

}  // namespace evenkeel::program
