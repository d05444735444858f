// SPDX-License-Identifier: Apache-2.0
// Shows that several workers never reconcile one object at the same time, that with one worker an object may
// wait arbitrarily long, and two remedies: more workers, or a queue that keeps an object's position. Time is
// virtual, so minutes pass instantly. Exits with 1 if a step does not behave as the algorithm promises.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/workqueue/key_order.hpp>
#include <evenkeel/workqueue/work_queue.hpp>

namespace ek = evenkeel;
using namespace std::chrono_literals;
using Queue = ek::WorkQueue<std::string>;

bool as_promised = true;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("  NOT AS PROMISED: %s\n", what);
  as_promised = false;
}

// ---- the content of the queue

std::string list_of(const std::vector<std::string>& keys) {
  std::string text;
  for (const std::string& key : keys) text += (text.empty() ? "" : " ") + key;
  return text;
}

// The three parts of the algorithm: keys that need a run, keys that are running, and the order of the next
// ones.
struct Picture {
  std::string dirty;
  std::string processing;
  std::string queue;
  friend bool operator==(const Picture&, const Picture&) = default;
};

Picture picture_of(Queue& queue) {
  auto keys = queue.inspect_all();
  ek::sort_by_turn(keys);
  std::vector<std::string> dirty, processing, queued;
  for (const auto& key : keys) {
    const bool runs_again = key.state == ek::KeyState::processing_and_dirty;
    const bool runs = runs_again || key.state == ek::KeyState::processing;
    if (runs) processing.push_back(key.key);
    if (!runs || runs_again) dirty.push_back(key.key);
    if (!runs) queued.push_back(key.key);
  }
  std::sort(dirty.begin(), dirty.end());  // both are sets
  std::sort(processing.begin(), processing.end());
  return {list_of(dirty), list_of(processing), list_of(queued)};
}

void step(const char* what, Queue& queue, const Picture& promised) {
  const Picture found = picture_of(queue);
  std::printf("  %-28s dirty {%s}%*s processing {%s}%*s queue [%s]\n", what, found.dirty.c_str(),
              static_cast<int>(12 - found.dirty.size()), "", found.processing.c_str(),
              static_cast<int>(4 - found.processing.size()), "", found.queue.c_str());
  expect(found == promised, what);
}

// ---- an object is processed by one worker at a time

void one_object_in_one_pair_of_hands() {
  std::printf("Requests for A, B, C, and a worker that takes A\n");
  Queue queue;
  for (const char* key : {"A", "B", "C"}) queue.add(key);
  step("A, B, C are added", queue, {"A B C", "", "A B C"});
  queue.add("A");
  step("A again: nothing to do", queue, {"A B C", "", "A B C"});
  auto held = queue.get();
  step("a worker takes A", queue, {"B C", "A", "B C"});
  queue.add("A");
  step("A changes meanwhile", queue, {"A B C", "A", "B C"});

  // A second worker gets B, not A.
  auto other = queue.get();
  expect(other->key() == "B", "the second worker is handed B");
  step("another worker takes B", queue, {"A C", "A B", "C"});
  other.reset();
  step("B is done", queue, {"A C", "A", "C"});
  held.reset();
  step("A is done: to the back", queue, {"A C", "", "C A"});
}

// ---- a key that was added later runs first

void an_object_loses_its_place(ek::Readd readd, const char* title, const char* in_the_end) {
  std::printf("%s\n", title);
  Queue queue({.readd = readd});
  queue.add("A");
  auto held = queue.get();
  queue.add("A");
  step("A changes while it runs", queue, {"A", "A", ""});
  for (const char* key : {"B1", "B2", "B3"}) queue.add(key);
  step("others arrive", queue, {"A B1 B2 B3", "A", "B1 B2 B3"});
  held.reset();
  step("A is done", queue, {"A B1 B2 B3", "", in_the_end});
}

