// SPDX-License-Identifier: Apache-2.0
// The values of the store: compact, human-readable JSON. Times in them are informational only.
#pragma once

#include <cstddef>
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

/// The members of one kind in a SummaryRecord. A unit that is pending and ready counts as both.
struct KindSummary {
  std::string kind = {};  ///< The kind of the pending members.
  std::size_t pending = 0;
  std::size_t ready = 0;  ///< At most `pending`.
  /// The first units that are pending and not ready, in their order; at most most_missing_names.
  std::vector<std::string> missing = {};
  // Versions of keys of members. In the store, no value means the version of the summary's own key.
  Version added = 0;          ///< The newest pending member.
  Version readied = 0;        ///< The newest key of the ready units, pending or ready; only if ready > 0.
  Version oldest = 0;         ///< The oldest membership: of the ready member, or the pending one without it.
  Version first_pending = 0;  ///< The oldest pending member.

  friend bool operator==(const KindSummary&, const KindSummary&) = default;
};
inline constexpr std::size_t most_missing_names = 5;
inline constexpr std::size_t most_summary_kinds = 32;

/// The counts of one scope's members of one action, at guard/summaryFor<Action>/<scope>. Every publish that
/// changes one of the two sets writes it together with the guard of that set. It is valid only if it has the
/// version of the newer guard; otherwise a program that does not write summaries has changed a set.
struct SummaryRecord {
  std::int64_t at = 0;                  ///< Informational.
  std::vector<KindSummary> kinds = {};  ///< In the order of kinds; at most most_summary_kinds.

  friend bool operator==(const SummaryRecord&, const SummaryRecord&) = default;
};
/// Omits versions that are 0: those of members that are written in the same commit.
EVENKEEL_API std::string encode(const SummaryRecord& record);
/// Versions that were omitted become that of `entry`.
EVENKEEL_API SummaryRecord decode_summary(const Entry& entry);

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

/// The targets among the members of one scope and kind.
enum class TakenKind : std::uint8_t {
  none,     ///< No member is a target.
  earlier,  ///< All are targets of claims before the newest one.
  newest,   ///< All are targets of the newest claim.
  mixed,    ///< All are targets, of the newest claim and of earlier ones.
};
/// A summary of all TargetsRecords of an action, at arbiter/taken/<action>. It is valid only if its epoch is
/// that of the newest claim.
struct TakenRecord {
  struct Scope {
    Version as_of = 0;  ///< Members that are newer than this are not targets.
    /// By kind, for the members up to `as_of`. Kinds of which only some members are targets are absent.
    std::map<std::string, TakenKind> kinds = {};

    friend bool operator==(const Scope&, const Scope&) = default;
  };
  std::uint64_t epoch = 0;
  std::map<std::string, Scope> scopes = {};

  friend bool operator==(const TakenRecord&, const TakenRecord&) = default;
};
EVENKEEL_API std::string encode(const TakenRecord& record);
EVENKEEL_API TakenRecord decode_taken(const Entry& entry);

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
