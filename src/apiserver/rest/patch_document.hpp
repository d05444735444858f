// SPDX-License-Identifier: Apache-2.0
// The body of a PATCH: its type, its content, and its application to a document.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/patch.hpp>

#include "apiserver/request/call.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

struct PatchDocument {
  PatchType form = PatchType::merge;
  Json content = {};
  std::string_view text = {};  ///< Body of the request; valid as long as that.
};

/// Determines the type from the Content-Type; throws StatusError (415) for one that the resource does not
/// support.
PatchType patch_type(const Call& call);

/// Parses a JSON, merge or strategic patch. Throws StatusError (400, 413).
PatchDocument parse_patch(std::string_view text, PatchType form);

/// Returns `document` with the patch applied. Throws StatusError (400, 422, 500).
Json apply_patch(Json document, const PatchDocument& patch, const ResourceType& type);

/// Returns the errors of strict decoding of the patch itself: duplicate fields, and unknown members of JSON
/// patch operations.
std::vector<std::string> strict_patch_problems(const PatchDocument& patch);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
