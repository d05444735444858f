// SPDX-License-Identifier: Apache-2.0
// Source: the rules of Sieve (OSDI'22) for intermediate, stale and unobserved states;
// sieve_perturbation_policies/.
#include "testing/explore/enumerator.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <evenkeel/testing/differences.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {
namespace {

class Enumerator {
 public:
  Enumerator(const Trace& trace, const WatchedKinds& watched, const ExploreOptions& options);
  Plans run();

 private:
  using Index = std::size_t;

  bool all() const { return options_.scope == ExploreScope::all; }
  const TracedWrite& write(Index at) const { return trace_.writes[at]; }
  // Returns true if caches may still show the state before a change when another one is made.
  bool is_recent(Index change, Index later) const {
    return write(later).at - write(change).at <= options_.max_staleness;
  }
  bool is_seen(Index at) const { return noticed_.is_watched(write(at)); }
  // Adds the plan, or counts it as pruned; `is_noticed`: what it hides can make a difference.
  void add(bool matters, PlanStep step, bool is_noticed = true);

  void add_crashes();
  void add_faults();
  void add_losses();
  void add_overtakings();
  void add_downtimes();
  void add_stale_restarts();
  void add_stale_restarts_of(Index change);
  void add_windows();
  void add_windows_of(Index change);
  void add_pairs();
  std::set<Index> telling_restarts(Index change) const;
  bool is_noticed_at_restart(Index change, Index last) const;
  Index last_before_idle(Index change) const;
  bool is_noticed_late(Index change, Index last) const;
  std::vector<Index> later_changes(Index change) const;
  bool undoes(Index change, Index later) const;
  bool leads_to_change(Index at) const;
  std::size_t position(const Moment& moment) const;

