// SPDX-License-Identifier: Apache-2.0
// The comparison of a run with the reference.
#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <evenkeel/testing/explore.hpp>

#include "testing/explore/end_state.hpp"
#include "testing/explore/trace.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

/// The facts about a run that count.
struct RunRecord {
  Trace trace = {};
  EndState end = {};
  std::size_t runs = 0;
  bool settled = false;
  std::string stopped = {};                    ///< First line of TooManyRuns, if it was thrown.
  std::string workload_error = {};             ///< Exception of the workload.
  std::vector<std::string> late_changes = {};  ///< Changes by one more run of each key, once settled.
  std::set<std::string> exceptions = {};       ///< Thrown by reconciles, and not explained by a request.
  std::vector<PlanStep> missed = {};           ///< Steps of the plan that have not taken effect.
  std::vector<std::string> late_writes = {};   ///< After leadership was lost, without the run's stop token.
  std::shared_ptr<const OutsideState> outside = {};    ///< Null if nothing is outside.
  std::vector<std::string> late_changes_outside = {};  ///< Like late_changes, but outside of the cluster.
};

/// Returns a line for each object that differs, is missing or should not exist.
std::vector<std::string> end_differences(const EndState& reference, const EndState& run);
/// Returns the rules that a run without any fault breaks.
std::vector<Problem> problems_of(const RunRecord& reference);
/// Returns the differences of two runs without any fault.
std::vector<Problem> differences_of(const RunRecord& first, const RunRecord& second);
/// Returns the problems of the run of a plan, the most telling first.
std::vector<Problem> compare_run(const RunRecord& reference, const RunRecord& run, const Plan& plan,
                                 const ExploreOptions& options);
/// Returns true if the workload failed because the plan hides from the operator what it waits for.
bool is_blocked(const RunRecord& run, const Plan& plan);

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
