// SPDX-License-Identifier: Apache-2.0
// PATCH in its four forms. Source: apiserver pkg/endpoints/handlers/patch.go.
#include <string>
#include <utility>

#include <evenkeel/api/patch.hpp>

#include "testing/json_problem.hpp"
#include "testing/patch_document.hpp"
#include "testing/request_body.hpp"
#include "testing/rest.hpp"
#include "testing/schema_validation.hpp"
#include "testing/strict_fields.hpp"
#include "testing/write.hpp"
#include "testing/yaml_document.hpp"

namespace evenkeel::inline v0::testing {
namespace {

/// What the patched document has to be, worded as a real server does: about "patch", of no kind and name.
[[noreturn]] void refuse_patched(const Json& patched, const std::string& problem) {
  throw StatusError::invalid({}, "", {field_invalid("patch", Json(patched.dump()), problem)});
}

/// Checks and shapes what a patch made.
void accept_patched(Call& call, FieldValidation validation, std::string_view text, Json& object) {
  const ResourceType& type = *call.type;
  for (const auto& [name, wanted] :
       {std::pair("kind", type.kind), std::pair("apiVersion", type.api_version())})
    if (std::as_const(object)[name].string_or("") != wanted)
      throw StatusError::invalid(type.group_kind(), call.path.name,
                                 {field_invalid(name, std::as_const(object)[name], "must be " + wanted)});
  if (const auto problem = decode_error(object, *type.schema)) refuse_patched(object, *problem);
  if (validation != FieldValidation::ignore) {
    std::vector<std::string> problems = strict_problems(text, object, *type.schema);
    if (!problems.empty() && validation == FieldValidation::strict)
      refuse_patched(object, strict_error(problems));
    for (std::string& problem : problems) call.warnings.push_back(std::move(problem));
  }
  shape(object, type);
}

http::Response patch_by_document(Server& server, Call& call, PatchType form) {
  const WriteOptions options = write_options(call, "PatchOptions");
  const PatchDocument patch = parse_patch(call.request.body, form);
  const StoredPtr live = require_object(server, call);
  Json object = apply_patch(call.type->document(*live), patch, *call.type);
  check_name(call, object);
  accept_patched(call, options.validation, form == PatchType::merge ? call.request.body : "", object);
  return write_response(
      call, 200,
      update_object(server, call, live, std::move(object), options, call.path.subresource, Tracking::needed));
}

Json applied_document(const Call& call) {
  Json applied;
  try {
    applied = json_problem(call.request.body).empty() ? Json::parse(call.request.body)
                                                      : parse_yaml(call.request.body);
  } catch (const DecodeError& error) {
    throw StatusError::bad_request(std::string("error decoding YAML: ") + error.what());
  }
  if (!applied.is_object())
    throw StatusError::bad_request("error decoding YAML: expected an object, found " +
                                   std::string(applied.kind_name()));
  return applied;
}

FieldErrors conflict_causes(const std::vector<ApplyConflict>& conflicts) {
  FieldErrors out;
  for (const ApplyConflict& conflict : conflicts)
    out.push_back({"FieldManagerConflict", conflict.message, conflict.field});
  return out;
}

Json applied_to(const Call& call, const Json& live, const Json& applied, const WriteOptions& options) {
  try {
    ApplyResult result =
        apply(live, applied, *call.type->schema, options.context(call, call.path.subresource),
              options.force ? Force::yes : Force::no);
    if (!result.conflicts.empty())
      throw StatusError(409, "Conflict", describe(result.conflicts),
                        Json::object({{"causes", causes(conflict_causes(result.conflicts))}}));
    return std::move(result.object);
  } catch (const ApplyError& error) {
    if (error.code() == 400) throw StatusError::bad_request(error.what());
    throw StatusError::internal(error.what());
  }
}

http::Response patch_by_apply(Server& server, Call& call) {
  const WriteOptions options = write_options(call, "PatchOptions", Applies::yes);
  const Json applied = applied_document(call);
  const StoredPtr live = server.store.find(*call.type->collection, call.key());
  if (!live && !call.path.subresource.empty())
    throw StatusError::not_found(call.type->resource(), call.path.name);
  Json object = applied_to(call, live ? call.type->document(*live) : Json(), applied, options);
  check_name(call, object);
  if (const auto problem = decode_error(object, *call.type->schema)) refuse_patched(object, *problem);
  shape(object, *call.type);
  if (!live)
    return write_response(call, 201, create_object(server, call, std::move(object), options, Tracking::done));
  return write_response(
      call, 200,
      update_object(server, call, live, std::move(object), options, call.path.subresource, Tracking::done));
}

}  // namespace

http::Response rest_patch(Server& server, Call& call) {
  const PatchType form = patch_type(call);
  return form == PatchType::apply ? patch_by_apply(server, call) : patch_by_document(server, call, form);
}

}  // namespace evenkeel::inline v0::testing
