// SPDX-License-Identifier: Apache-2.0
// The texts of field errors. Source: apimachinery's field package.
#include "apiserver/schema/schema.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

std::string with_detail(std::string text, std::string_view detail) {
  if (!detail.empty()) text.append(": ").append(detail);
  return text;
}

}  // namespace

FieldError field_required(std::string field, std::string_view detail) {
  return {"FieldValueRequired", with_detail("Required value", detail), std::move(field)};
}

FieldError field_invalid(std::string field, const Json& value, std::string_view detail) {
  return {"FieldValueInvalid", with_detail("Invalid value: " + value.dump(), detail), std::move(field)};
}

FieldError field_type_invalid(std::string field, const Json& value, std::string_view detail) {
  return {"FieldValueTypeInvalid", with_detail("Invalid value: " + value.dump(), detail), std::move(field)};
}

FieldError field_not_supported(std::string field, const Json& value, const Json::Array& allowed) {
  std::string detail;
  for (const Json& one : allowed) {
    detail += detail.empty() ? "supported values: " : ", ";
    detail += one.is_string() ? one.dump() : Json(one.dump()).dump();
  }
  return {"FieldValueNotSupported", with_detail("Unsupported value: " + value.dump(), detail),
          std::move(field)};
}

FieldError field_duplicate(std::string field, const Json& value) {
  return {"FieldValueDuplicate", "Duplicate value: " + value.dump(), std::move(field)};
}

FieldError field_too_long(std::string field, std::int64_t max_bytes) {
  return {
      "FieldValueTooLong",
      "Too long: may not be more than " + std::to_string(max_bytes) + (max_bytes == 1 ? " byte" : " bytes"),
      std::move(field)};
}

FieldError field_too_many(std::string field, std::int64_t actual, std::int64_t max) {
  return {"FieldValueTooMany",
          "Too many: " + std::to_string(actual) + ": must have at most " + std::to_string(max) +
              (max == 1 ? " item" : " items"),
          std::move(field)};
}

FieldError field_forbidden(std::string field, std::string_view detail) {
  return {"FieldValueForbidden", with_detail("Forbidden", detail), std::move(field)};
}

std::string describe(const std::vector<FieldError>& errors) {
  if (errors.size() == 1) return errors.front().text();
  std::string text = "[";
  for (const FieldError& error : errors) text += (text.size() > 1 ? ", " : "") + error.text();
  return text + "]";
}

Json causes(const std::vector<FieldError>& errors) {
  Json result = Json::array();
  for (const FieldError& error : errors) {
    result.push_back(
        Json::object({{"field", error.field}, {"message", error.message}, {"reason", error.reason}}));
  }
  return result;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
