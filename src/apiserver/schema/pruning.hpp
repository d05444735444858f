// SPDX-License-Identifier: Apache-2.0
// Removes fields that a schema does not know, and converts built-in objects to the form of the Go structs.
#pragma once

#include <string>
#include <vector>

#include <evenkeel/api/json.hpp>

#include "apiserver/schema/schema.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Treatment of nulls in typed fields that are neither nullable nor have a default.
enum class Unset : bool {
  dropped,  ///< The field is not set.
  kept,     ///< They stay for the validation to reject, as a real server does for applied objects.
};
/// Returns true for the built-in type of amounts of resources.
bool is_quantity(const Schema& schema);

/// Removes every member that the schema does not specify and returns the paths of the removed ones:
/// "spec.parts[0].colour"; those in the metadata of custom kinds come last. Idempotent. Metadata of custom
/// kinds is only pruned to ObjectMeta's own fields.
std::vector<std::string> prune(Json& object, const KindSchema& kind, Unset unset = Unset::dropped);

/// Converts an object of a built-in kind to the form that decoding and encoding with the Go types gives:
/// nulls, empty optional strings, maps and lists are removed, structs that are not pointers are added
/// ("status": {}). For custom kinds only metadata is converted. Idempotent. Call after prune() and
/// apply_defaults().
void canonicalize(Json& object, const KindSchema& kind);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
