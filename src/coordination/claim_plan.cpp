// SPDX-License-Identifier: Apache-2.0
// Plans the commits that make, take over, settle and tidy claims. Has neither store nor clock.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/coordination/claim.hpp>
#include <evenkeel/coordination/keys.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {
namespace {

using Taken = std::map<UnitRef, Version>;

/// Returns the members of the action, including consumed ones, with the since that claims recorded.
Taken members_of(const View& view) {
  Taken members;
  for (const auto* list : {&view.pending, &view.ready, &view.consumed}) {
    for (const Member& member : *list) members[member.ref] = member.since;
  }
  Taken by_other_names;
  for (const auto& [ref, since] : members) {
    for (const std::string& other : view.other_names(ref.scope)) by_other_names[{other, ref.unit}] = since;
  }
  members.merge(by_other_names);
  return members;
}

/// Returns `record` without former members, and without the failed claim `dropped`.
TargetsRecord still_needed(const TargetsRecord& record, const std::string& scope, const Taken& members,
                           std::optional<std::uint64_t> dropped) {
  TargetsRecord kept;
  for (const auto& [epoch, units] : record.epochs) {
    if (epoch == dropped) continue;
    for (const auto& [unit, since] : units) {
      const auto member = members.find({scope, unit});
      if (member != members.end() && member->second == since) kept.epochs[epoch][unit] = since;
    }
  }
  return kept;
}

bool same(const TargetsRecord& a, const TargetsRecord& b) {
  return a.epochs == b.epochs;
}

/// Writes the differences between the view's targets and `after`.
void put_targets(const Layout& layout, const View& view, const std::map<std::string, TargetsRecord>& after,
                 Commit& commit) {
  for (const auto& [scope, version] : view.targets_versions) {
    const auto kept = after.find(scope);
    if (kept == after.end() || kept->second.epochs.empty()) {
      commit.erases.push_back(layout.targets(view.action, scope));
    }
  }
  for (const auto& [scope, record] : after) {
    if (record.epochs.empty()) continue;
    const auto before = view.targets.find(scope);
    if (before != view.targets.end() && same(before->second, record)) continue;
    commit.puts.push_back({layout.targets(view.action, scope), encode(record)});
  }
}

/// The kinds of members that count, by unit: those of the pending ones.
std::map<UnitRef, std::string> kinds_of(const View& view) {
  std::map<UnitRef, std::string> kinds;
  for (const auto* list : {&view.pending, &view.consumed, &view.ready}) {
    for (const Member& member : *list) kinds.try_emplace(member.ref, member.kind);
  }
  return kinds;
}

/// Returns the kinds of the members of `scope` that are all targets, or none of them.
TakenRecord::Scope taken_from(const std::string& scope, const TargetsRecord& targets, std::uint64_t newest,
                              const Taken& members, const std::map<UnitRef, std::string>& kinds) {
  std::map<std::pair<std::string, Version>, TakenKind> taken;
  for (const auto& [epoch, units] : targets.epochs) {
    for (const auto& unit : units) taken[unit] = epoch == newest ? TakenKind::newest : TakenKind::earlier;
  }
  std::map<std::string, std::set<TakenKind>> found;
  for (auto one = kinds.lower_bound({scope, {}}); one != kinds.end() && one->first.scope == scope; ++one) {
    const std::string& unit = one->first.unit;
    auto& states = found[one->second];
    const auto target = taken.find({unit, members.at(one->first)});
    states.insert(target == taken.end() ? TakenKind::none : target->second);
    // A take-over keeps the pending member of a unit that is ready by now; it counts again if it is the only
    // one.
    const auto other = taken.lower_bound({unit, 0});
    if (target == taken.end() && other != taken.end() && other->first.first == unit) {
      states.insert(other->second);
    }
  }
  TakenRecord::Scope summary;
  for (const auto& [kind, states] : found) {
    if (states.size() == 1) summary.kinds[kind] = *states.begin();
    if (states.size() == 2 && !states.contains(TakenKind::none)) summary.kinds[kind] = TakenKind::mixed;
  }
  return summary;
}

/// Writes the summary of `after`, the targets that are recorded as of the claim `epoch`; erases it if it has
/// more than `most_bytes`.
void put_taken(const Layout& layout, const View& view, std::uint64_t epoch,
               const std::map<std::string, TargetsRecord>& after, std::size_t most_bytes, Commit& commit) {
  const Taken members = members_of(view);
  const auto kinds = kinds_of(view);
  TakenRecord record{.epoch = epoch};
  for (const auto& [scope, targets] : after) {
    if (targets.epochs.empty()) continue;
    const auto guard = view.guards.find(scope);
    auto& summary = record.scopes[scope] = taken_from(scope, targets, epoch, members, kinds);
    summary.as_of = guard == view.guards.end() ? view.version : guard->second;
  }
  // A move that is reverted brings targets of one name to members of the other.
  for (const ScopeMove& move : view.moves) {
    for (const std::string& scope : {move.from, move.to}) record.scopes[scope] = {.as_of = view.version};
  }
  if (view.taken == record) return;
  std::string text = encode(record);
  if (most_bytes == 0 || text.size() <= most_bytes) {
    commit.puts.push_back({layout.taken(view.action), std::move(text)});
  } else if (view.taken) {
    commit.erases.push_back(layout.taken(view.action));
  }
}

std::map<std::string, TargetsRecord> kept_targets(const View& view) {
  const Taken members = members_of(view);
  std::optional<std::uint64_t> failed;
  if (view.claim && view.claim->record.state == ClaimState::failed) failed = view.claim->record.epoch;
  std::map<std::string, TargetsRecord> kept;
  for (const auto& [scope, record] : view.targets) kept[scope] = still_needed(record, scope, members, failed);
  return kept;
}

std::uint64_t next_epoch(const View& view) {
  return view.claim ? view.claim->record.epoch + 1 : 1;
}

/// Makes it a condition that the moves in progress are unchanged, and that no other has started.
void condition_on_moves(const Layout& layout, const View& view, Commit& commit) {
  for (const ScopeMove& move : view.moves) {
    commit.reads.push_back({layout.migrating(move.from), move.version});
  }
  commit.read_ranges.push_back(prefix_range(layout.migrating_prefix()));
}

/// Adds the conditions of every decision of the arbiter about an action.
void condition_on_arbiter(const Layout& layout, const View& view, const std::string& scope, Commit& commit) {
  commit.read_version = view.version;
  commit.reads.push_back({layout.claim(view.action), view.claim ? view.claim->version : 0});
  commit.reads.push_back({layout.denied(scope), 0});
  condition_on_moves(layout, view, commit);
}

void condition_on_members(const Layout& layout, const View& view, Commit& commit) {
  for (const std::string& set :
       {pending_set(view.action), ready_set(view.action), std::string(facts_table)}) {
    commit.read_ranges.push_back(prefix_range(layout.guard_prefix(set)));
  }
}

/// Stores limit the number of conditions (etcd: 96). More keys than this are replaced by their range, which
/// may cause conflicts that do not concern the decision.
constexpr std::size_t most_single_reads = 32;

void condition_on(std::vector<Commit::ReadKey> keys, const std::string& prefix, Commit& commit) {
  if (keys.size() > most_single_reads) {
    commit.read_ranges.push_back(prefix_range(prefix));
    return;
  }
  std::ranges::move(keys, std::back_inserter(commit.reads));
}

/// Makes it a condition that scopes that were left out for silence or for their mode are unchanged.
void condition_on_silence(const Layout& layout, const View& view, const std::vector<LeftOut>& left_out,
                          Commit& commit) {
  std::vector<Commit::ReadKey> records;
  for (const LeftOut& out : left_out) {
    const Instance* one = view.instance(out.scope);
    records.push_back({layout.instance(out.scope), one == nullptr ? 0 : one->version});
  }
  condition_on(std::move(records), layout.instances_prefix(), commit);
}

/// Makes it a condition that scopes that were left out for being denied still are, and that no target's scope
/// is.
void condition_on_denials(const Layout& layout, const View& view, const Verdict& verdict, bool by_range,
                          Commit& commit) {
  std::map<std::string, Version> known;
  for (const LeftOut& out : verdict.left_out) {
    const auto denied = view.denied_versions.find(out.scope);
    if (denied != view.denied_versions.end()) known.insert(*denied);
  }
  if (by_range) {
    commit.read_ranges.push_back(prefix_range(layout.denied_prefix()));
  } else {
    for (const Target& target : verdict.proceed()->targets) {
      const auto denied = view.denied_versions.find(target.ref.scope);
      known.emplace(target.ref.scope, denied == view.denied_versions.end() ? 0 : denied->second);
    }
  }
  for (const auto& [scope, version] : known) commit.reads.push_back({layout.denied(scope), version});
}

ClaimRecord record_of(const Claim& claim, const Claimant& claimant, Duration timeout) {
  return {.epoch = claim.epoch,
          .owner = claimant.identity,
          .state = ClaimState::executing,
          .timeout = timeout,
          .targets = static_cast<std::int64_t>(claim.targets.size()),
          .at = seconds_of(claimant.wall)};
}

/// Returns the targets of the newest claim, according to the store.
std::vector<Target> targets_of(const View& view) {
  std::vector<Target> targets;
  for (const auto& [scope, record] : view.targets) {
    const auto newest = record.epochs.find(view.claim->record.epoch);
    if (newest == record.epochs.end()) continue;
    for (const auto& [unit, since] : newest->second) {
      const UnitRef ref{scope, unit};
      const auto facts = view.facts.find(ref);
      const auto member = std::ranges::find(view.pending, ref, &Member::ref);
      targets.push_back({.ref = ref,
                         .kind = member == view.pending.end() ? std::string() : member->kind,
                         .since = since,
                         .facts = facts == view.facts.end() ? std::vector<std::string>() : facts->second});
    }
  }
  return targets;
}

/// Returns `record` without the targets of `epoch` that were not acted upon.
TargetsRecord without(TargetsRecord record, std::uint64_t epoch, const std::string& scope,
                      const std::set<UnitRef>& not_done) {
  const auto found = record.epochs.find(epoch);
  if (found == record.epochs.end()) return record;
  std::erase_if(found->second, [&](const auto& one) { return not_done.contains({scope, one.first}); });
  if (found->second.empty()) record.epochs.erase(found);
  return record;
}

/// Returns true if the registry has another run of the instance, or another scope for it: this run was paused
/// in between.
bool is_succeeded(const View& view, const Identity& me) {
  const Instance* own = view.instance(me.scope);
  if (own == nullptr || own->record.instance != me.instance) return false;
  return own->record.incarnation != me.incarnation || !own->record.moved_to.empty();
}

/// Notes in the summary of targets that those of `not_done` are not consumed.
void put_not_done(const ViewEntries& entries, std::uint64_t epoch, const std::set<UnitRef>& not_done,
                  Commit& commit) {
  if (!entries.taken || not_done.empty()) return;
  TakenRecord record;
  try {
    record = decode_taken(*entries.taken);
  } catch (const DecodeError&) {
    return;  // it is not used either
  }
  if (record.epoch != epoch) return;
  for (const UnitRef& ref : not_done) {
    std::erase_if(record.scopes[ref.scope].kinds, [](const auto& kind) {
      return kind.second == TakenKind::newest || kind.second == TakenKind::mixed;
    });
  }
  commit.puts.push_back({entries.taken->key, encode(record)});
}

/// Returns the verdict of a gate that is open, or why there is no claim.
std::variant<Verdict, NotClaimed> decide(const View& view, const ActionPolicy& policy,
                                         const Situation& situation, const Claimant& claimant,
                                         TimePoint now) {
  if (is_succeeded(view, claimant.identity)) {
    const std::string& scope = claimant.identity.scope;
    return NotClaimed{{.outcome = Blocked{{{scope, {}}}, "another run of " + scope + " is registered"}},
                      false};
  }
  Verdict verdict = evaluate(view, policy, situation, now);
  if (verdict.proceed() == nullptr) return NotClaimed{std::move(verdict), false};
  if (policy.needs_lock && !claimant.holds_lock) return NotClaimed{std::move(verdict), true};
  return verdict;
}

bool failed_altogether(const Claim& claim, const std::set<UnitRef>& not_done) {
  return std::ranges::all_of(claim.targets, [&](const Target& one) { return not_done.contains(one.ref); });
}

}  // namespace

