// SPDX-License-Identifier: Apache-2.0
// Exploration of an operator: a workload is run many times, each time with a fault at another write, and each
// run is compared with the reference, a run without faults.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <evenkeel/api/codec.hpp>
#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/json.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/controller/controller_spec.hpp>
#include <evenkeel/testing/differences.hpp>
#include <evenkeel/testing/harness.hpp>
#include <evenkeel/testing/plan.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing {

/// Selection of the plans that are enumerated.
enum class ExploreScope : std::uint8_t {
  /// Plans that can matter: faults at writes that changed something, conflicts of writes that carry a
  /// version, old states that a later change of the same object contradicts, changes that a later one undoes;
  /// old states and late events only of objects that the reference read.
  causal,
  all,  ///< Also at writes without effect, with each pair of an old state and a later write.
};

struct ExploreOptions {
  /// Options of each harness. `world` is the state in which each run begins. `log_level` applies to the runs
  /// whose timeline is printed; `expect_failures` is always set.
  HarnessOptions harness = {};
  /// Plans to run instead of the enumerated ones.
  std::vector<Plan> plans = {};
  ExploreScope scope = ExploreScope::causal;
  std::size_t steps = 1;  ///< Steps per plan: 1, or 2 to add pairs of crashes and lost answers.
  /// Replicas of the operator: 1, or 2 to add plans in which the leader is suspended at an explore point
  /// while another replica takes over, so that its outside call is made after those of the next leader. See
  /// overtake_at(). With 2, Context::term() is set.
  std::size_t replicas = 1;
  std::size_t max_plans = 10'000;  ///< Further ones are left out, and counted.
  /// A run has a problem with more reconciles than `run_factor` times those of the reference plus 20.
  std::size_t run_factor = 4;
  Duration limit = std::chrono::minutes{10};  ///< Virtual time in which a run must settle at its end.
  /// Largest age of what caches show, in virtual time: of the state with which a process restarts, and of the
  /// events of a window. No API server is behind by hours. Given `plans` are not limited.
  Duration max_staleness = std::chrono::minutes{5};
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
  deletions,       ///< An object was deleted more or less often, or although the reference keeps it.
  unsettled,       ///< Work is left after ExploreOptions::limit, or there was too much of it.
  unstable,        ///< Another run of each key, once settled, changes something.
  too_many_runs,   ///< See ExploreOptions::run_factor.
  exception,       ///< A reconcile threw an error that none of the reference threw, not of a request.
  workload,        ///< The workload threw.
  not_reached,     ///< A given plan has a step whose write or point did not occur.
  not_repeatable,  ///< Two runs without any fault differ.
  outside,         ///< The state outside of Kubernetes differs from the reference.
  /// A write was sent after leadership was lost, by a client without the stop token of its run.
  not_leader,
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
  std::size_t plans_pruned = 0;    ///< Not run because they cannot reveal anything: see ExploreScope::causal.
  std::size_t plans_unread = 0;    ///< Pruned only because no controller reads what they hide.
  std::size_t plans_left_out = 0;  ///< Not run, because of `max_plans`.
  /// Run, but without a result: the workload waited for what the withheld events would have caused.
  std::size_t plans_blocked = 0;
  std::size_t reference_runs = 0;    ///< Reconciles of the reference.
  std::size_t reference_writes = 0;  ///< Writes of the operator in the reference that changed something.
  bool has_outside = false;          ///< It was explore<Outside>().
  Duration took = {};                ///< Real time.

  bool ok() const { return reference.empty() && plans_failed == 0; }
  /// Returns the counts, and for each finding its problems, the plan as C++, and its timeline.
  EVENKEEL_API std::string describe() const;
};

/// A stand-in for the systems outside of Kubernetes that an operator calls, such as the disks of a cloud. It
/// holds the resulting state, not the number of calls.
template <class T>
concept OutsideSystem = std::default_initializable<T> && std::copyable<T> &&
    (Described<T> || std::equality_comparable<T>);

