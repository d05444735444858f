// SPDX-License-Identifier: Apache-2.0
#include "apiserver/rest/patch_document.hpp"

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/merge/json_patch.hpp"
#include "apiserver/merge/strategic_merge.hpp"
#include "apiserver/schema/schema_validation.hpp"
#include "apiserver/schema/status_error.hpp"
#include "apiserver/schema/strict_fields.hpp"
#include "apiserver/text/go_json.hpp"
#include "apiserver/text/json_problem.hpp"
#include "apiserver/text/yaml_document.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

constexpr std::size_t max_operations = 10000;

StatusError unprocessable() {
  return {422, "Invalid", "the server rejected our request due to an error in our request", Json::object()};
}

std::vector<std::string> strict_patch_problems(const PatchDocument& patch) {
  if (patch.form == PatchType::json) return json_patch_strict_problems(patch.text, patch.content);
  std::vector<std::string> problems;
  for (const std::string& path : duplicate_fields(patch.text))
    problems.push_back("duplicate field \"" + path + "\"");
  return problems;
}

[[noreturn]] void refuse_yaml(const std::string& problem) {
  throw StatusError::bad_request("error decoding YAML: " + problem);
}

FieldErrors conflict_causes(const std::vector<ApplyConflict>& conflicts) {
  FieldErrors out;
  for (const ApplyConflict& conflict : conflicts)
    out.push_back({"FieldManagerConflict", conflict.message, conflict.field});
  return out;
}

}  // namespace

PatchType patch_type(const Call& call) {
  static constexpr std::array forms = {PatchType::json, PatchType::merge, PatchType::apply,
                                       PatchType::strategic};
  const std::string* header = call.request.headers.find("Content-Type");
  // Unlike elsewhere the comparison is case-sensitive, and only the part after a semicolon is ignored.
  const std::string given = header ? header->substr(0, header->find(';')) : "";
  std::vector<std::string> accepted;
  for (const PatchType form : forms) {
    if (form == PatchType::strategic && call.type->custom) continue;
    accepted.emplace_back(content_type(form));
    if (given == content_type(form)) return form;
  }
  if (call.type->custom) throw StatusError::unsupported_media(accepted);
  throw StatusError(415, "UnsupportedMediaType", "415: Unsupported Media Type", Json::object());
}

PatchDocument parse_patch(std::string_view text, PatchType form) {
  PatchDocument patch{.form = form, .text = text};
  // Strategic patches are decoded by other code, whose error has no prefix.
  const std::string prefix = form == PatchType::strategic ? "" : "error decoding patch: ";
  try {
    patch.content = parse_go_json(text);
  } catch (const DecodeError& error) {
    throw StatusError::bad_request(prefix + error.problem());
  }
  if (form == PatchType::merge && patch.content.is_null())
    throw StatusError::bad_request("Invalid JSON Patch");
  if (patch.content.is_null()) return patch;
  const bool fits = form == PatchType::json ? patch.content.is_array() : patch.content.is_object();
  if (!fits)
    throw StatusError::bad_request(
        prefix + wrong_type("", form == PatchType::json ? "an array" : "an object", patch.content));
  if (form != PatchType::json) return patch;
  if (const std::string problem = json_patch_decode_problem(patch.content); !problem.empty())
    throw StatusError::bad_request(prefix + problem);
  if (patch.content.size() > max_operations)
    throw StatusError(
        413, "RequestEntityTooLarge",
        "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got " +
            std::to_string(patch.content.size()));
  return patch;
}

Json apply_patch(Json document, const PatchDocument& patch, const KindSchema& kind) {
  try {
    if (patch.form == PatchType::json)
      return apply_lax_json_patch(std::move(document), patch.content, patch.text);
    if (patch.form == PatchType::merge) return apply_lax_merge_patch(std::move(document), patch.content);
    if (patch.content.is_null()) return document;
    document = strategic_merge(std::move(document), patch.content, kind);
    convert_integers(document, kind.root());
    return document;
  } catch (const JsonPatchError&) {
    throw unprocessable();
  } catch (const StrategicMergeError& error) {
    if (error.code() == 400) throw StatusError::bad_request(error.what());
    if (error.code() == 422) throw unprocessable();
    throw StatusError::internal(error.what());
  }
}

void refuse_patched(const PatchDocument& patch, const Json& patched, const std::string& problem) {
  const std::string quoted = (patch.form == PatchType::strategic ? patch.content : patched).dump();
  throw StatusError::invalid({}, "", {field_invalid("patch", Json(quoted), problem)});
}

void check_decodes(Call& call, FieldValidation validation, const PatchDocument& patch, const Json& patched,
                   const KindSchema& kind) {
  if (const auto problem = decode_error(patched, kind)) refuse_patched(patch, patched, *problem);
  if (validation == FieldValidation::ignore) return;
  std::vector<std::string> problems = strict_patch_problems(patch);
  for (std::string& unknown : strict_problems("", patched, kind)) problems.push_back(std::move(unknown));
  if (!problems.empty() && validation == FieldValidation::strict)
    refuse_patched(patch, patched, strict_error(problems));
  for (std::string& one : problems) call.warnings.push_back(std::move(one));
}

Json applied_document(const Call& call) {
  const std::string& text = call.request.body;
  Json applied;
  try {
    const bool json = !escapes_surrogates(text) && json_problem(text).empty();
    applied = json ? with_whole_numbers(Json::parse(text)) : parse_yaml(text);
  } catch (const DecodeError& error) {
    refuse_yaml(std::string("error converting YAML to JSON: ") + error.what());
  }
  if (applied.is_null()) return Json::object();
  if (!applied.is_object()) refuse_yaml(wrong_type("", "an object", applied));
  return applied;
}

Json applied_to(const Json& live, const Json& applied, const KindSchema& kind, const WriteContext& context,
                bool force) {
  try {
    ApplyResult result = apply(live, applied, kind, context, force ? Force::yes : Force::no);
    if (!result.conflicts.empty())
      throw StatusError(409, "Conflict", describe(result.conflicts),
                        Json::object({{"causes", causes(conflict_causes(result.conflicts))}}));
    return std::move(result.object);
  } catch (const ApplyError& error) {
    if (error.code() == 400) throw StatusError::bad_request(error.what());
    throw StatusError::internal(error.what());
  }
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
