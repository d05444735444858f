// SPDX-License-Identifier: Apache-2.0
#include "client/watch/watch_core.hpp"

#include <gtest/gtest.h>

namespace evenkeel::detail {
namespace {

using namespace std::chrono_literals;
using State = WatchCore::State;

constexpr TimePoint start{};

std::exception_ptr some_error() {
  return std::make_exception_ptr(Error("broken"));
}

TEST(WatchCore, ConnectsAtOnceAndGoesOnAfterTheLastEvent) {
  WatchCore core("5", 1);
  EXPECT_EQ(core.state(), State::waiting);
  EXPECT_LE(*core.next_due(), start);
  core.on_connecting(start);
  core.on_accepted();
  core.on_event(true, "6");
  core.on_event(false, "9");
  core.on_ended(start + 5min);
  EXPECT_EQ(core.state(), State::waiting);
  EXPECT_EQ(*core.next_due(), start + 5min) << "the server's own time limit is no failure";
  EXPECT_EQ(core.resource_version(), "9");
}

// client-go: existing objects are delivered in no order of versions (reflector.go, handleAnyWatch).
TEST(WatchCore, FromTheStartNoVersionIsTakenFromWhatExists) {
  for (const char* from : {"", "0"}) {
    WatchCore core(from, 1);
    core.on_connecting(start);
    core.on_event(true, "50");
    core.on_event(true, "40");
    EXPECT_EQ(core.resource_version(), from);
    core.on_event(false, "60");
    EXPECT_EQ(core.resource_version(), "60");
    core.on_event(true, "61");
    EXPECT_EQ(core.resource_version(), "61");
  }
}

TEST(WatchCore, BacksOffFromPoint8To30SecondsAndNeverOutside) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    WatchCore core("5", seed);
    Duration expected = 800ms;
    for (int i = 0; i < 12; ++i) {
      core.on_connecting(start);
      core.on_broken(some_error(), TransportErrorCode::connect, start);
      const Duration delay = *core.next_due() - start;
      EXPECT_GE(delay, std::max<Duration>(expected * 3 / 4, 800ms));
      EXPECT_LE(delay, std::min<Duration>(expected * 5 / 4, 30s));
      expected = std::min<Duration>(expected * 2, 30s);
    }
  }
}

TEST(WatchCore, AnEventOrALongConnectionResetsTheBackOff) {
  WatchCore core("5", 1);
  const auto break_after = [&](Duration life) {
    core.on_connecting(start);
    core.on_broken(some_error(), TransportErrorCode::interrupted, start + life);
    return *core.next_due() - (start + life);
  };
  for (int i = 0; i < 6; ++i) break_after(0s);
  EXPECT_GT(break_after(0s), 20s);
  EXPECT_LE(break_after(2min), 1s);
  for (int i = 0; i < 6; ++i) break_after(0s);
  core.on_connecting(start);
  core.on_event(false, "6");
  core.on_broken(some_error(), TransportErrorCode::interrupted, start);
  EXPECT_LE(*core.next_due() - start, 1s);
}

TEST(WatchCore, AServerThatEndsEachWatchAtOnceIsGivenTime) {
  WatchCore core("5", 1);
  core.on_connecting(start);
  core.on_accepted();
  core.on_ended(start + 999ms);
  EXPECT_GE(*core.next_due(), start + 999ms + 800ms);
  core.on_connecting(start);
  core.on_event(false, "6");
  core.on_ended(start + 10ms);
  EXPECT_EQ(*core.next_due(), start + 10ms);
}

TEST(WatchCore, GoneWaitsForARestart) {
  WatchCore core("5", 1);
  core.on_connecting(start);
  core.on_refused("watch A", Status{.code = 410}, start);
  EXPECT_EQ(core.state(), State::gone);
  core.restart("100", start + 3s);
  EXPECT_EQ(core.state(), State::waiting);
  EXPECT_EQ(*core.next_due(), start + 3s);
  EXPECT_EQ(core.resource_version(), "100");
}

