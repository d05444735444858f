// SPDX-License-Identifier: Apache-2.0
// The view that an instance has of all instances: their members, or the counts of them, and everything else
// that a decision about an action depends on.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/coordination/liveness.hpp>
#include <evenkeel/coordination/records.hpp>
#include <evenkeel/coordination/store.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// A unit of a scope. Units of the same name in two scopes are different units.
struct UnitRef {
  std::string scope = {};
  std::string unit = {};

  friend auto operator<=>(const UnitRef&,
                          const UnitRef&) = default;  // NOLINT(modernize-use-nullptr): a false alarm
};

/// A member of one of an action's sets, of any scope.
struct Member {
  UnitRef ref = {};
  std::string kind = {};
  Version since = 0;
  std::int64_t at = 0;  ///< Informational.
  TimePoint seen = {};  ///< When this process first saw this membership.
};

/// The members of one scope and kind, of which only the counts were read. Consumed members are not counted.
struct Tally {
  std::string scope = {};
  std::string kind = {};
  std::size_t pending = 0;                ///< > 0
  std::size_t ready = 0;                  ///< Number of pending units that are ready.
  std::vector<std::string> missing = {};  ///< The first units that are not ready, see KindSummary.
  TimePoint added = {};    ///< When this process first saw the newest member, pending or ready.
  TimePoint readied = {};  ///< Likewise of the ready units only; only if ready > 0.
  TimePoint first = {};    ///< When this process first saw the oldest pending member.
};

/// The newest claim of an action, as other instances see it.
struct ClaimView {
  ClaimRecord record = {};
  Version version = 0;
  TimePoint seen = {};  ///< When this process first saw it at this version.
};

/// A scope that is being moved to another one in several commits (see scope_migrator.hpp). During the move
/// both names mean the same scope: a unit below both counts once, and what a claim took below one is consumed
/// below the other.
struct ScopeMove {
  std::string from = {};
  std::string to = {};
  Version version = 0;  ///< The version of Layout::migrating(from).
  TimePoint seen = {};  ///< When this process first saw it.
};

/// Everything that a decision about one action depends on, as of one version.
struct EVENKEEL_API View {
  std::string action = {};
  Version version = 0;
  std::vector<Member> pending = {};  ///< In the order of scope and unit, without consumed members.
  std::vector<Member> ready = {};    ///< Likewise.
  /// Ready (or only pending) members that a settled claim has taken, with the kind of the pending member.
  std::vector<Member> consumed = {};
  /// False for a view of read_summaries(): `tallies` then stand for the members of the scopes that have a
  /// valid summary; these scopes have neither members nor targets here, and no scope has facts. Such a view
  /// is enough for a decision not to act.
  bool whole = true;
  std::vector<Tally> tallies = {};  ///< In the order of scope and kind. Empty if `whole`.
  /// Scopes with consumed members that were not read; sorted.
  std::vector<std::string> consumed_scopes = {};
  std::map<UnitRef, std::vector<std::string>> facts = {};
  std::vector<Instance> instances = {};  ///< In the order of scopes.
  Duration silence = {};                 ///< The LivenessOptions::silence that `instances` were judged by.
  std::vector<std::string> denied = {};  ///< Scopes, sorted.
  std::map<std::string, Version> denied_versions = {};   ///< Versions of the keys of the deny list, by scope.
  std::vector<ScopeMove> moves = {};                     ///< In the order of `from`.
  std::optional<ClaimView> claim = {};                   ///< The newest one.
  std::map<std::string, TargetsRecord> targets = {};     ///< By scope.
  std::map<std::string, Version> targets_versions = {};  ///< Versions of the keys of `targets`, by scope.
  std::map<std::string, Version> guards = {};            ///< The newer of the guards of both sets, by scope.
  std::optional<TakenRecord> taken = {};                 ///< Unset if absent or not readable.
  std::optional<Entry> lock = {};
  /// Keys whose values cannot be decoded, with the error; no decision is made that depends on one of them. A
  /// registry record is listed until it has been unchanged for `silence`; after that its instance counts as
  /// gone.
  std::vector<std::string> unreadable = {};

  /// Returns null if `scope` has no record.
  const Instance* instance(std::string_view scope) const;
  /// Returns the other names of `scope` during moves.
  std::vector<std::string> other_names(std::string_view scope) const;
};

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
