// SPDX-License-Identifier: Apache-2.0
// Source: kube-openapi pkg/validation/validate and apiextensions pkg/apiserver/validation.
#include "apiserver/schema/schema_validation.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>
#include <utility>

#include "apiserver/schema/builtin_validation.hpp"
#include "apiserver/schema/cel_validation.hpp"
#include "apiserver/schema/embedded_resources.hpp"
#include "apiserver/schema/metadata_validation.hpp"
#include "apiserver/schema/name_rules.hpp"
#include "apiserver/text/formats.hpp"
#include "apiserver/text/regular_expression.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

/// Returns the JSON schema type of a value.
std::string_view type_of(const Json& value) {
  switch (value.kind()) {
    case Json::Kind::null:
      return "null";
    case Json::Kind::boolean:
      return "boolean";
    case Json::Kind::integer:
      return "integer";
    case Json::Kind::number:
      return "number";
    case Json::Kind::string:
      return "string";
    case Json::Kind::array:
      return "array";
    case Json::Kind::object:
      break;
  }
  return "object";
}

std::string_view type_name(SchemaType type) {
  switch (type) {
    case SchemaType::object:
      return "object";
    case SchemaType::array:
      return "array";
    case SchemaType::string:
      return "string";
    case SchemaType::integer:
      return "integer";
    case SchemaType::number:
      return "number";
    case SchemaType::boolean:
      return "boolean";
    case SchemaType::int_or_string:
      return "integer,string";
    case SchemaType::any:
      break;
  }
  return "";
}

bool is_whole(double value) {
  return std::isfinite(value) && value == std::floor(value);
}

/// A real server does not check that the value of a string with a format is not a list.
/// Source: kube-openapi pkg/validation/validate/type.go.
bool is_list_with_format(const Json& value, const Schema& schema) {
  return value.is_array() && schema.type == SchemaType::string && is_string_format(schema.format);
}

bool fits_type(const Json& value, SchemaType type) {
  // Above 2^53 a floating point number does not identify an integer.
  const bool whole = value.is_integer() || (value.is_number() && is_whole(value.as_number()) &&
                                            std::abs(value.as_number()) < 9007199254740992.0);
  switch (type) {
    case SchemaType::any:
      return true;
    case SchemaType::number:
      return value.is_number();
    case SchemaType::integer:
      return whole;
    case SchemaType::int_or_string:
      return whole || value.is_string();
    default:
      return type_of(value) == type_name(type);
  }
}

std::int64_t code_points(const std::string& text) {
  return std::count_if(text.begin(), text.end(),
                       [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; });
}

/// Formats a bound like Go's %v.
std::string bound_text(double bound, const Json& value) {
  if (value.is_integer()) return std::to_string(static_cast<std::int64_t>(bound));
  return is_whole(bound) && std::abs(bound) < 1e21 ? std::to_string(static_cast<std::int64_t>(bound))
                                                   : Json(bound).dump();
}

/// Returns the corresponding value in the stored object, or nullptr: unchanged values are not checked again.
const Json* old_member(const Json* old, std::string_view name) {
  return old == nullptr ? nullptr : old->find(name);
}

using Errors = std::vector<FieldError>;

class Validator {
 public:
  /// `base` is the path of the value in the object: fields are relative to the root, texts to the value.
  explicit Validator(std::string base = {}) : base_(std::move(base)) {}

  void visit(const Json& value, const Schema& schema, const std::string& path, const Json* old) {
    if (old != nullptr && *old == value) return;
    const bool fits = check_type(value, schema, path);
    if (!fits && !value.is_null() && schema.constraints) check_combinations(value, *schema.constraints, path);
    if (!fits || value.is_null()) return check_enum(value, schema, path);
    if (schema.constraints) check_combinations(value, *schema.constraints, path);
    if (value.is_string()) check_string(value, schema, path);
    if (value.is_number()) check_number(value, schema, path);
    if (value.is_array()) check_items(value, schema, path, old);
    check_enum(value, schema, path);
    if (value.is_object()) check_fields(value, schema, path, old);
  }

  Errors errors;

 private:
  static std::string named(const std::string& path) { return path.starts_with('.') ? path.substr(1) : path; }
  std::string shown(const std::string& path) const { return named(base_ + path); }
  void invalid(const std::string& path, const Json& value, const std::string& problem) {
    errors.push_back(field_invalid(shown(path), value, named(path) + " in body " + problem));
  }

