// SPDX-License-Identifier: Apache-2.0
#include "controller/gated_queue.hpp"

#include <algorithm>
#include <utility>

#include <evenkeel/workqueue/fair_store.hpp>

#include "client/request/write_log.hpp"
#include "controller/own_write.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

RequestQueueOptions queue_options(const ControllerOptions& chosen, std::shared_ptr<const Clock> clock) {
  RequestQueueOptions options{.name = chosen.name,
                              .readd = chosen.readd,
                              .debounce = chosen.debounce,
                              .min_interval = chosen.min_interval,
                              .clock = std::move(clock)};
  if (chosen.limiter) options.limiter = chosen.limiter();
  if (chosen.store) {
    options.store = chosen.store();
  } else if (chosen.runs_in != RunsIn::home_cluster) {
    const std::size_t runs = chosen.in_flight.value_or(chosen.workers.value_or(1));
    const std::size_t cap = chosen.per_cluster.value_or((runs + 1) / 2);
    options.store = fair_store<RequestKey>(by_cluster(), {.cap = static_cast<std::uint32_t>(cap)});
  }
  return options;
}

}  // namespace

GatedQueue::GatedQueue(const ControllerOptions& options, std::shared_ptr<const Clock> clock,
                       std::function<void(TimePoint)> schedule_stuck_check, ControllerWrites own)
    : clock_(std::move(clock)),
      schedule_stuck_check_(std::move(schedule_stuck_check)),
      own_(std::move(own)),
      gated_(options.gate.value_or(EventGate::on) == EventGate::on),
      debounce_(options.debounce),
      holds_back_(options.debounce.quiet > Duration::zero() || options.min_interval > Duration::zero()),
      queue_(queue_options(options, clock_)),
      gate_(gated_),
      journal_(options.flight_recorder_bytes) {
  if (own_.log && gated_) own_.log->enable();
}

// ---- Engaged clusters

void GatedQueue::enter(const std::string& cluster, ControllerWrites own) {
  if (own.log && gated_) own.log->enable();
  MutexLock lock(clusters_mutex_);
  clusters_[cluster].own = std::move(own);
}

void GatedQueue::leave(std::string_view cluster) {
  std::unordered_set<RequestKey> waiting;
  {
    MutexLock lock(clusters_mutex_);
    const auto found = clusters_.find(cluster);
    if (found == clusters_.end()) return;
    waiting.swap(found->second.waiting);
    clusters_.erase(found);
  }
  for (const RequestKey& key : waiting) queue_.add(key);
}

void GatedQueue::wait_for(const RequestKey& key, Duration delay, Priority priority) {
  queue_.add_after(key, delay, priority);
  note_waiting(key);
}

// A key of a cluster that has left meanwhile does not wait: a worker takes and drops it.
void GatedQueue::note_waiting(const RequestKey& key) {
  if (key.cluster().empty()) return;
  {
    MutexLock lock(clusters_mutex_);
    if (const auto found = clusters_.find(key.cluster()); found != clusters_.end()) {
      found->second.waiting.insert(key);
      return;
    }
  }
  queue_.add(key);
}

void GatedQueue::note_taken(const RequestKey& key) {
  if (key.cluster().empty()) return;
  MutexLock lock(clusters_mutex_);
  if (const auto found = clusters_.find(key.cluster()); found != clusters_.end())
    found->second.waiting.erase(key);
}

ControllerWrites GatedQueue::writes_in(const RequestKey& key) const {
  if (key.cluster().empty()) return own_;
  MutexLock lock(clusters_mutex_);
  const auto found = clusters_.find(key.cluster());
  return found == clusters_.end() ? ControllerWrites() : found->second.own;
}

void GatedQueue::stop() noexcept {
  {
    MutexLock lock(mutex_);
    stopped_ = true;
  }
  queue_.shut_down_now();
}

void GatedQueue::note_refused(std::uint64_t key, TimePoint at, const Origin& origin) {
  MutexLock lock(mutex_);
  journal_.on_event(at, key, origin, EventFate::refused);
}

void GatedQueue::begin_running(TimePoint now) {
  MutexLock lock(mutex_);
  journal_.on_start(now);
}

void GatedQueue::add(const RequestKey& key, const KeyOptions& options, TimePoint arrival,
                     const Origin& origin) {
  if (options.delay > Duration::zero()) return add_unasked(key, options, arrival, origin);
  {
    MutexLock lock(mutex_);
    if (stopped_) return;
    journal_.on_arrival(key, arrival);
    journal_.on_event(arrival, key.hash(), origin, EventFate::added);
  }
  queue_.add(key, options.priority);
  if (holds_back_) note_waiting(key);
}

void GatedQueue::add_unasked(const RequestKey& key, const KeyOptions& options, TimePoint now,
                             const Origin& origin) {
  {
    MutexLock lock(mutex_);
    journal_.on_event(now, key.hash(), origin, EventFate::added);
  }
  if (options.delay > Duration::zero()) return wait_for(key, options.delay, options.priority);
  queue_.add(key, options.priority);
  if (holds_back_) note_waiting(key);
}

