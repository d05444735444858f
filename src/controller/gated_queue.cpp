// SPDX-License-Identifier: Apache-2.0
#include "controller/gated_queue.hpp"

#include <utility>

namespace evenkeel::inline v0::detail {
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

GatedQueue::GatedQueue(const ControllerOptions& options, std::shared_ptr<const Clock> clock)
    : clock_(std::move(clock)),
      gated_(options.gate.value_or(EventGate::on) == EventGate::on),
      queue_(queue_options(options, clock_)) {}

void GatedQueue::stop() noexcept {
  {
    MutexLock lock(mutex_);
    stopped_ = true;
  }
  queue_.shut_down_now();
}

void GatedQueue::add(const RequestKey& key, Priority priority, TimePoint arrival) {
  {
    MutexLock lock(mutex_);
    if (stopped_) return;
    arrivals_.try_emplace(key, arrival);
  }
  queue_.add(key, priority);
}

bool GatedQueue::concerns(const RequestKey& key) const {
  if (!gated_) return false;
  MutexLock lock(mutex_);
  return backoff_.concerns(key);
}

// The queue is asked under the lock, so that the arrival of an event that is left out is never seen.
AddVerdict GatedQueue::add_minor(const RequestKey& key, Priority priority, TimePoint arrival) {
  MutexLock lock(mutex_);
  if (stopped_) return AddVerdict::waits;
  const BackoffCore::Verdict verdict = backoff_.minor_event(key, priority, arrival);
  if (verdict == BackoffCore::Verdict::held) return AddVerdict::held;
  const bool first = arrivals_.try_emplace(key, arrival).second;
  if (verdict == BackoffCore::Verdict::add) {
    queue_.add(key, priority);
  } else if (!queue_.add_unless_waiting(key, priority)) {
    if (first) arrivals_.erase(key);
    return AddVerdict::waits;
  }
  return AddVerdict::queued;
}

std::optional<Duration> GatedQueue::begin(const RequestKey& key) {
  MutexLock lock(mutex_);
  if (gated_) backoff_.begin(key);
  const auto arrival = arrivals_.extract(key);
  if (!arrival) return std::nullopt;
  const Duration waited = clock_->now() - arrival.mapped();
  latency_.record(waited);
  return waited;
}

// The queue is told before the gate: whoever meets a key that does not run any more meets one that waits. The
// time is read first, so that the gate's deadline is never later than the queue's: the retry must not look
// early.
Duration GatedQueue::back_off(const RequestKey& key, Priority priority) {
  if (!gated_) return queue_.add_rate_limited(key, priority);
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
  return delay;
}

// What the gate held during the run must be seen by another one.
void GatedQueue::end_without_retry(const RequestKey& key) {
  if (!gated_) return;
  std::optional<BackoffCore::Held> held;
  {
    MutexLock lock(mutex_);
    held = backoff_.end(key);
  }
  if (held) add(key, held->priority, held->since);
}

LatencyHistogram GatedQueue::latency() const {
  MutexLock lock(mutex_);
  return latency_;
}

}  // namespace evenkeel::inline v0::detail
