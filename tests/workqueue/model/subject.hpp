// SPDX-License-Identifier: Apache-2.0
// The checked queues behind one interface: the core, and the shell with a lock and a clock.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/ratelimit/any_limiter.hpp>
#include <evenkeel/ratelimit/exponential.hpp>
#include <evenkeel/ratelimit/max_of.hpp>
#include <evenkeel/ratelimit/token_bucket.hpp>
#include <evenkeel/workqueue/any_store.hpp>
#include <evenkeel/workqueue/debounce.hpp>
#include <evenkeel/workqueue/fair_store.hpp>
#include <evenkeel/workqueue/fifo_store.hpp>
#include <evenkeel/workqueue/key_info.hpp>
#include <evenkeel/workqueue/key_order.hpp>
#include <evenkeel/workqueue/priority_store.hpp>
#include <evenkeel/workqueue/queue_core.hpp>
#include <evenkeel/workqueue/queue_metrics.hpp>
#include <evenkeel/workqueue/request_queue.hpp>
#include <evenkeel/workqueue/two_lane_store.hpp>
#include <evenkeel/workqueue/work_queue.hpp>

#include "settings.hpp"

namespace evenkeel::model {

enum class Form : std::uint8_t { shut_down, shut_down_now, drain };

/// Operations of the check on a queue. Keys are numbers.
class Subject {
 public:
  Subject() = default;
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;
  virtual ~Subject() = default;

  virtual void add(std::size_t key, std::int32_t priority) = 0;
  virtual bool add_unless_waiting(std::size_t key, std::int32_t priority) = 0;
  virtual void add_after(std::size_t key, Nanos delay, std::int32_t priority) = 0;
  virtual Nanos add_rate_limited(std::size_t key, std::int32_t priority) = 0;
  virtual void forget(std::size_t key) = 0;
  virtual void advance(Nanos by) = 0;
  virtual std::optional<Handed> get() = 0;
  /// Ends a key that get() returned and that is not done yet.
  virtual void done(std::size_t key) = 0;
  /// For drain: returns true if everything was done. Never waits.
  virtual bool shut_down(Form form) = 0;
  virtual void observe(Observation& seen) = 0;
  /// Returns the ready keys in the order of sort_by_turn().
  virtual std::vector<std::size_t> turns() = 0;
  virtual std::optional<QueueMetrics> metrics() = 0;
  /// Returns the number of keys that the queue keeps in memory when it is idle.
  virtual std::size_t keys_in_memory() = 0;
};

/// The keys of a sequence, in the queue's key type.
template <class Key>
class Keys;

template <>
class Keys<std::string> {
 public:
  Keys() {
    for (std::size_t i = 0; i < max_keys; ++i) names_[i] = text_of(i);
  }
  const std::string& make(std::size_t key) const { return names_[key]; }
  static std::size_t number(const std::string& key) { return std::stoul(key.substr(2)); }
  static std::size_t in_memory() { return 0; }

 private:
  std::array<std::string, max_keys> names_;
};

/// Interned for each use, so that the entries of unused keys come and go.
template <>
class Keys<RequestKey> {
 public:
  RequestKey make(std::size_t key) { return table_.intern("", namespace_of(key), name_of(key)); }
  static std::size_t number(const RequestKey& key) { return std::stoul(std::string(key.name())); }
  std::size_t in_memory() const { return table_.size(); }

