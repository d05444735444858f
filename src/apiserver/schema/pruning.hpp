// SPDX-License-Identifier: Apache-2.0
// Removing what a schema does not know, and bringing built-in objects into the form Go structs give them.
#pragma once

#include <string>
#include <vector>

#include <evenkeel/api/json.hpp>

#include "apiserver/schema/schema.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Removes every member the schema does not specify and returns the paths of what it removed:
/// "spec.parts[0].colour"; those in the metadata of custom kinds come last. Idempotent. Does not look at
/// metadata of custom kinds beyond ObjectMeta's own fields.
std::vector<std::string> prune(Json& object, const KindSchema& kind);

/// Brings an object of a built-in kind into the form that decoding and encoding it with the Go types gives:
/// nulls, empty optional strings, maps and lists vanish, structs that are no pointers appear ("status": {}).
/// For custom kinds only metadata is treated so. Idempotent. Call after prune() and apply_defaults().
void canonicalize(Json& object, const KindSchema& kind);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
