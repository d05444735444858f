// SPDX-License-Identifier: Apache-2.0
// Scopes that may neither take the lock nor claim an action: a person's means to stop an instance that does
// harm, or that cannot be reached any more, without stopping the others.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/coordination/layout.hpp>
#include <evenkeel/coordination/store.hpp>
#include <evenkeel/coordination/transact.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// A wish: `scope` is to be on the list, or, with `allow`, off it.
struct DenyListEntry {
  std::string scope = {};
  bool allow = false;
  friend bool operator==(const DenyListEntry&, const DenyListEntry&) = default;
};

/// Who is on the list.
struct Denied {
  std::string scope = {};
  std::string by = {};      ///< Who put it there.
  std::string reason = {};  ///< What they said.
  WallTime at = {};         ///< By their calendar.
  friend bool operator==(const Denied&, const Denied&) = default;
};

/// The list that `entries` (those below Layout::denied_prefix()) are, in the order of scopes. A value that
/// cannot be read denies all the same: the key decides.
EVENKEEL_API std::vector<Denied> denied_of(const Layout& layout, const std::vector<Entry>& entries);

/// What of `wanted` is not as it is to be: empty if there is nothing to write. Of two entries for one scope
/// the last counts. Source: fdb-kubernetes-operator fdbclient/lock_client.go UpdateDenyList.
EVENKEEL_API std::vector<DenyListEntry> changes_of(const std::vector<Denied>& present,
                                                   const std::vector<DenyListEntry>& wanted);

/// Thread safety: all members may be called concurrently. Blocks as Store does. Lifetime: not longer than the
/// store.
class EVENKEEL_API DenyList {
 public:
  /// `writer` is who writes: an instance id, or "coordctl".
  /// `transact` as for LeaseLock.
  DenyList(Store& store, Layout layout, std::string writer, TransactOptions transact = {});

  /// Throws StoreUnavailable; Cancelled.
  std::vector<Denied> list(std::stop_token stop = {}) const;
  bool is_denied(std::string_view scope, std::stop_token stop = {}) const;
  /// Makes the list as `wanted` says, in one transaction; scopes that it does not name stay as they are. The
  /// list then. Throws StoreUnavailable if it is not known to be done; Cancelled.
  std::vector<Denied> apply(const std::vector<DenyListEntry>& wanted, std::string_view reason = {},
                            std::stop_token stop = {});

 private:
  Store& store_;
  const Layout layout_;
  const std::string writer_;
  const TransactOptions transact_;
};

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
