// SPDX-License-Identifier: Apache-2.0
// Whether the database is well enough to be disturbed. Pure; each function gives the reason why not, in the
// words of the FoundationDB operator (pkg/fdbstatus/status_checks.go), or nothing.
#pragma once

#include <optional>
#include <string>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/coordination/process_groups/cluster.hpp>
#include <evenkeel/coordination/process_groups/database.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// Why something may not be done now; nothing if it may.
using Refusal = std::optional<std::string>;

/// How long the database has been undisturbed: since its last recovery, or since the youngest process that is
/// neither excluded nor of the class test began, whichever is less. Source: GetMinimumUptimeAndAddressMap.
EVENKEEL_API Duration minimum_uptime(const DatabaseStatus& status);

EVENKEEL_API Refusal refuse_exclusion(const DatabaseStatus& status, const ProcessGroupTimes& times);
/// In addition, the recovery must have come far enough: fully_recovered or all_logs_recruited.
EVENKEEL_API Refusal refuse_inclusion(const DatabaseStatus& status, const ProcessGroupTimes& times);
EVENKEEL_API Refusal refuse_restart(const DatabaseStatus& status, const ProcessGroupTimes& times);
/// A missing coordinator is replaced sooner than one that only should not be one, and also while the database
/// is not available.
EVENKEEL_API Refusal refuse_coordinator_change(const DatabaseStatus& status, const ProcessGroupTimes& times);

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
