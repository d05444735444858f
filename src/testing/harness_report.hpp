// SPDX-License-Identifier: Apache-2.0
// The story of a harness as text.
#pragma once

#include <span>
#include <string>

#include <evenkeel/testing/harness.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

/// The runs, a few lines each. Neighbours that are equal but for time, attempt, reconcile id and delays are
/// shown once, with how many there were.
std::string story(std::span<const ReconcileRun> runs);

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
