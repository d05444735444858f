// SPDX-License-Identifier: Apache-2.0
// What instances tell each other: which of their units need an action, and which are prepared for it. An
// instance says all of it anew, as often as it likes, and the ledger writes what has changed, in one
// transaction; and it reads what all of them said, at one moment.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/coordination/identity.hpp>
#include <evenkeel/coordination/layout.hpp>
#include <evenkeel/coordination/liveness.hpp>
#include <evenkeel/coordination/observations.hpp>
#include <evenkeel/coordination/records.hpp>
#include <evenkeel/coordination/sets.hpp>
#include <evenkeel/coordination/store.hpp>
#include <evenkeel/coordination/transact.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

class CoordinationMeter;

/// A unit of a scope. Two scopes may each have a unit of the same name: they are two units.
struct UnitRef {
  std::string scope = {};
  std::string unit = {};

  friend auto operator<=>(const UnitRef&,
                          const UnitRef&) = default;  // NOLINT(modernize-use-nullptr): a false alarm
};

// --- What an instance says
// ------------------------------------------------------------------------------------

/// A member of an own set as the store has it.
struct OwnMember {
  std::string kind = {};
  Version since = 0;    ///< Tells this membership from an earlier and a later one of the same unit.
  std::int64_t at = 0;  ///< When it was added, by the wall clock of then, in seconds; for people.

  friend bool operator==(const OwnMember&, const OwnMember&) = default;
};

/// All that an instance wants to stand below its scope. Built from OwnState::desired(), or anew.
class EVENKEEL_API DesiredState {
 public:
  /// `unit` is to be in `set`; if it is there, it stays as it is (its since, and its kind).
  void add(std::string_view set, std::string_view unit, std::string_view kind = {});
  void remove(std::string_view set, std::string_view unit);
  /// From all sets and the facts.
  void remove_unit(std::string_view unit);
  /// Whatever `keep` says false of is removed from all sets and the facts: units that are no more.
  void keep_only(const std::function<bool(const std::string& unit)>& keep);
  /// `unit` is to be in `set` with a new since, and with `kind` unless that is empty: for a member that was
  /// consumed although the action is needed again. Does nothing unless its since is still `consumed`, so that
  /// saying it twice renews once.
  void renew(std::string_view set, std::string_view unit, Version consumed, std::string_view kind = {});
  /// What is known of `unit`; empty: nothing is.
  void set_facts(std::string_view unit, std::vector<std::string> facts);

  bool contains(std::string_view set, std::string_view unit) const;
  using Units = std::map<std::string, std::string, std::less<>>;  ///< unit -> kind
  const std::map<std::string, Units, std::less<>>& sets() const noexcept { return sets_; }
  const std::map<std::string, std::vector<std::string>, std::less<>>& facts() const noexcept {
    return facts_;
  }
  /// (set, unit) -> the since that is to be replaced.
  const std::map<std::pair<std::string, std::string>, Version>& renewals() const noexcept {
    return renewals_;
  }

  friend bool operator==(const DesiredState&, const DesiredState&) = default;

 private:
  std::map<std::string, Units, std::less<>> sets_;
  std::map<std::string, std::vector<std::string>, std::less<>> facts_;
  std::map<std::pair<std::string, std::string>, Version> renewals_;
};

/// What stands below an instance's scope.
struct EVENKEEL_API OwnState {
  Version version = 0;  ///< Of the snapshot.
  std::map<std::string, std::map<std::string, OwnMember, std::less<>>, std::less<>> sets = {};
  std::map<std::string, std::vector<std::string>, std::less<>> facts = {};

  /// Null if `unit` is not in `set`.
  const OwnMember* find(std::string_view set, std::string_view unit) const;
  bool contains(std::string_view set, std::string_view unit) const { return find(set, unit) != nullptr; }
  /// That nothing be changed: what to begin with.
  DesiredState desired() const;
};

/// The own entries of one snapshot, as read_own() gives them.
struct OwnEntries {
  Version version = 0;
  std::map<std::string, std::vector<Entry>, std::less<>> sets = {};  ///< By set; each in the order of keys.
  std::vector<Entry> facts = {};
  std::optional<Entry> record = {};  ///< instances/<scope>
};
/// Reads all that stands below `scope` for the sets of `domain`. Throws as StoreSnapshot does.
EVENKEEL_API OwnEntries read_own(StoreSnapshot& snapshot, const Layout& layout, const Domain& domain,
                                 std::string_view scope);
