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

/// The merge patch of an edit.
struct EditPatch {
  Json body = {};             ///< Null: there is nothing to send.
  bool touches_list = false;  ///< It replaces or removes a list.
};

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

  /// Returns the merge patch that applies the edit to `raw`, the document that `before` was decoded from, or
  /// a later state of it. It contains the uid of `before`, so that the server rejects it for another object
  /// of the same name. If it replaces or removes a list, it contains the resourceVersion of `before` as well,
  /// because otherwise it would undo concurrent changes of that list.
  EditPatch patch_onto(const Json& raw) const;
  /// Like patch_onto() if `raw` is not available; nullopt if a list must be replaced, because its items may
  /// have members that the type does not declare.
  std::optional<EditPatch> patch_alone() const;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
