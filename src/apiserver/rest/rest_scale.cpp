// SPDX-License-Identifier: Apache-2.0
// The scale subresource: a small document about a large one.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/query/label_selector.hpp"
#include "apiserver/request/request_body.hpp"
#include "apiserver/request/respond.hpp"
#include "apiserver/rest/patch_document.hpp"
#include "apiserver/rest/rest.hpp"
#include "apiserver/rest/write.hpp"
#include "apiserver/text/json_problem.hpp"
#include "apiserver/text/member_path.hpp"
#include "apiserver/webhook/conversions.hpp"
#include "apiserver/webhook/webhook_admission.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

std::vector<std::string> steps(std::string_view path) {
  std::vector<std::string> out;
  while (!path.empty()) {
    path.remove_prefix(path.front() == '.' ? 1 : 0);
    const auto dot = path.find('.');
    out.emplace_back(path.substr(0, dot));
    if (dot == std::string_view::npos) break;
    path.remove_prefix(dot);
  }
  return out;
}

void set_at(Json& document, std::string_view path, Json value) {
  Json* at = &document;
  for (const std::string& step : steps(path)) at = &(*at)[step];
  *at = std::move(value);
}

Json scale_of(const ResourceType& type, const Json& object) {
  const ScalePaths& paths = *type.scale;
  Json metadata = Json::object();
  for (const char* name : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"})
    if (const Json* value = object["metadata"].find(name)) metadata[name] = *value;
  const std::int64_t wanted = value_at(object, paths.spec).integer_or(0);
  Json spec = Json::object();
  if (wanted != 0) spec["replicas"] = wanted;
  Json status = Json::object({{"replicas", value_at(object, paths.status).integer_or(0)}});
  const std::string selector =
      paths.selector.empty() ? "" : label_selector_text(value_at(object, paths.selector));
  if (!selector.empty()) status["selector"] = selector;
  Json scale = Json::object({{"kind", "Scale"}, {"apiVersion", "autoscaling/v1"}});
  scale["metadata"] = std::move(metadata);
  scale["spec"] = std::move(spec);
  scale["status"] = std::move(status);
  return scale;
}

const KindSchema& scale_kind(const Call& call) {
  return *call.storage.catalog.builtin("autoscaling", "v1", "Scale");
}

/// Parses the body of a PUT, which must be a Scale.
Json scale_body(const Call& call) {
  Json scale = parse_body(call, "Scale");
  const std::string kind = scale["kind"].string_or("Scale");
  const std::string version = scale["apiVersion"].string_or("autoscaling/v1");
  if (kind != "Scale")
    throw StatusError::bad_request(kind + " in version \"" + version.substr(version.find('/') + 1) +
                                   "\" cannot be handled as a Scale: no kind " + Json(kind).dump() +
                                   " is registered for version " + Json(version).dump() +
                                   " in scheme \"pkg/runtime/scheme.go:111\"");
  return scale;
}

/// Returns the scale after an apply, with its managedFields.
Json applied_scale(const Call& call, Json scale, const Json& object, const WriteOptions& options) {
  if (call.type->custom)
    throw StatusError::internal(
        "failed to create manager for existing fields: failed to convert live object (/; autoscaling/v1, "
        "Kind=Scale) to proper version: request to convert CR to an invalid group/version: autoscaling/v1");
  if (Json managers = scale_managers(object, call.type->scale->spec); !managers.is_null())
    scale["metadata"]["managedFields"] = std::move(managers);
  WriteContext context = write_context(call, options, "scale");
  context.others = nullptr;
  return applied_to(scale, applied_document(call), scale_kind(call), context, options.force);
}

/// Returns the scale after another patch.
Json patched_scale(Call& call, Json scale, const WriteOptions& options) {
  const PatchDocument patch = parse_patch(call.request.body, patch_type(call));
  scale = apply_patch(std::move(scale), patch, scale_kind(call));
  check_decodes(call, options.validation, patch, scale, scale_kind(call));
  return scale;
}

void check_scale(const Call& call, const Json& scale) {
  check_name(call, scale);
  const Json& replicas = scale.at({"spec", "replicas"});
  if (!replicas.is_null() && !replicas.is_integer())
    throw StatusError::bad_request("Scale in version \"v1\" cannot be handled as a Scale: " +
                                   wrong_type("spec.replicas", "an integer", replicas));
  if (replicas.integer_or(0) < 0 && !call.type->custom)
    throw StatusError::invalid(
        {"autoscaling", "Scale"}, call.path.name,
        {field_invalid("spec.replicas", replicas, "must be greater than or equal to 0")});
}

/// Shows the Scale to webhooks.
void admit_scale(Call& call, Json before, bool dry_run, Json& scale) {
  if (!has_webhooks(call.storage)) return;
  AdmissionEvent event = admission_event(call, "UPDATE", "UpdateOptions", dry_run);
  event.is_scale = true;
  event.old = std::move(before);
  mutate_by_webhooks(call, event, scale);
  validate_by_webhooks(call, event, scale);
}

http::Response scale_response(const Call& call, const Json& object) {
  http::Response response = json_response(200, scale_of(*call.type, object).dump());
  add_warnings(call, response);
  return response;
}

}  // namespace

http::Response rest_scale(Storage& storage, Call& call) {
  const StoredPtr live = require_object(storage, call);
  const ResourceType& type = *call.type;
  const Json before = document_of(call, live);
  if (call.request.method == http::Method::get) {
    if (type.custom && value_at(before, type.scale->spec).is_null())
      throw StatusError(
          500, "InternalError",
          "Internal error occurred: the spec replicas field " + Json(type.scale->spec).dump() +
              " does not exist",
          Json::object({{"causes", Json::array({Json::object({{"message", "the spec replicas field " +
                                                                              Json(type.scale->spec).dump() +
                                                                              " does not exist"}})})}}));
    return scale_response(call, before);
  }
  const bool put = call.request.method == http::Method::put;
  const bool applies = !put && patch_type(call) == PatchType::apply;
  const WriteOptions options =
      write_options(call, put ? "UpdateOptions" : "PatchOptions", applies ? Applies::yes : Applies::no);
  Json scale = scale_of(type, before);
  scale = put       ? scale_body(call)
          : applies ? applied_scale(call, std::move(scale), before, options)
                    : patched_scale(call, std::move(scale), options);
  const Json managers = std::as_const(scale).at({"metadata", "managedFields"});
  admit_scale(call, scale_of(type, before), options.dry_run, scale);
  check_scale(call, scale);
  check_uid(call, scale, live);
  Json object = before;
  set_at(object, type.scale->spec, scale.at({"spec", "replicas"}).integer_or(0));
  if (const std::string version = scale.at({"metadata", "resourceVersion"}).string_or(""); !version.empty())
    object["metadata"]["resourceVersion"] = version;
  if (applies)
    take_scale_managers(object, *type.schema, type.scale->spec, managers);
  else
    track_scale(before, object, *type.schema, type.scale->spec, write_context(call, options, "scale"));
  const WriteOutcome outcome =
      update_object(storage, call, live, std::move(object), options, "scale", Tracking::done);
  return scale_response(call, outcome.stored ? storage.document(type, outcome.stored) : outcome.document);
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
