// SPDX-License-Identifier: Apache-2.0
// PATCH in its four forms. Source: apiserver pkg/endpoints/handlers/patch.go.
#include <string>
#include <tuple>
#include <utility>

#include <evenkeel/api/patch.hpp>

#include "apiserver/request/request_body.hpp"
#include "apiserver/rest/patch_document.hpp"
#include "apiserver/rest/rest.hpp"
#include "apiserver/rest/write.hpp"
#include "apiserver/schema/schema_validation.hpp"
#include "apiserver/schema/strict_fields.hpp"
#include "apiserver/text/json_problem.hpp"
#include "apiserver/text/yaml_document.hpp"
#include "apiserver/webhook/conversions.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

/// Rejects the result of a patch like a real server: for "patch", without kind and name. For strategic
/// patches the error quotes the patch, for others the resulting document.
[[noreturn]] void refuse_patched(const PatchDocument& patch, const Json& patched,
                                 const std::string& problem) {
  const std::string quoted = (patch.form == PatchType::strategic ? patch.content : patched).dump();
  throw StatusError::invalid({}, "", {field_invalid("patch", Json(quoted), problem)});
}

/// Returns the reason why the type in a document of a built-in kind prevents its decoding; empty if there is
/// none.
std::string type_problem(const Call& call, const std::string& api_version, const std::string& kind) {
  const ResourceType& type = *call.type;
  if (kind == type.kind && api_version == type.api_version()) return "";
  return unknown_conversion(type, api_version, kind);
}

/// Checks the type in the patched document. Strategic patches cannot change it, and built-in kinds may omit
/// it.
void check_patched_type(const Call& call, const PatchDocument& patch, Json& object) {
  const ResourceType& type = *call.type;
  const std::string kind = object["kind"].string_or("");
  const std::string api_version = object["apiVersion"].string_or("");
  if (!type.custom) {
    const bool free = patch.form == PatchType::strategic || kind.empty();
    if (const std::string problem = free ? "" : type_problem(call, api_version, kind); !problem.empty())
      refuse_patched(patch, object, problem);
    object["kind"] = type.kind;
    object["apiVersion"] = type.api_version();
    return;
  }
  const std::string group = api_version.substr(0, api_version.find('/'));
  for (const auto& [name, given, wanted] :
       {std::tuple("kind", kind, type.kind), std::tuple("apiVersion", api_version, type.api_version())})
    if (given != wanted)
      throw StatusError::invalid({group, kind}, call.path.name,
                                 {field_invalid(name, given, "must be " + wanted)});
}

/// Validates the patched object and converts it to canonical form.
void accept_patched(Call& call, FieldValidation validation, const PatchDocument& patch, Json& object) {
  const ResourceType& type = *call.type;
  check_patched_type(call, patch, object);
  if (const auto problem = decode_error(object, *type.schema)) refuse_patched(patch, object, *problem);
  if (validation != FieldValidation::ignore) {
    std::vector<std::string> problems = strict_patch_problems(patch);
    for (std::string& unknown : strict_problems("", object, *type.schema))
      problems.push_back(std::move(unknown));
    if (!problems.empty() && validation == FieldValidation::strict)
      refuse_patched(patch, object, strict_error(problems));
    for (std::string& one : problems) call.warnings.push_back(std::move(one));
  }
  shape(object, type);
}

http::Response patch_by_document(Storage& storage, Call& call, PatchType form) {
  const WriteOptions options = write_options(call, "PatchOptions");
  const PatchDocument patch = parse_patch(call.request.body, form);
  const StoredPtr live = require_object(storage, call);
  Json object = apply_patch(document_of(call, live), patch, *call.type);
  if (!object.is_object()) refuse_patched(patch, object, wrong_type("", "an object", object));
  accept_patched(call, options.validation, patch, object);
  check_namespace(call, object);
  check_name(call, object);
  return write_response(call, 200,
                        update_object(storage, call, live, std::move(object), options, call.path.subresource,
                                      Tracking::needed));
}

[[noreturn]] void refuse_yaml(const std::string& problem) {
  throw StatusError::bad_request("error decoding YAML: " + problem);
}

/// Returns the applied document. Empty YAML is an object in which everything is missing.
Json applied_document(const Call& call) {
  Json applied;
  try {
    applied = json_problem(call.request.body).empty() ? Json::parse(call.request.body)
                                                      : parse_yaml(call.request.body);
  } catch (const DecodeError& error) {
    refuse_yaml(std::string("error converting YAML to JSON: ") + error.what());
  }
  if (applied.is_null()) return Json::object();
  if (!applied.is_object()) refuse_yaml(wrong_type("", "an object", applied));
  return applied;
}

/// Reports duplicate keys, which only strict decoding rejects.
void check_duplicates(Call& call, FieldValidation validation) {
  if (validation == FieldValidation::ignore) return;
  if (json_problem(call.request.body).empty() && duplicate_fields(call.request.body).empty()) return;
  std::vector<std::string> problems = yaml_duplicates(call.request.body);
  if (problems.empty()) return;
  if (validation == FieldValidation::strict) {
    std::string text = "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:";
    for (const std::string& problem : problems) text += "\n  " + problem;
    throw StatusError::bad_request(text);
  }
  for (std::string& problem : problems) call.warnings.push_back(std::move(problem));
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
        apply(live, applied, *call.type->schema, write_context(call, options, call.path.subresource),
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

/// Rejects the result of an apply that matches the schema, but not the Go types: an internal error.
[[noreturn]] void refuse_applied(const Call& call, const Json& object, const std::string& problem) {
  const ResourceType& type = *call.type;
  const std::string kind = (type.group.empty() ? "/" : "") + type.api_version() + ", Kind=" + type.kind;
  const bool quantity = problem.starts_with("quantities must match");
  throw StatusError(500, "",
                    "failed to convert new object (" + object.at({"metadata", "namespace"}).string_or("") +
                        "/" + object.at({"metadata", "name"}).string_or("") + "; " + kind +
                        ") to proper version: unable to convert unstructured object to " + kind + ": " +
                        (quantity ? "" : "error decoding from json: ") + problem);
}

http::Response patch_by_apply(Storage& storage, Call& call) {
  const WriteOptions options = write_options(call, "PatchOptions", Applies::yes);
  const Json applied = applied_document(call);
  const StoredPtr live = storage.store.find(call.collection(), call.key());
  if (!live && !call.path.subresource.empty())
    throw StatusError::not_found(call.type->resource(), call.path.name);
  Json object = applied_to(call, live ? document_of(call, live) : Json(), applied, options);
  if (const std::string uid = object.at({"metadata", "uid"}).string_or(""); !live && !uid.empty())
    throw StatusError::conflict(
        call.type->resource(), call.path.name,
        "uid mismatch: the provided object specified uid " + uid + ", and no existing object was found");
  check_duplicates(call, options.validation);
  if (const auto problem = decode_error(object, *call.type->schema)) refuse_applied(call, object, *problem);
  check_namespace(call, object);
  check_name(call, object);
  shape(object, *call.type, Unset::kept);
  if (!live)
    return write_response(call, 201,
                          create_object(storage, call, std::move(object), options, Tracking::done));
  return write_response(
      call, 200,
      update_object(storage, call, live, std::move(object), options, call.path.subresource, Tracking::done));
}

}  // namespace

http::Response rest_patch(Storage& storage, Call& call) {
  const PatchType form = patch_type(call);
  return form == PatchType::apply ? patch_by_apply(storage, call) : patch_by_document(storage, call, form);
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