std::variant<PlannedClaim, NotClaimed> plan_claim(const Layout& layout, const View& view,
                                                  const ActionPolicy& policy, const Situation& situation,
                                                  const Claimant& claimant, TimePoint now) {
  if (!view.whole) throw std::invalid_argument("plan_claim: the view is not whole");
  auto decided = decide(view, policy, situation, claimant, now);
  if (auto* no = std::get_if<NotClaimed>(&decided)) return std::move(*no);
  const auto& verdict = std::get<Verdict>(decided);
  const Proceed* go = verdict.proceed();
  PlannedClaim plan;
  plan.claim = {policy.action, next_epoch(view), go->targets, go->partial};
  condition_on_arbiter(layout, view, situation.scope, plan.commit);
  condition_on_members(layout, view, plan.commit);
  condition_on_denials(layout, view, verdict, claimant.range_conflict, plan.commit);
  if (claimant.registry_in_reads) condition_on_silence(layout, view, verdict.left_out, plan.commit);
  if (policy.needs_lock) plan.commit.reads.push_back({layout.lock(), view.lock ? view.lock->version : 0});
  auto targets = kept_targets(view);
  for (const Target& target : go->targets) {
    targets[target.ref.scope].epochs[plan.claim.epoch][target.ref.unit] = target.since;
  }
  put_targets(layout, view, targets, plan.commit);
  put_taken(layout, view, plan.claim.epoch, targets, claimant.value_bytes, plan.commit);
  plan.commit.puts.push_back(
      {layout.claim(policy.action), encode(record_of(plan.claim, claimant, policy.claim_timeout))});
  return plan;
}

