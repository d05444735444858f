// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

#include <evenkeel/coordination/keys.hpp>
#include <evenkeel/coordination/lease_lock.hpp>
#include <evenkeel/coordination/records.hpp>
#include <evenkeel/coordination/scope_migrator.hpp>
#include <evenkeel/coordination/sets.hpp>

#include "coordination/record_text.hpp"
#include "coordination/tables.hpp"
#include "coordination/transactions.hpp"

namespace evenkeel {
inline namespace v0 {
namespace coordination {
namespace {

using detail::read_of;

/// The elements of a key of a table.
struct MemberKey {
  std::string table;
  std::string unit;

  friend bool operator<(const MemberKey& a, const MemberKey& b) {
    return std::tie(a.table, a.unit) < std::tie(b.table, b.unit);
  }
};
MemberKey member_key_of(const Layout& layout, const Entry& entry) {
  const std::vector<std::string> elements = elements_of(layout.root(), entry.key);
  if (elements.size() != 3) throw DecodeError(entry.key, "is not the key of a member");
  return {elements[0], elements[2]};
}

/// Returns the value of a member that is copied to another scope, with the version since when it is a member.
std::string value_of(const MemberKey& place, const Entry& entry) {
  if (place.table == facts_table) return entry.value;
  Json json;
  try {
    json = entry.value.empty() ? Json::object() : Json::parse(entry.value);
  } catch (const DecodeError&) {
    return entry.value;  // not for this code to fix; its readers report the error
  }
  if (!json.is_object() || json.contains("since")) return entry.value;
  json["since"] = entry.version;
  return json.dump();
}

std::optional<InstanceRecord> record_of(const std::optional<Entry>& entry, std::string_view scope) {
  if (!entry) return std::nullopt;
  return decode_instance(entry->value, scope);
}

bool belongs_to(const std::optional<InstanceRecord>& record, const Identity& me) {
  return record && record->instance == me.instance;
}

/// Returns the new records of both scopes. The old one keeps the instance, so that an earlier run can
/// recognize itself. A scope without an owner stays without one.
struct Records {
  InstanceRecord to;
  InstanceRecord from;
};
std::optional<Records> records_of(const MigrationReads& reads, const Identity& me, WallTime wall) {
  const auto begun = record_of(reads.to_record, reads.to);
  auto present = record_of(reads.from_record, reads.from);
  if (begun && begun->moved_to.empty()) present = begun;
  if (!present) return std::nullopt;
  if (present->instance == me.instance) present->incarnation = me.incarnation;
  present->moved_to.clear();
  ++present->renewals;
  present->at = wall;
  InstanceRecord gone = *present;
  gone.moved_to = reads.to;
  return Records{*std::move(present), std::move(gone)};
}

void put_to_record(const Layout& layout, const MigrationReads& reads, const std::optional<Records>& records,
                   Commit& commit) {
  commit.reads.push_back(read_of(layout.instance(reads.to), reads.to_record));
  if (records) commit.puts.push_back({layout.instance(reads.to), encode(records->to)});
}
void put_from_record(const Layout& layout, const MigrationReads& reads, const std::optional<Records>& records,
                     Commit& commit) {
  commit.reads.push_back(read_of(layout.instance(reads.from), reads.from_record));
  if (records) commit.puts.push_back({layout.instance(reads.from), encode(records->from)});
}

/// Moves the targets of claims from one scope to the other.
void move_targets(const Layout& layout, const MigrationReads& reads, Commit& commit) {
  for (const Entry& entry : reads.from_targets) {
    const std::string key = layout.targets(elements_of(layout.root(), entry.key).at(2), reads.to);
    TargetsRecord moved = decode_targets(entry);
    const auto there = std::ranges::find(reads.to_targets, key, &Entry::key);
    if (there != reads.to_targets.end()) {
      for (const auto& [epoch, units] : decode_targets(*there).epochs)
        moved.epochs[epoch].insert(units.begin(), units.end());
    }
    commit.reads.push_back({entry.key, entry.version});
    commit.reads.push_back({key, there == reads.to_targets.end() ? 0 : there->version});
    commit.puts.push_back({key, encode(moved)});
    commit.erases.push_back(entry.key);
  }
}

void move_denial(const Layout& layout, const MigrationReads& reads, Commit& commit) {
  commit.reads.push_back(read_of(layout.denied(reads.from), reads.denied));
  if (!reads.denied) return;
  commit.puts.push_back({layout.denied(reads.to), reads.denied->value});
  commit.erases.push_back(layout.denied(reads.from));
}

void move_lock(const Layout& layout, const MigrationReads& reads, Commit& commit) {
  commit.reads.push_back(read_of(layout.lock(), reads.lock));
  if (!reads.lock) return;
  LockRecord lock = decode_lock(reads.lock->value);
  if (lock.owner != reads.from && lock.yielded_by != reads.from) return;
  if (lock.owner == reads.from) lock.owner = reads.to;
  if (lock.yielded_by == reads.from) lock.yielded_by = reads.to;
  commit.puts.push_back({layout.lock(), encode(lock)});
}

/// Makes it a condition that no claim was added, changed or removed.
void condition_on_claims(const Layout& layout, const MigrationReads& reads, Commit& commit) {
  for (const Entry& entry : reads.claims) commit.reads.push_back({entry.key, entry.version});
  commit.read_ranges.push_back(prefix_range(layout.claims_prefix()));
}

Commit::Put guard_put(const Layout& layout, std::string_view set, std::string_view scope, WallTime wall) {
  return {layout.guard(set, scope), detail::text_of_time(wall).as_string()};
}

/// Counts operations and bytes of a commit against the limits.
class CommitBudget {
 public:
  explicit CommitBudget(const Limits& limits) : limits_(limits) {
    // The token, the record and the overhead of values.
    add(2, 1024);
  }
  void add(std::size_t operations, std::size_t bytes) {
    operations_ += operations;
    bytes_ += bytes;
  }
  bool fits() const {
    return (limits_.operations == 0 || operations_ <= limits_.operations) &&
           (limits_.commit_bytes == 0 || bytes_ <= limits_.commit_bytes);
  }

 private:
  const Limits limits_;
  std::size_t operations_ = 0;
  std::size_t bytes_ = 0;
};

/// Plans the commits of a move that cannot be done at once.
class MovePlanner {
 public:
  MovePlanner(const Layout& layout, const MigrationReads& reads, const Identity& me, const Limits& limits,
              WallTime wall)
      : layout_(layout), reads_(reads), me_(me), limits_(limits), wall_(wall) {}

  MigrationPiece next() const {
    if (!reads_.marker || reads_.reverse_marker) return begin();
    MigrationPiece piece = copy();
    if (piece.members > 0) return piece;
    const auto record = record_of(reads_.from_record, reads_.from);
    if (!reads_.from_members.empty() || (record && record->moved_to.empty())) return remove();
    return finish();
  }

 private:
  MigrationPiece begin() const {
    MigrationPiece piece = of_arbiter();
    move_denial(layout_, reads_, piece.commit);
    condition_on_claims(layout_, reads_, piece.commit);
    piece.commit.reads.push_back(read_of(layout_.migrating(reads_.from), reads_.marker));
    piece.commit.reads.push_back(read_of(layout_.migrating(reads_.to), reads_.reverse_marker));
    if (reads_.reverse_marker) piece.commit.erases.push_back(layout_.migrating(reads_.to));
    // Records the owner of the scope, so that the instance itself may complete a move that a person started.
    const auto records = records_of(reads_, me_, wall_);
    const std::string owner = records ? records->to.instance : me_.instance;
    const Json marker =
        Json::object({{"to", reads_.to}, {"instance", owner}, {"at", detail::text_of_time(wall_)}});
    piece.commit.puts.push_back({layout_.migrating(reads_.from), marker.dump()});
    return piece;
  }

  /// Copies as many units as fit, each with all its tables, so that no unit is ever ready and not pending.
  MigrationPiece copy() const {
    MigrationPiece piece{.commit = {}, .token_key = layout_.token(reads_.to)};
    std::map<std::string, std::vector<const Entry*>> units;
    std::set<MemberKey> there;
    for (const Entry& entry : reads_.to_members) there.insert(member_key_of(layout_, entry));
    for (const Entry& entry : reads_.from_members) {
      const MemberKey place = member_key_of(layout_, entry);
      if (!there.contains(place)) units[place.unit].push_back(&entry);
    }
    if (units.empty()) return piece;
    CommitBudget budget(limits_);
    std::set<std::string> guarded;
    for (const auto& [unit, entries] : units) {
      if (!add_unit(entries, budget, guarded, piece)) break;
    }
    if (piece.members == 0) {
      throw std::length_error("the unit " + units.begin()->first + " alone exceeds the limits of a commit");
    }
    for (const std::string& set : guarded) {
      piece.commit.puts.push_back(guard_put(layout_, set, reads_.to, wall_));
    }
    put_to_record(layout_, reads_, records_of(reads_, me_, wall_), piece.commit);
    return piece;
  }

  bool add_unit(const std::vector<const Entry*>& entries, CommitBudget& budget,
                std::set<std::string>& guarded, MigrationPiece& piece) const {
    Commit more;
    std::set<std::string> guards;
    for (const Entry* entry : entries) {
      const MemberKey place = member_key_of(layout_, *entry);
      more.puts.push_back({layout_.member(place.table, reads_.to, place.unit), value_of(place, *entry)});
      budget.add(1, more.puts.back().key.size() + more.puts.back().value.size());
      if (!guarded.contains(place.table) && guards.insert(place.table).second) {
        budget.add(1, layout_.guard(place.table, reads_.to).size() + 32);
      }
    }
    if (!budget.fits()) return false;
    std::ranges::move(more.puts, std::back_inserter(piece.commit.puts));
    guarded.merge(guards);
    piece.members += entries.size();
    return true;
  }

  MigrationPiece remove() const {
    MigrationPiece piece{.commit = {}, .token_key = layout_.token(reads_.from)};
    for (const std::string& table : reads_.tables) {
      const KeyRange range = prefix_range(layout_.scope_prefix(table, reads_.from));
      const bool any = std::ranges::any_of(reads_.from_members,
                                           [&](const Entry& entry) { return range.contains(entry.key); });
      if (!any) continue;
      piece.commit.range_erases.push_back(range);
      piece.commit.puts.push_back(guard_put(layout_, table, reads_.from, wall_));
    }
    put_from_record(layout_, reads_, records_of(reads_, me_, wall_), piece.commit);
    return piece;
  }

  MigrationPiece finish() const {
    MigrationPiece piece = of_arbiter();
    move_lock(layout_, reads_, piece.commit);
    move_targets(layout_, reads_, piece.commit);
    condition_on_claims(layout_, reads_, piece.commit);
    piece.commit.reads.push_back(read_of(layout_.migrating(reads_.from), reads_.marker));
    piece.commit.erases.push_back(layout_.migrating(reads_.from));
    piece.last = true;
    return piece;
  }

  MigrationPiece of_arbiter() const {
    return {.commit = {}, .token_key = layout_.arbiter_token(me_.instance)};
  }

  const Layout& layout_;
  const MigrationReads& reads_;
  const Identity& me_;
  const Limits& limits_;
  const WallTime wall_;
};

std::string executing_claim(const MigrationReads& reads, const Identity& me) {
  for (const Entry& entry : reads.claims) {
    const ClaimRecord claim = decode_claim(entry);
    if (claim.state != ClaimState::executing || claim.owner.instance == me.instance) continue;
    return claim.owner.scope + " is acting for claim " + std::to_string(claim.epoch);
  }
  return {};
}

/// The value of arbiter/migrating/<from>.
struct Marker {
  std::string to;
  std::string instance;
};
Marker marker_of(const Entry& entry) {
  const Json json = detail::parse_record(entry.value, entry.key);
  return {json["to"].string_or(""), json["instance"].string_or("")};
}

/// Returns the destination of a move of `from` that has started, if it is not that of `reads`.
std::string other_destination(const MigrationReads& reads) {
  if (!reads.marker) return {};
  std::string to = marker_of(*reads.marker).to;
  return to == reads.to ? std::string() : to;
}

/// Combines the results of two consecutive moves.
Migration sum_of(const Migration& first, Migration second) {
  second.members += first.members;
  second.transactions += first.transactions;
  const bool moved = first.outcome == MigrationOutcome::moved;
  if (moved && second.outcome == MigrationOutcome::nothing) second.outcome = MigrationOutcome::moved;
  return second;
}

}  // namespace

std::optional<std::string> former_scope(const std::vector<Instance>& instances, const Identity& me) {
  for (const Instance& one : instances) {
    const bool mine = one.record.instance == me.instance && one.record.moved_to.empty();
    if (mine && one.scope != me.scope) return one.scope;
  }
  return std::nullopt;
}

MigrationReads read_migration(StoreSnapshot& snapshot, const Layout& layout, std::string_view from,
                              std::string_view to) {
  if (from == to) throw std::invalid_argument("a scope cannot be moved to itself");
  MigrationReads reads{.from = std::string(from), .to = std::string(to)};
  reads.tables = detail::tables_of(snapshot, layout);
  const auto add = [&](const std::string& prefix, std::vector<Entry>& into) {
    std::ranges::move(snapshot.scan_all(prefix_range(prefix)), std::back_inserter(into));
  };
  for (const std::string& table : reads.tables) {
    add(layout.scope_prefix(table, from), reads.from_members);
    add(layout.scope_prefix(table, to), reads.to_members);
  }
  for (const std::string& set : detail::children_of(snapshot, prefix_of(layout.root(), {"guard"}))) {
    if (snapshot.get(layout.guard(set, from))) reads.guards.push_back(set);
  }
  add(layout.claims_prefix(), reads.claims);
  std::vector<Entry> targets;
  add(prefix_of(layout.root(), {"arbiter", "targets"}), targets);
  for (Entry& entry : targets) {
    const std::vector<std::string> elements = elements_of(layout.root(), entry.key);
    if (elements.size() != 4) continue;
    if (elements[3] == from)
      reads.from_targets.push_back(std::move(entry));
    else if (elements[3] == to)
      reads.to_targets.push_back(std::move(entry));
  }
  reads.from_record = snapshot.get(layout.instance(from));
  reads.to_record = snapshot.get(layout.instance(to));
  reads.from_token = snapshot.get(layout.token(from));
  reads.lock = snapshot.get(layout.lock());
  reads.denied = snapshot.get(layout.denied(from));
  reads.marker = snapshot.get(layout.migrating(from));
  reads.reverse_marker = snapshot.get(layout.migrating(to));
  if (reads.reverse_marker && marker_of(*reads.reverse_marker).to != from) reads.reverse_marker.reset();
  return reads;
}

bool is_moved(const MigrationReads& reads) {
  const auto record = record_of(reads.from_record, reads.from);
  const bool on_its_way = reads.marker || reads.reverse_marker;
  return !on_its_way && reads.from_members.empty() && (!record || !record->moved_to.empty());
}

std::string refusal(const MigrationReads& reads, const Identity& me, const MigrationOptions& options) {
  const auto from = record_of(reads.from_record, reads.from);
  const auto to = record_of(reads.to_record, reads.to);
  const auto is_mine = [&](const std::optional<Entry>& marker) {
    return marker && marker_of(*marker).instance == me.instance;
  };
  const bool began = is_mine(reads.marker) || is_mine(reads.reverse_marker);
  if (!options.any_owner && !began && !belongs_to(from, me)) {
    return reads.from + (from ? " belongs to the instance " + from->instance : " has no owner");
  }
  const std::string destination = other_destination(reads);
  if (!destination.empty()) return reads.from + " is being moved to " + destination;
  const std::string& owner = from ? from->instance : me.instance;
  if (to && to->moved_to.empty() && to->instance != owner) {
    return reads.to + " belongs to the instance " + to->instance;
  }
  if (!reads.marker && !reads.reverse_marker && !reads.to_members.empty()) {
    return reads.to + " already has " + std::to_string(reads.to_members.size()) + " entries";
  }
  return executing_claim(reads, me);
}

Commit plan_migration(const Layout& layout, const MigrationReads& reads, const Identity& me, WallTime wall) {
  Commit commit;
  std::set<std::string> changed(reads.guards.begin(), reads.guards.end());
  for (const Entry& entry : reads.from_members) {
    const MemberKey place = member_key_of(layout, entry);
    commit.puts.push_back({layout.member(place.table, reads.to, place.unit), value_of(place, entry)});
    changed.insert(place.table);
  }
  for (const std::string& table : reads.tables) {
    commit.range_erases.push_back(prefix_range(layout.scope_prefix(table, reads.from)));
  }
  for (const std::string& set : changed) {
    // The summaries of the new scope come with the next publish; until then its members are read.
    if (!set.starts_with(summary_table_prefix)) {
      commit.puts.push_back(guard_put(layout, set, reads.to, wall));
    }
    commit.erases.push_back(layout.guard(set, reads.from));
  }
  const auto records = records_of(reads, me, wall);
  put_from_record(layout, reads, records, commit);
  put_to_record(layout, reads, records, commit);
  // Every writer below the old scope reads its token; the token of the new scope is that of this transaction.
  commit.reads.push_back(read_of(layout.token(reads.from), reads.from_token));
  commit.puts.push_back({layout.token(reads.from), "moved to " + reads.to});
  move_denial(layout, reads, commit);
  move_lock(layout, reads, commit);
  move_targets(layout, reads, commit);
  condition_on_claims(layout, reads, commit);
  return commit;
}

MigrationPiece plan_piece(const Layout& layout, const MigrationReads& reads, const Identity& me,
                          const Limits& limits, WallTime wall) {
  return MovePlanner(layout, reads, me, limits, wall).next();
}

ScopeMigrator::ScopeMigrator(Store& store, Layout layout, Identity me, MigrationOptions options,
                             TransactOptions transact)
    : store_(store),
      layout_(std::move(layout)),
      me_(std::move(me)),
      options_(options),
      transact_(std::move(transact)) {}

Transacted ScopeMigrator::run(const TransactBody& body, std::string token_key,
                              const std::stop_token& stop) const {
  return transact(store_, body, detail::with_token(transact_, std::move(token_key)), stop);
}

Migration ScopeMigrator::migrate(std::string_view from, std::stop_token stop) {
  if (store_.capabilities().multi_key_atomic) {
    if (auto migration = at_once(from, stop)) return *std::move(migration);
  }
  return in_pieces(from, stop);
}

std::optional<Migration> ScopeMigrator::at_once(std::string_view from, const std::stop_token& stop) {
  std::optional<Migration> planned;
  const auto body = [&](StoreSnapshot& snapshot) {
    const MigrationReads reads = read_migration(snapshot, layout_, from, me_.scope);
    planned = before(reads);
    if (planned || reads.marker || reads.reverse_marker) return Commit{};
    Commit commit = plan_migration(layout_, reads, me_, transact_.clock->wall_now());
    // The read and the write that transact() adds.
    commit.reads.push_back({layout_.token(me_.scope), 0});
    commit.puts.push_back({layout_.token(me_.scope), std::string(96, ' ')});
    if (broken_limit(store_.limits(), normalise(commit))) return Commit{};
    commit.reads.pop_back();
    commit.puts.pop_back();
    planned = Migration{
        .outcome = MigrationOutcome::moved, .members = reads.from_members.size(), .transactions = 1};
    return commit;
  };
  const Transacted done = run(body, layout_.token(me_.scope), stop);
  if (std::holds_alternative<TooLarge>(done.outcome)) return std::nullopt;
  if (!done.committed()) return Migration{.why = describe(done.outcome)};
  return planned;
}

Migration ScopeMigrator::in_pieces(std::string_view from, const std::stop_token& stop) {
  Migration migration{.outcome = MigrationOutcome::nothing};
  std::string token_key = layout_.arbiter_token(me_.instance);
  for (bool last = false; !last;) {
    std::optional<Migration> ended;
    MigrationPiece piece;
    const auto body = [&](StoreSnapshot& snapshot) {
      const MigrationReads reads = read_migration(snapshot, layout_, from, me_.scope);
      piece = {};
      ended = before(reads);
      if (ended) return Commit{};
      piece = plan_piece(layout_, reads, me_, store_.limits(), transact_.clock->wall_now());
      // Each piece uses the token of the scope that it writes; if that changes, the piece is planned again.
      return piece.token_key == token_key ? piece.commit : Commit{};
    };
    const Transacted done = run(body, token_key, stop);
    if (!done.committed()) return {.why = describe(done.outcome), .members = migration.members};
    if (ended) return sum_of(migration, *std::move(ended));
    const bool planned_again = !done.wrote;
    if (planned_again) {
      token_key = piece.token_key;
      continue;
    }
    migration.outcome = MigrationOutcome::moved;
    migration.members += piece.members;
    ++migration.transactions;
    last = piece.last;
  }
  return migration;
}

/// Returns the result of a move that is not started.
std::optional<Migration> ScopeMigrator::before(const MigrationReads& reads) const {
  if (is_moved(reads)) return Migration{.outcome = MigrationOutcome::nothing};
  std::string why = refusal(reads, me_, options_);
  if (why.empty()) return std::nullopt;
  return Migration{.outcome = MigrationOutcome::refused, .why = std::move(why)};
}

Migration ScopeMigrator::migrate_if_renamed(std::stop_token stop) {
  Liveness liveness(layout_);
  Migration begun{.outcome = MigrationOutcome::nothing};
  try {
    begun =
        finish_started_moves(store_.snapshot(stop)->scan_all(prefix_range(layout_.migrating_prefix())), stop);
    if (begun.outcome == MigrationOutcome::refused || begun.outcome == MigrationOutcome::unavailable)
      return begun;
    const auto snapshot = store_.snapshot(stop);
    liveness.observe(snapshot->scan_all(prefix_range(layout_.instances_prefix())), transact_.clock->now());
  } catch (const StoreUnavailable& error) {
    return {.outcome = MigrationOutcome::unavailable, .why = error.what()};
  }
  const auto former = former_scope(liveness.instances(transact_.clock->now()), me_);
  if (!former) return begun;
  return sum_of(begun, migrate(*former, std::move(stop)));
}

/// Completes or reverts the moves that earlier runs of this instance started.
Migration ScopeMigrator::finish_started_moves(const std::vector<Entry>& markers,
                                              const std::stop_token& stop) {
  Migration all{.outcome = MigrationOutcome::nothing};
  for (const Entry& entry : markers) {
    const std::string from = elements_of(layout_.root(), entry.key).back();
    const auto [to, instance] = marker_of(entry);
    if (instance != me_.instance) continue;
    // Reverts the move if it came from the present scope.
    const bool back = from == me_.scope;
    Identity there = me_;
    there.scope = back ? from : to;
    ScopeMigrator mover(store_, layout_, std::move(there), options_, transact_);
    all = sum_of(all, mover.in_pieces(back ? to : from, stop));
    if (all.outcome == MigrationOutcome::refused || all.outcome == MigrationOutcome::unavailable) return all;
  }
  return all;
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
