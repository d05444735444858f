// SPDX-License-Identifier: Apache-2.0
// Who is prepared for an upgrade to a version that does not understand the running one: then all processes of
// the database restart at once, and every instance registers its own before.
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
/// Thread safety: all members may be called concurrently but for one writer's add(), withdraw() and clear().
/// Blocks as Store does. Lifetime: not longer than the store. Source: fdb-kubernetes-operator
/// fdbclient/lock_client.go AddPendingUpgrades, GetPendingUpgrades, ClearPendingUpgrades.
class EVENKEEL_API UpgradeRegistry {
 public:
  /// `writer` is the instance that writes; `transact` as for LeaseLock.
  UpgradeRegistry(Store& store, Layout layout, std::string writer, TransactOptions transact = {});

  /// Registers the groups; writes nothing if they are. Throws StoreUnavailable if it is not known to be done.
  void add(std::string_view version, const std::vector<std::string>& groups, std::stop_token stop = {});
  /// Throws StoreUnavailable; Cancelled.
  GroupIds registered(std::string_view version, std::stop_token stop = {}) const;
  /// Forgets these groups, of whatever version. Throws as add().
  void withdraw(const GroupIds& groups, std::stop_token stop = {});
  /// Forgets all groups of all versions. Throws as add().
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
