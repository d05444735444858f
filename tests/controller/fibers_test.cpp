// SPDX-License-Identifier: Apache-2.0
#include "controller/fibers/fibers.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <functional>
#include <new>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/stop.hpp>
#include <evenkeel/base/suspender.hpp>

namespace evenkeel::detail {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

// Runs each of `works` on a fiber of the calling thread, all in progress at the same time.
void run_all(std::vector<std::function<void()>> works) {
  std::size_t next = 0;
  Fibers fibers({.limit = works.size() + 1}, [&](Fibers& own) {
    if (next == works.size()) return;
    const auto& work = works[next++];
    own.taken();
    work();
  });
  fibers.run();
}

// A door that fibers wait behind.
struct Door {
  void open() {
    MutexLock lock(mutex);
    is_open = true;
    changed.notify_all();
  }
  void pass() {
    MutexLock lock(mutex);
    while (!is_open) changed.wait(lock);
  }
  Mutex mutex;
  CondVar changed;
  bool is_open EVENKEEL_GUARDED_BY(mutex) = false;
};

TEST(Fibers, AWaitLeavesTheThreadToOthers) {
  Door door;
  std::vector<std::string> story;
  const auto thread = std::this_thread::get_id();
  run_all({[&] {
             story.emplace_back("waits");
             door.pass();
             story.emplace_back("passed");
             EXPECT_EQ(std::this_thread::get_id(), thread);
           },
           [&] {
             EXPECT_NE(Suspender::current(), nullptr);
             story.emplace_back("opens");
             door.open();
           }});
  EXPECT_THAT(story, ElementsAre("waits", "opens", "passed"));
  EXPECT_EQ(Suspender::current(), nullptr);
}

TEST(Fibers, NotifyOneWakesOneFiber) {
  Mutex mutex;
  CondVar changed;
  int tickets = 0;
  int served = 0;
  const auto wait = [&] {
    MutexLock lock(mutex);
    while (tickets == 0) changed.wait(lock);
    --tickets;
    ++served;
  };
  const auto give = [&] {
    MutexLock lock(mutex);
    ++tickets;
    changed.notify_one();
  };
  run_all({wait, wait, give, [&] { EXPECT_EQ(served, 1); }, give});
  EXPECT_EQ(served, 2);
}

TEST(Fibers, ADeadlineInThePastEndsAWaitImmediately) {
  bool ended = false;
  run_all({[&ended] {
    Mutex mutex;
    CondVar never;
    MutexLock lock(mutex);
    never.wait_until(lock, real_clock()->now());
    ended = true;
  }});
  EXPECT_TRUE(ended);
}

TEST(Fibers, WaitsOfVirtualTimeAreWaits) {
  ManualClock clock;
  Mutex mutex;
  CondVar woke;
  std::vector<int> order;
  const auto sleeper = [&](int seconds) {
    return [&, seconds] {
      EXPECT_TRUE(sleep_until(clock, clock.now() + std::chrono::seconds{seconds}, {}));
      MutexLock lock(mutex);
      order.push_back(seconds);
      woke.notify_all();
    };
  };
  run_all({sleeper(3), sleeper(1), sleeper(2), [&] {
             for (std::size_t i = 1; i <= 3; ++i) {
               EXPECT_EQ(clock.waiters(), 4 - i);
               clock.advance(1s);
               MutexLock lock(mutex);
               while (order.size() < i) woke.wait(lock);
             }
           }});
  MutexLock lock(mutex);
  EXPECT_THAT(order, ElementsAre(1, 2, 3));
}

TEST(Fibers, AnExceptionStaysWithItsFiberAcrossSwitches) {
  Door first;
  Door second;
  const auto handled = [] {
    try {
      std::rethrow_exception(std::current_exception());
    } catch (const std::exception& error) {
      return std::string(error.what());
    }
  };
  run_all({[&] {
             try {
               throw std::runtime_error("one");
             } catch (...) {
               first.pass();  // another fiber throws, catches and waits meanwhile
               EXPECT_EQ(handled(), "one");
               try {
                 throw std::runtime_error("inner");
               } catch (...) {
                 second.pass();
                 EXPECT_EQ(handled(), "inner");
               }
               EXPECT_EQ(handled(), "one");
             }
             EXPECT_EQ(std::current_exception(), nullptr);
           },
           [&] {
             EXPECT_EQ(std::current_exception(), nullptr) << "it is the exception of another fiber";
             try {
               throw std::logic_error("two");
             } catch (...) {
               first.open();
               second.pass();
               EXPECT_EQ(handled(), "two");
             }
             EXPECT_EQ(std::current_exception(), nullptr);
           },
           [&] { second.open(); }});
}

TEST(Fibers, UnwindingStaysWithItsFiberAcrossSwitches) {
  Door door;
  struct Waits {
    explicit Waits(Door& door) : door_(door) {}
    ~Waits() {
      EXPECT_EQ(std::uncaught_exceptions(), 1);
      door_.pass();
      EXPECT_EQ(std::uncaught_exceptions(), 1);
    }
    Door& door_;
  };
  run_all({[&] {
             try {
               const Waits waits(door);
               throw std::runtime_error("unwinds");
             } catch (const std::runtime_error&) {
             }
             EXPECT_EQ(std::uncaught_exceptions(), 0);
           },
           [&] {
             EXPECT_EQ(std::uncaught_exceptions(), 0);
             door.open();
           }});
}

TEST(Fibers, ErrnoStaysWithItsFiber) {
  Door door;
  run_all({[&] {
             errno = ERANGE;
             door.pass();
             EXPECT_EQ(errno, ERANGE);
           },
           [&] {
             errno = EDOM;
             door.open();
           }});
}

// Uses `depth` KiB of stack.
[[gnu::noinline]] int descend(int depth) {
  volatile char page[1024] = {};
  page[depth % 1024] = 1;
  return depth == 0 ? page[0] : descend(depth - 1) + page[depth % 1024];
}

TEST(Fibers, AStackHasItsSize) {
  int reached = 0;
  run_all({[&] { reached = descend(150); }});
  EXPECT_EQ(reached, 151);
}

TEST(Fibers, WorkOnTheStackOfTheThreadTakesNothingOfTheirs) {
  const auto thread = std::this_thread::get_id();
  Door door;
  int reached = 0;
  std::string error;
  run_all({[&] {
             door.pass();
             // More than a fiber has.
             reached = on_thread_stack([&] {
               EXPECT_EQ(Suspender::current(), nullptr);
               EXPECT_EQ(std::this_thread::get_id(), thread);
               return descend(400);
             });
             EXPECT_NE(Suspender::current(), nullptr);
             try {
               on_thread_stack([]() -> int { throw std::runtime_error("of the work"); });
             } catch (const std::runtime_error& caught) {
               error = caught.what();
             }
             EXPECT_EQ(std::uncaught_exceptions(), 0);
           },
           [&] { door.open(); }});
  EXPECT_EQ(reached, 401);
  EXPECT_EQ(error, "of the work");
  EXPECT_EQ(on_thread_stack([] { return 7; }), 7) << "outside of fibers it is a call";
}

TEST(Fibers, AnOverflowOfAStackEndsTheProcess) {
  EXPECT_DEATH(run_all({[] { std::printf("%d", descend(400)); }}), "");
}

TEST(Fibers, WithoutMemoryForOneRunFails) {
  Fibers fibers({.limit = 2, .stack_bytes = std::size_t{1} << 50}, [](Fibers&) {});
  EXPECT_THROW(fibers.run(), std::bad_alloc);
}

TEST(FibersConcurrency, WakeUpsOfOtherThreadsArriveOnce) {
  constexpr int fibers_count = 64;
  constexpr int rounds = 200;
  Mutex mutex;
  CondVar changed;
  int wanted = 0;
  std::atomic<int> done = 0;
  std::vector<std::function<void()>> works;
  for (int i = 0; i < fibers_count; ++i) {
    works.emplace_back([&] {
      for (int seen = 0; seen < rounds;) {
        MutexLock lock(mutex);
        while (wanted == seen) changed.wait(lock);
        seen = wanted;
      }
      ++done;
    });
  }
  std::jthread waker([&] {
    for (int i = 0; i < rounds; ++i) {
      MutexLock lock(mutex);
      ++wanted;
      changed.notify_all();
    }
  });
  run_all(std::move(works));
  EXPECT_EQ(done, fibers_count);
}

TEST(FibersConcurrency, FibersOfTwoThreadsHandOverTickets) {
  constexpr int rounds = 500;
  Mutex mutex;
  CondVar changed;
  int turn = 0;
  const auto side = [&](int own) {
    run_all({[&, own] {
      for (int i = 0; i < rounds; ++i) {
        MutexLock lock(mutex);
        while (turn % 2 != own) changed.wait(lock);
        ++turn;
        changed.notify_one();
      }
    }});
  };
  std::jthread other([&] { side(1); });
  side(0);
  other.join();
  MutexLock lock(mutex);
  EXPECT_EQ(turn, 2 * rounds);
}

TEST(FibersConcurrency, StacksAreReusedAndSpareOnesReturned) {
  std::size_t left = 300;
  Door door;
  Door last;
  std::size_t most = 0;
  Fibers fibers({.limit = 200, .stack_bytes = std::size_t{64} << 10}, [&](Fibers& own) {
    if (left == 0) return;
    const std::size_t number = left--;
    own.taken();
    most = std::max(most, own.stacks());
    if (number == 150) door.open();
    door.pass();
    if (number == 1) last.pass();
  });
  // The thread returns spare stacks before it sleeps.
  std::jthread other([&] {
    {
      MutexLock lock(door.mutex);
      while (!door.is_open) door.changed.wait(lock);
    }
    while (fibers.stacks() > 66) std::this_thread::yield();
    last.open();
  });
  fibers.run();
  EXPECT_GE(most, 150U);
  EXPECT_LE(most, 200U);
}

TEST(FibersConcurrency, StopAndDeadlineRace) {
  for (int round = 0; round < 50; ++round) {
    std::stop_source stop;
    std::vector<std::function<void()>> works;
    std::atomic<int> wrong = 0;
    std::atomic<int> ended = 0;
    for (int i = 0; i < 20; ++i) {
      works.emplace_back([&, i] {
        const TimePoint due = real_clock()->now() + std::chrono::microseconds{50 * i};
        const bool slept = sleep_until(*real_clock(), due, stop.get_token());
        wrong += slept ? real_clock()->now() < due : !stop.stop_requested();
        ++ended;
      });
    }
    std::jthread stopper([&] { stop.request_stop(); });
    run_all(std::move(works));
    EXPECT_EQ(ended, 20);
    EXPECT_EQ(wrong, 0);
  }
}

}  // namespace
}  // namespace evenkeel::detail