// ---- Events of the reconciled object

bool GatedQueue::is_own(const RequestKey& key, const Change& change) const {
  const ControllerWrites own = writes_in(key);
  return is_own_write(change, own.log ? own.log->writes_to(change.after.uid(), own.writer) : LoggedWrites());
}

bool GatedQueue::are_own(const RequestKey& key, const BackoffCore::Held& held) const {
  return !held.beyond_limit && std::all_of(held.changes.begin(), held.changes.end(),
                                           [&](const Change& change) { return is_own(key, change); });
}

// A resync, which changes nothing, gives no reason either.
bool GatedQueue::may_be_own(const RequestKey& key, const ObjectEvent& event) const {
  if (!may_be_own_write(event)) return false;
  const WireObject& now = *event.object;
  if (now.resource_version() == event.old->resource_version()) return true;
  const ControllerWrites own = writes_in(key);
  return own.log && own.log->may_have_written({.namespace_ = now.namespace_(),
                                               .name = now.name(),
                                               .uid = now.uid(),
                                               .version = now.resource_version()},
                                              own.writer);
}

bool GatedQueue::is_tracked(const RequestKey& key) const {
  MutexLock lock(mutex_);
  return gate_.is_tracked(key);
}

// In this order, because comparing two states of an object is expensive: it is done only for a key in
// back-off, and outside of the lock. What cannot be an own write is added while its key runs, so that the key
// has the position at which it was added.
AddVerdict GatedQueue::add_primary(const RequestKey& key, const KeyOptions& options, TimePoint arrival,
                                   const Origin& origin, const ObjectEvent& event) {
  if (is_tracked(key) && may_be_own(key, event)) {
    const BackoffCore::Update update{options.priority, arrival, options.delay};
    const Change change{*event.old, *event.object};
    const BackoffCore::Verdict verdict = on_update(key, update, origin, change);
    if (verdict == BackoffCore::Verdict::held) return AddVerdict::held;
    if (verdict == BackoffCore::Verdict::decide && is_own(key, change))
      return add_own_write(key, update, origin);
  }
  add(key, options, arrival, origin);
  return AddVerdict::queued;
}

// The queue comes first: the failure of a run that ends in between is forgotten at its end.
void GatedQueue::renew(const RequestKey& key) {
  const TimePoint now = clock_->now();
  queue_.renew(key);
  MutexLock lock(mutex_);
  gate_.on_renewed(key);
  if (journal_.on_renewed(now, key)) renewed_.insert(key);
}

BackoffCore::Verdict GatedQueue::on_update(const RequestKey& key, const BackoffCore::Update& update,
                                           const Origin& origin, const Change& change) {
  MutexLock lock(mutex_);
  const BackoffCore::Verdict verdict = gate_.on_update(key, update, change);
  if (verdict == BackoffCore::Verdict::held)
    journal_.on_event(update.at, key.hash(), origin, EventFate::held);
  return verdict;
}

// The queue is called under the lock, so that the arrival of an event that is left out is never seen.
AddVerdict GatedQueue::add_own_write(const RequestKey& key, const BackoffCore::Update& update,
                                     const Origin& origin) {
  MutexLock lock(mutex_);
  if (stopped_) return AddVerdict::waits;
  const BackoffCore::Verdict verdict = gate_.on_own_write(key, update);
  if (verdict == BackoffCore::Verdict::held) {
    journal_.on_event(update.at, key.hash(), origin, EventFate::held);
    return AddVerdict::held;
  }
  if (update.delay > Duration::zero()) return add_own_write_later(key, update, origin);
  const bool first = journal_.on_arrival(key, update.at);
  if (verdict == BackoffCore::Verdict::add) {
    queue_.add(key, update.priority);
  } else if (!queue_.add_unless_waiting(key, update.priority)) {
    if (first) journal_.forget_arrival(key);
    journal_.on_event(update.at, key.hash(), origin, EventFate::waits);
    return AddVerdict::waits;
  }
  if (holds_back_) note_waiting(key);
  journal_.on_event(update.at, key.hash(), origin, EventFate::added);
  return AddVerdict::queued;
}

// The key does not run. While its deadline stands, its retry sees the change of the event.
AddVerdict GatedQueue::add_own_write_later(const RequestKey& key, const BackoffCore::Update& update,
                                           const Origin& origin) {
  const bool waits = gate_.standing_deadline(key, update.at).has_value();
  journal_.on_event(update.at, key.hash(), origin, waits ? EventFate::waits : EventFate::added);
  if (waits) return AddVerdict::waits;
  wait_for(key, update.delay, update.priority);
  return AddVerdict::queued;
}

// Delay and debounce count from the events, as if they had been added when they came.
void GatedQueue::add_held(const RequestKey& key, const BackoffCore::Held& held) {
  const TimePoint now = clock_->now();
  const bool delayed = held.delay > Duration::zero();
  const TimePoint due = delayed ? deadline_after(held.first, held.delay)
                                : std::min(deadline_after(held.last, debounce_.quiet),
                                           deadline_after(held.first, debounce_.max_wait));
  {
    MutexLock lock(mutex_);
    if (stopped_) return;
    if (!delayed) journal_.on_arrival(key, held.first);
    journal_.on_event(now, key.hash(), {.by = AddedBy::held}, EventFate::added);
  }
  wait_for(key, std::max(due - now, Duration::zero()), held.priority);
}

