// SPDX-License-Identifier: Apache-2.0
#include "simulation_audit.hpp"

#include <algorithm>

#include <evenkeel/coordination/keys.hpp>
#include <evenkeel/coordination/lease_lock.hpp>
#include <evenkeel/coordination/liveness.hpp>

namespace evenkeel::coordination::simulation {
namespace {

const Commit::Put* put_of(const Commit& commit, const std::string& key) {
  const auto found = std::ranges::find(commit.puts, key, &Commit::Put::key);
  return found == commit.puts.end() ? nullptr : &*found;
}

std::string name_of(const UnitRef& ref) {
  return ref.scope + "/" + ref.unit;
}

}  // namespace

void Auditor::applied(const std::string& writer, const Commit& commit, Version version) {
  check_owner(writer, commit);
  check_tokens(commit);
  check_lock(writer, commit);
  check_claim(writer, commit);
  note_changes(commit, version);
  apply(commit, version);
  check_phases();
}

std::optional<std::string> Auditor::claimant(std::uint64_t epoch) const {
  const auto found = claimants_.find(epoch);
  return found == claimants_.end() ? std::nullopt : std::optional(found->second);
}

/// Returns true if the old record of a scope names the new one.
bool Auditor::is_move(const Commit& commit) const {
  return std::ranges::any_of(commit.puts, [&](const Commit::Put& put) {
    const auto elements = elements_of(layout_.root(), put.key);
    return elements.size() == 2 && elements[0] == "instances" &&
           !decode_instance(put.value, elements[1]).moved_to.empty();
  });
}

// 'own scope', and that a commit keeps to one shard, unless it moves a scope.
void Auditor::check_owner(const std::string& writer, const Commit& commit) {
  std::set<std::string> shards;
  for (const std::string& key : written_keys(commit)) {
    const std::string shard = layout_.shard_of(key);
    shards.insert(shard);
    const bool own = shard.starts_with("scope.") && home_of(shard.substr(6)) == writer;
    if (shard != "arbiter" && !own) violated("own scope: " + writer + " wrote " + key);
  }
  const bool move = is_move(commit);
  moves_ += move ? 1 : 0;
  if (move) return;
  if (shards.size() > 1) violated("all or nothing: " + writer + " wrote several shards in one commit");
  if (!commit.range_erases.empty()) violated("own scope: " + writer + " removed a whole range");
}

// 'applied once'
void Auditor::check_tokens(const Commit& commit) {
  for (const Commit::Put& put : commit.puts) {
    const auto elements = elements_of(layout_.root(), put.key);
    const bool token =
        elements.size() == 2 ? elements[0] == "tokens" : elements.size() == 3 && elements[1] == "tokens";
    // A move writes its own value to the token of the old scope.
    const bool moved = put.value.starts_with("moved to ");
    if (token && !moved && !tokens_.insert(put.key + "=" + put.value).second) {
      violated("applied once: applied twice: " + put.key + " = " + put.value);
    }
  }
}

// 'denied stays out'
void Auditor::check_lock(const std::string& writer, const Commit& commit) {
  const Commit::Put* put = put_of(commit, layout_.lock());
  if (put == nullptr) return;
  const LockRecord after = decode_lock(put->value);
  const auto before = entry(put->key);
  const bool taken = !before || decode_lock(before->value).epoch != after.epoch;
  if (taken && home_of(after.owner) == writer && denied(after.owner)) {
    violated("denied stays out: " + writer + " took the lock while it was denied");
  }
}

void Auditor::check_claim(const std::string& writer, const Commit& commit) {
  const std::string key = layout_.claim(rules_.policy.action);
  if (std::ranges::find(commit.erases, key) != commit.erases.end())
    violated("one claim: the claim was erased");
  const Commit::Put* put = put_of(commit, key);
  if (put == nullptr) return;
  const ClaimRecord after = decode_claim({key, put->value, 0});
  const auto old = entry(key);
  std::optional<ClaimRecord> before;
  if (old) before = decode_claim(*old);
  if (home_of(after.owner.scope) != writer)
    violated("one claim: " + writer + " wrote a claim of " + after.owner.scope);
  if (after.state != ClaimState::executing) {
    const bool own = before && before->state == ClaimState::executing && before->epoch == after.epoch &&
                     before->owner == after.owner;
    if (!own) violated("one claim: " + writer + " settled what is not its claim");
    return;
  }
  if (after.epoch != (before ? before->epoch : 0) + 1) violated("one claim: " + writer + " jumped in epochs");
  if (denied(after.owner.scope)) violated("denied stays out: " + writer + " claimed while it was denied");
  claimants_[after.epoch] = writer;
  if (before && before->state == ClaimState::executing) {
    check_take_over(*before, after, find(key)->since);
  } else {
    check_new_claim(after, commit);
  }
}

// Only an overdue claim, or an own one, is taken over.
void Auditor::check_take_over(const ClaimRecord& before, const ClaimRecord& after, TimePoint since) {
  ++take_overs_;
  if (before.owner != after.owner && rules_.now() < since + before.timeout) {
    violated("one claim: claim " + std::to_string(before.epoch) + " was taken over before its time");
  }
  if (before.targets != after.targets) violated("taken once: targets changed when a claim was taken over");
}

// 'taken once', 'current view', 'open gate'
void Auditor::check_new_claim(const ClaimRecord& record, const Commit& commit) {
  ++claims_;
  const std::string& action = rules_.policy.action;
  const std::string epoch = "claim " + std::to_string(record.epoch) + " of " + record.owner.scope;
  const Members pending = members(pending_set(action));
  const Members ready = members(ready_set(action));
  const auto taken = consumed();
  std::int64_t targets = 0;
  for (const Commit::Put& put : commit.puts) {
    const auto elements = elements_of(layout_.root(), put.key);
    if (!put.key.starts_with(layout_.targets_prefix(action)) || elements.size() != 4) continue;
    const TargetsRecord record_of_scope = decode_targets({put.key, put.value, 0});
    const auto found = record_of_scope.epochs.find(record.epoch);
    if (found == record_of_scope.epochs.end()) continue;
    for (const auto& [unit, since] : found->second) {
      ++targets;
      const UnitRef ref{elements[3], unit};
      const auto member = ready.find(ref);
      if (member == ready.end() || member->second.first != since || !pending.contains(ref)) {
        violated("taken once: " + epoch + " has a target that is not ready: " + name_of(ref));
      }
      if (ref.scope != record.owner.scope && denied(ref.scope)) {
        violated("denied stays out: " + epoch + " has a target of a denied scope: " + name_of(ref));
      }
      if (taken.contains({ref, since}))
        violated("taken once: " + epoch + " has a consumed target: " + name_of(ref));
    }
  }
  if (targets == 0 || targets != record.targets)
    violated("taken once: " + epoch + " says another number of targets");
  for (const std::string& set : {pending_set(action), ready_set(action)}) {
    for (const Version change : changes_[set]) {
      if (change > commit.read_version) violated("current view: " + set + " changed before " + epoch);
    }
  }
  check_moves(epoch);
  const auto is_denied = [&](const auto& member) { return denied(member.first.scope); };
  if (std::ranges::any_of(pending, is_denied)) ++claims_without_denied_;
  const TimePoint now = rules_.now();
  TimePoint newest = TimePoint::min();
  for (const auto& [ref, member] : pending) {
    const auto found = ready.find(ref);
    const Version since = found == ready.end() ? member.first : found->second.first;
    if (taken.contains({ref, since}) || !must_count(ref.scope, record.owner.scope)) continue;
    newest = std::max(newest, member.second);
    if (found != ready.end()) newest = std::max(newest, found->second.second);
    if (found == ready.end() && rules_.policy.barrier == Barrier::all_ready) {
      violated("open gate: " + epoch + " did not wait for " + name_of(ref));
    }
  }
  if (newest != TimePoint::min() && now - newest < rules_.policy.quiet_window) {
    violated("open gate: " + epoch + " came within the quiet window");
  }
  const auto disrupted = rules_.last_disruption();
  if (disrupted && now - *disrupted < rules_.policy.minimum_spacing)
    violated("open gate: " + epoch + " came too soon");
}

// 'moves are awaited': claims wait for a move, unless its mover has died.
void Auditor::check_moves(const std::string& epoch) {
  const auto moves = moves_now();
  claims_amid_moves_ += moves.empty() ? 0 : 1;
  for (const auto& [from, to] : moves) {
    if (rules_.now() - find(layout_.migrating(from))->since >= rules_.silence) continue;
    violated("moves are awaited: " + epoch + " came while " + from + " was moved to " + to);
  }
}

bool Auditor::must_count(const std::string& scope, const std::string& claimant) const {
  if (scope == claimant) return true;
  if (denied(scope)) return false;
  const auto record = entry(layout_.instance(scope));
  if (!record) return false;
  const InstanceRecord known = decode_instance(record->value, scope);
  if (known.mode != Mode::global || !known.moved_to.empty()) return false;
  return rules_.now() - find(record->key)->since < rules_.silence;
}

// 'ready implies pending'
void Auditor::check_phases() {
  const Members pending = members(pending_set(rules_.policy.action));
  for (const auto& [ref, member] : members(ready_set(rules_.policy.action))) {
    if (!pending.contains(ref))
      violated("ready implies pending: " + name_of(ref) + " is ready and not pending");
  }
}

void Auditor::note_changes(const Commit& commit, Version version) {
  for (const std::string& key : written_keys(commit)) {
    const auto elements = elements_of(layout_.root(), key);
    if (elements.size() == 3 && layout_.shard_of(key) != "arbiter" && elements[0] != "guard") {
      changes_[elements[0]].push_back(version);
    }
  }
}

void Auditor::apply(const Commit& commit, Version version) {
  for (const std::string& key : commit.erases) state_.erase(key);
  for (const KeyRange& range : commit.range_erases) {
    std::erase_if(state_, [&](const auto& one) { return range.contains(one.first); });
  }
  for (const Commit::Put& put : commit.puts) state_[put.key] = {put.value, version, rules_.now()};
}

const Auditor::Held* Auditor::find(const std::string& key) const {
  const auto found = state_.find(key);
  return found == state_.end() ? nullptr : &found->second;
}

std::optional<Entry> Auditor::entry(const std::string& key) const {
  const Held* held = find(key);
  return held == nullptr ? std::nullopt : std::optional(Entry{key, held->value, held->version});
}

Auditor::Members Auditor::members(const std::string& set) const {
  Members out;
  const std::string prefix = layout_.set_prefix(set);
  const auto moves = moves_now();
  for (auto at = state_.lower_bound(prefix); at != state_.end() && at->first.starts_with(prefix); ++at) {
    const auto elements = elements_of(layout_.root(), at->first);
    const MemberRecord record = decode_member({at->first, at->second.value, 0});
    out[{elements.at(1), elements.at(2)}] = {record.since == 0 ? at->second.version : record.since,
                                             at->second.since};
  }
  // A unit that has been copied counts once.
  std::erase_if(out, [&](const auto& member) {
    const auto move = moves.find(member.first.scope);
    return move != moves.end() && out.contains({move->second, member.first.unit});
  });
  return out;
}

std::set<std::pair<UnitRef, Version>> Auditor::consumed() const {
  std::set<std::pair<UnitRef, Version>> out;
  const std::string prefix = layout_.targets_prefix(rules_.policy.action);
  for (auto at = state_.lower_bound(prefix); at != state_.end() && at->first.starts_with(prefix); ++at) {
    const std::string scope = elements_of(layout_.root(), at->first).at(3);
    for (const auto& [epoch, units] : decode_targets({at->first, at->second.value, 0}).epochs) {
      for (const auto& [unit, since] : units) {
        out.insert({{scope, unit}, since});
        if (amid_move(scope)) out.insert({{other_name_of(scope), unit}, since});
      }
    }
  }
  return out;
}

std::map<std::string, std::string> Auditor::moves_now() const {
  std::map<std::string, std::string> moves;
  const std::string prefix = layout_.migrating_prefix();
  for (auto at = state_.lower_bound(prefix); at != state_.end() && at->first.starts_with(prefix); ++at) {
    const std::string from = elements_of(layout_.root(), at->first).at(2);
    moves[from] = other_name_of(from);
  }
  return moves;
}

bool Auditor::amid_move(const std::string& scope) const {
  const auto moves = moves_now();
  return moves.contains(scope) || moves.contains(other_name_of(scope));
}

bool Auditor::denied(const std::string& scope) const {
  const auto listed = [&](const std::string& name) { return find(layout_.denied(name)) != nullptr; };
  return listed(scope) || (amid_move(scope) && listed(other_name_of(scope)));
}

std::vector<std::string> Auditor::written_keys(const Commit& commit) const {
  std::vector<std::string> keys = commit.erases;
  for (const Commit::Put& put : commit.puts) keys.push_back(put.key);
  for (const auto& one : state_) {
    const auto erases = [&one](const KeyRange& range) { return range.contains(one.first); };
    if (std::ranges::any_of(commit.range_erases, erases)) keys.push_back(one.first);
  }
  return keys;
}

}  // namespace evenkeel::coordination::simulation