  bool check_type(const Json& value, const Schema& schema, const std::string& path) {
    if (value.is_null() ? schema.nullable || schema.type == SchemaType::any
                        : fits_type(value, schema.type) || is_list_with_format(value, schema))
      return true;
    // If the schema has a format, errors about numbers refer to it.
    const bool by_format = value.is_number() && !schema.format.empty();
    const Json is(by_format ? (value.is_integer() ? "int64" : "float64") : type_of(value));
    const std::string_view wanted = by_format ? std::string_view(schema.format) : type_name(schema.type);
    errors.push_back(field_type_invalid(
        shown(path), is, named(path) + " in body must be of type " + std::string(wanted) + ": " + is.dump()));
    if (schema.type == SchemaType::integer && value.is_number()) out_of_range(path, "integer", schema.format);
    return false;
  }

  void check_enum(const Json& value, const Schema& schema, const std::string& path) {
    if (!schema.constraints || schema.constraints->allowed.empty()) return;
    const Json::Array& allowed = schema.constraints->allowed;
    // A real server never accepts null, even if the enum contains it.
    if (value.is_null() || std::find(allowed.begin(), allowed.end(), value) == allowed.end())
      errors.push_back(field_not_supported(shown(path), value, allowed));
  }

  void check_string(const Json& value, const Schema& schema, const std::string& path) {
    const std::string& text = value.as_string();
    if (const Constraints* limits = schema.constraints.get()) {
      const std::int64_t length = code_points(text);
      if (limits->max_length && length > *limits->max_length) {
        errors.push_back(field_too_long(shown(path), *limits->max_length));
      } else if (limits->min_length && length < *limits->min_length) {
        invalid(path, value, "should be at least " + std::to_string(*limits->min_length) + " chars long");
      } else if (!limits->pattern.empty()) {
        check_pattern(value, limits->pattern, path);
      }
    }
    if (schema.type == SchemaType::string && !schema.format.empty() && !has_format(text, schema.format)) {
      const std::string detail =
          named(path) + " in body must be of type " + schema.format + ": " + value.dump();
      errors.push_back(field_type_invalid(shown(path), value, detail));
    }
  }

  void check_pattern(const Json& value, const std::string& pattern, const std::string& path) {
    try {
      if (!RegularExpression(pattern).found_in(value.as_string()))
        invalid(path, value, "should match '" + pattern + "'");
    } catch (const std::invalid_argument& error) {
      invalid(path, value, "should match '" + pattern + ", but pattern is invalid: " + error.what() + "'");
    }
  }

  void check_number(const Json& value, const Schema& schema, const std::string& path) {
    const double number = value.as_number();
    if (schema.type == SchemaType::integer && schema.format == "int32" &&
        (number > std::numeric_limits<std::int32_t>::max() ||
         number < std::numeric_limits<std::int32_t>::min())) {
      out_of_range(path, "integer", schema.format);
    }
    if (schema.type == SchemaType::number && schema.format == "float" &&
        std::abs(number) > static_cast<double>(std::numeric_limits<float>::max()))
      out_of_range(path, "number", schema.format);
    const Constraints* limits = schema.constraints.get();
    if (limits == nullptr) return;
    if (limits->multiple_of && !is_whole(number / *limits->multiple_of))
      invalid(path, value, "should be a multiple of " + bound_text(*limits->multiple_of, value));
    if (limits->minimum &&
        (limits->exclusive_minimum ? number <= *limits->minimum : number < *limits->minimum)) {
      invalid(path, value,
              std::string("should be greater than ") + (limits->exclusive_minimum ? "" : "or equal to ") +
                  bound_text(*limits->minimum, value));
    }
    if (limits->maximum &&
        (limits->exclusive_maximum ? number >= *limits->maximum : number > *limits->maximum)) {
      invalid(path, value,
              std::string("should be less than ") + (limits->exclusive_maximum ? "" : "or equal to ") +
                  bound_text(*limits->maximum, value));
    }
  }

  void out_of_range(const std::string& path, std::string_view type, const std::string& format) {
    const std::string kind = format.empty() ? "(default format)" : "with format " + format;
    errors.push_back(field_invalid(
        "<nil>", Json(""),
        "Checked value must be of type " + std::string(type) + " " + kind + " in " + named(path)));
  }

  void check_items(const Json& value, const Schema& schema, const std::string& path, const Json* old) {
    const Json::Array& items = value.as_array();
    if (schema.items != nullptr) {
      for (std::size_t i = 0; i < items.size(); ++i)
        visit(items[i], *schema.items, path + "[" + std::to_string(i) + "]", old_item(old, items[i], schema));
    }
    const Constraints* limits = schema.constraints.get();
    if (limits == nullptr) return;
    const auto count = static_cast<std::int64_t>(items.size());
    if (limits->min_items && count < *limits->min_items)
      invalid(path, Json(count), "should have at least " + std::to_string(*limits->min_items) + " items");
    if (limits->max_items && count > *limits->max_items)
      errors.push_back(field_too_many(shown(path), count, *limits->max_items));
    if (limits->unique_items) {
      for (std::size_t i = 1; i < items.size(); ++i) {
        if (std::find(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(i), items[i]) !=
            items.begin() + static_cast<std::ptrdiff_t>(i))
          return invalid(path, Json(""), "shouldn't contain duplicates");
      }
    }
  }

