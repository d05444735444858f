// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/api/codec.hpp>
#include <evenkeel/api/crd.hpp>
#include <evenkeel/api/metadata.hpp>

#include "api/scalar.hpp"
#include "base/ascii.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

constexpr std::string_view quantity_pattern =
    R"(^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$)";
constexpr std::string_view duration_pattern =
    "^[+-]?(0|(([0-9]+(\\.[0-9]*)?|\\.[0-9]+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h))+)$";
/// Beside the format date-time, for which servers check the date, but accept much behind it.
/// Source: kube-openapi pkg/validation/strfmt/time.go, IsDateTime.
constexpr std::string_view time_pattern =
    R"(^[0-9-]{10}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]+)?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$)";

/// A default-constructed record, the source of defaults.
class Prototype {
 public:
  explicit Prototype(const TypeInfo& type) : object_(type.record->create(), type.record->destroy) {}
  const void* get() const { return object_.get(); }

 private:
  std::unique_ptr<void, void (*)(void*) noexcept> object_;
};

Json number(double value) {
  if (std::trunc(value) == value && std::fabs(value) < 9e15) return Json(static_cast<std::int64_t>(value));
  return Json(value);
}

Json integer_or_string() {
  return Json::object(
      {{"anyOf", Json::array({Json::object({{"type", "integer"}}), Json::object({{"type", "string"}})})},
       {"x-kubernetes-int-or-string", true}});
}

Json int_or_string() {
  Json out = integer_or_string();
  out["minimum"] = std::numeric_limits<std::int32_t>::min();
  out["maximum"] = std::numeric_limits<std::int32_t>::max();
  return out;
}

/// Sets the bounds of a number's type that neither its format implies nor the API server does.
void set_bounds(const TypeInfo& type, Json& out) {
  if (type.kind == TypeKind::number && type.size == sizeof(float)) {
    out["minimum"] = static_cast<double>(std::numeric_limits<float>::lowest());
    out["maximum"] = static_cast<double>(std::numeric_limits<float>::max());
  }
  if (type.kind != TypeKind::integer) return;
  if (!type.is_signed) out["minimum"] = 0;
  if (type.size == 8) return;
  const int bits = type.size * 8 - (type.is_signed ? 1 : 0);
  if (type.is_signed) out["minimum"] = -(std::int64_t{1} << bits);
  out["maximum"] = (std::int64_t{1} << bits) - 1;
}

Json integer_schema(const TypeInfo& type) {
  Json out = Json::object({{"type", "integer"}});
  const bool is_int32 = type.size == 4 && type.is_signed;
  out["format"] = type.size < 4 || is_int32 ? "int32" : "int64";
  if (!is_int32) set_bounds(type, out);
  return out;
}

/// Returns a schema that admits the texts that the decoder accepts.
Json text_schema(const TypeInfo& type) {
  const TextOps& text = *type.text;
  Json out = text.numbers ? integer_or_string() : Json::object({{"type", "string"}});
  if (!text.format.empty()) out["format"] = text.format;
  if (text.numbers) out["pattern"] = quantity_pattern;
  if (&type == &type_info<Duration>()) out["pattern"] = duration_pattern;
  if (text.format == "date-time") out["pattern"] = time_pattern;
  return out;
}

Json enum_schema(const TypeInfo& type) {
  Json out = Json::object({{"type", "string"}});
  for (const EnumValue& value : type.values) out["enum"].push_back(value.wire);
  return out;
}

