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

/// An operation that does not apply; the server answers it without saying which.
class JsonPatchError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// `document` after all operations. Laxer than RFC 6902, as the library of the real server is: replace makes
/// a member that is missing, and copy and test take it for null; a missing value is null; indexes may be
/// negative and count from the end; a path without its leading slash is about the root. Copies may add 3 MiB
/// of text, and the document may nest 512 levels. Throws JsonPatchError. Source:
/// gopkg.in/evanphx/json-patch.v4 patch.go.
Json apply_lax_json_patch(Json document, const Json& operations);

/// Why Go cannot decode operations of these types: "json: cannot unmarshal number into Go value of type
/// handlers.jsonPatchOp". Empty if it can.
std::string json_patch_decode_problem(const Json& operations);

/// What is wrong with operations for strict decoding: `json patch unknown field "[0].more"`.
std::vector<std::string> json_patch_strict_problems(std::string_view text, const Json& operations);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
