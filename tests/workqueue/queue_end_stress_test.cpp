// SPDX-License-Identifier: Apache-2.0
// Many threads on one queue that is shut down at a random moment, and adds that take no lock. Also run under
// the sanitizers.
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/ratelimit/exponential.hpp>
#include <evenkeel/workqueue/fair_store.hpp>
#include <evenkeel/workqueue/fifo_store.hpp>
#include <evenkeel/workqueue/priority_store.hpp>
#include <evenkeel/workqueue/request_queue.hpp>
#include <evenkeel/workqueue/two_lane_store.hpp>
#include <evenkeel/workqueue/work_queue.hpp>

namespace evenkeel {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t keys = 24;

struct Strings {
  using Key = std::string;
  using Queue = WorkQueue<std::string, AnyStore<std::string>>;
  static std::string key(std::size_t number) {
    return std::string(1, static_cast<char>('a' + number % 3)) + "/" + std::to_string(number);
  }
  static std::size_t number(const std::string& key) { return std::stoul(key.substr(2)); }
};

struct Requests {
  using Key = RequestKey;
  using Queue = RequestQueue;
  RequestKey key(std::size_t number) {
    return table.intern("", std::string(1, static_cast<char>('a' + number % 3)), std::to_string(number));
  }
  static std::size_t number(const RequestKey& key) { return std::stoul(std::string(key.name())); }
  KeyTable table;
};

constexpr std::array<const char*, 5> stores{"fifo", "two lanes", "policy", "priority", "fair"};

template <class Key>
AnyStore<Key> store_named(const std::string& name) {
  if (name == "fifo") return FifoStore();
  if (name == "two lanes") return TwoLaneStore({.slow_share = 3});
  if (name == "priority") return PriorityStore();
  if (name == "fair") return FairStore<Key>(by_namespace(), {.weight_of = {}, .cap = 2, .cap_of = {}});
  std::uint32_t asked = 0;  // moves keys all the time
  auto policy = [asked](const Key&) mutable { return ++asked % 3 == 0 ? Lane::slow : Lane::fast; };
  return PolicyLaneStore<Key, decltype(policy)>(policy);
}

enum class Form { shut_down, shut_down_now, drain };

/// One queue from its first add to its end.
template <class Names>
class Life {
 public:
  Life(const std::string& store, Form form, unsigned seed)
      : form_(form),
        seed_(seed),
        queue_({.name = "queue",
                .store = store_named<typename Names::Key>(store),
                .limiter = exponential(10us, 1ms),
                .readd = seed % 2 == 0 ? Readd::at_back : Readd::keep_place,
                .charge_waiting = seed % 3 != 0,
                .debounce = {.quiet = seed % 4 == 1 ? 50us : 0us, .max_wait = 200us},
                .min_interval = seed % 4 == 2 ? 100us : 0us,
                .clock = clock_}) {}

