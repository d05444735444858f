// SPDX-License-Identifier: Apache-2.0
#include "testing/operations/change_assessment.hpp"

#include <algorithm>
#include <utility>

#include <evenkeel/testing/differences.hpp>

#include "testing/operations/error_report.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {
namespace {

using Kind = OperationProblemKind;

const Json& object_of(const Seen& seen, const std::string& object) {
  static const Json none;
  const auto found = seen.state.find(object);
  return found == seen.state.end() ? none : found->second;
}

// `moment` is "after the change"; `like` describes the expected state.
void compare(const EndState& expected, const EndState& found, Kind kind, const std::string& moment,
             const std::string& like, std::vector<OperationProblem>& out) {
  for (const auto& [object, wanted] : expected) {
    const auto other = found.find(object);
    if (other == found.end()) {
      out.push_back({kind, moment + ", " + object + " does not exist, but does " + like});
      continue;
    }
    for (const std::string& line : differences(wanted, other->second))
      out.push_back({kind, moment + ", " + object + " is not as " + like + ": " + line});
  }
  for (const auto& [object, other] : found) {
    if (!expected.contains(object))
      out.push_back({kind, moment + ", " + object + " exists, but does not " + like});
  }
}

class Assessor {
 public:
  Assessor(const ObservedChange& observed, const ReportsError& reports_error)
      : change_(observed), reports_error_(reports_error) {}

  ChangeAssessment assessment() {
    const bool wrong = change_.kind == ValueKind::wrong;
    const bool failed = !change_.after.facts.failure.empty();
    const bool rejected = wrong || failed || reports(change_.after);
    for (const std::string& write : change_.restless)
      add(Kind::unstable, "a restart of the operator, before the change, leads to: " + write);
    if (!change_.after.facts.unsettled_reason.empty())
      add(Kind::unsettled, "after the change, " + change_.after.facts.unsettled_reason);
    if (rejected) {
      judge_rejection(wrong);
    } else {
      judge_acceptance();
    }
    if (change_.rolled_back) judge_rollback(*change_.rolled_back, rejected);
    return {.problems = std::move(problems_), .reported = rejected && told(change_.after)};
  }

 private:
  void add(Kind kind, std::string text) { problems_.push_back({kind, std::move(text)}); }

  // Has a Warning Event that was not there before.
  bool warns(const Seen& seen) const {
    return std::any_of(seen.warnings.begin(), seen.warnings.end(), [this](const std::string& warning) {
      return !change_.before.warnings.contains(warning);
    });
  }
  // Has one of a reason that was not there before. An operator that warns again and again may do so in other
  // words each time, whatever was changed.
  bool warns_anew(const Seen& seen) const {
    const auto reason = [](const std::string& warning) { return warning.substr(0, warning.find(": ") + 2); };
    return std::any_of(seen.warnings.begin(), seen.warnings.end(), [&](const std::string& warning) {
      const auto known = change_.before.warnings.lower_bound(reason(warning));
      return known == change_.before.warnings.end() || !known->starts_with(reason(warning));
    });
  }
  // Reports an error that was not there before.
  bool reports(const Seen& seen) const {
    if (warns_anew(seen)) return true;
    return reports_error_(object_of(seen, change_.object)) &&
           !reports_error_(object_of(change_.before, change_.object));
  }
  bool told(const Seen& seen) const {
    return warns(seen) || reports(seen) ||
           shows_change(object_of(change_.before, change_.object)["status"],
                        object_of(seen, change_.object)["status"]);
  }

  void judge_rejection(bool wrong);
  void judge_acceptance();
  void judge_rollback(const Seen& back, bool rejected);

  const ObservedChange& change_;
  const ReportsError& reports_error_;
  std::vector<OperationProblem> problems_;
};

void Assessor::judge_rejection(bool wrong) {
  const std::string& failure = change_.after.facts.failure;
  if (!told(change_.after)) {
    std::string text = wrong
                           ? "the wrong value is reported neither at admission, nor in the status, nor by a "
                             "Warning Event"
                           : "the change fails, and neither the status nor a Warning Event says so";
    if (!failure.empty()) text += "; the error is: " + failure;
    add(Kind::unreported, text);
  }
  for (const std::string& loss : change_.after.facts.losses)
    add(Kind::destroyed, "because of a value that is not accepted, " + loss);
}

void Assessor::judge_acceptance() {
  if (!change_.fresh) return;
  const Seen& fresh = *change_.fresh;
  if (!fresh.facts.failure.empty() || reports(fresh)) {
    add(Kind::not_as_fresh, "the operator accepts the change, but not a new object with this value" +
                                (fresh.facts.failure.empty() ? "" : ": " + fresh.facts.failure));
    return;
  }
  if (fresh.facts.settled && change_.before.facts.settled && !change_.after.facts.settled)
    add(Kind::unsettled, "after the change, work is left when the time is over");
  compare(fresh.state, change_.after.state, Kind::not_as_fresh, "after the change",
          "in the world of a new object", problems_);
}

void Assessor::judge_rollback(const Seen& back, bool rejected) {
  const std::string moment = "after the change back";
  if (!back.facts.unsettled_reason.empty())
    return add(Kind::unsettled, moment + ", " + back.facts.unsettled_reason);
  const bool refused = !back.facts.failure.empty() || reports(back);
  if (refused && !rejected) {
    // An operator may refuse the way back, to shrink a volume for instance, if it says so.
    if (!told(back))
      add(Kind::unreported,
          moment + ", reconciles fail, and neither the status nor a Warning Event says so; the error is: " +
              back.facts.failure);
    return;
  }
  if (!back.facts.failure.empty())
    return add(Kind::not_rolled_back, moment + ", reconciles still fail: " + back.facts.failure);
  compare(change_.before.state, back.state, Kind::not_rolled_back, moment, "before it", problems_);
}

// Returns the path of a line of differences().
std::string path_of(const std::string& line) {
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '[' && line.compare(at, 2, "[\"") == 0)
      at = std::min(line.find("\"]", at), line.size() - 1);
    if (line.compare(at, 2, ": ") == 0) return line.substr(0, at);
  }
  return line;
}

}  // namespace

ChangeAssessment assess_change(const ObservedChange& observed, const ReportsError& reports_error) {
  return Assessor(observed, reports_error).assessment();
}

std::vector<OperationProblem> assess_reference(const Seen& first, const Seen& again) {
  std::vector<OperationProblem> problems;
  if (!first.facts.unsettled_reason.empty())
    problems.push_back({Kind::unsettled, first.facts.unsettled_reason});
  if (!first.facts.failure.empty())
    problems.push_back({Kind::unreported, "reconciles of the given object fail: " + first.facts.failure});
  compare(first.state, again.state, Kind::not_repeatable, "after a second creation", "after the first",
          problems);
  return problems;
}

std::vector<std::string> dependents_of(const EndState& before, const EndState& after,
                                       const std::string& object) {
  std::vector<std::string> fields;
  for (const auto& [name, value] : after) {
    const auto known = before.find(name);
    if (known == before.end()) {
      fields.push_back(name);
      continue;
    }
    for (const std::string& line : differences(known->second, value)) {
      const std::string path = path_of(line);
      if (name != object || path.starts_with("status")) fields.push_back(name + " " + path);
    }
  }
  for (const auto& [name, value] : before) {
    if (!after.contains(name)) fields.push_back(name);
  }
  std::sort(fields.begin(), fields.end());
  return fields;
}

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