// ---- Doubts

void GatedQueue::add_owner(const RequestKey& key, const KeyOptions& options, TimePoint arrival,
                           const Origin& origin, const ObjectEvent& event) {
  const ControllerWrites own = writes_in(key);
  if (own.log && gated_ && own.log->cares_for(event.object->uid(), own.writer)) doubt(key);
  add(key, options, arrival, origin);
}

void GatedQueue::doubt(const RequestKey& key) {
  MutexLock lock(doubts_mutex_);
  doubts_.insert(key);
  doubt_count_.store(doubts_.size(), std::memory_order_release);
}

bool GatedQueue::take_doubt(const RequestKey& key) noexcept {
  if (doubt_count_.load(std::memory_order_acquire) == 0) return false;
  MutexLock lock(doubts_mutex_);
  const bool doubted = doubts_.erase(key) != 0;
  doubt_count_.store(doubts_.size(), std::memory_order_release);
  return doubted;
}

// ---- Runs

// Without this, events would leave the key to a retry that the queue no longer has.
void GatedQueue::drop(const RequestKey& key) {
  note_taken(key);
  static_cast<void>(take_doubt(key));
  queue_.forget(key);
  MutexLock lock(mutex_);
  gate_.on_run_started(key);
  static_cast<void>(gate_.on_run_ended(key));
  journal_.forget_arrival(key);
}

void GatedQueue::requeue(const RequestKey& key, Duration delay, Priority priority) {
  wait_for(key, delay, priority);
}

// Events find a key that waits, and no retry that could cover them.
void GatedQueue::defer(const RequestKey& key, Duration delay, Priority priority) {
  wait_for(key, delay, priority);
  MutexLock lock(mutex_);
  gate_.on_run_started(key);
  static_cast<void>(gate_.on_run_ended(key));
}

std::optional<Duration> GatedQueue::begin(const RequestKey& key, const FlightRun& run) {
  note_taken(key);
  MutexLock lock(mutex_);
  gate_.on_run_started(key);
  const RunStart start = journal_.on_run_started(key, run);
  lock.unlock();
  if (start.stuck_check_due && schedule_stuck_check_) schedule_stuck_check_(*start.stuck_check_due);
  return start.waited;
}

StuckCheck GatedQueue::look_for_stuck(TimePoint now) {
  MutexLock lock(mutex_);
  return journal_.on_timeout(now);
}

// The queue is called before the gate: a thread that meets a key that no longer runs meets one that waits.
// The time is read first, so that the gate's deadline is never later than the queue's: the retry must not
// look early. Held events are decided last and outside of the lock: the key still belongs to this worker, and
// an event that comes now is decided when it arrives.
Duration GatedQueue::back_off(const RequestKey& key, Priority priority, const RunEnd& end) {
  const TimePoint now = clock_->now();
  std::optional<TimePoint> standing;
  {
    MutexLock lock(mutex_);
    standing = gate_.standing_deadline(key, now);
  }
  Duration delay;
  if (standing) {
    delay = *standing - now;
    queue_.add_after(key, delay, priority);
  } else {
    delay = queue_.add_rate_limited(key, priority);
  }
  note_waiting(key);
  std::optional<BackoffCore::Held> held;
  bool renewed = false;
  {
    MutexLock lock(mutex_);
    renewed = end_run(key, end);
    held = renewed ? gate_.on_run_ended(key) : gate_.on_run_failed(key, deadline_after(now, delay));
    if (!renewed) journal_.on_wait(end.at, key, AddedBy::retry, delay);
  }
  if (renewed) queue_.renew(key);
  if (held && (renewed || !are_own(key, *held))) add_held(key, *held);
  return delay;
}

/// Returns true if the key is that of another object since the run began, which knows nothing of the run.
bool GatedQueue::end_run(const RequestKey& key, const RunEnd& end) {
  const bool renewed = !renewed_.empty() && renewed_.erase(key) != 0;
  renewed ? journal_.on_run_dropped(end.at, key) : journal_.on_run_ended(key, end);
  return renewed;
}

// Another run must see the events that the gate held during this one.
void GatedQueue::end_without_retry(const RequestKey& key, const RunEnd& end, std::optional<Duration> next) {
  std::optional<BackoffCore::Held> held;
  {
    MutexLock lock(mutex_);
    held = gate_.on_run_ended(key);
    if (!end_run(key, end) && next) journal_.on_wait(end.at, key, AddedBy::requeue, *next);
  }
  if (held) add_held(key, *held);
}

void GatedQueue::end_for_good(const RequestKey& key, const RunEnd& end) {
  MutexLock lock(mutex_);
  end_run(key, end);
}

LatencyHistogram GatedQueue::latency() const {
  MutexLock lock(mutex_);
  return journal_.latency();
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
