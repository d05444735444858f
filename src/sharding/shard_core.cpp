// SPDX-License-Identifier: Apache-2.0
#include "sharding/shard_core.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <evenkeel/api/codec.hpp>
#include <evenkeel/api/time.hpp>

#include "election/lease_record.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

std::optional<ShardCore::Pending> ShardCore::finish(std::uint64_t id) {
  if (!pending_ || pending_->id != id) return std::nullopt;
  dirty_ = true;
  return std::exchange(pending_, std::nullopt);
}

ShardCore::Step ShardCore::send(Ask ask, Purpose purpose, std::string name, Json body) {
  pending_ = Pending{.id = ++last_id_, .purpose = purpose, .name = name};
  return {.request = Request{.id = last_id_, .ask = ask, .name = std::move(name), .body = std::move(body)}};
}

ShardCore::Step ShardCore::next_step(TimePoint now, WallTime wall) {
  if (dirty_ && now >= quarantine_) compare();
  if (left_ || pending_) return {};
  if (must_list_) {
    if (now >= list_at_) return send(Ask::list, Purpose::list, {}, {});
    if (!listed_) return {.next_due = list_at_};
  }
  if (dirty_ || now >= look_at_) {
    dirty_ = now < quarantine_;  // a table that came before its end is still to be compared
    if (auto step = table_step(now, wall)) return std::move(*step);
    if (auto step = fence_step(now, wall)) return std::move(*step);
    if (auto step = sweep_step(now)) return std::move(*step);
    look_at_ = next_change(now);
  }
  return {.next_due = must_list_ ? std::min(look_at_, list_at_) : look_at_};
}

// ---- Decisions

// Number of members that come before this one, times the period that each of them has. `among` are members
// that renew: this one does not wait for turns that nobody takes.
Duration ShardCore::rank_delay(const std::set<std::string>& among) const {
  const auto rank = std::distance(among.begin(), among.find(options_.member));
  return options_.retry_period * rank;
}

std::optional<ShardCore::Step> ShardCore::table_step(TimePoint now, WallTime wall) {
  if ((!table_ && !problem_.empty()) || now < quarantine_) return std::nullopt;
  note_long_durations(now);
  const ShardTable plan = planned(now);
  const bool undone = !table_ || plan != *table_;
  if (!undone) {
    undone_since_.reset();
    return std::nullopt;
  }
  if (!undone_since_) undone_since_ = now;
  const bool own_turn = now >= deadline_after(*undone_since_, rank_delay(peers(now)));
  const ShardTable next = own_turn ? plan : with_own_part(plan);
  if (now < write_at_ || (table_ && next == *table_)) return std::nullopt;
  if (!table_ && (!own_turn || leaving_)) return std::nullopt;
  return send(table_ ? Ask::update : Ask::create, Purpose::table, options_.ring, document(next, wall));
}

// The whole plan, with what this member gives up.
ShardTable ShardCore::planned(TimePoint now) const {
  ShardTable plan = table_ ? *table_
                           : ShardTable{.slots = std::vector<SlotEntry>(options_.slots),
                                        .division = options_.division,
                                        .ranges = own_ranges(options_.slots)};
  const bool may_divide = is_foreign() ? is_deserted(now) : !plan.ranges.empty() && is_idle();
  if (may_divide && !leaving_) {
    plan.divide(options_.division, own_ranges(plan.slots.size()));
  } else if (withdraws()) {
    plan.leaving.insert(options_.member);
  }
  if (plan.division == options_.division) distribute(plan, now);
  for (const auto& [slot, held] : held_) {
    const SlotEntry& entry = plan.slots[slot];
    if (!held.drained || entry.holder != options_.member || entry.generation != held.generation) continue;
    plan.give(slot, !entry.next.empty() ? entry.next : gives_all() ? std::string() : options_.member);
  }
  return plan;
}

// Gives the slots to the members that may have them.
void ShardCore::distribute(ShardTable& plan, TimePoint now) const {
  std::erase_if(plan.leaving, [this](const std::string& member) {
    return member != options_.member && (!members_.contains(member) || has_ended(member));
  });
  std::set<std::string> eligible = peers(now);
  for (const std::string& member : plan.leaving) eligible.erase(member);
  plan.plan(eligible, [this](const std::string& member) { return has_ended(member); });
}