std::optional<NotClaimed> refuse_claim(const View& view, const ActionPolicy& policy,
                                       const Situation& situation, const Claimant& claimant, TimePoint now) {
  auto decided = decide(view, policy, situation, claimant, now);
  if (auto* no = std::get_if<NotClaimed>(&decided)) return std::move(*no);
  return std::nullopt;
}

std::optional<TimePoint> take_over_at(const View& view, const Claimant& claimant) {
  if (!view.claim || view.claim->record.state != ClaimState::executing) return std::nullopt;
  if (view.claim->record.owner == claimant.identity) {
    return claimant.acting ? std::nullopt : std::optional(view.claim->seen);
  }
  return deadline_after(view.claim->seen, view.claim->record.timeout);
}

std::optional<PlannedClaim> plan_take_over(const Layout& layout, const View& view, const Claimant& claimant,
                                           TimePoint now) {
  const auto due = take_over_at(view, claimant);
  if (!view.whole || !due || now < *due || !view.unreadable.empty()) return std::nullopt;
  if (std::ranges::binary_search(view.denied, claimant.identity.scope)) return std::nullopt;
  if (is_succeeded(view, claimant.identity)) return std::nullopt;
  PlannedClaim plan;
  plan.claim = {view.action, next_epoch(view), targets_of(view), false};
  condition_on_arbiter(layout, view, claimant.identity.scope, plan.commit);
  auto targets = view.targets;
  for (auto& [scope, record] : targets) {
    auto moved = record.epochs.extract(view.claim->record.epoch);
    if (moved.empty()) continue;
    moved.key() = plan.claim.epoch;
    record.epochs.insert(std::move(moved));
  }
  put_targets(layout, view, targets, plan.commit);
  put_taken(layout, view, plan.claim.epoch, targets, claimant.value_bytes, plan.commit);
  plan.commit.puts.push_back(
      {layout.claim(view.action), encode(record_of(plan.claim, claimant, view.claim->record.timeout))});
  return plan;
}