  /// Items of lists of type map correspond by key, those of other lists do not.
  static const Json* old_item(const Json* old, const Json& item, const Schema& schema) {
    if (old == nullptr || !old->is_array() || schema.list_type != ListType::map) return nullptr;
    for (const Json& candidate : old->as_array()) {
      const auto same = [&](const std::string& key) { return candidate[key] == item[key]; };
      if (std::all_of(schema.list_keys.begin(), schema.list_keys.end(), same)) return &candidate;
    }
    return nullptr;
  }

  void check_fields(const Json& value, const Schema& schema, const std::string& path, const Json* old) {
    const auto count = static_cast<std::int64_t>(value.size());
    if (const Constraints* limits = schema.constraints.get()) {
      if (limits->min_properties && count < *limits->min_properties)
        invalid(path, Json(count),
                "should have at least " + std::to_string(*limits->min_properties) + " properties");
      if (limits->max_properties && count > *limits->max_properties)
        errors.push_back(field_too_many(shown(path), count, *limits->max_properties));
    }
    for (const auto& [name, member] : value.as_object()) {
      if (path.empty() && name == "metadata") continue;
      const Schema* known = schema.member(name);
      if (known != nullptr && known->type_name.empty())
        visit(member, *known, path + "." + name, old_member(old, name));
    }
    for (const std::string& name : schema.required) {
      if (!value.contains(name)) errors.push_back(field_required(shown(path + "." + name)));
    }
  }

  /// Returns the errors of one alternative.
  Errors alternative(const Json& value, const Schema& schema, const std::string& path) const {
    Validator validator(base_);
    validator.visit(value, schema, path, nullptr);
    return std::move(validator.errors);
  }

  void whole(const std::string& path, const std::string& problem) {
    errors.push_back(field_invalid("<nil>", Json(""), Json(named(path)).dump() + " " + problem));
  }

  void add(const Errors& more) { errors.insert(errors.end(), more.begin(), more.end()); }

  void check_combinations(const Json& value, const Constraints& limits, const std::string& path) {
    if (!limits.any_of.empty()) {
      const auto [valid, best] = try_each(value, limits.any_of, path);
      if (valid == 0) whole(path, "must validate at least one schema (anyOf)"), add(best);
    }
    if (!limits.one_of.empty()) {
      const auto [valid, best] = try_each(value, limits.one_of, path);
      if (valid == 0)
        whole(path, "must validate one and only one schema (oneOf). Found none valid"), add(best);
      if (valid > 1)
        whole(path, "must validate one and only one schema (oneOf). Found " + std::to_string(valid) +
                        " valid alternatives");
    }
    std::size_t valid = 0;
    for (const Schema* schema : limits.all_of) {
      const Errors found = alternative(value, *schema, path);
      if (found.empty()) ++valid;
      add(found);
    }
    if (valid < limits.all_of.size())
      whole(path,
            std::string("must validate all the schemas (allOf)") + (valid == 0 ? ". None validated" : ""));
    if (limits.none_of != nullptr && alternative(value, *limits.none_of, path).empty())
      whole(path, "must not validate the schema (not)");
  }

  /// Returns the number of alternatives that hold, and the errors of the one with the fewest.
  std::pair<std::size_t, Errors> try_each(const Json& value, const std::vector<const Schema*>& schemas,
                                          const std::string& path) const {
    std::size_t valid = 0;
    std::optional<Errors> best;
    for (const Schema* schema : schemas) {
      Errors found = alternative(value, *schema, path);
      if (found.empty())
        ++valid;
      else if (!best || found.size() < best->size())
        best = std::move(found);
    }
    return {valid, best.value_or(Errors{})};
  }

  const std::string base_;
};

/// Checks the required fields of an embedded resource. Source: apiextensions
/// pkg/apiserver/schema/objectmeta/validation.go.
void check_embedded(const Json& value, const std::string& path, Errors& errors) {
  for (const char* name : {"apiVersion", "kind"}) {
    const std::string field = path + "." + name;
    const Json* said = value.find(name);
    if (said == nullptr)
      errors.push_back(field_required(field));
    else if (!said->is_string())
      errors.push_back(field_invalid(field, *said, "must be a string"));
    else if (said->as_string().empty())
      errors.push_back(field_invalid(field, *said, "must not be empty"));
  }
  const std::string version = value["apiVersion"].string_or("");
  if (std::count(version.begin(), version.end(), '/') > 1)
    errors.push_back(
        field_invalid(path + ".apiVersion", version, "unexpected GroupVersion string: " + version));
  const std::string kind = value["kind"].string_or("");
  std::string lower = kind;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  if (!kind.empty())
    for (const std::string& problem : name_problems(lower, NameRule::dns_1035_label))
      errors.push_back(
          field_invalid(path + ".kind", kind, "may have mixed case, but should otherwise match: " + problem));
  for (FieldError& error : check_metadata_parts(value["metadata"])) {
    error.field = path + "." + error.field;
    errors.push_back(std::move(error));
  }
}

