// SPDX-License-Identifier: Apache-2.0
// The sets that instances publish: the units that need an action and the units that are prepared for it. An
// instance states its complete desired state as often as it likes, and the ledger writes the difference in
// one transaction. It also reads the sets of all instances as of one version.
#pragma once

#include <atomic>
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
#include <evenkeel/coordination/view.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

class CoordinationMeter;

// --- The sets of one instance ---

/// A member of a set of the own scope, as it is in the store.
struct OwnMember {
  std::string kind = {};
  Version since = 0;  ///< Distinguishes this membership from earlier and later ones of the same unit.
  /// When it was added, by the owner's wall clock, in seconds since 1970; informational.
  std::int64_t at = 0;
  bool moved = false;  ///< A migration copied it, and `since` is a version of the former scope's key.

  friend bool operator==(const OwnMember&, const OwnMember&) = default;
};

/// Everything that an instance wants below its scope. Start from OwnState::desired(), or from an empty one.
class EVENKEEL_API DesiredState {
 public:
  /// Adds `unit` to `set`. A unit that the store already has there keeps its since and its kind.
  void add(std::string_view set, std::string_view unit, std::string_view kind = {});
  void remove(std::string_view set, std::string_view unit);
  /// Removes `unit` from all sets and from the facts.
  void remove_unit(std::string_view unit);
  /// Removes every unit for which `keep` returns false from all sets and from the facts.
  void keep_only(const std::function<bool(const std::string& unit)>& keep);
  /// Adds `unit` to `set` with a new since, and with `kind` unless that is empty: for a member that was
  /// consumed although the action is needed again. Has no effect unless the member's since is still
  /// `consumed`, so repeated calls renew it once.
  void renew(std::string_view set, std::string_view unit, Version consumed, std::string_view kind = {});
  /// Sets the facts about `unit`; an empty list removes them.
  void set_facts(std::string_view unit, std::vector<std::string> facts);

  bool contains(std::string_view set, std::string_view unit) const;
  using Units = std::map<std::string, std::string, std::less<>>;  ///< unit -> kind
  const std::map<std::string, Units, std::less<>>& sets() const noexcept { return sets_; }
  const std::map<std::string, std::vector<std::string>, std::less<>>& facts() const noexcept {
    return facts_;
  }
  /// (set, unit) -> the since that is to be replaced, see renew().
  const std::map<std::pair<std::string, std::string>, Version>& renewals() const noexcept {
    return renewals_;
  }

  friend bool operator==(const DesiredState&, const DesiredState&) = default;

 private:
  std::map<std::string, Units, std::less<>> sets_;
  std::map<std::string, std::vector<std::string>, std::less<>> facts_;
  std::map<std::pair<std::string, std::string>, Version> renewals_;
};

/// Everything that the store has below an instance's scope.
struct EVENKEEL_API OwnState {
  Version version = 0;  ///< The version of the snapshot.
  std::map<std::string, std::map<std::string, OwnMember, std::less<>>, std::less<>> sets = {};
  std::map<std::string, std::vector<std::string>, std::less<>> facts = {};

  /// Returns null if `unit` is not in `set`.
  const OwnMember* find(std::string_view set, std::string_view unit) const;
  bool contains(std::string_view set, std::string_view unit) const { return find(set, unit) != nullptr; }
  /// Returns a desired state that changes nothing, as a starting point.
  DesiredState desired() const;
};

/// The entries below one scope in one snapshot, as read_own() returns them.
struct OwnEntries {
  Version version = 0;
  std::map<std::string, std::vector<Entry>, std::less<>> sets = {};  ///< By set; each in key order.
  std::vector<Entry> facts = {};
  std::optional<Entry> record = {};  ///< instances/<scope>
};
/// Reads everything below `scope` for the sets of `domain`. Throws as StoreSnapshot does.
EVENKEEL_API OwnEntries read_own(StoreSnapshot& snapshot, const Layout& layout, const Domain& domain,
                                 std::string_view scope);
/// Decodes `entries`. Throws DecodeError, which names the key.
EVENKEEL_API OwnState own_state(const Layout& layout, const OwnEntries& entries);

