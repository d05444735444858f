// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/client/flow_control.hpp>
#include <evenkeel/client/request_meter.hpp>

#include "fake_transport.hpp"
#include "widget.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using tests::FakeTransport;
using tests::Widget;

constexpr const char* served_widget =
    R"({"apiVersion":"test.dev/v1","kind":"Widget","metadata":{"name":"web","namespace":"default"}})";

class FlowControlConcurrency : public ::testing::Test {
 protected:
  Client make() {
    return Client(Config{.server = "https://h"},
                  {.transport = transport, .clock = clock, .flow_control = flow_control});
  }
  void get(const Client& from) {
    transport->reply(200, served_widget);
    from.get<Widget>(key);
  }
  std::size_t sent() { return transport->requests().size(); }
  double waited(const Client& of) { return of.meter()->metrics().waits.at("GET").sum; }

  const ObjectKey key{"default", "web"};
  std::shared_ptr<FakeTransport> transport = std::make_shared<FakeTransport>();
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  std::shared_ptr<FlowControl> flow_control = std::make_shared<FlowControl>(token_bucket(1.0, 2));
  Client client = make();
};

TEST_F(FlowControlConcurrency, CallsBeyondTheBurstWaitForTheRate) {
  get(client);
  get(client);
  EXPECT_EQ(waited(client), 0);
  std::thread third([&] { get(client); });
  clock->wait_for_waiters(1);
  EXPECT_EQ(sent(), 2U);
  clock->advance(1s);
  third.join();
  EXPECT_EQ(sent(), 3U);
  EXPECT_EQ(waited(client), 1);
}

TEST_F(FlowControlConcurrency, ClientsCanShareOne) {
  const Client other = make();
  get(client);
  get(other);
  std::thread third([&] { get(other); });
  clock->wait_for_waiters(1);
  clock->advance(1s);
  third.join();
  EXPECT_EQ(waited(client), 0);
  EXPECT_EQ(waited(other), 1);
}

TEST_F(FlowControlConcurrency, ACallThatWouldMissItsDeadlineFailsAtOnceAndTakesNoToken) {
  get(client);
  get(client);
  try {
    client.with({.timeout = 500ms}).get<Widget>(key);
    ADD_FAILURE() << "no error";
  } catch (const TransportError& error) {
    EXPECT_EQ(error.code(), TransportErrorCode::timeout);
    EXPECT_THAT(error.what(), HasSubstr("get Widget default/web: the client-side flow control"));
  }
  EXPECT_EQ(sent(), 2U);
  clock->advance(1s);
  get(client);
  EXPECT_EQ(waited(client), 0);
}

TEST_F(FlowControlConcurrency, EachRetryTakesAToken) {
  transport->reply(429, "", {{"Retry-After", "1"}});
  transport->reply(429, "", {{"Retry-After", "1"}});
  std::thread call([&] { get(client); });
  for (int wait = 0; wait < 2; ++wait) {
    clock->wait_for_waiters(1);
    clock->advance(1s);
  }
  call.join();
  EXPECT_EQ(sent(), 3U);
  EXPECT_EQ(client.meter()->metrics().waits.at("GET").counts.front(), 3U);
}

TEST_F(FlowControlConcurrency, ACompletionWaitsWithoutBlockingAndCanBeCancelled) {
  get(client);
  get(client);
  std::optional<std::string> error;
  const auto call = client.start(calls::get<Widget>(key), [&](Outcome<Snapshot<Widget>> outcome) {
    try {
      outcome.value();
    } catch (const Cancelled& cancelled) {
      error = cancelled.what();
    }
  });
  clock->wait_for_waiters(1);
  EXPECT_EQ(sent(), 2U);
  call->cancel();
  EXPECT_EQ(error, "get Widget default/web: cancelled");
}

TEST_F(FlowControlConcurrency, DoesNotHoldCallsWithoutItNorStreams) {
  get(client);
  get(client);
  get(client.with({.without_flow_control = true}));
  EXPECT_EQ(sent(), 3U);
  struct Silent final : http::StreamHandler {
    void on_response(int, const http::Headers&) override {}
    void on_data(std::string_view) override {}
    void on_end(std::exception_ptr) override {}
  };
  client.stream({.resource = Widget::resource}, std::make_shared<Silent>())->cancel();
  EXPECT_EQ(sent(), 4U);
}

}  // namespace
}  // namespace evenkeel
