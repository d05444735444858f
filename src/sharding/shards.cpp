// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <exception>
#include <sys/random.h>
#include <utility>

#include <evenkeel/base/duration_text.hpp>
#include <evenkeel/base/metrics.hpp>
#include <evenkeel/base/stop.hpp>
#include <evenkeel/client/calls.hpp>
#include <evenkeel/sharding/shards.hpp>

#include "base/fnv1a.hpp"
#include "sharding/shard_options.hpp"
#include "sharding/shards_state.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

using detail::ShardCore;

// Names of members are never used twice: a membership that has ended stays ended.
std::string random_digits() {
  std::uint32_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number))
    throw Error("sharding: cannot generate a random name");
  std::string digits;
  for (unsigned shift = 0; shift < 32; shift += 4) digits += "0123456789abcdef"[number >> shift & 0xfU];
  return digits;
}

}  // namespace

// ---- Membership

void Shards::State::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    {
      MutexLock lock(mutex_);
      if (leaving_) break;
    }
    if (options_.by == ShardBy::namespace_range && options_.label.empty()) {
      auto hashes = namespace_hashes(stop);
      if (!hashes) break;
      MutexLock lock(mutex_);
      hashes_ = std::move(*hashes);
    }
    const std::string member = options_.name + "-" + options_.identity + "-" + random_digits();
    const auto elector =
        std::make_shared<Elector>(client_, ElectionOptions{.name = member,
                                                           .namespace_ = options_.namespace_,
                                                           .identity = member,
                                                           .labels = labels(),
                                                           .lease_duration = options_.lease_duration,
                                                           .renew_deadline = options_.renew_deadline,
                                                           .retry_period = options_.retry_period});
    elector->run(stop, [&](const Leadership& leadership) { take_part(elector, stop, leadership.lost); });
  }
}

// Returns nothing if it was stopped.
std::optional<std::vector<std::uint64_t>> Shards::State::namespace_hashes(const std::stop_token& stop) {
  const StopWaker on_stop(stop, mutex_, changed_);
  while (true) {
    try {
      const ResourceId namespaces("", "v1", "Namespace", "namespaces", Scope::cluster);
      const Client client = client_.with({.stop = stop, .timeout = request_timeout, .metadata_only = true});
      std::vector<std::uint64_t> hashes;
      for (const auto& one : client.run(calls::list(namespaces)).items)
        hashes.push_back(detail::fnv1a(one->body().at({"metadata", "name"}).string_or("")));
      return hashes;
    } catch (const Cancelled&) {
      return std::nullopt;
    } catch (const ApiError& refusal) {
      if (refusal.code() == 403) {
        log_.warn(
            "the program may not list namespaces: a new table divides the hashes of their names evenly, "
            "which may put most of them into one slot",
            {{"error", refusal.what()}});
        return std::vector<std::uint64_t>();
      }
      log_.warn("the namespaces cannot be listed; retrying", {{"error", refusal.what()}});
    } catch (const Error& failure) {
      log_.warn("the namespaces cannot be listed; retrying", {{"error", failure.what()}});
    }
    const TimePoint due = deadline_after(clock_->now(), options_.retry_period);
    MutexLock lock(mutex_);
    while (clock_->now() < due && !stop.stop_requested() && !leaving_)
      clock_->wait_until(changed_, lock, due);
    if (stop.stop_requested() || leaving_) return std::nullopt;
  }
}

void Shards::State::take_part(std::shared_ptr<Elector> elector, const std::stop_token& stop,
                              const std::stop_token& lost) {
  const std::string member = elector->identity();
  const StopWaker on_stop(stop, mutex_, changed_);
  const StopWaker on_lost(lost, mutex_, changed_);
  MutexLock lock(mutex_);
  ++epoch_;
  elector_ = std::move(elector);
  core_ = std::make_unique<ShardCore>(detail::ShardCoreOptions{.namespace_ = options_.namespace_,
                                                               .ring = options_.name,
                                                               .member = member,
                                                               .slots = options_.slots,
                                                               .division = division(),
                                                               .hashes = hashes_,
                                                               .lease_duration = options_.lease_duration,
                                                               .retry_period = options_.retry_period});
  needed_.on_joined();
  heard_ = clock_->now();
  log_.info("joined the ring", {{"member", member}});
  while (turn(lock, stop, lost)) {
  }
  ++epoch_;
  core_.reset();
  const auto watch = std::exchange(watch_, nullptr);
  lose_all();
  stop_runs(lock);
  lock.unlock();
  if (watch) watch->cancel();
  lock.lock();
  if (lost.stop_requested()) {
    lost_at_ = clock_->now();
    log_.error("lost the membership of the ring; it is joined again when all runs have ended",
               {{"member", member}});
  }
  wait_for_runs(lock);
  lost_at_.reset();
  elector_.reset();
}

