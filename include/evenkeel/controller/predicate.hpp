// SPDX-License-Identifier: Apache-2.0
// Which events are worth a reconcile.
#pragma once

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

#include <evenkeel/base/export.hpp>
#include <evenkeel/cache/object_event.hpp>

namespace evenkeel::inline v0 {

/// Decides whether an event goes on to the handler. Made by the functions below, from any callable
/// `bool(const ObjectEvent&)`, and out of others with `&&`, `||` and `!`. An empty one lets everything
/// through. It is called on the cache's threads, one event at a time for each watch; it must not block. If it
/// throws, the event goes through and the error is logged.
class EVENKEEL_API Predicate {
 public:
  Predicate() = default;
  template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, Predicate> && std::predicate<F&, const ObjectEvent&>)
      Predicate(F decide)
      : decide_(std::move(decide)) {}

  bool operator()(const ObjectEvent& event) const { return !decide_ || decide_(event); }

  friend EVENKEEL_API Predicate operator&&(Predicate left, Predicate right);
  friend EVENKEEL_API Predicate operator||(Predicate left, Predicate right);
  friend EVENKEEL_API Predicate operator!(Predicate inner);

 private:
  std::function<bool(const ObjectEvent&)> decide_;
};

/// Updates pass only if metadata.generation changed (which the server counts up when the spec changes, not
/// when the status does), if the deletion began, or if the object became another one of the same name. Kinds
/// that have no generation pass if anything changed. Creations and deletions pass.
EVENKEEL_API Predicate generation_changed();

/// Updates pass only if a label was added, changed or removed. Creations and deletions pass.
EVENKEEL_API Predicate labels_changed();

/// Updates pass only if an annotation was added, changed or removed. Creations and deletions pass.
EVENKEEL_API Predicate annotations_changed();

}  // namespace evenkeel::inline v0
