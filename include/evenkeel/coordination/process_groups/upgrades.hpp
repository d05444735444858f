// SPDX-License-Identifier: Apache-2.0
// The registry of groups that are prepared for an upgrade to a version that cannot communicate with the
// running one. In such an upgrade all processes of the database restart at once, and every instance registers
// its own before.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/coordination/layout.hpp>
#include <evenkeel/coordination/process_groups/sets.hpp>
#include <evenkeel/coordination/store.hpp>
#include <evenkeel/coordination/transact.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// The groups that are registered for a version, at upgrades/<version>/<group> below the arbiter.
/// Thread safety: all members may be called concurrently, but only one thread at a time may call add(),
/// withdraw() and clear() for one writer.
/// Blocks as Store does. Lifetime: must not outlive the store. Source: fdb-kubernetes-operator
/// fdbclient/lock_client.go AddPendingUpgrades, GetPendingUpgrades, ClearPendingUpgrades.
class EVENKEEL_API UpgradeRegistry {
 public:
  /// `writer` is the id of the writing instance; `transact` as for LeaseLock.
  UpgradeRegistry(Store& store, Layout layout, std::string writer, TransactOptions transact = {});

  /// Registers the groups; writes nothing if they are registered. Throws StoreUnavailable if the outcome is
  /// not known.
  void add(std::string_view version, const std::vector<std::string>& groups, std::stop_token stop = {});
  /// Returns the groups that are registered for `version`. Throws StoreUnavailable; Cancelled.
  GroupIds registered(std::string_view version, std::stop_token stop = {}) const;
  /// Removes these groups from all versions. Throws as add().
  void withdraw(const GroupIds& groups, std::stop_token stop = {});
  /// Removes all groups of all versions. Throws as add().
  void clear(std::stop_token stop = {});

 private:
  void commit(const TransactBody& body, const std::stop_token& stop);

  Store& store_;
  const Layout layout_;
  const std::string writer_;
  const TransactOptions transact_;
};

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
