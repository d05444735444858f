// SPDX-License-Identifier: Apache-2.0
// Patches for edited objects.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/json.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// An edit in terms of documents. `type` may be null: then the documents are complete, like those of dynamic
/// objects.
struct EditPlan {
  const TypeInfo* type = nullptr;
  Json before;
  Json after;
  /// Name of a member that is completed: all of its members, and of objects in it, that `after` has and the
  /// server lacks are sent as well, that is plain members at their defaults, which are equal before and
  /// after. Items of lists are not completed. Empty: disabled.
  std::string complete_member = {};

  /// Returns the merge patch that applies the edit to `raw`, the document that `before` was decoded from;
  /// null if there is nothing to send. If it replaces or removes a list, it contains the resourceVersion of
  /// `raw`, because otherwise it would undo concurrent changes of that list.
  Json patch_onto(const Json& raw) const;
  /// Like patch_onto() if `raw` is not available; nullopt if a list must be replaced, because its items may
  /// have members that the type does not declare.
  std::optional<Json> patch_alone() const;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
