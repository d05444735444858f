// SPDX-License-Identifier: Apache-2.0
// The body of a PATCH: its type, its content, and its application to a document.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/patch.hpp>

#include "apiserver/merge/managed_fields.hpp"
#include "apiserver/request/call.hpp"
#include "apiserver/request/write_options.hpp"

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
Json apply_patch(Json document, const PatchDocument& patch, const KindSchema& kind);

/// Rejects the result of a patch like a real server: for "patch", without kind and name. For strategic
/// patches the error quotes the patch, for others the resulting document.
[[noreturn]] void refuse_patched(const PatchDocument& patch, const Json& patched, const std::string& problem);

/// Rejects a patched document that cannot be decoded. Reports unknown fields as requested, and the errors of
/// strict decoding of the patch itself: duplicate fields, and unknown members of JSON patch operations.
void check_decodes(Call& call, FieldValidation validation, const PatchDocument& patch, const Json& patched,
                   const KindSchema& kind);

/// Returns the body of an apply. Empty YAML is an object in which everything is missing. Throws StatusError.
Json applied_document(const Call& call);
/// Returns the object of an apply. Throws StatusError (400, 409, 500).
Json applied_to(const Json& live, const Json& applied, const KindSchema& kind, const WriteContext& context,
                bool force);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
