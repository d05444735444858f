// SPDX-License-Identifier: Apache-2.0
// Slow checks of the program, and messages that contain changing durations.
#include "manager/guarded_check.hpp"

#include <atomic>
#include <memory>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/testing/log_recorder.hpp>

#include "manager/operations.hpp"
#include "serve/stable_text.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using detail::check_time_limit;
using detail::guard_check;
using http::detail::stable_text;
using ::testing::ElementsAre;

class GuardedCheckConcurrency : public ::testing::Test {
 protected:
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
};

TEST_F(GuardedCheckConcurrency, GivesTheAnswerOfTheCheck) {
  int calls = 0;
  const auto check =
      guard_check([&calls] { return ++calls == 1 ? std::string() : "call " + std::to_string(calls); }, clock);
  EXPECT_EQ(check(), "");
  EXPECT_EQ(check(), "call 2");
  EXPECT_EQ(guard_check([]() -> std::string { throw std::runtime_error("broken"); }, clock)(), "broken");
  EXPECT_EQ(guard_check([]() -> std::string { throw 1; }, clock)(),
            "an exception that is not a std::exception was thrown");
}

TEST_F(GuardedCheckConcurrency, OneThatBlocksFailsAndIsNotCalledAgainUntilItReturns) {
  std::binary_semaphore go(0);
  std::binary_semaphore called(0);
  std::atomic<int> calls = 0;
  const auto check = guard_check(
      [&] {
        if (++calls > 1) return std::string();
        called.release();
        go.acquire();
        return std::string("late");
      },
      clock);
  std::string first;
  {
    std::jthread asking([&] { first = check(); });
    called.acquire();
    clock->wait_for_waiters(1);
    clock->advance(check_time_limit);
  }
  EXPECT_EQ(first, "has not answered for 500ms");
  clock->advance(10s);
  EXPECT_EQ(check(), "has not answered for 10.5s");  // at once: the clock stands still
  EXPECT_EQ(calls, 1);
  go.release();
  while (!check().empty()) {
  }  // until the blocked call has returned, whose result may be seen, and the next one has returned
  EXPECT_EQ(calls, 2);
}

TEST_F(GuardedCheckConcurrency, ItsEndLeavesABlockedCallBehind) {
  const auto go = std::make_shared<std::binary_semaphore>(0);
  const auto left = std::make_shared<std::binary_semaphore>(0);
  auto check = guard_check(
      [go, left] {
        go->acquire();
        left->release();
        return std::string();
      },
      clock);
  std::jthread ending([&] {
    EXPECT_EQ(check(), "has not answered for 500ms");
    check = nullptr;
  });
  clock->wait_for_waiters(1);
  clock->advance(check_time_limit);
  clock->wait_for_waiters(1);
  clock->advance(check_time_limit);
  ending.join();
  go->release();
  left->acquire();
}

TEST_F(GuardedCheckConcurrency, ABlockedReadinessCheckLeavesLivenessAlone) {
  std::binary_semaphore go(0);
  detail::Operations operations({}, clock);
  operations.healthz().add("ping", [] { return std::string(); });
  operations.readyz().add("billing", operations.guarded([&go] {
    go.acquire();
    return std::string();
  }));
  std::jthread asking([&] { EXPECT_EQ(operations.answer_probe(http::parse_target("/readyz")).status, 500); });
  clock->wait_for_waiters(1);
  EXPECT_EQ(operations.answer_probe(http::parse_target("/healthz")).body, "ok");
  clock->advance(check_time_limit);
  asking.join();
  clock->advance(1s);
  EXPECT_EQ(operations.answer_probe(http::parse_target("/readyz")).body,
            "[-]billing failed: has not answered for 1.5s\nreadyz check failed\n");
  go.release();
}

TEST(StableText, LeavesOutRunningTimes) {
  EXPECT_EQ(stable_text("list Cache: 404 NotFound (since 45.226s, next try in 1.1s); is it installed?"),
            stable_text("list Cache: 404 NotFound (since 1h2m3.5s); is it installed?"));
  EXPECT_EQ(stable_text("has not answered for 12s"), "has not answered for _");
  EXPECT_EQ(stable_text("stuck for 1h30m, then 5ms"), "stuck for _, then _");
  EXPECT_EQ(stable_text("500ms"), "_");
}

TEST(StableText, KeepsAllElse) {
  for (const char* text : {"", "404 NotFound", "pods5s", "v1.2s3", "10.0.0.1s", "5 s", "5sec", "3m_x",
                           "(since dawn", "since 5", "web-5", "s", "1.", "300 megabytes"}) {
    EXPECT_EQ(stable_text(text), text);
  }
}

TEST(Probe, LogsAnAnswerWhoseRunningTimesChangeOnce) {
  const auto lines = std::make_shared<testing::LogRecorder>();
  detail::Probe probe("readyz", Log(lines));
  std::string problem = "caches: 404 (since 5s, next try in 1.6s)";
  probe.add("cache", [&problem] { return problem; });
  const auto ask = [&] { return probe.answer({}, http::parse_target("/readyz")).body; };
  EXPECT_EQ(ask(), "[-]cache failed: caches: 404 (since 5s, next try in 1.6s)\nreadyz check failed\n");
  problem = "caches: 404 (since 15.2s)";
  EXPECT_EQ(ask(), "[-]cache failed: caches: 404 (since 15.2s)\nreadyz check failed\n");
  problem = "caches: 403 (since 25s)";
  ask();
  problem.clear();
  ask();
  EXPECT_THAT(lines->lines(),
              ElementsAre("WARN check failed probe=readyz check=cache "
                          "problem=caches: 404 (since 5s, next try in 1.6s)",
                          "WARN check failed probe=readyz check=cache problem=caches: 403 (since 25s)",
                          "INFO check passes again probe=readyz check=cache"));
}

}  // namespace
}  // namespace evenkeel
