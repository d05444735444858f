// SPDX-License-Identifier: Apache-2.0
// An instance gets another scope (kube-cluster-1 becomes unicorn): everything that it owns in the store moves
// with it, in one transaction, so that nothing is left behind for the others to wait for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/coordination/identity.hpp>
#include <evenkeel/coordination/layout.hpp>
#include <evenkeel/coordination/liveness.hpp>
#include <evenkeel/coordination/store.hpp>
#include <evenkeel/coordination/transact.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// The scope that the instance of `me` had before it got its present one, as the registry says; nothing if
/// there is none. What to ask at the start, before the first publish.
EVENKEEL_API std::optional<std::string> former_scope(const std::vector<Instance>& instances,
                                                     const Identity& me);

/// Everything in the store that has to do with two scopes, of one snapshot.
struct MigrationReads {
  std::string from = {};
  std::string to = {};
  std::vector<std::string> tables = {};   ///< Sets and facts that there are: "pendingForRestart".
  std::vector<Entry> from_members = {};   ///< Below all of them, of `from`.
  std::vector<Entry> to_members = {};     ///< The same of `to`.
  std::vector<std::string> guards = {};   ///< Sets of which `from` has a guard.
  std::vector<Entry> claims = {};         ///< All.
  std::vector<Entry> from_targets = {};   ///< What claims took from `from`.
  std::vector<Entry> to_targets = {};     ///< The same of `to`.
  std::optional<Entry> from_record = {};  ///< instances/<from>
  std::optional<Entry> to_record = {};    ///< instances/<to>
  std::optional<Entry> from_token = {};   ///< tokens/<from>
  std::optional<Entry> lock = {};
  std::optional<Entry> denied = {};  ///< arbiter/denyList/<from>
  std::optional<Entry> marker = {};  ///< arbiter/migrating/<from>
  /// arbiter/migrating/<to>, if that is on its way to `from`: then this move is the way back.
  std::optional<Entry> way_back = {};
};
/// Throws as StoreSnapshot; std::invalid_argument if the scopes are the same or one is empty.
EVENKEEL_API MigrationReads read_migration(StoreSnapshot& snapshot, const Layout& layout,
                                           std::string_view from, std::string_view to);

struct MigrationOptions {
  /// Also what belongs to another instance, or to nobody. For people, who know that it is gone.
  bool any_owner = false;
};

/// Why `me` may not move `from` to `to`; empty: it may. It may not
/// - if `from` belongs to another instance, or to nobody, unless any_owner;
/// - if `to` belongs to another instance, or has members of its own (and `from` is not on its way there, nor
///   this the way back);
/// - while somebody else acts for a claim, which may have targets of `from`.
EVENKEEL_API std::string refusal(const MigrationReads& reads, const Identity& me,
                                 const MigrationOptions& options = {});
/// Nothing is left of `from`.
EVENKEEL_API bool is_moved(const MigrationReads& reads);

/// The whole move as one commit: every member with its value and the version since when it is a member, the
/// guards, the registry record (what stays of the old one says where the scope went, so that a run of the
/// instance that slept through it stops), the place on the deny list, the lock if this instance has it, and
/// what claims took. Rests upon both tokens, so on everything below both scopes. Pure. Source: the design
/// of the FoundationDB operator, "migrate all the old keys to the desired keys in a single transaction",
/// which was never shipped.
EVENKEEL_API Commit plan_migration(const Layout& layout, const MigrationReads& reads, const Identity& me,
                                   WallTime wall);

/// A part of the move, for stores that cannot do it at once: first the marker, then the members unit by unit
/// to the new scope, then the old ones go, then the rest. As long as the marker is there, readers leave out
/// members of `from` that also stand below `to`, and the gate waits, for LivenessOptions::silence at most.
/// Any piece may be the last one that a process does: the next one is found from the store, be it to go on or
/// to go back.
struct MigrationPiece {
  Commit commit = {};
  /// The token of the one scope that it writes, or the arbiter's.
  std::string token_key = {};
  std::size_t members = 0;  ///< That it copies.
  bool last = false;
};
/// Throws std::length_error if one unit alone is more than `limits` allow. Pure.
EVENKEEL_API MigrationPiece plan_piece(const Layout& layout, const MigrationReads& reads, const Identity& me,
                                       const Limits& limits, WallTime wall);

enum class MigrationOutcome : std::uint8_t {
  moved,        ///< Now.
  nothing,      ///< There was nothing to move, or it had been moved.
  refused,      ///< See `why`; nothing was changed.
  unavailable,  ///< The store did not say; call it again.
};
struct Migration {
  MigrationOutcome outcome = MigrationOutcome::unavailable;
  std::string why = {};
  std::size_t members = 0;       ///< That were moved: entries of sets and facts.
  std::size_t transactions = 0;  ///< 1, unless the store cannot.
};

/// Thread safety: one thread at a time. Blocks as Store does. Lifetime: not longer than the store.
class EVENKEEL_API ScopeMigrator {
 public:
  /// `me` with the new scope. `transact` as for LeaseLock. Nobody publishes for `me` meanwhile.
  ScopeMigrator(Store& store, Layout layout, Identity me, MigrationOptions options = {},
                TransactOptions transact = {});

  /// Moves `from` to the own scope, in one transaction if the store can do that. Throws DecodeError,
  /// Cancelled, std::length_error as plan_piece().
  Migration migrate(std::string_view from, std::stop_token stop = {});
  /// migrate() from the former scope, if the registry knows one. Before that, ends what an earlier run of
  /// this instance began and left: a move to the own scope goes on, one away from it is undone, and one to a
  /// third scope is ended, to be the former one then. For the start of an instance; unless it is moved or
  /// nothing, call it again before publishing.
  Migration migrate_if_renamed(std::stop_token stop = {});

 private:
  std::optional<Migration> before(const MigrationReads& reads) const;
  std::optional<Migration> at_once(std::string_view from, const std::stop_token& stop);
  Migration in_pieces(std::string_view from, const std::stop_token& stop);
  Migration end_begun(const std::vector<Entry>& markers, const std::stop_token& stop);
  Transacted run(const TransactBody& body, std::string token_key, const std::stop_token& stop) const;

  Store& store_;
  const Layout layout_;
  const Identity me_;
  const MigrationOptions options_;
  const TransactOptions transact_;
};

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
