// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <latch>
#include <memory>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/http/curl_transport.hpp>

#include "curl_transport_fixture.hpp"

namespace evenkeel::http::curl_tests {
namespace {

using ::testing::HasSubstr;

TEST(CurlTransportStream, DeliversPiecesAndAProperEnd) {
  ScriptedServer server([](Connection& connection) {
    connection.read_request();
    connection.start_chunked(200, "X-A: b\r\n");
    for (const char* piece : {"one\n", "two\n", ""}) connection.chunk(piece);
    connection.wait_until_closed();
  });
  const auto recorder = std::make_shared<Recorder>();
  transport_to(server)->stream({.target = "/watch"}, recorder);
  // The transport is destroyed immediately: the stream ends one way or another, exactly once.
  const auto transport = transport_to(server);
  const auto second = std::make_shared<Recorder>();
  transport->stream({.target = "/watch"}, second);
  EXPECT_EQ(second->wait_for_end(), "no error");
  EXPECT_EQ(second->data_, "one\ntwo\n");
  EXPECT_EQ(second->status_, 200);
  EXPECT_EQ(*second->headers_.find("x-a"), "b");
  recorder->wait_for_end();
}

TEST(CurlTransportStream, ATornBodyIsInterrupted) {
  ScriptedServer server([](Connection& connection) {
    connection.read_request();
    connection.start_chunked(200);
    connection.write("64\r\n{\"type\":\"ADD");
  });
  const auto transport = transport_to(server);
  const auto recorder = std::make_shared<Recorder>();
  transport->stream({.target = "/watch"}, recorder);
  EXPECT_THAT(recorder->wait_for_end(), HasSubstr("interrupted: GET "));
  EXPECT_EQ(recorder->data_, "{\"type\":\"ADD");
}

TEST(CurlTransportStream, EachHasADedicatedConnection) {
  ScriptedServer server([](Connection& connection) {
    while (auto request = connection.read_request()) {
      if (request->target != "/watch") {
        connection.respond(200, "ok");
        continue;
      }
      connection.start_chunked(200);
      connection.chunk("x");
      connection.wait_until_closed();
    }
  });
  const auto transport = transport_to(server);
  transport->fetch({.target = "/a"});
  const auto first = std::make_shared<Recorder>();
  const auto second = std::make_shared<Recorder>();
  const auto one = transport->stream({.target = "/watch"}, first);
  const auto two = transport->stream({.target = "/watch"}, second);
  first->wait_for_bytes(1);
  second->wait_for_bytes(1);
  transport->fetch({.target = "/b"});
  EXPECT_EQ(server.connections(), 3);
  one->cancel();
  two->cancel();
  EXPECT_THAT(first->wait_for_end(), HasSubstr("cancelled: "));
  EXPECT_THAT(second->wait_for_end(), HasSubstr("cancelled: "));
}

TEST(CurlTransportStream, ASilentPeerIsGivenUpAfterTheIdleTimeout) {
  ScriptedServer server([](Connection& connection) {
    auto request = connection.read_request();
    if (request && request->target == "/watch") {
      connection.start_chunked(200);
      connection.chunk("x");
    }
    connection.wait_until_closed();
  });
  const auto transport = transport_to(server, {.idle_timeout = 40ms});
  const auto before_headers = std::make_shared<Recorder>();
  transport->stream({.target = "/mute"}, before_headers);
  EXPECT_EQ(before_headers->wait_for_end(),
            "timeout: GET " + server.url() + "/mute: nothing was received for 40ms");
  const auto after_data = std::make_shared<Recorder>();
  transport->stream({.target = "/watch", .idle_timeout = 25ms}, after_data);
  EXPECT_EQ(after_data->wait_for_end(),
            "timeout: GET " + server.url() + "/watch: nothing was received for 25ms");
  EXPECT_EQ(after_data->data_, "x");
}

TEST(CurlTransportStream, DeadlineEndsAStreamThatKeepsTalking) {
  ScriptedServer server([](Connection& connection) {
    connection.read_request();
    connection.start_chunked(200);
    while (connection.chunk(std::string(100, 'x'))) {
    }
  });
  const auto transport = transport_to(server);
  const auto recorder = std::make_shared<Recorder>();
  transport->stream({.target = "/watch", .deadline = in(30ms)}, recorder);
  EXPECT_EQ(recorder->wait_for_end(), "timeout: GET " + server.url() + "/watch: deadline exceeded");
}

void expect_back_pressure(tests::ScriptedServerOptions tls, CurlTransportOptions options) {
  constexpr std::size_t total = 48UL * 1024 * 1024;  // more than the kernel buffers on both sides
  std::atomic<bool> wrote_all{false};
  ScriptedServer server(
      [&](Connection& connection) {
        auto request = connection.read_request();
        if (!request) return;
        if (request->target == "/ping") {
          connection.respond(200, "ok");
          return;
        }
        connection.start_chunked(200);
        const std::string piece(64UL * 1024, 'x');
        for (std::size_t sent = 0; sent < total; sent += piece.size()) {
          if (!connection.chunk(piece)) return;
        }
        wrote_all = true;
        connection.chunk("");
        connection.wait_until_closed();
      },
      std::move(tls));
  const auto transport = transport_to(server, std::move(options));
  const auto recorder = std::make_shared<Recorder>();
  std::latch have_call(1);
  std::shared_ptr<Call> call;
  std::atomic<int> pauses{0};
  recorder->during_data = [&] {
    have_call.wait();
    if (pauses++ == 0) call->pause();
  };
  call = transport->stream({.target = "/watch"}, recorder);
  have_call.count_down();
  recorder->wait_for_bytes(1);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(transport->fetch({.target = "/ping"}).body, "ok") << "others go on";
  const std::size_t at_pause = recorder->bytes();
  EXPECT_LE(at_pause, 64UL * 1024) << "one piece at most";
  EXPECT_FALSE(wrote_all) << "the server must feel it";
  call->resume();
  EXPECT_EQ(recorder->wait_for_end(), "no error");
  EXPECT_EQ(recorder->data_.size(), total);
}

TEST(CurlTransportStream, PauseHoldsTheServerBackAndResumeGoesOn) {
  expect_back_pressure({}, {});
}

TEST(CurlTransportStream, PauseHoldsTheServerBackOverTls) {
  const Authority authority("test-ca");
  const Pem pem = authority.issue_server("IP:127.0.0.1");
  expect_back_pressure({.cert = pem.cert, .key = pem.key}, {.tls = {.ca_data = authority.pem()}});
}

TEST(CurlTransportStream, APausedStreamDoesNotTimeOut) {
  ScriptedServer server([](Connection& connection) {
    connection.read_request();
    connection.start_chunked(200);
    connection.chunk("x");
    connection.wait_until_closed();
  });
  const auto transport = transport_to(server, {.idle_timeout = 30ms});
  const auto paused = std::make_shared<Recorder>();
  const auto reading = std::make_shared<Recorder>();
  const auto call = transport->stream({.target = "/watch"}, paused);
  paused->wait_for_bytes(1);
  call->pause();
  transport->stream({.target = "/watch"}, reading);
  EXPECT_THAT(reading->wait_for_end(), HasSubstr("timeout: "));
  EXPECT_FALSE(paused->ended());
  call->resume();
  EXPECT_THAT(paused->wait_for_end(), HasSubstr("timeout: "));
}

TEST(CurlTransportStream, MayBeCancelledFromItsOwnHandler) {
  ScriptedServer server([](Connection& connection) {
    connection.read_request();
    connection.start_chunked(200);
    while (connection.chunk("x")) {
    }
  });
  const auto transport = transport_to(server);
  const auto recorder = std::make_shared<Recorder>();
  std::latch have_call(1);
  std::shared_ptr<Call> call;
  std::size_t pieces = 0;
  recorder->during_data = [&] {
    have_call.wait();
    ++pieces;
    call->cancel();
  };
  call = transport->stream({.target = "/watch"}, recorder);
  have_call.count_down();
  EXPECT_THAT(recorder->wait_for_end(), HasSubstr("cancelled: "));
  EXPECT_EQ(pieces, 1U);
}

TEST(CurlTransportStream, AThrowingHandlerEndsOnlyItsOwnStream) {
  ScriptedServer server(always(200, "hello"));
  const auto transport = transport_to(server);
  const auto recorder = std::make_shared<Recorder>();
  recorder->during_data = [] { throw Cancelled("thrown by the handler"); };
  transport->stream({.target = "/watch"}, recorder);
  EXPECT_EQ(recorder->wait_for_end(), "cancelled: thrown by the handler");
  EXPECT_EQ(transport->fetch({.target = "/x"}).body, "hello");
}

}  // namespace
}  // namespace evenkeel::http::curl_tests
