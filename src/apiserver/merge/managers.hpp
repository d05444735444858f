// SPDX-License-Identifier: Apache-2.0
// The entries of metadata.managedFields as values: a set of fields per manager.
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <string>

#include <evenkeel/api/json.hpp>

#include "apiserver/merge/field_set.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// What tells entries apart. Appliers are one entry whatever the version, so theirs has none here.
struct ManagerId {
  std::string manager = {};
  bool applies = false;  ///< operation Apply rather than Update.
  std::string api_version = {};
  std::string subresource = {};

  auto operator<=>(const ManagerId&) const = default;
  /// `"m1"`, `"u" with subresource "status" using v1`: as conflicts name it.
  std::string describe() const;
};

struct ManagedSet {
  FieldSet fields = {};
  std::string api_version = {};
  std::string time = {};  ///< Empty if the entry has none.
};

using Managers = std::map<ManagerId, ManagedSet>;

/// Empty if an entry is not as it should be; absent or null lists are no managers.
std::optional<Managers> decode_managers(const Json& managed_fields);
/// In the server's order: Apply before Update, then by time, manager, version and subresource. Null if none.
Json encode_managers(const Managers& managers);
/// Merges the oldest updates into "ancient-changes" once there are more than ten.
void cap_updates(Managers& managers);
/// Paths that no manager ever owns: apiVersion, kind, and what the server itself sets in metadata.
const FieldSet& server_owned_fields();

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
