// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <latch>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/http/curl_transport.hpp>

#include "curl_transport_fixture.hpp"

namespace evenkeel::http::curl_tests {
namespace {

/// Accepts a number of checks, then rejects.
class CountedGuard final : public WriteGuard {
 public:
  explicit CountedGuard(int passes) : left_(passes) {}
  void check() const override {
    if (left_.fetch_sub(1) <= 0) throw Error("its time is over");
  }
  void revoke() { left_ = 0; }

 private:
  mutable std::atomic<int> left_;
};

/// The ways of a request: on the caller's thread and a connection of its own, or on the transport's thread.
enum class Way { blocking, shared };

/// Returns the error of a guarded PUT, as text.
std::string guarded_put(Transport& transport, std::shared_ptr<const WriteGuard> guard,
                        Way way = Way::blocking, std::string body = "{}") {
  Request request{.method = Method::put, .target = "/x", .body = std::move(body), .guard = std::move(guard)};
  try {
    way == Way::blocking ? transport.fetch(std::move(request)) : shared_fetch(transport, std::move(request));
  } catch (const TransportError& error) {
    return error_of(std::current_exception());
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(CurlTransportGuard, WhatWaitsInTheQueueDoesNotLeaveAfterItsTime) {
  std::atomic<int> requests{0};
  std::latch both(2), revoked(1);
  ScriptedServer server([&](Connection& connection) {
    for (bool first = true; connection.read_request(); first = false) {
      ++requests;
      if (first) {
        both.count_down();
        revoked.wait();
      }
      connection.respond(200, "ok");
    }
  });
  const auto transport = transport_to(server, {.max_in_flight_http1 = 2});
  const auto guard = std::make_shared<CountedGuard>(1'000'000);
  std::vector<std::string> errors(20);
  std::latch done(20);
  for (std::size_t i = 0; i < 20; ++i) {
    transport->send({.method = Method::patch, .target = "/x", .body = "{}", .guard = guard},
                    [&, i](Outcome<Response> outcome) {
                      try {
                        outcome.value();
                      } catch (const Error& error) {
                        errors[i] = error.what();
                      }
                      done.count_down();
                    });
  }
  both.wait();
  guard->revoke();
  revoked.count_down();
  done.wait();
  EXPECT_EQ(requests, 2) << "those that had left";
  EXPECT_EQ(std::count(errors.begin(), errors.end(), ""), 2);
  EXPECT_EQ(std::count(errors.begin(), errors.end(), "its time is over"), 18);
  EXPECT_EQ(transport->fetch({.target = "/x"}).body, "ok") << "the transport goes on";
}

TEST(CurlTransportGuard, IsAskedWhenTheConnectionStandsAndBeforeTheBody) {
  std::atomic<int> requests{0};
  ScriptedServer server([&](Connection& connection) {
    while (connection.read_request()) {
      ++requests;
      connection.respond(200, "ok");
    }
  });
  const auto put = [&](int passes, Way way, std::size_t size) {
    const auto transport = transport_to(server);
    return guarded_put(*transport, std::make_shared<CountedGuard>(passes), way, std::string(size, 'b'));
  };
  for (const int passes : {0, 1, 2}) {  // when it is dequeued, connected, or has sent the head
    EXPECT_EQ(put(passes, Way::shared, 2), "its time is over");
    EXPECT_EQ(put(passes, Way::blocking, 20'000), "its time is over");
    if (passes < 2) {  // a small body leaves together with the head
      EXPECT_EQ(put(passes, Way::blocking, 2), "its time is over");
    }
  }
  EXPECT_EQ(requests, 0);
  for (const Way way : {Way::shared, Way::blocking}) EXPECT_EQ(put(100, way, 2), "no error");
  EXPECT_EQ(requests, 2);
}

// The first transmission may have had an effect, so the error must not look as if nothing was sent.
TEST(CurlTransportGuard, ASecondTryThatMayNotLeaveIsInterrupted) {
  for (const Way way : {Way::shared, Way::blocking}) {
    std::atomic<int> requests{0};
    ScriptedServer server([&](Connection& connection) {
      while (connection.read_request()) {
        if (++requests == 2) return;  // read but not answered
        connection.respond(200, "ok");
      }
    });
    const auto transport = transport_to(server);
    way == Way::shared ? shared_fetch(*transport, {.target = "/first"})
                       : transport->fetch({.target = "/first"});
    const int passes = way == Way::shared ? 3 : 2;  // those of the first try
    EXPECT_EQ(guarded_put(*transport, std::make_shared<CountedGuard>(passes), way),
              "interrupted: PUT " + server.url() +
                  "/x: the connection broke after the request was sent, and it may not be sent again");
    EXPECT_EQ(requests, 2);
  }
}

/// Valid until a moment that may be extended when it is reached.
class MovingGuard final : public WriteGuard {
 public:
  explicit MovingGuard(std::function<void()> moved) : moved_(std::move(moved)) {}
  void check() const override {}
  TimePoint valid_until() const noexcept override {
    if (!moved_ || std::chrono::steady_clock::now() < until_) return until_;
    if (!is_moved_.exchange(true)) moved_();
    return TimePoint::max();
  }

 private:
  const std::function<void()> moved_;
  const TimePoint until_ = in(20ms);
  mutable std::atomic<bool> is_moved_ = false;
};

TEST(CurlTransportGuard, ARequestOnItsWayEndsWithItsTime) {
  ScriptedServer server([](Connection& connection) { connection.wait_until_closed(); });
  const auto transport = transport_to(server);
  EXPECT_EQ(guarded_put(*transport, std::make_shared<MovingGuard>(nullptr)),
            "timeout: PUT " + server.url() + "/x: no answer before its guard's time was over");
}

TEST(CurlTransportGuard, ARequestOnItsWayGoesOnWhenItsTimeIsProlonged) {
  std::latch moved(1);
  ScriptedServer server([&](Connection& connection) {
    if (!connection.read_request()) return;
    moved.wait();
    connection.respond(200, "ok");
  });
  const auto transport = transport_to(server);
  EXPECT_EQ(guarded_put(*transport, std::make_shared<MovingGuard>([&] { moved.count_down(); })), "no error");
}

}  // namespace
}  // namespace evenkeel::http::curl_tests
