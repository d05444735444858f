// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <utility>

#include <evenkeel/coordination/keys.hpp>
#include <evenkeel/coordination/overview.hpp>
#include <evenkeel/coordination/sets.hpp>

#include "base/shown_text.hpp"
#include "coordination/overview_text.hpp"
#include "coordination/record_text.hpp"
#include "coordination/tables.hpp"

namespace evenkeel {
inline namespace v0 {
namespace coordination {
namespace {

using detail::age_text;
using detail::Column;
using detail::columns_of;
using detail::figures_of;
using detail::instance_of;
using detail::presence_text;
using detail::seconds_text;

/// Reads an overview part by part.
class Reader {
 public:
  Reader(StoreSnapshot& snapshot, const Layout& layout, Overview& overview)
      : snapshot_(snapshot), layout_(layout), overview_(overview) {}

  void read_instances(const std::vector<Entry>& entries) {
    const std::size_t prefix = layout_.instances_prefix().size();
    for (const Entry& entry : entries) {
      read(entry,
           [&] { decode_instance(entry.value, key_text(std::string_view(entry.key).substr(prefix))); });
    }
  }

  void read_sets() {
    for (const std::string& table : detail::tables_of(snapshot_, layout_)) {
      if (table == facts_table) {
        for (const Entry& entry : below(layout_.set_prefix(table))) read(entry, [&] { decode_facts(entry); });
        continue;
      }
      overview_.sets.push_back(table);
      for (const Entry& entry : below(layout_.set_prefix(table))) {
        const std::vector<std::string> elements = elements_of(layout_.root(), entry.key);
        if (elements.size() == 3) add(overview_.scopes[elements[1]][table], elements[2], entry);
      }
    }
    std::ranges::sort(overview_.sets);
  }

  void read_arbiter() {
    if (const auto lock = snapshot_.get(layout_.lock())) {
      read(*lock, [&] { overview_.lock = decode_lock(lock->value); });
    }
    overview_.denied = denied_of(layout_, below(layout_.denied_prefix()));
    for (const Entry& entry : below(layout_.claims_prefix())) {
      read(entry, [&] { overview_.claims[last_of(entry)] = decode_claim(entry); });
      for (const Entry& taken : below(layout_.targets_prefix(last_of(entry)))) {
        read(taken, [&] { decode_targets(taken); });
      }
    }
    for (const Entry& entry : below(layout_.migrating_prefix())) {
      read(entry, [&] {
        overview_.migrating[last_of(entry)] =
            detail::parse_record(entry.value, entry.key)["to"].string_or("?");
      });
    }
    for (const Entry& entry : below(layout_.upgrades_prefix())) {
      ++overview_.upgrades[elements_of(layout_.root(), entry.key).at(2)];
    }
  }

 private:
  std::vector<Entry> below(const std::string& prefix) { return snapshot_.scan_all(prefix_range(prefix)); }
  std::string last_of(const Entry& entry) const { return elements_of(layout_.root(), entry.key).back(); }

  void read(const Entry& entry, const std::function<void()>& decode) {
    try {
      decode();
    } catch (const DecodeError& error) {
      // If the error names the key, or the part of it below the root, the key is not repeated.
      const std::string what = error.what();
      const std::string below_root = entry.key.substr(layout_.root().size() + 1);
      const std::size_t at = what.find(below_root + ": ");
      overview_.unreadable.push_back(
          entry.key + ": " + (at == std::string::npos ? what : what.substr(at + below_root.size() + 2)));
    }
  }

  void add(SetFigures& figures, const std::string& unit, const Entry& entry) {
    ++figures.members;
    figures.units.push_back(unit);
    read(entry, [&] {
      const std::int64_t at = decode_member(entry).at;
      if (at == 0) return;
      figures.oldest_at = figures.oldest_at == 0 ? at : std::min(figures.oldest_at, at);
      figures.newest_at = std::max(figures.newest_at, at);
    });
  }

  StoreSnapshot& snapshot_;
  const Layout& layout_;
  Overview& overview_;
};

using Row = std::vector<std::string>;

/// Formats a table with columns as wide as their widest cell, separated by two blanks. The cells have what
/// other instances wrote.
std::string table_of(std::vector<Row> rows) {
  for (Row& row : rows) {
    for (std::string& cell : row) cell = evenkeel::detail::shown_text(cell);
  }
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t at = 0; at < row.size(); ++at) widths[at] = std::max(widths[at], row[at].size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t at = 0; at < row.size(); ++at) {
      line += row[at] + std::string(widths[at] - row[at].size() + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

/// Formats "2/3" for ready of pending, or "3" if there is no ready set.
std::string cell_of(const Column& column, std::size_t pending, std::size_t ready) {
  if (column.ready.empty()) return std::to_string(pending);
  return std::to_string(ready) + "/" + std::to_string(pending);
}

Row row_of(const Overview& overview, const std::vector<Column>& columns, const std::string& scope,
           WallTime wall) {
  const Instance* instance = instance_of(overview, scope);
  const bool known =
      instance != nullptr && instance->record.moved_to.empty() && !instance->record.instance.empty();
  Row row{scope, known ? std::string(text_of(instance->record.mode)) : "-", presence_text(instance),
          instance == nullptr ? "-" : age_text(instance->record.at, wall)};
  std::int64_t oldest = 0;
  for (const Column& column : columns) {
    const SetFigures& pending = figures_of(overview, scope, column.pending);
    row.push_back(cell_of(column, pending.members, figures_of(overview, scope, column.ready).members));
    if (pending.oldest_at != 0)
      oldest = oldest == 0 ? pending.oldest_at : std::min(oldest, pending.oldest_at);
  }
  row.push_back(age_text(oldest, wall));
  return row;
}

std::string scopes_text(const Overview& overview, WallTime wall) {
  const std::vector<Column> columns = columns_of(overview);
  Row head{"SCOPE", "MODE", "PRESENCE", "RENEWED"};
  Row all{"all", "", "", ""};
  for (const Column& column : columns) {
    head.push_back(column.title);
    all.push_back(cell_of(column, overview.members(column.pending), overview.members(column.ready)));
  }
  head.push_back("OLDEST");
  std::vector<Row> rows{std::move(head)};
  for (const auto& [scope, sets] : overview.scopes) rows.push_back(row_of(overview, columns, scope, wall));
  rows.push_back(std::move(all));
  return table_of(std::move(rows));
}

std::string lock_text(const Overview& overview, WallTime wall) {
  if (!overview.lock) return overview.lock_there ? "cannot be read" : "never taken";
  const LockRecord& lock = *overview.lock;
  const std::string epoch = ", epoch " + std::to_string(lock.epoch);
  if (lock.is_free()) {
    return "free" + epoch + (lock.yielded_by.empty() ? "" : ", yielded by " + lock.yielded_by);
  }
  return lock.owner + " since " + age_text(lock.taken, wall) + epoch + ", renewed " +
         age_text(lock.renewed, wall) + " ago, expires when silent for " + seconds_text(lock.duration);
}

void add_claims(const Overview& overview, WallTime wall, std::vector<Row>& rows) {
  for (const auto& [action, claim] : overview.claims) {
    std::string text = action + ": " + std::string(text_of(claim.state)) + " by " + claim.owner.scope +
                       ", epoch " + std::to_string(claim.epoch) + ", " + std::to_string(claim.targets) +
                       " targets, " + age_text(claim.at, wall) + " ago";
    if (!claim.note.empty()) text += ": " + claim.note;
    rows.push_back({"claim", std::move(text)});
  }
}

void add_unusual(const Overview& overview, WallTime wall, std::vector<Row>& rows) {
  for (const Denied& denied : overview.denied) {
    std::string text = denied.scope;
    if (!denied.by.empty()) text += " by " + denied.by + ", " + age_text(denied.at, wall) + " ago";
    if (!denied.reason.empty()) text += ": " + denied.reason;
    rows.push_back({"denied", std::move(text)});
  }
  for (const auto& [from, to] : overview.migrating) rows.push_back({"moving", from + " to " + to});
  for (const auto& [version, units] : overview.upgrades) {
    rows.push_back({"upgrade", "to " + version + ": " + std::to_string(units) + " units registered"});
  }
  if (detail::modes_differ(overview)) rows.push_back({"warning", std::string(detail::mixed_modes_warning)});
  for (const std::string& what : overview.unreadable) rows.push_back({"unreadable", what});
}

Json json_of(const SetFigures& figures) {
  Json json = Json::object({{"members", figures.members}});
  if (figures.oldest_at != 0) json["oldestAt"] = figures.oldest_at;
  if (figures.newest_at != 0) json["newestAt"] = figures.newest_at;
  return json;
}

Json json_of(const Instance& instance) {
  Json json = Json::parse(encode(instance.record));
  json["scope"] = instance.scope;
  json["presence"] = text_of(instance.presence);
  json["unchangedSeconds"] = std::chrono::duration<double>(instance.unchanged).count();
  return json;
}

}  // namespace

std::size_t Overview::members(std::string_view set) const {
  std::size_t sum = 0;
  for (const auto& [scope, figures] : scopes) {
    const auto found = figures.find(std::string(set));
    if (found != figures.end()) sum += found->second.members;
  }
  return sum;
}

Overviewer::Overviewer(Layout layout, LivenessOptions liveness)
    : layout_(std::move(layout)), liveness_(layout_, liveness) {}

Overview Overviewer::take(StoreSnapshot& snapshot, TimePoint now) {
  Overview overview{.root = layout_.root(), .version = snapshot.version()};
  const std::vector<Entry> records = snapshot.scan_all(prefix_range(layout_.instances_prefix()));
  liveness_.observe(records, now);
  overview.instances = liveness_.instances(now);
  for (const Instance& instance : overview.instances) overview.scopes.try_emplace(instance.scope);
  Reader reader(snapshot, layout_, overview);
  reader.read_instances(records);
  reader.read_sets();
  reader.read_arbiter();
  if (const auto lock = snapshot.get(layout_.lock())) {
    overview.lock_there = true;
    overview.lock_unchanged = now - seen_.see(lock->key, lock->version, now);
  }
  return overview;
}

std::string text_of(const Overview& overview, WallTime wall) {
  std::vector<Row> rows{{"lock", lock_text(overview, wall)}};
  add_claims(overview, wall, rows);
  add_unusual(overview, wall, rows);
  return scopes_text(overview, wall) + "\n" + table_of(std::move(rows));
}

Json json_of(const Overview& overview) {
  Json json = Json::object({{"root", overview.root}, {"version", overview.version}});
  Json& scopes = json["scopes"] = Json::object();
  for (const auto& [scope, sets] : overview.scopes) {
    Json figures = Json::object();
    for (const auto& [set, one] : sets) figures[set] = json_of(one);
    scopes[scope] = std::move(figures);
  }
  Json instances = Json::array();
  for (const Instance& one : overview.instances) instances.push_back(json_of(one));
  json["instances"] = std::move(instances);
  if (overview.lock) json["lock"] = Json::parse(encode(*overview.lock));
  Json claims = Json::object();
  for (const auto& [action, claim] : overview.claims) claims[action] = Json::parse(encode(claim));
  json["claims"] = std::move(claims);
  Json denied = Json::array();
  for (const Denied& one : overview.denied) {
    denied.push_back(Json::object({{"scope", one.scope}, {"by", one.by}, {"reason", one.reason}}));
  }
  json["denyList"] = std::move(denied);
  Json migrating = Json::object();
  for (const auto& [from, to] : overview.migrating) migrating[from] = to;
  json["migrating"] = std::move(migrating);
  Json upgrades = Json::object();
  for (const auto& [version, units] : overview.upgrades) upgrades[version] = units;
  json["upgrades"] = std::move(upgrades);
  Json unreadable = Json::array();
  for (const std::string& what : overview.unreadable) unreadable.push_back(what);
  json["unreadable"] = std::move(unreadable);
  return json;
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
