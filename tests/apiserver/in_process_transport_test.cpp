// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <latch>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/apiserver/in_process_transport.hpp>
#include <evenkeel/base/clock.hpp>

#include "scripted_backend.hpp"

namespace evenkeel::apiserver::in_process_transport_tests {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

http::Request get(std::string target) {
  return {.target = std::move(target)};
}

// Returns the outcome of a call as text.
std::string told(const std::exception_ptr& error) {
  try {
    if (error) std::rethrow_exception(error);
  } catch (const TransportError& caught) {
    constexpr const char* codes[] = {"resolve",     "connect",  "tls",   "timeout",
                                     "interrupted", "protocol", "closed"};
    return codes[static_cast<std::size_t>(caught.code())];
  } catch (const Cancelled&) {
    return "cancelled";
  }
  return "ended";
}

class Recorder final : public http::StreamHandler {
 public:
  void on_response(int status, const http::Headers&) override { heard.push_back(std::to_string(status)); }
  void on_data(std::string_view piece) override {
    heard.emplace_back(piece);
    if (on_piece) on_piece();
  }
  void on_end(std::exception_ptr error) override { heard.push_back(told(error)); }

  std::vector<std::string> heard;
  std::function<void()> on_piece;
};

class InProcessTransport : public ::testing::Test {
 protected:
  std::unique_ptr<apiserver::InProcessTransport> make(InProcessTransportOptions options = {.pumped = true}) {
    return std::make_unique<apiserver::InProcessTransport>(scripted_.host, std::move(options));
  }
  void send(apiserver::InProcessTransport& transport, http::Request request) {
    calls_.push_back(transport.send(std::move(request), [this](Outcome<http::Response> outcome) {
      answers_.push_back(outcome.ok() ? std::to_string(outcome.value().status) + " " + outcome.value().body
                                      : told(outcome.error()));
    }));
  }

  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
  ScriptedHost scripted_{{.clock = clock_}};
  std::vector<std::shared_ptr<http::Call>> calls_;
  std::vector<std::string> answers_;
};

TEST_F(InProcessTransport, DoesNothingUntilItIsPumped) {
  const auto transport = make();
  send(*transport, get("/a"));
  send(*transport, get("/b"));
  EXPECT_TRUE(answers_.empty());
  EXPECT_EQ(transport->next_due(), clock_->now());
  EXPECT_EQ(transport->pump(), 2u);
  EXPECT_THAT(answers_, ElementsAre("200 GET /a kubernetes-admin ", "200 GET /b kubernetes-admin "));
  EXPECT_EQ(transport->pump(), 0u);
  EXPECT_EQ(transport->next_due(), std::nullopt);
}

TEST_F(InProcessTransport, AnswersInTheSamePumpWhatHandlersAskFor) {
  const auto transport = make();
  std::string second;
  transport->send(get("/a"), [&](Outcome<http::Response>) {
    transport->send(get("/b"), [&](Outcome<http::Response> outcome) { second = outcome.value().body; });
  });
  EXPECT_EQ(transport->pump(), 2u);
  EXPECT_THAT(second, HasSubstr("GET /b"));
}

TEST_F(InProcessTransport, ComesAsWhomItIsTold) {
  const auto transport = make({.pumped = true, .caller = Caller{.user = "jane", .groups = {}}});
  send(*transport, get("/a"));
  transport->pump();
  EXPECT_THAT(answers_, ElementsAre("200 GET /a jane "));
}

TEST_F(InProcessTransport, StreamsAWatch) {
  const auto transport = make();
  const auto recorder = std::make_shared<Recorder>();
  transport->stream(get("/watch/a"), recorder);
  transport->pump();
  EXPECT_THAT(recorder->heard, ElementsAre("200"));
  scripted_.feed("/watch/a", "one\n");
  EXPECT_EQ(transport->next_due(), clock_->now());
  EXPECT_EQ(transport->pump(), 1u);
  scripted_.feed("/watch/a", "two\n", true);
  transport->pump();
  EXPECT_THAT(recorder->heard, ElementsAre("200", "one\n", "two\n", "ended"));
}

TEST_F(InProcessTransport, StreamsAPlainAnswerToo) {
  const auto transport = make();
  const auto recorder = std::make_shared<Recorder>();
  transport->stream(get("/big/3"), recorder);
  transport->pump();
  EXPECT_THAT(recorder->heard, ElementsAre("200", "xxx", "ended"));
}

TEST_F(InProcessTransport, CollectsAWatchThatIsSentAsARequest) {
  const auto transport = make();
  send(*transport, get("/watch/a"));
  transport->pump();
  scripted_.feed("/watch/a", "one\n");
  transport->pump();
  EXPECT_TRUE(answers_.empty());
  scripted_.feed("/watch/a", "two\n", true);
  transport->pump();
  EXPECT_THAT(answers_, ElementsAre("200 one\ntwo\n"));
}

TEST_F(InProcessTransport, CutsPiecesAsAsked) {
  const auto transport = make({.pumped = true, .largest_piece = 4});
  const auto recorder = std::make_shared<Recorder>();
  transport->stream(get("/watch/a"), recorder);
  transport->pump();
  scripted_.feed("/watch/a", "123456789\n");
  transport->pump();
  EXPECT_THAT(recorder->heard, ElementsAre("200", "1234", "5678", "9\n"));
}

TEST_F(InProcessTransport, APausedStreamIsGivenNothingUntilItResumes) {
  const auto transport = make();
  const auto recorder = std::make_shared<Recorder>();
  const auto call = transport->stream(get("/watch/a"), recorder);
  transport->pump();
  call->pause();
  scripted_.feed("/watch/a", "one\n");
  EXPECT_EQ(transport->pump(), 0u);
  call->resume();
  EXPECT_EQ(transport->pump(), 1u);
  EXPECT_THAT(recorder->heard, ElementsAre("200", "one\n"));
}

TEST_F(InProcessTransport, CancelEndsACallOnce) {
  const auto transport = make();
  const auto recorder = std::make_shared<Recorder>();
  const auto call = transport->stream(get("/watch/a"), recorder);
  transport->pump();
  call->cancel();
  call->cancel();
  EXPECT_EQ(transport->pump(), 1u);
  EXPECT_EQ(scripted_.watches(), 0u);
  send(*transport, get("/never"));
  calls_.back()->cancel();
  transport->pump();
  call->cancel();
  EXPECT_EQ(transport->pump(), 0u);
  EXPECT_THAT(recorder->heard, ElementsAre("200", "cancelled"));
  EXPECT_THAT(answers_, ElementsAre("cancelled"));
}

TEST_F(InProcessTransport, AStreamMayEndItselfFromItsHandler) {
  const auto transport = make();
  const auto recorder = std::make_shared<Recorder>();
  std::shared_ptr<http::Call> call;
  recorder->on_piece = [&] { call->cancel(); };
  call = transport->stream(get("/watch/a"), recorder);
  transport->pump();
  scripted_.feed("/watch/a", "one\n");
  transport->pump();
  EXPECT_THAT(recorder->heard, ElementsAre("200", "one\n", "cancelled"));
}

TEST_F(InProcessTransport, DelaysByVirtualTime) {
  const auto transport = make();
  scripted_.host->inject({.name = "slow", .delay = 2s});
  send(*transport, get("/api/v1/nodes/slow"));
  send(*transport, get("/api/v1/nodes/fast"));
  EXPECT_EQ(transport->pump(), 1u);
  EXPECT_THAT(answers_, ElementsAre("200 GET /api/v1/nodes/fast kubernetes-admin "));
  EXPECT_EQ(transport->next_due(), clock_->now() + 2s);
  clock_->advance(2s - 1ns);
  EXPECT_EQ(transport->pump(), 0u);
  clock_->advance(1ns);
  EXPECT_EQ(transport->pump(), 1u);
  EXPECT_EQ(answers_.size(), 2u);
}

TEST_F(InProcessTransport, KeepsDeadlines) {
  const auto transport = make();
  scripted_.host->inject({.delay = 1h});
  send(*transport, {.target = "/a", .deadline = clock_->now() + 5s});
  send(*transport, get("/b"));
  transport->pump();
  EXPECT_EQ(transport->next_due(), clock_->now() + 5s);
  clock_->advance(5s);
  transport->pump();
  EXPECT_THAT(answers_, ElementsAre("timeout"));
  clock_->advance(55s);
  transport->pump();
  EXPECT_THAT(answers_, ElementsAre("timeout", "timeout")) << "a minute, where none is set";
  EXPECT_TRUE(scripted_.backend->requests.empty());
}

TEST_F(InProcessTransport, ASilentStreamIsCalledDead) {
  const auto transport = make();
  const auto recorder = std::make_shared<Recorder>();
  transport->stream({.target = "/watch/a", .idle_timeout = 10s}, recorder);
  transport->pump();
  clock_->advance(9s);
  scripted_.feed("/watch/a", "one\n");
  transport->pump();
  EXPECT_EQ(transport->next_due(), clock_->now() + 10s);
  clock_->advance(10s);
  transport->pump();
  EXPECT_THAT(recorder->heard, ElementsAre("200", "one\n", "timeout"));
  EXPECT_EQ(scripted_.watches(), 0u);
}

TEST_F(InProcessTransport, TicksTheCoreByVirtualTime) {
  const auto transport = make();
  scripted_.backend->next = clock_->wall_now() + 3s;
  EXPECT_EQ(transport->next_due(), clock_->now() + 3s);
  clock_->advance(2999ms);
  transport->pump();
  EXPECT_EQ(scripted_.backend->ticks, 0);
  clock_->advance(1ms);
  EXPECT_EQ(transport->pump(), 1u);
  EXPECT_EQ(scripted_.backend->ticks, 1);
}

TEST_F(InProcessTransport, HasTheSameFaultsAsTheServer) {
  const auto transport = make();
  scripted_.host->inject({.count = 1, .drop = FaultDrop::before});
  scripted_.host->inject({.count = 1, .status = 503});
  scripted_.host->inject({.verb = "get", .count = 1, .cut_after = 4});
  for (int at = 0; at < 4; ++at) send(*transport, get("/big/10"));
  transport->pump();
  ASSERT_EQ(answers_.size(), 4u);
  EXPECT_EQ(answers_[0], "interrupted");
  EXPECT_THAT(answers_[1], HasSubstr("\"reason\":\"ServiceUnavailable\""));
  EXPECT_EQ(answers_[2], "interrupted");
  EXPECT_EQ(answers_[3], "200 xxxxxxxxxx");
}

TEST_F(InProcessTransport, CutsAWatchInsideAnEvent) {
  const auto transport = make();
  scripted_.host->inject({.verb = "watch", .cut_after = 6});
  const auto recorder = std::make_shared<Recorder>();
  transport->stream(get("/api/v1/pods?watch=1"), recorder);
  transport->pump();
  scripted_.feed("pods", "one\n");
  transport->pump();
  scripted_.feed("pods", "two\n");
  transport->pump();
  EXPECT_THAT(recorder->heard, ElementsAre("200", "one\n", "tw", "interrupted"));
}

TEST_F(InProcessTransport, ASilentConnectionIsEndedByTheClientAlone) {
  const auto transport = make();
  scripted_.host->inject({.count = 1, .drop = FaultDrop::after, .ending = FaultEnding::silence});
  scripted_.host->inject({.count = 1, .cut_after = 3, .ending = FaultEnding::silence});
  send(*transport, {.target = "/a", .deadline = clock_->now() + 5s});
  const auto answer = std::make_shared<Recorder>();
  transport->stream({.target = "/big/9", .idle_timeout = 7s}, answer);
  const auto watch = std::make_shared<Recorder>();
  scripted_.host->inject({.verb = "watch", .cut_after_events = 1, .ending = FaultEnding::silence});
  const auto call = transport->stream(get("/api/v1/pods?watch=1"), watch);
  transport->pump();
  EXPECT_EQ(scripted_.backend->requests.size(), 3u);
  scripted_.feed("pods", "one\ntwo\n");
  transport->pump();
  EXPECT_EQ(scripted_.watches(), 0u);
  EXPECT_TRUE(answers_.empty());
  EXPECT_EQ(transport->next_due(), clock_->now() + 5s);
  clock_->advance(5s);
  transport->pump();
  EXPECT_THAT(answers_, ElementsAre("timeout"));
  clock_->advance(2s);
  transport->pump();
  EXPECT_THAT(answer->heard, ElementsAre("200", "xxx", "timeout"));
  clock_->advance(24h);
  EXPECT_EQ(transport->pump(), 0u);
  EXPECT_EQ(transport->next_due(), std::nullopt);
  EXPECT_THAT(watch->heard, ElementsAre("200", "one\n"));
  call->cancel();
  transport->pump();
  EXPECT_THAT(watch->heard, ElementsAre("200", "one\n", "cancelled"));
}

TEST_F(InProcessTransport, ResetsAndTruncates) {
  const auto transport = make();
  scripted_.host->inject({.count = 1, .drop = FaultDrop::before, .ending = FaultEnding::reset});
  scripted_.host->inject({.count = 1, .cut_after = 3, .ending = FaultEnding::reset});
  scripted_.host->inject({.count = 1, .cut_after = 3, .ending = FaultEnding::complete});
  for (int at = 0; at < 3; ++at) send(*transport, get("/big/9"));
  transport->pump();
  EXPECT_THAT(answers_, ElementsAre("interrupted", "interrupted", "200 xxx"));
}

// Regression: the cut of a request that was cancelled during its delay stayed reserved, so that its rule
// never fired again.
TEST_F(InProcessTransport, TheCutOfACancelledRequestIsLeftToAnother) {
  const auto transport = make();
  const FaultId id = scripted_.host->inject({.count = 1, .delay = 10s, .cut_after = 3});
  send(*transport, get("/big/9"));
  transport->pump();
  calls_[0]->cancel();
  transport->pump();
  EXPECT_EQ(scripted_.host->fault_counts(id).fired, 0u);
  for (int at = 0; at < 2; ++at) send(*transport, get("/big/9"));
  transport->pump();
  clock_->advance(10s);
  transport->pump();
  EXPECT_THAT(answers_, ::testing::UnorderedElementsAre("cancelled", "interrupted", "200 xxxxxxxxx"));
  EXPECT_EQ(scripted_.host->fault_counts(id).fired, 1u);
}

TEST_F(InProcessTransport, CutsAWatchByVirtualTime) {
  const auto transport = make();
  scripted_.host->inject({.count = 1, .cut_after_time = 30s, .ending = FaultEnding::complete});
  scripted_.host->inject({.status = 410, .cut_after_time = 1h});
  const auto first = std::make_shared<Recorder>();
  const auto second = std::make_shared<Recorder>();
  transport->stream(get("/api/v1/pods?watch=1"), first);
  transport->stream(get("/api/v1/pods?watch=1"), second);
  transport->pump();
  EXPECT_EQ(transport->next_due(), clock_->now() + 30s);
  clock_->advance(30s);
  transport->pump();
  EXPECT_THAT(first->heard, ElementsAre("200", "ended"));
  EXPECT_EQ(transport->next_due(), clock_->now() + 1h - 30s);
  clock_->advance(1h);
  transport->pump();
  ASSERT_EQ(second->heard.size(), 3u);
  EXPECT_THAT(second->heard[1], HasSubstr("\"type\":\"ERROR\""));
  EXPECT_EQ(second->heard[2], "ended");
  EXPECT_EQ(transport->next_due(), std::nullopt);
}

TEST_F(InProcessTransport, TwoTransportsOnOneCoreGetTheirOwnWatches) {
  const auto one = make();
  const auto two = make();
  const auto first = std::make_shared<Recorder>();
  const auto second = std::make_shared<Recorder>();
  one->stream(get("/watch/a"), first);
  two->stream(get("/watch/b"), second);
  one->pump();
  two->pump();
  scripted_.feed("/watch/a", "a\n");
  scripted_.feed("/watch/b", "b\n");
  one->pump();
  EXPECT_EQ(second->heard.size(), 1u);
  two->pump();
  EXPECT_THAT(first->heard, ElementsAre("200", "a\n"));
  EXPECT_THAT(second->heard, ElementsAre("200", "b\n"));
}

TEST_F(InProcessTransport, DestructionEndsWhatRuns) {
  auto transport = make();
  const auto recorder = std::make_shared<Recorder>();
  const auto call = transport->stream(get("/watch/a"), recorder);
  transport->pump();
  send(*transport, get("/a"));
  transport.reset();
  EXPECT_THAT(recorder->heard, ElementsAre("200", "closed"));
  EXPECT_THAT(answers_, ElementsAre("closed"));
  EXPECT_EQ(scripted_.watches(), 0u);
  call->cancel();
}

TEST_F(InProcessTransport, EndsWhatHandlersSendWhileItCloses) {
  auto transport = make();
  auto* const handle = transport.get();
  transport->send(get("/a"), [&](Outcome<http::Response>) { send(*handle, get("/b")); });
  transport.reset();
  EXPECT_THAT(answers_, ElementsAre("closed"));
}

TEST_F(InProcessTransport, PumpIsForPumpedTransportsOnly) {
  const auto transport = make({});
  EXPECT_THROW(transport->pump(), std::invalid_argument);
  EXPECT_THROW(transport->next_due(), std::invalid_argument);
}

using InProcessTransportConcurrency = InProcessTransport;

TEST_F(InProcessTransportConcurrency, ItsThreadAnswersBlockingCallers) {
  const auto transport = make({});
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int at = 0; at < 200; ++at) EXPECT_EQ(transport->fetch(get("/a")).status, 200);
    });
  }
}

