// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <deque>
#include <exception>
#include <map>
#include <stdexcept>
#include <sys/random.h>
#include <unistd.h>
#include <utility>

#include <evenkeel/api/kinds/coordination.hpp>
#include <evenkeel/api/selector.hpp>
#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/duration_text.hpp>
#include <evenkeel/base/hash_ranges.hpp>
#include <evenkeel/base/metrics.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/stop.hpp>
#include <evenkeel/client/resource_client.hpp>
#include <evenkeel/client/watch.hpp>
#include <evenkeel/election/elector.hpp>
#include <evenkeel/sharding/shards.hpp>

#include "base/ascii.hpp"
#include "base/cells.hpp"
#include "sharding/needed_ranges.hpp"
#include "sharding/shard_core.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

using detail::ShardCore;
using namespace std::chrono_literals;

constexpr Duration request_timeout = 5s;

ShardOptions completed(ShardOptions options, const Config& config) {
  const auto refuse = [](const std::string& problem) {
    throw std::invalid_argument("ShardOptions: " + problem);
  };
  if (!detail::ascii::is_dns_label(options.name, 40))
    refuse("name must be up to 40 lower-case letters, digits and '-', not \"" + options.name + "\"");
  if (options.slots == 0 || options.slots > 4096)
    refuse("slots must be 1 to 4096, not " + std::to_string(options.slots));
  if (!options.label.empty()) {
    const std::string problem = label_name_problem(options.label);
    if (!problem.empty()) refuse("label \"" + options.label + "\" is not the key of a label: " + problem);
    if (options.by != ShardBy::namespace_range) refuse("a label needs ShardBy::namespace_range");
    if (options.slots > detail::cell_count)
      refuse("with a label, slots must be 1 to 256, the number of its values, not " +
             std::to_string(options.slots));
  }
  if (options.hand_over_timeout < Duration::zero()) refuse("hand_over_timeout must not be negative");
  if (options.identity.empty()) {
    std::array<char, 256> host{};
    if (::gethostname(host.data(), host.size() - 1) == 0) options.identity = host.data();
    std::transform(options.identity.begin(), options.identity.end(), options.identity.begin(), [](char c) {
      const auto low = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      return (low >= 'a' && low <= 'z') || (low >= '0' && low <= '9') ? low : '-';
    });
    options.identity = options.identity.substr(0, 63);
    while (!options.identity.empty() && options.identity.back() == '-') options.identity.pop_back();
    options.identity.erase(0, options.identity.find_first_not_of('-'));
    if (options.identity.empty()) options.identity = "replica";
  }
  if (!detail::ascii::is_dns_label(options.identity, 63))
    refuse("identity must be up to 63 lower-case letters, digits and '-', not \"" + options.identity + "\"");
  if (options.namespace_.empty()) options.namespace_ = config.namespace_;
  return options;
}

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

class Shards::State final : public std::enable_shared_from_this<State> {
 public:
  State(Client client, ShardOptions options)
      : client_(std::move(client)),
        options_(std::move(options)),
        clock_(client_.clock()),
        log_(client_.log().with({{"ring", options_.namespace_ + "/" + options_.name}})) {}

  void run(const std::stop_token& stop);
  void leave() noexcept;
  std::optional<std::uint64_t> enter(Slot slot, std::stop_token& token, std::shared_ptr<Elector>& membership);
  void exit(Slot slot) noexcept;
  std::optional<Slot> slot_of(std::string_view namespace_, std::string_view name) const;
  bool owns(Slot slot) const;
  std::string describe(std::optional<Slot> slot) const;
  void add_listener(std::function<void(const std::vector<bool>&)> listener) {
    MutexLock lock(mutex_);
    listeners_.push_back(std::move(listener));
  }
  void add_observer(std::function<void(const HashRanges&)> observer) {
    MutexLock lock(mutex_);
    observers_.push_back(std::move(observer));
  }
  ShardsStatus status() const;
  std::string problem(Duration tolerance) const;
  const ShardOptions& options() const { return options_; }

 private:
  enum class Phase : std::uint8_t { other, owned, draining };
  struct SlotState {
    Phase phase = Phase::other;
    std::uint64_t generation = 0;
    std::size_t runs = 0;
    std::stop_source stop = {};
    TimePoint asked{};  // since when it is draining
    bool late = false;  // its runs are cancelled
  };

