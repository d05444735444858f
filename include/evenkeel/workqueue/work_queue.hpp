// SPDX-License-Identifier: Apache-2.0
// The work queue: threads add and get keys, and no two threads ever hold the same key.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/metrics.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/text_hash.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/ratelimit/limiter.hpp>
#include <evenkeel/workqueue/detail/parking.hpp>
#include <evenkeel/workqueue/fifo_store.hpp>
#include <evenkeel/workqueue/key_info.hpp>
#include <evenkeel/workqueue/queue_claim.hpp>
#include <evenkeel/workqueue/queue_core.hpp>
#include <evenkeel/workqueue/queue_metrics.hpp>
#include <evenkeel/workqueue/store.hpp>
#include <evenkeel/workqueue/two_lane_store.hpp>
#include <evenkeel/workqueue/work_queue_options.hpp>

namespace evenkeel {
inline namespace v0 {

/// The work queue of a controller. Each key is stored once, no matter how often it is added, and handed to
/// one worker at a time; a key added while it is processed runs once more. Keys may be added with a delay,
/// including one that a rate limiter decides. It has one lock and no thread: of the workers that wait in
/// get(), one waits for the earliest delayed key, the others without a deadline.
///
/// A debounce or a minimum interval (docs/queue.md) holds back a key that would otherwise be ready; a
/// shutdown releases such keys immediately, as if they were queued.
///
/// There are three ways to shut down, each idempotent and callable at any time. All refuse new keys and drop
/// delayed ones. shut_down() hands out what is queued, after which get() returns nullopt; shut_down_now()
/// drops what is queued, too; shut_down_with_drain() is shut_down() followed by waiting until every key is
/// done.
///
/// Thread safety: all members may be called concurrently. Key's operator==, the store and the limiter run
/// under the lock; the key's hash is computed before it is taken.
/// Lifetime: outlives its claims and every call of a member.
/// Source: client-go util/workqueue, with its three nested queues and two goroutines merged into one class.
template <class Key, BackingStore<QueueNode<Key>> Store = FifoStore, Limiter<Key> L = AnyLimiter<Key>,
          class Index = detail::HashIndex<Key>>
class WorkQueue {
  static_assert(!std::is_same_v<Index, detail::HashIndex<Key>> ||
                    std::is_default_constructible_v<std::hash<Key>>,
                "a key needs a specialisation of std::hash, and operator==");
  using Core = QueueCore<Key, Store, Index>;
  using Node = typename Core::Node;

 public:
  using Options = WorkQueueOptions<Key, Store, L>;
  using Claim = QueueClaim<WorkQueue, Node>;

  /// Throws std::invalid_argument if debounce or min_interval is invalid.
  explicit WorkQueue(Options options = {})
      : name_(std::move(options.name)),
        clock_(options.clock ? std::move(options.clock) : real_clock()),
        charge_waiting_(options.charge_waiting),
        touch_needs_raise_(evenkeel::touch_needs_raise(options.store)),
        core_(std::move(options.store), QueueCoreOptions{.readd = options.readd,
                                                         .metered = !name_.empty(),
                                                         .debounce = options.debounce,
                                                         .min_interval = options.min_interval}),
        needs_time_(core_.needs_time()),
        owner_(owner_of(core_.index())),
        limiter_(std::move(options.limiter)) {}
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  /// Makes `key` ready, or makes it run once more if it is being processed. Drops a delay that it waits for.
  /// The highest of several priorities wins until the key is handed out.
  void add(const Key& key, Priority priority = {}) EVENKEEL_EXCLUDES(mutex_) {
    if (changes_nothing(key, priority)) return;
    const std::size_t hash = hash_of(key);
    const TimePoint start = now_if_always_needed();
    CondVar* wake = nullptr;
    {
      MutexLock lock(mutex_);
      if (state_ != State::open) return;
      Node& node = core_.add(key, hash, priority, needs_time_ ? start : now_if_needed());
      cover(node);
      wake = whom_to_wake();
    }
    detail::Parking::notify(wake);
  }

  /// Like add(), but if `key` waits for a delay it changes nothing and returns false, as it does when the
  /// queue is shut down.
  bool add_unless_waiting(const Key& key, Priority priority = {}) EVENKEEL_EXCLUDES(mutex_) {
    if (changes_nothing(key, priority)) return is_open_.load(std::memory_order_relaxed);
    const std::size_t hash = hash_of(key);
    CondVar* wake = nullptr;
    Node* node = nullptr;
    {
      MutexLock lock(mutex_);
      if (state_ != State::open) return false;
      node = core_.add_unless_waiting(key, hash, priority, now_if_needed());
      if (node != nullptr) cover(*node);
      wake = whom_to_wake();
    }
    detail::Parking::notify(wake);
    return node != nullptr;
  }

  /// Like add() after `delay`. The earliest of several times wins, and a ready key stays ready.
  void add_after(const Key& key, Duration delay, Priority priority = {}) EVENKEEL_EXCLUDES(mutex_) {
    const std::size_t hash = hash_of(key);
    CondVar* wake = nullptr;
    {
      MutexLock lock(mutex_);
      if (state_ != State::open) return;
      const TimePoint now = clock_->now();
      core_.add_at(key, hash, deadline_after(now, delay), priority, now);
      wake = whom_to_wake();
    }
    detail::Parking::notify(wake);
  }

  /// Like add_after(), with the delay that the limiter returns; the limiter is charged before this returns.
  /// Returns the delay; zero if nothing was charged.
  Duration add_rate_limited(const Key& key, Priority priority = {}) EVENKEEL_EXCLUDES(mutex_) {
    const std::size_t hash = hash_of(key);
    CondVar* wake = nullptr;
    Duration delay{};
    {
      MutexLock lock(mutex_);
      if (state_ != State::open) return delay;
      const TimePoint now = clock_->now();
      core_.on_timeout(now);
      if (charge_waiting_ || !core_.is_waiting(key, hash)) {
        delay = limiter_.when(key, now);
        core_.add_at(key, hash, deadline_after(now, delay), priority, now);
      }
      wake = whom_to_wake();
    }
    detail::Parking::notify(wake);
    return delay;
  }

  /// Makes the limiter forget the failures of `key`, which succeeded or was given up.
  void forget(const Key& key) EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    limiter_.forget(key);
  }

  /// Forgets what is remembered of `key` between its runs, because it means another thing from now on: its
  /// failures, and the start of its last run. The next add makes it ready.
  void renew(const Key& key) EVENKEEL_EXCLUDES(mutex_) {
    const std::size_t hash = hash_of(key);
    MutexLock lock(mutex_);
    limiter_.forget(key);
    core_.renew(key, hash);
  }

  /// Returns how often add_rate_limited was called for `key` since forget().
  std::uint64_t retries(const Key& key) const EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return attempts_of(key);
  }

