// SPDX-License-Identifier: Apache-2.0
// Straightforward queue: a list of keys with flags; every query scans all of them. Slow, and short enough to
// be compared with the documentation.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reference_limiter.hpp"
#include "reference_store.hpp"
#include "settings.hpp"

namespace evenkeel::model {

class ReferenceQueue {
 public:
  enum class State : std::uint8_t { open, closing, closed };

  ReferenceQueue(const Settings& settings, const SlowKeys& slow)
      : settings_(settings),
        keys_(settings.keys),
        store_(make_reference_store(settings, slow)),
        limiter_(settings.limiter) {}

  void add(std::size_t key, std::int32_t priority) {
    if (state_ != State::open) return;
    fire();
    if (!settings_.is_paced() || keys_[key].dirty) return make_ready(key, priority);
    gather(key, priority);
  }

  bool add_unless_waiting(std::size_t key, std::int32_t priority) {
    if (state_ != State::open) return false;
    fire();
    const ReferenceKey& at = keys_[key];
    if (at.waiting && (!settings_.is_paced() || (at.timer && *at.timer > now_))) return false;
    add(key, priority);
    return true;
  }

  void add_after(std::size_t added, Nanos delay, std::int32_t priority) {
    if (state_ != State::open) return;
    fire();
    if (delay > 0) ++retries_;
    const Nanos due = later_by(now_, delay);
    ReferenceKey& key = keys_[added];
    if (settings_.is_paced() && !key.dirty) {
      key.timer = std::min(key.timer.value_or(never - 1), due);  // the maximum means none
      return hold_back(added, priority);
    }
    if (delay <= 0 && !settings_.is_paced()) return make_ready(added, priority);
    if (key.dirty) {  // ready is sooner than later; only a higher priority can change something
      if (priority > key.priority) make_ready(added, priority);
      return;
    }
    wait_until(added, key.waiting ? std::min(key.due, due) : due, priority);
  }

  /// Returns the delay that was charged; zero if none was.
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

  /// Makes keys whose delay is over ready, in the order of their ends and then of their insertion.
  void fire() {
    for (;;) {
      const auto key = first_due();
      if (!key || keys_[*key].due > now_) return;
      keys_[*key].waiting = false;
      become_dirty(*key, keys_[*key].due);
    }
  }

  std::optional<Handed> get() {
    fire();
    while (something_is_ready()) {
      const auto turn = store_->next(keys_);
      if (!turn) return std::nullopt;
      ReferenceKey& key = keys_[*turn];
      if (key.processing) {  // a held key is skipped; when it is done it gets its place back
        key.aside = true;
        store_->changed(keys_);
        continue;
      }
      start(*turn);
      return Handed{*turn, key.priority};
    }
    return std::nullopt;
  }

  void done(std::size_t held) {
    ReferenceKey& key = keys_[held];
    key.processing = false;
    work_.push_back(now_ - key.held_since);
    store_->changed(keys_);
    if (!key.dirty) return;
    if (!key.queued) {  // Readd::at_back: behind everything queued by now
      key.place = next_place_++;
      enqueue(held);
    } else if (key.aside) {
      enqueue(held);
    }
  }

