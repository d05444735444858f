// SPDX-License-Identifier: Apache-2.0
// Which events are worth a reconcile.
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

/// Updates pass only if metadata.resourceVersion changed, so that resyncs do not. Creations and deletions
/// pass.
EVENKEEL_API Predicate resource_version_changed();

/// Events of objects whose labels a selector matches, "app=web,tier in (front,back)". An update passes if
/// either state matches, so that leaving the selection is noticed. Throws DecodeError for what is no
/// selector.
EVENKEEL_API Predicate matches_labels(std::string_view selector);

/// Events of these types only: events_of({EventType::added, EventType::deleted}).
EVENKEEL_API Predicate events_of(std::initializer_list<EventType> types);

/// Updates pass only if what `part(object)` gives differs between the two states; it may be anything with ==.
/// Creations and deletions pass. The object is decoded, which costs more than the predicates above:
/// changed<Demo>([](const Demo& demo) { return demo.spec.replicas; }).
template <class T, std::invocable<const T&> F>
Predicate changed(F part) {
  return [part = std::move(part)](const ObjectEvent& event) {
    if (event.type != EventType::updated || event.old == nullptr) return true;
    return !(std::invoke(part, *event.object->template decode<T>()) ==
             std::invoke(part, *event.old->template decode<T>()));
  };
}

}  // namespace v0
}  // namespace evenkeel
