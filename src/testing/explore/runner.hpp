// SPDX-License-Identifier: Apache-2.0
// Runs of a workload, each from the beginning in a harness of its own, with or without a plan.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <evenkeel/apiserver/api_server_core.hpp>
#include <evenkeel/apiserver/shared_core.hpp>
#include <evenkeel/testing/explore.hpp>

#include "testing/explore/interventions.hpp"
#include "testing/explore/noticed_changes.hpp"
#include "testing/explore/run_comparison.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

using MakeScenario = std::function<std::unique_ptr<Scenario>()>;

/// The result of one run.
struct RunResult {
  RunRecord record = {};
  std::string timeline = {};  ///< If it was asked for.
};

/// Thread safety: run() may be called concurrently once run_reference() has returned, if the functions of the
/// caller may.
/// Lifetime: keeps references to the arguments of its constructor.
class Runner {
 public:
  Runner(const MakeScenario& make_scenario, const ExploreOptions& options);

  /// Runs the workload without a plan. The first call determines the reference.
  RunRecord run_reference();
  /// Runs the workload with a plan; `tells`: also makes the timeline.
  RunResult run(const Plan& plan, bool tells) const;
  const RunRecord& reference() const { return *reference_; }
  /// Kinds that caches hold.
  const WatchedKinds& watched() const { return watched_; }

 private:
  RunRecord record_of(Scenario& scenario, HarnessOptions options, InterventionOptions interventions,
                      std::string* timeline) const;
  void run_workload(Scenario& scenario, Harness& harness, Interventions& hooks, RunRecord& record) const;
  void run_keys_again(Harness& harness, const Interventions& hooks, RunRecord& record) const;
  EndState state_of(const Interventions& hooks) const;

  const MakeScenario& make_scenario_;
  const ExploreOptions& options_;
  std::optional<apiserver::World> world_;  // with the definitions of the kinds
  WatchedKinds watched_;
  std::set<std::string> on_every_instance_;  // controllers
  std::optional<RunRecord> reference_;
};

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
