// SPDX-License-Identifier: Apache-2.0
// A summary of everything that the store has about a domain, as data and as text. `coordctl show` prints it,
// and an operator may serve it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/coordination/deny_list.hpp>
#include <evenkeel/coordination/layout.hpp>
#include <evenkeel/coordination/lease_lock.hpp>
#include <evenkeel/coordination/liveness.hpp>
#include <evenkeel/coordination/observations.hpp>
#include <evenkeel/coordination/records.hpp>
#include <evenkeel/coordination/store.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// The members that one scope has in one set.
struct SetFigures {
  std::size_t members = 0;
  std::vector<std::string> units = {};  ///< Names of the members, in the order of their keys.
  /// When the oldest and the newest member were added, by the wall clocks of their writers; 0: unknown.
  std::int64_t oldest_at = 0;
  std::int64_t newest_at = 0;

  friend bool operator==(const SetFigures&, const SetFigures&) = default;
};

/// The state of a domain as of one version.
struct Overview {
  std::string root = {};
  Version version = 0;
  std::vector<std::string> sets = {};  ///< Names, sorted, without facts.
  /// scope -> set -> figures. A scope without members is included if it has a record.
  std::map<std::string, std::map<std::string, SetFigures>> scopes = {};
  std::vector<Instance> instances = {};  ///< In the order of scopes.
  std::optional<LockRecord> lock = {};
  bool lock_there = false;       ///< The lock has a record; if `lock` is unset, it cannot be decoded.
  Duration lock_unchanged = {};  ///< Time for which this process has seen its record unchanged.
  std::vector<Denied> denied = {};
  std::map<std::string, ClaimRecord> claims = {};     ///< By action.
  std::map<std::string, std::string> migrating = {};  ///< Source -> destination.
  std::map<std::string, std::size_t> upgrades = {};   ///< Version -> number of registered units.
  std::vector<std::string> unreadable = {};  ///< Keys whose values cannot be decoded, with the error.

  /// Returns the number of members of `set` in all scopes.
  EVENKEEL_API std::size_t members(std::string_view set) const;
};

/// Builds overviews. The silence of instances counts from the first overview.
/// Thread safety: one thread at a time.
class EVENKEEL_API Overviewer {
 public:
  explicit Overviewer(Layout layout, LivenessOptions liveness = {});
  /// Reads the whole domain. Values that cannot be decoded are listed in Overview::unreadable. Throws as
  /// StoreSnapshot.
  Overview take(StoreSnapshot& snapshot, TimePoint now);

 private:
  Layout layout_;
  Liveness liveness_;
  Observations seen_;
};

/// Formats a table of scopes and sets ("2/3": ready of pending), followed by the lock, claims, the deny list
/// and anomalies. `wall` is the present time, from which ages are computed.
EVENKEEL_API std::string text_of(const Overview& overview, WallTime wall);
/// Returns the overview as JSON, for `coordctl show --json`.
EVENKEEL_API Json json_of(const Overview& overview);

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
