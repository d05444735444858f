// SPDX-License-Identifier: Apache-2.0
#include "coordination/overview_section.hpp"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "base/cut_text.hpp"
#include "coordination/overview_text.hpp"
#include "coordination/record_text.hpp"

namespace evenkeel {
inline namespace v0 {
namespace coordination::detail {
namespace {

constexpr std::size_t most_name = 40;  // bytes of a name in a list

std::string and_more(std::size_t count) {
  return "and " + std::to_string(count) + " more";
}

std::string ago(const std::string& age) {
  return age == "-" ? "" : age + " ago";
}

/// A table for the page, which cuts off rows and cells.
class Table {
 public:
  explicit Table(std::initializer_list<std::string_view> columns) {
    for (const std::string_view column : columns) columns_.emplace_back(column);
  }
  /// Counts a row instead if there are enough; returns true in this case.
  bool skips() {
    if (rows_.size() < most_rows) return false;
    ++left_out_;
    return true;
  }
  void add(std::initializer_list<Json> cells) {
    Json::Array row;
    for (const Json& cell : cells) row.push_back(cell.is_string() ? Json(shortened(cell.as_string())) : cell);
    rows_.emplace_back(std::move(row));
  }
  bool empty() const { return rows_.empty(); }
  Json take() {
    Json table = Json::object({{"columns", std::move(columns_)}, {"rows", std::move(rows_)}});
    if (left_out_ > 0) table["more"] = and_more(left_out_);
    return table;
  }

 private:
  Json::Array columns_;
  Json::Array rows_;
  std::size_t left_out_ = 0;
};

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t at = 0; at < std::min(names.size(), most_names); ++at) {
    text += (at == 0 ? "" : ", ") + shortened(names[at], most_name);
  }
  if (names.size() > most_names) text += " " + and_more(names.size() - most_names);
  return text;
}

// Returns the units that are pending and not ready.
std::vector<std::string> waited_for(std::vector<std::string> pending, std::vector<std::string> ready) {
  std::ranges::sort(pending);
  std::ranges::sort(ready);
  std::vector<std::string> missing;
  std::ranges::set_difference(pending, ready, std::back_inserter(missing));
  return missing;
}

Json lock_of(const Overview& overview, WallTime wall) {
  if (!overview.lock) {
    return Json::object({{"holder", overview.lock_there ? "cannot be read" : "never taken"}});
  }
  const LockRecord& lock = *overview.lock;
  if (lock.is_free()) {
    Json free = Json::object({{"holder", "free"}, {"epoch", lock.epoch}});
    if (!lock.yielded_by.empty()) free["yielded by"] = shortened(lock.yielded_by);
    return free;
  }
  return Json::object({{"holder", shortened(lock.owner)},
                       {"epoch", lock.epoch},
                       {"taken", ago(age_text(lock.taken, wall))},
                       {"renewed", ago(age_text(lock.renewed, wall))},
                       {"unchanged for", seconds_text(overview.lock_unchanged)},
                       {"expires when unchanged for", seconds_text(lock.duration)}});
}

Json instances_of(const Overview& overview, WallTime wall) {
  Table table{"scope", "presence", "mode", "instance", "renewed", "unchanged for"};
  for (const auto& [scope, sets] : overview.scopes) {
    if (table.skips()) continue;
    const Instance* const instance = instance_of(overview, scope);
    if (instance == nullptr || instance->record.instance.empty()) {
      table.add({scope, presence_text(instance), "", "", "", ""});
    } else {
      table.add({scope, presence_text(instance), text_of(instance->record.mode), instance->record.instance,
                 ago(age_text(instance->record.at, wall)), seconds_text(instance->unchanged)});
    }
  }
  return table.take();
}

// The agreements of one scope. What it costs grows with the entries of the scope, not with all sets.
void add_sets(Table& table, const Overview& overview, const std::vector<Column>& columns,
              const std::string& scope, WallTime wall) {
  std::set<std::string_view> titles;
  for (const auto& [set, figures] : overview.scopes.at(scope)) titles.insert(title_of(set));
  for (const std::string_view title : titles) {
    if (table.skips()) continue;
    const Column& column = *std::ranges::lower_bound(columns, title, {}, &Column::title);
    const SetFigures& pending = figures_of(overview, scope, column.pending);
    const SetFigures& ready = figures_of(overview, scope, column.ready);
    const bool waits = !column.ready.empty();
    table.add({scope, column.title, pending.members, waits ? Json(ready.members) : Json(""),
               listed(pending.units), waits ? listed(waited_for(pending.units, ready.units)) : "",
               ago(age_text(pending.oldest_at, wall))});
  }
}

Json sets_of(const Overview& overview, WallTime wall) {
  Table table{"scope", "set", "pending", "ready", "pending units", "not ready", "oldest"};
  const std::vector<Column> columns = columns_of(overview);
  for (const auto& [scope, sets] : overview.scopes) add_sets(table, overview, columns, scope, wall);
  return table.take();
}

Json claims_of(const Overview& overview, WallTime wall) {
  Table table{"action", "state", "owner", "epoch", "targets", "taken", "note"};
  for (const auto& [action, claim] : overview.claims) {
    if (table.skips()) continue;
    table.add({action, text_of(claim.state), claim.owner.scope, claim.epoch, claim.targets,
               ago(age_text(claim.at, wall)), claim.note});
  }
  return table.take();
}

Json denied_scopes(const Overview& overview, WallTime wall) {
  Table table{"scope", "by", "denied", "reason"};
  for (const Denied& denied : overview.denied) {
    if (table.skips()) continue;
    table.add({denied.scope, denied.by, ago(age_text(denied.at, wall)), denied.reason});
  }
  return table.take();
}

Json warnings_of(const Overview& overview) {
  Json::Array warnings;
  if (modes_differ(overview)) warnings.emplace_back(std::string(mixed_modes_warning));
  for (const std::string& what : overview.unreadable) {
    if (warnings.size() == most_warnings) break;
    warnings.emplace_back(shortened("cannot be read: " + what));
  }
  const std::size_t all = overview.unreadable.size() + (modes_differ(overview) ? 1 : 0);
  if (all > warnings.size()) warnings.emplace_back(and_more(all - warnings.size()));
  return warnings;
}

Json block(std::string_view title, Json content) {
  return Json::object({{"title", title}, {"content", std::move(content)}});
}

}  // namespace

std::string shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  return evenkeel::detail::cut_text(text, most) + "\u2026";
}

Json blocks_of(const Overview& overview, WallTime wall) {
  Json::Array blocks;
  if (Json warnings = warnings_of(overview); warnings.size() > 0) {
    blocks.push_back(block("Warnings", std::move(warnings)));
  }
  blocks.push_back(block("Lock", lock_of(overview, wall)));
  blocks.push_back(block("Instances", instances_of(overview, wall)));
  blocks.push_back(block("Sets", sets_of(overview, wall)));
  blocks.push_back(block("Claims", claims_of(overview, wall)));
  blocks.push_back(block("Deny list", denied_scopes(overview, wall)));
  Table moves{"from", "to"};
  for (const auto& [from, to] : overview.migrating) {
    if (!moves.skips()) moves.add({from, to});
  }
  if (!moves.empty()) blocks.push_back(block("Moves of scopes", moves.take()));
  Table upgrades{"to version", "units"};
  for (const auto& [version, units] : overview.upgrades) {
    if (!upgrades.skips()) upgrades.add({version, units});
  }
  if (!upgrades.empty()) blocks.push_back(block("Upgrades", upgrades.take()));
  return blocks;
}

}  // namespace coordination::detail
}  // namespace v0
}  // namespace evenkeel
