// SPDX-License-Identifier: Apache-2.0
// The HTTP endpoints of a running manager: probes, log level, routes of the program.
#include <atomic>
#include <memory>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/http/curl_transport.hpp>
#include <evenkeel/manager/endpoint.hpp>
#include <evenkeel/manager/log.hpp>
#include <evenkeel/manager/manager.hpp>
#include <evenkeel/serve/server.hpp>

#include "../support/await.hpp"
#include "world.hpp"

namespace evenkeel {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class EndpointConcurrency : public ::testing::Test {
 protected:
  EndpointConcurrency() { make(world.options()); }
  void make(ManagerOptions options) {
    running.reset();
    manager = std::make_unique<Manager>(world.client(), std::move(options));
  }
  void start(EndpointOptions options = {.metrics_address = "127.0.0.1:0", .probe_address = "localhost:0"}) {
    manager->serve(std::move(options));
    running = std::make_unique<Running>(*manager);
    world.wait_for_line("serving what=metrics");
  }
  // Returns the address in the log.
  std::string url(const std::string& what) const {
    world.wait_for_line("serving what=" + what + " ");
    const std::string line = world.happenings->lines_with("serving what=" + what + " ").back();
    return line.substr(line.find("url=") + 4);
  }
  http::Response ask(const std::string& what, http::Request request) const {
    return http::make_curl_transport({.server = url(what), .proxy = ""})->fetch(std::move(request));
  }
  http::Response get(const std::string& what, const std::string& target) const {
    return ask(what, {.target = target});
  }

  World world;
  std::unique_ptr<Manager> manager;
  std::unique_ptr<Running> running;
};

TEST_F(EndpointConcurrency, ProbesNameTheControllerThatWaitsAndWhy) {
  manager->add(controller_for<Gadget>([](Context&, const Gadget&) { return done(); }));
  start();
  tests::await("a reason", [this] {
    return get("probes", "/readyz/controller/gadget").body.find("list Gadget: 404") != std::string::npos;
  });
  const http::Response waiting = get("probes", "/readyz");
  EXPECT_EQ(waiting.status, 500);
  EXPECT_THAT(
      waiting.body,
      AllOf(StartsWith(
                "[-]controller/gadget failed: gadgets (test.evenkeel.dev/v1): list Gadget: 404 NotFound"),
            HasSubstr("; is its CustomResourceDefinition installed?\n"),
            HasSubstr("\n[+]ping ok\n[+]shutdown ok\nreadyz check failed\n")));
  EXPECT_EQ(get("probes", "/healthz").body, "ok");
  world.install_crd();
  tests::await("readiness", [this] { return get("probes", "/readyz").status == 200; });
  EXPECT_EQ(get("probes", "/readyz?verbose").body,
            "[+]controller/gadget ok\n[+]ping ok\n[+]shutdown ok\nreadyz check passed\n");
  EXPECT_EQ(get("probes", "/readyz/nothing").status, 404);
  EXPECT_EQ(get("probes", "/metrics").status, 404);
}

TEST_F(EndpointConcurrency, TheProgramAddsChecksOfItsOwn) {
  std::atomic<bool> full = false;
  manager->add_health_check("disk", [&] { return std::string(full ? "the disk is full" : ""); });
  manager->add_readiness_check("licence", [] { return std::string(); });
  EXPECT_THROW(manager->add_health_check("disk", [] { return std::string(); }), std::invalid_argument);
  start();
  EXPECT_EQ(get("probes", "/healthz?verbose").body, "[+]disk ok\n[+]ping ok\nhealthz check passed\n");
  full = true;
  EXPECT_EQ(get("probes", "/healthz").body,
            "[-]disk failed: the disk is full\n[+]ping ok\nhealthz check failed\n");
  EXPECT_EQ(get("probes", "/healthz/disk").body, "internal server error: the disk is full\n");
  EXPECT_EQ(get("probes", "/readyz/licence").body, "ok");
  // Also for a host with its own server.
  EXPECT_EQ(manager->answer_probe("/healthz/disk").status, 500);
  EXPECT_EQ(manager->answer_probe("/healthz?exclude=disk").body, "ok");
  EXPECT_EQ(manager->answer_probe("/metrics").status, 404);
  EXPECT_EQ(manager->answer_probe("/healthzzz").status, 404);
}

TEST_F(EndpointConcurrency, CallbacksOfTheProgramThatBlockHoldUpNoProbe) {
  std::binary_semaphore go(0);
  manager->add_readiness_check("billing", [&go] {
    go.acquire();
    go.release();
    return std::string();
  });
  manager->metrics().add("blocking", [&go](MetricSink&) {
    go.acquire();
    go.release();
  });
  start();
  std::jthread scraping([this] { EXPECT_EQ(get("metrics", "/metrics").status, 200); });
  EXPECT_THAT(get("probes", "/readyz/billing").body,
              StartsWith("internal server error: has not answered for "));
  EXPECT_EQ(get("probes", "/healthz").body, "ok");
  go.release();
  tests::await("the check's answer", [this] { return get("probes", "/readyz/billing").status == 200; });
}

TEST_F(EndpointConcurrency, ConnectionsAreCounted) {
  start();
  get("probes", "/healthz");
  const std::string metrics = get("metrics", "/metrics").body;
  EXPECT_THAT(metrics, HasSubstr("evenkeel_endpoint_connections{endpoint=\"metrics\"} 1\n"));
  EXPECT_THAT(
      metrics,
      HasSubstr("evenkeel_endpoint_connections_closed_total{endpoint=\"probes\",reason=\"peer_full\"} 0\n"));
}

TEST_F(EndpointConcurrency, AStandbyIsReady) {
  ManagerOptions options = world.options();
  options.election = ElectionOptions{.name = "op", .namespace_ = "default", .identity = "second"};
  options.election_client = world.client();
  make(std::move(options));
  world.install_crd();
  ASSERT_EQ(
      world
          .call(http::Method::post, "/apis/coordination.k8s.io/v1/namespaces/default/leases",
                R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"op"},"spec":{
                         "holderIdentity":"first","leaseDurationSeconds":3600,
                         "renewTime":"2030-01-01T00:00:00.000000Z"}})")
          .status,
      201);
  manager->add(controller_for<Gadget>([](Context&, const Gadget&) { return done(); }));
  start();
  tests::await("readiness", [this] { return get("probes", "/readyz").status == 200; });
  EXPECT_FALSE(manager->is_leader());
  EXPECT_EQ(get("probes", "/healthz/leaderElection").body, "ok");
}

