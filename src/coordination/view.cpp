// SPDX-License-Identifier: Apache-2.0
// Builds a view of the sets of all instances: members with their age, and claims with the members that they
// consumed.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <evenkeel/api/json.hpp>
#include <evenkeel/coordination/keys.hpp>
#include <evenkeel/coordination/ledger.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {
namespace {

/// Removes members that have been copied by a move: a unit below both `from` and `to` counts once.
void drop_moved(const std::vector<ScopeMove>& moves, std::vector<Member>& members) {
  if (moves.empty()) return;
  std::set<UnitRef> present;
  for (const Member& member : members) present.insert(member.ref);
  std::erase_if(members, [&](const Member& member) {
    return std::ranges::any_of(moves, [&](const ScopeMove& move) {
      return move.from == member.ref.scope && present.contains({move.to, member.ref.unit});
    });
  });
}

/// The consumed members: targets of settled claims that have the same since as the members.
class Consumed {
 public:
  explicit Consumed(const View& view) {
    const bool newest_counts = !view.claim || view.claim->record.state == ClaimState::settled;
    const std::uint64_t newest = view.claim ? view.claim->record.epoch : 0;
    for (const auto& [scope, record] : view.targets) {
      for (const auto& [epoch, units] : record.epochs) {
        if (epoch == newest && !newest_counts) continue;
        for (const auto& [unit, since] : units) {
          taken_.insert({{scope, unit}, since});
          for (const std::string& other : view.other_names(scope)) taken_.insert({{other, unit}, since});
        }
      }
    }
  }
  bool contains(const UnitRef& ref, Version since) const { return taken_.contains({ref, since}); }

 private:
  std::set<std::pair<UnitRef, Version>> taken_;
};

bool same_unit(const Member& member, const UnitRef& ref) {
  return member.ref == ref;
}

/// Finds a live instance that may have written what this program cannot decode. A record that cannot be
/// decoded counts as live until it has been unchanged for `silence`.
std::optional<std::string> decode_problem(const Entry& entry, const Instance& instance, Duration silence) {
  if (instance.unchanged > silence) return std::nullopt;
  try {
    const std::uint32_t schema = decode_instance(entry.value, instance.scope).schema;
    if (schema <= known_schema) return std::nullopt;
    return entry.key + ": schema: " + std::to_string(schema) + " is newer than " +
           std::to_string(known_schema) + ", the newest that this program supports";
  } catch (const DecodeError& error) {
    return error.what();
  }
}

const Member* find(const std::vector<Member>& members, const UnitRef& ref) {
  const auto found = std::ranges::lower_bound(members, ref, {}, &Member::ref);
  return found != members.end() && same_unit(*found, ref) ? &*found : nullptr;
}

/// Moves consumed members out of pending and ready. A unit's membership is that of its ready member, or of
/// its pending one if it is not ready.
void take_out_consumed(View& view) {
  const Consumed consumed(view);
  std::set<UnitRef> gone;
  for (const Member& member : view.ready) {
    if (consumed.contains(member.ref, member.since)) gone.insert(member.ref);
  }
  for (const Member& member : view.pending) {
    const bool alone = find(view.ready, member.ref) == nullptr;
    if (alone && consumed.contains(member.ref, member.since)) gone.insert(member.ref);
  }
  for (const UnitRef& ref : gone) {
    const Member* pending = find(view.pending, ref);
    const Member* ready = find(view.ready, ref);
    const Member* const unit = ready != nullptr ? ready : pending;
    if (unit == nullptr) continue;  // never: it is in one of them
    view.consumed.push_back(*unit);
    if (pending != nullptr) view.consumed.back().kind = pending->kind;
  }
  const auto is_gone = [&](const Member& member) { return gone.contains(member.ref); };
  std::erase_if(view.pending, is_gone);
  std::erase_if(view.ready, is_gone);
}

}  // namespace

const Instance* View::instance(std::string_view scope) const {
  const auto found = std::ranges::find(instances, scope, &Instance::scope);
  return found == instances.end() ? nullptr : &*found;
}

std::vector<std::string> View::other_names(std::string_view scope) const {
  std::vector<std::string> names;
  for (const ScopeMove& move : moves) {
    if (move.from == scope) names.push_back(move.to);
    if (move.to == scope) names.push_back(move.from);
  }
  return names;
}

Viewer::Viewer(Layout layout, LivenessOptions liveness)
    : layout_(std::move(layout)), liveness_(layout_, liveness), silence_(liveness.silence) {}

