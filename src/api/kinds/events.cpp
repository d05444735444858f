// SPDX-License-Identifier: Apache-2.0
// Written by scripts/generate_kinds.py from the OpenAPI documents of Kubernetes; do not edit.
#include <evenkeel/api/kinds/events.hpp>

namespace evenkeel::inline v0 {

EVENKEEL_DEFINE_FIELDS(EventsV1EventSeries, count, last_observed_time)
EVENKEEL_DEFINE_FIELDS(EventsV1Event, metadata, action, deprecated_count, deprecated_first_timestamp,
                       deprecated_last_timestamp, deprecated_source, event_time, note, reason, regarding,
                       related, reporting_controller, reporting_instance, series, type)

}  // namespace evenkeel::inline v0
