// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/testing/explore.hpp>

#include "apiserver/text/seconds_text.hpp"
#include "testing/explore/enumerator.hpp"
#include "testing/explore/run_comparison.hpp"
#include "testing/explore/runner.hpp"
#include "testing/for_each_index.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing {
namespace {

using detail::Plans;
using detail::Runner;
using detail::RunRecord;

void check(const ExploreOptions& options) {
  if (options.steps < 1 || options.steps > 2)
    throw std::invalid_argument("explore: ExploreOptions::steps must be 1 or 2");
  if (options.replicas < 1 || options.replicas > 2)
    throw std::invalid_argument("explore: ExploreOptions::replicas must be 1 or 2");
  if (options.threads < 1) throw std::invalid_argument("explore: ExploreOptions::threads must be > 0");
  if (options.run_factor < 1) throw std::invalid_argument("explore: ExploreOptions::run_factor must be > 0");
  if (options.limit <= Duration::zero())
    throw std::invalid_argument("explore: ExploreOptions::limit must be > 0");
  if (options.max_staleness < Duration::zero())
    throw std::invalid_argument("explore: ExploreOptions::max_staleness must not be negative");
}

// The problems of a plan's run; none of a run without a result.
struct Verdict {
  std::vector<Problem> problems = {};
  bool blocked = false;
};

class Explorer {
 public:
  Explorer(const detail::MakeScenario& make_scenario, const ExploreOptions& options)
      : options_(options), runner_(make_scenario, options) {}

  Exploration run();

 private:
  bool examine_reference(Exploration& result);
  std::vector<Plan> plans(Exploration& result) const;
  Verdict try_plan(const Plan& plan) const;
  std::vector<Verdict> try_all(const std::vector<Plan>& plans) const;
  void report(const std::vector<Plan>& plans, const std::vector<Verdict>& verdicts,
              Exploration& result) const;
  Finding finding_of(const Plan& plan, const Problem& problem) const;

  const ExploreOptions& options_;
  Runner runner_;
};

Exploration Explorer::run() {
  Exploration result;
  if (!examine_reference(result)) return result;
  const std::vector<Plan> chosen = plans(result);
  report(chosen, try_all(chosen), result);
  return result;
}

// Returns true if plans can be compared with it.
bool Explorer::examine_reference(Exploration& result) {
  const RunRecord first = runner_.run_reference();
  result.reference_runs = first.runs;
  result.has_outside = first.outside != nullptr;
  for (const detail::TracedWrite& write : first.trace.writes) {
    const bool counts = !write.of_workload && write.effective && !detail::is_incidental(write.resource);
    if (counts) ++result.reference_writes;
  }
  result.reference = detail::problems_of(first);
  for (Problem& problem : detail::differences_of(first, runner_.run_reference()))
    result.reference.push_back(std::move(problem));
  return result.reference.empty();
}

std::vector<Plan> Explorer::plans(Exploration& result) const {
  if (!options_.plans.empty()) return options_.plans;
  Plans all = detail::enumerate(runner_.reference().trace, runner_.watched(), options_);
  result.plans_pruned = all.pruned;
  result.plans_unread = all.unread;
  if (all.plans.size() > options_.max_plans) {
    result.plans_left_out = all.plans.size() - options_.max_plans;
    all.plans.resize(options_.max_plans);
  }
  return std::move(all.plans);
}

Verdict Explorer::try_plan(const Plan& plan) const {
  RunRecord record = runner_.run(plan, false).record;
  // The second write of a pair need not occur after the first fault.
  if (options_.plans.empty()) record.missed.clear();
  if (detail::is_blocked(record, plan)) return {.blocked = true};
  return {.problems = detail::compare_run(runner_.reference(), record, plan, options_)};
}

std::vector<Verdict> Explorer::try_all(const std::vector<Plan>& plans) const {
  std::vector<Verdict> verdicts(plans.size());
  detail::for_each_index(verdicts.size(), options_.threads,
                         [&](std::size_t at) { verdicts[at] = try_plan(plans[at]); });
  return verdicts;
}

void Explorer::report(const std::vector<Plan>& plans, const std::vector<Verdict>& verdicts,
                      Exploration& result) const {
  std::map<std::string, std::size_t> known;  // finding by first problem
  for (std::size_t at = 0; at < plans.size(); ++at) {
    ++result.plans_run;
    if (verdicts[at].blocked) ++result.plans_blocked;
    if (verdicts[at].problems.empty()) continue;
    ++result.plans_failed;
    const Problem& first = verdicts[at].problems.front();
    if (const auto found = known.find(first.text); found != known.end()) {
      if (found->second < result.findings.size()) ++result.findings[found->second].alike;
      continue;
    }
    known[first.text] = result.findings.size();
    if (result.findings.size() < options_.max_findings) {
      result.findings.push_back(finding_of(plans[at], first));
    } else {
      known[first.text] = options_.max_findings;
    }
  }
}

// Runs the smallest plan with this problem again, and keeps its story.
Finding Explorer::finding_of(const Plan& plan, const Problem& problem) const {
  const Plan smallest = detail::shrink(plan, [&](const Plan& smaller) {
    const Verdict verdict = try_plan(smaller);
    return std::any_of(verdict.problems.begin(), verdict.problems.end(),
                       [&problem](const Problem& one) { return one.kind == problem.kind; });
  });
  const detail::RunResult told = runner_.run(smallest, true);
  RunRecord record = told.record;
  if (options_.plans.empty()) record.missed.clear();
  return {.plan = smallest,
          .problems = detail::compare_run(runner_.reference(), record, smallest, options_),
          .timeline = told.timeline};
}

void append_problems(const std::vector<Problem>& problems, const std::string& indent, std::string& text) {
  constexpr std::size_t shown = 6;
  for (std::size_t at = 0; at < std::min(problems.size(), shown); ++at)
    text += indent + problems[at].text + "\n";
  if (problems.size() > shown) text += indent + "and " + std::to_string(problems.size() - shown) + " more\n";
}

// Indents each line.
std::string indented(const std::string& text, const std::string& indent) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    result += indent + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return result;
}

