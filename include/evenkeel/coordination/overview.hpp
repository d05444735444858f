// SPDX-License-Identifier: Apache-2.0
// Everything that the store has about a domain, as data and as text for people: what `coordctl show` prints,
// and what an operator may serve.
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

/// What one scope has in one set.
struct SetFigures {
  std::size_t members = 0;
  /// The oldest and the newest member's time, by the calendars of those who added them; 0: not known.
  std::int64_t oldest_at = 0;
  std::int64_t newest_at = 0;

  friend bool operator==(const SetFigures&, const SetFigures&) = default;
};

/// All of a domain at one moment.
struct Overview {
  std::string root = {};
  Version version = 0;
  std::vector<std::string> sets = {};  ///< Names in order; facts are not among them.
  /// scope -> set -> figures; a scope without members is there if it has a record.
  std::map<std::string, std::map<std::string, SetFigures>> scopes = {};
  std::vector<Instance> instances = {};
  std::optional<LockRecord> lock = {};
  bool lock_there = false;       ///< It was taken once; without `lock`, what it says cannot be read.
  Duration lock_unchanged = {};  ///< How long its record has been so, as far as this process saw.
  std::vector<Denied> denied = {};
  std::map<std::string, ClaimRecord> claims = {};     ///< By action.
  std::map<std::string, std::string> migrating = {};  ///< From, to.
  std::map<std::string, std::size_t> upgrades = {};   ///< Units by version.
  std::vector<std::string> unreadable = {};           ///< Keys, with what is wrong.

  /// Members of `set` in all scopes.
  EVENKEEL_API std::size_t members(std::string_view set) const;
};

/// Takes overviews; silence of instances counts from the first one on.
/// Thread safety: one thread at a time.
class EVENKEEL_API Overviewer {
 public:
  explicit Overviewer(Layout layout, LivenessOptions liveness = {});
  /// Reads everything. What cannot be read stands in Overview::unreadable. Throws as StoreSnapshot.
  Overview take(StoreSnapshot& snapshot, TimePoint now);

 private:
  Layout layout_;
  Liveness liveness_;
  Observations seen_;
};

/// A table of scopes and sets ("2/3" are ready of pending), then instances, lock, claims, the deny list and
/// whatever is unusual. `wall` is now, for ages.
EVENKEEL_API std::string text_of(const Overview& overview, WallTime wall);
EVENKEEL_API Json json_of(const Overview& overview);

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
