// SPDX-License-Identifier: Apache-2.0
// Moves everything that an instance owns in the store to a new scope (kube-cluster-1 becomes unicorn), in one
// transaction if the store can do that, so that nothing is left behind for other instances to wait for.
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

/// Returns the scope that the instance of `me` had before its present one, according to the registry; nullopt
/// if there is none. Call it at the start, before the first publish.
EVENKEEL_API std::optional<std::string> former_scope(const std::vector<Instance>& instances,
                                                     const Identity& me);

/// Everything in the store that concerns the move of one scope to another, of one snapshot.
struct MigrationReads {
  std::string from = {};
  std::string to = {};
  std::vector<std::string> tables = {};   ///< Names of the existing sets and facts: "pendingForRestart".
  std::vector<Entry> from_members = {};   ///< Entries of `from` in all tables.
  std::vector<Entry> to_members = {};     ///< Entries of `to` in all tables.
  std::vector<std::string> guards = {};   ///< Sets for which `from` has a guard.
  std::vector<Entry> claims = {};         ///< All claims.
  std::vector<Entry> from_targets = {};   ///< Targets that claims took from `from`.
  std::vector<Entry> to_targets = {};     ///< Targets that claims took from `to`.
  std::optional<Entry> from_record = {};  ///< instances/<from>
  std::optional<Entry> to_record = {};    ///< instances/<to>
  std::optional<Entry> from_token = {};   ///< tokens/<from>
  std::optional<Entry> lock = {};
  std::optional<Entry> denied = {};  ///< arbiter/denyList/<from>
  std::optional<Entry> marker = {};  ///< arbiter/migrating/<from>
  /// arbiter/migrating/<to>, if it names `from` as its destination: then this move reverts that one.
  std::optional<Entry> reverse_marker = {};
};
/// Reads the entries of a move. Throws as StoreSnapshot; std::invalid_argument if the scopes are equal or one
/// is empty.
EVENKEEL_API MigrationReads read_migration(StoreSnapshot& snapshot, const Layout& layout,
                                           std::string_view from, std::string_view to);

struct MigrationOptions {
  /// Also moves a scope of another instance, or of none. For people, who know that the instance is gone.
  bool any_owner = false;
};

/// Returns why `me` may not move `from` to `to`; empty if it may. The move is refused
/// - if `from` belongs to another instance, or to none, unless any_owner is set;
/// - if `to` belongs to another instance, or has members already (unless this move continues or reverts an
///   earlier one);
/// - while another instance acts for a claim, which may have targets in `from`.
EVENKEEL_API std::string refusal(const MigrationReads& reads, const Identity& me,
                                 const MigrationOptions& options = {});
/// Returns true if nothing is left below `from`.
EVENKEEL_API bool is_moved(const MigrationReads& reads);

/// Plans the whole move as one commit: every member with its value and its since, the guards, the registry
/// record (the record of the old scope then names the new one, so that a run of the instance that was paused
/// during the move stops), the entry on the deny list, the lock if this instance holds it, and the targets of
/// claims. It is conditional on both tokens, and so on everything below both scopes. Pure. Source: the design
/// of the FoundationDB operator, "migrate all the old keys to the desired keys in a single transaction",
/// which was never shipped.
EVENKEEL_API Commit plan_migration(const Layout& layout, const MigrationReads& reads, const Identity& me,
                                   WallTime wall);

/// One commit of a move, for stores that cannot do it in a single one: first the marker is written, then the
/// members are copied unit by unit, then the old ones are erased, then the rest is moved. While the marker
/// exists, readers leave out members of `from` that are also below `to`, and the gate waits, for at most
/// LivenessOptions::silence. A process may stop after any piece: the next piece is determined from the store,
/// whether the move is continued or reverted.
struct MigrationPiece {
  Commit commit = {};
  /// The token of the one scope that the commit writes, or the arbiter's token.
  std::string token_key = {};
  std::size_t members = 0;  ///< Number of members that it copies.
  bool last = false;        ///< True if the move is complete after this piece.
};
/// Plans the next piece. Throws std::length_error if a single unit exceeds `limits`. Pure.
EVENKEEL_API MigrationPiece plan_piece(const Layout& layout, const MigrationReads& reads, const Identity& me,
                                       const Limits& limits, WallTime wall);

enum class MigrationOutcome : std::uint8_t {
  moved,        ///< The scope was moved by this call.
  nothing,      ///< There was nothing to move, or it had been moved before.
  refused,      ///< Nothing was changed; see `why`.
  unavailable,  ///< The store did not answer; retry.
};
struct Migration {
  MigrationOutcome outcome = MigrationOutcome::unavailable;
  std::string why = {};
  std::size_t members = 0;       ///< Number of entries of sets and facts that were moved.
  std::size_t transactions = 0;  ///< 1, unless the store cannot move the scope at once.
};

/// Moves scopes for one instance.
/// Thread safety: one thread at a time. Blocks as Store does. Lifetime: must not outlive the store.
class EVENKEEL_API ScopeMigrator {
 public:
  /// `me` has the new scope. `transact` as for LeaseLock. Nothing may publish for `me` during a move.
  ScopeMigrator(Store& store, Layout layout, Identity me, MigrationOptions options = {},
                TransactOptions transact = {});

  /// Moves `from` to the scope of `me`, in one transaction if the store can do that. Throws DecodeError,
  /// Cancelled, std::length_error as plan_piece().
  Migration migrate(std::string_view from, std::stop_token stop = {});
  /// Calls migrate() for the former scope, if the registry has one. Before that, it resolves a move that an
  /// earlier run of this instance left unfinished: a move to the present scope is continued, a move away from
  /// it is reverted, and a move to a third scope is completed, which then is the former scope. Call it when
  /// an instance starts, and repeat it before publishing until the outcome is moved or nothing.
  Migration migrate_if_renamed(std::stop_token stop = {});

 private:
  std::optional<Migration> before(const MigrationReads& reads) const;
  std::optional<Migration> at_once(std::string_view from, const std::stop_token& stop);
  Migration in_pieces(std::string_view from, const std::stop_token& stop);
  Migration finish_started_moves(const std::vector<Entry>& markers, const std::stop_token& stop);
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
