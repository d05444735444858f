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

/// The identity of an entry. An applier has one entry for all versions, so it has no version here.
struct ManagerId {
  std::string manager = {};
  bool applies = false;  ///< operation Apply rather than Update.
  std::string api_version = {};
  std::string subresource = {};

  auto operator<=>(const ManagerId&) const = default;
  /// Returns `"m1"`, `"u" with subresource "status" using v1`, as in messages about conflicts.
  std::string describe() const;
};

struct ManagedSet {
  FieldSet fields = {};
  std::string api_version = {};
  std::string time = {};  ///< Empty if the entry has none.
};

using Managers = std::map<ManagerId, ManagedSet>;

/// Returns std::nullopt if an entry is invalid; an absent list or null has no managers.
std::optional<Managers> decode_managers(const Json& managed_fields);
/// Sorts as the server does: Apply before Update, then by time, manager, version and subresource. Null if
/// empty.
Json encode_managers(const Managers& managers);
/// Merges the oldest updates into "ancient-changes" if there are more than ten.
void cap_updates(Managers& managers);
/// Returns the paths that no manager owns: apiVersion, kind, and metadata set by the server.
const FieldSet& server_owned_fields();

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
