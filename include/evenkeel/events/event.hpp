// SPDX-License-Identifier: Apache-2.0
// The words of recorded Events: the object that an Event is about, its severity, and the limits by which
// similar ones are combined.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <evenkeel/api/dynamic.hpp>
#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/resource.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {

/// The type of a Kubernetes Event.
enum class EventSeverity : std::uint8_t { normal, warning };

/// The API that Events are written with. Both are views of the same objects: `kubectl describe` shows either.
enum class EventApi : std::uint8_t {
  events_v1,  ///< events.k8s.io/v1: repetitions become a series.
  core_v1,    ///< v1: repetitions are counted, similar ones combined, and floods filtered.
};

/// The object that an Event is about.
struct EventSubject {
  std::string api_version = {};
  std::string kind = {};
  std::string namespace_ = {};  ///< Empty for a cluster-scoped object, whose Events are in "default".
  std::string name = {};
  std::string uid = {};
  std::string field_path = {};  ///< A part of the object: "spec.containers{web}".
  bool operator==(const EventSubject&) const = default;
};

/// Returns the reference to an object.
template <ObjectType T>
EventSubject event_subject(const T& object) {
  return {.api_version = T::resource.api_version(),
          .kind = std::string(T::resource.kind),
          .namespace_ = object.metadata.namespace_,
          .name = object.metadata.name,
          .uid = object.metadata.uid};
}
EVENKEEL_API EventSubject event_subject(const DynamicObject& object);

/// Further fields of an Event.
struct EventOptions {
  std::string action = "Reconcile";          ///< The action that was taken or failed, a word.
  std::optional<EventSubject> related = {};  ///< A second object, such as the one that was created.
};

/// Limits of recording. The defaults are those of client-go.
/// Source: client-go tools/record/events_cache.go, tools/events/event_broadcaster.go.
struct EventLimits {
  std::size_t queue = 1000;  ///< Events that wait to be written; further ones are dropped.
  int tries = 12;            ///< Attempts to write an Event.
  Duration retry_delay = std::chrono::seconds{10};  ///< Between them; the first one is random up to that.
  std::size_t remembered = 4096;  ///< Events whose repetitions are recognised; the oldest are forgotten.
  // core_v1:
  std::size_t similar = 10;  ///< From this number of messages on, Events that differ in it are combined.
  Duration similar_for = std::chrono::minutes{10};  ///< Pause between them that ends combining.
  int burst = 25;  ///< Events of an object that are written at once; others as `refill` allows.
  Duration refill = std::chrono::minutes{5};  ///< Time for each further one.
  // events_v1:
  Duration series_end = std::chrono::minutes{6};  ///< Time without a repetition, after which a series ends.
  Duration series_refresh = std::chrono::minutes{30};  ///< Time after which the number is written again.
};

}  // namespace v0
}  // namespace evenkeel