View Viewer::view(const ViewEntries& entries, TimePoint now) {
  View view;
  view.action = entries.action;
  view.version = entries.version;
  view.lock = entries.lock;
  liveness_.observe(entries.instances, now);
  view.instances = liveness_.instances(now);
  view.silence = silence_;
  for (const Entry& entry : entries.instances) {
    const auto element = std::string_view(entry.key).substr(layout_.instances_prefix().size());
    const Instance* one = view.instance(key_text(element));
    if (one == nullptr) continue;
    if (auto why = decode_problem(entry, *one, silence_)) view.unreadable.push_back(*std::move(why));
  }
  view.whole = entries.whole;
  view.guards = entries.guards;
  view.consumed_scopes = entries.consumed;
  guards_[entries.action].see_all(entries.guards, now);
  read_members(pending_set(entries.action), entries.pending, now, view.pending, view);
  read_members(ready_set(entries.action), entries.ready, now, view.ready, view);
  read_arbiter(entries, now, view);
  drop_moved(view.moves, view.pending);
  drop_moved(view.moves, view.ready);
  take_out_consumed(view);
  read_tallies(entries, now, view);
  return view;
}

void Viewer::read_members(const std::string& set, const std::vector<Entry>& entries, TimePoint now,
                          std::vector<Member>& into, View& view) {
  seen_.see_all(prefix_range(layout_.set_prefix(set)), entries, now);
  const VersionHistories& guards = guards_[view.action];
  for (const Entry& entry : entries) {
    std::vector<std::string> elements = elements_of(layout_.root(), entry.key);
    try {
      if (elements.size() != 3 || elements[1].empty() || elements[2].empty()) {
        throw DecodeError(entry.key, "expected a set, a scope and a unit");
      }
      MemberRecord record = decode_member(entry);
      // While only summaries are read, the guards show when a member appeared.
      const TimePoint seen = seen_.see(entry.key, entry.version, now);
      const TimePoint guarded = guards.since(elements[1], entry.version).value_or(now);
      into.push_back({.ref = {std::move(elements[1]), std::move(elements[2])},
                      .kind = std::move(record.kind),
                      .since = record.since == 0 ? entry.version : record.since,
                      .at = record.at,
                      .seen = std::min(seen, guarded)});
    } catch (const DecodeError& error) {
      view.unreadable.emplace_back(error.what());
    }
  }
  // Keys are ordered by their escaped elements, which differs from the order of the texts.
  std::ranges::sort(into, {}, &Member::ref);
}

void Viewer::read_tallies(const ViewEntries& entries, TimePoint now, View& view) {
  const VersionHistories& guards = guards_[entries.action];
  for (const auto& [scope, summary] : entries.summaries) {
    for (const KindSummary& kind : summary.kinds) {
      if (kind.pending == 0) continue;
      const TimePoint added = guards.since(scope, kind.added).value_or(now);
      const TimePoint readied = guards.since(scope, kind.readied).value_or(now);
      view.tallies.push_back({.scope = scope,
                              .kind = kind.kind,
                              .pending = kind.pending,
                              .ready = kind.ready,
                              .missing = kind.missing,
                              .added = kind.ready == 0 ? added : std::max(added, readied),
                              .readied = readied,
                              .first = guards.since(scope, kind.first_pending).value_or(now)});
    }
  }
}

void Viewer::read_arbiter(const ViewEntries& entries, TimePoint now, View& view) {
  const auto readable = [&](const auto& read) {
    try {
      read();
    } catch (const DecodeError& error) {
      view.unreadable.emplace_back(error.what());
    }
  };
  for (const Entry& entry : entries.facts) {
    std::vector<std::string> elements = elements_of(layout_.root(), entry.key);
    if (elements.size() != 3) continue;
    readable([&] { view.facts[{elements[1], elements[2]}] = decode_facts(entry); });
  }
  for (const Entry& entry : entries.denied) {
    std::vector<std::string> elements = elements_of(layout_.root(), entry.key);
    if (elements.size() == 3) view.denied_versions[std::move(elements[2])] = entry.version;
  }
  for (const auto& [scope, version] : view.denied_versions) view.denied.push_back(scope);
  for (const Entry& entry : entries.targets) {
    std::vector<std::string> elements = elements_of(layout_.root(), entry.key);
    if (elements.size() != 4) continue;
    view.targets_versions[elements[3]] = entry.version;
    readable([&] { view.targets[elements[3]] = decode_targets(entry); });
  }
  seen_.see_all(prefix_range(layout_.migrating_prefix()), entries.migrating, now);
  for (const Entry& entry : entries.migrating) {
    std::vector<std::string> elements = elements_of(layout_.root(), entry.key);
    if (elements.size() != 3) continue;
    readable([&] {
      view.moves.push_back({.from = std::move(elements[2]),
                            .to = Json::parse(entry.value, entry.key)["to"].as_string(),
                            .version = entry.version,
                            .seen = seen_.see(entry.key, entry.version, now)});
    });
  }
  if (entries.taken) {
    try {
      view.taken = decode_taken(*entries.taken);
    } catch (const DecodeError&) {  // every claim writes it again, and without it all members are read
    }
  }
  if (!entries.claim) return;
  const TimePoint seen = seen_.see(entries.claim->key, entries.claim->version, now);
  readable([&] { view.claim = ClaimView{decode_claim(*entries.claim), entries.claim->version, seen}; });
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
