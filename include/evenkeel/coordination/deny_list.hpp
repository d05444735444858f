// SPDX-License-Identifier: Apache-2.0
// The list of the scopes that may neither take the lock nor claim an action. A person uses it to stop an
// instance that does harm, or that cannot be reached, without stopping the others.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/coordination/layout.hpp>
#include <evenkeel/coordination/store.hpp>
#include <evenkeel/coordination/transact.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// A requested change: puts `scope` on the list, or removes it if `allow` is set.
struct DenyListEntry {
  std::string scope = {};
  bool allow = false;
  friend bool operator==(const DenyListEntry&, const DenyListEntry&) = default;
};

/// A scope on the list.
struct Denied {
  std::string scope = {};
  std::string by = {};      ///< The writer that added it.
  std::string reason = {};  ///< The given reason.
  WallTime at = {};         ///< When it was added, by the writer's wall clock.
  friend bool operator==(const Denied&, const Denied&) = default;
};

/// Decodes the list from `entries` (those below Layout::denied_prefix()), in the order of scopes. A key whose
/// value cannot be decoded denies its scope as well.
EVENKEEL_API std::vector<Denied> denied_of(const Layout& layout, const std::vector<Entry>& entries);

/// Returns those of `wanted` that `present` does not meet; empty if there is nothing to write. If two entries
/// name the same scope, the last one wins. Source: fdb-kubernetes-operator fdbclient/lock_client.go
/// UpdateDenyList.
EVENKEEL_API std::vector<DenyListEntry> changes_of(const std::vector<Denied>& present,
                                                   const std::vector<DenyListEntry>& wanted);

/// Reads and writes the list.
/// Thread safety: all members may be called concurrently; transactions run one at a time. Blocks as Store
/// does. Lifetime: must not outlive the store.
class EVENKEEL_API DenyList {
 public:
  /// `writer` identifies the caller: an instance id, or "coordctl". `transact` as for LeaseLock.
  DenyList(Store& store, Layout layout, std::string writer, TransactOptions transact = {});

  /// Returns the list. Throws StoreUnavailable; Cancelled.
  std::vector<Denied> list(std::stop_token stop = {}) const;
  bool is_denied(std::string_view scope, std::stop_token stop = {}) const;
  /// Applies the changes of `wanted` in one transaction; scopes that it does not name are unaffected. Returns
  /// the new list. Throws StoreUnavailable if the outcome is not known; Cancelled.
  std::vector<Denied> apply(const std::vector<DenyListEntry>& wanted, std::string_view reason = {},
                            std::stop_token stop = {});

 private:
  Store& store_;
  const Layout layout_;
  const std::string writer_;
  const TransactOptions transact_;
  Mutex transacting_;  // one transaction at a time per token key
};

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