// Leaves to the others what is not this member's to do.
ShardTable ShardCore::with_own_part(const ShardTable& plan) const {
  if (!table_) return plan;
  ShardTable next = *table_;
  if (withdraws()) next.leaving.insert(options_.member);
  for (Slot slot = 0; slot < next.slots.size(); ++slot) {
    const auto held = held_.find(slot);
    const bool gives = held != held_.end() && held->second.drained;
    const bool asks = gives_all() && next.slots[slot].holder == options_.member;
    if (gives || asks) next.slots[slot] = plan.slots[slot];
  }
  return next;
}

std::optional<ShardCore::Step> ShardCore::fence_step(TimePoint now, WallTime wall) {
  const Duration delay = rank_delay(eligible(now));
  for (auto& [name, member] : members_) {
    if (has_ended(name) || now < member.retry_at) continue;
    if (now < deadline_after(deadline_after(member.since, member.duration), delay)) continue;
    member.retry_at = deadline_after(now, options_.retry_period);
    return send(member.lease.is_null() ? Ask::create : Ask::update, Purpose::fence, name,
                freed(name, member, wall));
  }
  return std::nullopt;
}

// Deletes the Leases of members that have ended, which nobody refers to.
std::optional<ShardCore::Step> ShardCore::sweep_step(TimePoint now) {
  if (!table_ || leaving_ || rank_delay(eligible(now)) > Duration::zero()) return std::nullopt;
  for (auto& [name, member] : members_) {
    if (!has_ended(name) || table_->names(name) || now < member.retry_at) continue;
    if (now < deadline_after(member.since, 2 * options_.lease_duration)) continue;
    member.retry_at = deadline_after(now, options_.lease_duration);
    return send(Ask::remove, Purpose::sweep, name, member.lease);
  }
  return std::nullopt;
}

// Returns the time at which one of the decisions above may change without an input.
TimePoint ShardCore::next_change(TimePoint now) const {
  TimePoint next = TimePoint::max();
  const auto at = [&](TimePoint when) {
    if (when > now) next = std::min(next, when);
  };
  const Duration delay = rank_delay(eligible(now));
  const Duration longest = longest_duration(now);
  for (const auto& [name, member] : members_) {
    const TimePoint expiry = deadline_after(member.since, member.duration);
    at(member.retry_at);
    if (has_ended(name)) {
      at(deadline_after(member.since, 2 * options_.lease_duration));
    } else {
      at(deadline_after(member.since, std::min(member.duration, longest)));
      at(expiry);
      at(deadline_after(expiry, delay));
    }
  }
  if (undone_since_) at(deadline_after(*undone_since_, rank_delay(peers(now))));
  at(write_at_);
  at(quarantine_);
  return next;
}

// ---- Divisions

// Returns true if the ring divides its keys in another way than this member.
bool ShardCore::is_foreign() const {
  return table_ && table_->division != options_.division;
}

// An earlier version does not name its division: it follows every table.
const std::string& ShardCore::division_of(const std::string& member) const {
  if (member == options_.member) return options_.division;
  const Json& named = members_.at(member).lease.at({"metadata", "labels", ShardTable::division_label});
  if (named.is_string()) return named.as_string();
  return table_ ? table_->division : options_.division;
}

// Returns the eligible members that divide the keys as this one does.
std::set<std::string> ShardCore::peers(TimePoint now) const {
  std::set<std::string> all = eligible(now);
  std::erase_if(all, [this](const std::string& name) { return division_of(name) != options_.division; });
  return all;
}

// Returns true if no member runs keys by the division of the table, and none is left that would.
bool ShardCore::is_deserted(TimePoint now) const {
  const Duration longest = longest_duration(now);
  for (const auto& [name, member] : members_) {
    if (is_alive(name, member, longest, now) && division_of(name) == table_->division) return false;
  }
  return is_idle();
}

