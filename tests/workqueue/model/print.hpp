// SPDX-License-Identifier: Apache-2.0
// Prints a failed sequence as the body of a test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "check.hpp"
#include "reference_queue.hpp"
#include "settings.hpp"
#include "shrink.hpp"

namespace evenkeel::model {

/// Prints C++ code that replays a case, with the expectations of the reference. It compiles in a function
/// with `using namespace std::chrono_literals` if tests/workqueue/simulation.hpp and the headers of stores
/// and limiters are included.
class Printer {
 public:
  explicit Printer(const Case& printed)
      : case_(printed), settings_(printed.settings), reference_(settings_, slow_) {}

  std::string print() {
    declare();
    for (const Operation& operation : case_.sequence) write(operation);
    return text_;
  }

  /// Like print(), with the difference found at the end.
  std::string print(const Difference& difference) {
    print();
    const std::string of = difference.key ? " of " + text_of(*difference.key) : "";
    line("// " + difference.what + of +
         (difference.expected.empty()
              ? ""
              : ": the queue says " + difference.queue + ", the reference " + difference.expected));
    expect(difference);
    return text_;
  }

 private:
  void line(const std::string& text) { text_ += text + "\n"; }

  static std::string number(std::int64_t value) {
    if (value == std::numeric_limits<std::int64_t>::min()) return "std::numeric_limits<std::int64_t>::min()";
    return std::to_string(value);
  }
  static std::string time(Nanos value) {
    return value == never ? "Duration::max()" : std::to_string(value) + "ns";
  }
  static std::string level(std::int32_t value) {
    if (value == std::numeric_limits<std::int32_t>::min()) return "std::numeric_limits<std::int32_t>::min()";
    return std::to_string(value);
  }
  std::string key(std::size_t at) const {
    if (settings_.has_strings()) return "\"" + text_of(at) + "\"";
    return "table.intern(\"\", \"" + namespace_of(at) + "\", \"" + name_of(at) + "\")";
  }
  std::string key_type() const { return settings_.has_strings() ? "std::string" : "RequestKey"; }

  std::string store() const {
    const std::string share =
        settings_.slow_share == 0 ? "" : "{.slow_share = " + std::to_string(settings_.slow_share) + "}";
    switch (settings_.store) {
      case StoreKind::fifo:
        return "FifoStore()";
      case StoreKind::two_lane:
        return "TwoLaneStore(" + share + ")";
      case StoreKind::priority:
        return "PriorityStore()";
      case StoreKind::fair:
        return fair_store();
      case StoreKind::policy_lane:
        return "PolicyLaneStore<" + key_type() + ", decltype(policy)>(policy" +
               (share.empty() ? "" : ", " + share) + ")";
    }
    return "";
  }

  std::string fair_store() const {
    const auto each = [](const std::array<std::uint32_t, groups>& numbers) {
      std::string text;
      for (std::size_t i = 0; i < groups; ++i) {
        text += (i == 0 ? "" : ", ") + std::string("{\"") + namespace_of(i) + "\", " +
                std::to_string(numbers[i]) + "}";
      }
      return text;
    };
    return "FairStore<" + key_type() + ">(by_namespace(), {.weight_of = fixed_weights({" +
           each(settings_.fair.weights) + "}), .cap_of = [caps = std::map<std::string, std::uint32_t>{" +
           each(settings_.fair.caps) +
           "}](const std::string& group) { return caps.at(group); }, .live_first = " +
           (settings_.fair.live_first ? "true" : "false") + "})";
  }

  // Returns the options that differ from their defaults.
  std::string pacing() const {
    std::string text;
    if (settings_.quiet > 0) {
      text += ", .debounce = {.quiet = " + time(settings_.quiet) +
              ", .max_wait = " + time(settings_.max_wait) + "}";
    }
    if (settings_.min_interval > 0) text += ", .min_interval = " + time(settings_.min_interval);
    return text;
  }

  std::string limiter() const {
    const LimiterSettings& limiter = settings_.limiter;
    const std::string of_key = "exponential(" + time(limiter.base) + ", " + time(limiter.max) + ")";
    const std::string of_all = "token_bucket(" + number(limiter.tokens) + ", " + time(limiter.per) + ", " +
                               number(limiter.burst) + ")";
    if (limiter.kind == LimiterKind::exponential) return of_key;
    if (limiter.kind == LimiterKind::bucket) return of_all;
    return "max_of(" + of_key + ", " + of_all + ")";
  }

