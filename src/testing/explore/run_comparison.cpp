// SPDX-License-Identifier: Apache-2.0
#include "testing/explore/run_comparison.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <evenkeel/testing/differences.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {
namespace {

constexpr std::size_t runs_allowed = 20;

std::string times(std::size_t count) {
  return count == 0 ? "never" : count == 1 ? "once" : std::to_string(count) + " times";
}

// Number of effects by object.
using Tally = std::map<std::string, std::size_t>;

template <class Counts>
Tally tally_of(const Trace& trace, Counts counts) {
  Tally tally;
  for (const TracedWrite& write : trace.writes) {
    if (!write.of_workload && !is_incidental(write.resource) && counts(write)) ++tally[write.object];
  }
  return tally;
}

bool creates(const TracedWrite& write) {
  return write.creates();
}
bool deletes(const TracedWrite& write) {
  return write.deletes();
}

std::size_t count_in(const Tally& tally, const std::string& object) {
  const auto found = tally.find(object);
  return found == tally.end() ? 0 : found->second;
}

void compare_tallies(const Tally& reference, const Tally& run, ProblemKind kind, const std::string& verb,
                     std::vector<Problem>& out) {
  Tally all = reference;
  all.insert(run.begin(), run.end());
  for (const auto& [object, count] : all) {
    const std::size_t wanted = count_in(reference, object);
    const std::size_t found = count_in(run, object);
    if (wanted == found) continue;
    const std::string is = found == 0 ? "was never " + verb : "was " + verb + " " + times(found);
    out.push_back({kind, object + " " + is + "; in the reference " + times(wanted)});
  }
}

std::string identity(const TracedWrite& write, const Json& object) {
  return write.object + " " + object.at({"metadata", "uid"}).string_or("");
}

// Finds deletions by the operator of objects that exist in the reference and stay there.
void find_losses(const RunRecord& reference, const RunRecord& run, std::vector<Problem>& out) {
  std::set<std::string> kept;
  for (const TracedWrite& write : reference.trace.writes) {
    if (write.creates()) kept.insert(identity(write, write.after));
    if (write.deletes()) kept.erase(identity(write, write.before));
  }
  for (const TracedWrite& write : run.trace.writes) {
    if (write.of_workload || !write.deletes() || !kept.contains(identity(write, write.before))) continue;
    if (!reference.end.contains(write.object) && !write.object.ends_with('*')) continue;
    out.push_back({ProblemKind::deletions, write.object + " was deleted; the reference keeps it"});
  }
}

std::string finalizer_note(const Json& object) {
  const Json& metadata = object["metadata"];
  if (metadata["deletionTimestamp"].is_null()) return {};
  std::string names;
  for (std::size_t at = 0; at < metadata["finalizers"].size(); ++at)
    names += (at == 0 ? "" : ", ") + metadata["finalizers"][at].string_or("");
  return " (it is being deleted, and waits for " + (names.empty() ? "nothing" : names) + ")";
}

std::string orphan_note(const Json& object) {
  const Json& owners = object.at({"metadata", "ownerReferences"});
  for (std::size_t at = 0; at < owners.size(); ++at) {
    if (owners[at]["uid"] == Json("<uid of nothing>"))
      return " (its owner " + owners[at]["kind"].string_or("") + " " + owners[at]["name"].string_or("") +
             " does not exist)";
  }
  return {};
}

void check_end(const RunRecord& run, std::vector<Problem>& out) {
  if (!run.workload_error.empty())
    out.push_back({ProblemKind::workload, "the workload failed: " + run.workload_error});
  if (!run.stopped.empty()) out.push_back({ProblemKind::unsettled, "it does not settle: " + run.stopped});
  for (const std::string& change : run.late_changes)
    out.push_back({ProblemKind::unstable, "once settled, another run of each key does: " + change});
  for (const std::string& change : run.late_changes_outside)
    out.push_back(
        {ProblemKind::unstable, "once settled, another run of each key changes outside: " + change});
}

// Steps after which states may be skipped legitimately, and work done for a state that is gone.
bool hides_states(const Plan& plan) {
  return std::any_of(plan.steps.begin(), plan.steps.end(), [](const PlanStep& step) {
    return step.kind == PlanStepKind::stale_restart || step.kind == PlanStepKind::downtime ||
           step.kind == PlanStepKind::withheld;
  });
}

void compare_writes(const RunRecord& reference, const RunRecord& run, bool hidden,
                    std::vector<Problem>& out) {
  if (hidden) return find_losses(reference, run, out);
  compare_tallies(tally_of(reference.trace, creates), tally_of(run.trace, creates), ProblemKind::creations,
                  "created", out);
  compare_tallies(tally_of(reference.trace, deletes), tally_of(run.trace, deletes), ProblemKind::deletions,
                  "deleted", out);
}

std::vector<std::string> changes_outside(const RunRecord& reference, const RunRecord& run) {
  return reference.outside && run.outside ? reference.outside->changes_to(*run.outside)
                                          : std::vector<std::string>();
}

// Returns the first points in which two runs differ; empty if there are none.
std::string difference_of_points(const Trace& first, const Trace& second) {
  const auto text = [](const Trace& trace, std::size_t at) {
    return at < trace.points.size() ? trace.points[at].moment.str() : "none";
  };
  for (std::size_t at = 0; at < std::max(first.points.size(), second.points.size()); ++at) {
    if (text(first, at) != text(second, at))
      return "at point " + std::to_string(at + 1) + ": " + text(first, at) + ", then " + text(second, at);
  }
  return {};
}

std::string line_of(const TracedWrite& write) {
  return write.moment.str() + " " + write.before.dump() + " -> " + write.after.dump();
}

}  // namespace

