// SPDX-License-Identifier: Apache-2.0
// Determines which processes must be restarted, and which of them are prepared for it. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/coordination/process_groups/cluster.hpp>
#include <evenkeel/coordination/process_groups/database.hpp>
#include <evenkeel/coordination/process_groups/sets.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// The groups that must be restarted.
struct RestartPlan {
  std::vector<std::string> pending = {};    ///< Prepared groups that need a restart; may lack an address.
  std::vector<std::string> ready = {};      ///< Those of them that the database reports.
  std::vector<std::string> addresses = {};  ///< Addresses of the ready groups.
  std::optional<std::string> wait = {};     ///< Why no group is ready yet; `ready` is then empty.
};
/// Plans restarts. A group is pending if its command line differs from the desired one, while its Pod is up
/// to date and has the new configuration. While a group that is not ignored lacks the configuration (or an
/// address), no group is ready, because a process would restart with the old one. In an upgrade to a version
/// that cannot communicate with the running one, all running processes must be ready.
/// Source: getProcessesReadyForRestart, checkIfEnoughProcessesAreRunning.
EVENKEEL_API RestartPlan plan_restart(const ProcessCluster& cluster, const DatabaseStatus& status,
                                      const ProcessGroupTimes& times, WallTime now);

/// Returns the addresses of the groups' processes, without those of the class test.
EVENKEEL_API std::vector<std::string> addresses_of(const DatabaseStatus& status, const GroupIds& groups);

/// The restarts of an upgrade.
struct UpgradeNeed {
  std::vector<std::string> addresses = {};  ///< Processes that run another version and may be restarted.
  std::vector<std::string> not_ready = {};  ///< Groups of processes that are not registered.
};
/// Returns the processes that an upgrade to `version` must restart: all processes of the database, of all
/// operators. `registered` are the groups that their operators have prepared. Source:
/// getUpgradeAddressesFromStatus.
EVENKEEL_API UpgradeNeed upgrade_need(const DatabaseStatus& status, const GroupIds& registered,
                                      std::string_view version);

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
