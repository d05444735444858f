// SPDX-License-Identifier: Apache-2.0
#include "cache/stream_inbox.hpp"

#include <cstddef>
#include <memory>

#include <gtest/gtest.h>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/http/job_runner.hpp>

#include "scripted_source.hpp"

namespace evenkeel {
namespace stream_inbox_test {

class IdleJob final : public detail::Job {
 public:
  void run() noexcept override {}
};

// Regression: only the data was counted, so that a buffer of 64 KiB held megabytes of short pieces.
TEST(StreamInbox, PausesAStreamOfShortPieces) {
  constexpr std::size_t limit = 64U << 10;
  constexpr std::size_t pieces = 10'000;
  tests::Board board;
  IdleJob job;
  const auto runner = std::make_shared<detail::JobRunner>(std::make_shared<ManualClock>(), 0);
  const auto inbox = std::make_shared<detail::StreamInbox>(runner, job, limit);
  const auto handler = inbox->open();
  const auto call = std::make_shared<tests::ScriptedCall>(board);
  inbox->attach(call);
  std::size_t sent = 0;
  while (!call->paused && sent < pieces) {
    handler->on_data("x");
    ++sent;
  }
  EXPECT_LT(sent, pieces);
  EXPECT_GT(sent, limit / sizeof(detail::StreamInput) / 2);
  detail::StreamInput input;
  std::size_t taken = 0;
  while (inbox->take(input)) ++taken;
  EXPECT_EQ(taken, sent);
  EXPECT_FALSE(call->paused);
  inbox->close();
  runner->forget(job);
}

}  // namespace stream_inbox_test
}  // namespace evenkeel
