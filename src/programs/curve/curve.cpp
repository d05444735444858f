// SPDX-License-Identifier: Apache-2.0
#include "programs/curve/curve.hpp"

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <stdexcept>
#include <utility>

#include <evenkeel/ratelimit/any_limiter.hpp>
#include <evenkeel/workqueue/fifo_store.hpp>
#include <evenkeel/workqueue/queue_core.hpp>

namespace evenkeel {
inline namespace v0 {
namespace curve {
namespace {

using Key = std::uint32_t;
using Queue = QueueCore<Key, FifoStore>;

// Limit at one moment; a bucket may be as large as that.
constexpr std::uint64_t most_requeues = 1'000'000;

void check(const StormOptions& options) {
  if (options.objects < 1) throw std::invalid_argument("need at least one object");
  if (options.seconds < 1) throw std::invalid_argument("need at least one second");
  if (options.workers < 1) throw std::invalid_argument("need at least one worker");
  if (options.run_time < Duration::zero())
    throw std::invalid_argument("need a run time that is not negative");
  if (options.newcomer &&
      (*options.newcomer < Duration::zero() || *options.newcomer >= std::chrono::seconds{options.seconds})) {
    throw std::invalid_argument("the newcomer has to fail within the seconds that are looked at");
  }
}

class Simulation {
 public:
  Simulation(AnyLimiter<Key> limiter, const StormOptions& options)
      : options_(options), limiter_(std::move(limiter)), end_(std::chrono::seconds{options.seconds}) {
    storm_.requeues.resize(options.seconds);
  }

  Storm run() {
    for (Key key = 0; key < options_.objects; ++key) queue_.add(key, hash(key), {}, now_);
    for (;;) {
      hand_out();
      const TimePoint next = next_time();
      ask_newcomer(next);
      if (next >= end_) return std::move(storm_);
      now_ = next;
      counting([this] { queue_.on_timeout(now_); });
      while (!running_.empty() && running_.front().ends <= now_) {
        fail(*running_.front().node);
        running_.pop_front();
      }
    }
  }

 private:
  struct Run {
    TimePoint ends;
    Queue::Node* node;
  };

  static std::size_t hash(Key key) { return std::hash<Key>{}(key); }

  void hand_out() {
    while (running_.size() < options_.workers) {
      Queue::Node* node = queue_.pop(now_);
      if (node == nullptr) return;
      if (options_.run_time == Duration::zero()) {
        fail(*node);
      } else {
        running_.push_back({deadline_after(now_, options_.run_time), node});
      }
    }
  }

  TimePoint next_time() const {
    TimePoint next = queue_.next_due().value_or(TimePoint::max());
    if (!running_.empty() && running_.front().ends < next) next = running_.front().ends;
    return next;
  }

  // Requires that all failures before the newcomer's are processed, and that nothing happens between now_ and
  // `next`.
  void ask_newcomer(TimePoint next) {
    if (!options_.newcomer || storm_.newcomer_waits || TimePoint{*options_.newcomer} >= next) return;
    const TimePoint at{*options_.newcomer};
    AnyLimiter<Key> asked = limiter_;  // the newcomer must not change the curve of the other objects
    storm_.newcomer_waits = asked.when(options_.objects, at);
  }

  void fail(Queue::Node& node) {
    const Key key = node.key();
    const TimePoint at = deadline_after(now_, limiter_.when(key, now_));
    counting([&] {
      queue_.add_at(key, hash(key), at, {}, now_);
      queue_.done(node, now_);
    });
  }

  // Counts the keys that become ready in `happen`.
  template <class Happen>
  void counting(const Happen& happen) {
    const std::size_t before = queue_.ready();
    happen();
    const std::size_t came_back = queue_.ready() - before;
    if (came_back == 0) return;
    storm_.requeues[static_cast<std::size_t>(now_.time_since_epoch() / std::chrono::seconds{1})] += came_back;
    this_moment_ = now_ == moment_ ? this_moment_ + came_back : came_back;
    moment_ = now_;
    if (this_moment_ > most_requeues + 10 * std::uint64_t{options_.objects}) {
      throw std::length_error(
          "more than a million requeues at one moment; give the runs a time with --run-time");
    }
  }

  const StormOptions options_;
  AnyLimiter<Key> limiter_;
  const TimePoint end_;
  Queue queue_;
  TimePoint now_{};
  std::deque<Run> running_;  // all take equally long, so the first to start ends first
  TimePoint moment_{};
  std::uint64_t this_moment_ = 0;  // requeues at moment_
  Storm storm_;
};

}  // namespace

Storm simulate(const LimiterText& limiter, const StormOptions& options) {
  check(options);
  return Simulation(limiter.limiter<Key>(), options).run();
}

}  // namespace curve
}  // namespace v0
}  // namespace evenkeel
