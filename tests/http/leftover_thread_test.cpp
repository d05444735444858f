// SPDX-License-Identifier: Apache-2.0
#include "base/leftover_thread.hpp"

#include <atomic>
#include <cstdlib>
#include <future>
#include <iostream>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

namespace evenkeel {
namespace {

using detail::join_or_leave;

/// Starts a thread that owns itself: it calls join_or_leave() on itself, signals that, and then calls `rest`.
template <class Rest>
void start_leaving(std::promise<void>& left, Rest rest) {
  std::promise<std::thread> handle;
  std::thread thread([&left, rest, own = handle.get_future()]() mutable {
    join_or_leave(own.get());
    left.set_value();
    rest();
  });
  handle.set_value(std::move(thread));
}

TEST(LeftoverThreadsConcurrency, AThreadIsJoinedByAnother) {
  std::atomic<bool> ended = false;
  join_or_leave(std::thread([&] { ended = true; }));
  EXPECT_TRUE(ended);
  join_or_leave(std::thread());
}

TEST(LeftoverThreadsDeathTest, OneThatLeftItselfIsOverBeforeTheProgram) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        static std::promise<void> left;
        start_leaving(left, [] {
          for (int i = 0; i < 1000; ++i) std::this_thread::yield();
          std::cerr << "the thread went to its end";
        });
        left.get_future().wait();
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), "the thread went to its end");
}

/// Destroyed after the threads that left themselves were joined, as it is made before the first of them.
struct LastOfAll {
  ~LastOfAll() {
    std::promise<void> left;
    start_leaving(left, [] {});
    left.get_future().wait();
    std::cerr << "one more left itself";
  }
};

TEST(LeftoverThreadsDeathTest, OneMayLeaveItselfWhileTheProgramEnds) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        static LastOfAll last;
        static std::promise<void> left;
        start_leaving(left, [] {});
        left.get_future().wait();
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), "one more left itself");
}

}  // namespace
}  // namespace evenkeel