// Returns false when the membership is over.
bool Shards::State::turn(MutexLock& lock, const std::stop_token& stop, const std::stop_token& lost) {
  if (lost.stop_requested()) return false;
  const TimePoint now = clock_->now();
  if (stop.stop_requested() || leaving_) core_->leave();
  if (now >= deadline_after(heard_, options_.lease_duration) ||
      (!watch_ && !list_version_.empty() && now >= deadline_after(heard_, options_.retry_period))) {
    core_->on_gap();
    heard_ = now;
  }
  restart_watch(lock);
  signalled_ = false;
  ShardCore::Step step = core_->next_step(now, clock_->wall_now());
  const std::uint64_t before = counts_.gained + counts_.given + counts_.lost;
  const std::vector<bool> gained = apply_changes();
  const bool moved = before != counts_.gained + counts_.given + counts_.lost;
  const TimePoint cancel_at = cancel_late_runs();
  stop_runs(lock);
  notify_observers(lock);
  if (moved || !gained.empty()) announce(lock, gained);
  if (logged_problem_ != core_->problem()) {
    logged_problem_ = core_->problem();
    if (!logged_problem_.empty())
      log_.error("the table of the ring cannot be used", {{"error", logged_problem_}});
  }
  for (const ShardCore::Warning& warning : core_->take_warnings())
    log_.warn("a member of the ring is given no slots, because its Lease lasts too long without a renewal",
              {{"member", warning.member},
               {"lease_duration", format_duration(warning.duration)},
               {"longest", format_duration(warning.longest)}});
  if (core_->has_left()) return false;
  if (step.request) {
    lock.unlock();
    send(std::move(*step.request));
    lock.lock();
    return true;
  }
  if (signalled_ || moved) return true;
  const TimePoint due =
      std::min({step.next_due, cancel_at,
                deadline_after(heard_, watch_ || list_version_.empty() ? options_.lease_duration
                                                                       : options_.retry_period)});
  if (!signalled_ && !lost.stop_requested()) clock_->wait_until(changed_, lock, due);
  return true;
}

// Outside of the lock, because listeners run predicates and mappings.
void Shards::State::announce(MutexLock& lock, const std::vector<bool>& gained) {
  const auto owned = std::count_if(slots_.begin(), slots_.end(),
                                   [](const SlotState& slot) { return slot.phase == Phase::owned; });
  const auto listeners = gained.empty() ? decltype(listeners_)() : listeners_;
  lock.unlock();
  for (const auto& listener : listeners) listener(gained);
  log_.info("slots have moved", {{"owned_now", owned}});
  lock.lock();
}

// The lock is released while observers run. That is safe: only this thread can make further slots runnable.
void Shards::State::notify_observers(MutexLock& lock) {
  if (!core_->table() || ranges_.empty()) return;
  std::vector<bool> used;
  for (const SlotState& slot : slots_) used.push_back(slot.phase != Phase::other || slot.runs > 0);
  const auto needed = needed_.next_needed(*core_->table(), elector_->identity(), used);
  if (!needed) return;
  const auto observers = observers_;
  lock.unlock();
  for (const auto& observer : observers) observer(*needed);
  lock.lock();
}

void Shards::State::leave() noexcept {
  MutexLock lock(mutex_);
  leaving_ = true;
  signalled_ = true;
  changed_.notify_all();
}

// ---- Slots