TEST_F(EndpointConcurrency, TheLevelOfTheLogIsChangedWhileItRuns) {
  std::atomic<int> lines = 0;
  const auto sink = make_log({.level = LogLevel::info, .writer = [&](std::string_view) { ++lines; }});
  const Log tee = world.log();
  // The level belongs to the sink; the address is read from another log.
  class Both final : public LogSink {
   public:
    Both(std::shared_ptr<StandardLog> one, std::shared_ptr<Happenings> two)
        : one_(std::move(one)), two_(std::move(two)) {}
    bool enabled(LogLevel level) const noexcept override { return one_->enabled(level); }
    void write(LogLevel level, std::string_view message, LogFields bound,
               LogFields fields) noexcept override {
      one_->write(level, message, bound, fields);
      two_->write(level, message, bound, fields);
    }
    bool set_level(LogLevel level) noexcept override { return one_->set_level(level); }

   private:
    std::shared_ptr<StandardLog> one_;
    std::shared_ptr<Happenings> two_;
  };
  ManagerOptions options = world.options();
  options.log = Log(std::make_shared<Both>(sink, world.happenings));
  make(std::move(options));
  start();
  EXPECT_EQ(get("metrics", "/debug/log-level").body, "info\n");
  EXPECT_FALSE(manager->log().enabled(LogLevel::debug));
  const http::Response changed =
      ask("metrics", {.method = http::Method::put, .target = "/debug/log-level", .body = "debug\n"});
  EXPECT_EQ(changed.status, 200);
  EXPECT_EQ(changed.body, "debug\n");
  EXPECT_TRUE(manager->log().enabled(LogLevel::debug));
  EXPECT_EQ(world.happenings->lines_with("the level of the log was changed level=debug").size(), 1u);
  const http::Response wrong =
      ask("metrics", {.method = http::Method::put, .target = "/debug/log-level", .body = "loud"});
  EXPECT_EQ(wrong.status, 400);
  EXPECT_EQ(wrong.body, "\"loud\" is none of debug, info, warn, error, off\n");
  EXPECT_EQ(ask("metrics", {.method = http::Method::post, .target = "/debug/log-level"}).status, 405);
  // Set by the program.
  EXPECT_TRUE(manager->log().set_level(LogLevel::error));
  EXPECT_EQ(get("metrics", "/debug/log-level").body, "error\n");
  // A forwarded request does not count as one from this machine.
  EXPECT_EQ(
      ask("metrics", {.target = "/debug/log-level", .headers = {{"X-Forwarded-For", "10.0.0.1"}}}).status,
      403);
}