std::optional<Commit> plan_settle(const Layout& layout, const ViewEntries& entries, const Claim& claim,
                                  const Identity& identity, const ActReport& report, WallTime wall) {
  if (!entries.claim) return std::nullopt;
  ClaimRecord record = decode_claim(*entries.claim);
  if (record.epoch != claim.epoch || record.owner != identity || record.state != ClaimState::executing) {
    return std::nullopt;
  }
  const std::set<UnitRef> not_done(report.not_done.begin(), report.not_done.end());
  record.state = failed_altogether(claim, not_done) ? ClaimState::failed : ClaimState::settled;
  record.at = seconds_of(wall);
  record.note = report.note;
  Commit commit;
  commit.read_version = entries.version;
  commit.reads.push_back({entries.claim->key, entries.claim->version});
  for (const Entry& entry : entries.targets) {
    const std::vector<std::string> elements = elements_of(layout.root(), entry.key);
    if (elements.size() != 4) continue;
    const TargetsRecord before = decode_targets(entry);
    const TargetsRecord after = without(before, claim.epoch, elements[3], not_done);
    if (same(before, after)) continue;
    if (after.epochs.empty()) {
      commit.erases.push_back(entry.key);
    } else {
      commit.puts.push_back({entry.key, encode(after)});
    }
  }
  put_not_done(entries, claim.epoch, not_done, commit);
  commit.puts.push_back({entries.claim->key, encode(record)});
  return commit;
}

