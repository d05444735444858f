// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include <evenkeel/webhook/admission.hpp>

#include "webhook/review.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

using detail::field;
using detail::Presence;

constexpr std::array<std::string_view, 4> operation_names{"CREATE", "UPDATE", "DELETE", "CONNECT"};
constexpr std::string_view review_kind = "AdmissionReview";

std::string text(const Json& parent, const std::string& path, std::string_view name, Presence presence) {
  const Json& value = field(parent, review_kind, path, name, presence, Json::Kind::string);
  return value.is_null() ? std::string() : value.as_string();
}

std::vector<std::string> texts(const Json& parent, const std::string& path, std::string_view name) {
  std::vector<std::string> found;
  const Json& list = field(parent, review_kind, path, name, Presence::optional, Json::Kind::array);
  for (std::size_t at = 0; at < list.size(); ++at) {
    if (!list[at].is_string())
      throw DecodeError(
          std::string(review_kind) + ": " + path + "." + std::string(name) + "[" + std::to_string(at) + "]",
          "expected string, found " + std::string(list[at].kind_name()));
    found.push_back(list[at].as_string());
  }
  return found;
}

AdmissionOperation read_operation(const Json& request) {
  const std::string word = text(request, "request", "operation", Presence::required);
  const auto found = std::find(operation_names.begin(), operation_names.end(), word);
  if (found == operation_names.end())
    throw DecodeError("AdmissionReview: request.operation",
                      "expected CREATE, UPDATE, DELETE or CONNECT, found \"" + word + "\"");
  return static_cast<AdmissionOperation>(found - operation_names.begin());
}

AdmissionUser read_user(const Json& request) {
  const std::string path = "request.userInfo";
  const Json& info =
      field(request, review_kind, "request", "userInfo", Presence::optional, Json::Kind::object);
  AdmissionUser user;
  user.name = text(info, path, "username", Presence::optional);
  user.uid = text(info, path, "uid", Presence::optional);
  user.groups = texts(info, path, "groups");
  const Json& extra = field(info, review_kind, path, "extra", Presence::optional, Json::Kind::object);
  if (!extra.is_null()) {
    for (const auto& [name, values] : extra.as_object())
      user.extra[name] = texts(extra, path + ".extra", name);
  }
  return user;
}

ResourceId read_resource(const Json& request, const std::string& namespace_) {
  const Json& kind = field(request, review_kind, "request", "kind", Presence::required, Json::Kind::object);
  const Json& resource =
      field(request, review_kind, "request", "resource", Presence::required, Json::Kind::object);
  return {text(kind, "request.kind", "group", Presence::optional),
          text(kind, "request.kind", "version", Presence::required),
          text(kind, "request.kind", "kind", Presence::required),
          text(resource, "request.resource", "resource", Presence::required),
          namespace_.empty() ? Scope::cluster : Scope::namespaced};
}

Json object_of(const Json& request, std::string_view name) {
  return field(request, review_kind, "request", name, Presence::optional, Json::Kind::object);
}

Json group_version(const ResourceId& resource) {
  return Json::object({{"group", resource.group}, {"version", resource.version}});
}

}  // namespace

std::string_view operation_name(AdmissionOperation operation) noexcept {
  return operation_names[static_cast<std::size_t>(operation)];
}

bool AdmissionUser::in_group(std::string_view group) const {
  return std::find(groups.begin(), groups.end(), group) != groups.end();
}

std::string AdmissionRequest::what() const {
  const std::string shown = name.empty() ? "(without a name yet)" : name;
  return resource.kind + " " + (namespace_.empty() ? "" : namespace_ + "/") + shown;
}

AdmissionRequest read_admission_review(const Json& review) {
  detail::check_review(review, review_kind, "admission.k8s.io");
  const Json& from = field(review, review_kind, "", "request", Presence::required, Json::Kind::object);
  AdmissionRequest request;
  request.uid = text(from, "request", "uid", Presence::required);
  request.namespace_ = text(from, "request", "namespace", Presence::optional);
  request.resource = read_resource(from, request.namespace_);
  request.subresource = text(from, "request", "subResource", Presence::optional);
  request.name = text(from, "request", "name", Presence::optional);
  request.operation = read_operation(from);
  request.user = read_user(from);
  if (field(from, review_kind, "request", "dryRun", Presence::optional, Json::Kind::boolean).bool_or(false))
    request.dry_run = DryRun::yes;
  request.object = object_of(from, "object");
  request.old_object = object_of(from, "oldObject");
  request.options = object_of(from, "options");
  return request;
}

Json admission_review(const AdmissionRequest& request) {
  Json to = Json::object({{"uid", request.uid},
                          {"operation", operation_name(request.operation)},
                          {"dryRun", request.dry_run == DryRun::yes},
                          {"object", request.object},
                          {"oldObject", request.old_object},
                          {"options", request.options}});
  to["kind"] = group_version(request.resource);
  to["kind"]["kind"] = request.resource.kind;
  to["resource"] = group_version(request.resource);
  to["resource"]["resource"] = request.resource.plural;
  for (const auto& [wire, value] : {std::pair<const char*, const std::string&>{"name", request.name},
                                    {"namespace", request.namespace_},
                                    {"subResource", request.subresource}}) {
    if (!value.empty()) to[wire] = value;
  }
  Json user = Json::object({{"username", request.user.name}});
  if (!request.user.uid.empty()) user["uid"] = request.user.uid;
  for (const std::string& group : request.user.groups) user["groups"].push_back(group);
  for (const auto& [name, values] : request.user.extra) {
    user["extra"][name] = Json::array();
    for (const std::string& value : values) user["extra"][name].push_back(value);
  }
  to["userInfo"] = std::move(user);
  return Json::object(
      {{"apiVersion", "admission.k8s.io/v1"}, {"kind", "AdmissionReview"}, {"request", std::move(to)}});
}

}  // namespace v0
}  // namespace evenkeel