 private:
  KeyTable table_;
};

template <class Key>
AnyStore<Key> make_fair_store(const FairSettings& settings) {
  const auto of = [](const std::array<std::uint32_t, groups>& each) {
    return [each](const std::string& group) { return each[static_cast<std::size_t>(group[0] - 'a')]; };
  };
  return FairStore<Key>(
      by_namespace(),
      {.weight_of = of(settings.weights), .cap_of = of(settings.caps), .live_first = settings.live_first});
}

template <class Key>
AnyStore<Key> make_store(const Settings& settings, const SlowKeys& slow) {
  const TwoLaneStoreOptions lanes{.slow_share = settings.slow_share};
  switch (settings.store) {
    case StoreKind::fifo:
      return FifoStore();
    case StoreKind::two_lane:
      return TwoLaneStore(lanes);
    case StoreKind::priority:
      return PriorityStore();
    case StoreKind::fair:
      return make_fair_store<Key>(settings.fair);
    case StoreKind::policy_lane:
      break;
  }
  const auto policy = [&slow](const Key& key) {
    return slow[Keys<Key>::number(key)] ? Lane::slow : Lane::fast;
  };
  return PolicyLaneStore<Key, decltype(policy)>(policy, lanes);
}

template <class Key>
AnyLimiter<Key> make_limiter(const LimiterSettings& settings) {
  const auto of_key = exponential(Duration{settings.base}, Duration{settings.max});
  const auto of_all = token_bucket(settings.tokens, Duration{settings.per}, settings.burst);
  switch (settings.kind) {
    case LimiterKind::exponential:
      return of_key;
    case LimiterKind::bucket:
      return of_all;
    case LimiterKind::both:
      break;
  }
  return max_of(of_key, of_all);
}

inline Debounce debounce_of(const Settings& settings) {
  return {.quiet = Duration{settings.quiet}, .max_wait = Duration{settings.max_wait}};
}

template <class Key>
using IndexOf =
    std::conditional_t<std::is_same_v<Key, RequestKey>, detail::InternedIndex, detail::HashIndex<Key>>;

template <class Key>
std::int64_t next_attempt_of(const KeyInfo<Key>& info) {
  return info.next_attempt ? info.next_attempt->time_since_epoch().count() : Observation::none;
}

template <class Key>
std::vector<std::size_t> turns_of(std::vector<KeyInfo<Key>> all) {
  sort_by_turn(all);
  std::vector<std::size_t> turns;
  for (const KeyInfo<Key>& info : all) {
    if (info.state == KeyState::queued) turns.push_back(Keys<Key>::number(info.key));
  }
  return turns;
}

inline std::int64_t number(std::uint64_t count) {
  return static_cast<std::int64_t>(count);
}

/// The core with the minimum around it that makes it a queue.
template <class Key, class Store = AnyStore<Key>>
class CoreSubject : public Subject {
 public:
  CoreSubject(const Settings& settings, Store store)
      : settings_(settings),
        core_(std::move(store), QueueCoreOptions{.readd = settings.readd,
                                                 .metered = settings.metered,
                                                 .debounce = debounce_of(settings),
                                                 .min_interval = Duration{settings.min_interval}}),
        limiter_(make_limiter<Key>(settings.limiter)) {}

  void add(std::size_t key, std::int32_t priority) override {
    if (closed_) return;
    const Key& named = keys_.make(key);
    core_.add(named, hash(named), priority, now_);
  }
  bool add_unless_waiting(std::size_t key, std::int32_t priority) override {
    if (closed_) return false;
    const Key& named = keys_.make(key);
    return core_.add_unless_waiting(named, hash(named), priority, now_) != nullptr;
  }
  void add_after(std::size_t key, Nanos delay, std::int32_t priority) override {
    if (closed_) return;
    const Key& named = keys_.make(key);
    core_.add_at(named, hash(named), deadline_after(now_, Duration{delay}), priority, now_);
  }
  Nanos add_rate_limited(std::size_t key, std::int32_t priority) override {
    if (closed_) return 0;
    const Key& named = keys_.make(key);
    core_.on_timeout(now_);
    if (core_.is_waiting(named, hash(named)) && !settings_.charge_waiting) return 0;
    const Duration delay = limiter_.when(named, now_);
    core_.add_at(named, hash(named), deadline_after(now_, delay), priority, now_);
    return delay.count();
  }
  void forget(std::size_t key) override { limiter_.forget(keys_.make(key)); }
  void advance(Nanos by) override { now_ += Duration{by}; }