bool may_need_tidying(const View& view) {
  if (view.claim && view.claim->record.state == ClaimState::executing) return false;
  if (view.whole) return true;
  if (!view.taken) return false;
  return std::ranges::any_of(view.taken->scopes, [&](const auto& taken) {
    const std::string& scope = taken.first;
    if (std::ranges::binary_search(view.consumed_scopes, scope) || !view.other_names(scope).empty())
      return false;
    return std::ranges::none_of(view.consumed, [&](const Member& one) { return one.ref.scope == scope; });
  });
}

Commit plan_tidy(const Layout& layout, const View& view, std::size_t value_bytes) {
  Commit commit;
  if (view.claim && view.claim->record.state == ClaimState::executing) return commit;
  if (!view.unreadable.empty()) return commit;
  if (!view.whole) throw std::invalid_argument("plan_tidy: the view is not whole");
  const auto kept = kept_targets(view);
  put_targets(layout, view, kept, commit);
  // The summary is also written if the newest claim was made by a program that writes none.
  const bool valid = !view.claim || (view.taken && view.taken->epoch == view.claim->record.epoch);
  if (view.claim && view.moves.empty() && (commit.writes() || !valid)) {
    put_taken(layout, view, view.claim->record.epoch, kept, value_bytes, commit);
  }
  if (!commit.writes()) return commit;
  commit.read_version = view.version;
  commit.reads.push_back({layout.claim(view.action), view.claim ? view.claim->version : 0});
  std::vector<Commit::ReadKey> targets;
  for (const auto& [scope, version] : view.targets_versions) {
    targets.push_back({layout.targets(view.action, scope), version});
  }
  condition_on_moves(layout, view, commit);
  condition_on(std::move(targets), layout.targets_prefix(view.action), commit);
  condition_on_members(layout, view, commit);
  return commit;
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