// Returns true if no slot has a holder that has not ended.
bool ShardCore::is_idle() const {
  return table_ && std::all_of(table_->slots.begin(), table_->slots.end(), [this](const SlotEntry& entry) {
           return entry.holder.empty() || has_ended(entry.holder);
         });
}

SlotRanges ShardCore::own_ranges(std::size_t slots) const {
  if (options_.division == division_name(ShardBy::namespace_range, true)) return SlotRanges::of_cells(slots);
  if (options_.division != division_name(ShardBy::namespace_range)) return {};
  return SlotRanges::around(options_.hashes, slots);
}

// Returns true if the table must say that this member is given nothing. Earlier versions do not compare
// divisions, and may have given it slots.
bool ShardCore::withdraws() const {
  return leaving_ || (is_foreign() && table_->names(options_.member));
}

std::string ShardCore::division_problem() const {
  if (!is_foreign()) return {};
  return "Lease " + options_.namespace_ + "/" + options_.ring + ": label " + ShardTable::division_label +
         ": the ring divides its keys by " + table_->division + ", this replica by " + options_.division +
         "; it runs none until all replicas that divide by " + table_->division +
         " have stopped: give all replicas the same ShardOptions::by and label, or stop those";
}

// ---- Documents

Json ShardCore::document(const ShardTable& table, WallTime wall) const {
  Json lease =
      table_ ? table_lease_
             : Json::object({{"apiVersion", "coordination.k8s.io/v1"},
                             {"kind", "Lease"},
                             {"metadata",
                              Json::object({{"name", options_.ring}, {"namespace", options_.namespace_}})}});
  lease["apiVersion"] = "coordination.k8s.io/v1";  // items of a list have neither
  lease["kind"] = "Lease";
  lease["metadata"]["labels"][label] = options_.ring;
  lease["metadata"]["labels"][ShardTable::division_label] = table.division;
  lease["metadata"]["annotations"][ShardTable::annotation] = table.text();
  lease["spec"]["holderIdentity"] = options_.member;
  lease["spec"]["renewTime"] = MicroTime(wall).str();
  return lease;
}

Json ShardCore::freed(const std::string& name, const Member& member, WallTime wall) const {
  Json lease = member.lease;
  if (lease.is_null()) {
    lease = Json::object({{"apiVersion", "coordination.k8s.io/v1"},
                          {"kind", "Lease"},
                          {"metadata", Json::object({{"name", name}, {"namespace", options_.namespace_}})}});
    lease["metadata"]["labels"][label] = options_.ring;
  }
  lease["apiVersion"] = "coordination.k8s.io/v1";
  lease["kind"] = "Lease";
  lease["spec"]["holderIdentity"] = "";
  lease["spec"]["leaseDurationSeconds"] = 1;
  lease["spec"]["renewTime"] = MicroTime(wall).str();
  return lease;
}

// ---- Results

void ShardCore::on_listed(std::uint64_t id, const std::vector<Json>& leases, const std::string& version,
                          TimePoint now) {
  if (!finish(id)) return;
  must_list_ = false;
  listed_ = true;
  std::set<std::string> names;
  for (const Json& lease : leases) {
    names.insert(lease.at({"metadata", "name"}).string_or(""));
    on_lease(lease, now);
  }
  std::erase_if(members_, [&](const auto& each) {
    return !names.contains(each.first) && !each.second.lease.is_null() &&
           !is_newer(each.second.version, version);
  });
  std::erase_if(warned_, [this](const std::string& name) {
    return name != options_.member && !members_.contains(name);
  });
  if (has_table_lease() && !names.contains(options_.ring) && !is_newer(table_version(), version))
    forget_table(now);
  look_for_lost_holders(now);
}

void ShardCore::on_answered(std::uint64_t id, const Json& lease, TimePoint now) {
  const auto done = finish(id);
  if (!done) return;
  if (done->purpose == Purpose::table) conflicts_ = 0;
  if (done->purpose == Purpose::sweep) {
    members_.erase(done->name);
  } else {
    on_lease(lease, now);
  }
}