/// Connects during one virtual minute, as often as the core wants to, to a server that behaves like `serve`.
/// Returns the number of connections.
template <class Serve>
int connections_in_a_minute(Serve serve) {
  WatchCore core("5", 1);
  TimePoint now = start;
  int connections = 0;
  int version = 5;
  while (true) {
    now = std::max(now, *core.next_due());
    if (now >= start + 60s || connections > 10'000) return connections;
    ++connections;
    core.on_connecting(now);
    serve(core, now, ++version);
    if (core.state() == State::gone) core.restart(std::to_string(version), now);
  }
}

TEST(WatchCore, NoAnswerMakesItReconnectWithoutPause) {
  const auto gone = [](WatchCore& core, TimePoint now, int) {
    core.on_refused("watch A", Status{.code = 410}, now);
  };
  const auto accepted_then_gone = [](WatchCore& core, TimePoint now, int) {
    core.on_accepted();
    core.on_refused("watch A", Status{.code = 410}, now);
  };
  const auto bookmark_then_gone = [](WatchCore& core, TimePoint now, int version) {
    core.on_accepted();
    core.on_event(false, std::to_string(version));
    core.on_refused("watch A", Status{.code = 410}, now);
  };
  const auto bookmark_then_end = [](WatchCore& core, TimePoint now, int version) {
    core.on_accepted();
    core.on_event(false, std::to_string(version));
    core.on_ended(now);
  };
  const auto event_then_cut = [](WatchCore& core, TimePoint now, int version) {
    core.on_accepted();
    core.on_event(false, std::to_string(version));
    core.on_broken(some_error(), TransportErrorCode::interrupted, now);
  };
  const auto event_then_busy = [](WatchCore& core, TimePoint now, int version) {
    core.on_accepted();
    core.on_event(false, std::to_string(version));
    core.on_refused("watch A", Status{.code = 429, .retry_after = 0s}, now);
  };
  EXPECT_LE(connections_in_a_minute(gone), 10);
  EXPECT_LE(connections_in_a_minute(accepted_then_gone), 10);
  EXPECT_LE(connections_in_a_minute(bookmark_then_gone), 12);
  EXPECT_LE(connections_in_a_minute(bookmark_then_end), 12);
  EXPECT_LE(connections_in_a_minute(event_then_cut), 14);
  EXPECT_LE(connections_in_a_minute(event_then_busy), 14);
}

TEST(WatchCore, ARareGoneIsFollowedAtOnce) {
  WatchCore core("5", 1);
  TimePoint now = start;
  for (int i = 0; i < 5; ++i) {
    core.on_connecting(now);
    core.on_accepted();
    now += 10min;
    core.on_event(false, "7");
    core.on_refused("watch A", Status{.code = 410}, now);
    core.restart("8", now);
    EXPECT_EQ(*core.next_due(), now);
  }
}

TEST(WatchCore, ARetryAfterIsObeyedForTwoMinutesAtMost) {
  WatchCore core("5", 1);
  core.on_connecting(start);
  core.on_accepted();
  core.on_refused("watch A", Status{.code = 429, .retry_after = 24h}, start);
  EXPECT_EQ(*core.next_due(), start + 2min);
}

TEST(WatchCore, ARefusalIsFinalOnlyBeforeTheFirstSuccess) {
  for (const int code : {400, 401, 403, 404, 422}) {
    WatchCore fresh("5", 1);
    fresh.on_connecting(start);
    fresh.on_refused("watch A", Status{.code = code, .reason = "R"}, start);
    EXPECT_EQ(fresh.state(), State::failed) << code;
    EXPECT_THROW(std::rethrow_exception(fresh.error()), ApiError);
    WatchCore known("5", 1);
    known.on_connecting(start);
    known.on_accepted();
    known.on_ended(start + 5min);
    known.on_connecting(start + 5min);
    known.on_refused("watch A", Status{.code = code}, start + 5min);
    EXPECT_EQ(known.state(), State::waiting) << code;
  }
}

TEST(WatchCore, ABusyServerIsObeyed) {
  WatchCore core("5", 1);
  core.on_connecting(start);
  core.on_refused("watch A", Status{.code = 429, .retry_after = 17s}, start);
  EXPECT_EQ(core.state(), State::waiting);
  EXPECT_EQ(*core.next_due(), start + 17s);
  core.on_connecting(start);
  core.on_refused("watch A", Status{.code = 500}, start);
  EXPECT_EQ(core.state(), State::waiting);
}

TEST(WatchCore, TlsIsHopelessBeforeTheFirstSuccessAndAClosedTransportAlways) {
  WatchCore tls("5", 1);
  tls.on_connecting(start);
  tls.on_broken(some_error(), TransportErrorCode::tls, start);
  EXPECT_EQ(tls.state(), State::failed);
  WatchCore later("5", 1);
  later.on_accepted();
  later.on_broken(some_error(), TransportErrorCode::tls, start);
  EXPECT_EQ(later.state(), State::waiting);
  later.on_broken(some_error(), TransportErrorCode::closed, start);
  EXPECT_EQ(later.state(), State::failed);
}

TEST(WatchCore, RandomNumbersStayBelowTheirBound) {
  WatchCore core("5", 3);
  std::uint64_t most = 0;
  for (int i = 0; i < 1000; ++i) most = std::max(most, core.random_below(300));
  EXPECT_LT(most, 300U);
  EXPECT_GT(most, 280U);
}

}  // namespace
}  // namespace evenkeel::detail
