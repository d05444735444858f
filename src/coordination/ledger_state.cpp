// SPDX-License-Identifier: Apache-2.0
// Decodes an instance's own state, and plans the smallest commit that turns it into the desired one.
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/coordination/keys.hpp>
#include <evenkeel/coordination/ledger.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {
namespace {

std::string unit_of(const Layout& layout, const Entry& entry) {
  std::vector<std::string> elements = elements_of(layout.root(), entry.key);
  if (elements.size() != 3) throw DecodeError(entry.key, "expected a set, a scope and a unit");
  return std::move(elements[2]);
}

using Change = PublishChange::Kind;
using OwnMembers = std::map<std::string, OwnMember, std::less<>>;

/// The order of versions in which 0, the version of this commit, is the newest.
bool is_older(Version a, Version b) {
  return a != 0 && (b == 0 || a < b);
}
Version newer_of(Version a, Version b) {
  return is_older(a, b) ? b : a;
}
Version older_of(Version a, Version b) {
  return is_older(a, b) ? a : b;
}

/// Adds a pending unit, with its ready member if it has one.
void add_to(KindSummary& kind, const std::string& unit, const OwnMember& pending, const OwnMember* ready) {
  const bool is_first = kind.pending++ == 0;
  const Version membership = ready == nullptr ? pending.since : ready->since;
  kind.added = is_first ? pending.since : newer_of(kind.added, pending.since);
  kind.first_pending = older_of(kind.first_pending, pending.since);
  kind.oldest = older_of(kind.oldest, membership);
  if (ready == nullptr) {
    if (kind.missing.size() < most_missing_names) kind.missing.push_back(unit);
    return;
  }
  const Version newest = newer_of(pending.since, ready->since);
  kind.readied = kind.ready++ == 0 ? newest : newer_of(kind.readied, newest);
}

/// Returns the counts by kind; nullopt for members that a migration copied, and for too many kinds.
std::optional<std::vector<KindSummary>> summary_of(const OwnMembers& pending, const OwnMembers& ready) {
  std::map<std::string, KindSummary> kinds;
  for (const auto& [unit, member] : pending) {
    const auto found = ready.find(unit);
    const OwnMember* other = found == ready.end() ? nullptr : &found->second;
    if (member.moved || (other != nullptr && other->moved)) return std::nullopt;
    add_to(kinds.try_emplace(member.kind, KindSummary{.kind = member.kind}).first->second, unit, member,
           other);
  }
  if (kinds.size() > most_summary_kinds) return std::nullopt;
  std::vector<KindSummary> all;
  all.reserve(kinds.size());
  for (auto& [name, kind] : kinds) all.push_back(std::move(kind));
  return all;
}

/// Collects the writes of a publish.
class Planner {
 public:
  Planner(const Layout& layout, std::string_view scope, WallTime wall)
      : layout_(layout), scope_(scope), at_(seconds_of(wall)) {}

  void keep(const std::string& set, const std::string& unit, const OwnMember& member) {
    after_[set][unit] = member;
  }
  void put_member(const std::string& set, const std::string& unit, const std::string& kind, Change change) {
    after_[set][unit] = {.kind = kind, .at = at_};
    put(set, unit, layout_.member(set, scope_, unit), encode(MemberRecord{.kind = kind, .at = at_}), change);
  }
  void put_facts(const std::string& unit, const std::vector<std::string>& facts, Change change) {
    put(std::string(facts_table), unit, layout_.facts(scope_, unit), encode_facts(facts), change);
  }
  void erase(const std::string& set, const std::string& unit, std::string key) {
    plan_.commit.erases.push_back(std::move(key));
    note(set, unit, Change::removed);
  }
  /// Writes the summary of `action` if one of its sets was changed.
  void summarise(const std::string& action) {
    const std::string pending = pending_set(action);
    const std::string ready = ready_set(action);
    if (!changed_.contains(pending) && !changed_.contains(ready)) return;
    const auto summary = summary_of(after_[pending], after_[ready]);
    if (!summary) return;
    plan_.commit.puts.push_back(
        {layout_.summary(action, scope_), encode(SummaryRecord{.at = at_, .kinds = *summary})});
  }
  PublishPlan finish() && {
    for (const std::string& set : changed_) {
      plan_.commit.puts.push_back({layout_.guard(set, scope_), encode(MemberRecord{.at = at_})});
    }
    return std::move(plan_);
  }

 private:
  void put(const std::string& set, const std::string& unit, std::string key, std::string value,
           Change change) {
    plan_.commit.puts.push_back({std::move(key), std::move(value)});
    note(set, unit, change);
  }
  void note(const std::string& set, const std::string& unit, Change change) {
    plan_.changes.push_back({set, unit, change});
    changed_.insert(set);
  }