  std::optional<Handed> get() override {
    core_.on_timeout(now_);
    auto* node = core_.pop(now_);
    if (node == nullptr) return std::nullopt;
    const Handed handed{keys_.number(node->key()), node->priority()};
    held_[handed.key] = node;
    return handed;
  }
  void done(std::size_t key) override { core_.done(*std::exchange(held_[key], nullptr), now_); }

  bool shut_down(Form form) override {
    closed_ = true;
    if (form == Form::shut_down_now) {
      core_.discard_waiting(now_);
      if (!std::exchange(discarded_, true)) core_.discard();
    } else {
      core_.discard_waiting(now_);
    }
    return core_.dirty() == 0 && core_.processing() == 0;
  }

  void observe(Observation& seen) override {
    seen.ready = number(core_.ready());
    seen.dirty = number(core_.dirty());
    seen.processing = number(core_.processing());
    seen.waiting = number(core_.waiting());
    seen.known = number(core_.size());
    const auto due = core_.next_due();
    seen.next_due = due ? due->time_since_epoch().count() : Observation::none;
    for (std::size_t i = 0; i < settings_.keys; ++i) {
      const Key& key = keys_.make(i);
      const std::size_t of = hash(key);
      const KeyInfo<Key> info = core_.inspect(key, of);
      seen.keys[i] = {.dirty = core_.is_dirty(key, of),
                      .processing = core_.is_processing(key, of),
                      .waiting = core_.is_waiting(key, of),
                      .retries = number(limiter_.retries(key)),
                      .priority = info.priority,
                      .next_attempt = next_attempt_of(info)};
    }
    // With a minimum interval, keys stay known for a while after their run.
    if (settings_.min_interval > 0) seen.known = Observation::unknown;
  }
  std::vector<std::size_t> turns() override {
    std::vector<KeyInfo<Key>> all;
    for (std::optional<std::uint64_t> at = 0; at;) {
      at = core_.inspect_some(*at, 3, [&](KeyInfo<Key> info) { all.push_back(std::move(info)); });
    }
    return turns_of(std::move(all));
  }
  std::optional<QueueMetrics> metrics() override {
    if (core_.meter() == nullptr) return std::nullopt;
    return core_.meter()->metrics(now_);
  }
  std::size_t keys_in_memory() override {
    for (std::size_t i = 0; i < settings_.keys; ++i) forget(i);
    return core_.size() + keys_.in_memory();
  }

 private:
  using Core = QueueCore<Key, Store, IndexOf<Key>>;

  static std::size_t hash(const Key& key) { return std::hash<Key>{}(key); }

  const Settings settings_;
  Keys<Key> keys_;
  Core core_;
  AnyLimiter<Key> limiter_;
  std::array<typename Core::Node*, max_keys> held_{};
  TimePoint now_{};
  bool closed_ = false;
  bool discarded_ = false;
};

/// The shell, used by a single thread.
template <class Key, class Store = AnyStore<Key>>
class ShellSubject : public Subject {
 public:
  ShellSubject(const Settings& settings, Store store)
      : settings_(settings),
        queue_({.name = settings.metered ? "queue" : "",
                .store = std::move(store),
                .limiter = make_limiter<Key>(settings.limiter),
                .readd = settings.readd,
                .charge_waiting = settings.charge_waiting,
                .debounce = debounce_of(settings),
                .min_interval = Duration{settings.min_interval},
                .clock = clock_}) {}

