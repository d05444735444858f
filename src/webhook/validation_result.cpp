// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <evenkeel/webhook/validation_result.hpp>

namespace evenkeel {
inline namespace v0 {
namespace {

std::string joined(const std::vector<StatusCause>& causes) {
  std::string text;
  for (const StatusCause& cause : causes) {
    text += (text.empty() ? "" : ", ") + (cause.field.empty() ? "" : cause.field + ": ") + cause.message;
  }
  return causes.size() > 1 ? "[" + text + "]" : text;
}

}  // namespace

ValidationResult ValidationResult::deny(std::string message) {
  return refuse({.code = 403, .reason = "Forbidden", .message = std::move(message)});
}

ValidationResult ValidationResult::refuse(Status status) {
  ValidationResult result;
  result.status_ = std::move(status);
  if (result.status_.code == 0) result.status_.code = 403;
  return result;
}

ValidationResult& ValidationResult::add(const char* reason, const char* text, std::string field,
                                        const std::string& message) {
  status_.causes.push_back(
      {.reason = reason, .message = std::string(text) + ": " + message, .field = std::move(field)});
  return *this;
}

ValidationResult& ValidationResult::invalid(std::string field, std::string message) {
  return add("FieldValueInvalid", "Invalid value", std::move(field), message);
}
ValidationResult& ValidationResult::required(std::string field, std::string message) {
  return add("FieldValueRequired", "Required value", std::move(field), message);
}
ValidationResult& ValidationResult::forbidden(std::string field, std::string message) {
  return add("FieldValueForbidden", "Forbidden", std::move(field), message);
}
ValidationResult& ValidationResult::duplicate(std::string field, std::string message) {
  return add("FieldValueDuplicate", "Duplicate value", std::move(field), message);
}

ValidationResult& ValidationResult::warn(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  warnings_.push_back(std::move(text));
  return *this;
}

Status ValidationResult::status(const AdmissionRequest& request) const {
  Status status = status_;
  if (status.code != 0) return status;
  const ResourceId& resource = request.resource;
  status.code = 422;
  status.reason = "Invalid";
  status.kind = resource.kind;  // of an invalid object the API server gives the kind, not the plural
  status.name = request.name;
  status.message = resource.kind + (resource.group.empty() ? "" : "." + resource.group) + " \"" +
                   request.name + "\" is invalid: " + joined(status.causes);
  return status;
}

}  // namespace v0
}  // namespace evenkeel
