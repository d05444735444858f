// SPDX-License-Identifier: Apache-2.0
// Safety checks before the database is disrupted. Pure; each check returns the reason for a refusal, in the
// words of the FoundationDB operator (pkg/fdbstatus/status_checks.go), or nullopt.
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

/// The reason why an operation is not allowed now; nullopt if it is allowed.
using Refusal = std::optional<std::string>;

/// Returns how long the database has been undisturbed: the time since its last recovery, or since the start
/// of the youngest process that is neither excluded nor of the class test, whichever is less.
/// Source: GetMinimumUptimeAndAddressMap.
EVENKEEL_API Duration minimum_uptime(const DatabaseStatus& status);

EVENKEEL_API Refusal refuse_exclusion(const DatabaseStatus& status, const ProcessGroupTimes& times);
/// Like refuse_exclusion(), but also requires that recovery has reached fully_recovered or
/// all_logs_recruited.
EVENKEEL_API Refusal refuse_inclusion(const DatabaseStatus& status, const ProcessGroupTimes& times);
EVENKEEL_API Refusal refuse_restart(const DatabaseStatus& status, const ProcessGroupTimes& times);
/// A missing coordinator is replaced sooner than an undesired one, and even while the database is
/// unavailable.
EVENKEEL_API Refusal refuse_coordinator_change(const DatabaseStatus& status, const ProcessGroupTimes& times);

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
