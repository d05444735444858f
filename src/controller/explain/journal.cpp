// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/journal.hpp"

#include <algorithm>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace detail {

Origin origin_of(const ObjectEvent& event, std::string_view source) {
  const AddedBy by = event.resync ? AddedBy::resync : event.initial ? AddedBy::initial : AddedBy::event;
  return {.by = by, .type = event.type, .source = source};
}

void Journal::on_start(TimePoint now) {
  for (auto& [key, arrival] : arrivals_) arrival = std::max(arrival, now);
}

void Journal::on_event(TimePoint at, std::uint64_t key, const Origin& origin, EventFate fate) {
  if (!recorder_.on()) return;
  Cause cause{.by = origin.by, .type = origin.type};
  if (!origin.source.empty()) cause.source = recorder_.number_of(origin.source);
  recorder_.on_event(at, key, cause, fate);
}

RunStart Journal::on_run_started(const RequestKey& key, FlightRun run) {
  run.key = key.hash();
  recorder_.on_run_started(run);
  RunStart start;
  if (!std::exchange(check_scheduled_, true)) start.stuck_check_due = run.limit;
  if (const auto arrival = arrivals_.extract(key)) {
    start.waited = run.since - arrival.mapped();
    latency_.record(*start.waited);
  }
  return start;
}

void Journal::on_run_ended(const RequestKey& key, const RunEnd& end) {
  recorder_.on_run_ended(end.at, key, end.worker, end.attempt, end.took, end.outcome);
}

StuckCheck Journal::on_timeout(TimePoint now) {
  StuckCheck check = check_stuck(recorder_.runs_to_watch(), now);
  check_scheduled_ = check.next_due.has_value();
  return check;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
