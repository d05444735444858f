// SPDX-License-Identifier: Apache-2.0
// The clock of a harness: work that is due, waits, and what ends them.
#include <algorithm>

#include "apiserver/text/seconds_text.hpp"
#include "base/earlier.hpp"
#include "testing/harness/harness_impl.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing {
namespace {

using evenkeel::detail::earlier;

/// Limit of a wait without a deadline; a run that waits longer is considered blocked.
constexpr Duration patience = std::chrono::hours{1};

}  // namespace

// Does the work that is due now, except runs.
std::size_t Harness::Impl::turn() {
  const auto work = [this] {
    std::size_t done = transport_->pump();
    if (options_.hooks) done += options_.hooks->pump();
    return done + process_->cache.pump() + process_->events.pump();
  };
  std::size_t total = 0;
  while (const std::size_t done = work()) total += done;
  return total;
}

// A thread waits: do the work that is due; if there is none, advance the clock.
void Harness::Impl::pass(TimePoint deadline) {
  if (running_ && is_dead()) throw Error("Harness: the process has crashed");
  if (turn() > 0) return;
  std::optional<TimePoint> next = next_event();
  if (deadline != TimePoint::max()) next = earlier(next, deadline);
  const bool impatient = running_ && clock_->now() - run_start_ > patience;
  if (impatient && options_.hooks)
    throw Error("Harness: at " + apiserver::seconds_text(elapsed()) + " a run has taken more than an hour");
  if (!next || (impatient && deadline == TimePoint::max()))
    throw Error("Harness: at " + apiserver::seconds_text(elapsed()) +
                " a thread waits without a deadline, and nothing can wake it");
  move_to(*next);
}

void Harness::Impl::move_to(TimePoint when) {
  clock_->advance_to(when);
  while (!actions_.empty() && actions_.begin()->first <= clock_->now()) {
    const auto action = std::move(actions_.begin()->second);
    actions_.erase(actions_.begin());
    action();
  }
  turn();
}

bool Harness::Impl::all_synced() const {
  const auto health = process_->cache.health();
  return std::all_of(health.begin(), health.end(),
                     [](const CollectionHealth& one) { return one.informer.synced; });
}

// Returns the time of the next event of any kind.
std::optional<TimePoint> Harness::Impl::next_event() const {
  const TimePoint now = clock_->now();
  std::optional<TimePoint> next;
  const auto consider = [&](std::optional<TimePoint> at) {
    if (at && *at > now) next = earlier(next, at);
  };
  consider(transport_->next_due());
  consider(process_->cache.next_due());
  consider(process_->events.next_due());
  if (!actions_.empty()) consider(actions_.begin()->first);
  return next;
}

// Returns the time of the next event that a test would wait for: bookmarks and timeouts of watches recur
// without end and change nothing.
std::optional<TimePoint> Harness::Impl::next_work() const {
  std::optional<TimePoint> next = transport_->next_wanted();
  if (!actions_.empty()) next = earlier(next, actions_.begin()->first);
  next = earlier(next, process_->events.next_write_due());
  if (process_->events.is_writing()) next = earlier(next, transport_->next_due());
  for (const auto& controller : process_->controllers) next = earlier(next, controller->next_due());
  for (const CollectionHealth& one : process_->cache.health()) {
    if (one.informer.activity != "watching" || !one.informer.synced) next = earlier(next, next_event());
  }
  return next;
}

bool Harness::Impl::work_until(TimePoint end) {
  const std::size_t before = runs_.size();
  for (;;) {
    while (clock_->now() <= end && step() != nullptr) {
      if (runs_.size() - before > options_.max_runs) throw TooManyRuns(story_of_last());
    }
    if (clock_->now() > end) return false;  // a run took longer
    std::optional<TimePoint> work = next_work();
    // A key that is due and was not run waits for the first list of another watch.
    if (work && *work <= clock_->now()) work = next_event();
    if (options_.hooks && options_.hooks->on_idle(work && *work <= end)) continue;
    if (!work || *work > end) return !work;
    move_to(*earlier(work, next_event()));
  }
}

bool Harness::Impl::settle(Duration limit) {
  const TimePoint end = deadline_after(clock_->now(), limit);
  if (work_until(end)) return true;
  run_for(end - clock_->now());
  return false;
}

void Harness::Impl::run_for(Duration time) {
  const TimePoint end = deadline_after(clock_->now(), time);
  for (work_until(end); clock_->now() < end; work_until(end)) {
    const auto next = next_event();
    move_to(next ? std::min(*next, end) : end);
  }
}

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