/// A key that a publish writes, for logs and metrics.
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
/// Plans the smallest commit that turns `present` into `desired`, in all sets and facts together. For each
/// set that it changes it also writes the guard of that set and the summary of its action (SummaryRecord);
/// there is no summary while a member is one that a migration has copied, and of more than most_summary_kinds
/// kinds. Pure. Throws std::invalid_argument for a ready member that is not pending, and for a set that
/// `domain` does not have.
EVENKEEL_API PublishPlan plan_publish(const Layout& layout, const Domain& domain, std::string_view scope,
                                      const OwnState& present, const DesiredState& desired, WallTime wall);

// --- The sets of all instances ---

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
  std::optional<Entry> taken = {};
  std::map<std::string, Version> guards = {};  ///< The newer of the guards of both sets, by scope.
  bool whole = true;                           ///< See View::whole.
  /// If not `whole`: the summaries that stand for members that were not read, by scope, without the kinds
  /// whose members are all consumed.
  std::map<std::string, SummaryRecord> summaries = {};
  std::vector<std::string> consumed = {};  ///< See View::consumed_scopes.
};

/// Caches the sets and facts of each scope, validated by the versions of the guard keys, so that the cost of
/// a view grows with the number of scopes and of changes instead of the number of members. Thread safety: all
/// members may be called concurrently.
class EVENKEEL_API ViewCache {
 public:
  /// Returns the entries of `table` (a set, or the facts), whose guards are `guards`, of the same snapshot.
  /// Scopes without a guard are included only while no scope has one; every writer of this library writes
  /// guards. Throws as StoreSnapshot does.
  std::vector<Entry> read(StoreSnapshot& snapshot, const Layout& layout, const std::string& table,
                          const std::vector<Entry>& guards) EVENKEEL_EXCLUDES(mutex_);
  /// Likewise, only the entries of `scopes`, which are sorted, and of these only those that have a guard.
  std::vector<Entry> read(StoreSnapshot& snapshot, const Layout& layout, const std::string& table,
                          const std::vector<Entry>& guards, const std::vector<std::string>& scopes)
      EVENKEEL_EXCLUDES(mutex_);

 private:
  struct Kept {
    Version guard = 0;
    std::shared_ptr<const std::vector<Entry>> entries;
  };
  using Scopes = std::map<std::string, Kept>;
  Scopes known(const StoreSnapshot& snapshot, const std::string& table) EVENKEEL_EXCLUDES(mutex_);

  Mutex mutex_;
  std::map<std::string, Scopes> tables_ EVENKEEL_GUARDED_BY(mutex_);
  Version latest_ EVENKEEL_GUARDED_BY(mutex_) = 0;
};

/// Reads the entries of a view of `action`. Throws as StoreSnapshot does.
EVENKEEL_API ViewEntries read_view(StoreSnapshot& snapshot, const Layout& layout, std::string_view action,
                                   ViewCache& cache);
/// Reads the entries of a view of `action` in which summaries stand for the members of as many scopes as
/// possible. What is read grows with the number of scopes and not with that of their members, except that the
/// members of these scopes are read, unless the cache has them:
/// - the scope `also`, if it is not empty;
/// - those without a valid summary, because a program that writes none has written the set, or a migration;
/// - those that are being moved;
/// - those of which only some members are consumed.
/// All members are read, as read_view() does, while no scope has a guard, and if the newest claim was made by
/// a program that does not write a TakenRecord. Throws as StoreSnapshot does.
EVENKEEL_API ViewEntries read_summaries(StoreSnapshot& snapshot, const Layout& layout,
                                        std::string_view action, ViewCache& cache,
                                        std::string_view also = {});

/// Builds views from entries, and remembers for each action since when each item has been unchanged. Pure.
/// Thread safety: one thread at a time.
class EVENKEEL_API Viewer {
 public:
  explicit Viewer(Layout layout, LivenessOptions liveness = {});
  /// Builds the view. While a scope is being moved, a member of the old scope that is also below the new one
  /// is left out (see ScopeMove).
  View view(const ViewEntries& entries, TimePoint now);

 private:
  void read_members(const std::string& set, const std::vector<Entry>& entries, TimePoint now,
                    std::vector<Member>& into, View& view);
  void read_tallies(const ViewEntries& entries, TimePoint now, View& view);
  void read_arbiter(const ViewEntries& entries, TimePoint now, View& view);

