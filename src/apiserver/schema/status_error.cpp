// SPDX-License-Identifier: Apache-2.0
#include "apiserver/schema/status_error.hpp"

#include <algorithm>
#include <utility>

#include "base/ascii.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

std::string quoted(std::string_view text) {
  return Json(text).dump();
}

/// Empty members are omitted, as with Go's omitempty.
Json details_of(const GroupResource& resource, std::string_view name) {
  Json details = Json::object();
  if (!name.empty()) details["name"] = name;
  if (!resource.group.empty()) details["group"] = resource.group;
  if (!resource.resource.empty()) details["kind"] = resource.resource;
  return details;
}

std::string what_and_name(const GroupResource& resource, std::string_view name) {
  return resource.str() + " " + quoted(name);
}

/// Returns "a: b" for one cause, "[a: b, c: d]" for several, without duplicates.
std::string aggregate(const FieldErrors& causes) {
  std::vector<std::string> lines;
  for (const FieldError& cause : causes) {
    std::string line = cause.text();
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(std::move(line));
  }
  if (lines.size() == 1) return lines.front();
  std::string out = "[";
  return out.append(evenkeel::detail::ascii::join(lines)).append("]");
}

}  // namespace

StatusError::StatusError(int code, std::string_view reason, std::string message, Json details) : code_(code) {
  body_ = Json::object({{"kind", "Status"},
                        {"apiVersion", "v1"},
                        {"metadata", Json::object()},
                        {"status", "Failure"},
                        {"message", std::move(message)},
                        {"code", code}});
  if (!reason.empty()) body_["reason"] = reason;
  if (!details.is_null()) body_["details"] = std::move(details);
}

StatusError StatusError::with_continue(std::string token) const {
  StatusError out = *this;
  out.body_["metadata"]["continue"] = std::move(token);
  return out;
}

StatusError StatusError::bad_request(std::string message) {
  return {400, "BadRequest", std::move(message)};
}

StatusError StatusError::not_found(const GroupResource& resource, std::string_view name) {
  return {404, "NotFound", what_and_name(resource, name) + " not found", details_of(resource, name)};
}

StatusError StatusError::no_such_path() {
  return {404, "NotFound", "the server could not find the requested resource", Json::object()};
}

StatusError StatusError::already_exists(const GroupResource& resource, std::string_view name,
                                        std::string_view prefix) {
  return {409, "AlreadyExists", std::string(prefix) + what_and_name(resource, name) + " already exists",
          details_of(resource, name)};
}

StatusError StatusError::conflict(const GroupResource& resource, std::string_view name,
                                  std::string_view problem) {
  return {409, "Conflict",
          "Operation cannot be fulfilled on " + what_and_name(resource, name) + ": " + std::string(problem),
          details_of(resource, name)};
}

StatusError StatusError::forbidden(const GroupResource& resource, std::string_view name,
                                   std::string_view problem, const FieldErrors& causes) {
  Json details = details_of(resource, name);
  if (!causes.empty()) details["causes"] = apiserver::causes(causes);
  return {403, "Forbidden", what_and_name(resource, name) + " is forbidden: " + std::string(problem),
          std::move(details)};
}

StatusError StatusError::invalid(const GroupResource& kind, std::string_view name,
                                 const FieldErrors& causes) {
  Json details = details_of(kind, name);
  details["causes"] = apiserver::causes(causes);
  return {422, "Invalid", what_and_name(kind, name) + " is invalid: " + aggregate(causes),
          std::move(details)};
}

StatusError StatusError::method_not_allowed() {
  return {405, "MethodNotAllowed", "the server does not allow this method on the requested resource",
          Json::object()};
}

StatusError StatusError::method_not_supported(const GroupResource& resource, std::string_view verb) {
  return {405, "MethodNotAllowed",
          std::string(verb) + " is not supported on resources of kind " + quoted(resource.str()),
          details_of(resource, "")};
}

StatusError StatusError::not_acceptable(const std::vector<std::string>& accepted) {
  return {406, "NotAcceptable",
          "only the following media types are accepted: " + evenkeel::detail::ascii::join(accepted)};
}

StatusError StatusError::no_representation(const std::vector<std::string>& accepted) {
  return {406, "NotAcceptable",
          "406: Not Acceptable\n\nAvailable representations: " + evenkeel::detail::ascii::join(accepted),
          Json::object()};
}

StatusError StatusError::unsupported_media(const std::vector<std::string>& accepted) {
  return {415, "UnsupportedMediaType",
          "the body of the request was in an unknown format - accepted media types include: " +
              evenkeel::detail::ascii::join(accepted)};
}

StatusError StatusError::expired(std::string message) {
  return {410, "Expired", std::move(message)};
}

StatusError StatusError::too_large(std::size_t limit) {
  return {413, "RequestEntityTooLarge", "Request entity too large: limit is " + std::to_string(limit)};
}

StatusError StatusError::internal(std::string message) {
  return {500, "", std::move(message)};
}

Json success_status(Json details) {
  Json body = Json::object(
      {{"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", Json::object()}, {"status", "Success"}});
  body["details"] = std::move(details);
  return body;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
