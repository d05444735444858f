// SPDX-License-Identifier: Apache-2.0
// Errors for values whose type differs from the field's, which a real server finds when it decodes them into
// Go's structs.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <evenkeel/api/bytes.hpp>

#include "apiserver/schema/crd_form.hpp"
#include "apiserver/schema/embedded_resources.hpp"
#include "apiserver/schema/pruning.hpp"
#include "apiserver/schema/schema_validation.hpp"
#include "apiserver/text/json_problem.hpp"
#include "apiserver/text/quantity_text.hpp"
#include "apiserver/text/timestamps.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

constexpr std::string_view quantity_form = "a quantity (100m, 1.5, 2Gi)";

std::string_view expected_type(const Schema& schema) {
  switch (schema.type) {
    case SchemaType::string:
      return "a string";
    case SchemaType::boolean:
      return "a boolean";
    case SchemaType::integer:
      return schema.format == "int32" ? "an integer of 32 bits" : "an integer of 64 bits";
    case SchemaType::number:
      return "a number";
    case SchemaType::array:
      return "an array";
    case SchemaType::object:
      return "an object";
    case SchemaType::int_or_string:
      return is_quantity(schema) ? quantity_form : "an integer of 32 bits or a string";
    case SchemaType::any:
      break;
  }
  return "any value";
}

bool fits_width(std::int64_t number, const std::string& format) {
  return format != "int32" || (number >= INT32_MIN && number <= INT32_MAX);
}

/// Returns true for a list of bytes, which Go reads like base64.
bool is_byte_list(const Json& value, const Schema& schema) {
  if (schema.format != "byte" || !value.is_array()) return false;
  const Json::Array& bytes = value.as_array();
  return std::all_of(bytes.begin(), bytes.end(), [](const Json& byte) {
    return byte.is_null() || (byte.is_integer() && byte.as_integer() >= 0 && byte.as_integer() <= 255);
  });
}

bool fits(const Json& value, const Schema& schema) {
  switch (schema.type) {
    case SchemaType::object:
      return value.is_object();
    case SchemaType::array:
      return value.is_array();
    case SchemaType::string:
      return value.is_string() || is_byte_list(value, schema);
    case SchemaType::boolean:
      return value.is_bool();
    case SchemaType::number:
      return value.is_number();
    case SchemaType::integer:
      return value.is_integer() && fits_width(value.as_integer(), schema.format);
    case SchemaType::int_or_string:
      if (value.is_string()) return true;
      return is_quantity(schema) ? value.is_number()
                                 : value.is_integer() && fits_width(value.as_integer(), "int32");
    case SchemaType::any:
      break;
  }
  return true;
}

/// Returns the expected form of a text with the schema's format; empty if it has that form.
std::string_view expected_text(const std::string& text, const Schema& schema) {
  if (schema.format == "date-time") {
    const bool micro = schema.type_name.ends_with(".MicroTime");
    if (time_text(text, micro ? TimeForm::microseconds : TimeForm::seconds)) return "";
    return micro ? "a time with microseconds (2006-01-02T15:04:05.000000Z)" : "a time (2006-01-02T15:04:05Z)";
  }
  if (is_quantity(schema)) return quantity_text(text, QuantityPrecision::nano) ? "" : quantity_form;
  if (schema.format == "byte") return Bytes::from_base64(text) ? "" : "base64";
  return "";
}

/// A traversal that ends at the first error.
class DecodeCheck {
 public:
  explicit DecodeCheck(bool secret) : secret_(secret) {}

  std::optional<std::string> visit(const Json& value, const Schema& schema, const std::string& path) const {
    if (value.is_null() || schema.opaque || schema.type == SchemaType::any) return std::nullopt;
    if (!fits(value, schema)) return problem(value, path, expected_type(schema));
    if (value.is_string()) {
      const std::string_view expected = expected_text(value.as_string(), schema);
      if (!expected.empty()) return problem(value, path, expected);
    }
    if (value.is_array() && schema.items != nullptr) {
      for (std::size_t i = 0; i < value.size(); ++i) {
        auto found = visit(value[i], *schema.items, path + "[" + std::to_string(i) + "]");
        if (found) return found;
      }
    }
    return value.is_object() ? visit_members(value, schema, path) : std::nullopt;
  }

 private:
  std::string problem(const Json& value, const std::string& path, std::string_view expected) const {
    return wrong_type(path, expected, value, !secret_);
  }

  std::optional<std::string> visit_members(const Json& value, const Schema& schema,
                                           const std::string& path) const {
    for (const auto& [name, member] : value.as_object()) {
      const Schema* known = schema.member(name);
      if (known == nullptr) continue;
      if (auto found = visit(member, *known, path.empty() ? name : path + "." + name)) return found;
    }
    return std::nullopt;
  }

  const bool secret_;  // values are not quoted
};

/// Returns the error of an embedded resource in an object of a custom kind. Source: apiextensions
/// pkg/apiserver/schema/objectmeta/coerce.go.
std::optional<std::string> embedded_error(const Json& object, const KindSchema& kind,
                                          const Schema& object_meta) {
  std::optional<std::string> first;
  each_embedded_resource(object, kind, [&](const Json& resource, const std::string& path) {
    const auto check = [&](std::string_view name, const auto& problem_of) {
      const Json* value = first ? nullptr : resource.find(name);
      if (value == nullptr) return;
      if (const std::optional<std::string> problem = problem_of(*value))
        first = field_invalid(path + "." + std::string(name), *value, *problem).text();
    };
    for (const char* name : {"apiVersion", "kind"})
      check(name, [](const Json& value) {
        return value.is_string() ? std::nullopt : std::optional<std::string>("must be a string");
      });
    check("metadata", [&](const Json& value) { return DecodeCheck(false).visit(value, object_meta, ""); });
  });
  return first;
}

}  // namespace

std::optional<std::string> decode_error(const Json& object, const KindSchema& kind) {
  const DecodeCheck check(kind.kind == "Secret");
  if (kind.built_in) {
    std::optional<std::string> problem = check.visit(object, kind.root(), "");
    if (problem || kind.kind != "CustomResourceDefinition") return problem;
    Json copy = object;  // its schemas are opaque below the first list or map
    return canonicalize_crd(copy);
  }
  const Schema* metadata = kind.root().property("metadata");
  const Json* present = object.find("metadata");
  if (metadata == nullptr) return std::nullopt;
  if (present != nullptr)
    if (auto found = check.visit(*present, *metadata, "metadata")) return found;
  return embedded_error(object, kind, *metadata);
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
