// SPDX-License-Identifier: Apache-2.0
// Strategic merge patch: JSON merge patch that knows which lists have keys.
#pragma once

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/error.hpp>

#include "schema.hpp"

namespace evenkeel::inline v0::testing {

/// A patch that cannot be applied; what() is the server's text, to be answered as 422 Invalid unless
/// `bad_request` (400).
class StrategicMergeError : public Error {
 public:
  explicit StrategicMergeError(const std::string& message, bool bad_request = false)
      : Error(message), bad_request_(bad_request) {}
  bool bad_request() const noexcept { return bad_request_; }

 private:
  bool bad_request_;
};

/// `target` with `patch` applied. Directives: $patch (replace, delete, merge), $deleteFromPrimitiveList/F,
/// $setElementOrder/F, $retainKeys. Throws StrategicMergeError. Real servers refuse this patch type for
/// custom kinds with 415; the caller decides that. Source: apimachinery pkg/util/strategicpatch,
/// StrategicMergeMapPatchUsingLookupPatchMeta.
Json strategic_merge(Json target, const Json& patch, const KindSchema& kind);

}  // namespace evenkeel::inline v0::testing