  const Trace& trace_;
  const NoticedChanges noticed_;
  const ExploreOptions& options_;
  std::vector<Index> writes_;   // of the operator
  std::vector<Index> changes_;  // effective ones of anybody
  Plans plans_;
};

Enumerator::Enumerator(const Trace& trace, const WatchedKinds& watched, const ExploreOptions& options)
    : trace_(trace), noticed_(trace.reads, watched), options_(options) {
  for (Index at = 0; at < trace.writes.size(); ++at) {
    if (is_incidental(write(at).resource)) continue;
    if (!write(at).of_workload) writes_.push_back(at);
    if (write(at).effective) changes_.push_back(at);
  }
}

Plans Enumerator::run() {
  add_crashes();
  add_faults();
  add_losses();
  if (options_.replicas > 1) add_overtakings();
  add_downtimes();
  add_stale_restarts();
  add_windows();
  if (options_.steps > 1) add_pairs();
  return std::move(plans_);
}

void Enumerator::add(bool matters, PlanStep step, bool is_noticed) {
  if ((matters && is_noticed) || all()) {
    plans_.plans.push_back({{std::move(step)}});
  } else {
    ++plans_.pruned;
    if (matters) ++plans_.unread;
  }
}

// A crash right before a call outside is one after the last write or call of the same run, if there was one.
void Enumerator::add_crashes() {
  for (const Index at : writes_) add(write(at).effective, crash_after(write(at).moment));
  for (Index at = 0; at < trace_.points.size(); ++at) {
    const TracedPoint& point = trace_.points[at];
    const bool after_point = at > 0 && trace_.points[at - 1].runs == point.runs;
    const bool after_write = std::any_of(writes_.begin(), writes_.end(), [&](Index earlier) {
      return earlier < point.writes && write(earlier).effective && write(earlier).runs == point.runs;
    });
    add(!after_point && !after_write, crash_at(point.moment));
    add(true, crash_past(point.moment));
  }
}

void Enumerator::add_faults() {
  for (const Index at : writes_) {
    add(write(at).effective, lose_answer(write(at).moment));
    add(write(at).effective, refuse(write(at).moment, 500));
    add(write(at).effective && write(at).versioned, refuse(write(at).moment, 409));
  }
}

void Enumerator::add_losses() {
  for (const Index at : writes_) {
    if (!write(at).of_leader) continue;
    add(write(at).effective, lose_leadership_before(write(at).moment));
    add(write(at).effective && !leads_to_change(at), lose_leadership_after(write(at).moment));
  }
}

// Returns true if the next effect of the same run is a change by the operator: leadership that is lost right
// after this write is then lost right before that one.
bool Enumerator::leads_to_change(Index at) const {
  const auto next = std::find_if(writes_.begin(), writes_.end(), [&](Index later) {
    return later > at && write(later).effective && write(later).runs == write(at).runs;
  });
  if (next == writes_.end()) return false;
  return std::none_of(trace_.points.begin(), trace_.points.end(),
                      [&](const TracedPoint& point) { return point.writes > at && point.writes <= *next; });
}

// The call of the former leader comes when the next one has done its work, and when it has followed the next
// change of the workload.
void Enumerator::add_overtakings() {
  for (const TracedPoint& point : trace_.points) {
    if (!point.of_leader) continue;
    add(true, overtake_at(point.moment));
    const auto next = std::find_if(changes_.begin(), changes_.end(),
                                   [&](Index at) { return at >= point.writes && write(at).of_workload; });
    if (next != changes_.end()) add(true, overtake_at(point.moment, write(*next).moment));
  }
}

// A process that was down during a write of the workload was down during the next one as well, unless the
// operator did something in between.
void Enumerator::add_downtimes() {
  bool after_work = false;
  for (Index at = 0; at < trace_.writes.size(); ++at) {
    if (!write(at).of_workload) {
      after_work = true;
    } else if (write(at).effective) {
      add(std::exchange(after_work, false), down_during(write(at).moment));
    }
  }
}

// Returns the later changes of the same object, as far as caches may not show this one when they are made.
std::vector<std::size_t> Enumerator::later_changes(Index change) const {
  std::vector<Index> later;
  for (const Index at : changes_) {
    if (at > change && is_recent(change, at) && write(at).object == write(change).object) later.push_back(at);
  }
  return later;
}

void Enumerator::add_stale_restarts() {
  for (const Index change : changes_) {
    if (is_seen(change)) add_stale_restarts_of(change);
  }
}

void Enumerator::add_stale_restarts_of(Index change) {
  const std::set<Index> telling = telling_restarts(change);
  for (const Index at : changes_) {
    if (at < change || !is_recent(change, at)) continue;
    const bool matters = telling.contains(at);
    add(matters, restart_stale({.after = write(at).moment, .as_before = write(change).moment}),
        matters && is_noticed_at_restart(change, at));
  }
}

// The cache does not show a change: the process restarts right after it, right after the next and the last
// change of the object, and after the last change of all; of those after which a cache may be as old.
std::set<std::size_t> Enumerator::telling_restarts(Index change) const {
  const std::vector<Index> later = later_changes(change);
  const auto last = std::find_if(changes_.rbegin(), changes_.rend(),
                                 [&](Index at) { return at <= change || is_recent(change, at); });
  std::set<Index> telling{change, *last};
  if (!later.empty()) telling.insert({later.front(), later.back()});
  return telling;
}

// A restart hides all changes from one to another. If none of them is noticed, it is a restart with current
// caches, as after a crash or a downtime. If the first one is not, it is the plan that hides the rest.
bool Enumerator::is_noticed_at_restart(Index change, Index last) const {
  const auto first = std::find_if(changes_.begin(), changes_.end(), [&](Index at) {
    return at >= change && at <= last && noticed_.is_state_noticed(write(at));
  });
  if (first == changes_.end()) return false;
  return *first == change || !is_seen(*first) || !telling_restarts(*first).contains(last);
}

void Enumerator::add_windows() {
  for (const Index change : changes_) {
    if (is_seen(change)) add_windows_of(change);
  }
}

// A cache shows the operator's own writes at once, so that only other changes can be withheld.
void Enumerator::add_windows_of(Index change) {
  const TracedWrite& from = write(change);
  add(from.of_workload, withhold(from.resource, {.from = from.moment}, WithheldDelivery::late),
      is_noticed_late(change, last_before_idle(change)));
  for (const Index later : later_changes(change)) {
    const bool matters = from.of_workload && undoes(change, later);
    const Window window{.from = from.moment, .until = write(later).moment};
    add(matters, withhold(from.resource, window, WithheldDelivery::merged), is_noticed_late(change, later));
  }
}

// Returns the last change whose event is withheld by a window that ends when the operator is idle.
std::size_t Enumerator::last_before_idle(Index change) const {
  const auto last = std::find_if(changes_.rbegin(), changes_.rend(),
                                 [&](Index at) { return write(at).idles == write(change).idles; });
  return *last;
}

// Returns true if the window withholds an event that somebody would notice. Until then, the run is as in the
// reference.
bool Enumerator::is_noticed_late(Index change, Index last) const {
  const std::string& resource = write(change).resource;
  return std::any_of(changes_.begin(), changes_.end(), [&](Index at) {
    if (at < change || at > last) return false;
    return (write(at).resource == resource || write(at).removes()) && noticed_.is_event_noticed(write(at));
  });
}

// Returns true if a later write takes something back that a write did to an object.
bool Enumerator::undoes(Index change, Index later) const {
  const TracedWrite& first = write(change);
  const TracedWrite& second = write(later);
  if (second.deletes() || second.creates() || second.after.is_null()) return true;
  const auto path_of = [](const std::string& line) { return line.substr(0, line.find(": ")); };
  std::set<std::string> changed;
  for (const std::string& line : differences(first.before, first.after)) changed.insert(path_of(line));
  const auto lines = differences(second.before, second.after);
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
    const std::string path = path_of(line);
    return path != "metadata.resourceVersion" && path != "metadata.generation" &&
           !path.starts_with("metadata.managedFields") && changed.contains(path);
  });
}

