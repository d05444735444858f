// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/api/json.hpp>
#include <evenkeel/serve/server.hpp>
#include <evenkeel/testing/log_recorder.hpp>
#include <evenkeel/tracing/otlp_exporter.hpp>

#include "../client/fake_transport.hpp"

namespace evenkeel {
namespace {
namespace otlp_exporter_test {

using namespace std::chrono_literals;
using tests::FakeTransport;

constexpr Duration patience = 300s;  // ends a test that hangs

struct World {
  std::shared_ptr<FakeTransport> transport = std::make_shared<FakeTransport>();
  OtlpOptions options() const {
    return {.service_name = "op", .drain_timeout = Duration::zero(), .transport = transport};
  }
};

std::string names_in(const http::Request& request) {
  std::string names;
  const Json body = Json::parse(request.body);
  for (const Json& span : body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array())
    names += span["name"].as_string() + " ";
  return names;
}

TEST(OtlpExporter, PostsSpansToTheEndpoint) {
  World world;
  world.transport->reply(200, "{}");
  OtlpOptions options = world.options();
  options.endpoint = "http://collector:4318/v1/traces";
  options.headers.add("Authorization", "Bearer t");
  OtlpExporter exporter(options);
  exporter.on_end({.name = "a"});
  exporter.on_end({.name = "b"});
  EXPECT_TRUE(exporter.flush(patience));
  const http::Request sent = world.transport->last();
  EXPECT_EQ(sent.method, http::Method::post);
  EXPECT_EQ(sent.target, "/v1/traces");
  EXPECT_EQ(*sent.headers.find("Authorization"), "Bearer t");
  EXPECT_EQ(*sent.headers.find("Content-Type"), "application/json");
  EXPECT_EQ(names_in(sent), "a b ");
  EXPECT_EQ(exporter.counts().exported, 2u);
}

TEST(OtlpExporter, RetriesACollectorThatIsAwayAndDropsWhatItRefuses) {
  World world;
  world.transport->fail(TransportErrorCode::connect);
  world.transport->reply(503, "busy");
  world.transport->reply(200, "");
  world.transport->reply(400, "no");
  OtlpOptions options = world.options();
  options.first_retry = 1ns;
  OtlpExporter exporter(options);
  exporter.on_end({.name = "a"});
  EXPECT_TRUE(exporter.flush(patience));
  EXPECT_EQ(world.transport->requests().size(), 3u);
  exporter.on_end({.name = "b"});
  EXPECT_TRUE(exporter.flush(patience));
  EXPECT_EQ(exporter.counts().exported, 1u);
  EXPECT_EQ(exporter.counts().dropped, 1u);
}

// Regression: it was not logged while a batch was sent or waited for its retry, which is when spans are
// dropped.
TEST(OtlpExporterConcurrency, LogsOnceThatSpansAreDropped) {
  World world;
  world.transport->hang();
  const auto log = std::make_shared<testing::LogRecorder>();
  OtlpOptions options = world.options();
  options.log = Log(log);
  options.max_batch = 1;
  options.max_queue = 2;
  OtlpExporter exporter(options);
  exporter.on_end({.name = "sent"});
  while (world.transport->requests().empty()) std::this_thread::yield();
  for (int i = 0; i < 10; ++i) exporter.on_end({.name = "x"});
  EXPECT_GT(exporter.counts().dropped, 1u);
  EXPECT_EQ(log->lines_with("spans are dropped").size(), 1u);
}

TEST(OtlpExporterConcurrency, KeepsNoLongAnswerOfTheCollector) {
  http::Server collector;
  collector.add_site({});
  collector.route(0, "/v1/traces",
                  [](const http::ServerCall&) {
                    return http::Response{.status = 500, .headers = {}, .body = std::string(1u << 20, 'x')};
                  },
                  {.methods = {http::Method::post}});
  collector.start();
  const auto log = std::make_shared<testing::LogRecorder>();
  OtlpExporter exporter({.endpoint = collector.url(0) + "/v1/traces",
                         .service_name = "op",
                         .drain_timeout = Duration::zero(),
                         .log = Log(log)});
  exporter.on_end({.name = "a"});
  exporter.flush(1ns);
  while (log->lines().empty()) std::this_thread::yield();
  EXPECT_NE(log->lines().front().find("the answer exceeds 65536 bytes"), std::string::npos)
      << log->lines().front();
}

TEST(OtlpExporter, RefusesAnEndpointThatIsNoUrl) {
  for (const char* const endpoint : {"", "collector:4318", "http://", "ftp://host/x"}) {
    try {
      const OtlpExporter exporter({.endpoint = endpoint});
      ADD_FAILURE() << endpoint;
    } catch (const std::invalid_argument& wrong) {
      EXPECT_EQ(std::string(wrong.what()), "OtlpOptions: endpoint \"" + std::string(endpoint) +
                                               "\" is not an http or https URL with a host");
    }
  }
}

TEST(OtlpExporter, ShowsNoCredentialOfItsEndpoint) {
  const auto refusal = [](const std::string& endpoint) -> std::string {
    try {
      const OtlpExporter exporter({.endpoint = endpoint});
      return "taken";
    } catch (const std::invalid_argument& wrong) {
      return wrong.what();
    }
  };
  EXPECT_EQ(refusal("bob:hunter2@collector:4318"),
            "OtlpOptions: endpoint \"collector:4318\" is not an http or https URL with a host");
  EXPECT_EQ(refusal("http://bob:hun ter2@collector:4318/v1/traces"),
            "OtlpOptions: endpoint \"http://collector:4318/v1/traces\" must not carry a user or password; "
            "use headers");
  EXPECT_EQ(refusal("http://bob:hunter/2@collector:4318"),
            "OtlpOptions: endpoint \"http://collector:4318\" must not carry a user or password; use headers");
  EXPECT_EQ(refusal("http://coll ector:4318/v1?key=hunter2"),
            "CurlTransportOptions.server \"http://coll ector:4318\": not a URL");
}

TEST(OtlpExporterConcurrency, TakesSpansFromManyThreadsWhileItSends) {
  World world;
  for (int i = 0; i < 400; ++i) world.transport->reply(200, "");
  OtlpOptions options = world.options();
  options.max_batch = 8;
  options.max_queue = 4000;
  OtlpExporter exporter(options);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&exporter] {
      for (int i = 0; i < 200; ++i) exporter.on_end({.name = "x"});
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(exporter.flush(patience));
  EXPECT_EQ(exporter.counts().exported, 800u);
}

TEST(OtlpExporterConcurrency, EndsWhileARequestHangs) {
  World world;
  world.transport->hang();
  OtlpOptions options = world.options();
  options.max_batch = 1;
  {
    OtlpExporter exporter(options);
    exporter.on_end({.name = "x"});
    while (world.transport->requests().empty()) std::this_thread::yield();
  }
  EXPECT_EQ(world.transport->requests().size(), 1u);
}

}  // namespace otlp_exporter_test
}  // namespace
}  // namespace evenkeel
