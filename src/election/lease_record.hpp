// SPDX-License-Identifier: Apache-2.0
// What a Lease says about who leads, beside the document that it was read from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// What is absent or of the wrong type reads as nothing: a Lease that somebody broke is a free one.
struct LeaseRecord {
  std::string holder = {};  ///< Empty: free.
  Duration duration = {};   ///< How long the claim lasts after it was seen last.
  std::int64_t transitions = 0;
  std::string version = {};  ///< resourceVersion
  Json document = {};        ///< All of it, also what is not understood here.

  static LeaseRecord read(Json document);
  /// Whether both make the same claim, whatever else changed.
  bool claims_as(const LeaseRecord& other) const { return document["spec"] == other.document["spec"]; }
};

/// Whether a Lease with version `left` is newer than one with `right`; versions of one kind are decimal
/// numbers of any length.
bool is_newer(std::string_view left, std::string_view right);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
