// SPDX-License-Identifier: Apache-2.0
// Reads only what has changed since the last time, according to the guards.
#include <utility>

#include <evenkeel/coordination/keys.hpp>
#include <evenkeel/coordination/ledger.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {
namespace {

using Entries = std::vector<Entry>;

/// Returns the scope of a key below a table; empty for a key that belongs to none.
std::string scope_of(const Layout& layout, const Entry& entry) {
  std::vector<std::string> elements = elements_of(layout.root(), entry.key);
  return elements.size() > 1 ? std::move(elements[1]) : std::string();
}

/// Returns the guards of a table: scope -> version.
std::map<std::string, Version> guards_of(StoreSnapshot& snapshot, const Layout& layout,
                                         const std::string& table) {
  std::map<std::string, Version> guards;
  for (const Entry& entry : snapshot.scan_all(prefix_range(layout.guard_prefix(table)))) {
    std::vector<std::string> elements = elements_of(layout.root(), entry.key);
    if (elements.size() == 3) guards[std::move(elements[2])] = entry.version;
  }
  return guards;
}

std::map<std::string, Entries> by_scope(const Layout& layout, const Entries& entries) {
  std::map<std::string, Entries> scopes;
  for (const Entry& entry : entries) scopes[scope_of(layout, entry)].push_back(entry);
  return scopes;
}

}  // namespace

std::vector<Entry> ViewCache::read(StoreSnapshot& snapshot, const Layout& layout, const std::string& table) {
  // Reads the guards first: a change after that is cached with an older guard, and so is read again the next
  // time.
  const std::map<std::string, Version> guards = guards_of(snapshot, layout, table);
  Scopes known;
  {
    MutexLock lock(mutex_);
    // A store that was emptied or restored from a backup reuses its versions.
    if (snapshot.version() < latest_) tables_.clear();
    latest_ = snapshot.version();
    known = tables_[table];
  }
  Scopes current;
  std::vector<std::string> changed;
  for (const auto& [scope, version] : guards) {
    const auto kept = known.find(scope);
    if (kept != known.end() && kept->second.guard == version)
      current.insert(*kept);
    else
      changed.push_back(scope);
  }
  Entries all;
  if (guards.empty() || changed.size() * 2 > guards.size()) {
    all = snapshot.scan_all(prefix_range(layout.set_prefix(table)));
    std::map<std::string, Entries> scopes = by_scope(layout, all);
    for (const auto& [scope, version] : guards)
      current[scope] = {version, std::make_shared<const Entries>(std::move(scopes[scope]))};
  } else {
    for (const std::string& scope : changed) {
      Entries entries = snapshot.scan_all(prefix_range(layout.scope_prefix(table, scope)));
      current[scope] = {guards.at(scope), std::make_shared<const Entries>(std::move(entries))};
    }
    for (const auto& [scope, kept] : current)
      all.insert(all.end(), kept.entries->begin(), kept.entries->end());
  }
  MutexLock lock(mutex_);
  tables_[table] = std::move(current);
  return all;
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