void ShardCore::on_conflict(std::uint64_t id, TimePoint now) {
  const auto refused = finish(id);
  if (!refused) return;
  must_list_ = true;
  list_at_ = now;
  if (refused->purpose == Purpose::table && ++conflicts_ >= most_conflicts)
    write_at_ = deadline_after(now, options_.retry_period);
}

void ShardCore::on_failure(std::uint64_t id, TimePoint now) {
  const auto failed = finish(id);
  if (!failed) return;
  must_list_ = true;
  list_at_ = deadline_after(now, options_.retry_period);
  if (failed->purpose == Purpose::table) write_at_ = list_at_;
}

// ---- Observations

void ShardCore::on_lease(const Json& lease, TimePoint now) {
  const std::string name = lease.at({"metadata", "name"}).string_or("");
  if (name == options_.member) return;
  if (name == options_.ring) {
    take_table(lease, now);
  } else {
    take_member(name, lease, now);
  }
  look_for_lost_holders(now);
}

void ShardCore::on_deleted(const Json& lease, TimePoint now) {
  const std::string name = lease.at({"metadata", "name"}).string_or("");
  const std::string version = lease.at({"metadata", "resourceVersion"}).string_or("");
  if (name == options_.ring) {
    if (has_table_lease() && is_newer(version, table_version())) forget_table(now);
  } else if (const auto found = members_.find(name);
             found != members_.end() && is_newer(version, found->second.version)) {
    members_.erase(found);
  }
  dirty_ = true;
  look_for_lost_holders(now);
}

void ShardCore::take_table(Json lease, TimePoint now) {
  if (table_ && lease.at({"metadata", "uid"}) != table_lease_.at({"metadata", "uid"})) forget_table(now);
  if (table_ && !is_newer(lease.at({"metadata", "resourceVersion"}).string_or(""), table_version())) return;
  try {
    ShardTable table = ShardTable::read(lease);
    if (table_ && table_->slots.size() != table.slots.size()) forget_table(now);
    table_ = std::move(table);
    problem_ = division_problem();
  } catch (const DecodeError& error) {
    if (table_) forget_table(now);
    problem_ = error.what();
  }
  table_lease_ = std::move(lease);
  undone_since_.reset();
  dirty_ = true;
}

// The holders that the table had may run until they see this, too.
void ShardCore::forget_table(TimePoint now) {
  for (const auto& [slot, held] : held_)
    changes_.push_back({.kind = Change::Kind::lost, .slot = slot, .generation = held.generation});
  held_.clear();
  table_.reset();
  table_lease_ = {};
  problem_.clear();
  quarantine_ = deadline_after(now, options_.lease_duration);
  undone_since_.reset();
  dirty_ = true;
}

void ShardCore::take_member(const std::string& name, const Json& lease, TimePoint now) {
  LeaseRecord record = LeaseRecord::read(lease);
  const auto [found, fresh] = members_.try_emplace(name);
  Member& member = found->second;
  if (!fresh && !member.lease.is_null() && !is_newer(record.version, member.version)) return;
  const bool same = !fresh && member.lease["spec"] == record.document["spec"];
  const bool renewed = !same && !fresh && member.holder == name && record.holder == name;
  dirty_ = dirty_ || fresh || member.holder != record.holder || member.duration != record.duration ||
           (renewed && !member.proven) || !is_alive(name, member, longest_duration(now), now);
  member.proven = member.proven || renewed;
  if (!same) {
    member.since = now;
    member.retry_at = TimePoint::min();
  }
  member.holder = record.holder;
  member.version = record.version;
  member.duration = record.duration;
  member.lease = std::move(record.document);
}

// A member that the table names and that has no Lease is given the time of one, and then a Lease that has
// ended.
void ShardCore::look_for_lost_holders(TimePoint now) {
  if (!table_ || !listed_) return;
  for (const SlotEntry& entry : table_->slots) {
    for (const std::string& name : {entry.holder, entry.next}) {
      if (name.empty() || name == options_.member) continue;
      const auto [found, fresh] = members_.try_emplace(name);
      found->second.proven = true;
      if (!fresh) continue;
      found->second =
          Member{.holder = name, .duration = options_.lease_duration, .since = now, .proven = true};
      dirty_ = true;
    }
  }
}