  void shut_down() { close(State::closing); }
  void shut_down_now() { close(State::closed); }
  /// Returns true if there is nothing to wait for.
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
      const bool known = key.dirty || key.processing || key.waiting;
      seen.ready += key.dirty && !key.processing ? 1 : 0;
      seen.dirty += key.dirty ? 1 : 0;
      seen.processing += key.processing ? 1 : 0;
      seen.waiting += key.waiting ? 1 : 0;
      seen.known += known ? 1 : 0;
      seen.keys[i] = {.dirty = key.dirty,
                      .processing = key.processing,
                      .waiting = key.waiting,
                      .retries = static_cast<std::int64_t>(limiter_.retries(i)),
                      .priority = known ? key.priority : 0,
                      .next_attempt = key.waiting ? key.due : Observation::none};
    }
    const auto due = first_due();
    seen.next_due = due ? keys_[*due].due : Observation::none;
    seen.shutting_down = state_ != State::open;
  }

  /// Returns keys in the order in which they will be handed out, as far as level and place determine it.
  std::vector<std::size_t> turns() const {
    std::vector<std::size_t> ready;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (keys_[i].dirty && !keys_[i].processing) ready.push_back(i);
    }
    std::sort(ready.begin(), ready.end(), [&](std::size_t a, std::size_t b) {
      if (keys_[a].level != keys_[b].level) return keys_[a].level > keys_[b].level;
      return keys_[a].place < keys_[b].place;
    });
    return ready;
  }

  Figures figures() const {
    Figures figures{.adds = adds_, .retries = retries_, .depth = {}, .queued = queued_, .worked = work_};
    for (const std::int32_t label : labels_) figures.depth.push_back({std::to_string(label), 0});
    if (has_rest_) figures.depth.push_back({rest_label, 0});
    for (const ReferenceKey& key : keys_) {
      if (key.dirty) ++figures.depth[key.label].second;
      if (!key.processing) continue;
      figures.unfinished += now_ - key.held_since;
      figures.longest = std::max(figures.longest, now_ - key.held_since);
    }
    return figures;
  }

 private:
  static Nanos later_by(Nanos from, Nanos delay) {
    if (delay <= 0) return from;
    return delay > never - from ? never : from + delay;
  }

  // Debounces adds, and then applies the minimum interval.
  void gather(std::size_t added, std::int32_t priority) {
    ReferenceKey& key = keys_[added];
    if (!key.event) key.give_up = later_by(now_, settings_.max_wait);
    if (priority > 0) key.give_up = std::min(*key.give_up, now_);
    key.event = std::min(later_by(now_, settings_.quiet), *key.give_up);
    hold_back(added, priority);
  }

  void hold_back(std::size_t added, std::int32_t priority) {
    ReferenceKey& key = keys_[added];
    Nanos due = std::min(key.event.value_or(never), key.timer.value_or(never));
    if (key.last_start) due = std::max(due, later_by(*key.last_start, settings_.min_interval));
    if (due <= now_) return make_ready(added, priority);
    wait_until(added, due, priority);
  }

  void make_ready(std::size_t added, std::int32_t priority) {
    ReferenceKey& key = keys_[added];
    if (!key.dirty) {
      key.priority = key.waiting ? std::max(key.priority, priority) : priority;
      key.waiting = false;
      return become_dirty(added, now_);
    }
    const bool raised = priority > key.priority;
    // Returns to its place, to be moved like any other key.
    if (key.aside && (raised || store_->moves_without_raise())) enqueue(added);
    if (raised) {
      key.priority = priority;
      key.label = label_of(priority);
    }
    if (key.queued) touch(added);
  }

  void wait_until(std::size_t added, Nanos due, std::int32_t priority) {
    ReferenceKey& key = keys_[added];
    key.priority = key.waiting ? std::max(key.priority, priority) : priority;
    if (!key.waiting || key.due != due) key.due_order = next_due_order_++;
    key.waiting = true;
    key.due = due;
  }

  void become_dirty(std::size_t added, Nanos since) {
    ReferenceKey& key = keys_[added];
    key.dirty = true;
    key.dirty_since = since;
    key.label = label_of(key.priority);
    ++adds_;
    key.place = next_place_++;
    if (!key.processing || settings_.readd == Readd::keep_place) enqueue(added);
  }

  void enqueue(std::size_t added) {
    ReferenceKey& key = keys_[added];
    key.queued = true;
    key.aside = false;
    key.level = store_->level_of(added, key.priority);
    store_->changed(keys_);
  }

  void touch(std::size_t queued) {
    const std::int64_t level = store_->level_of(queued, keys_[queued].priority);
    if (level == keys_[queued].level) return;
    keys_[queued].level = level;
    keys_[queued].place = next_place_++;
    store_->changed(keys_);
  }

  void start(std::size_t turn) {
    ReferenceKey& key = keys_[turn];
    key.queued = false;
    key.dirty = false;
    key.processing = true;
    queued_.push_back(now_ - key.dirty_since);
    key.held_since = now_;
    key.event = key.give_up = key.timer = std::nullopt;
    if (settings_.is_paced()) key.last_start = now_;
    store_->handed_out(keys_, turn);
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

  // Drops delays that are not over, but keys held back only by pacing become ready.
  void close(State state) {
    if (state <= state_) return;
    fire();
    state_ = state;
    while (const auto first = first_due()) {
      keys_[*first].waiting = false;
      const bool is_over = keys_[*first].timer && *keys_[*first].timer <= now_;
      if (keys_[*first].event || is_over) become_dirty(*first, keys_[*first].due);
    }
    if (state != State::closed) return;
    for (ReferenceKey& key : keys_) key.dirty = key.queued = key.aside = false;
    store_->changed(keys_);
  }

  // The first priorities have their own labels.
  std::size_t label_of(std::int32_t priority) {
    const auto found = std::find(labels_.begin(), labels_.end(), priority);
    if (found != labels_.end()) return static_cast<std::size_t>(found - labels_.begin());
    if (labels_.size() == most_labels) {
      has_rest_ = true;
      return most_labels;
    }
    labels_.push_back(priority);
    return labels_.size() - 1;
  }

  static constexpr std::size_t most_labels = 25;
  static constexpr const char* rest_label = "exceeded_cardinality_limit";

  const Settings settings_;
  ReferenceKeys keys_;
  std::unique_ptr<ReferenceStore> store_;
  ReferenceLimiter limiter_;
  State state_ = State::open;
  Nanos now_ = 0;
  std::uint64_t next_place_ = 0;
  std::uint64_t next_due_order_ = 0;

  std::uint64_t adds_ = 0;
  std::uint64_t retries_ = 0;
  std::vector<std::int32_t> labels_;
  bool has_rest_ = false;
  std::vector<Nanos> queued_;
  std::vector<Nanos> work_;
};

}  // namespace evenkeel::model