// Returns the time that A waits for its second run: it runs for 10 s and changes right after its start, then
// a hundred other keys arrive, which run for 1 s each. Workers are claims with an end time.
ek::Duration second_run_of_a(std::size_t workers, ek::Readd readd) {
  struct Run {
    Queue::Claim claim;
    ek::Duration ends;
  };
  Queue queue({.readd = readd});
  std::vector<Run> running;
  ek::Duration now{};
  queue.add("A");
  running.push_back({*queue.try_get(), 10s});
  queue.add("A");
  for (int i = 1; i <= 100; ++i) queue.add("B" + std::to_string(i));

  for (;;) {
    while (running.size() < workers) {
      std::optional<Queue::Claim> claim = queue.try_get();
      if (!claim) break;
      if (claim->key() == "A") return now;
      running.push_back({std::move(*claim), now + 1s});
    }
    const auto first = std::min_element(running.begin(), running.end(),
                                        [](const Run& a, const Run& b) { return a.ends < b.ends; });
    now = first->ends;
    running.erase(first);  // destroying the claim marks the key as done
  }
}

void starvation() {
  std::printf(
      "A runs for 10 s and changes at once; then 100 others arrive, of 1 s each. A runs again after\n");
  std::printf("  workers   at the back of the queue   at its old place\n");
  const std::vector<std::pair<std::size_t, ek::Duration>> promised = {{1, 110s}, {2, 55s},  {3, 36s},
                                                                      {5, 22s},  {10, 11s}, {11, 10s}};
  for (const auto& [workers, after] : promised) {
    const ek::Duration at_back = second_run_of_a(workers, ek::Readd::at_back);
    const ek::Duration kept = second_run_of_a(workers, ek::Readd::keep_place);
    std::printf("  %7zu   %22lld s   %14lld s\n", workers, static_cast<long long>(at_back / 1s),
                static_cast<long long>(kept / 1s));
    expect(at_back == after, "the wait at the back of the queue");
    expect(kept == 10s, "the wait at its old place");
  }
}

// ---- idle workers

// A clock that counts how often a worker began to wait.
class CountingClock final : public ek::Clock {
 public:
  ek::TimePoint now() const noexcept override { return time.now(); }
  ek::WallTime wall_now() const noexcept override { return time.wall_now(); }
  void wait(ek::CondVar& condition, ek::MutexLock& lock) const override {
    ++sleeps;
    time.wait(condition, lock);
  }
  void wait_until(ek::CondVar& condition, ek::MutexLock& lock, ek::TimePoint deadline) const override {
    ++sleeps;
    time.wait_until(condition, lock, deadline);
  }

  mutable std::atomic<int> sleeps = 0;
  ek::ManualClock time;
};

void idle_workers_cost_nothing() {
  constexpr int count = 1000;
  const auto clock = std::make_shared<CountingClock>();
  Queue queue({.clock = clock});
  std::vector<std::jthread> workers;
  workers.reserve(count);
  for (int i = 0; i < count; ++i) {
    workers.emplace_back([&queue] {
      while (queue.get()) {
      }
    });
  }
  // Returns how often a worker began to wait since the last call, once all of them wait and there were at
  // least `least` such waits: a woken worker counts as waiting until it runs.
  int seen = 0;
  const auto waits = [&](int least) {
    while (clock->sleeps < seen + least) std::this_thread::yield();
    clock->time.wait_for_waiters(count);
    return clock->sleeps - std::exchange(seen, clock->sleeps);
  };
  const int asleep = waits(count);
  std::printf("%d workers find no work and sleep\n", asleep);
  expect(asleep == count, "each worker goes to sleep once");
  clock->time.advance(1h);
  const int woken_by_time = waits(0);
  std::printf("  an hour passes:        woken %d\n", woken_by_time);
  expect(woken_by_time == 0, "nobody wakes for nothing");
  queue.add("A");
  const int woken_by_work = waits(1);
  std::printf("  a request arrives:     woken %d\n", woken_by_work);
  expect(woken_by_work == 1, "one request wakes one worker");
  queue.shut_down();
}

int main() {
  one_object_in_one_pair_of_hands();
  std::printf("\n");
  an_object_loses_its_place(ek::Readd::at_back, "What was added later may come first", "B1 B2 B3 A");
  std::printf("\n");
  an_object_loses_its_place(
      ek::Readd::keep_place,
      "Unless the queue remembers when A was added (Readd::keep_place, which controllers use)", "A B1 B2 B3");
  std::printf("\n");
  starvation();
  std::printf("\n");
  idle_workers_cost_nothing();
  return as_promised ? 0 : 1;
}
