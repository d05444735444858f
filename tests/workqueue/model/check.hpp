// SPDX-License-Identifier: Apache-2.0
// Runs a queue and the reference side by side and reports differences.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "operations.hpp"
#include "reference_queue.hpp"
#include "settings.hpp"
#include "subject.hpp"

namespace evenkeel::model {

/// A difference between a queue and the reference.
struct Difference {
  std::string what = {};   ///< For example "ready".
  std::string queue = {};  ///< Value of the queue; empty for a broken promise.
  std::string expected = {};
  std::optional<std::size_t> key = std::nullopt;
};

inline std::string text_of(std::int64_t number) {
  if (number == Observation::none) return "none";
  return std::to_string(number);
}
inline std::string text_of(const std::vector<std::size_t>& keys) {
  std::string text;
  for (const std::size_t key : keys) text += (text.empty() ? "" : " ") + text_of(key);
  return text;
}
inline std::string text_of(const std::vector<std::pair<std::string, std::size_t>>& depths) {
  std::string text;
  for (const auto& [label, depth] : depths) text += label + ":" + std::to_string(depth) + " ";
  return text;
}
inline std::string text_of(const std::optional<Handed>& handed) {
  if (!handed) return "nothing";
  return text_of(handed->key) + " with priority " + std::to_string(handed->priority);
}

/// Invariants that hold in any order, kept apart from the reference, so that a bug in one of them does not
/// hide in the other. docs/model-check.md names them: 'one holder', 'no lost add', 'no idle run'.
class Promises {
 public:
  void added(std::size_t key) { ++of_[key].adds; }
  /// Records an add that only shut_down_now can undo.
  void added_for_good(std::size_t key) { of_[key].owed = ++of_[key].adds; }

  std::optional<std::string> handed_out(std::size_t key) {
    OfKey& at = of_[key];
    if (at.held) return "handed out while it is held";
    if (at.adds == at.seen) return "handed out again without an add";
    at.held = true;
    at.seen = at.adds;
    return std::nullopt;
  }
  void done(std::size_t key) { of_[key].held = false; }
  bool is_held(std::size_t key) const { return of_[key].held; }
  bool is_owed(std::size_t key) const { return of_[key].owed > of_[key].seen; }

 private:
  struct OfKey {
    std::uint64_t adds = 0;
    std::uint64_t seen = 0;  // `adds` when it was handed out last
    std::uint64_t owed = 0;  // the run of this add must come
    bool held = false;
  };
  std::array<OfKey, max_keys> of_{};
};

/// Runs one sequence on one queue.
class Check {
 public:
  Check(const Settings& settings, const MakeSubject& make)
      : settings_(settings), reference_(settings, slow_), subject_(make(settings, slow_)) {}

  const ReferenceQueue& reference() const { return reference_; }
  /// The operations so far, including those of finish().
  const Sequence& done_so_far() const { return sequence_; }

  /// Applies an operation to both; returns the first difference afterwards, if any.
  std::optional<Difference> step(const Operation& operation) {
    sequence_.push_back(operation);
    try {
      apply(operation);
      if (!difference_) compare();
      if (!difference_ && sequence_.size() % between_wholes == 0) compare_the_whole();
    } catch (const std::exception& error) {
      note("exception", error.what(), "none");
    }
    return difference_;
  }

  /// Runs a whole sequence and finish().
  std::optional<Difference> all(const Sequence& sequence) {
    for (const Operation& operation : sequence) {
      if (auto difference = step(operation)) return difference;
    }
    return finish();
  }

  /// Finishes all remaining work: what was added runs, and nothing remains.
  std::optional<Difference> finish() {
    run_all();
    if (!difference_) step({.action = Action::advance, .time = never / 4});
    run_all();
    for (std::size_t key = 0; key < settings_.keys && !difference_; ++key) {  // delays without an end
      if (reference_.is_waiting(key)) step({.action = Action::add, .key = key});
    }
    if (!difference_) step({.action = Action::advance, .time = settings_.max_wait});
    run_all();
    if (!difference_) step({.action = Action::advance, .time = settings_.min_interval});
    if (!difference_) step({.action = Action::get});
    if (!difference_) check_end();
    return difference_;
  }

