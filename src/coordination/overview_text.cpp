// SPDX-License-Identifier: Apache-2.0
#include "coordination/overview_text.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "coordination/record_text.hpp"

namespace evenkeel {
inline namespace v0 {
namespace coordination::detail {

namespace {

constexpr std::string_view pending_prefix = "pendingFor";
constexpr std::string_view ready_prefix = "readyFor";

}  // namespace

std::string_view title_of(std::string_view set) {
  for (const std::string_view prefix : {pending_prefix, ready_prefix}) {
    if (set.starts_with(prefix)) return set.substr(prefix.size());
  }
  return set;
}

std::vector<Column> columns_of(const Overview& overview) {
  std::map<std::string_view, Column> columns;
  for (const std::string& set : overview.sets) {
    Column& column = columns[title_of(set)];
    column.title = title_of(set);
    (set.starts_with(ready_prefix) ? column.ready : column.pending) = set;
  }
  std::vector<Column> sorted;
  sorted.reserve(columns.size());
  for (auto& [title, column] : columns) sorted.push_back(std::move(column));
  return sorted;
}

std::string age_text(std::int64_t at, WallTime wall) {
  if (at == 0) return "-";
  const auto age = wall - WallTime(std::chrono::seconds{at});
  return seconds_text(std::max(Duration(age), Duration::zero()));
}

std::string age_text(WallTime at, WallTime wall) {
  return age_text(seconds_of(at), wall);
}

const SetFigures& figures_of(const Overview& overview, const std::string& scope, const std::string& set) {
  static const SetFigures none;
  const auto sets = overview.scopes.find(scope);
  if (sets == overview.scopes.end()) return none;
  const auto found = sets->second.find(set);
  return found == sets->second.end() ? none : found->second;
}

const Instance* instance_of(const Overview& overview, const std::string& scope) {
  const auto found = std::ranges::lower_bound(overview.instances, scope, {}, &Instance::scope);
  return found == overview.instances.end() || found->scope != scope ? nullptr : &*found;
}

std::string presence_text(const Instance* instance) {
  if (instance == nullptr) return "absent";
  if (!instance->record.moved_to.empty()) return "moved to " + instance->record.moved_to;
  if (instance->presence != Presence::silent) return std::string(text_of(instance->presence));
  return "silent " + seconds_text(instance->unchanged);
}

bool modes_differ(const Overview& overview) {
  std::set<Mode> modes;
  for (const Instance& one : overview.instances) {
    if (one.presence == Presence::live) modes.insert(one.record.mode);
  }
  return modes.size() > 1;
}

}  // namespace coordination::detail
}  // namespace v0
}  // namespace evenkeel