// Returns the slots that were gained; empty if there are none.
std::vector<bool> Shards::State::apply_changes() {
  std::vector<bool> gained;
  const bool has_waited = take_table();
  for (const ShardCore::Change& change : due_changes()) {
    if (change.slot >= slots_.size()) continue;  // of a table with more slots
    SlotState& slot = slots_[change.slot];
    switch (change.kind) {
      case ShardCore::Change::Kind::gained:
        slot.phase = Phase::owned;
        slot.generation = change.generation;
        slot.stop = std::stop_source();
        gained.resize(slots_.size());
        gained[change.slot] = true;
        ++counts_.gained;
        break;
      case ShardCore::Change::Kind::draining:
        slot.phase = Phase::draining;
        slot.asked = clock_->now();
        slot.late = false;
        if (slot.runs == 0) note_drained(change.slot);
        break;
      case ShardCore::Change::Kind::lost:
        slot.phase = Phase::other;
        to_stop_.push_back(slot.stop);
        ++counts_.lost;
        break;
      case ShardCore::Change::Kind::given:
        slot.phase = Phase::other;
        ++counts_.given;
        break;
    }
  }
  for (Slot slot = 0; has_waited && slot < slots_.size(); ++slot) {
    gained.resize(slots_.size());
    gained[slot] = gained[slot] || slots_[slot].phase == Phase::owned;
  }
  return gained;
}

// Adopts the table's slots once no run is active. If the ranges differ, no key has a slot until then. Returns
// true if the ranges changed, so that all owned slots must be announced again.
bool Shards::State::take_table() {
  if (!core_->table()) return false;
  const detail::ShardTable& table = *core_->table();
  const bool others = options_.by == ShardBy::namespace_range && ranges_ != table.ranges;
  if (!idle()) {
    if (others) ranges_ = {};
    return false;
  }
  if (slots_.size() != table.slots.size()) slots_ = std::vector<SlotState>(table.slots.size());
  if (others) ranges_ = table.ranges;
  return others;
}

// Returns the changes of the slots as they are divided here. While the table has another number of slots,
// runs of the old ones end, and all other changes wait.
std::vector<ShardCore::Change> Shards::State::due_changes() {
  std::vector<ShardCore::Change> all = std::exchange(waiting_changes_, {});
  for (const ShardCore::Change& change : core_->take_changes()) all.push_back(change);
  if (!is_resized()) return all;
  std::vector<ShardCore::Change> due;
  for (const ShardCore::Change& change : all)
    (ends_old_runs(change) ? due : waiting_changes_).push_back(change);
  return due;
}

bool Shards::State::ends_old_runs(const ShardCore::Change& change) const {
  return change.kind == ShardCore::Change::Kind::lost && change.slot < slots_.size() &&
         slots_[change.slot].phase != Phase::other && slots_[change.slot].generation == change.generation;
}

// Returns true if the table has another number of slots than this object, whose runs have not ended yet.
bool Shards::State::is_resized() const {
  return core_ && core_->table() && core_->table()->slots.size() != slots_.size();
}

void Shards::State::note_drained(Slot slot) {
  counts_.hand_over_time += clock_->now() - slots_[slot].asked;
  if (core_) core_->on_drained(slot, slots_[slot].generation);
  signalled_ = true;
  changed_.notify_all();
}

void Shards::State::restart_watch(MutexLock& lock) {
  if (!std::exchange(restart_, false)) return;
  gone_ = false;
  const auto watch = watch_;
  const std::string version = list_version_;
  lock.unlock();
  if (watch) watch->restart(version);
  lock.lock();
}

// Outside of the lock, because it calls the stop callbacks of the runs.
void Shards::State::stop_runs(MutexLock& lock) {
  if (to_stop_.empty()) return;
  std::vector<std::stop_source> sources = std::exchange(to_stop_, {});
  lock.unlock();
  for (std::stop_source& source : sources) source.request_stop();
  lock.lock();
}

// Returns the time of the next call.
TimePoint Shards::State::cancel_late_runs() {
  TimePoint next = TimePoint::max();
  for (SlotState& slot : slots_) {
    if (slot.phase != Phase::draining || slot.runs == 0 || slot.late) continue;
    const TimePoint due = deadline_after(slot.asked, options_.hand_over_timeout);
    if (clock_->now() >= due) {
      to_stop_.push_back(slot.stop);
      slot.late = true;
    } else {
      next = std::min(next, due);
    }
  }
  return next;
}

