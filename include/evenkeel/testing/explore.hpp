// SPDX-License-Identifier: Apache-2.0
// Exploration of an operator: a workload is run again and again, each time with something that goes wrong at
// another write, and each run is compared with one in which nothing does.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/controller/controller_spec.hpp>
#include <evenkeel/testing/harness.hpp>
#include <evenkeel/testing/plan.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing {

/// Selection of the plans that are enumerated.
enum class ExploreScope : std::uint8_t {
  /// Those that can matter: at writes that changed something, conflicts of writes that carry a version, old
  /// states that a later change of the same object contradicts, changes that a later one undoes.
  causal,
  all,  ///< Also at writes without effect, with each pair of an old state and a later write.
};

struct ExploreOptions {
  /// Options of each harness. `world` is the state in which each run begins. `log_level` applies to the runs
  /// whose story is printed; `expect_failures` is always set.
  HarnessOptions harness = {};
  /// Plans to run instead of those that are enumerated.
  std::vector<Plan> plans = {};
  ExploreScope scope = ExploreScope::causal;
  std::size_t steps = 1;           ///< Of a plan: 1, or 2 for pairs of crashes and lost answers as well.
  std::size_t max_plans = 10'000;  ///< Further ones are left out, and counted.
  /// A run with more reconciles than `run_factor` times those of the reference, and 20, has a problem.
  std::size_t run_factor = 4;
  Duration limit = std::chrono::minutes{10};  ///< Virtual time in which a run must settle at its end.
  /// Resources that are not compared, in addition to Events and Leases: "pods", "demos.demo.evenkeel.dev".
  std::vector<std::string> ignored = {};
  /// Changes each object before it is compared, to remove what may differ, such as a counter of attempts.
  std::function<void(Json& object)> normalize = {};
  std::size_t max_findings = 5;  ///< Findings with a timeline.
  /// Threads that run plans. With more than one, the functions given to explore() are called concurrently.
  std::size_t threads = 1;
};

enum class ProblemKind : std::uint8_t {
  end_state,       ///< An object differs from the reference, is missing, or should not exist.
  creations,       ///< An object was created more or less often than in the reference.
  deletions,       ///< Likewise deleted; or an object was deleted that the reference keeps.
  unsettled,       ///< Work is left after ExploreOptions::limit, or there was too much of it.
  unstable,        ///< Another run of each key, once settled, changes something.
  too_many_runs,   ///< See ExploreOptions::run_factor.
  exception,       ///< A reconcile threw what none of the reference threw, and not because of a request.
  workload,        ///< The workload threw.
  not_reached,     ///< A given plan has a step whose write did not occur.
  not_repeatable,  ///< Two runs without any fault differ.
};

/// One difference from the reference, or a rule that a run breaks.
struct Problem {
  ProblemKind kind = ProblemKind::end_state;
  std::string text = {};
};

/// A plan that fails, and its run.
struct Finding {
  Plan plan = {};
  std::vector<Problem> problems = {};
  /// Writes of the run beside what the controllers saw, a line each.
  std::string timeline = {};
  std::size_t alike = 0;  ///< Number of other plans whose first problem is the same.
};

/// The result of explore().
struct Exploration {
  /// Problems of the run without any fault; no plan was run then.
  std::vector<Problem> reference = {};
  std::vector<Finding> findings = {};  ///< One for each first problem, at most `max_findings`.
  std::size_t plans_run = 0;
  std::size_t plans_failed = 0;
  std::size_t plans_pruned = 0;    ///< Not run, because they can show nothing: see ExploreScope::causal.
  std::size_t plans_left_out = 0;  ///< Not run, because of `max_plans`.
  /// Run, but without a result: the workload waited for what the withheld events would have caused.
  std::size_t plans_blocked = 0;
  std::size_t reference_runs = 0;    ///< Reconciles of the reference.
  std::size_t reference_writes = 0;  ///< Writes of the operator in the reference that changed something.
  Duration took = {};                ///< Real time.

  bool ok() const { return reference.empty() && plans_failed == 0; }
  /// Returns the counts, and for each finding its problems, the plan as C++, and its timeline.
  EVENKEEL_API std::string describe() const;
};

namespace detail {
EVENKEEL_API Exploration explore(const std::function<std::vector<ControllerSpec>()>& make,
                                 const std::function<void(Harness&)>& workload,
                                 const ExploreOptions& options);
}  // namespace detail

/// Explores an operator. `make` returns its ControllerSpec, or a vector of several; it is called for each
/// start of the process, and what it returns must not share state with earlier results. `workload` creates,
/// changes and deletes objects, in the role of users and of other controllers, and lets time pass with
/// settle() or run_for() in between; it must do the same in each call, and expect nothing of the operator
/// beyond what it needs to go on.
/// The run without any fault, the reference, is done twice. Then each plan is run from the beginning and
/// compared with it: end state (without uids, versions, timestamps and generated names), creations and
/// deletions of each object, whether it settles and stays so, number of runs, exceptions.
/// Equal arguments give equal results, except for `took`. Blocks until all plans have run.
/// Thread safety: may be called concurrently.
/// Throws std::invalid_argument for options out of range, and what Harness() and Harness::add() throw.
template <class Make>
requires std::invocable<Make&> Exploration explore(Make make, std::function<void(Harness&)> workload,
                                                   const ExploreOptions& options = {}) {
  if constexpr (std::convertible_to<std::invoke_result_t<Make&>, ControllerSpec>) {
    const auto one = [make]() mutable { return std::vector<ControllerSpec>{ControllerSpec(make())}; };
    return detail::explore(one, workload, options);
  } else {
    return detail::explore(std::move(make), workload, options);
  }
}

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