TEST_F(InProcessTransportConcurrency, ItsThreadSleepsThroughTheClock) {
  const auto transport = make({});
  scripted_.host->inject({.delay = 1h});
  std::latch answered(1);
  transport->send({.target = "/a", .deadline = clock_->now() + 2h}, [&](Outcome<http::Response> outcome) {
    EXPECT_TRUE(outcome.ok());
    answered.count_down();
  });
  while (!answered.try_wait()) {
    clock_->wait_for_waiters(1);
    clock_->advance_to_next();
    std::this_thread::yield();
  }
  EXPECT_EQ(clock_->now().time_since_epoch(), 1h);
}

TEST_F(InProcessTransportConcurrency, ItsLastHandleMayBeDroppedOnItsThread) {
  std::latch dropped(1);
  {
    std::shared_ptr<apiserver::InProcessTransport> transport = make({});
    auto* const handle = transport.get();
    handle->send(get("/a"), [&dropped, transport = std::move(transport)](Outcome<http::Response>) mutable {
      transport.reset();
      dropped.count_down();
    });
  }
  dropped.wait();
}

TEST_F(InProcessTransportConcurrency, CancelsAndEndsWhileEventsCome) {
  for (int round = 0; round < 50; ++round) {
    auto transport = make({});
    const auto recorder = std::make_shared<Recorder>();
    const auto call = transport->stream(get("/watch/a"), recorder);
    std::jthread feeder([&] {
      for (int at = 0; at < 20; ++at) scripted_.feed("/watch/a", "e\n");
    });
    std::jthread canceller([&] { call->cancel(); });
    if (round % 2) canceller.join();
    transport.reset();
    EXPECT_FALSE(recorder->heard.empty());
    EXPECT_TRUE(recorder->heard.back() == "cancelled" || recorder->heard.back() == "closed");
  }
}

}  // namespace
}  // namespace evenkeel::apiserver::in_process_transport_tests