namespace detail {

/// A copy of the state outside at one time.
class OutsideState {
 public:
  virtual ~OutsideState() = default;
  /// Returns the changes from this state to another, a line each; empty if they are equal.
  virtual std::vector<std::string> changes_to(const OutsideState& other) const = 0;
};

/// The functions of the caller, for one run.
class Scenario {
 public:
  virtual ~Scenario() = default;
  virtual std::vector<ControllerSpec> make() = 0;
  virtual void work(Harness& harness) = 0;
  /// Null if nothing is outside.
  virtual std::shared_ptr<const OutsideState> outside() const = 0;
};

EVENKEEL_API Exploration explore(const std::function<std::vector<ControllerSpec>()>& make,
                                 const std::function<void(Harness&)>& workload,
                                 const ExploreOptions& options);
EVENKEEL_API Exploration explore(const std::function<std::unique_ptr<Scenario>()>& make_scenario,
                                 const ExploreOptions& options);

template <class T>
class OutsideCopy final : public OutsideState {
 public:
  explicit OutsideCopy(T value) : value_(std::move(value)) {}

  std::vector<std::string> changes_to(const OutsideState& other) const override {
    const T& to = static_cast<const OutsideCopy&>(other).value_;
    std::vector<std::string> changes;
    if constexpr (Described<T>) changes = differences(to_tree(value_), to_tree(to));
    if constexpr (std::equality_comparable<T>) {
      if (value_ == to) return {};
      if constexpr (requires { std::string(value_.str()); }) {
        if (changes.empty()) return {std::string(value_.str()) + " -> " + std::string(to.str())};
      }
      if (changes.empty()) return {"it is not equal"};
    }
    return changes;
  }

 private:
  const T value_;
};

template <class Outside, class Make, class Workload>
class OutsideScenario final : public Scenario {
 public:
  OutsideScenario(Make controllers, Workload workload)
      : make_(std::move(controllers)), workload_(std::move(workload)) {}

  std::vector<ControllerSpec> make() override {
    if constexpr (std::convertible_to<std::invoke_result_t<Make&, Outside&>, ControllerSpec>) {
      return {ControllerSpec(make_(outside_))};
    } else {
      return make_(outside_);
    }
  }
  void work(Harness& harness) override {
    if constexpr (std::invocable<Workload&, Harness&, Outside&>) {
      workload_(harness, outside_);
    } else {
      workload_(harness);
    }
  }
  std::shared_ptr<const OutsideState> outside() const override {
    return std::make_shared<const OutsideCopy<Outside>>(outside_);
  }

 private:
  Outside outside_ = Outside();
  Make make_;
  Workload workload_;
};

}  // namespace detail

/// Explores an operator. `make` returns its ControllerSpec, or a vector of several; it is called for each
/// start of the process, and its results must not share state with earlier ones. `workload` creates, changes
/// and deletes objects, in the role of users and of other controllers, and lets time pass with settle() or
/// run_for() in between. It must do the same in each call, and check the work of the operator only as far as
/// it depends on it to continue. The run without any fault, the reference, is done twice. Then each plan is
/// run from the beginning and compared with it: end state (without uids, versions, timestamps and generated
/// names), creations and deletions of each object, whether it settles and stays settled, number of runs,
/// exceptions, writes after leadership was lost. Equal arguments give equal results, except for `took`.
/// Blocks until all plans have run.
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

/// Like explore(), for an operator that also changes something outside of Kubernetes:
/// explore<Cloud>([](Cloud& cloud) { return controller(cloud); }, workload). Each run begins with a
/// default-constructed Outside, which survives the ends of the process. `make` gets a reference to it, and so
/// does `workload` if it has a second parameter. At the end it must equal that of the reference, by its
/// operator== if it has one. A finding shows the members of a described struct that differ, or what str()
/// returns. The calls of the operator that change it are marked with Context::explore_point(): the process
/// crashes there as well.
template <OutsideSystem Outside, class Make, class Workload>
requires std::invocable<Make&, Outside&> &&
    (std::invocable<Workload&, Harness&, Outside&> || std::invocable<Workload&, Harness&>)Exploration
    explore(Make make, Workload workload, const ExploreOptions& options = {}) {
  using Scenario = detail::OutsideScenario<Outside, Make, Workload>;
  const std::function<std::unique_ptr<detail::Scenario>()> make_scenario = [make, workload] {
    return std::make_unique<Scenario>(make, workload);
  };
  return detail::explore(make_scenario, options);
}

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
