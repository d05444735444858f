// SPDX-License-Identifier: Apache-2.0
// Strategic merge patch: a JSON merge patch that merges lists with keys item by item.
#pragma once

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/error.hpp>

#include "apiserver/schema/schema.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// A patch that cannot be applied; what() is the server's text.
class StrategicMergeError : public Error {
 public:
  explicit StrategicMergeError(const std::string& message, int code = 500) : Error(message), code_(code) {}
  /// Returns the status code of the real server: 400 for invalid directives, 422 for lists of lists, else
  /// 500.
  int code() const noexcept { return code_; }

 private:
  int code_;
};

/// Returns `target` with `patch` applied. Directives: $patch (replace, delete, merge),
/// $deleteFromPrimitiveList/F, $setElementOrder/F, $retainKeys. Throws StrategicMergeError. Real servers
/// reject this patch type for custom kinds with 415; that is left to the caller.
/// Source: apimachinery pkg/util/strategicpatch, StrategicMergeMapPatchUsingLookupPatchMeta.
Json strategic_merge(Json target, const Json& patch, const KindSchema& kind);

/// Converts whole numbers in the integer fields of a built-in kind, as a real server does with objects that
/// it does not decode from JSON: 3.0 is 3, and a number beyond the range of its field wraps around.
/// Source: apimachinery pkg/runtime/converter.go fromUnstructured.
void convert_integers(Json& value, const Schema& schema);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