void Shards::State::lose_all() {
  for (SlotState& slot : slots_) {
    if (slot.phase != Phase::other) ++counts_.lost;
    slot.phase = Phase::other;
    to_stop_.push_back(slot.stop);
  }
  waiting_changes_.clear();
  list_version_.clear();
  gone_ = restart_ = false;
}

bool Shards::State::idle() const {
  return std::all_of(slots_.begin(), slots_.end(), [](const SlotState& slot) { return slot.runs == 0; });
}

void Shards::State::wait_for_runs(MutexLock& lock) {
  while (!idle()) clock_->wait(changed_, lock);
}

std::optional<std::uint64_t> Shards::State::enter(Slot slot, std::stop_token& token,
                                                  std::shared_ptr<Elector>& membership) {
  MutexLock lock(mutex_);
  if (slot >= slots_.size() || slots_[slot].phase != Phase::owned || !elector_ || !elector_->is_leader())
    return std::nullopt;
  ++slots_[slot].runs;
  token = slots_[slot].stop.get_token();
  membership = elector_;
  return slots_[slot].generation;
}

void Shards::State::exit(Slot slot) noexcept {
  MutexLock lock(mutex_);
  SlotState& state = slots_[slot];
  if (--state.runs > 0) return;
  if (state.phase == Phase::draining) note_drained(slot);
  if (state.phase == Phase::other) signalled_ = true;  // the caches do not need its objects any more
  changed_.notify_all();
}

std::optional<Slot> Shards::State::slot_of(std::string_view namespace_, std::string_view name) const {
  MutexLock lock(mutex_);
  if (slots_.empty() || is_resized()) return std::nullopt;
  if (options_.by == ShardBy::namespace_range) {
    if (ranges_.size() != slots_.size()) return std::nullopt;
    return detail::slot_in(ranges_, namespace_, name,
                           options_.label.empty() ? NamespaceHash::plain : NamespaceHash::mixed);
  }
  return v0::slot_of(namespace_, name, slots_.size(), options_.by);
}

bool Shards::State::owns(Slot slot) const {
  MutexLock lock(mutex_);
  return slot < slots_.size() && slots_[slot].phase == Phase::owned && elector_ && elector_->is_leader();
}

std::string Shards::State::describe(std::optional<Slot> slot) const {
  MutexLock lock(mutex_);
  if (core_ && !core_->problem().empty())
    return "this replica takes no part in the ring " + options_.name + ": " + core_->problem();
  if (!slot || !core_ || !core_->table() || *slot >= core_->table()->slots.size())
    return "this replica has not joined the ring " + options_.name;
  const detail::SlotEntry& entry = core_->table()->slots[*slot];
  std::string text = "slot " + std::to_string(*slot) + " of " + std::to_string(slots_.size());
  text += entry.holder.empty() ? " belongs to no replica yet" : " belongs to replica " + entry.holder;
  if (!entry.next.empty()) text += ", which hands it over to " + entry.next;
  return text;
}

ShardsStatus Shards::State::status() const {
  MutexLock lock(mutex_);
  ShardsStatus status = counts_;
  if (!core_) return status;
  status.member = elector_->identity();
  status.slots = core_->table() ? slots_.size() : 0;
  for (const SlotState& slot : slots_) {
    if (slot.phase == Phase::owned) ++status.owned;
    if (slot.phase == Phase::draining) ++status.draining;
  }
  status.members = core_->eligible(clock_->now()).size();
  status.problem = core_->problem();
  return status;
}

std::string Shards::State::problem(Duration tolerance) const {
  MutexLock lock(mutex_);
  if (!lost_at_ || idle()) return {};
  const Duration since = clock_->now() - *lost_at_;
  if (since <= tolerance) return {};
  return "the membership of the ring was lost " + format_duration(since) +
         " ago, but its reconciles are still running";
}

// ---- The public classes

struct ShardRun::Parts {
  std::shared_ptr<Shards::State> state;
  std::shared_ptr<Elector> membership;
  std::uint64_t generation;
  Slot slot;
  std::stop_token stop;
};