  Layout layout_;
  Liveness liveness_;
  Duration silence_;
  Observations seen_;
  std::map<std::string, VersionHistories> guards_;  ///< By action; the key of a history is the scope.
};

// --- Shell ---

struct LedgerOptions {
  Domain domain = {};
  Identity identity = {};
  /// The mode in the registry record, which each publish renews; see Ledger::set_mode().
  Mode mode = Mode::global;
  LivenessOptions liveness = {};
  TransactOptions transact = {};  ///< token_key, token and clock are set by the ledger.
  /// Receives every view of this ledger and the results of its ActionClaims. The ledgers of one domain may
  /// share a meter. Default: none.
  std::shared_ptr<CoordinationMeter> meter = {};
  std::shared_ptr<const Clock> clock = real_clock();
};

/// The result of Ledger::publish().
struct Published {
  Transacted transacted = {};
  std::vector<PublishChange> changes = {};  ///< The changes that were written, if the transaction committed.

  /// True if the store has the desired state, whether or not it had to be written.
  bool done() const noexcept { return transacted.committed(); }
};

/// An instance's access to the sets of its domain.
/// Thread safety: all members may be called concurrently. Blocks: as Store does, and for the delays of
/// transact(). Lifetime: must not outlive the store.
class EVENKEEL_API Ledger {
 public:
  /// Returns the desired state of the scope, given its present state. Runs again after a conflict, so it must
  /// not have side effects.
  using Desire = std::function<DesiredState(const OwnState& own)>;

  /// Throws std::invalid_argument for an empty scope, instance or incarnation, and for a bad domain.
  Ledger(Store& store, LedgerOptions options);

  /// Returns the state of the own scope. Throws StoreUnavailable, SnapshotExpired, DecodeError; Cancelled.
  OwnState own(std::stop_token stop = {});
  /// Writes the difference between the present and the desired state, all or nothing; writes nothing if there
  /// is no difference. Each commit renews the registry record. Failures of the store are reported in the
  /// result. Throws what `desire` throws; std::invalid_argument as plan_publish(); ScopeTaken; DecodeError;
  /// Cancelled on a stop while reading.
  Published publish(const Desire& desire, std::stop_token stop = {});
  /// Returns the view of `action`. Throws StoreUnavailable, SnapshotExpired; Cancelled.
  View view(std::string_view action, std::stop_token stop = {});
  /// The two halves of view(), for transactions that depend on it: the entries, and their view. Throw as
  /// view().
  ViewEntries read(StoreSnapshot& snapshot, std::string_view action);
  View view(const ViewEntries& entries);
  /// Returns a view of `action` that is not whole, with the members of the scope `also`; see
  /// read_summaries(). Throws as view().
  View summary(std::string_view action, std::string_view also = {}, std::stop_token stop = {});
  ViewEntries read_summaries(StoreSnapshot& snapshot, std::string_view action, std::string_view also = {});

  /// Sets the mode that later commits write to the registry record. It is not written before: call
  /// LivenessRegistry::renew() for that.
  void set_mode(Mode mode) noexcept { mode_ = mode; }
  /// Tells the ledger that this run has written its registry record by LivenessRegistry::renew(), so that
  /// publish() does not take the scope back from a later run. A publish that sees the record notices it by
  /// itself, even if it changes nothing.
  void set_registered() noexcept { registered_ = true; }

  const Layout& layout() const noexcept { return layout_; }
  const LedgerOptions& options() const noexcept { return options_; }
  Store& store() const noexcept { return store_; }

 private:
  InstanceRecord renewed(const std::optional<Entry>& entry, TimePoint now) EVENKEEL_REQUIRES(publishing_);

  Store& store_;
  const LedgerOptions options_;
  const Layout layout_;
  std::atomic<Mode> mode_;
  Mutex publishing_;  // serializes transactions, since they share a token key
  Liveness own_liveness_ EVENKEEL_GUARDED_BY(publishing_);
  std::atomic<bool> registered_ = false;  // this run has written its registry record
  Mutex mutex_;
  Viewer viewer_ EVENKEEL_GUARDED_BY(mutex_);
  ViewCache cache_;
};

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
