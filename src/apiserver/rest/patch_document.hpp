// SPDX-License-Identifier: Apache-2.0
// The body of a PATCH: its form, what it says, and what it makes of a document.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/patch.hpp>

#include "apiserver/rest/call.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

struct PatchDocument {
  PatchType form = PatchType::merge;
  Json content = {};
  std::string_view text = {};  ///< Of the request, which it must not outlive.
};

/// By the Content-Type; throws StatusError (415) for what the resource does not take.
PatchType patch_type(const Call& call);

/// Reads a JSON, merge or strategic patch. Throws StatusError (400, 413).
PatchDocument parse_patch(std::string_view text, PatchType form);

/// `document` with the patch applied. Throws StatusError (400, 422, 500).
Json apply_patch(Json document, const PatchDocument& patch, const ResourceType& type);

/// What is wrong with the patch itself for strict decoding: fields given twice, and members of operations
/// that JSON patch does not know.
std::vector<std::string> strict_patch_problems(const PatchDocument& patch);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
