// SPDX-License-Identifier: Apache-2.0
// Metrics of this process from the operating system.
#pragma once

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/metrics.hpp>

namespace evenkeel {
inline namespace v0 {

/// Writes CPU time, memory, file descriptors, start time and network bytes of this process to `sink`, under
/// the names of Prometheus' client libraries (process_cpu_seconds_total and so on). Values that /proc does
/// not provide are omitted. Thread safety: may be called concurrently, with different sinks.
EVENKEEL_API void collect_process(MetricSink& sink);

}  // namespace v0
}  // namespace evenkeel
