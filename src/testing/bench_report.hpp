// SPDX-License-Identifier: Apache-2.0
// The story of a bench as text.
#pragma once

#include <span>
#include <string>

#include <evenkeel/testing/bench.hpp>

namespace evenkeel::inline v0::testing::detail {

/// The runs, a few lines each. Neighbours that are equal but for time, attempt, reconcile id and delays are
/// shown once, with how many there were.
std::string story(std::span<const ReconcileRun> runs);

}  // namespace evenkeel::inline v0::testing::detail