// Two faults at different writes or points: the second one meets what is done again after the first.
void Enumerator::add_pairs() {
  std::vector<PlanStep> faults;
  for (const Plan& plan : plans_.plans) {
    const PlanStepKind kind = plan.steps.front().kind;
    if (kind == PlanStepKind::crash || kind == PlanStepKind::lost_answer ||
        kind == PlanStepKind::crash_at_point || kind == PlanStepKind::crash_past_point)
      faults.push_back(plan.steps.front());
  }
  for (const PlanStep& first : faults) {
    for (const PlanStep& second : faults) {
      if (position(first.at) < position(second.at)) plans_.plans.push_back({{first, second}});
    }
  }
}

// Returns the place of a write or a point among all of them.
std::size_t Enumerator::position(const Moment& moment) const {
  std::size_t points = 0;
  for (const TracedPoint& point : trace_.points) {
    if (point.moment == moment) return point.writes + points;
    ++points;
  }
  const Index at = static_cast<Index>(trace_.find(moment) - trace_.writes.data());
  return at + static_cast<std::size_t>(
                  std::count_if(trace_.points.begin(), trace_.points.end(),
                                [at](const TracedPoint& point) { return point.writes <= at; }));
}

}  // namespace

Plans enumerate(const Trace& trace, const WatchedKinds& watched, const ExploreOptions& options) {
  return Enumerator(trace, watched, options).run();
}

Plan shrink(Plan plan, const std::function<bool(const Plan&)>& fails) {
  for (std::size_t at = 0; plan.steps.size() > 1 && at < plan.steps.size();) {
    Plan smaller = plan;
    smaller.steps.erase(smaller.steps.begin() + static_cast<std::ptrdiff_t>(at));
    if (fails(smaller)) {
      plan = std::move(smaller);
      at = 0;
    } else {
      ++at;
    }
  }
  return plan;
}

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