std::string text_of(const Finding& finding, std::size_t number, bool has_outside) {
  std::string text = "\n" + std::to_string(number) + ". " + finding.plan.str() + "\n";
  append_problems(finding.problems, "   ", text);
  if (finding.alike > 0)
    text += "   Other plans with the same first problem: " + std::to_string(finding.alike) + "\n";
  const std::string function = has_outside ? "explore<Outside>" : "explore";
  const bool has_replicas =
      std::any_of(finding.plan.steps.begin(), finding.plan.steps.end(),
                  [](const PlanStep& step) { return step.kind == PlanStepKind::overtaken; });
  text += "\n   To reproduce it:\n" +
          indented("const auto result = ek::testing::" + function + "(make, workload, {.plans = {" +
                       finding.plan.code() + (has_replicas ? "}, .replicas = 2});" : "}});") +
                       "\nEXPECT_TRUE(result.ok()) << result.describe();",
                   "     ");
  return text + "\n   Timeline of the server, and of what the controllers saw:\n" +
         indented(finding.timeline, "   ");
}

}  // namespace

std::string Exploration::describe() const {
  std::string text = "explore: ";
  if (!reference.empty()) {
    text += "the run without any fault has problems, so no plan was run:\n";
    append_problems(reference, "   ", text);
    return text;
  }
  text += std::to_string(plans_failed) + " of " + std::to_string(plans_run) + " plans failed";
  if (plans_blocked > 0) text += ", " + std::to_string(plans_blocked) + " were blocked";
  text += "; " + std::to_string(plans_pruned) + " were pruned";
  if (plans_unread > 0)
    text += ", " + std::to_string(plans_unread) + " of them because nobody reads what they hide";
  if (plans_left_out > 0) text += ", " + std::to_string(plans_left_out) + " left out";
  text += ". Runs of the reference: " + std::to_string(reference_runs) +
          ", effective writes: " + std::to_string(reference_writes) + ".\n";
  for (std::size_t at = 0; at < findings.size(); ++at) text += text_of(findings[at], at + 1, has_outside);
  return text;
}

namespace detail {
namespace {

// A run of an operator that changes nothing outside of Kubernetes.
class PlainScenario final : public Scenario {
 public:
  PlainScenario(const std::function<std::vector<ControllerSpec>()>& make,
                const std::function<void(Harness&)>& workload)
      : make_(make), workload_(workload) {}

  std::vector<ControllerSpec> make() override { return make_(); }
  void work(Harness& harness) override { workload_(harness); }
  std::shared_ptr<const OutsideState> outside() const override { return nullptr; }

 private:
  const std::function<std::vector<ControllerSpec>()>& make_;
  const std::function<void(Harness&)>& workload_;
};

}  // namespace

Exploration explore(const MakeScenario& make_scenario, const ExploreOptions& options) {
  check(options);
  const TimePoint start = real_clock()->now();
  Exploration result = Explorer(make_scenario, options).run();
  result.took = real_clock()->now() - start;
  return result;
}

Exploration explore(const std::function<std::vector<ControllerSpec>()>& make,
                    const std::function<void(Harness&)>& workload, const ExploreOptions& options) {
  return explore([&] { return std::make_unique<PlainScenario>(make, workload); }, options);
}

}  // namespace detail
}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
