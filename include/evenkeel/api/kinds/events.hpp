// SPDX-License-Identifier: Apache-2.0
// Written by scripts/generate_kinds.py from the OpenAPI documents of Kubernetes; do not edit.
// The kinds of events.k8s.io v1, complete in fields. Order of members: metadata, name, spec,
// status, then by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/api/metadata.hpp>
#include <evenkeel/api/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace events_v1 {

struct EventSeries {
  std::int32_t count = 0;
  std::optional<MicroTime> last_observed_time = {};

  bool operator==(const EventSeries&) const = default;
};

/// events.k8s.io/v1 Event.
struct Event {
  static constexpr ResourceInfo resource{
      .group = "events.k8s.io", .version = "v1", .kind = "Event", .plural = "events", .short_name = "ev"};
  ObjectMeta metadata = {};
  std::optional<std::string> action = {};
  std::optional<std::int32_t> deprecated_count = {};
  std::optional<Time> deprecated_first_timestamp = {};
  std::optional<Time> deprecated_last_timestamp = {};
  core_v1::EventSource deprecated_source = {};
  std::optional<MicroTime> event_time = {};
  std::optional<std::string> note = {};
  std::optional<std::string> reason = {};
  core_v1::ObjectReference regarding = {};
  std::optional<core_v1::ObjectReference> related = {};
  std::optional<std::string> reporting_controller = {};
  std::optional<std::string> reporting_instance = {};
  std::optional<EventSeries> series = {};
  std::optional<std::string> type = {};

  bool operator==(const Event&) const = default;
};

EVENKEEL_DECLARE_FIELDS(EventSeries)
EVENKEEL_DECLARE_FIELDS(Event)

}  // namespace events_v1

}  // namespace v0
}  // namespace evenkeel
