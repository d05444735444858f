// SPDX-License-Identifier: Apache-2.0
// Strategic merge patch: JSON merge patch that knows which lists have keys.
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
  /// 400 for broken directives, 422 for lists of lists, else 500: as the real server answers.
  int code() const noexcept { return code_; }

 private:
  int code_;
};

/// `target` with `patch` applied. Directives: $patch (replace, delete, merge), $deleteFromPrimitiveList/F,
/// $setElementOrder/F, $retainKeys. Throws StrategicMergeError. Real servers refuse this patch type for
/// custom kinds with 415; the caller decides that. Source: apimachinery pkg/util/strategicpatch,
/// StrategicMergeMapPatchUsingLookupPatchMeta.
Json strategic_merge(Json target, const Json& patch, const KindSchema& kind);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