ShardRun::ShardRun(Parts parts)
    : state_(std::move(parts.state)),
      membership_(std::move(parts.membership)),
      generation_(parts.generation),
      slot_(parts.slot),
      stop_(std::move(parts.stop)) {}
ShardRun::ShardRun(ShardRun&& other) noexcept = default;
ShardRun::~ShardRun() {
  if (state_) static_cast<Shards::State*>(state_.get())->exit(slot_);
}
Client ShardRun::guarded(const Client& client) const {
  return static_cast<Elector*>(membership_.get())->guarded(client);
}

Shards::Shards(Client client, ShardOptions options) {
  ShardOptions complete = detail::completed(std::move(options), client.config());
  // Refuses bad durations now, and not when the ring is joined.
  const Elector check(client, {.name = complete.name,
                               .namespace_ = complete.namespace_,
                               .identity = complete.identity,
                               .lease_duration = complete.lease_duration,
                               .renew_deadline = complete.renew_deadline,
                               .retry_period = complete.retry_period});
  state_ = std::make_shared<State>(std::move(client), std::move(complete));
}
Shards::~Shards() = default;

void Shards::run(const std::stop_token& stop) {
  state_->run(stop);
}
void Shards::leave() noexcept {
  state_->leave();
}
std::optional<ShardRun> Shards::begin(std::string_view namespace_, std::string_view name) {
  const auto slot = state_->slot_of(namespace_, name);
  if (!slot) return std::nullopt;
  ShardRun::Parts parts{.state = state_, .membership = nullptr, .generation = 0, .slot = *slot, .stop = {}};
  const auto generation = state_->enter(*slot, parts.stop, parts.membership);
  if (!generation) return std::nullopt;
  parts.generation = *generation;
  return ShardRun(std::move(parts));
}
bool Shards::owns(std::string_view namespace_, std::string_view name) const {
  const auto slot = state_->slot_of(namespace_, name);
  return slot && state_->owns(*slot);
}
std::optional<Slot> Shards::slot_of(std::string_view namespace_, std::string_view name) const {
  return state_->slot_of(namespace_, name);
}
std::string Shards::describe_owner(std::string_view namespace_, std::string_view name) const {
  return state_->describe(state_->slot_of(namespace_, name));
}
void Shards::on_gained(std::function<void(const std::vector<bool>&)> listener) {
  state_->add_listener(std::move(listener));
}
void Shards::on_needed(std::function<void(const HashRanges&)> observer) {
  state_->add_observer(std::move(observer));
}
ShardsStatus Shards::status() const {
  return state_->status();
}
std::string Shards::problem(Duration tolerance) const {
  return state_->problem(tolerance);
}
std::string Shards::unready() const {
  const ShardsStatus status = state_->status();
  if (!status.problem.empty()) return status.problem;
  return status.slots > 0 ? std::string() : "this replica has not joined the ring " + state_->options().name;
}

void Shards::collect(MetricSink& sink) const {
  const ShardsStatus status = state_->status();
  const MetricLabel ring[] = {{"ring", state_->options().name}};
  const MetricLabels labels{ring, 1};
  sink.gauge("evenkeel_shards_members", "Replicas of the ring that may be given slots, as this one sees them",
             labels, static_cast<double>(status.members));
  sink.gauge("evenkeel_shards_slots_owned", "Slots whose keys run here", labels,
             static_cast<double>(status.owned));
  sink.gauge("evenkeel_shards_slots_draining",
             "Slots that wait for their last runs before they are handed over", labels,
             static_cast<double>(status.draining));
  sink.counter("evenkeel_shards_gained_total", "Slots gained", labels, static_cast<double>(status.gained));
  sink.counter("evenkeel_shards_given_total", "Slots handed over", labels, static_cast<double>(status.given));
  sink.counter("evenkeel_shards_lost_total", "Slots lost without a hand-over", labels,
               static_cast<double>(status.lost));
  sink.counter("evenkeel_shards_hand_over_seconds_total",
               "Time for which running reconciles delayed hand-overs, added up", labels,
               std::chrono::duration<double>(status.hand_over_time).count());
}

}  // namespace v0
}  // namespace evenkeel