  void run() {
    std::vector<std::jthread> workers;
    for (unsigned i = 0; i < 4; ++i) workers.emplace_back([this, i] { work(i); });
    std::jthread time([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        clock_->advance(20us);
        std::this_thread::yield();
      }
    });
    std::jthread reader([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) look();
    });
    std::vector<std::jthread> producers;
    for (unsigned i = 0; i < 3; ++i) producers.emplace_back([this, i] { produce(i); });
    while (handed_out_ < 50 + seed_ % 200) std::this_thread::yield();
    end();
    producers.clear();
    workers.clear();
    check();
  }

 private:
  void produce(unsigned thread) {
    std::mt19937 random(seed_ * 7 + thread);
    while (!queue_.is_shutting_down()) {
      const std::size_t number = random() % keys;
      const auto key = names_.key(number);
      const std::int32_t priority = static_cast<std::int32_t>(random() % 5) - 2;
      const int version = ++versions_[number];
      bool added = true;
      switch (random() % 6) {
        case 0:
          queue_.add_after(key, std::chrono::microseconds{random() % 100}, priority);
          added = false;  // it may still wait
          break;
        case 1:
          queue_.add_rate_limited(key, priority);
          added = false;
          break;
        case 2:
          added = queue_.add_unless_waiting(key, priority);
          break;
        case 3:
          queue_.forget(key);
          queue_.add(key, priority);
          break;
        default:
          queue_.add(key, priority);
      }
      // If the queue is open now, it was open at the add.
      if (added && !queue_.is_shutting_down()) raise(owed_[number], version);
    }
  }

  // Half of the workers leave when they are stopped. The others stay until everything is done, and not only
  // until get() returns nothing: a held key may have to run once more, and its holder may be one of those
  // that leave.
  void work(unsigned thread) {
    if (thread % 2 == 0) return run_keys(stop_.get_token());
    do {
      run_keys({});
      std::this_thread::yield();
    } while (queue_.counts() != QueueCounts());
  }

  void run_keys(const std::stop_token& stop) {
    while (auto claim = queue_.get(stop)) {
      const std::size_t number = Names::number(claim->key());
      EXPECT_EQ(++holders_[number], 1);
      ++handed_out_;
      raise(seen_[number], versions_[number].load());
      if (handed_out_ % 3 == 0) std::this_thread::yield();
      --holders_[number];
    }
  }

  void look() {
    std::set<std::size_t> found;
    for (const auto& info : queue_.inspect_all({.slice = 4})) {
      EXPECT_TRUE(found.insert(Names::number(info.key)).second) << "told twice";
      EXPECT_NE(info.state, KeyState::absent);
    }
    const QueueCounts counts = queue_.counts();
    EXPECT_LE(counts.ready, counts.dirty);
    EXPECT_LE(counts.dirty, counts.ready + counts.processing);
    const auto metrics = queue_.metrics();
    ASSERT_FALSE(metrics.name.empty());
    EXPECT_LE(metrics.work_duration.count(), metrics.queue_duration.count());
    EXPECT_LE(metrics.queue_duration.count(), metrics.adds_total);
    static_cast<void>(queue_.inspect(names_.key(0)));
    std::this_thread::yield();
  }

  // Two threads at once, sometimes in different forms; and one with a short timeout.
  void end() {
    const auto in_form = [this](Form form) {
      if (form == Form::shut_down) queue_.shut_down();
      if (form == Form::shut_down_now) queue_.shut_down_now();
      if (form == Form::drain) {
        const bool drained = queue_.shut_down_with_drain();
        if (form_ == Form::drain) {
          EXPECT_TRUE(drained);
        }
      }
    };
    const std::jthread impatient([this] { stop_.request_stop(); });
    const std::jthread other([&, this] { in_form(form_ == Form::shut_down ? Form::drain : form_); });
    in_form(form_);
  }

  void check() {
    for (std::size_t i = 0; i < keys && form_ != Form::shut_down_now; ++i) {
      EXPECT_GE(seen_[i], owed_[i]) << i;
    }
    EXPECT_EQ(queue_.counts(), QueueCounts());
    EXPECT_TRUE(queue_.inspect_all().empty());
    const auto metrics = queue_.metrics();
    ASSERT_FALSE(metrics.name.empty());
    EXPECT_EQ(metrics.queue_duration.count(), handed_out_);
    EXPECT_EQ(metrics.work_duration.count(), handed_out_);
    if (form_ != Form::shut_down_now) {
      EXPECT_EQ(metrics.adds_total, handed_out_);
    }
    for (const LabelledDepth& at : metrics.depth) EXPECT_EQ(at.depth, 0U) << at.label;
  }

  static void raise(std::atomic<int>& to, int version) {
    int now = to;
    while (now < version && !to.compare_exchange_weak(now, version)) continue;
  }

  const Form form_;
  const unsigned seed_;
  Names names_;
  const std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
  typename Names::Queue queue_;
  std::stop_source stop_;
  std::array<std::atomic<int>, keys> versions_{};
  std::array<std::atomic<int>, keys> owed_{};
  std::array<std::atomic<int>, keys> seen_{};
  std::array<std::atomic<int>, keys> holders_{};
  std::atomic<std::uint64_t> handed_out_ = 0;
};

template <class Names>
void live_and_end() {
  const unsigned first = std::random_device{}();
  unsigned seed = first;
  for (const char* store : stores) {
    for (const Form form : {Form::shut_down, Form::shut_down_now, Form::drain}) {
      SCOPED_TRACE(std::string(store) + ", seed " + std::to_string(seed));
      Life<Names>(store, form, seed++).run();
    }
  }
}

TEST(WorkQueueConcurrency, EndsAtAnyMomentAndLosesNothing) {
  live_and_end<Strings>();
}

TEST(RequestQueueConcurrency, EndsAtAnyMomentAndLosesNothing) {
  live_and_end<Requests>();
}

// The first add of a round queues the key; the second finds it queued, unless the worker was faster, and
// takes no lock. Either the run that takes the key sees the write made before the second add, or another run
// follows; if the queue is idle and the write was not seen, the add was lost.
TEST(RequestQueueConcurrency, AnAddThatTakesNoLockIsCoveredByARun) {
  constexpr int rounds = 10'000;
  constexpr int patience = 1000;  // polls before yielding the processor
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  KeyTable table;
  RequestQueue queue;
  const RequestKey key = table.intern("", "ns", "key");
  std::atomic<int> written = 0;
  std::atomic<int> seen = 0;
  std::atomic<unsigned> spent = 0;
  const auto spend = [&spent](unsigned time) {
    while (time-- > 0) spent.store(time, std::memory_order_relaxed);
  };
  std::jthread worker([&](const std::stop_token& stop) {
    for (unsigned tries = 0; !stop.stop_requested(); ++tries) {
      if (const auto claim = queue.try_get()) {
        const int found = written.load(std::memory_order_relaxed);
        spend(tries % 128);
        seen.store(found, std::memory_order_relaxed);
      } else if (tries % patience == 0) {
        std::this_thread::yield();
      }
    }
  });
  int lost = 0;
  for (int round = 1; round <= rounds; ++round) {
    queue.add(key);
    spend(random() % 256);  // the worker takes the key before the write, after it, or in between
    written.store(round, std::memory_order_relaxed);
    queue.add(key);
    for (int looks = 1; seen.load(std::memory_order_relaxed) < round; ++looks) {
      if (looks % patience != 0) continue;
      if (queue.counts() == QueueCounts() && seen.load(std::memory_order_relaxed) < round) {
        ++lost;
        break;
      }
      std::this_thread::yield();
    }
  }
  EXPECT_EQ(lost, 0) << "of " << rounds;
}

}  // namespace
}  // namespace evenkeel
