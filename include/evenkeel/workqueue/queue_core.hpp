// SPDX-License-Identifier: Apache-2.0
// The decisions of a queue: which key is next, and which keys are dirty, processing or waiting. No thread,
// lock or clock; time is an argument. WorkQueue (work_queue.hpp) adds a lock and a blocking get.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <evenkeel/base/time.hpp>
#include <evenkeel/workqueue/detail/hash_index.hpp>
#include <evenkeel/workqueue/detail/pacing.hpp>
#include <evenkeel/workqueue/detail/queue_meter.hpp>
#include <evenkeel/workqueue/detail/schedule.hpp>
#include <evenkeel/workqueue/key_info.hpp>
#include <evenkeel/workqueue/queue_item.hpp>
#include <evenkeel/workqueue/store.hpp>

namespace evenkeel {
inline namespace v0 {

struct QueueCoreOptions {
  Readd readd = Readd::at_back;  ///< Position of a key added while it is processed.
  bool metered = false;          ///< If true, there is a meter().
  Debounce debounce = {};        ///< Off by default.
  /// Minimum time between the starts of two runs of a key; zero: none.
  Duration min_interval = Duration::zero();
};

/// A queue of keys as a state machine. Every key is stored once: adding a queued key again has no effect
/// (except on its priority, and what the store makes of it), adding a key that is being processed makes it
/// run once more, adding a key that waits for a delay makes it ready. A key that is handed out is not handed
/// out again until done(). Nodes of keys without state are reused.
///
/// With a debounce or a minimum interval (detail/pacing.hpp) an added key waits where it would otherwise
/// become ready; a key stays known for min_interval after it was handed out.
///
/// Hashes are arguments, so that they can be computed before a lock is taken; all must come from one
/// function. Time is an argument as well: if needs_time() is true, every call needs the current time,
/// otherwise only calls about delays do.
/// Driver:
///  1. calls add() and its variants for keys that need work;
///  2. hands out what pop() returns, and calls done() when the work on it has ended;
///  3. at next_due() calls on_timeout(), after which more keys may be ready.
/// Thread safety: one thread at a time. Lifetime: nodes are valid from pop() to done().
/// Source: client-go util/workqueue Type and delayingType. Deviations: an add drops a pending delay; the
/// place of a re-added key is configurable; there is no done() without pop().
template <class Key, BackingStore<QueueNode<Key>> Store, class Index = detail::HashIndex<Key>>
class QueueCore {
 public:
  using Node = typename Index::Node;

  explicit QueueCore(Store store = Store(), Readd readd = Readd::at_back)
      : QueueCore(std::move(store), QueueCoreOptions{.readd = readd}) {}
  /// Throws std::invalid_argument if the options contradict each other.
  QueueCore(Store store, const QueueCoreOptions& options)
      : pacing_(options.debounce, options.min_interval),
        is_paced_(pacing_.is_on()),
        meter_(options.metered ? std::make_unique<detail::QueueMeter>() : nullptr),
        index_(options.metered || is_paced_),
        schedule_(std::move(store), options.readd, meter_.get()) {}
  QueueCore(const QueueCore&) = delete;
  QueueCore& operator=(const QueueCore&) = delete;
  ~QueueCore() { discard(); }

  /// Returns true if every call needs the time, not only those about delays.
  bool needs_time() const { return is_paced_ || meter_ != nullptr; }

  /// Makes `key` ready immediately, or when it is done if it is being processed. Returns its node.
  Node& add(const Key& key, std::size_t hash, Priority priority, TimePoint now) {
    on_timeout(now);
    Node& node = index_.obtain(key, hash);
    if (is_paced_) {
      add_paced(node, priority, now);
    } else {
      change(node, [&] { schedule_.add(node, priority.value, now); });
    }
    return node;
  }

  /// Like add(), but if `key` waits for a delay at `now` it changes nothing and returns null. A key held back
  /// by pacing does not wait in this sense.
  Node* add_unless_waiting(const Key& key, std::size_t hash, Priority priority, TimePoint now) {
    on_timeout(now);
    const Node* known = index_.find(key, hash);
    if (known != nullptr && waits_for_timer(*known, now)) return nullptr;
    return &add(key, hash, priority, now);
  }

  /// Makes `key` ready at `at`, or immediately if that is not after `now`. The earliest of several times
  /// wins, and a ready key stays ready.
  void add_at(const Key& key, std::size_t hash, TimePoint at, Priority priority, TimePoint now) {
    on_timeout(now);
    if (meter_ != nullptr && at > now) meter_->was_retried();
    Node& node = index_.obtain(key, hash);
    if (is_paced_) return add_paced_at(node, at, priority, now);
    if (at <= now) return change(node, [&] { schedule_.add(node, priority.value, now); });
    change(node, [&] { schedule_.add_at(node, at, priority.value); });
  }

  /// Forgets the start of the last run of `key` and the adds that pacing has gathered, because the key means
  /// another thing from now on: the next add is the first one. Delays and states remain.
  void renew(const Key& key, std::size_t hash) {
    if (!is_paced_) return;
    Node* const node = index_.find(key, hash);
    if (node == nullptr) return;
    node->extras().pacing = detail::PacingRecord();
    schedule_.end_rest(*node);
    if (is_idle(*node)) release(*node);
  }

  /// Makes ready all keys whose delay ends at `now` or earlier, in the order of (time, insertion).
  void on_timeout(TimePoint now) {
    schedule_.fire(now);
    if (is_paced_) end_rests(now);
  }

  /// Hands out the next key; returns null if none is ready. The node stays valid until done().
  Node* pop(TimePoint now = {}) {
    Node* node = schedule_.pop(now);
    if (is_paced_ && node != nullptr) pacing_.started(node->extras().pacing, now);
    return node;
  }

  /// Ends the processing of a node that pop() returned.
  void done(Node& node, TimePoint now = {}) {
    if (!schedule_.done(node, now)) return;
    if (is_paced_ && pacing_.must_rest(node.extras().pacing, now)) return schedule_.rest(node);
    release(node);
  }

  /// Drops all delays that are not over at `now`. Keys held back only by pacing, because they were added
  /// without a delay or theirs is over, become ready.
  void discard_waiting(TimePoint now = {}) {
    on_timeout(now);
    schedule_.end_waiting(
        [&](const Node& node) {
          return is_paced_ && (node.extras().pacing.event_at != detail::PacingRecord::none ||
                               node.extras().pacing.timer_at <= now);
        },
        [this](Node& node) { release(node); });
    if (is_paced_) end_rests(TimePoint::max());
  }

  /// Drops all delays, all ready keys, and all pending re-runs. Final: nothing may be added afterwards.
  void discard() {
    discard_waiting();
    schedule_.close([this](Node& node) { release(node); });
  }

  bool is_dirty(const Node& node) const { return schedule_.is_dirty(node); }
  bool is_waiting(const Key& key, std::size_t hash) const {
    const Node* node = index_.find(key, hash);
    return node != nullptr && schedule_.is_waiting(*node);
  }
  bool is_processing(const Key& key, std::size_t hash) const {
    const Node* node = index_.find(key, hash);
    return node != nullptr && schedule_.is_processing(*node);
  }
  bool is_dirty(const Key& key, std::size_t hash) const {
    const Node* node = index_.find(key, hash);
    return node != nullptr && schedule_.is_dirty(*node);
  }

  /// Returns what is known of a key, without its key and limiter fields. Complexity: constant, plus the cost
  /// of the store's lane().
  KeyInfo<Key> inspect(const Key& key, std::size_t hash) const {
    const Node* node = index_.find(key, hash);
    return node == nullptr ? KeyInfo<Key>{.key = key} : inspect(*node);
  }

  /// Calls visit(info) for about `steps` of the known keys. `position` is 0 for the first call, then the
  /// result of the previous one; returns nullopt at the end. A key that stays known is visited exactly once,
  /// whatever happens between calls, any other at most once.
  template <class Visit>
  std::optional<std::uint64_t> inspect_some(std::uint64_t position, std::size_t steps,
                                            const Visit& visit) const {
    return index_.scan(position, steps, [&](const Node& node) {
      if (!is_idle(node)) visit(inspect(node));
    });
  }

  QueueCounts counts() const {
    return {.ready = ready(), .waiting = waiting(), .processing = processing(), .dirty = dirty()};
  }

  /// Number of keys that pop() would hand out, one after the other.
  std::size_t ready() const { return schedule_.ready(); }
  /// Returns true if pop() may find a key; the store may hold back ready keys (store.hpp).
  bool can_pop() const { return schedule_.can_pop(); }
  /// Number of keys that need processing: ready keys and keys added again while processed.
  std::size_t dirty() const { return schedule_.dirty(); }
  std::size_t processing() const { return schedule_.processing(); }
  std::size_t waiting() const { return schedule_.waiting(); }
  /// Returns the end of the first delay, if a key waits.
  std::optional<TimePoint> next_due() const {
    if (schedule_.waiting() == 0) return std::nullopt;
    return schedule_.earliest();
  }
  /// Number of known keys: dirty, processing or waiting.
  std::size_t size() const { return index_.size(); }
  const Index& index() const { return index_; }
  const Store& store() const { return schedule_.backing_store(); }

  /// Counters and timers; null if the options did not ask for them.
  const detail::QueueMeter* meter() const { return meter_.get(); }

 private:
  bool is_idle(const Node& node) const {
    return !schedule_.is_waiting(node) && !schedule_.is_processing(node) && !schedule_.is_dirty(node);
  }

  KeyInfo<Key> inspect(const Node& node) const {
    const bool is_dirty = schedule_.is_dirty(node);
    KeyInfo<Key> info{.key = node.key()};
    if (is_idle(node)) return info;
    if (schedule_.is_processing(node)) {
      info.state = is_dirty ? KeyState::processing_and_dirty : KeyState::processing;
      if (meter_ != nullptr) info.held_since = node.extras().meter.held_since;
    } else {
      info.state = is_dirty ? KeyState::queued : KeyState::waiting;
    }
    info.priority = node.priority();
    if (schedule_.is_waiting(node)) info.next_attempt = schedule_.time_of(node);
    if (!is_dirty) return info;
    info.place = node.place();
    info.adds_since = schedule_.next_place() - node.place() - 1;
    if (meter_ != nullptr) info.dirty_since = node.extras().meter.dirty_since;
    if (schedule_.is_stored(node)) {
      info.level = level_of(schedule_.backing_store(), node);
      info.lane = lane_of(schedule_.backing_store(), node);
    }
    return info;
  }

  void release(Node& node) noexcept {
    if (is_paced_) node.extras().pacing = detail::PacingRecord();
    index_.release(node);
  }

  // Changes a node's state. If the heap or the store runs out of memory, a node without state must not stay
  // in the table.
  template <class Change>
  void change(Node& node, const Change& make_change) {
    try {
      make_change();
    } catch (...) {
      if (is_idle(node)) release(node);
      throw;
    }
  }

  bool waits_for_timer(const Node& node, TimePoint now) const {
    if (!schedule_.is_waiting(node)) return false;
    if (!is_paced_) return true;
    const TimePoint end = node.extras().pacing.timer_at;
    return end != detail::PacingRecord::none && end > now;
  }

  void add_paced(Node& node, Priority priority, TimePoint now) {
    schedule_.end_rest(node);
    if (schedule_.is_dirty(node)) return schedule_.add(node, priority.value, now);
    become_ready_at(node, pacing_.add(node.extras().pacing, priority.value > 0, now), priority, now);
  }

  void add_paced_at(Node& node, TimePoint at, Priority priority, TimePoint now) {
    schedule_.end_rest(node);
    if (schedule_.is_dirty(node)) return schedule_.add_at(node, at, priority.value);
    become_ready_at(node, pacing_.add_at(node.extras().pacing, at), priority, now);
  }

  void become_ready_at(Node& node, TimePoint at, Priority priority, TimePoint now) {
    if (at <= now) return change(node, [&] { schedule_.add(node, priority.value, now); });
    change(node, [&] { schedule_.wait_until(node, at, priority.value); });
  }

  void end_rests(TimePoint now) {
    for (Node* node = schedule_.longest_resting(); node != nullptr; node = schedule_.longest_resting()) {
      if (now != TimePoint::max() && pacing_.must_rest(node->extras().pacing, now)) return;
      schedule_.end_rest(*node);
      release(*node);
    }
  }

  const detail::Pacing pacing_;
  const bool is_paced_;
  const std::unique_ptr<detail::QueueMeter> meter_;
  Index index_;
  detail::Schedule<Node, Store> schedule_;
};

}  // namespace v0
}  // namespace evenkeel