/// Throws DecodeError, naming the key.
EVENKEEL_API OwnState own_state(const Layout& layout, const OwnEntries& entries);

/// One key that a publish writes, for logs and metrics.
struct PublishChange {
  std::string set = {};  ///< facts_table for facts.
  std::string unit = {};
  enum class Kind : std::uint8_t { added, removed, renewed, rewritten } kind = Kind::added;

  friend bool operator==(const PublishChange&, const PublishChange&) = default;
};
struct PublishPlan {
  Commit commit = {};  ///< Writes nothing if `changes` is empty.
  std::vector<PublishChange> changes = {};
};
/// The smallest commit that makes what is into what is wanted, in all sets and facts together; with each set
/// that it changes it puts the guard of that set. Pure.
/// Throws std::invalid_argument for a ready member that is not pending and for a set that `domain` does
/// not have.
EVENKEEL_API PublishPlan plan_publish(const Layout& layout, const Domain& domain, std::string_view scope,
                                      const OwnEntries& present, const DesiredState& desired, WallTime wall);

// --- What all of them said
// ------------------------------------------------------------------------------------

/// A member of one of an action's sets, of any scope.
struct Member {
  UnitRef ref = {};
  std::string kind = {};
  Version since = 0;
  std::int64_t at = 0;  ///< For people.
  TimePoint seen = {};  ///< When this process saw this membership first.
};

/// The claim of an action as others see it.
struct ClaimView {
  ClaimRecord record = {};
  Version version = 0;
  TimePoint seen = {};  ///< When this process saw it first as it is.
};

/// A scope that is being moved to another one in pieces (see scope_migrator.hpp). Meanwhile both names mean
/// the same: a unit below both counts once, and what a claim took below the one is consumed below the other.
struct ScopeMove {
  std::string from = {};
  std::string to = {};
  Version version = 0;  ///< Of Layout::migrating(from).
  TimePoint seen = {};  ///< When this process saw it first.
};

/// Everything that a decision about one action rests upon, at one moment.
struct View {
  std::string action = {};
  Version version = 0;
  std::vector<Member> pending = {};   ///< In the order of scope and unit; consumed ones are not among them.
  std::vector<Member> ready = {};     ///< The same.
  std::vector<Member> consumed = {};  ///< Ready (or only pending) members that a settled claim has taken.
  std::map<UnitRef, std::vector<std::string>> facts = {};
  std::vector<Instance> instances = {};  ///< In the order of scopes.
  Duration silence = {};                 ///< LivenessOptions::silence, by which some of them are silent.
  std::vector<std::string> denied = {};  ///< Scopes, in order.
  std::map<std::string, Version> denied_versions = {};   ///< Of their keys.
  std::vector<ScopeMove> moves = {};                     ///< In the order of `from`.
  std::optional<ClaimView> claim = {};                   ///< The newest one.
  std::map<std::string, TargetsRecord> targets = {};     ///< By scope.
  std::map<std::string, Version> targets_versions = {};  ///< Of their keys.
  std::optional<Entry> lock = {};
  /// Keys whose values cannot be read, with the error: a decision that would rest upon one is not taken. A
  /// registry record is among them only until it was as it is for `silence`: then its instance is gone.
  std::vector<std::string> unreadable = {};

  /// Null if there is none.
  const Instance* instance(std::string_view scope) const;
  /// What `scope` is called as well, because it is being moved.
  std::vector<std::string> other_names(std::string_view scope) const;
};

/// The entries that a View is made of, all of one snapshot.
struct ViewEntries {
  std::string action = {};
  Version version = 0;
  std::vector<Entry> pending = {};
  std::vector<Entry> ready = {};
  std::vector<Entry> facts = {};
  std::vector<Entry> instances = {};
  std::vector<Entry> denied = {};
  std::vector<Entry> targets = {};
  std::vector<Entry> migrating = {};
  std::optional<Entry> claim = {};
  std::optional<Entry> lock = {};
};

/// What was read of the sets and facts of each scope, with the version of the guard that says that it has not
/// changed since: what a view costs then grows with the number of scopes and with what changed, not with all
/// members. Thread safety: all members may be called concurrently.
class EVENKEEL_API ViewCache {
 public:
  /// The entries of `table` (a set, or the facts). Scopes that have no guard are seen only as long as none
  /// has: whoever writes puts one. Throws as StoreSnapshot does.
  std::vector<Entry> read(StoreSnapshot& snapshot, const Layout& layout, const std::string& table)
      EVENKEEL_EXCLUDES(mutex_);

