// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include <evenkeel/base/error.hpp>
#include <evenkeel/client/errors.hpp>
#include <evenkeel/controller/dependents_report.hpp>
#include <evenkeel/controller/result_core.hpp>

#include "base/cut_text.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

bool is_settled(const DependentStatus& dependent) {
  return dependent.state == DependentState::ready || dependent.state == DependentState::not_wanted ||
         dependent.state == DependentState::not_served;
}

// Returns "; not served: monitor"; empty if every kind is served.
std::string unserved_among(const std::vector<DependentStatus>& dependents) {
  std::string names;
  for (const DependentStatus& dependent : dependents) {
    if (dependent.state == DependentState::not_served)
      names += (names.empty() ? "; not served: " : ", ") + dependent.name;
  }
  return names;
}

std::string describe(const DependentStatus& dependent) {
  return dependent.message.empty() ? dependent.name : dependent.name + ": " + dependent.message;
}

// Returns a text that fits into a status: errors of a server may be long.
std::string shortened(std::string text) {
  constexpr std::size_t longest = 1024;
  return text.size() <= longest ? text : detail::cut_text(text, longest) + "...";
}

// Returns when the next pass has to look, if no event causes it.
Result look_again(const std::vector<DependentStatus>& dependents) {
  const DependentStatus* first = nullptr;
  for (const DependentStatus& dependent : dependents) {
    if (dependent.recheck_after <= Duration::zero()) continue;
    if (first == nullptr || dependent.recheck_after < first->recheck_after) first = &dependent;
  }
  if (first == nullptr) return done();
  return requeue_after(first->recheck_after, describe(*first)).with_priority(Lane::slow);
}

// Returns the failure that decides when the run is repeated: that which is retried soonest.
std::size_t decisive(const std::vector<DependentStatus>& failed) {
  std::size_t best = failed.size() - 1;
  const auto rank = [&](std::size_t at) {
    switch (outcome_of(failed[at].error, false).kind) {
      case OutcomeKind::terminal_error:
        return 0;
      case OutcomeKind::conflict:
        return 1;
      default:
        return 2;
    }
  };
  for (std::size_t at = failed.size(); at-- > 0;) {
    if (rank(at) > rank(best)) best = at;
  }
  return best;
}

}  // namespace

std::string_view state_name(DependentState state) noexcept {
  switch (state) {
    case DependentState::ready:
      return "Ready";
    case DependentState::not_ready:
      return "NotReady";
    case DependentState::waiting:
      return "Waiting";
    case DependentState::not_wanted:
      return "NotWanted";
    case DependentState::deleting:
      return "Deleting";
    case DependentState::not_served:
      return "NotServed";
    case DependentState::failed:
      break;
  }
  return "Failed";
}

DependentsReport::DependentsReport(std::string owner, std::vector<DependentStatus> dependents)
    : owner_(std::move(owner)), dependents_(std::move(dependents)) {}

const DependentStatus& DependentsReport::at(std::string_view name) const {
  std::string names;
  for (const DependentStatus& dependent : dependents_) {
    if (dependent.name == name) return dependent;
    names += (names.empty() ? "" : ", ") + dependent.name;
  }
  throw std::invalid_argument("dependents of " + owner_ + ": none is named \"" + std::string(name) +
                              "\"; there are: " + names);
}

const DependentStatus* DependentsReport::first_problem() const noexcept {
  const DependentStatus* first = nullptr;
  for (const DependentStatus& dependent : dependents_) {
    if (dependent.state == DependentState::failed) return &dependent;
    if (first == nullptr && !is_settled(dependent)) first = &dependent;
  }
  return first;
}

Condition DependentsReport::condition(std::string type) const {
  const DependentStatus* const blocked_by = first_problem();
  if (blocked_by == nullptr)
    return {.type = std::move(type),
            .status = "True",
            .reason = std::string(state_name(DependentState::ready)),
            .message = shortened("all dependents are ready" + unserved_among(dependents_))};
  return {.type = std::move(type),
          .status = "False",
          .reason = std::string(state_name(blocked_by->state)),
          .message = shortened(describe(*blocked_by))};
}

void DependentsReport::write_conditions(std::vector<Condition>& conditions, std::int64_t generation,
                                        WallTime now, DependentConditions which) const {
  if (which == DependentConditions::none) return;
  const auto write = [&](Condition condition) {
    condition.observed_generation = generation;
    set_condition(conditions, std::move(condition), now);
  };
  write(condition());
  if (which != DependentConditions::each) return;
  for (const DependentStatus& dependent : dependents_) {
    std::string type = detail::dependent_condition_type(dependent.name);
    if (!dependent.declared || dependent.state == DependentState::not_wanted) {
      remove_condition(conditions, type);
    } else {
      write({.type = std::move(type),
             .status = dependent.state == DependentState::ready ? "True" : "False",
             .reason = std::string(state_name(dependent.state)),
             .message = shortened(dependent.message)});
    }
  }
}

Result DependentsReport::result() const {
  std::vector<DependentStatus> failed;
  for (const DependentStatus& dependent : dependents_) {
    if (dependent.error) failed.push_back(dependent);
  }
  if (failed.empty()) return look_again(dependents_);
  // The message of the nested error follows that of this one, so its name comes last.
  const std::size_t last = decisive(failed);
  std::string text = "dependents of " + owner_ + " failed: ";
  for (std::size_t at = 0; at < failed.size(); ++at) {
    if (at != last) text += describe(failed[at]) + "; ";
  }
  try {
    std::rethrow_exception(failed[last].error);
  } catch (...) {
    std::throw_with_nested(Error(text + failed[last].name));
  }
}

std::string DependentsReport::str() const {
  std::string text;
  for (const DependentStatus& dependent : dependents_) {
    if (!text.empty()) text += "; ";
    text += dependent.name + ": " + std::string(state_name(dependent.state));
    if (!dependent.message.empty()) text += ": " + dependent.message;
  }
  return text;
}

namespace detail {

std::string dependent_condition_type(std::string_view name) {
  std::string type;
  bool begins = true;
  for (const char c : name) {
    if (c == '-') {
      begins = true;
      continue;
    }
    type += begins && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    begins = false;
  }
  return type + "Ready";
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