/// Reports duplicates in lists of type set and map.
void check_lists(const Json& value, const Schema& schema, const std::string& path, Errors& errors);

void check_list(const Json::Array& items, const Schema& schema, const std::string& path, Errors& errors) {
  if (schema.list_type == ListType::atomic) return;
  std::vector<std::pair<Json, int>> seen;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string here = path + "[" + std::to_string(i) + "]";
    Json name = items[i];
    if (schema.list_type == ListType::map) {
      if (!items[i].is_object() && !items[i].is_null())
        return errors.push_back(
            field_invalid(here, items[i], "must be an object for an array of list-type map"));
      name = Json::object();
      for (const std::string& key : schema.list_keys) {
        if (const Json* value = items[i].find(key)) name[key] = *value;
      }
    }
    const auto known =
        // 1 and 1.0 are different numbers in Go.
        std::find_if(seen.begin(), seen.end(), [&](const auto& entry) {
          return entry.first == name && entry.first.kind() == name.kind();
        });
    if (known == seen.end())
      seen.emplace_back(std::move(name), 1);
    else if (++known->second == 2)
      errors.push_back(field_duplicate(here, name));
  }
}

void check_lists(const Json& value, const Schema& schema, const std::string& path, Errors& errors) {
  if (value.is_array()) {
    check_list(value.as_array(), schema, path, errors);
    if (schema.items == nullptr) return;
    for (std::size_t i = 0; i < value.size(); ++i)
      check_lists(value[i], *schema.items, path + "[" + std::to_string(i) + "]", errors);
  } else if (value.is_object()) {
    for (const auto& [name, member] : value.as_object()) {
      const Schema* known = schema.member(name);
      if (known == nullptr || !known->type_name.empty()) continue;
      const bool listed = schema.property(name) != nullptr;
      check_lists(member, *known,
                  listed ? (path.empty() ? name : path + "." + name) : path + "[" + name + "]", errors);
    }
  }
}

/// Returns true for errors that prevent the evaluation of rules.
bool blocks_rules(const FieldError& error) {
  static const std::set<std::string, std::less<>> reasons{"FieldValueNotSupported", "FieldValueRequired",
                                                          "FieldValueTooLong", "FieldValueTooMany",
                                                          "FieldValueTypeInvalid"};
  return reasons.contains(error.reason);
}

}  // namespace

namespace {

/// Returns the errors of the schema: of the whole object, or of the status if only that is written.
Errors schema_errors(const Json& object, const KindSchema& kind, const Json& old, Written written) {
  if (written == Written::everything) {
    Validator validator;
    validator.visit(object, kind.root(), "", old.is_null() ? nullptr : &old);
    return std::move(validator.errors);
  }
  const Json* status = object.find("status");
  const Schema* schema = kind.root().member("status");
  if (status == nullptr || schema == nullptr) return {};
  Validator validator("status");
  validator.visit(*status, *schema, "", old.find("status"));
  return std::move(validator.errors);
}

}  // namespace

std::vector<FieldError> validate_value(const Json& value, const Schema& schema, const std::string& base) {
  Validator validator(base);
  validator.visit(value, schema, "", nullptr);
  return std::move(validator.errors);
}

std::vector<FieldError> validate(const Json& object, const KindSchema& kind, const Json& old, Written written,
                                 std::vector<std::string>* warnings) {
  if (kind.built_in) return validate_builtin(object, kind, old);
  Errors errors = schema_errors(object, kind, old, written);
  each_embedded_resource(object, kind, [&](const Json& resource, const std::string& path) {
    check_embedded(resource, path, errors);
  });
  Errors old_lists;
  if (!old.is_null()) check_lists(old, kind.root(), "", old_lists);
  if (old_lists.empty()) check_lists(object, kind.root(), "", errors);
  if (!has_rules(kind.root())) return errors;
  if (std::any_of(errors.begin(), errors.end(), blocks_rules)) {
    errors.push_back(
        field_invalid("<nil>", Json(),
                      "some validation rules were not checked because the object was invalid; correct "
                      "the existing errors to complete validation"));
  } else {
    const Errors broken = check_rules(object, kind.root(), old, warnings);
    errors.insert(errors.end(), broken.begin(), broken.end());
  }
  return errors;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