const TypeInfo& bare(const TypeInfo& type) {
  return type.kind == TypeKind::optional ? bare(type.item()) : type;
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

bool allows_text(const Attributes& notes, const std::string& text) {
  const auto length = static_cast<std::int64_t>(characters(text));
  if (notes.min_length >= 0 && length < notes.min_length) return false;
  if (notes.max_length >= 0 && length > notes.max_length) return false;
  const auto end = notes.values.begin() + notes.value_count;
  if (notes.value_count > 0 && std::find(notes.values.begin(), end, text) == end) return false;
  // Patterns use the server's dialect and are not evaluated here.
  return notes.pattern.empty() || !text.empty();
}

/// Returns true if `value` is within the field's own bounds.
bool allows(const Attributes& notes, const Json& value) {
  if (value.is_number()) {
    if (notes.minimum && value.as_number() < *notes.minimum) return false;
    return !(notes.maximum && value.as_number() > *notes.maximum);
  }
  if (value.is_string()) return allows_text(notes, value.as_string());
  if (!value.is_array() && !value.is_object()) return true;
  const auto size = static_cast<std::int64_t>(value.size());
  if (notes.min_items >= 0 && size < notes.min_items) return false;
  return notes.max_items < 0 || size <= notes.max_items;
}

/// Returns the first integer in `value` above int64's maximum, which the API server cannot represent.
std::optional<std::uint64_t> too_large(const TypeInfo& type, const void* value) {
  std::optional<std::uint64_t> found;
  switch (type.kind) {
    case TypeKind::integer:
      if (is_unsigned_64(type) && load_integer(type, value) < 0)
        found = static_cast<std::uint64_t>(load_integer(type, value));
      break;
    case TypeKind::optional:
      if (const void* inner = type.optional->get(value)) found = too_large(type.item(), inner);
      break;
    case TypeKind::list:
      for (std::size_t i = 0; i < type.list->size(value) && !found; ++i)
        found = too_large(type.item(), type.list->at(value, i));
      break;
    case TypeKind::map: {
      std::pair<const TypeInfo&, std::optional<std::uint64_t>&> context(type.item(), found);
      type.map->each(value, &context, [](void* self, std::string_view, const void* item) {
        auto& [item_type, first] = *static_cast<decltype(context)*>(self);
        if (!first) first = too_large(item_type, item);
      });
      break;
    }
    case TypeKind::record:
      for (const Field& field : type.fields) {
        if (!found) found = too_large(field.type(), field.get(value));
      }
      break;
    default:
      break;
  }
  return found;
}

class SchemaWriter {
 public:
  /// Returns the schema of a type. Defaults are taken from `value`; null if there is none.
  Json write(const TypeInfo& type, const void* value, bool defaults) {
    switch (type.kind) {
      case TypeKind::boolean:
        return Json::object({{"type", "boolean"}});
      case TypeKind::integer:
        return integer_schema(type);
      case TypeKind::number:
        return Json::object(
            {{"type", "number"}, {"format", type.size == sizeof(float) ? "float" : "double"}});
      case TypeKind::string:
        return Json::object({{"type", "string"}});
      case TypeKind::enumeration:
        return enum_schema(type);
      case TypeKind::text:
        return text_schema(type);
      case TypeKind::int_or_string:
        return int_or_string();
      case TypeKind::json:
        return Json::object({{"x-kubernetes-preserve-unknown-fields", true}});
      case TypeKind::optional:
        return write(type.item(), nullptr, defaults);
      case TypeKind::list: {
        Json out = Json::object({{"type", "array"}});
        out["items"] = write(type.item(), nullptr, defaults);
        return out;
      }
      case TypeKind::map: {
        Json out = Json::object({{"type", "object"}});
        out["additionalProperties"] = write(type.item(), nullptr, defaults);
        return out;
      }
      case TypeKind::record:
        return record(type, value, defaults);
    }
    return {};
  }

  Json root(const TypeInfo& type) {
    const Prototype prototype(type);
    return record(type, prototype.get(), true, type.resource != nullptr);
  }

 private:
  Json record(const TypeInfo& type, const void* value, bool defaults, bool is_object = false) {
    Json out = Json::object({{"type", "object"}});
    if (std::find(open_.begin(), open_.end(), &type) != open_.end()) {
      out["x-kubernetes-preserve-unknown-fields"] = true;
      return out;
    }
    open_.push_back(&type);
    std::optional<Prototype> prototype;
    if (value == nullptr) value = prototype.emplace(type).get();
    if (is_object) {
      out["properties"]["apiVersion"] = Json::object({{"type", "string"}});
      out["properties"]["kind"] = Json::object({{"type", "string"}});
    }
    for (const Field& each : type.fields) {
      if (is_object && each.wire == "metadata") {
        out["properties"]["metadata"] = Json::object({{"type", "object"}});
      } else {
        field(each, value, defaults && !(is_object && each.wire == "status"), out);
      }
    }
    add_rules(out, type.rules);
    open_.pop_back();
    return out;
  }

  void field(const Field& field, const void* record, bool defaults, Json& out) {
    static constexpr Attributes none;
    const Attributes& notes = field.attributes ? *field.attributes : none;
    const TypeInfo& type = field.type();
    const void* value = field.get(record);
    Json schema = write(type, type.kind == TypeKind::record ? value : nullptr, defaults);
    bool is_required = notes.required;
    if (defaults && !is_required) is_required = !set_default(field, notes, value, schema);
    check_keys(field, notes, bare(type));
    annotate(schema, notes, bare(type));
    if (is_required) out["required"].push_back(field.wire);
    out["properties"][field.wire] = std::move(schema);
  }

  /// Sets the default in the schema, if the field has one. Returns false if the field must be required
  /// instead.
  bool set_default(const Field& field, const Attributes& notes, const void* value, Json& schema) const {
    const TypeInfo& type = field.type();
    if (!notes.default_json.empty()) {
      schema["default"] = given_default(field, notes.default_json);
      return true;
    }
    if (notes.no_default) return true;
    if (type.kind == TypeKind::record) {
      if (schema.contains("required")) return false;
      if (!has_defaults(schema)) return true;
      const bool has_rules = !bare(type).rules.empty() || notes.rule_count > 0;
      schema["default"] = has_rules ? completed(schema) : Json::object();
      return true;
    }
    if (!is_written(type, notes, value)) return true;
    Json initial = to_tree(type, value);
    if (!allows(notes, initial)) return false;
    check_size(field, value);
    schema["default"] = std::move(initial);
    return true;
  }

  /// Returns the value of default_to(), which must be a value of the field's type.
  Json given_default(const Field& field, std::string_view text) const {
    const Prototype record(*open_.back());
    void* record_of_field = const_cast<void*>(record.get());
    try {
      Json given = Json::parse(text, "default_to");
      // Decoded as a member, from text, which keeps integers exact.
      from_json(*open_.back(), record_of_field, "{" + Json(field.wire).dump() + ":" + std::string(text) + "}",
                "default_to");
      check_size(field, field.access(record_of_field));
      return given;
    } catch (const DecodeError& error) {
      throw std::invalid_argument("schema of " + std::string(open_.back()->name) + ": " + error.what());
    }
  }

  void check_size(const Field& field, const void* value) const {
    if (const auto large = too_large(field.type(), value))
      refuse(field, "the default " + std::to_string(*large) +
                        " is above 9223372036854775807, the largest integer that the API server holds");
  }

  void check_keys(const Field& field, const Attributes& notes, const TypeInfo& type) const {
    if (notes.key_count == 0 || type.kind != TypeKind::list) return;
    const TypeInfo& item = bare(type.item());
    if (item.kind != TypeKind::record) return;
    for (const std::string_view key : std::span(notes.keys).first(notes.key_count)) {
      if (item.find(key) == nullptr)
        refuse(field, "list_map or match_by names the key " + std::string(key) + ", which " +
                          std::string(item.name) + " does not have");
    }
  }

  /// Throws for a field of the record being written.
  [[noreturn]] void refuse(const Field& field, const std::string& problem) const {
    throw std::invalid_argument("schema of " + std::string(open_.back()->name) + ": " +
                                std::string(field.wire) + ": " + problem);
  }

  /// Returns true if an encoder would write the initial value; times are never defaults.
  static bool is_written(const TypeInfo& type, const Attributes& notes, const void* value) {
    switch (type.kind) {
      case TypeKind::optional:
        return type.optional->get(value) != nullptr;
      case TypeKind::list:
        return type.list->size(value) > 0;
      case TypeKind::map:
        return type.map->size(value) > 0;
      case TypeKind::json:
        return !static_cast<const Json*>(value)->is_null();
      case TypeKind::text:
        return !type.text->is_zero(value);
      default:
        break;
    }
    if (!notes.omit_empty) return true;
    const Json initial = to_tree(type, value);
    return initial != Json(0) && initial != Json("") && initial != Json(false);
  }

  static bool has_defaults(const Json& schema) {
    const Json& properties = schema["properties"];
    if (!properties.is_object()) return false;
    return std::any_of(properties.as_object().begin(), properties.as_object().end(),
                       [](const Json::Member& property) { return property.value.contains("default"); });
  }

  /// Returns the empty object with the defaults of its properties. A server evaluates the rules for a default
  /// before it fills the properties in.
  static Json completed(const Json& schema) {
    Json object = Json::object();
    for (const auto& [name, property] : schema["properties"].as_object()) {
      const Json* given = property.find("default");
      if (given == nullptr) continue;
      const bool is_filled = *given == Json::object() && property["properties"].is_object();
      object[name] = is_filled ? completed(property) : *given;
    }
    return object;
  }

  static void add_rules(Json& schema, std::span<const CelRule> rules) {
    for (const CelRule& rule : rules) {
      Json entry = Json::object({{"rule", rule.rule}});
      if (!rule.message.empty()) entry["message"] = rule.message;
      schema["x-kubernetes-validations"].push_back(std::move(entry));
    }
  }

  static void annotate(Json& schema, const Attributes& notes, const TypeInfo& type) {
    const bool is_list = type.kind == TypeKind::list;
    const bool is_map = type.kind == TypeKind::map;
    if (!notes.doc.empty()) schema["description"] = notes.doc;
    annotate_value(schema, notes, type);
    if (notes.min_length >= 0) schema["minLength"] = notes.min_length;
    if (notes.max_length >= 0) schema["maxLength"] = notes.max_length;
    if (notes.min_items >= 0) schema[is_map ? "minProperties" : "minItems"] = notes.min_items;
    if (notes.max_items >= 0) schema[is_map ? "maxProperties" : "maxItems"] = notes.max_items;
    for (std::size_t i = 0; i < notes.value_count; ++i) schema["enum"].push_back(notes.values[i]);
    if (notes.nullable) schema["nullable"] = true;
    if (notes.preserve_unknown) schema["x-kubernetes-preserve-unknown-fields"] = true;
    if (notes.embedded_object) annotate_embedded(schema);
    if (notes.atomic_map) schema["x-kubernetes-map-type"] = "atomic";
    if (is_list) annotate_list(schema, notes);
    add_rules(schema, std::span(notes.rules).first(notes.rule_count));
  }

  /// Adds the field's own conditions to those of its type, which remain: what the type cannot hold must not
  /// get past the server.
  static void annotate_value(Json& schema, const Attributes& notes, const TypeInfo& type) {
    const bool is_text = type.kind == TypeKind::text;
    const auto add_text = [&](const char* name, std::string_view text) {
      if (text.empty() || std::as_const(schema)[name] == Json(text)) return;
      if (is_text && schema.contains(name))
        schema["allOf"].push_back(Json::object({{name, text}}));
      else
        schema[name] = text;
    };
    if (!notes.format.empty() && std::as_const(schema)["format"] != Json(notes.format))
      set_bounds(type, schema);
    add_text("pattern", notes.pattern);
    add_text("format", notes.format);
    const auto add_bound = [&](const char* name, const std::optional<double>& bound, auto is_tighter) {
      const Json* own = schema.find(name);
      if (bound && (own == nullptr || is_tighter(*bound, own->as_number()))) schema[name] = number(*bound);
    };
    add_bound("minimum", notes.minimum, std::greater<>());
    add_bound("maximum", notes.maximum, std::less<>());
  }

  /// A server refuses a whole object without the type, one of which it knows the values but not the names,
  /// and one without properties that does not keep fields.
  static void annotate_embedded(Json& schema) {
    schema.erase("additionalProperties");
    schema["type"] = "object";
    schema["x-kubernetes-embedded-resource"] = true;
    if (!schema.contains("properties")) schema["x-kubernetes-preserve-unknown-fields"] = true;
  }

  /// A key must be required or have a default; a list whose keys have neither is made atomic.
  static void annotate_list(Json& schema, const Attributes& notes) {
    if (notes.list_type == ListType::set) schema["x-kubernetes-list-type"] = "set";
    if (notes.list_type == ListType::atomic) schema["x-kubernetes-list-type"] = "atomic";
    if (notes.list_type != ListType::map) return;
    const Json& item = schema["items"];
    Json keys = Json::array();
    for (std::size_t i = 0; i < notes.key_count; ++i) {
      const std::string_view key = notes.keys[i];
      keys.push_back(key);
      if (!is_required(item, key) && !item["properties"][key].contains("default")) {
        schema["x-kubernetes-list-type"] = "atomic";
        return;
      }
    }
    schema["x-kubernetes-list-type"] = "map";
    schema["x-kubernetes-list-map-keys"] = std::move(keys);
  }

  static bool is_required(const Json& schema, std::string_view name) {
    const Json& required = schema["required"];
    for (std::size_t i = 0; i < required.size(); ++i) {
      if (required[i] == Json(name)) return true;
    }
    return false;
  }

  std::vector<const TypeInfo*> open_;  // the enclosing records
};

bool has_integer(const TypeInfo& type, std::string_view record, std::string_view name) {
  const Field* outer = type.find(record);
  if (outer == nullptr) return false;
  const Field* inner = bare(outer->type()).find(name);
  return inner != nullptr && bare(inner->type()).kind == TypeKind::integer;
}

std::optional<ScaleSubresource> scale_of(const TypeInfo& type, const CrdOptions& options) {
  if (options.scale != nullptr) {
    return options.scale->enabled ? std::optional<ScaleSubresource>(*options.scale) : std::nullopt;
  }
  if (!has_integer(type, "spec", "replicas")) return std::nullopt;
  ScaleSubresource scale;
  if (has_integer(type, "status", "replicas")) return scale;
  if (!has_integer(type, "status", "readyReplicas")) return std::nullopt;
  scale.status_replicas_path = ".status.readyReplicas";
  return scale;
}

Json subresources_of(const TypeInfo& type, const CrdOptions& options) {
  Json out;
  if (type.find("status") != nullptr) out["status"] = Json::object();
  if (const auto scale = scale_of(type, options)) {
    out["scale"] = Json::object({{"specReplicasPath", scale->spec_replicas_path},
                                 {"statusReplicasPath", scale->status_replicas_path}});
    if (!scale->label_selector_path.empty()) out["scale"]["labelSelectorPath"] = scale->label_selector_path;
  }
  return out;
}

std::string problem_text(const PrinterColumn& column) {
  switch (detail::problem_of(column)) {
    case detail::ConstantProblem::name:
      return "needs a name";
    case detail::ConstantProblem::type:
      return "type \"" + std::string(column.type) + "\" is not one of integer, number, string, boolean, date";
    case detail::ConstantProblem::format:
      return "format \"" + std::string(column.format) +
             "\" is not one of int32, int64, float, double, byte, date, date-time, password";
    case detail::ConstantProblem::path:
      return "json_path \"" + std::string(column.json_path) + "\" does not begin with a dot";
    default:
      return {};
  }
}

void check_constants(const TypeInfo& type, const CrdOptions& options) {
  const std::string name = "crd_for: " + std::string(type.name) + ": ";
  for (const PrinterColumn& column : options.columns) {
    if (const std::string problem = problem_text(column); !problem.empty())
      throw std::invalid_argument(name + "column \"" + std::string(column.name) + "\": " + problem);
  }
  if (options.scale != nullptr && detail::problem_of(*options.scale) != detail::ConstantProblem::none)
    throw std::invalid_argument(name + "scale: its paths must begin with .spec. and .status.");
}

Json column(const PrinterColumn& column) {
  Json out = Json::object({{"name", column.name}, {"type", column.type}, {"jsonPath", column.json_path}});
  if (!column.description.empty()) out["description"] = column.description;
  if (!column.format.empty()) out["format"] = column.format;
  if (column.priority != 0) out["priority"] = column.priority;
  return out;
}

Json columns_of(const CrdOptions& options) {
  Json out;
  bool has_age = options.columns.empty();
  for (const PrinterColumn& each : options.columns) {
    out.push_back(column(each));
    has_age |= each.name == "Age";
  }
  if (!has_age)
    out.push_back(column({.name = "Age", .type = "date", .json_path = ".metadata.creationTimestamp"}));
  return out;
}

Json names_of(const ResourceInfo& resource, const CrdOptions& options) {
  Json names = Json::object({{"kind", resource.kind},
                             {"listKind", std::string(resource.kind) + "List"},
                             {"plural", resource.plural},
                             {"singular", detail::ascii::lower(resource.kind)}});
  if (!resource.short_name.empty()) names["shortNames"].push_back(resource.short_name);
  for (const std::string_view category : options.categories) names["categories"].push_back(category);
  return names;
}

// Source: validateAPIApproval in apiextensions-apiserver, pkg/apis/apiextensions/validation/validation.go.
Json metadata_of(const ResourceInfo& resource, const CrdOptions& options) {
  Json metadata = Json::object({{"name", std::string(resource.plural) + "." + std::string(resource.group)}});
  if (resource.group.ends_with(".k8s.io") || resource.group.ends_with(".kubernetes.io")) {
    metadata["annotations"]["api-approved.kubernetes.io"] =
        options.api_approved.empty() ? std::string_view("unapproved") : options.api_approved;
  }
  return metadata;
}

Json version_of(std::string_view name, const CrdVersion& options) {
  Json version = Json::object({{"name", name}, {"served", options.served}, {"storage", options.storage}});
  if (options.deprecated || !options.deprecation_warning.empty()) version["deprecated"] = true;
  if (!options.deprecation_warning.empty()) version["deprecationWarning"] = options.deprecation_warning;
  return version;
}

std::string kind_of(const Json& definition) {
  return definition.at({"spec", "names", "kind"}).string_or("") + "." +
         definition.at({"spec", "group"}).string_or("");
}

// Short names and categories may be in one version only.
void add_names(Json& names, const Json& others, const std::string& kind) {
  for (const char* list : {"shortNames", "categories"}) {
    if (!std::as_const(names)[list].is_array() && others[list].is_array()) names[list] = others[list];
  }
  for (const char* same : {"kind", "plural"}) {
    if (std::as_const(names)[same] != others[same])
      throw std::invalid_argument("merge_versions: the versions of " + kind + " differ in " + same);
  }
}

void add_version(Json& definition, const Json& other) {
  const std::string kind = kind_of(definition);
  Json& spec = definition["spec"];
  add_names(spec["names"], other.at({"spec", "names"}), kind);
  if (std::as_const(spec)["scope"] != other.at({"spec", "scope"}))
    throw std::invalid_argument("merge_versions: the versions of " + kind + " differ in scope");
  for (const Json& version : other.at({"spec", "versions"}).as_array()) {
    Json::Array& versions = spec["versions"].as_array();
    const auto found = std::find_if(versions.begin(), versions.end(),
                                    [&](const Json& known) { return known["name"] == version["name"]; });
    if (found == versions.end())
      versions.push_back(version);
    else if (!(*found == version))
      throw std::invalid_argument("merge_versions: " + kind + " has two different versions " +
                                  version["name"].string_or(""));
  }
}

void check_stored(const Json& definition) {
  std::string stored;
  std::size_t count = 0;
  for (const Json& version : definition.at({"spec", "versions"}).as_array()) {
    if (!version["storage"].bool_or(false)) continue;
    stored += (stored.empty() ? "" : ", ") + version["name"].string_or("");
    ++count;
  }
  if (count == 1) return;
  throw std::invalid_argument("merge_versions: of the versions of " + kind_of(definition) +
                              " exactly one must be stored, not " + (count == 0 ? "none" : stored) +
                              "; see CrdVersion::storage");
}

}  // namespace