 private:
  struct Kept {
    Version guard = 0;
    std::shared_ptr<const std::vector<Entry>> entries;
  };
  using Scopes = std::map<std::string, Kept>;

  Mutex mutex_;
  std::map<std::string, Scopes> tables_ EVENKEEL_GUARDED_BY(mutex_);
  Version latest_ EVENKEEL_GUARDED_BY(mutex_) = 0;
};

/// Throws as StoreSnapshot does.
EVENKEEL_API ViewEntries read_view(StoreSnapshot& snapshot, const Layout& layout, std::string_view action,
                                   ViewCache& cache);

/// Makes views of entries, and remembers for each action since when each thing has been as it is. Pure.
/// Thread safety: one thread at a time.
class EVENKEEL_API Viewer {
 public:
  explicit Viewer(Layout layout, LivenessOptions liveness = {});
  /// While a scope is being moved in pieces, a member of the old one that also stands below the new one is
  /// left out (see ScopeMove).
  View view(const ViewEntries& entries, TimePoint now);

 private:
  void read_members(const std::string& set, const std::vector<Entry>& entries, TimePoint now,
                    std::vector<Member>& into, View& view);
  void read_arbiter(const ViewEntries& entries, TimePoint now, View& view);

  Layout layout_;
  Liveness liveness_;
  Duration silence_;
  Observations seen_;
};

// --- The shell
// ------------------------------------------------------------------------------------------------

struct LedgerOptions {
  Domain domain = {};
  Identity identity = {};
  Mode mode = Mode::global;  ///< For the registry record that publishing renews.
  LivenessOptions liveness = {};
  TransactOptions transact = {};  ///< token_key, token and clock are set by the ledger.
  /// Is shown every view of this ledger, and told what its ActionClaims come to. Several ledgers of one
  /// domain may share one. Default: none.
  std::shared_ptr<CoordinationMeter> meter = {};
  std::shared_ptr<const Clock> clock = real_clock();
};

/// What came of a publish.
struct Published {
  Transacted transacted = {};
  std::vector<PublishChange> changes = {};  ///< What was written, if it was.

  /// The store has what was wanted: written now, or it was so.
  bool done() const noexcept { return transacted.committed(); }
};

/// An instance's access to what is shared.
/// Thread safety: all members may be called concurrently. Blocks: as Store does, and for the delays of
/// transact(). Lifetime: not longer than the store.
class EVENKEEL_API Ledger {
 public:
  /// What is to stand below the scope, given what does. Runs again after a conflict: no effects of its own.
  using Desire = std::function<DesiredState(const OwnState& own)>;

  /// Throws std::invalid_argument for an empty scope, instance or incarnation, and for a bad domain.
  Ledger(Store& store, LedgerOptions options);

  /// Throws StoreUnavailable, SnapshotExpired, DecodeError; Cancelled.
  OwnState own(std::stop_token stop = {});
  /// Writes what has changed, all or nothing; nothing if nothing has. Each commit renews the
  /// registry record. Throws what `desire` throws; std::invalid_argument as plan_publish(); ScopeTaken;
  /// DecodeError; Cancelled on a stop while reading. What the store does not do stands in Published.
  Published publish(const Desire& desire, std::stop_token stop = {});
  /// Throws StoreUnavailable, SnapshotExpired; Cancelled.
  View view(std::string_view action, std::stop_token stop = {});
  /// For transactions that rest upon the view: what it is made of, and the view of that. Throws as view().
  ViewEntries read(StoreSnapshot& snapshot, std::string_view action);
  View view(const ViewEntries& entries);

  const Layout& layout() const noexcept { return layout_; }
  const LedgerOptions& options() const noexcept { return options_; }
  Store& store() const noexcept { return store_; }

 private:
  InstanceRecord renewed(const std::optional<Entry>& entry, TimePoint now) EVENKEEL_REQUIRES(publishing_);

  Store& store_;
  const LedgerOptions options_;
  const Layout layout_;
  Mutex publishing_;  // one transaction at a time per token key
  Liveness own_liveness_ EVENKEEL_GUARDED_BY(publishing_);
  bool registered_ EVENKEEL_GUARDED_BY(publishing_) = false;
  Mutex mutex_;
  Viewer viewer_ EVENKEEL_GUARDED_BY(mutex_);
  ViewCache cache_;
};

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
