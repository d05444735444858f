// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <latch>
#include <stop_token>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/http/curl_transport.hpp>

#include "curl_transport_fixture.hpp"

namespace evenkeel::http::curl_tests {
namespace {

TEST(CurlTransportBlocking, DoesNotDependOnTheTransportsThread) {
  ScriptedServer server(always(200, "ok"));
  std::latch blocked(1), free(1);  // outlive the transport's thread
  const auto transport = transport_to(server);
  transport->send({.target = "/x"}, [&](const Outcome<Response>&) {
    blocked.count_down();
    free.wait();
  });
  blocked.wait();
  EXPECT_EQ(transport->fetch({.target = "/y"}).body, "ok");
  free.count_down();
}

TEST(CurlTransportBlocking, WaitsForAConnectionUntilItsDeadlineOrAStop) {
  std::latch asked(1), go_on(1);
  ScriptedServer server([&](Connection& connection) {
    connection.read_request();
    asked.count_down();
    go_on.wait();
    connection.respond(200, "ok");
  });
  const auto transport = transport_to(server, {.max_in_flight_http1 = 1});
  std::thread first([&] { EXPECT_EQ(transport->fetch({.target = "/x"}).body, "ok"); });
  asked.wait();
  EXPECT_EQ(error_of([&] { transport->fetch({.target = "/y", .deadline = in(20ms)}); }),
            "timeout: GET " + server.url() + "/y: no answer before the deadline");
  std::stop_source stop;
  std::thread stopper([&] { stop.request_stop(); });
  EXPECT_EQ(error_of([&] { transport->fetch({.target = "/z"}, stop.get_token()); }),
            "cancelled: GET /z: cancelled");
  stopper.join();
  go_on.count_down();
  first.join();
  EXPECT_EQ(server.connections(), 1);
}

TEST(CurlTransportBlocking, EndsWithTheTransport) {
  std::latch asked(1);
  ScriptedServer server([&](Connection& connection) {
    connection.read_request();
    asked.count_down();
    connection.wait_until_closed();
  });
  auto transport = transport_to(server, {.max_in_flight_http1 = 1});
  Transport& raw = *transport;
  std::thread caller([&] {
    EXPECT_EQ(error_of([&] { raw.fetch({.target = "/x"}); }),
              "closed: GET " + server.url() + "/x: the transport was closed");
  });
  asked.wait();
  transport.reset();
  caller.join();
}

}  // namespace
}  // namespace evenkeel::http::curl_tests