std::vector<Json> merge_versions(const std::vector<Json>& definitions) {
  std::vector<Json> merged;
  for (const Json& definition : definitions) {
    const auto found = std::find_if(merged.begin(), merged.end(), [&](const Json& known) {
      return known.at({"metadata", "name"}) == definition.at({"metadata", "name"});
    });
    if (found == merged.end())
      merged.push_back(definition);
    else
      add_version(*found, definition);
  }
  for (const Json& definition : merged) check_stored(definition);
  return merged;
}

Json schema_of(const TypeInfo& type) {
  SchemaWriter writer;
  return type.kind == TypeKind::record ? writer.root(type) : writer.write(type, nullptr, true);
}

Json crd_for(const TypeInfo& type, const CrdOptions& options) {
  const ResourceInfo* resource = type.resource;
  if (resource == nullptr || resource->group.empty() || resource->kind.empty() || resource->plural.empty())
    throw std::invalid_argument("crd_for: " + std::string(type.name) +
                                " needs a static resource with group, kind and plural");
  if (resource->group.find('.') == std::string_view::npos)
    throw std::invalid_argument(
        "crd_for: group \"" + std::string(resource->group) + "\" of " + std::string(type.name) +
        " has no dot; the API server refuses CustomResourceDefinitions of such groups");
  check_constants(type, options);
  Json version = version_of(resource->version, options.version);
  Json& schema = version["schema"]["openAPIV3Schema"];
  schema = schema_of(type);
  if (!options.description.empty()) schema["description"] = options.description;
  if (Json subresources = subresources_of(type, options); !subresources.is_null())
    version["subresources"] = std::move(subresources);
  if (Json columns = columns_of(options); !columns.is_null())
    version["additionalPrinterColumns"] = std::move(columns);
  Json spec = Json::object({{"group", resource->group},
                            {"names", names_of(*resource, options)},
                            {"scope", resource->scope == Scope::cluster ? "Cluster" : "Namespaced"}});
  spec["versions"].push_back(std::move(version));
  return Json::object({{"apiVersion", "apiextensions.k8s.io/v1"},
                       {"kind", "CustomResourceDefinition"},
                       {"metadata", metadata_of(*resource, options)},
                       {"spec", std::move(spec)}});
}

}  // namespace v0
}  // namespace evenkeel