  std::map<std::string, std::string> labels() const {
    return {{ShardCore::label, options_.name}, {detail::ShardTable::division_label, division()}};
  }
  std::string division() const { return detail::division_name(options_.by, !options_.label.empty()); }
  std::optional<std::vector<std::uint64_t>> namespace_hashes(const std::stop_token& stop);
  void take_part(std::shared_ptr<Elector> elector, const std::stop_token& stop, const std::stop_token& lost);
  bool turn(MutexLock& lock, const std::stop_token& stop,
            const std::stop_token& lost) EVENKEEL_NO_THREAD_SAFETY_ANALYSIS;
  std::vector<bool> apply_changes() EVENKEEL_REQUIRES(mutex_);
  bool take_table() EVENKEEL_REQUIRES(mutex_);
  std::vector<ShardCore::Change> due_changes() EVENKEEL_REQUIRES(mutex_);
  bool is_resized() const EVENKEEL_REQUIRES(mutex_);
  void notify_observers(MutexLock& lock) EVENKEEL_NO_THREAD_SAFETY_ANALYSIS;
  void note_drained(Slot slot) EVENKEEL_REQUIRES(mutex_);
  TimePoint cancel_late_runs() EVENKEEL_REQUIRES(mutex_);
  void lose_all() EVENKEEL_REQUIRES(mutex_);
  void announce(MutexLock& lock, const std::vector<bool>& gained) EVENKEEL_NO_THREAD_SAFETY_ANALYSIS;
  void restart_watch(MutexLock& lock) EVENKEEL_NO_THREAD_SAFETY_ANALYSIS;
  void stop_runs(MutexLock& lock) EVENKEEL_NO_THREAD_SAFETY_ANALYSIS;
  void wait_for_runs(MutexLock& lock) EVENKEEL_NO_THREAD_SAFETY_ANALYSIS;
  void send(ShardCore::Request request);
  template <class T>
  void start(ApiCall<T> call, std::uint64_t id, std::function<void(ShardCore& core, const T& value)> done);
  void on_error(std::uint64_t epoch, std::uint64_t id, const std::exception_ptr& error) noexcept;
  void follow(const std::string& version) EVENKEEL_REQUIRES(mutex_);
  void on_event(std::uint64_t epoch, const detail::RawWatchEvent& event) noexcept;
  bool idle() const EVENKEEL_REQUIRES(mutex_);

  const Client client_;
  const ShardOptions options_;
  const std::shared_ptr<const Clock> clock_;
  const Log log_;
  mutable Mutex mutex_;
  CondVar changed_;
  std::uint64_t epoch_ EVENKEEL_GUARDED_BY(mutex_) = 0;  // of the membership; callbacks of others are dropped
  std::unique_ptr<ShardCore> core_ EVENKEEL_GUARDED_BY(mutex_);
  std::shared_ptr<Elector> elector_ EVENKEEL_GUARDED_BY(mutex_);
  std::shared_ptr<WatchCall> watch_ EVENKEEL_GUARDED_BY(mutex_);
  std::string list_version_ EVENKEEL_GUARDED_BY(mutex_);
  TimePoint heard_ EVENKEEL_GUARDED_BY(mutex_){};     // time of the last event or list
  bool gone_ EVENKEEL_GUARDED_BY(mutex_) = false;     // the watch waits for a new list
  bool restart_ EVENKEEL_GUARDED_BY(mutex_) = false;  // it can begin after list_version_
  bool signalled_ EVENKEEL_GUARDED_BY(mutex_) = false;
  bool leaving_ EVENKEEL_GUARDED_BY(mutex_) = false;
  std::vector<std::stop_source> to_stop_ EVENKEEL_GUARDED_BY(mutex_);
  std::vector<SlotState> slots_ EVENKEEL_GUARDED_BY(mutex_);
  std::vector<ShardCore::Change> waiting_changes_ EVENKEEL_GUARDED_BY(mutex_);
  detail::SlotRanges ranges_ EVENKEEL_GUARDED_BY(mutex_);          // of the slots; empty for other divisions
  std::vector<std::uint64_t> hashes_ EVENKEEL_GUARDED_BY(mutex_);  // of the namespaces, for a new table
  detail::NeededRanges needed_ EVENKEEL_GUARDED_BY(mutex_);
  std::vector<std::function<void(const std::vector<bool>&)>> listeners_ EVENKEEL_GUARDED_BY(mutex_);
  std::vector<std::function<void(const HashRanges&)>> observers_ EVENKEEL_GUARDED_BY(mutex_);
  ShardsStatus counts_ EVENKEEL_GUARDED_BY(mutex_);  // the counters of it
  std::string logged_problem_ EVENKEEL_GUARDED_BY(mutex_);
  std::optional<TimePoint> lost_at_ EVENKEEL_GUARDED_BY(mutex_);
};

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
  std::vector<ShardCore::Change> due = std::exchange(waiting_changes_, {});
  for (ShardCore::Change& change : core_->take_changes()) due.push_back(std::move(change));
  if (!is_resized()) return due;
  const auto ends_old = [this](const ShardCore::Change& change) {
    return change.kind == ShardCore::Change::Kind::lost && change.slot < slots_.size() &&
           slots_[change.slot].phase != Phase::other && slots_[change.slot].generation == change.generation;
  };
  const auto waiting = std::stable_partition(due.begin(), due.end(), ends_old);
  waiting_changes_.assign(waiting, due.end());
  due.erase(waiting, due.end());
  return due;
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
  status.members = core_->living(clock_->now()).size();
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

// ---- Requests

