// SPDX-License-Identifier: Apache-2.0
#include "apiserver/rest/patch_document.hpp"

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/merge/json_patch.hpp"
#include "apiserver/merge/strategic_merge.hpp"
#include "apiserver/schema/strict_fields.hpp"
#include "apiserver/text/json_problem.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

constexpr std::size_t max_operations = 10000;

StatusError unprocessable() {
  return {422, "Invalid", "the server rejected our request due to an error in our request", Json::object()};
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
    patch.content = Json::parse(text);
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

Json apply_patch(Json document, const PatchDocument& patch, const ResourceType& type) {
  try {
    if (patch.form == PatchType::json) return apply_lax_json_patch(std::move(document), patch.content);
    if (patch.form == PatchType::merge) return apply_merge_patch(std::move(document), patch.content);
    if (patch.content.is_null()) return document;
    return strategic_merge(std::move(document), patch.content, *type.schema);
  } catch (const JsonPatchError&) {
    throw unprocessable();
  } catch (const StrategicMergeError& error) {
    if (error.code() == 400) throw StatusError::bad_request(error.what());
    if (error.code() == 422) throw unprocessable();
    throw StatusError::internal(error.what());
  }
}

std::vector<std::string> strict_patch_problems(const PatchDocument& patch) {
  if (patch.form == PatchType::json) return json_patch_strict_problems(patch.text, patch.content);
  std::vector<std::string> problems;
  for (const std::string& path : duplicate_fields(patch.text))
    problems.push_back("duplicate field \"" + path + "\"");
  return problems;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
