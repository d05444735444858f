// SPDX-License-Identifier: Apache-2.0
// Conditions on events that cause a reconcile.
#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>
#include <string_view>
#include <type_traits>
#include <utility>

#include <evenkeel/base/export.hpp>
#include <evenkeel/cache/object_event.hpp>

namespace evenkeel {
inline namespace v0 {

/// Decides whether an event is passed to the handler. Made by the functions below, from any callable
/// `bool(const ObjectEvent&)`, and from other predicates with `&&`, `||` and `!`. An empty predicate passes
/// every event. Called on the cache's threads, for one event of a watch at a time; it must not block. If it
/// throws, the event passes and the error is logged.
class EVENKEEL_API Predicate {
 public:
  Predicate() = default;
  template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, Predicate> && std::predicate<F&, const ObjectEvent&>)
      Predicate(F decide)
      : decide_(std::move(decide)) {}

  bool operator()(const ObjectEvent& event) const { return !decide_ || decide_(event); }
  /// Returns true if it passes every event without examining it.
  bool is_empty() const noexcept { return !decide_; }

  friend EVENKEEL_API Predicate operator&&(Predicate left, Predicate right);
  friend EVENKEEL_API Predicate operator||(Predicate left, Predicate right);
  friend EVENKEEL_API Predicate operator!(Predicate inner);

 private:
  std::function<bool(const ObjectEvent&)> decide_;
};

// "Creations and deletions" below include updates in which deletion began, or in which the object was
// replaced by another with the same name. A controller with finalizers gets the beginning of a deletion of
// its objects whatever its predicates say.

/// Passes updates only if metadata.generation changed (which the server increments when the spec changes, but
/// not when the status does). For kinds without a generation, passes updates if anything changed. Passes
/// creations and deletions.
EVENKEEL_API Predicate generation_changed();

/// Passes updates only if a label was added, changed or removed. Passes creations and deletions.
EVENKEEL_API Predicate labels_changed();

/// Passes updates only if an annotation was added, changed or removed. Passes creations and deletions.
EVENKEEL_API Predicate annotations_changed();

/// Passes updates only if metadata.resourceVersion changed, which excludes resyncs. Passes creations and
/// deletions.
EVENKEEL_API Predicate resource_version_changed();

/// Passes events of objects whose labels match a selector, "app=web,tier in (front,back)". An update passes
/// if either state matches, so that an object that stops matching is noticed. Throws DecodeError for an
/// invalid selector.
EVENKEEL_API Predicate matches_labels(std::string_view selector);

/// Passes events of these types only: events_of({EventType::added, EventType::deleted}).
EVENKEEL_API Predicate events_of(std::initializer_list<EventType> types);

namespace detail {

/// Returns true for an update in which the deletion of an object begins, and for the first event of an object
/// that is being deleted.
EVENKEEL_API bool begins_deletion(const ObjectEvent& event);
/// Returns true for an update of the same object that does not begin its deletion.
EVENKEEL_API bool is_change(const ObjectEvent& event);

}  // namespace detail

/// Passes updates only if the values of `part(object)`, of any type with ==, differ between the two states.
/// Passes creations and deletions. Decodes the object, which costs more than the predicates above:
/// changed<Demo>([](const Demo& demo) { return demo.spec.replicas; }).
template <class T, std::invocable<const T&> F>
Predicate changed(F part) {
  return [part = std::move(part)](const ObjectEvent& event) {
    if (!detail::is_change(event)) return true;
    return !(std::invoke(part, *event.object->template decode<T>()) ==
             std::invoke(part, *event.old->template decode<T>()));
  };
}

}  // namespace v0
}  // namespace evenkeel
