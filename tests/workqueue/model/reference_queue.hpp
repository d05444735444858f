// SPDX-License-Identifier: Apache-2.0
// The queue as one would explain it: a list of keys with flags, and every question answered by looking at
// all of them. Slow, and short enough to be read against the documentation.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "reference_limiter.hpp"
#include "reference_store.hpp"
#include "settings.hpp"

namespace evenkeel::model {

class ReferenceQueue {
 public:
  enum class State : std::uint8_t { open, closing, closed };
  static constexpr Nanos never = std::numeric_limits<Nanos>::max();

  ReferenceQueue(const Settings& settings, const SlowKeys& slow)
      : settings_(settings), keys_(settings.keys), store_(settings, slow), limiter_(settings.limiter) {}

  void add(std::size_t key, std::int32_t priority) {
    if (state_ != State::open) return;
    fire();
    make_ready(key, priority);
  }

  bool add_unless_waiting(std::size_t key, std::int32_t priority) {
    if (state_ != State::open) return false;
    fire();
    if (keys_[key].waiting) return false;
    make_ready(key, priority);
    return true;
  }

  void add_after(std::size_t key, Nanos delay, std::int32_t priority) {
    if (state_ != State::open) return;
    fire();
    if (delay <= 0) return make_ready(key, priority);
    delay_until(key, delay > never - now_ ? never : now_ + delay, priority);
  }

  /// The delay that was charged; zero if none was.
  Nanos add_rate_limited(std::size_t key, std::int32_t priority) {
    if (state_ != State::open) return 0;
    fire();
    if (keys_[key].waiting && !settings_.charge_waiting) return 0;
    const Nanos delay = limiter_.when(key, now_);
    add_after(key, delay, priority);
    return delay;
  }

  void forget(std::size_t key) { limiter_.forget(key); }

  void advance(Nanos by) { now_ += by; }

  /// Delays that are over make their keys ready, in the order of their ends and then of their insertion.
  void fire() {
    for (;;) {
      const auto key = first_due();
      if (!key || keys_[*key].due > now_) return;
      keys_[*key].waiting = false;
      become_dirty(*key);
    }
  }

  std::optional<Handed> get() {
    fire();
    while (something_is_ready()) {
      const auto turn = store_.next(keys_);
      ReferenceKey& key = keys_[*turn];
      if (key.processing) {  // no turn for what is held; when it is done it has its place back
        key.aside = true;
        continue;
      }
      key.queued = false;
      key.dirty = false;
      key.processing = true;
      store_.handed_out(keys_, *turn);
      return Handed{*turn, key.priority};
    }
    return std::nullopt;
  }

  void done(std::size_t held) {
    ReferenceKey& key = keys_[held];
    key.processing = false;
    if (!key.dirty) return;
    if (!key.queued) {  // the article's rule: behind all that is queued by now
      key.place = next_place_++;
      enqueue(held);
    } else if (key.aside) {
      enqueue(held);
    }
  }

  void shut_down() { close(State::closing); }
  void shut_down_now() { close(State::closed); }
  /// Whether there is nothing to wait for.
  bool is_drained() const {
    return std::none_of(keys_.begin(), keys_.end(),
                        [](const ReferenceKey& key) { return key.dirty || key.processing; });
  }

  bool is_held(std::size_t key) const { return keys_[key].processing; }
  bool is_waiting(std::size_t key) const { return keys_[key].waiting; }
  State state() const { return state_; }
  Nanos now() const { return now_; }

  void observe(Observation& seen) const {
    seen.ready = seen.dirty = seen.processing = seen.waiting = seen.known = 0;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const ReferenceKey& key = keys_[i];
      seen.ready += key.dirty && !key.processing ? 1 : 0;
      seen.dirty += key.dirty ? 1 : 0;
      seen.processing += key.processing ? 1 : 0;
      seen.waiting += key.waiting ? 1 : 0;
      seen.known += key.dirty || key.processing || key.waiting ? 1 : 0;
      seen.keys[i] = {key.dirty, key.processing, key.waiting, static_cast<std::int64_t>(limiter_.retries(i))};
    }
    const auto due = first_due();
    seen.next_due = due ? keys_[*due].due : Observation::none;
    seen.shutting_down = state_ != State::open;
  }

 private:
  void make_ready(std::size_t added, std::int32_t priority) {
    ReferenceKey& key = keys_[added];
    if (key.waiting) {
      key.waiting = false;
      key.priority = std::max(key.priority, priority);
      return become_dirty(added);
    }
    if (!key.dirty) {
      key.priority = priority;
      return become_dirty(added);
    }
    // Back to its place, to be moved like any other.
    if (key.aside && (priority > key.priority || store_.moves_without_raise())) enqueue(added);
    key.priority = std::max(key.priority, priority);
    if (key.queued) touch(added);
  }

  void delay_until(std::size_t added, Nanos due, std::int32_t priority) {
    ReferenceKey& key = keys_[added];
    if (key.dirty) {  // ready is sooner than later; only more urgent than before can change something
      if (priority > key.priority) make_ready(added, priority);
      return;
    }
    if (!key.waiting) {
      key.waiting = true;
      key.priority = priority;
      key.due = due;
      key.due_order = next_due_order_++;
      return;
    }
    key.priority = std::max(key.priority, priority);
    if (due < key.due) {
      key.due = due;
      key.due_order = next_due_order_++;
    }
  }

  void become_dirty(std::size_t added) {
    ReferenceKey& key = keys_[added];
    key.dirty = true;
    key.place = next_place_++;
    if (!key.processing || settings_.readd == Readd::keep_place) enqueue(added);
  }

  void enqueue(std::size_t added) {
    keys_[added].queued = true;
    keys_[added].aside = false;
    keys_[added].level = store_.level_of(added, keys_[added].priority);
  }

  void touch(std::size_t queued) {
    const std::int64_t level = store_.level_of(queued, keys_[queued].priority);
    if (level == keys_[queued].level) return;
    keys_[queued].level = level;
    keys_[queued].place = next_place_++;
  }

  bool something_is_ready() const {
    return std::any_of(keys_.begin(), keys_.end(),
                       [](const ReferenceKey& key) { return key.dirty && !key.processing; });
  }

  std::optional<std::size_t> first_due() const {
    std::optional<std::size_t> first;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const ReferenceKey& key = keys_[i];
      if (!key.waiting) continue;
      const bool sooner = !first || key.due < keys_[*first].due ||
                          (key.due == keys_[*first].due && key.due_order < keys_[*first].due_order);
      if (sooner) first = i;
    }
    return first;
  }

  void close(State state) {
    if (state <= state_) return;
    state_ = state;
    for (ReferenceKey& key : keys_) {
      key.waiting = false;
      if (state != State::closed) continue;
      key.dirty = false;
      key.queued = false;
      key.aside = false;
    }
  }

  Settings settings_;
  std::vector<ReferenceKey> keys_;
  ReferenceStore store_;
  ReferenceLimiter limiter_;
  State state_ = State::open;
  Nanos now_ = 0;
  std::uint64_t next_place_ = 0;
  std::uint64_t next_due_order_ = 0;
};

}  // namespace evenkeel::model
