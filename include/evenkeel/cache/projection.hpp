// SPDX-License-Identifier: Apache-2.0
// Projections: the parts of objects that structs describe, which are all that a cache has to keep for them.
#pragma once

#include <string_view>

#include <evenkeel/api/fields.hpp>
#include <evenkeel/base/export.hpp>

namespace evenkeel {
inline namespace v0 {

namespace detail {
struct ProjectedParts;
}

/// The members of objects that described structs have, of which a decoded struct needs no more. apiVersion,
/// kind and metadata are always among them. Members of structs within structs are selected one by one; lists,
/// maps and Json members are kept whole, so that a patch of a list that is made from a projected object loses
/// nothing of the list's elements.
/// Thread safety: an immutable value.
class EVENKEEL_API Projection {
 public:
  /// Selects the metadata alone.
  Projection();
  /// Selects the members of T.
  template <ObjectType T>
  static Projection of() {
    static const Projection projection(type_info<T>());
    return projection;
  }

  /// Returns the projection that selects what either of both selects.
  Projection with(const Projection& other) const;
  /// Returns true if this selects all that `other` selects.
  bool covers(const Projection& other) const noexcept;
  /// Returns true if both select the same for the same reason; equal selections may be unequal.
  bool operator==(const Projection& other) const noexcept { return parts_ == other.parts_; }

  const detail::ProjectedParts& parts() const noexcept { return *parts_; }

 private:
  explicit Projection(const TypeInfo& type);
  explicit Projection(const detail::ProjectedParts* parts) noexcept : parts_(parts) {}
  friend class WireObject;

  const detail::ProjectedParts* parts_;  // one for each set of structs, with static lifetime
};

}  // namespace v0
}  // namespace evenkeel
