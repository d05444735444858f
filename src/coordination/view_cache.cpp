// SPDX-License-Identifier: Apache-2.0
// Reads only what has changed since the last time, according to the guards.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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

/// Returns the versions of the guards of a table by scope.
std::map<std::string, Version> versions_of(const Layout& layout, const Entries& guards) {
  std::map<std::string, Version> versions;
  for (const Entry& entry : guards) {
    std::vector<std::string> elements = elements_of(layout.root(), entry.key);
    if (elements.size() == 3 && !elements[2].empty()) versions[std::move(elements[2])] = entry.version;
  }
  return versions;
}

std::map<std::string, Entries> by_scope(const Layout& layout, const Entries& entries) {
  std::map<std::string, Entries> scopes;
  for (const Entry& entry : entries) scopes[scope_of(layout, entry)].push_back(entry);
  return scopes;
}

}  // namespace

ViewCache::Scopes ViewCache::known(const StoreSnapshot& snapshot, const std::string& table) {
  MutexLock lock(mutex_);
  // A store that was emptied or restored from a backup reuses its versions.
  if (snapshot.version() < latest_) tables_.clear();
  latest_ = snapshot.version();
  return tables_[table];
}

// The guards were read before the members: a change between the two is cached with an older guard, and so is
// read again the next time.
Entries ViewCache::read(StoreSnapshot& snapshot, const Layout& layout, const std::string& table,
                        const Entries& guards) {
  const std::map<std::string, Version> versions = versions_of(layout, guards);
  const Scopes before = known(snapshot, table);
  Scopes current;
  std::vector<std::string> changed;
  for (const auto& [scope, version] : versions) {
    const auto kept = before.find(scope);
    if (kept != before.end() && kept->second.guard == version)
      current.insert(*kept);
    else
      changed.push_back(scope);
  }
  Entries all;
  if (versions.empty() || changed.size() * 2 > versions.size()) {
    all = snapshot.scan_all(prefix_range(layout.set_prefix(table)));
    std::map<std::string, Entries> scopes = by_scope(layout, all);
    for (const auto& [scope, version] : versions)
      current[scope] = {version, std::make_shared<const Entries>(std::move(scopes[scope]))};
  } else {
    for (const std::string& scope : changed) {
      Entries entries = snapshot.scan_all(prefix_range(layout.scope_prefix(table, scope)));
      current[scope] = {versions.at(scope), std::make_shared<const Entries>(std::move(entries))};
    }
  }
  // Without the scopes that have no guard, however the others were read.
  if (!versions.empty()) all.clear();
  for (const auto& [scope, kept] : current) all.insert(all.end(), kept.entries->begin(), kept.entries->end());
  MutexLock lock(mutex_);
  tables_[table] = std::move(current);
  return all;
}

Entries ViewCache::read(StoreSnapshot& snapshot, const Layout& layout, const std::string& table,
                        const Entries& guards, const std::vector<std::string>& scopes) {
  Scopes current = known(snapshot, table);
  Entries all;
  for (const auto& [scope, version] : versions_of(layout, guards)) {
    if (!std::ranges::binary_search(scopes, scope)) continue;
    Kept& kept = current[scope];
    if (!kept.entries || kept.guard != version) {
      kept = {version, std::make_shared<const Entries>(
                           snapshot.scan_all(prefix_range(layout.scope_prefix(table, scope))))};
    }
    all.insert(all.end(), kept.entries->begin(), kept.entries->end());
  }
  MutexLock lock(mutex_);
  tables_[table] = std::move(current);
  return all;
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
