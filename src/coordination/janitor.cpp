// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>

#include <evenkeel/coordination/janitor.hpp>
#include <evenkeel/coordination/keys.hpp>

#include "coordination/record_text.hpp"
#include "coordination/tables.hpp"
#include "coordination/transactions.hpp"

namespace evenkeel {
inline namespace v0 {
namespace coordination {
namespace {

/// Counts the entries of each scope.
std::map<std::string, std::size_t> entries_by_scope(StoreSnapshot& snapshot, const Layout& layout) {
  std::map<std::string, std::size_t> counts;
  for (const std::string& table : detail::tables_of(snapshot, layout)) {
    for (const Entry& entry : snapshot.scan_all(prefix_range(layout.set_prefix(table)))) {
      const std::vector<std::string> elements = elements_of(layout.root(), entry.key);
      if (elements.size() == 3) ++counts[elements[1]];
    }
  }
  return counts;
}

/// Erases everything of `scope` in sets and facts. The guards of these sets are written, so that concurrent
/// decisions meet a conflict.
std::size_t remove_entries(StoreSnapshot& snapshot, const Layout& layout, std::string_view scope,
                           const std::string& guard_value, Commit& commit) {
  std::size_t entries = 0;
  for (const std::string& table : detail::tables_of(snapshot, layout)) {
    const KeyRange range = prefix_range(layout.scope_prefix(table, scope));
    const std::size_t there = snapshot.scan_all(range).size();
    if (there == 0) continue;
    entries += there;
    commit.range_erases.push_back(range);
    commit.puts.push_back({layout.guard(table, scope), guard_value});
  }
  return entries;
}

/// Returns the source and destination of moves in progress.
std::map<std::string, std::string> moves_of(StoreSnapshot& snapshot, const Layout& layout) {
  std::map<std::string, std::string> moves;
  for (const Entry& entry : snapshot.scan_all(prefix_range(layout.migrating_prefix()))) {
    const Json json = detail::parse_record(entry.value, entry.key);
    moves[elements_of(layout.root(), entry.key).back()] = json["to"].string_or("");
  }
  return moves;
}

/// Returns why the entries of `scope` must stay for now; empty if they may be removed.
std::string blocked_by_move(StoreSnapshot& snapshot, const Layout& layout, std::string_view scope) {
  for (const auto& [from, to] : moves_of(snapshot, layout)) {
    if (from == scope || to == scope) return from + " is being moved to " + to + "; complete that move first";
  }
  return {};
}

}  // namespace

Janitor::Janitor(Store& store, Layout layout, std::string writer, JanitorOptions options,
                 TransactOptions transact)
    : store_(store),
      layout_(std::move(layout)),
      writer_(std::move(writer)),
      transact_(std::move(transact)),
      liveness_(layout_, {.silence = options.silence}) {}

void Janitor::observe(StoreSnapshot& snapshot) {
  const std::vector<Entry> records = snapshot.scan_all(prefix_range(layout_.instances_prefix()));
  MutexLock guard(mutex_);
  liveness_.observe(records, transact_.clock->now());
}

std::vector<ScopeReport> Janitor::report(std::stop_token stop) {
  const auto snapshot = store_.snapshot(std::move(stop));
  observe(*snapshot);
  std::map<std::string, std::size_t> counts = entries_by_scope(*snapshot, layout_);
  const std::map<std::string, std::string> moves = moves_of(*snapshot, layout_);
  const TimePoint now = transact_.clock->now();
  MutexLock guard(mutex_);
  for (const Instance& instance : liveness_.instances(now)) counts.try_emplace(instance.scope, 0);
  for (const auto& [from, to] : moves) counts.try_emplace(from, 0);
  std::vector<ScopeReport> reports;
  for (const auto& [scope, entries] : counts) {
    ScopeReport report{.instance = liveness_.of(scope, now), .entries = entries};
    report.orphan = entries > 0 && report.instance.presence != Presence::live;
    if (const auto move = moves.find(scope); move != moves.end()) report.moving_to = move->second;
    reports.push_back(std::move(report));
  }
  return reports;
}

Swept Janitor::sweep(std::string_view scope, std::stop_token stop) {
  return remove(scope, true, stop);
}

Swept Janitor::drain(std::string_view scope, std::stop_token stop) {
  return remove(scope, false, stop);
}

Swept Janitor::remove(std::string_view scope, bool only_orphans, const std::stop_token& stop) {
  MutexLock transacting(transacting_);
  Swept swept;
  const auto body = [&](StoreSnapshot& snapshot) {
    swept = {};
    observe(snapshot);
    Instance owner;
    {
      MutexLock guard(mutex_);
      owner = liveness_.of(scope, transact_.clock->now());
    }
    Commit commit;
    if (only_orphans && owner.presence == Presence::live) {
      swept.why = "the instance " + owner.record.instance + " of " + std::string(scope) +
                  " is live, or has been silent for only " + detail::seconds_text(owner.unchanged);
      return commit;
    }
    if (only_orphans) swept.why = blocked_by_move(snapshot, layout_, scope);
    if (!swept.why.empty()) return commit;
    const std::string value = "removed by " + writer_;
    swept.entries = remove_entries(snapshot, layout_, scope, value, commit);
    const std::optional<Entry> record = snapshot.get(layout_.instance(scope));
    commit.reads.push_back(detail::read_of(layout_.instance(scope), record));
    if (only_orphans && record) commit.erases.push_back(layout_.instance(scope));
    swept.removed = true;
    return commit;
  };
  const auto options = detail::with_token(transact_, layout_.token(scope));
  detail::require_committed(transact(store_, body, options, stop),
                            "removing the entries of " + std::string(scope));
  return swept;
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
