// SPDX-License-Identifier: Apache-2.0
// A per-key back-off that expires on its own, for pulls, dials and other attempts whose success is not
// reported.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string_view>  // brings std::hash
#include <utility>
#include <vector>

#include <evenkeel/base/hash_table.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/ratelimit/detail/spread.hpp>

namespace evenkeel {
inline namespace v0 {

struct BackoffOptions {
  Duration base_delay = std::chrono::seconds{1};  ///< Delay after the first failure; > 0.
  Duration max_delay = std::chrono::minutes{5};   ///< Ceiling; >= base_delay.
  double jitter = 0;                              ///< Adds up to this multiple of the delay; 0 to 1000.
  std::uint64_t seed = 0;                         ///< Seed of the jitter.
  Duration forget_after = Duration::zero();       ///< A key that has not failed for longer starts over; zero:
                                                  ///< twice max_delay.
};

/// Delay of a key after a failure: base_delay at first, then twice the previous delay, at most max_delay.
/// Jitter is added each time and is therefore doubled along with the delay. A key that has not failed for
/// longer than forget_after starts over and is eventually dropped from memory, so as a limiter it needs no
/// forget().
/// Thread safety: one thread at a time. Complexity: constant on average; expired keys are removed whenever
/// the number of keys has doubled.
/// Source: client-go util/flowcontrol Backoff, whose caller collects garbage and chooses the clock for each
/// call; unlike there, bad options are refused and a delay with jitter stays below the ceiling.
template <class Key>
class Backoff {
 public:
  /// Throws std::invalid_argument if `options` break their bounds.
  explicit Backoff(BackoffOptions options = {}) : options_(options), spread_(options.jitter, options.seed) {
    if (options.base_delay <= Duration::zero() || options.max_delay < options.base_delay) {
      throw std::invalid_argument("backoff: need 0 < base_delay <= max_delay");
    }
    if (!detail::Spread::takes(options.jitter)) {
      throw std::invalid_argument("backoff: need 0 <= jitter <= 1000");
    }
    if (options.forget_after < Duration::zero()) {
      throw std::invalid_argument("backoff: need forget_after >= 0");
    }
    if (options_.forget_after == Duration::zero()) {
      options_.forget_after = detail::sum_of(options.max_delay, options.max_delay);
    }
  }
  Backoff(const Backoff& other) : Backoff(other.options_) {
    spread_ = other.spread_;
    other.entries_.for_each([this](const Entry& entry) { insert(entry, entry.table_hash()); });
  }
  Backoff(Backoff&& other) noexcept
      : options_(other.options_),
        spread_(other.spread_),
        entries_(std::exchange(other.entries_, {})),
        sweep_at_(other.sweep_at_) {}
  Backoff& operator=(Backoff other) noexcept {
    std::swap(options_, other.options_);
    std::swap(spread_, other.spread_);
    std::swap(entries_, other.entries_);
    std::swap(sweep_at_, other.sweep_at_);
    return *this;
  }
  ~Backoff() {
    entries_.clear([](Entry& entry) { delete &entry; });
  }

  /// Records a failure of `key` and returns the delay before its next attempt.
  Duration when(const Key& key, TimePoint now) {
    const std::size_t hash = std::hash<Key>{}(key);
    Entry* entry = find(key, hash);
    if (entry == nullptr) {
      if (entries_.size() >= sweep_at_) sweep(now);
      entry = &insert(Entry(key), hash);
    } else if (has_expired(*entry, now)) {
      entry->delay = Duration::zero();
      entry->failures = 0;
    }
    const Duration last = entry->delay;
    const Duration plain = last == Duration::zero() ? options_.base_delay : detail::sum_of(last, last);
    const Duration spread_over = last == Duration::zero() ? options_.base_delay : last;
    const Duration delay = detail::sum_of(plain, spread_.part_of(spread_over, now));
    entry->delay = delay < options_.max_delay ? delay : options_.max_delay;
    entry->failed_at = now;
    ++entry->failures;
    return entry->delay;
  }

  /// Drops the state of `key`: its next delay is base_delay again.
  void forget(const Key& key) noexcept {
    if (Entry* entry = find(key, std::hash<Key>{}(key))) drop(*entry);
  }

  /// Returns the failures of `key` since it was forgotten or started over; 0 if unknown.
  std::uint64_t retries(const Key& key) const {
    const Entry* entry = find(key, std::hash<Key>{}(key));
    return entry == nullptr ? 0 : entry->failures;
  }

  /// Returns the delay after the last failure of `key`; zero if unknown.
  Duration delay(const Key& key) const {
    const Entry* entry = find(key, std::hash<Key>{}(key));
    return entry == nullptr ? Duration::zero() : entry->delay;
  }

  /// Returns true if the delay after the last failure of `key` is not over at `now`.
  bool is_waiting(const Key& key, TimePoint now) const {
    const Entry* entry = find(key, std::hash<Key>{}(key));
    return entry != nullptr && waits(*entry, entry->failed_at, now);
  }

  /// Like is_waiting(key, now), but counts the delay from `since`: for example from the end of the container
  /// instead of from the time at which it was noticed.
  bool is_waiting(const Key& key, TimePoint since, TimePoint now) const {
    const Entry* entry = find(key, std::hash<Key>{}(key));
    return entry != nullptr && !has_expired(*entry, since) && waits(*entry, since, now);
  }

  /// Drops all keys that have not failed for longer than forget_after. Complexity: linear in size().
  void sweep(TimePoint now) {
    std::vector<Entry*> expired;
    entries_.for_each([&](Entry& entry) {
      if (has_expired(entry, now)) expired.push_back(&entry);
    });
    for (Entry* entry : expired) drop(*entry);
    sweep_at_ = entries_.size() < least_swept ? least_swept : entries_.size() * 2;
  }

  /// Number of keys that are remembered.
  std::size_t size() const { return entries_.size(); }

 private:
  static constexpr std::size_t least_swept = 64;

  struct Entry : TableLink<Entry> {
    explicit Entry(const Key& its_key) : key(its_key) {}
    Key key;
    Duration delay = Duration::zero();
    TimePoint failed_at = {};
    std::uint64_t failures = 0;
  };

  bool has_expired(const Entry& entry, TimePoint at) const {
    return at > deadline_after(entry.failed_at, options_.forget_after);
  }
  static bool waits(const Entry& entry, TimePoint since, TimePoint now) {
    return now < deadline_after(since, entry.delay);
  }

  Entry* find(const Key& key, std::size_t hash) const {
    return entries_.find(hash, [&](const Entry& entry) { return entry.key == key; });
  }

  Entry& insert(const Entry& like, std::size_t hash) {
    Entry* entry = new Entry(like);
    try {
      entries_.insert(*entry, hash);
    } catch (...) {
      delete entry;
      throw;
    }
    return *entry;
  }

  void drop(Entry& entry) noexcept {
    entries_.erase(entry);
    delete &entry;
  }

  BackoffOptions options_;
  detail::Spread spread_;
  HashTable<Entry> entries_;
  std::size_t sweep_at_ = least_swept;
};

}  // namespace v0
}  // namespace evenkeel
