// SPDX-License-Identifier: Apache-2.0
// The driver of a member of a ring: its lock, its requests and its slots.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/hash_ranges.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/client/resource_client.hpp>
#include <evenkeel/client/watch.hpp>
#include <evenkeel/election/elector.hpp>
#include <evenkeel/sharding/shards.hpp>

#include "client/request/bound_limits.hpp"
#include "sharding/needed_ranges.hpp"
#include "sharding/shard_core.hpp"

namespace evenkeel {
inline namespace v0 {

/// State of a Shards, shared with its runs.
class Shards::State final : public std::enable_shared_from_this<State> {
 public:
  State(Client client, ShardOptions options)
      : client_(detail::unbounded(client)),
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
    return {{detail::ShardCore::label, options_.name}, {detail::ShardTable::division_label, division()}};
  }
  std::string division() const { return detail::division_name(options_.by, !options_.label.empty()); }
  std::optional<std::vector<std::uint64_t>> namespace_hashes(const std::stop_token& stop);
  void take_part(std::shared_ptr<Elector> elector, const std::stop_token& stop, const std::stop_token& lost);
  bool turn(MutexLock& lock, const std::stop_token& stop,
            const std::stop_token& lost) EVENKEEL_NO_THREAD_SAFETY_ANALYSIS;
  std::vector<bool> apply_changes() EVENKEEL_REQUIRES(mutex_);
  bool take_table() EVENKEEL_REQUIRES(mutex_);
  std::vector<detail::ShardCore::Change> due_changes() EVENKEEL_REQUIRES(mutex_);
  bool ends_old_runs(const detail::ShardCore::Change& change) const EVENKEEL_REQUIRES(mutex_);
  bool is_resized() const EVENKEEL_REQUIRES(mutex_);
  void notify_observers(MutexLock& lock) EVENKEEL_NO_THREAD_SAFETY_ANALYSIS;
  void note_drained(Slot slot) EVENKEEL_REQUIRES(mutex_);
  TimePoint cancel_late_runs() EVENKEEL_REQUIRES(mutex_);
  void lose_all() EVENKEEL_REQUIRES(mutex_);
  void announce(MutexLock& lock, const std::vector<bool>& gained) EVENKEEL_NO_THREAD_SAFETY_ANALYSIS;
  void restart_watch(MutexLock& lock) EVENKEEL_NO_THREAD_SAFETY_ANALYSIS;
  void stop_runs(MutexLock& lock) EVENKEEL_NO_THREAD_SAFETY_ANALYSIS;
  void wait_for_runs(MutexLock& lock) EVENKEEL_NO_THREAD_SAFETY_ANALYSIS;
  void send(detail::ShardCore::Request request);
  template <class T>
  void start(ApiCall<T> call, std::uint64_t id,
             std::function<void(detail::ShardCore& core, const T& value)> done);
  void on_error(std::uint64_t epoch, std::uint64_t id, const std::exception_ptr& error) noexcept;
  void follow(const std::string& version) EVENKEEL_REQUIRES(mutex_);
  void on_event(std::uint64_t epoch, const detail::RawWatchEvent& event) noexcept;
  bool idle() const EVENKEEL_REQUIRES(mutex_);

  static constexpr Duration request_timeout = std::chrono::seconds{5};

  const Client client_;
  const ShardOptions options_;
  const std::shared_ptr<const Clock> clock_;
  const Log log_;
  mutable Mutex mutex_;
  CondVar changed_;
  std::uint64_t epoch_ EVENKEEL_GUARDED_BY(mutex_) = 0;  // of the membership; callbacks of others are dropped
  std::unique_ptr<detail::ShardCore> core_ EVENKEEL_GUARDED_BY(mutex_);
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
  std::vector<detail::ShardCore::Change> waiting_changes_ EVENKEEL_GUARDED_BY(mutex_);
  detail::SlotRanges ranges_ EVENKEEL_GUARDED_BY(mutex_);          // of the slots; empty for other divisions
  std::vector<std::uint64_t> hashes_ EVENKEEL_GUARDED_BY(mutex_);  // of the namespaces, for a new table
  detail::NeededRanges needed_ EVENKEEL_GUARDED_BY(mutex_);
  std::vector<std::function<void(const std::vector<bool>&)>> listeners_ EVENKEEL_GUARDED_BY(mutex_);
  std::vector<std::function<void(const HashRanges&)>> observers_ EVENKEEL_GUARDED_BY(mutex_);
  ShardsStatus counts_ EVENKEEL_GUARDED_BY(mutex_);  // the counters of it
  std::string logged_problem_ EVENKEEL_GUARDED_BY(mutex_);
  std::optional<TimePoint> lost_at_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace v0
}  // namespace evenkeel
