// SPDX-License-Identifier: Apache-2.0
// Written by scripts/generate_kinds.py from the OpenAPI documents of Kubernetes; do not edit.
#include <evenkeel/api/kinds/events.hpp>

namespace evenkeel {
inline namespace v0 {
namespace events_v1 {

EVENKEEL_DEFINE_FIELDS(EventSeries, count, last_observed_time)
EVENKEEL_DEFINE_FIELDS(Event, metadata, action, deprecated_count, deprecated_first_timestamp,
                       deprecated_last_timestamp, deprecated_source, event_time, note, reason, regarding,
                       related, reporting_controller, reporting_instance, series, type)

}  // namespace events_v1
}  // namespace v0
}  // namespace evenkeel