bool ShardCore::has_ended(const std::string& member) const {
  const auto found = members_.find(member);
  return found != members_.end() && !found->second.lease.is_null() && found->second.holder != member;
}

// Returns true while this member believes that the other one runs. Its slots are fenced later, if its Lease
// says so.
bool ShardCore::is_alive(const std::string& name, const Member& member, Duration longest, TimePoint now) {
  return !member.lease.is_null() && member.holder == name &&
         now < deadline_after(member.since, std::min(member.duration, longest));
}

// Returns the longest duration of a Lease with which a member is given slots: longer ones would leave the
// slots of a member that crashes without an owner. It follows from the shortest duration in the ring, so that
// all members agree on it.
Duration ShardCore::longest_duration(TimePoint now) const {
  constexpr Duration least = std::chrono::minutes{5};
  Duration shortest = options_.lease_duration;
  for (const auto& [name, member] : members_) {
    if (member.proven && is_alive(name, member, member.duration, now))
      shortest = std::min(shortest, member.duration);
  }
  return std::max(4 * shortest, least);
}

// Returns the members that may be given slots. Anybody who may write Leases can make one that nobody renews.
std::set<std::string> ShardCore::eligible(TimePoint now) const {
  const Duration longest = longest_duration(now);
  std::set<std::string> all;
  if (options_.lease_duration <= longest) all.insert(options_.member);
  for (const auto& [name, member] : members_) {
    if (member.proven && member.duration <= longest && is_alive(name, member, longest, now)) all.insert(name);
  }
  return all;
}

void ShardCore::note_long_durations(TimePoint now) {
  const Duration longest = longest_duration(now);
  const auto note = [&](const std::string& name, Duration duration) {
    if (duration <= longest || !warned_.insert(name).second) return;
    warnings_.push_back({.member = name, .duration = duration, .longest = longest});
  };
  note(options_.member, options_.lease_duration);
  for (const auto& [name, member] : members_) {
    if (member.holder == name) note(name, member.duration);
  }
}

std::vector<ShardCore::Warning> ShardCore::take_warnings() {
  return std::exchange(warnings_, {});
}

std::string ShardCore::table_version() const {
  return table_lease_.at({"metadata", "resourceVersion"}).string_or("");
}

// ---- Slots of this member

// Brings what this member holds in line with the table.
void ShardCore::compare() {
  if (table_) {
    for (Slot slot = 0; slot < table_->slots.size(); ++slot) {
      const SlotEntry& entry = table_->slots[slot];
      auto held = held_.find(slot);
      const bool mine = entry.holder == options_.member;
      if (held != held_.end() && (!mine || held->second.generation != entry.generation)) {
        const auto kind = held->second.drained ? Change::Kind::given : Change::Kind::lost;
        changes_.push_back({.kind = kind, .slot = slot, .generation = held->second.generation});
        held_.erase(held);
        held = held_.end();
      }
      if (!mine) continue;
      if (held == held_.end()) {
        held = held_.emplace(slot, Held{.generation = entry.generation}).first;
        if (gives_all()) {
          held->second.draining = held->second.drained = true;  // it was not begun
        } else {
          changes_.push_back({.kind = Change::Kind::gained, .slot = slot, .generation = entry.generation});
        }
      }
      if (!entry.next.empty() || gives_all()) drain(slot, held->second);
    }
  }
  left_ = leaving_ && held_.empty();
}

void ShardCore::drain(Slot slot, Held& held) {
  if (std::exchange(held.draining, true)) return;
  changes_.push_back({.kind = Change::Kind::draining, .slot = slot, .generation = held.generation});
}

void ShardCore::on_drained(Slot slot, std::uint64_t generation) {
  const auto found = held_.find(slot);
  if (found == held_.end() || found->second.generation != generation || !found->second.draining) return;
  found->second.drained = true;
  dirty_ = true;
}

void ShardCore::leave() {
  leaving_ = true;
  dirty_ = true;
}

std::vector<ShardCore::Change> ShardCore::take_changes() {
  return std::exchange(changes_, {});
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
