// SPDX-License-Identifier: Apache-2.0
// What stands in the values: compact JSON that people can read. Times in them are for people only.
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

/// A wall time as whole seconds since 1970, as records show it.
EVENKEEL_API std::int64_t seconds_of(WallTime time);

/// A member of a set: {"at":1767225600,"kind":"storage"}. An empty value is a member too, with nothing said.
struct MemberRecord {
  std::string kind = {};  ///< For partitions, for instance a process class.
  std::int64_t at = 0;    ///< When it was added, by its owner's wall clock.
  Version since = 0;      ///< Only where a migration copied it; else 0: the version of its key.
};
EVENKEEL_API std::string encode(const MemberRecord& record);
/// decode_* throw DecodeError, whose text begins with the key.
EVENKEEL_API MemberRecord decode_member(const Entry& entry);

/// Facts of a unit: a JSON array of texts, as in the FoundationDB operator's design.
EVENKEEL_API std::string encode_facts(const std::vector<std::string>& facts);
EVENKEEL_API std::vector<std::string> decode_facts(const Entry& entry);

enum class ClaimState : std::uint8_t {
  executing,  ///< Its owner acts, or died doing so.
  settled,    ///< Done: its targets are consumed, but for those that it gave back.
  failed,     ///< Nothing was done.
};
EVENKEEL_API std::string_view text_of(ClaimState state);

/// The newest claim of an action, at arbiter/claims/<action>.
struct ClaimRecord {
  std::uint64_t epoch = 0;  ///< Grows by one with each claim and each take-over: the fencing token.
  Identity owner = {};
  ClaimState state = ClaimState::executing;
  Duration timeout =
      {};  ///< Unsettled and unchanged for so long: others may take it over. Milliseconds there.
  std::int64_t targets = 0;
  std::int64_t at = 0;
  std::string note = {};  ///< For people: what came of it.
};
EVENKEEL_API std::string encode(const ClaimRecord& record);
EVENKEEL_API ClaimRecord decode_claim(const Entry& entry);

/// What claims took from one scope, at arbiter/targets/<action>/<scope>: epoch -> unit -> since. A member
/// that still has that since is consumed, if the claim of that epoch is settled.
struct TargetsRecord {
  std::map<std::uint64_t, std::map<std::string, Version>> epochs = {};
};
EVENKEEL_API std::string encode(const TargetsRecord& record);
EVENKEEL_API TargetsRecord decode_targets(const Entry& entry);

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