  void declare() {
    const std::string metered = settings_.metered ? ", .metered = true" : "";
    const std::string readd = settings_.readd == Readd::at_back ? "Readd::at_back" : "Readd::keep_place";
    const std::string type = key_type();
    if (!settings_.has_strings()) line("KeyTable table;");
    if (settings_.store == StoreKind::policy_lane) {
      line("std::set<" + type + "> slow;");
      line("const auto policy = [&](const " + type +
           "& key) { return slow.contains(key) ? Lane::slow : Lane::fast; };");
    }
    if (settings_.is_core()) {
      const std::string index = settings_.has_strings() ? "" : ", detail::InternedIndex";
      line("tests::Core<" + type + ", AnyStore<" + type + ">" + index + "> queue(" + store() + ", " +
           (needs_time_ ? "{.readd = " + readd + metered + pacing() + "}" : readd) + ");");
      return;
    }
    line("const auto clock = std::make_shared<ManualClock>();");
    const std::string queue =
        settings_.has_strings() ? "WorkQueue<std::string, AnyStore<std::string>>" : "RequestQueue";
    line(queue + " queue({" + (settings_.metered ? ".name = \"queue\", " : "") + ".store = " + store() +
         ", .limiter = " + limiter() + ", .readd = " + readd + ", .charge_waiting = " +
         (settings_.charge_waiting ? "true" : "false") + pacing() + ", .clock = clock});");
  }

  void write(const Operation& operation) {
    switch (operation.action) {
      case Action::add:
      case Action::add_unless_waiting:
      case Action::add_after:
      case Action::add_rate_limited:
        return settings_.is_core() ? core_add(operation) : shell_add(operation);
      case Action::forget:
        reference_.forget(operation.key);
        if (!settings_.is_core()) line("queue.forget(" + key(operation.key) + ");");
        return;
      case Action::advance:
        return advance(operation.time);
      case Action::get:
        return get();
      case Action::done:
        return done(operation.key);
      case Action::call_slow:
      case Action::call_fast:
        slow_[operation.key] = operation.action == Action::call_slow;
        line(std::string("slow.") + (slow_[operation.key] ? "insert(" : "erase(") + key(operation.key) +
             ");");
        return;
      case Action::shut_down:
      case Action::shut_down_now:
      case Action::drain:
        return shut_down(operation.action);
    }
  }

  void core_add(const Operation& operation) {
    if (reference_.state() != ReferenceQueue::State::open) return;
    const std::string named = key(operation.key);
    const std::string now = time(reference_.now());
    const std::string priority = level(operation.priority);
    if (operation.action == Action::add) {
      reference_.add(operation.key, operation.priority);
      return line("queue.add(" + named + ", " + priority + ", " + now + ");");
    }
    if (operation.action == Action::add_unless_waiting) {
      const bool added = reference_.add_unless_waiting(operation.key, operation.priority);
      return line(std::string(added ? "EXPECT_NE" : "EXPECT_EQ") + "(queue.add_unless_waiting(" + named +
                  ", " + priority + ", " + now + "), nullptr);");
    }
    Nanos delay = operation.time;
    if (operation.action == Action::add_rate_limited) {
      delay = reference_.add_rate_limited(operation.key, operation.priority);
    } else {
      reference_.add_after(operation.key, delay, operation.priority);
    }
    const bool at_end = delay > never - reference_.now();
    line("queue.add_at(" + named + ", " + (at_end ? "Duration::max()" : time(reference_.now() + delay)) +
         ", " + now + ", " + priority + ");");
  }

  void shell_add(const Operation& operation) {
    const std::string named = key(operation.key);
    const std::string priority = level(operation.priority);
    switch (operation.action) {
      case Action::add:
        reference_.add(operation.key, operation.priority);
        return line("queue.add(" + named + ", " + priority + ");");
      case Action::add_unless_waiting: {
        const bool added = reference_.add_unless_waiting(operation.key, operation.priority);
        return line(std::string(added ? "EXPECT_TRUE" : "EXPECT_FALSE") + "(queue.add_unless_waiting(" +
                    named + ", " + priority + "));");
      }
      case Action::add_after:
        reference_.add_after(operation.key, operation.time, operation.priority);
        return line("queue.add_after(" + named + ", " + time(operation.time) + ", " + priority + ");");
      default: {
        const Nanos delay = reference_.add_rate_limited(operation.key, operation.priority);
        return line("EXPECT_EQ(queue.add_rate_limited(" + named + ", " + priority + "), " + time(delay) +
                    ");");
      }
    }
  }