  /// Hands out the next key. Blocks until there is one; returns nullopt if the queue is shut down and has
  /// nothing left to hand out, or if `stop` is requested.
  [[nodiscard]] std::optional<Claim> get(const std::stop_token& stop = {}) EVENKEEL_EXCLUDES(mutex_) {
    if (stop.stop_requested()) return std::nullopt;
    {
      MutexLock lock(mutex_);
      if (Node* node = take()) return Claim(*this, *node);
      if (is_over()) return std::nullopt;
    }
    return get_blocking(stop);
  }

  /// Ends `last` and then gets the next key, with one lock fewer than done() and get(); for worker loops:
  ///
  ///     for (auto claim = queue.get(); claim; claim = queue.get(std::move(*claim))) work(claim->key());
  [[nodiscard]] std::optional<Claim> get(Claim last, const std::stop_token& stop = {})
      EVENKEEL_EXCLUDES(mutex_) {
    Node* const ended = last.release(*this);
    if (ended == nullptr) {
      last.done();
      return get(stop);
    }
    const TimePoint end = now_if_always_needed();
    std::optional<Claim> claim;
    CondVar* wake = nullptr;
    {
      MutexLock lock(mutex_);
      end_run(*ended, end);
      if (!stop.stop_requested()) {
        if (Node* node = take()) claim.emplace(Claim(*this, *node));
      }
      wake = whom_to_wake();
    }
    detail::Parking::notify(wake);
    return claim ? std::move(claim) : get(stop);
  }