  const Layout& layout_;
  std::string_view scope_;
  std::int64_t at_;
  PublishPlan plan_;
  std::set<std::string> changed_;
  std::map<std::string, OwnMembers> after_;  ///< By set; members of this commit have the since 0.
};

void check_desired(const Domain& domain, const DesiredState& desired) {
  const std::vector<std::string> known = domain.sets();
  for (const auto& [set, units] : desired.sets()) {
    if (!units.empty() && !std::ranges::binary_search(known, set)) {
      throw std::invalid_argument("publish: the domain has no set " + set);
    }
  }
  for (const std::string& action : domain.actions) {
    const auto ready = desired.sets().find(ready_set(action));
    if (ready == desired.sets().end()) continue;
    for (const auto& [unit, kind] : ready->second) {
      if (desired.contains(pending_set(action), unit)) continue;
      throw std::invalid_argument("publish: " + unit + " is in " + ready_set(action) + " and not in " +
                                  pending_set(action));
    }
  }
}

void plan_set(Planner& planner, const Layout& layout, std::string_view scope, const std::string& set,
              const OwnState& own, const DesiredState& desired) {
  static const std::map<std::string, OwnMember, std::less<>> none_own;
  static const DesiredState::Units none_desired;
  const auto has = own.sets.find(set);
  const auto wants = desired.sets().find(set);
  const auto& members = has == own.sets.end() ? none_own : has->second;
  const auto& wanted = wants == desired.sets().end() ? none_desired : wants->second;
  for (const auto& [unit, member] : members) {
    if (!wanted.contains(unit)) planner.erase(set, unit, layout.member(set, scope, unit));
  }
  for (const auto& [unit, kind] : wanted) {
    const auto present = members.find(unit);
    const auto renewal = desired.renewals().find({set, unit});
    if (present == members.end()) {
      planner.put_member(set, unit, kind, Change::added);
    } else if (renewal != desired.renewals().end() && renewal->second == present->second.since) {
      planner.put_member(set, unit, kind, Change::renewed);
    } else {
      planner.keep(set, unit, present->second);
    }
  }
}

void plan_facts(Planner& planner, const Layout& layout, std::string_view scope, const OwnState& own,
                const DesiredState& desired) {
  for (const auto& [unit, facts] : own.facts) {
    if (!desired.facts().contains(unit))
      planner.erase(std::string(facts_table), unit, layout.facts(scope, unit));
  }
  for (const auto& [unit, facts] : desired.facts()) {
    const auto present = own.facts.find(unit);
    if (present == own.facts.end()) {
      planner.put_facts(unit, facts, Change::added);
    } else if (present->second != facts) {
      planner.put_facts(unit, facts, Change::rewritten);
    }
  }
}

}  // namespace

void DesiredState::add(std::string_view set, std::string_view unit, std::string_view kind) {
  sets_[std::string(set)].try_emplace(std::string(unit), kind);
}

void DesiredState::remove(std::string_view set, std::string_view unit) {
  const auto found = sets_.find(set);
  if (found == sets_.end()) return;
  if (const auto member = found->second.find(unit); member != found->second.end())
    found->second.erase(member);
}

void DesiredState::remove_unit(std::string_view unit) {
  keep_only([&](const std::string& one) { return one != unit; });
}

void DesiredState::keep_only(const std::function<bool(const std::string& unit)>& keep) {
  const auto gone = [&](const auto& unit) { return !keep(unit.first); };
  for (auto& [set, units] : sets_) std::erase_if(units, gone);
  std::erase_if(facts_, gone);
}

void DesiredState::renew(std::string_view set, std::string_view unit, Version consumed,
                         std::string_view kind) {
  add(set, unit, kind);
  if (!kind.empty()) sets_.find(set)->second.insert_or_assign(std::string(unit), std::string(kind));
  renewals_[{std::string(set), std::string(unit)}] = consumed;
}

void DesiredState::set_facts(std::string_view unit, std::vector<std::string> facts) {
  if (facts.empty()) {
    if (const auto found = facts_.find(unit); found != facts_.end()) facts_.erase(found);
  } else {
    facts_.insert_or_assign(std::string(unit), std::move(facts));
  }
}

bool DesiredState::contains(std::string_view set, std::string_view unit) const {
  const auto found = sets_.find(set);
  return found != sets_.end() && found->second.contains(unit);
}

const OwnMember* OwnState::find(std::string_view set, std::string_view unit) const {
  const auto found = sets.find(set);
  if (found == sets.end()) return nullptr;
  const auto member = found->second.find(unit);
  return member == found->second.end() ? nullptr : &member->second;
}

DesiredState OwnState::desired() const {
  DesiredState desired;
  for (const auto& [set, members] : sets) {
    for (const auto& [unit, member] : members) desired.add(set, unit, member.kind);
  }
  for (const auto& [unit, known] : facts) desired.set_facts(unit, known);
  return desired;
}

OwnEntries read_own(StoreSnapshot& snapshot, const Layout& layout, const Domain& domain,
                    std::string_view scope) {
  OwnEntries own;
  own.version = snapshot.version();
  for (const std::string& set : domain.sets()) {
    own.sets[set] = snapshot.scan_all(prefix_range(layout.scope_prefix(set, scope)));
  }
  own.facts = snapshot.scan_all(prefix_range(layout.facts_prefix(scope)));
  own.record = snapshot.get(layout.instance(scope));
  return own;
}

OwnState own_state(const Layout& layout, const OwnEntries& entries) {
  OwnState own;
  own.version = entries.version;
  for (const auto& [set, members] : entries.sets) {
    auto& into = own.sets[set];
    for (const Entry& entry : members) {
      MemberRecord record = decode_member(entry);
      const Version since = record.since == 0 ? entry.version : record.since;
      into[unit_of(layout, entry)] = {std::move(record.kind), since, record.at, record.since != 0};
    }
  }
  for (const Entry& entry : entries.facts) own.facts[unit_of(layout, entry)] = decode_facts(entry);
  return own;
}

PublishPlan plan_publish(const Layout& layout, const Domain& domain, std::string_view scope,
                         const OwnState& present, const DesiredState& desired, WallTime wall) {
  check_desired(domain, desired);
  Planner planner(layout, scope, wall);
  for (const std::string& set : domain.sets()) plan_set(planner, layout, scope, set, present, desired);
  plan_facts(planner, layout, scope, present, desired);
  for (const auto* actions : {&domain.actions, &domain.marks}) {
    for (const std::string& action : *actions) planner.summarise(action);
  }
  return std::move(planner).finish();
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
