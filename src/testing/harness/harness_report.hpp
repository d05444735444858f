// SPDX-License-Identifier: Apache-2.0
// Formats the history of a harness.
#pragma once

#include <span>
#include <string>

#include <evenkeel/testing/harness.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

/// Formats the runs, a few lines each. Consecutive runs that are equal except for time, attempt, reconcile id
/// and delays are shown once, with their number.
std::string story(std::span<const ReconcileRun> runs);

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
