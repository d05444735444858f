// SPDX-License-Identifier: Apache-2.0
// Many calls of a client at once, for the load generators: in flight, or at a rate.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include <evenkeel/client/client.hpp>

#include "program.hpp"

namespace evenkeel::benchmarks {

inline constexpr std::chrono::seconds longest_wait{120};

/// Counts started and ended calls; the first failure ends the program.
class InFlight {
 public:
  /// Waits until fewer than `limit` calls are in flight, then counts one more.
  void begin(std::size_t limit) {
    std::unique_lock lock(mutex_);
    wait(lock, [&] { return count_ < limit; });
    ++count_;
  }
  void end(const std::string& problem, std::int64_t begun) {
    const std::lock_guard lock(mutex_);
    --count_;
    if (problem_.empty()) problem_ = problem;
    ended_.push_back({begun, now()});
    changed_.notify_all();
  }
  struct Ended {
    std::int64_t begun = 0;
    std::int64_t at = 0;
  };
  /// Returns the results in the order in which calls ended.
  std::vector<Ended> wait_for_all() {
    std::unique_lock lock(mutex_);
    wait(lock, [&] { return count_ == 0; });
    return ended_;
  }

 private:
  template <class Condition>
  void wait(std::unique_lock<std::mutex>& lock, Condition condition) {
    if (!changed_.wait_for(lock, longest_wait, [&] { return condition() || !problem_.empty(); }))
      throw std::runtime_error("no answer in two minutes");
    if (!problem_.empty()) throw std::runtime_error(problem_);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t count_ = 0;
  std::string problem_;
  std::vector<Ended> ended_;
};

/// Returns the completion of a call that was begun at this time.
template <class T>
Completion<T> ending(InFlight& in_flight, std::int64_t begun) {
  return [&in_flight, begun](Outcome<T> outcome) {
    std::string problem;
    try {
      outcome.value();
    } catch (const std::exception& error) {
      problem = error.what();
    }
    in_flight.end(problem, begun);
  };
}

/// Calls `start(at, sent)` for each at in [0, count), `rate` per second, each of which starts a call. Returns
/// the maximum delay behind the schedule in nanoseconds.
template <class Start>
std::int64_t at_rate(InFlight& in_flight, std::int64_t count, std::int64_t rate, Start start) {
  const std::int64_t begun = now() + 1'000'000;
  std::int64_t late = 0;
  for (std::int64_t at = 0; at < count; ++at) {
    const std::int64_t due = begun + at * 1'000'000'000 / rate;
    sleep_until(due);
    in_flight.begin(SIZE_MAX);
    const std::int64_t sent = now();
    late = std::max(late, sent - due);
    start(at, sent);
  }
  return late;
}

}  // namespace evenkeel::benchmarks
