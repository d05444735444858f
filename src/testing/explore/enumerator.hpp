// SPDX-License-Identifier: Apache-2.0
// The plans that follow from the trace of a reference.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include <evenkeel/testing/explore.hpp>
#include <evenkeel/testing/plan.hpp>

#include "testing/explore/noticed_changes.hpp"
#include "testing/explore/trace.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

struct Plans {
  std::vector<Plan> plans = {};  ///< In the order in which they are run: simple ones first.
  std::size_t pruned = 0;        ///< Those that ExploreScope::all has in addition.
  std::size_t unread = 0;        ///< Pruned ones that hide what nobody notices, or what another one hides.
};

/// Returns the plans for a reference. `watched` are the kinds that caches hold. At most two steps.
Plans enumerate(const Trace& trace, const WatchedKinds& watched, const ExploreOptions& options);

/// Removes steps from a plan as long as `fails` returns true for the rest.
Plan shrink(Plan plan, const std::function<bool(const Plan&)>& fails);

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
