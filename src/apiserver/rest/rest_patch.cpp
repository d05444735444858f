// SPDX-License-Identifier: Apache-2.0
// PATCH in its four forms. Source: apiserver pkg/endpoints/handlers/patch.go.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/api/patch.hpp>

#include "apiserver/merge/strategic_merge.hpp"
#include "apiserver/request/request_body.hpp"
#include "apiserver/rest/patch_document.hpp"
#include "apiserver/rest/rest.hpp"
#include "apiserver/rest/write.hpp"
#include "apiserver/schema/schema_validation.hpp"
#include "apiserver/schema/strict_fields.hpp"
#include "apiserver/text/json_problem.hpp"
#include "apiserver/text/yaml_document.hpp"
#include "apiserver/webhook/conversions.hpp"
#include "apiserver/webhook/webhook_review.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

/// Returns the reason why the type in a patched document is not one at all; empty if it is.
std::string type_problem(const Json& object, bool custom) {
  for (const char* name : {"kind", "apiVersion"})
    if (const Json& given = object[name]; !given.is_string() && !given.is_null())
      return wrong_type(name, "a string", given);
  if (custom && object["kind"].string_or("").empty())
    return "Object 'Kind' is missing in '" + object.dump() + "'";
  const std::string api_version = object["apiVersion"].string_or("");
  return std::ranges::count(api_version, '/') > 1 ? "unexpected GroupVersion string: " + api_version : "";
}

/// Checks the type of a custom resource.
void check_custom_type(const Call& call, const std::string& api_version, const std::string& kind) {
  const ResourceType& type = *call.type;
  if (api_version.empty())
    throw internal_error("Object 'apiVersion' is missing in 'object has no apiVersion field'");
  FieldErrors errors;
  if (kind != type.kind) errors.push_back(field_invalid("kind", kind, "must be " + type.kind));
  if (api_version != type.api_version())
    errors.push_back(field_invalid("apiVersion", api_version, "must be " + type.api_version()));
  const std::size_t slash = api_version.find('/');
  const std::string group = slash == std::string::npos ? "" : api_version.substr(0, slash);
  if (!errors.empty()) throw StatusError::invalid({group, kind}, call.path.name, errors);
}

/// Rejects a document of a built-in kind without apiVersion, which a real server decodes as an object with
/// nothing in it.
[[noreturn]] void refuse_without_version(Call& call, FieldValidation validation, const PatchDocument& patch,
                                         const Json& object) {
  std::vector<std::string> problems;
  for (const auto& [name, member] : object.as_object())
    if (name != "kind" && name != "apiVersion") problems.push_back("unknown field \"" + name + "\"");
  if (validation == FieldValidation::strict) refuse_patched(patch, object, strict_error(problems));
  if (validation == FieldValidation::warn)
    call.warnings.insert(call.warnings.end(), problems.begin(), problems.end());
  throw StatusError::bad_request("the name of the object (" + call.path.name +
                                 " based on URL) was undeterminable: name must be provided");
}

/// Checks the type in the patched document. Strategic patches cannot change it, and built-in kinds may omit
/// the kind.
void check_patched_type(Call& call, FieldValidation validation, const PatchDocument& patch, Json& object) {
  const ResourceType& type = *call.type;
  const std::string kind = std::as_const(object)["kind"].string_or("");
  const std::string api_version = std::as_const(object)["apiVersion"].string_or("");
  const bool free = patch.form == PatchType::strategic;
  if (const std::string problem = free ? "" : type_problem(object, type.custom); !problem.empty())
    refuse_patched(patch, object, problem);
  if (type.custom) return check_custom_type(call, api_version, kind);
  if (!free && api_version.empty() && (kind.empty() || kind == type.kind))
    refuse_without_version(call, validation, patch, object);
  if (!free && !kind.empty() && (kind != type.kind || api_version != type.api_version()))
    refuse_patched(patch, object, unknown_conversion(type, api_version, kind));
  object["kind"] = type.kind;
  object["apiVersion"] = type.api_version();
}

/// Validates the patched object and converts it to canonical form.
void accept_patched(Call& call, FieldValidation validation, const PatchDocument& patch, Json& object) {
  check_patched_type(call, validation, patch, object);
  check_decodes(call, validation, patch, object, *call.type->schema);
  shape(object, *call.type);
}

http::Response patch_by_document(Storage& storage, Call& call, PatchType form) {
  const WriteOptions options = write_options(call, "PatchOptions");
  const PatchDocument patch = parse_patch(call.request.body, form);
  const StoredPtr live = require_object(storage, call);
  Json object = apply_patch(document_of(call, live), patch, *call.type->schema);
  if (!object.is_object()) refuse_patched(patch, object, wrong_type("", "an object", object));
  accept_patched(call, options.validation, patch, object);
  check_namespace(call, object);
  check_name(call, object);
  return write_response(call, 200,
                        update_object(storage, call, live, std::move(object), options, call.path.subresource,
                                      Tracking::needed));
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
  Json object = applied_to(live ? document_of(call, live) : Json(), applied, *call.type->schema,
                           write_context(call, options, call.path.subresource), options.force);
  if (const std::string uid = object.at({"metadata", "uid"}).string_or(""); !live && !uid.empty())
    throw StatusError::conflict(
        call.type->resource(), call.path.name,
        "uid mismatch: the provided object specified uid " + uid + ", and no existing object was found");
  check_duplicates(call, options.validation);
  if (!call.type->custom) convert_integers(object, call.type->schema->root());
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
