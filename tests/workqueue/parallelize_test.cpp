// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/workqueue/parallelize.hpp>

namespace evenkeel {
namespace {

TEST(ParallelizeConcurrency, VisitsEveryPieceExactlyOnce) {
  const std::array<std::array<std::size_t, 3>, 7> cases{
      {{1000, 10, 1}, {1000, 10, 10}, {1000, 10, 100}, {999, 10, 13}, {3, 10, 1}, {5, 2, 1000}, {0, 4, 1}}};
  for (const auto& [pieces, workers, chunk] : cases) {
    std::vector<std::atomic<int>> visits(pieces);
    EXPECT_TRUE(parallelize(pieces, [&](std::size_t piece) { ++visits[piece]; },
                            {.workers = workers, .chunk = chunk}));
    for (std::size_t piece = 0; piece < pieces; ++piece) EXPECT_EQ(visits[piece], 1) << piece;
  }
}

TEST(ParallelizeConcurrency, RunsOnSeveralThreadsAtOnce) {
  std::atomic<int> arrived = 0;
  parallelize(4,
              [&](std::size_t) {
                ++arrived;
                arrived.notify_all();
                for (int now = arrived; now < 4; now = arrived) arrived.wait(now);
              },
              {.workers = 4});
  EXPECT_EQ(arrived, 4);
}

TEST(Parallelize, WithOneWorkerEverythingRunsHere) {
  const auto here = std::this_thread::get_id();
  std::size_t expected = 0;
  parallelize(10,
              [&](std::size_t piece) {
                EXPECT_EQ(piece, expected++);
                EXPECT_EQ(std::this_thread::get_id(), here);
              },
              {.workers = 1, .chunk = 3});
  EXPECT_EQ(expected, 10U);
}

TEST(ParallelizeConcurrency, ThrowsWhatAPieceThrewAndBeginsNoMore) {
  std::atomic<std::size_t> calls = 0;
  const auto work = [&](std::size_t piece) {
    ++calls;
    if (piece == 7) throw std::runtime_error("seven");
  };
  EXPECT_THROW(parallelize(1'000'000, work, {.workers = 3}), std::runtime_error);
  EXPECT_GE(calls, 8U);
  calls = 0;
  EXPECT_THROW(parallelize(100, work, {.workers = 1}), std::runtime_error);
  EXPECT_EQ(calls, 8U);
}

TEST(Parallelize, AStopLeavesTheRestUndone) {
  std::stop_source stop;
  std::size_t calls = 0;
  const auto work = [&](std::size_t piece) {
    ++calls;
    if (piece == 4) stop.request_stop();
  };
  EXPECT_FALSE(parallelize(100, work, {.workers = 1, .chunk = 2, .stop = stop.get_token()}));
  EXPECT_EQ(calls, 6U);  // the chunk in progress was finished
}

TEST(Parallelize, RefusesNoWorkersAndEmptyChunks) {
  const auto nothing = [](std::size_t) {};
  EXPECT_THROW(parallelize(1, nothing, {.workers = 0}), std::invalid_argument);
  EXPECT_THROW(parallelize(1, nothing, {.chunk = 0}), std::invalid_argument);
}

}  // namespace
}  // namespace evenkeel
