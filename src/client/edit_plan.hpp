// SPDX-License-Identifier: Apache-2.0
// What is sent for an edited object.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/json.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// An edit as documents. `type` may be null: then the documents are whole, as those of dynamic objects are.
struct EditPlan {
  const TypeInfo* type = nullptr;
  Json before;
  Json after;
  /// Also sends the members of this one, and of objects in it, that `after` has and the server lacks: plain
  /// members at their defaults, which are equal before and after. Items of lists stay as they are. Empty:
  /// off.
  std::string complete_member = {};

  /// The merge patch that carries the edit onto `raw`, the document that `before` was read from; null if
  /// there is nothing to send. If it replaces or removes a list, it holds the resourceVersion that was read,
  /// because otherwise it would undo what others did to that list since.
  Json patch_onto(const Json& raw) const;
  /// The same where `raw` is not known: nothing if a list must be replaced, since its items may have members
  /// that the type does not declare.
  std::optional<Json> patch_alone() const;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
