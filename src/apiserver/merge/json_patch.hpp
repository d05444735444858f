// SPDX-License-Identifier: Apache-2.0
// JSON patch as a real server applies it, which is laxer than RFC 6902.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/json.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// An operation that cannot be applied; the server's response does not say which one.
class JsonPatchError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns `document` after all operations. Laxer than RFC 6902, like the library of the real server: replace
/// creates a missing member, and copy and test treat it as null; a missing value is null; negative indexes
/// count from the end; a path without a leading slash refers to the root. Copies may add 3 MiB of text, and
/// the document may nest 512 levels. Throws JsonPatchError.
/// A test compares the text of numbers and strings in the operations (`text`) and in the document, which is
/// that of Go: 1.0 is not 1, and < is \\u003c.
/// Source: gopkg.in/evanphx/json-patch.v4 patch.go.
Json apply_lax_json_patch(Json document, const Json& operations, std::string_view text);

/// Returns `document` with a merge patch applied. Unlike RFC 7386, null members within lists are removed,
/// except from a list or a value that replaces an object.
/// Source: gopkg.in/evanphx/json-patch.v4 merge.go.
Json apply_lax_merge_patch(Json document, const Json& patch);

/// Returns the first operation, or member of one, of a wrong type: "[0].path: expected a string, got 5".
/// Empty if there is none.
std::string json_patch_decode_problem(const Json& operations);

/// Returns the errors of strict decoding: `json patch unknown field "[0].more"`.
std::vector<std::string> json_patch_strict_problems(std::string_view text, const Json& operations);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