// So that all lines of one run can be found, whichever component wrote them.
TEST_F(EndpointConcurrency, EveryLineOfAReconcileNamesControllerObjectAndRun) {
  world.install_crd();
  world.create_gadget("web");
  std::atomic<int> runs = 0;
  manager->add(controller_for<Gadget>([&](Context& context, const Gadget&) {
    context.log().info("a line of the program");
    if (runs++ == 0) throw Error("not today");
    return done();
  }));
  start();
  world.wait_for_line("reconcile recovered");
  for (const char* message : {"a line of the program", "reconcile failed", "reconcile recovered"}) {
    for (const std::string& line : world.happenings->lines_with(message)) {
      EXPECT_THAT(line, AllOf(HasSubstr(" controller=gadget "), HasSubstr(" object=default/web "),
                              ::testing::ContainsRegex(" reconcile_id=[0-9a-f]{16}( |$)")));
    }
  }
  EXPECT_EQ(world.happenings->lines_with("a line of the program").size(), 2u);
}

TEST_F(EndpointConcurrency, ALogWithoutLevelsSaysSo) {
  start();
  const http::Response refused =
      ask("metrics", {.method = http::Method::put, .target = "/debug/log-level", .body = "debug"});
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(refused.body, "the log's level cannot be changed\n");
}

TEST_F(EndpointConcurrency, RoutesOfTheProgramAreServedBeforeAndAfterTheStart) {
  const auto answer = [](const std::string& text) {
    return [text](const http::ServerCall& call) {
      return http::Response{.status = 200, .body = text + std::string(call.rest)};
    };
  };
  manager->route("/early/", answer("early "), {});
  start();
  manager->route("/late", answer("late"), {});
  EXPECT_EQ(get("metrics", "/early/bird").body, "early bird");
  EXPECT_EQ(get("metrics", "/late").body, "late");
  running->stop();
  manager->route("/too-late", answer("nobody"), {});
}

TEST_F(EndpointConcurrency, OneAddressServesBoth) {
  start({.metrics_address = "localhost:0", .probe_address = "localhost:0"});
  EXPECT_EQ(get("metrics", "/healthz").body, "ok");
  EXPECT_EQ(get("metrics", "/metrics").status, 200);
}

TEST_F(EndpointConcurrency, AnAddressThatIsTakenEndsTheRunWithItsName) {
  start();
  const std::string taken = url("metrics").substr(7);
  World other;
  Manager second(other.client(), other.options());
  second.serve({.metrics_address = taken});
  try {
    second.run({});
    FAIL() << "two managers on one port";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "endpoint: cannot listen on " + taken + ": Address already in use");
  }
  EXPECT_THROW(second.serve({.probe_address = "8081"}), std::invalid_argument);
}

TEST_F(EndpointConcurrency, NothingIsServedUnlessAskedFor) {
  manager->serve({});
  manager->serve({.metrics_address = "0", .probe_address = "0"});
  running = std::make_unique<Running>(*manager);
  running->stop();
  EXPECT_TRUE(world.happenings->lines_with("serving").empty());
}

}  // namespace
}  // namespace evenkeel