  void advance(Nanos by) {
    if (by > never - reference_.now()) return;
    reference_.advance(by);
    if (settings_.is_core()) return;  // time is an argument of each call
    reference_.fire();
    line("clock->advance(" + time(by) + ");");
    line("EXPECT_EQ(queue.size(), " + number(observed().ready) + "U);");
  }

  void get() {
    const std::string pop = "queue.pop(" + now_if_needed() + ")";
    const std::string call = settings_.is_core() ? pop + ";" : "queue.try_get();";
    if (settings_.is_core() && observed().waiting > 0)
      line("queue.on_timeout(" + time(reference_.now()) + ");");
    const auto handed = reference_.get();
    if (!handed) {
      return line(settings_.is_core() ? "EXPECT_EQ(" + pop + ", nullptr);"
                                      : "EXPECT_FALSE(queue.try_get());");
    }
    const std::string name = "run" + std::to_string(++runs_);
    held_[handed->key] = name;
    line("auto" + std::string(settings_.is_core() ? "*" : "") + " " + name + " = " + call);
    line("ASSERT_TRUE(" + name + ");");
    line("EXPECT_EQ(" + name + "->key(), " + key(handed->key) + ");");
    line("EXPECT_EQ(" + name + "->priority()" + (settings_.is_core() ? "" : ".value") + ", " +
         level(handed->priority) + ");");
  }

  void done(std::size_t key) {
    if (!reference_.is_held(key)) return;
    reference_.done(key);
    line(settings_.is_core() ? "queue.done(" + held_[key] + (needs_time_ ? ", " + now_if_needed() : "") + ");"
                             : held_[key] + "->done();");
  }

  std::string now_if_needed() const { return needs_time_ ? time(reference_.now()) : ""; }

  void shut_down(Action action) {
    const bool again = reference_.state() == ReferenceQueue::State::closed;
    if (action == Action::shut_down_now) {
      reference_.shut_down_now();
      if (settings_.is_core())
        return again ? void()
                     : line("queue->discard_waiting(TimePoint{" + time(reference_.now()) +
                            "});\nqueue->discard();");
      return line("queue.shut_down_now();");
    }
    reference_.shut_down();
    if (settings_.is_core())
      return line("queue->discard_waiting(TimePoint{" + time(reference_.now()) + "});");
    if (action == Action::shut_down) return line("queue.shut_down();");
    line("{");
    line("  std::stop_source stop;");
    line("  stop.request_stop();");
    line("  EXPECT_EQ(queue.shut_down_with_drain(stop.get_token()), " +
         std::string(reference_.is_drained() ? "true" : "false") + ");");
    line("}");
  }

  // Prints the expectation that failed, if it can be expressed in one line.
  void expect(const Difference& difference) {
    const std::string of = settings_.is_core() ? "queue->" : "queue.";
    const std::string& what = difference.what;
    if (what == "ready") {
      line("EXPECT_EQ(" + of + (settings_.is_core() ? "ready" : "size") + "(), " + difference.expected +
           "U);");
    } else if (what == "dirty" || what == "processing" || what == "waiting") {
      line("EXPECT_EQ(" + of + what + "(), " + difference.expected + "U);");
    } else if (what == "known") {
      line("EXPECT_EQ(queue->size(), " + difference.expected + "U);");
    } else if (what == "retries" && !settings_.is_core()) {
      line("EXPECT_EQ(queue.retries(" + key(*difference.key) + "), " + difference.expected + "U);");
    } else if (what.starts_with("is_") && difference.key && settings_.is_core()) {
      line("EXPECT_EQ(queue." + what + "(" + key(*difference.key) + "), " +
           (difference.expected == "0" ? "false" : "true") + ");");
    }
  }

  Observation observed() const {
    Observation seen;
    reference_.observe(seen);
    return seen;
  }

  const Case& case_;
  const Settings& settings_;
  const bool needs_time_ = settings_.metered || settings_.is_paced();
  SlowKeys slow_{};
  ReferenceQueue reference_;
  std::string text_;
  std::map<std::size_t, std::string> held_;
  std::size_t runs_ = 0;
};

}  // namespace evenkeel::model
