// SPDX-License-Identifier: Apache-2.0
#include "controller/reconcile_meter.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace detail {

void ReconcileMeter::ended(const ReconcileOutcome& outcome, Duration took) noexcept {
  counts_.add(outcome);
  const double seconds = std::chrono::duration<double>(took).count();
  const auto at = std::lower_bound(bounds.begin(), bounds.end(), seconds);
  ++times_[static_cast<std::size_t>(at - bounds.begin())];
  seconds_ += seconds;
}

void ReconcileMeter::collect(MetricSink& sink, std::string_view controller, std::size_t workers,
                             std::size_t active) const {
  const MetricLabel name{"controller", controller};
  const std::pair<OutcomeKind, std::uint64_t> results[] = {
      {OutcomeKind::error, counts_.error},       {OutcomeKind::requeue_after, counts_.requeue_after},
      {OutcomeKind::requeue, counts_.requeue},   {OutcomeKind::success, counts_.success},
      {OutcomeKind::conflict, counts_.conflict}, {OutcomeKind::cancelled, counts_.cancelled}};
  for (const auto& [result, count] : results) {
    sink.counter("controller_runtime_reconcile_total", "Reconciles that ended, by how they ended",
                 {name, {"result", outcome_name(result)}}, static_cast<double>(count));
  }
  const auto counter = [&](std::string_view family, std::string_view help, std::uint64_t value) {
    sink.counter(family, help, {name}, static_cast<double>(value));
  };
  counter("controller_runtime_reconcile_errors_total", "Reconciles that failed, conflicts apart",
          counts_.error);
  counter("controller_runtime_terminal_reconcile_errors_total", "Reconciles that failed and are not retried",
          counts_.terminal_error);
  counter("controller_runtime_reconcile_panics_total",
          "Reconciles that threw an exception that indicates a bug in the program", counts_.panics);
  counter("controller_runtime_reconcile_timeouts_total", "Reconciles that outlived the reconcile timeout",
          counts_.timeouts);
  sink.histogram("controller_runtime_reconcile_time_seconds", "How long reconciles took", {name},
                 {bounds.data(), times_.data(), bounds.size(), seconds_});
  sink.gauge("controller_runtime_max_concurrent_reconciles", "Reconciles that may run at once", {name},
             static_cast<double>(workers));
  sink.gauge("controller_runtime_active_workers", "Reconciles that run", {name}, static_cast<double>(active));
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
