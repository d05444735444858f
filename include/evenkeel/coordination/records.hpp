// SPDX-License-Identifier: Apache-2.0
// The values of the store: compact, human-readable JSON. Times in them are informational only.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/coordination/identity.hpp>
#include <evenkeel/coordination/store.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// A wall time in whole seconds since 1970, the format of times in records.
EVENKEEL_API std::int64_t seconds_of(WallTime time);

/// A member of a set: {"at":1767225600,"kind":"storage"}. An empty value is a member without kind and time.
struct MemberRecord {
  std::string kind = {};  ///< For partitions, for instance a process class.
  std::int64_t at = 0;    ///< When the owner added it, by the owner's wall clock.
  Version since = 0;      ///< Set only if a migration copied the member; 0: the version of its key.
};
EVENKEEL_API std::string encode(const MemberRecord& record);
/// Throws DecodeError, whose text begins with the key; so do the other decode_*() functions.
EVENKEEL_API MemberRecord decode_member(const Entry& entry);

/// Encodes the facts of a unit: a JSON array of strings, as in the FoundationDB operator's design.
EVENKEEL_API std::string encode_facts(const std::vector<std::string>& facts);
EVENKEEL_API std::vector<std::string> decode_facts(const Entry& entry);

enum class ClaimState : std::uint8_t {
  executing,  ///< Its owner is acting, or died while acting.
  settled,    ///< Done: its targets are consumed, except those that were given back.
  failed,     ///< Nothing was done.
};
EVENKEEL_API std::string_view text_of(ClaimState state);

/// The newest claim of an action, at arbiter/claims/<action>.
struct ClaimRecord {
  std::uint64_t epoch = 0;  ///< The fencing token: grows by one with each claim and each take-over.
  Identity owner = {};
  ClaimState state = ClaimState::executing;
  /// Others may take over a claim that is unsettled and unchanged for this long. Encoded in milliseconds.
  Duration timeout = {};
  std::int64_t targets = 0;
  std::int64_t at = 0;
  std::string note = {};  ///< The outcome, for people.
};
EVENKEEL_API std::string encode(const ClaimRecord& record);
EVENKEEL_API ClaimRecord decode_claim(const Entry& entry);

/// The members that claims took from one scope, at arbiter/targets/<action>/<scope>: epoch -> unit -> since.
/// A member that still has this since is consumed if the claim of that epoch is settled.
struct TargetsRecord {
  std::map<std::uint64_t, std::map<std::string, Version>> epochs = {};
};
EVENKEEL_API std::string encode(const TargetsRecord& record);
EVENKEEL_API TargetsRecord decode_targets(const Entry& entry);

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
