// SPDX-License-Identifier: Apache-2.0
// The leadership in a Lease, and the document that it was read from. Shared with floors above.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// A field that is absent or of the wrong type reads as empty: a malformed Lease is free.
struct EVENKEEL_API LeaseRecord {
  std::string holder = {};  ///< Empty: free.
  Duration duration = {};   ///< Duration of the claim since it was last seen to change.
  std::int64_t transitions = 0;
  std::string version = {};  ///< resourceVersion
  Json document = {};        ///< The whole document, including unknown fields.

  static LeaseRecord read(Json document);
  /// Returns true if both make the same claim, regardless of other changes.
  bool claims_as(const LeaseRecord& other) const { return document["spec"] == other.document["spec"]; }
};

/// Returns true if a Lease with version `left` is newer than one with `right`; versions of one kind are
/// decimal numbers of any length.
EVENKEEL_API bool is_newer(std::string_view left, std::string_view right);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