  void add(std::size_t key, std::int32_t priority) override { queue_.add(keys_.make(key), priority); }
  bool add_unless_waiting(std::size_t key, std::int32_t priority) override {
    return queue_.add_unless_waiting(keys_.make(key), priority);
  }
  void add_after(std::size_t key, Nanos delay, std::int32_t priority) override {
    queue_.add_after(keys_.make(key), Duration{delay}, priority);
  }
  Nanos add_rate_limited(std::size_t key, std::int32_t priority) override {
    return queue_.add_rate_limited(keys_.make(key), priority).count();
  }
  void forget(std::size_t key) override { queue_.forget(keys_.make(key)); }
  /// A delay counts as over from the next call that reads the clock; the call of size() ensures that.
  void advance(Nanos by) override {
    clock_->advance(Duration{by});
    static_cast<void>(queue_.size());
  }

  std::optional<Handed> get() override {
    // get() blocks if nothing can be handed out, so it is called only if that is excluded.
    const bool returns = !settings_.has_caps() && (queue_.size() > 0 || queue_.is_shutting_down());
    auto claim = returns ? queue_.get() : queue_.try_get();
    if (!claim) return std::nullopt;
    const Handed handed{keys_.number(claim->key()), claim->priority().value};
    held_[handed.key].emplace(std::move(*claim));
    return handed;
  }
  void done(std::size_t key) override { held_[key].reset(); }

  bool shut_down(Form form) override {
    if (form == Form::drain) {
      std::stop_source no_patience;
      no_patience.request_stop();
      return queue_.shut_down_with_drain(no_patience.get_token());
    }
    form == Form::shut_down ? queue_.shut_down() : queue_.shut_down_now();
    return false;
  }

  void observe(Observation& seen) override {
    const QueueCounts counts = queue_.counts();
    seen.ready = number(counts.ready);
    seen.dirty = number(counts.dirty);
    seen.processing = number(counts.processing);
    seen.waiting = number(counts.waiting);
    seen.shutting_down = queue_.is_shutting_down();
    for (std::size_t i = 0; i < settings_.keys; ++i) {
      const KeyInfo<Key> info = queue_.inspect(keys_.make(i));
      const bool processing =
          info.state == KeyState::processing || info.state == KeyState::processing_and_dirty;
      seen.keys[i] = {.dirty = info.state == KeyState::queued || info.state == KeyState::processing_and_dirty,
                      .processing = processing,
                      .waiting = info.next_attempt.has_value(),
                      .retries = number(info.attempts),
                      .priority = info.priority,
                      .next_attempt = next_attempt_of(info)};
    }
  }
  std::vector<std::size_t> turns() override { return turns_of(queue_.inspect_all({.slice = 2})); }
  std::optional<QueueMetrics> metrics() override {
    QueueMetrics figures = queue_.metrics();
    if (figures.name.empty()) return std::nullopt;
    return figures;
  }
  std::size_t keys_in_memory() override {
    for (std::size_t i = 0; i < settings_.keys; ++i) forget(i);
    return keys_.in_memory();
  }

 private:
  using Queue = WorkQueue<Key, Store, AnyLimiter<Key>, IndexOf<Key>>;

  const Settings settings_;
  Keys<Key> keys_;
  const std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
  Queue queue_;
  std::array<std::optional<typename Queue::Claim>, max_keys> held_;
};

/// Makes the queue that `settings` describe; the policy of its store reads `slow`.
using MakeSubject = std::function<std::unique_ptr<Subject>(const Settings&, const SlowKeys& slow)>;

inline std::unique_ptr<Subject> make_subject(const Settings& settings, const SlowKeys& slow) {
  switch (settings.kind) {
    case Kind::core_of_strings:
      return std::make_unique<CoreSubject<std::string>>(settings, make_store<std::string>(settings, slow));
    case Kind::core_of_requests:
      return std::make_unique<CoreSubject<RequestKey>>(settings, make_store<RequestKey>(settings, slow));
    case Kind::work_queue:
      return std::make_unique<ShellSubject<std::string>>(settings, make_store<std::string>(settings, slow));
    case Kind::request_queue:
      break;
  }
  return std::make_unique<ShellSubject<RequestKey>>(settings, make_store<RequestKey>(settings, slow));
}

}  // namespace evenkeel::model
