// SPDX-License-Identifier: Apache-2.0
// Which processes are to be restarted, and which of them are prepared for it. Pure.
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

struct RestartPlan {
  std::vector<std::string> pending = {};    ///< Groups that need it and are prepared but for an address.
  std::vector<std::string> ready = {};      ///< Of these, those that the database knows.
  std::vector<std::string> addresses = {};  ///< Of the ready ones.
  std::optional<std::string> wait = {};     ///< Why nobody is ready yet; `ready` is empty then.
};
/// Groups whose command line is not as wanted, whose Pod is, and which have their new configuration. As long
/// as one that is not ignored has not (or has no address), nobody is ready: a process would be restarted into
/// the old one. In an upgrade to a version that does not understand the running one, all running processes
/// have to be ready. Source: getProcessesReadyForRestart, checkIfEnoughProcessesAreRunning.
EVENKEEL_API RestartPlan plan_restart(const ProcessCluster& cluster, const DatabaseStatus& status,
                                      const ProcessGroupTimes& times, WallTime now);

/// The addresses of the groups' processes. Those of the class test are not among them.
EVENKEEL_API std::vector<std::string> addresses_of(const DatabaseStatus& status, const GroupIds& groups);

struct UpgradeNeed {
  std::vector<std::string> addresses = {};  ///< Of processes that run another version and may be restarted.
  std::vector<std::string> not_ready = {};  ///< Groups of processes that nobody has registered.
};
/// What an upgrade to `version` has to restart: all processes of the database, of whichever operator.
/// `registered` are the groups that their operators have prepared. Source: getUpgradeAddressesFromStatus.
EVENKEEL_API UpgradeNeed upgrade_need(const DatabaseStatus& status, const GroupIds& registered,
                                      std::string_view version);

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
