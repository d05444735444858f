// SPDX-License-Identifier: Apache-2.0
// How Go's JSON decoder complains about a value of the wrong type.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/schema/schema_validation.hpp"
#include "apiserver/text/regular_expression.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

/// "io.k8s.api.core.v1.Container" -> "v1.Container".
std::string go_name(std::string_view type_name) {
  const std::size_t last = type_name.rfind('.');
  const std::size_t before =
      last == std::string_view::npos || last == 0 ? std::string_view::npos : type_name.rfind('.', last - 1);
  return std::string(before == std::string_view::npos ? type_name : type_name.substr(before + 1));
}

std::string go_type(const Schema& schema) {
  switch (schema.type) {
    case SchemaType::string:
      return "string";
    case SchemaType::boolean:
      return "bool";
    case SchemaType::integer:
      return schema.format.empty() ? "int64" : schema.format;
    case SchemaType::number:
      return "float64";
    case SchemaType::array:
      return schema.format == "byte" ? "[]uint8"
                                     : "[]" + (schema.items == nullptr ? "" : go_type(*schema.items));
    case SchemaType::object:
      if (!schema.type_name.empty()) return go_name(schema.type_name);
      return "map[string]" + (schema.additional == nullptr ? "interface {}" : go_type(*schema.additional));
    case SchemaType::int_or_string:
      return "intstr.IntOrString";
    case SchemaType::any:
      break;
  }
  return "interface {}";
}

std::string_view go_kind(const Json& value) {
  switch (value.kind()) {
    case Json::Kind::boolean:
      return "bool";
    case Json::Kind::integer:
    case Json::Kind::number:
      return "number";
    case Json::Kind::string:
      return "string";
    case Json::Kind::array:
      return "array";
    case Json::Kind::object:
      return "object";
    case Json::Kind::null:
      break;
  }
  return "null";
}

/// Why Go's time.Parse refuses a text for a layout of these elements; empty if it takes it.
std::optional<std::string> time_problem(const std::string& text, bool micro) {
  const std::string layout = micro ? "2006-01-02T15:04:05.000000Z07:00" : "2006-01-02T15:04:05Z07:00";
  std::string_view rest = text;
  const auto refused = [&](std::string_view element) {
    return "parsing time " + Json(text).dump() + " as " + Json(layout).dump() + ": cannot parse " +
           Json(rest).dump() + " as " + Json(element).dump();
  };
  const auto digits = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      if (i >= rest.size() || rest[i] < '0' || rest[i] > '9') return false;
    }
    rest.remove_prefix(count);
    return true;
  };
  const auto literal = [&](char wanted) {
    if (!rest.starts_with(wanted)) return false;
    rest.remove_prefix(1);
    return true;
  };
  static constexpr std::string_view elements[] = {"2006", "-", "01", "-", "02", "T",
                                                  "15",   ":", "04", ":", "05"};
  for (const std::string_view element : elements) {
    const bool taken = element.size() == 1 ? literal(element[0]) : digits(element.size());
    if (!taken) return refused(element);
  }
  if (micro) {
    const std::string_view before = rest;
    if (!literal('.') || !digits(6)) return rest = before, refused(".000000");
  } else if (rest.starts_with('.')) {
    rest.remove_prefix(std::min(rest.find_first_not_of("0123456789", 1), rest.size()));
  }
  if (rest == "Z") return std::nullopt;
  const bool zone = rest.size() == 6 && (rest[0] == '+' || rest[0] == '-') && rest[3] == ':';
  return zone ? std::nullopt : std::optional(refused("Z07:00"));
}

/// Why Go refuses base64; empty if it takes it.
std::optional<std::string> base64_problem(const std::string& text) {
  const std::size_t end =
      text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
  const std::size_t padding = end == std::string::npos ? 0 : text.size() - end;
  const bool padded =
      end == std::string::npos || (padding <= 2 && text.find_first_not_of('=', end) == std::string::npos);
  if (padded && text.size() % 4 == 0) return std::nullopt;
  return "illegal base64 data at input byte " +
         std::to_string(padded || end == std::string::npos ? text.size() / 4 * 4 : end);
}

/// A walk with the innermost struct and the path of fields, which is what the decoder tells.
class DecodeCheck {
 public:
  std::optional<std::string> visit(const Json& value, const Schema& schema, const std::string& structure,
                                   const std::string& path) {
    if (value.is_null() || schema.opaque || schema.type == SchemaType::any) return std::nullopt;
    if (!fits(value, schema)) return problem(value, schema, structure, path);
    if (value.is_string() && schema.format == "date-time")
      return time_problem(value.as_string(), schema.type_name.ends_with(".MicroTime"));
    if (value.is_string() && schema.type_name.ends_with("resource.Quantity"))
      return quantity_problem(value.as_string());
    if (value.is_string() && schema.format == "byte") return base64_problem(value.as_string());
    if (value.is_array() && schema.items != nullptr) {
      for (const Json& item : value.as_array()) {
        if (auto found = visit(item, *schema.items, structure, path)) return found;
      }
    }
    if (value.is_object()) return visit_fields(value, schema, structure, path);
    return std::nullopt;
  }

 private:
  static std::optional<std::string> quantity_problem(const std::string& text) {
    static const RegularExpression form("^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$");
    if (text.empty() || form.found_in(text)) return std::nullopt;
    return "quantities must match the regular expression "
           "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  }

  static bool fits(const Json& value, const Schema& schema) {
    switch (schema.type) {
      case SchemaType::object:
        return value.is_object();
      case SchemaType::array:
        return value.is_array();
      case SchemaType::string:
        return value.is_string();
      case SchemaType::boolean:
        return value.is_bool();
      case SchemaType::number:
        return value.is_number();
      case SchemaType::integer:
        return value.is_integer() && fits_width(value.as_integer(), schema.format);
      case SchemaType::int_or_string:
        return value.is_number() || value.is_string();
      case SchemaType::any:
        break;
    }
    return true;
  }

  static bool fits_width(std::int64_t number, const std::string& format) {
    return format != "int32" || (number >= INT32_MIN && number <= INT32_MAX);
  }

  static std::string problem(const Json& value, const Schema& schema, const std::string& structure,
                             const std::string& path) {
    std::string found(go_kind(value));
    if (value.is_number() && schema.type == SchemaType::integer) found += " " + value.dump();
    const std::string field = path.empty() ? "value" : "struct field " + structure + "." + path;
    return "json: cannot unmarshal " + found + " into Go " + field + " of type " + go_type(schema);
  }

  std::optional<std::string> visit_fields(const Json& value, const Schema& schema,
                                          const std::string& structure, const std::string& path) {
    const bool is_struct = !schema.type_name.empty() && !schema.properties.empty();
    const std::string type = schema.type_name.substr(schema.type_name.rfind('.') + 1);
    for (const auto& [name, member] : value.as_object()) {
      const Schema* known = schema.member(name);
      if (known == nullptr) continue;
      // Keys of maps are no fields: ConfigMap.data, whatever the key.
      const std::string below = is_struct ? (path.empty() ? name : path + "." + name) : path;
      if (auto found = visit(member, *known, is_struct ? type : structure, below)) return found;
    }
    return std::nullopt;
  }
};

}  // namespace

std::optional<std::string> decode_error(const Json& object, const KindSchema& kind) {
  if (kind.built_in) return DecodeCheck().visit(object, kind.root(), kind.kind, "");
  const Schema* metadata = kind.root().property("metadata");
  const Json* present = object.find("metadata");
  if (metadata == nullptr || present == nullptr) return std::nullopt;
  return DecodeCheck().visit(*present, *metadata, "ObjectMeta", "");
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