template <class T>
void Shards::State::start(ApiCall<T> call, std::uint64_t id,
                          std::function<void(ShardCore& core, const T& value)> done) {
  std::uint64_t epoch = 0;
  {
    MutexLock lock(mutex_);
    epoch = epoch_;
  }
  auto finished = [self = shared_from_this(), epoch, id, done = std::move(done)](Outcome<T> outcome) {
    if (!outcome.ok()) return self->on_error(epoch, id, outcome.error());
    MutexLock lock(self->mutex_);
    if (epoch != self->epoch_ || !self->core_) return;
    done(*self->core_, outcome.value());
    self->signalled_ = true;
    self->changed_.notify_all();
  };
  try {
    client_.with({.timeout = request_timeout, .max_retries = 0, .without_flow_control = true})
        .start(std::move(call), std::move(finished));
  } catch (...) {
    on_error(epoch, id, std::current_exception());
  }
}

void Shards::State::on_error(std::uint64_t epoch, std::uint64_t id,
                             const std::exception_ptr& error) noexcept {
  MutexLock lock(mutex_);
  if (epoch != epoch_ || !core_) return;
  signalled_ = true;
  changed_.notify_all();
  try {
    std::rethrow_exception(error);
  } catch (const ApiError& refusal) {
    if (refusal.code() == 409 || (refusal.is_not_found() && !refusal.is_no_such_resource()))
      return core_->on_conflict(id, clock_->now());
    log_.warn("a Lease of the ring could not be read or written; retrying", {{"error", refusal.what()}});
  } catch (const std::exception& failure) {
    log_.warn("a Lease of the ring could not be read or written; retrying", {{"error", failure.what()}});
  }
  core_->on_failure(id, clock_->now());
}

void Shards::State::send(ShardCore::Request request) {
  using Object = ResourceClient::Object;
  const std::uint64_t id = request.id;
  const auto took = [this, id](ShardCore& core, const Object& object) {
    core.on_answered(id, object->body(), clock_->now());
  };
  switch (request.ask) {
    case ShardCore::Ask::list:
      return start<List<DynamicObject>>(
          calls::list(Lease::resource,
                      {.namespace_ = options_.namespace_,
                       .label_selector = std::string(ShardCore::label) + "=" + options_.name}),
          id,
          [this, id](ShardCore& core, const List<DynamicObject>& list) EVENKEEL_NO_THREAD_SAFETY_ANALYSIS {
            std::vector<Json> leases;
            for (const auto& item : list.items) leases.push_back(item->body());
            core.on_listed(id, leases, list.resource_version, clock_->now());
            heard_ = clock_->now();
            follow(list.resource_version);
          });
    case ShardCore::Ask::create:
      return start<Object>(calls::create(Lease::resource, DynamicObject(std::move(request.body))), id, took);
    case ShardCore::Ask::update:
      return start<Object>(calls::update(Lease::resource, DynamicObject(std::move(request.body))), id, took);
    case ShardCore::Ask::remove:
      return start<std::monostate>(
          calls::remove(Lease::resource, {options_.namespace_, request.name},
                        {.resource_version = request.body.at({"metadata", "resourceVersion"}).string_or("")}),
          id,
          [this, id](ShardCore& core, const std::monostate&) { core.on_answered(id, {}, clock_->now()); });
  }
}

void Shards::State::follow(const std::string& version) {
  list_version_ = version;
  if (watch_) {  // restarted by turn(), because it is not to be called under the lock
    restart_ = gone_;
    return;
  }
  const std::uint64_t epoch = epoch_;
  watch_ = detail::start_raw_watch(
      client_, Lease::resource,
      {.namespace_ = options_.namespace_,
       .label_selector = std::string(ShardCore::label) + "=" + options_.name,
       .resource_version = version},
      {.on_event = [self = shared_from_this(),
                    epoch](const detail::RawWatchEvent& event) { self->on_event(epoch, event); },
       .on_end =
           [self = shared_from_this(), epoch](const std::exception_ptr&) {
             MutexLock lock(self->mutex_);
             if (epoch != self->epoch_) return;
             self->watch_.reset();
             self->heard_ = self->clock_->now();
             self->signalled_ = true;
             self->changed_.notify_all();
           }});
}

void Shards::State::on_event(std::uint64_t epoch, const detail::RawWatchEvent& event) noexcept {
  MutexLock lock(mutex_);
  if (epoch != epoch_ || !core_) return;
  heard_ = clock_->now();
  try {
    if (event.type == WatchEventType::gone) {
      gone_ = true;
      core_->on_gap();
    } else if (!event.object.empty()) {
      const Json lease = Json::parse(event.object, event.what);
      if (event.type == WatchEventType::deleted) {
        core_->on_deleted(lease, heard_);
      } else {
        core_->on_lease(lease, heard_);
      }
    }
  } catch (const std::exception& error) {
    log_.warn("an event of a Lease could not be read; the Leases are listed again",
              {{"error", error.what()}});
    core_->on_gap();
  }
  signalled_ = true;
  changed_.notify_all();
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
  ShardOptions complete = completed(std::move(options), client.config());
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
  sink.gauge("evenkeel_shards_members", "Living replicas of the ring, as this one sees them", labels,
             static_cast<double>(status.members));
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
