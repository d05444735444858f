// SPDX-License-Identifier: Apache-2.0
#include "testing/patch_document.hpp"

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "testing/json_problem.hpp"
#include "testing/strategic_merge.hpp"

namespace evenkeel::inline v0::testing {
namespace {

constexpr std::size_t max_operations = 10000;

/// What Go calls a JSON value that it cannot decode.
std::string go_name(const Json& value) {
  return value.is_bool() ? "bool" : value.is_number() ? "number" : std::string(value.kind_name());
}

std::string_view go_type(PatchType form) {
  return form == PatchType::json ? "[]handlers.jsonPatchOp" : "map[string]interface {}";
}

StatusError unprocessable() {
  return {422, "Invalid", "the server rejected our request due to an error in our request", Json::object()};
}

}  // namespace

PatchType patch_type(const Call& call) {
  static constexpr std::array forms = {PatchType::json, PatchType::merge, PatchType::apply,
                                       PatchType::strategic};
  const std::string* header = call.request.headers.find("Content-Type");
  const std::string given = header ? media_type(*header) : "";
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
  PatchDocument patch{.form = form};
  try {
    patch.content = Json::parse(text);
  } catch (const DecodeError&) {
    throw StatusError::bad_request("error decoding patch: " + json_problem(text));
  }
  const bool fits = form == PatchType::json ? patch.content.is_array() : patch.content.is_object();
  if (!fits)
    throw StatusError::bad_request("error decoding patch: json: cannot unmarshal " + go_name(patch.content) +
                                   " into Go value of type " + std::string(go_type(form)));
  if (form == PatchType::json && patch.content.size() > max_operations)
    throw StatusError(
        413, "RequestEntityTooLarge",
        "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got " +
            std::to_string(patch.content.size()));
  return patch;
}

Json apply_patch(Json document, const PatchDocument& patch, const ResourceType& type) {
  try {
    Json out = patch.form == PatchType::json ? apply_json_patch(std::move(document), patch.content)
               : patch.form == PatchType::merge
                   ? apply_merge_patch(std::move(document), patch.content)
                   : strategic_merge(std::move(document), patch.content, *type.schema);
    if (!out.is_object()) throw unprocessable();
    return out;
  } catch (const PatchError&) {
    throw unprocessable();
  } catch (const StrategicMergeError& error) {
    if (error.bad_request()) throw StatusError::bad_request(error.what());
    throw StatusError::invalid({}, "", {field_invalid("patch", patch.content, error.what())});
  }
}

}  // namespace evenkeel::inline v0::testing