std::vector<std::string> end_differences(const EndState& reference, const EndState& run) {
  std::vector<std::string> lines;
  for (const auto& [object, wanted] : reference) {
    const auto found = run.find(object);
    if (found == run.end()) {
      lines.push_back(object + " is missing at the end");
      continue;
    }
    for (const std::string& line : differences(wanted, found->second))
      lines.push_back(object + " differs at the end from the reference: " + line);
  }
  for (const auto& [object, found] : run) {
    if (reference.contains(object)) continue;
    lines.push_back(object + " exists at the end, but not in the reference" + finalizer_note(found) +
                    orphan_note(found));
  }
  return lines;
}

std::vector<Problem> problems_of(const RunRecord& reference) {
  std::vector<Problem> problems;
  check_end(reference, problems);
  return problems;
}

std::vector<Problem> differences_of(const RunRecord& first, const RunRecord& second) {
  const auto& left = first.trace.writes;
  const auto& right = second.trace.writes;
  for (std::size_t at = 0; at < std::min(left.size(), right.size()); ++at) {
    if (line_of(left[at]) == line_of(right[at])) continue;
    std::string text =
        "two runs without any fault differ at write " + std::to_string(at + 1) + ": " + left[at].moment.str();
    if (left[at].moment == right[at].moment) {
      for (const std::string& line : differences(left[at].after, right[at].after)) text += "; " + line;
    } else {
      text += ", then " + right[at].moment.str();
    }
    return {{ProblemKind::not_repeatable, text}};
  }
  const std::string start = "two runs without any fault differ";
  if (left.size() != right.size())
    return {{ProblemKind::not_repeatable,
             start + ": " + std::to_string(left.size()) + " writes, then " + std::to_string(right.size())}};
  if (const std::string points = difference_of_points(first.trace, second.trace); !points.empty())
    return {{ProblemKind::not_repeatable, start + " " + points}};
  std::vector<Problem> problems;
  for (const std::string& change : changes_outside(first, second))
    problems.push_back({ProblemKind::not_repeatable, start + " outside: " + change});
  return problems;
}

std::vector<Problem> compare_run(const RunRecord& reference, const RunRecord& run, const Plan& plan,
                                 const ExploreOptions& options) {
  std::vector<Problem> problems;
  for (const PlanStep& step : run.missed)
    problems.push_back({ProblemKind::not_reached, "this step never took effect: " + step.str()});
  for (const PlanStep& step : plan.steps) {
    if (step.kind == PlanStepKind::stale_restart && reference.trace.find(step.other) == nullptr)
      problems.push_back({ProblemKind::not_reached, "the reference has no " + step.other.str()});
  }
  for (const std::string& write : run.late_writes)
    problems.push_back({ProblemKind::not_leader, "a write was sent after leadership was lost: " + write});
  compare_writes(reference, run, hides_states(plan), problems);
  for (std::string& line : end_differences(reference.end, run.end))
    problems.push_back({ProblemKind::end_state, std::move(line)});
  for (const std::string& change : changes_outside(reference, run))
    problems.push_back({ProblemKind::outside, "outside differs at the end from the reference: " + change});
  check_end(run, problems);
  if (reference.settled && !run.settled && run.stopped.empty())
    problems.push_back({ProblemKind::unsettled, "work is left when the time is over"});
  if (run.runs > options.run_factor * reference.runs + runs_allowed)
    problems.push_back({ProblemKind::too_many_runs, std::to_string(run.runs) + " runs; in the reference " +
                                                        std::to_string(reference.runs)});
  for (const std::string& text : run.exceptions) {
    if (!reference.exceptions.contains(text))
      problems.push_back({ProblemKind::exception, "a reconcile threw: " + text});
  }
  return problems;
}

bool is_blocked(const RunRecord& run, const Plan& plan) {
  return !run.workload_error.empty() &&
         std::any_of(plan.steps.begin(), plan.steps.end(),
                     [](const PlanStep& step) { return step.kind == PlanStepKind::withheld; });
}

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