 private:
  static constexpr std::size_t between_wholes = 8;  // number of operations

  void note(std::string what, std::string queue, std::string expected,
            std::optional<std::size_t> key = std::nullopt) {
    if (difference_) return;
    difference_ = Difference{std::move(what), std::move(queue), std::move(expected), key};
  }

  template <class T>
  void same(const char* what, const T& queue, const T& expected, std::optional<std::size_t> key = {}) {
    if (!(queue == expected)) note(what, text_of(queue), text_of(expected), key);
  }
  void same(const char* what, std::int64_t queue, std::int64_t expected,
            std::optional<std::size_t> key = {}) {
    if (queue != expected && queue != Observation::unknown) {
      note(what, text_of(queue), text_of(expected), key);
    }
  }

  // Ends the held keys and those handed out next; no further ready keys are handed out.
  void run_all() {
    for (std::size_t i = 0; i <= settings_.keys && !difference_; ++i) {
      for (std::size_t key = 0; key < settings_.keys && !difference_; ++key) {
        if (promises_.is_held(key)) step({.action = Action::done, .key = key});
      }
      if (!difference_) step({.action = Action::get});
    }
  }

  void apply(const Operation& operation) {
    const std::size_t key = operation.key;
    switch (operation.action) {
      case Action::add:
      case Action::add_unless_waiting:
      case Action::add_after:
      case Action::add_rate_limited:
        return add(operation);
      case Action::forget:
        subject_->forget(key);
        return reference_.forget(key);
      case Action::advance:
        return advance(operation.time);
      case Action::get:
        return get();
      case Action::done:
        return done(key);
      case Action::call_slow:
      case Action::call_fast:
        slow_[key] = operation.action == Action::call_slow;
        return;
      case Action::shut_down:
        subject_->shut_down(Form::shut_down);
        return reference_.shut_down();
      case Action::shut_down_now:
        subject_->shut_down(Form::shut_down_now);
        return reference_.shut_down_now();
      case Action::drain: {
        const bool drained = subject_->shut_down(Form::drain);
        reference_.shut_down();
        return same("shut_down_with_drain", std::int64_t{drained}, std::int64_t{reference_.is_drained()});
      }
    }
  }

  void add(const Operation& operation) {
    const std::size_t key = operation.key;
    const std::int32_t priority = operation.priority;
    const bool open = reference_.state() == ReferenceQueue::State::open;
    bool now = open;
    if (operation.action == Action::add) {
      subject_->add(key, priority);
      reference_.add(key, priority);
    } else if (operation.action == Action::add_unless_waiting) {
      const bool added = subject_->add_unless_waiting(key, priority);
      now = reference_.add_unless_waiting(key, priority);
      same("add_unless_waiting", std::int64_t{added}, std::int64_t{now}, key);
    } else if (operation.action == Action::add_after) {
      subject_->add_after(key, operation.time, priority);
      reference_.add_after(key, operation.time, priority);
      now = now && operation.time <= 0;
    } else {
      const Nanos delay = subject_->add_rate_limited(key, priority);
      const Nanos expected = reference_.add_rate_limited(key, priority);
      same("add_rate_limited", delay, expected, key);
      now = false;
    }
    if (now) {
      promises_.added_for_good(key);
    } else if (open) {
      promises_.added(key);
    }
  }

  // Advances only as far as both clocks can represent.
  void advance(Nanos by) {
    if (by > never - reference_.now()) return;
    subject_->advance(by);
    reference_.advance(by);
    if (!settings_.is_core()) reference_.fire();
  }

  void get() {
    const auto handed = subject_->get();
    const auto expected = reference_.get();
    same("get", handed, expected);
    if (!handed || difference_) return;
    if (const auto broken = promises_.handed_out(handed->key)) note(*broken, "", "", handed->key);
  }

  void done(std::size_t key) {
    if (!promises_.is_held(key)) return;
    subject_->done(key);
    reference_.done(key);
    promises_.done(key);
  }

