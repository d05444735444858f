// SPDX-License-Identifier: Apache-2.0
// Rate limiters decide when a failed object is retried: the default limiter and its two halves, a custom
// limiter, and one bucket shared by two controllers. In virtual time, so it ends at once and its output is
// always the same. Exits with 1 if a limiter does not do what it promises.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/duration_text.hpp>
#include <evenkeel/ratelimit/default_limiter.hpp>
#include <evenkeel/ratelimit/shared.hpp>
#include <evenkeel/ratelimit/with_max_delay.hpp>
#include <evenkeel/workqueue/work_queue.hpp>

namespace ek = evenkeel;
using namespace std::chrono_literals;

// A custom limiter for a service that counts requests by the minute: a rejected request is retried when the
// next minute begins. It has three members and works with any queue.
struct NextMinute {
  ek::Duration when(int, ek::TimePoint now) { return 1min - now.time_since_epoch() % 1min; }
  void forget(int) {}
  std::uint64_t retries(int) const { return 0; }
};

// A controller whose reconciles all fail at once.
class FailingController {
 public:
  FailingController(std::shared_ptr<ek::ManualClock> clock, ek::AnyLimiter<int> limiter, int objects)
      : queue_({.limiter = std::move(limiter), .clock = std::move(clock)}) {
    for (int object = 0; object < objects; ++object) queue_.add(object);
  }
  /// Reconciles all ready keys; returns their number.
  int reconcile() {
    int count = 0;
    for (auto left = queue_.size(); left > 0; --left, ++count)
      queue_.add_rate_limited(queue_.try_get()->key());
    return count;
  }
  /// Returns the delay of an object that fails now for the first time.
  ek::Duration first_failure_waits() { return queue_.add_rate_limited(-1); }

 private:
  ek::WorkQueue<int> queue_;
};

// Runs the controllers together; returns the number of reconciles of all of them in each second.
std::vector<int> reconciles_per_second(const std::vector<FailingController*>& controllers,
                                       ek::ManualClock& clock, int seconds) {
  std::vector<int> counts(static_cast<std::size_t>(seconds));
  for (int& count : counts) {
    for (ek::Duration step{}; step < 1s; step += 5ms) {
      for (FailingController* controller : controllers) count += controller->reconcile();
      clock.advance(5ms);
    }
  }
  return counts;
}

bool as_promised = true;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("  NOT AS PROMISED: %s\n", what);
  as_promised = false;
}

void print(const char* what, const std::vector<int>& counts, const std::string& remark = "") {
  std::printf("  %-33s", what);
  for (const int count : counts) std::printf("%7d", count);
  std::printf("%s\n", remark.c_str());
}

void one_object() {
  std::printf("One object that always fails, under the default, is tried at\n ");
  const auto clock = std::make_shared<ek::ManualClock>();
  FailingController controller(clock, ek::default_limiter<int>(), 1);
  ek::Duration next{}, delay = 5ms;
  for (; clock->now() < ek::TimePoint{30s}; clock->advance(5ms)) {
    if (controller.reconcile() == 0) continue;
    const ek::Duration now = clock->now().time_since_epoch();
    std::printf(" %s", ek::format_duration(now).c_str());
    expect(now == next, "each delay is twice the one before");
    next += std::exchange(delay, 2 * delay);
  }
  expect(next > 30s, "no attempt is left out");
  std::printf("\n\n");
}

void storm(const char* what, ek::AnyLimiter<int> limiter, const std::vector<int>& promised,
           ek::Duration newcomer) {
  const auto clock = std::make_shared<ek::ManualClock>();
  FailingController controller(clock, std::move(limiter), 10'000);
  const std::vector<int> counts = reconciles_per_second({&controller}, *clock, 6);
  const ek::Duration waits = controller.first_failure_waits();
  print(what, counts, "   a newcomer waits " + ek::format_duration(waits));
  expect(counts == promised && waits == newcomer, what);
}

void ten_thousand_objects() {
  std::printf("10,000 objects that always fail: reconciles in seconds 0 to 5\n");
  // All attempts of the ladder 5, 10, 20, ... ms: eight in the first second.
  storm("back-off of each object alone", ek::exponential(5ms, 1000s), {80'000, 10'000, 10'000, 0, 0, 10'000},
        5ms);
  // First attempts, a burst of 100, and 10 per second. A newcomer waits behind 10,000 others.
  const std::vector<int> bucket = {10'109, 10, 10, 10, 10, 10};
  storm("one bucket for all alone", ek::token_bucket(10, 100), bucket, 1000s);
  storm("the default, which is both", ek::default_limiter<int>(), bucket, 1000s);
  storm("the default, but a minute at most", ek::with_max_delay(ek::default_limiter<int>(), 1min), bucket,
        1min);
  std::printf("\n");
}

void own_limiter() {
  std::printf("A limiter of one's own: 100 objects are tried in seconds\n ");
  const auto clock = std::make_shared<ek::ManualClock>();
  FailingController controller(clock, NextMinute(), 100);
  const std::vector<int> counts = reconciles_per_second({&controller}, *clock, 200);
  for (std::size_t second = 0; second < counts.size(); ++second) {
    if (counts[second] > 0) std::printf(" %zu (%d)", second, counts[second]);
    expect(counts[second] == (second % 60 == 0 ? 100 : 0), "all attempts are at the begin of a minute");
  }
  std::printf("\n\n");
}

void two_controllers() {
  std::printf(
      "Two controllers that call one service, 100 failing objects each: reconciles of both together\n");
  const auto run = [](const char* what, const ek::AnyLimiter<int>& one, const ek::AnyLimiter<int>& other,
                      const std::vector<int>& promised) {
    const auto clock = std::make_shared<ek::ManualClock>();
    FailingController orders(clock, one, 100);
    FailingController invoices(clock, other, 100);
    const std::vector<int> counts = reconciles_per_second({&orders, &invoices}, *clock, 6);
    print(what, counts);
    expect(counts == promised, what);
  };
  run("a bucket of 5 per second for each", ek::token_bucket(5, 10), ek::token_bucket(5, 10),
      {228, 10, 10, 10, 10, 10});
  const auto bucket = ek::shared(ek::token_bucket(5, 10));
  run("one bucket shared by both", bucket, bucket, {214, 5, 5, 5, 5, 5});
}

int main() {
  one_object();
  ten_thousand_objects();
  own_limiter();
  two_controllers();
  return as_promised ? 0 : 1;
}