  /// Hands out the next key if one is ready now.
  [[nodiscard]] std::optional<Claim> try_get() EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (Node* node = take()) return Claim(*this, *node);
    return std::nullopt;
  }

  /// Returns when try_get() will have a key: now, or when the first delay ends; nullopt if no key waits. Keys
  /// held by workers do not count.
  [[nodiscard]] std::optional<TimePoint> next_due() EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    core_.on_timeout(now_if_needed());
    if (core_.can_pop()) return clock_->now();
    return core_.next_due();
  }

  /// Refuses new keys, drops delayed ones, and hands out what is queued. Unblocks callers of
  /// shut_down_with_drain().
  void shut_down() EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    close(State::closing);
    release_drainers();
  }

  /// Like shut_down(), and also drops what is queued and what was added again while processed.
  void shut_down_now() EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    close(State::closed);
    release_drainers();
  }

  /// Refuses new keys, drops delayed ones, and blocks until workers have processed all that is queued. Any
  /// number of threads may call it. Returns true if every key is done; false if shut_down() or
  /// shut_down_now() was called in the meantime or `stop` was requested.
  bool shut_down_with_drain(const std::stop_token& stop = {}) EVENKEEL_EXCLUDES(mutex_) {
    const std::stop_callback wake(stop, WakeAll{*this});
    MutexLock lock(mutex_);
    close(State::closing);
    const std::uint64_t releases = drain_releases_;
    while (!drained() && releases == drain_releases_ && !stop.stop_requested()) clock_->wait(drained_, lock);
    return drained();
  }

  bool is_shutting_down() const EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return state_ != State::open;
  }

  /// Number of keys that get() could hand out now. Informational: it may be outdated on return.
  std::size_t size() EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    core_.on_timeout(now_if_needed());
    return core_.ready();
  }

  /// Returns what is known of `key`. Complexity: constant, plus the cost of store and limiter.
  KeyInfo<Key> inspect(const Key& key) EVENKEEL_EXCLUDES(mutex_) {
    const std::size_t hash = hash_of(key);
    MutexLock lock(mutex_);
    core_.on_timeout(now_if_needed());
    KeyInfo<Key> info = core_.inspect(key, hash);
    info.attempts = attempts_of(key);
    return info;
  }

  /// Returns what is known of all keys, in no particular order; sort_by_turn() (key_order.hpp) sorts them.
  /// The queue keeps working during the call: the lock is taken for a slice of keys at a time. So each key is
  /// described as it was at some moment of the call; a key that stays in the queue is described exactly once,
  /// any other at most once. Throws std::invalid_argument for a slice of 0.
  std::vector<KeyInfo<Key>> inspect_all(const InspectOptions& options = {}) EVENKEEL_EXCLUDES(mutex_) {
    if (options.slice == 0) throw std::invalid_argument("InspectOptions: slice must be at least 1");
    std::vector<KeyInfo<Key>> keys;
    for (std::optional<std::uint64_t> position = 0; position;) {
      // Grown before the lock is taken, and by doubling.
      const std::size_t needed = keys.size() + 2 * options.slice;
      if (keys.capacity() < needed) keys.reserve(2 * needed);
      MutexLock lock(mutex_);
      core_.on_timeout(now_if_needed());
      const std::size_t first = keys.size();
      position = core_.inspect_some(*position, 2 * options.slice,
                                    [&](KeyInfo<Key> info) { keys.push_back(std::move(info)); });
      for (std::size_t i = first; i < keys.size(); ++i) keys[i].attempts = attempts_of(keys[i].key);
    }
    return keys;
  }

  /// Returns the number of keys in each state.
  QueueCounts counts() EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    core_.on_timeout(now_if_needed());
    return core_.counts();
  }

  /// Returns the current metrics; default-constructed if the queue has no name.
  QueueMetrics metrics() EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (core_.meter() == nullptr) return {};
    const TimePoint now = clock_->now();
    core_.on_timeout(now);
    QueueMetrics metrics = core_.meter()->metrics(now);
    metrics.name = name_;
    metrics.lanes = lanes_of(core_.store());
    return metrics;
  }

  /// Writes metrics() to `sink`; nothing if the queue has no name. The sink is not called under the lock.
  void collect(MetricSink& sink) {
    if (!name_.empty()) evenkeel::collect(metrics(), sink);
  }

  const std::string& name() const { return name_; }

 private:
  friend Claim;
  enum class State : std::uint8_t { open, closing, closed };

  struct WakeAll {
    WorkQueue& queue;
    // The lock ensures that a waiter which has checked the token but does not block yet is not missed.
    void operator()() const noexcept {
      MutexLock lock(queue.mutex_);
      queue.notify_all();
    }
  };

  // Returns true if adding `key` is known, without the lock, to have no effect: it is queued with at least
  // this priority.
  bool changes_nothing(const Key& key, Priority priority) const {
    if constexpr (Index::knows_without_lock) {
      return touch_needs_raise_ && Index::is_covered(owner_, key, priority.value);
    } else {
      return false;
    }
  }
  void cover(Node& node) EVENKEEL_REQUIRES(mutex_) {
    if constexpr (Index::knows_without_lock) {
      if (core_.is_dirty(node)) node.cover();
    }
  }
  static const void* owner_of(const Index& index) {
    if constexpr (Index::knows_without_lock) {
      return index.owner();
    } else {
      return nullptr;
    }
  }

  std::uint64_t attempts_of(const Key& key) const EVENKEEL_REQUIRES(mutex_) {
    return static_cast<std::uint64_t>(limiter_.retries(key));
  }

  // Reads the clock only if something depends on the time.
  TimePoint now_if_needed() const EVENKEEL_REQUIRES(mutex_) {
    return needs_time_ || core_.waiting() > 0 ? clock_->now() : TimePoint{};
  }

  // For calls that can read the clock before they take the lock; a slightly old time is good enough.
  TimePoint now_if_always_needed() const { return needs_time_ ? clock_->now() : TimePoint{}; }

  Node* take() EVENKEEL_REQUIRES(mutex_) {
    const TimePoint now = now_if_needed();
    core_.on_timeout(now);
    Node* node = core_.pop(now);
    if constexpr (Index::knows_without_lock) {
      if (node != nullptr) node->uncover();
    }
    if (node != nullptr && is_over())
      parking_.notify_all();  // workers that wait for keys the store held back
    return node;
  }

  // Returns true if the end can be reported; ready keys held back by the store (store.hpp) are still to come.
  bool is_over() const EVENKEEL_REQUIRES(mutex_) { return state_ != State::open && core_.ready() == 0; }

  void finish(Node& node) noexcept EVENKEEL_EXCLUDES(mutex_) {
    const TimePoint end = now_if_always_needed();
    CondVar* wake = nullptr;
    {
      MutexLock lock(mutex_);
      end_run(node, end);
      wake = whom_to_wake();
    }
    detail::Parking::notify(wake);
  }

  void end_run(Node& node, TimePoint end) EVENKEEL_REQUIRES(mutex_) {
    core_.done(node, end);
    // Under the lock, because a drainer that returns may destroy the queue; no thread is woken later.
    if (state_ != State::open && drained()) drained_.notify_all();
  }

  std::optional<Claim> get_blocking(const std::stop_token& stop) EVENKEEL_EXCLUDES(mutex_) {
    // Constructed and destroyed without the lock, which it takes itself.
    const std::stop_callback stopper(stop, WakeAll{*this});
    std::optional<Claim> claim;
    CondVar* wake = nullptr;
    {
      MutexLock lock(mutex_);
      while (!stop.stop_requested()) {
        if (Node* node = take()) {
          claim.emplace(Claim(*this, *node));
          break;
        }
        if (is_over()) break;
        parking_.wait(*clock_, lock, demand());
      }
      wake = whom_to_wake();
    }
    detail::Parking::notify(wake);
    return claim;
  }

  detail::Demand demand() const EVENKEEL_REQUIRES(mutex_) {
    return {.has_work = core_.can_pop(), .due = core_.next_due()};
  }
  CondVar* whom_to_wake() EVENKEEL_REQUIRES(mutex_) {
    return parking_.has_idle() ? parking_.whom_to_wake(demand()) : nullptr;
  }

  void close(State state) EVENKEEL_REQUIRES(mutex_) {
    if (state_ >= state) return;
    state_ = state;
    is_open_.store(false, std::memory_order_relaxed);
    core_.discard_waiting(now_if_needed());
    if (state == State::closed) core_.discard();
    notify_all();
  }

  void release_drainers() EVENKEEL_REQUIRES(mutex_) {
    ++drain_releases_;
    drained_.notify_all();
  }

  void notify_all() EVENKEEL_REQUIRES(mutex_) {
    parking_.notify_all();
    drained_.notify_all();
  }

  bool drained() const EVENKEEL_REQUIRES(mutex_) { return core_.dirty() == 0 && core_.processing() == 0; }

  const std::string name_;
  const std::shared_ptr<const Clock> clock_;
  const bool charge_waiting_;
  const bool touch_needs_raise_;
  mutable Mutex mutex_;
  CondVar drained_;  // callers of shut_down_with_drain
  Core core_ EVENKEEL_GUARDED_BY(mutex_);
  const bool needs_time_;    // true if even an add without a delay needs the time
  const void* const owner_;  // identifies this queue's nodes on interned keys
  L limiter_ EVENKEEL_GUARDED_BY(mutex_);
  detail::Parking parking_;  // notified without the lock; otherwise used under it
  State state_ EVENKEEL_GUARDED_BY(mutex_) = State::open;
  std::atomic<bool> is_open_ = true;  // state_ for readers without the lock; orders nothing
  std::uint64_t drain_releases_ EVENKEEL_GUARDED_BY(mutex_) = 0;
};

}  // namespace v0
}  // namespace evenkeel
