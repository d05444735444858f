// SPDX-License-Identifier: Apache-2.0
#include "cache/failure_log.hpp"

#include <gtest/gtest.h>

namespace evenkeel::detail {
namespace {

using namespace std::chrono_literals;

class FailureLogTest : public ::testing::Test {
 protected:
  bool failed(WatchProblem problem, const char* error = "") { return log.failed(problem, error, now); }
  bool works() { return log.works(now); }

  FailureLog log;
  TimePoint now{};
};

TEST_F(FailureLogTest, AFailureThatGoesOnIsSaidOnceAndSoIsItsEnd) {
  EXPECT_FALSE(works()) << "nothing was wrong";
  EXPECT_TRUE(failed(WatchProblem::forbidden));
  now += 24h;
  EXPECT_FALSE(failed(WatchProblem::forbidden));
  EXPECT_TRUE(works());
  EXPECT_FALSE(works());
}

TEST_F(FailureLogTest, AnotherFailureIsNews) {
  EXPECT_TRUE(failed(WatchProblem::unreachable));
  EXPECT_TRUE(failed(WatchProblem::forbidden));
  EXPECT_TRUE(failed(WatchProblem::other, "500"));
  EXPECT_TRUE(failed(WatchProblem::other, "no list"));
}

TEST_F(FailureLogTest, NumbersMakeNoOtherFailure) {
  EXPECT_TRUE(failed(WatchProblem::other, "412 bytes were missing"));
  EXPECT_FALSE(failed(WatchProblem::other, "99 bytes were missing"));
}

TEST_F(FailureLogTest, OneThatComesAndGoesIsThreeLinesAndTheLastIsTrue) {
  EXPECT_TRUE(failed(WatchProblem::forbidden));
  EXPECT_TRUE(works());
  EXPECT_TRUE(failed(WatchProblem::forbidden)) << "the last line was that it works";
  for (int times = 0; times < 100; ++times) {
    now += 30s;
    EXPECT_FALSE(works()) << "it has not stayed away";
    EXPECT_TRUE(log.logs_end());
    EXPECT_FALSE(failed(WatchProblem::forbidden));
  }
  EXPECT_FALSE(works());
  now += FailureLog::settled;
  EXPECT_TRUE(works());
  EXPECT_FALSE(log.logs_end());
  now += FailureLog::quiet;
  EXPECT_TRUE(failed(WatchProblem::forbidden));
  EXPECT_TRUE(works()) << "it is another one";
}

}  // namespace
}  // namespace evenkeel::detail