  void compare() {
    Observation& expected = expected_;
    Observation& seen = seen_;
    subject_->observe(seen);
    reference_.observe(expected);
    same("ready", seen.ready, expected.ready);
    same("dirty", seen.dirty, expected.dirty);
    same("processing", seen.processing, expected.processing);
    same("waiting", seen.waiting, expected.waiting);
    same("known", seen.known, expected.known);
    same("next_due", seen.next_due, expected.next_due);
    same("is_shutting_down", seen.shutting_down, expected.shutting_down);
    for (std::size_t key = 0; key < settings_.keys; ++key) {
      const Observation::OfKey& of = seen.keys[key];
      const Observation::OfKey& should = expected.keys[key];
      same("is_dirty", of.dirty, should.dirty, key);
      same("is_processing", of.processing, should.processing, key);
      same("is_waiting", of.waiting, should.waiting, key);
      same("retries", of.retries, should.retries, key);
      if (of.priority != Observation::unknown_priority) {
        same("priority", of.priority, should.priority, key);
      }
      same("next_attempt", of.next_attempt, should.next_attempt, key);
    }
  }

  // Comparisons that cost more than all others together.
  void compare_the_whole() {
    if (settings_.has_levels()) same("turns", subject_->turns(), reference_.turns());
    const auto metrics = subject_->metrics();
    if (metrics.has_value() != settings_.metered) return note("metrics", "", "");
    if (!metrics) return;
    const Figures figures = reference_.figures();
    same("adds_total", number(metrics->adds_total), number(figures.adds));
    same("retries_total", number(metrics->retries_total), number(figures.retries));
    std::vector<std::pair<std::string, std::size_t>> depth;
    for (const LabelledDepth& at : metrics->depth) depth.emplace_back(at.label, at.depth);
    same("depth", depth, figures.depth);
    same("queue_duration", metrics->queue_duration, figures.queued);
    same("work_duration", metrics->work_duration, figures.worked);
    same("unfinished_work", metrics->unfinished_work_seconds, figures.unfinished);
    same("longest_running", metrics->longest_running_processor_seconds, figures.longest);
  }

  void same(const char* what, double seconds, Nanos expected) {
    const double difference = seconds - static_cast<double>(expected) * 1e-9;
    if (difference > 1e-15 + seconds * 1e-9 || difference < -1e-15 - seconds * 1e-9) {
      note(what, std::to_string(seconds) + " s", text_of(expected) + " ns");
    }
  }
  void same(const char* what, const DurationHistogram& seen, const std::vector<Nanos>& expected) {
    DurationHistogram histogram;
    double sum = 0;
    for (const Nanos duration : expected) {
      std::size_t bucket = 0;
      for (Wide bound = 10; bucket < DurationHistogram::bounds.size() && duration > bound; bound *= 10) {
        ++bucket;
      }
      ++histogram.counts[bucket];
      if (duration > 0) sum += static_cast<double>(duration);
    }
    if (seen.counts != histogram.counts) note(what, "other buckets", "");
    if (std::abs(seen.sum_seconds - sum * 1e-9) > 1e-15 + sum * 1e-18) note(what, "another sum", "");
  }

  void check_end() {
    if (subject_->get()) note("something is handed out after all keys were", "", "");
    const bool dropped = reference_.state() == ReferenceQueue::State::closed;
    for (std::size_t key = 0; key < settings_.keys && !dropped; ++key) {
      if (promises_.is_owed(key)) note("an add was never followed by a run", "", "", key);
    }
    compare_the_whole();
    same("keys in memory", static_cast<std::int64_t>(subject_->keys_in_memory()), std::int64_t{0});
  }

  const Settings settings_;
  SlowKeys slow_{};
  ReferenceQueue reference_;
  std::unique_ptr<Subject> subject_;
  Promises promises_;
  Observation seen_;
  Observation expected_;
  std::optional<Difference> difference_;
  Sequence sequence_;
};

/// Runs a sequence to its end; returns the first difference, if there is one.
inline std::optional<Difference> check(const Settings& settings, const Sequence& sequence,
                                       const MakeSubject& make = make_subject) {
  return Check(settings, make).all(sequence);
}

}  // namespace evenkeel::model
