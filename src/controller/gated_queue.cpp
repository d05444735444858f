// SPDX-License-Identifier: Apache-2.0
#include "controller/gated_queue.hpp"

#include <algorithm>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

RequestQueueOptions queue_options(const ControllerOptions& chosen, std::shared_ptr<const Clock> clock) {
  RequestQueueOptions options{.name = chosen.name,
                              .debounce = chosen.debounce,
                              .min_interval = chosen.min_interval,
                              .clock = std::move(clock)};
  if (chosen.limiter) options.limiter = chosen.limiter();
  if (chosen.store) options.store = chosen.store();
  return options;
}

}  // namespace

Origin origin_of(const ObjectEvent& event, std::string_view source) {
  const AddedBy by = event.resync ? AddedBy::resync : event.initial ? AddedBy::initial : AddedBy::event;
  return {.by = by, .type = event.type, .source = source};
}

GatedQueue::GatedQueue(const ControllerOptions& options, std::shared_ptr<const Clock> clock,
                       std::function<void(TimePoint)> look_at)
    : clock_(std::move(clock)),
      stuck_{.after = options.stuck_after},
      look_at_(std::move(look_at)),
      gated_(options.gate.value_or(EventGate::on) == EventGate::on),
      queue_(queue_options(options, clock_)),
      recorder_(options.flight_recorder_bytes) {}

void GatedQueue::stop() noexcept {
  {
    MutexLock lock(mutex_);
    stopped_ = true;
  }
  queue_.shut_down_now();
}

void GatedQueue::record(TimePoint at, std::uint64_t key, const Origin& origin, EventFate fate) {
  if (!recorder_.on()) return;
  Cause cause{.by = origin.by, .type = origin.type};
  if (!origin.source.empty()) cause.source = recorder_.number_of(origin.source);
  recorder_.event(at, key, cause, fate);
}

void GatedQueue::record(const RequestKey& key, const RunEnd& end) {
  recorder_.ended(end.at, key, end.worker, end.attempt, end.took, end.outcome);
}

void GatedQueue::note(std::uint64_t key, TimePoint at, const Origin& origin, EventFate fate) {
  MutexLock lock(mutex_);
  record(at, key, origin, fate);
}

void GatedQueue::begin_running(TimePoint now) {
  MutexLock lock(mutex_);
  for (auto& [key, arrival] : arrivals_) arrival = std::max(arrival, now);
}

void GatedQueue::add(const RequestKey& key, const KeyOptions& options, TimePoint arrival,
                     const Origin& origin) {
  if (options.delay > Duration::zero()) return add_unasked(key, options, arrival, origin);
  {
    MutexLock lock(mutex_);
    if (stopped_) return;
    arrivals_.try_emplace(key, arrival);
    record(arrival, key.hash(), origin, EventFate::added);
  }
  queue_.add(key, options.priority);
}

void GatedQueue::add_unasked(const RequestKey& key, const KeyOptions& options, TimePoint now,
                             const Origin& origin) {
  note(key.hash(), now, origin, EventFate::added);
  if (options.delay > Duration::zero()) {
    queue_.add_after(key, options.delay, options.priority);
  } else {
    queue_.add(key, options.priority);
  }
}

bool GatedQueue::concerns(const RequestKey& key) const {
  if (!gated_) return false;
  MutexLock lock(mutex_);
  return backoff_.concerns(key);
}

// The queue is asked under the lock, so that the arrival of an event that is left out is never seen.
AddVerdict GatedQueue::add_minor(const RequestKey& key, const KeyOptions& options, TimePoint arrival,
                                 const Origin& origin) {
  MutexLock lock(mutex_);
  if (stopped_) return AddVerdict::waits;
  const BackoffCore::Verdict verdict = backoff_.minor_event(key, options.priority, arrival);
  if (verdict == BackoffCore::Verdict::held) {
    record(arrival, key.hash(), origin, EventFate::held);
    return AddVerdict::held;
  }
  if (options.delay > Duration::zero()) return add_minor_later(key, options, arrival, origin);
  const bool first = arrivals_.try_emplace(key, arrival).second;
  if (verdict == BackoffCore::Verdict::add) {
    queue_.add(key, options.priority);
  } else if (!queue_.add_unless_waiting(key, options.priority)) {
    if (first) arrivals_.erase(key);
    record(arrival, key.hash(), origin, EventFate::waits);
    return AddVerdict::waits;
  }
  record(arrival, key.hash(), origin, EventFate::added);
  return AddVerdict::queued;
}

// The key does not run. While its deadline stands, its retry sees what the event tells.
AddVerdict GatedQueue::add_minor_later(const RequestKey& key, const KeyOptions& options, TimePoint now,
                                       const Origin& origin) {
  const bool waits = backoff_.standing_deadline(key, now).has_value();
  record(now, key.hash(), origin, waits ? EventFate::waits : EventFate::added);
  if (waits) return AddVerdict::waits;
  queue_.add_after(key, options.delay, options.priority);
  return AddVerdict::queued;
}

std::optional<Duration> GatedQueue::begin(const RequestKey& key, FlightRun run) {
  run.key = key.hash();
  MutexLock lock(mutex_);
  if (gated_) backoff_.begin(key);
  recorder_.started(run);
  const bool first = !std::exchange(watched_, true);
  std::optional<Duration> waited;
  if (const auto arrival = arrivals_.extract(key)) {
    waited = run.since - arrival.mapped();
    latency_.record(*waited);
  }
  lock.unlock();
  if (first && look_at_) look_at_(run.limit);
  return waited;
}

StuckLook GatedQueue::look_for_stuck(TimePoint now) {
  MutexLock lock(mutex_);
  StuckLook look = look_at(recorder_.runs_to_watch(), now);
  watched_ = look.next.has_value();
  return look;
}

// The queue is told before the gate: whoever meets a key that does not run any more meets one that waits. The
// time is read first, so that the gate's deadline is never later than the queue's: the retry must not look
// early.
Duration GatedQueue::back_off(const RequestKey& key, Priority priority, const RunEnd& end) {
  if (!gated_) {
    const Duration delay = queue_.add_rate_limited(key, priority);
    MutexLock lock(mutex_);
    record(key, end);
    recorder_.waits(end.at, key.hash(), AddedBy::retry, delay);
    return delay;
  }
  const TimePoint now = clock_->now();
  std::optional<TimePoint> standing;
  {
    MutexLock lock(mutex_);
    standing = backoff_.standing_deadline(key, now);
  }
  Duration delay;
  if (standing) {
    delay = *standing - now;
    queue_.add_after(key, delay, priority);
  } else {
    delay = queue_.add_rate_limited(key, priority);
  }
  MutexLock lock(mutex_);
  backoff_.end_waiting(key, deadline_after(now, delay));
  record(key, end);
  recorder_.waits(end.at, key.hash(), AddedBy::retry, delay);
  return delay;
}

// What the gate held during the run must be seen by another one.
void GatedQueue::end_without_retry(const RequestKey& key, const RunEnd& end, std::optional<Duration> next) {
  std::optional<BackoffCore::Held> held;
  {
    MutexLock lock(mutex_);
    if (gated_) held = backoff_.end(key);
    record(key, end);
    if (next) recorder_.waits(end.at, key.hash(), AddedBy::requeue, *next);
  }
  if (held) add(key, {.priority = held->priority}, held->since, {.by = AddedBy::held});
}

void GatedQueue::end_for_good(const RequestKey& key, const RunEnd& end) {
  MutexLock lock(mutex_);
  record(key, end);
}

LatencyHistogram GatedQueue::latency() const {
  MutexLock lock(mutex_);
  return latency_;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
