// SPDX-License-Identifier: Apache-2.0
// Webhooks over TLS, alone and in a manager.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/http/curl_transport.hpp>
#include <evenkeel/metrics/text.hpp>
#include <evenkeel/testing/log_recorder.hpp>
#include <evenkeel/webhook/answer.hpp>
#include <evenkeel/webhook/webhook_server.hpp>

#include "../support/await.hpp"
#include "../support/resident_memory.hpp"
#include "../support/sanitized.hpp"
#include "today.hpp"
#include "webhook/large_reviews.hpp"
#include "webhook/x509.hpp"
#include "website.hpp"

namespace evenkeel::webhook_tests {
namespace server {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using tests::await;
using tests::today;

http::Request review_of(const char* path, const char* image) {
  AdmissionRequest request{
      .uid = "u", .resource = ResourceId(Website::resource), .name = "web", .namespace_ = "default"};
  Website site;
  site.metadata.name = "web";
  site.spec.image = image;
  request.object = to_tree(site);
  return {.method = http::Method::post,
          .target = path,
          .headers = {{"Content-Type", "application/json"}},
          .body = admission_review(request).dump()};
}

struct Running {
  explicit Running(std::size_t workers = 2, std::size_t max_waiting = 256,
                   WebhookServerEnvironment environment = {})
      : server({.address = "127.0.0.1:0", .workers = workers, .max_waiting = max_waiting},
               detail::make_serving(authority, {"127.0.0.1"}, today()), std::move(environment)) {}

  http::TlsPair authority = detail::make_authority("test", today());
  WebhookServer server;

  http::Response send(http::Request request) const {
    request.deadline = real_clock()->now() + 60s;  // ends a test that hangs
    return http::make_curl_transport({.server = server.url(), .tls = {.ca_data = authority.certificate}})
        ->fetch(std::move(request));
  }
  http::Response post(const char* image) const {
    return send(review_of("/validate-demo-example-com-v2-website", image));
  }
  /// Asks for a conversion of a Website to `version`.
  http::Response convert(const char* version) const {
    const Json site = Json::parse(R"({"apiVersion":"demo.example.com/v1","kind":"Website",
        "metadata":{"name":"web","namespace":"default"},"spec":{"size":3,"image":"nginx"}})");
    Json review = Json::object({{"apiVersion", "apiextensions.k8s.io/v1"}, {"kind", "ConversionReview"}});
    review["request"] =
        Json::object({{"uid", "u"}, {"desiredAPIVersion", version}, {"objects", Json::array({site})}});
    return send({.method = http::Method::post,
                 .target = std::string(convert_path),
                 .headers = {{"Content-Type", "application/json"}},
                 .body = review.dump()});
  }
};

// Sends `begun` and `more` further bytes over TLS; returns the first bytes of the answer.
std::string exchange_over_tls(std::uint16_t port, const std::string& begun, std::size_t more) {
  namespace asio = boost::asio;
  asio::io_context context;
  asio::ssl::context tls(asio::ssl::context::tls_client);
  asio::ssl::stream<asio::ip::tcp::socket> stream(context, tls);
  stream.next_layer().connect({asio::ip::address_v4::loopback(), port});
  stream.handshake(asio::ssl::stream_base::client);
  boost::system::error_code error;
  asio::write(stream, asio::buffer(begun), error);
  const std::string piece(std::size_t{1} << 20, 'a');
  for (std::size_t sent = 0; sent < more && !error; sent += piece.size())
    asio::write(stream, asio::buffer(piece), error);
  std::string answer(64, '\0');
  answer.resize(stream.read_some(asio::buffer(answer)));
  return answer;
}

Conversion websites() {
  return conversion_through<Website>().converts<OldWebsite>(
      [](const OldWebsite& from, Website& to) { to.spec.replicas = from.spec.size; },
      [](const Website& from, OldWebsite& to) { to.spec.size = from.spec.replicas.value_or(1); });
}

TEST(WebhookServerConcurrency, AnswersOverTlsAndCounts) {
  Running running;
  running.server.add(webhook_for<Website>().validates([](const Validation<Website>& it) {
    return it.object.spec.image == "bad" ? ValidationResult::deny("no") : ValidationResult::allow();
  }));
  EXPECT_EQ(running.server.problem(), "the server of the webhooks does not listen");
  running.server.start();
  EXPECT_EQ(running.server.problem(), "");
  EXPECT_THAT(running.post("good").body, HasSubstr(R"("allowed":true)"));
  EXPECT_THAT(running.post("bad").body, HasSubstr(R"("message":"no")"));
  PrometheusText metrics;
  running.server.collect(metrics);
  EXPECT_THAT(
      metrics.str(),
      HasSubstr(
          R"(controller_runtime_webhook_requests_total{code="200",webhook="/validate-demo-example-com-v2-website"} 2)"));
}

// Any peer can send requests that are no reviews; their lines must neither fill the log nor hide others.
TEST(WebhookServerConcurrency, LogsFailuresOnceAMinute) {
  const auto clock = std::make_shared<ManualClock>();
  const auto log = std::make_shared<testing::LogRecorder>();
  Running running(2, 256, {.log = Log(log), .clock = clock});
  running.server.add(webhook_for<Website>().validates(
      [](const Validation<Website>&) -> ValidationResult { throw std::runtime_error("no database"); }));
  running.server.start();
  const auto forge = [&] {
    http::Request request = review_of("/validate-demo-example-com-v2-website", "x");
    request.body = "no review";
    return running.send(std::move(request)).status;
  };
  for (int request = 0; request < 5; ++request) EXPECT_NE(forge(), 200);
  EXPECT_EQ(log->lines_with("a webhook failed").size(), 1U);
  running.post("one");
  running.post("two");
  const auto lines = log->lines_with("a webhook failed");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[1], AllOf(HasSubstr("no database"), HasSubstr("times=1")));
  clock->advance(60s);
  forge();
  EXPECT_THAT(log->lines_with("a webhook failed").back(), HasSubstr("times=5"));
}

TEST(WebhookServerConcurrency, AnswersOthersWhileAFunctionIsSlow) {
  Running running;
  std::promise<void> entered;
  std::promise<void> leave;
  running.server.add(webhook_for<Website>().validates([&](const Validation<Website>& it) {
    if (it.object.spec.image == "slow") {
      entered.set_value();
      leave.get_future().wait();
    }
    return ValidationResult::allow();
  }));
  running.server.start();
  std::thread slow([&] { running.post("slow"); });
  entered.get_future().wait();
  EXPECT_EQ(running.post("quick").status, 200);
  leave.set_value();
  slow.join();
}

// Regression: each thread kept what its largest review had taken.
TEST(WebhookServerConcurrency, KeepsNoMemoryOfLargeReviews) {
  if (tests::sanitized) GTEST_SKIP() << "the sanitizers keep freed memory";
  Running running(16);
  running.server.add(
      webhook_for<Website>().validates([](const Validation<Website>&) { return ValidationResult::allow(); }));
  running.server.start();
  std::string names = R"("y":1)";
  for (int i = 0; i < 90'000; ++i) names += ",\"name-" + std::to_string(i) + R"(":["v"])";
  std::string maps = R"("y":[{})";
  for (int i = 0; i < 95'000; ++i) maps += R"(,{"":{}})";  // many values in few bytes
  const auto transport = http::make_curl_transport(
      {.server = running.server.url(), .tls = {.ca_data = running.authority.certificate}});
  for (const std::string& members : {maps + "]", names}) {
    http::Request request = review_of("/validate-demo-example-com-v2-website", "any");
    request.body.insert(1, "\"x\":{" + members + "},");
    ASSERT_EQ(transport->fetch(http::Request(request)).status, 200);
    const tests::ResidentGrowth growth;
    for (int i = 0; i < 24; ++i) ASSERT_EQ(transport->fetch(http::Request(request)).status, 200);
    EXPECT_LT(growth.mebibytes(), 100u) << request.body.size();
  }
}

// Regression: each worker parsed a review of megabytes at the same time as all others.
TEST(LargeReviewsConcurrency, AreAnsweredWithinABudgetInTheOrderOfTheirArrival) {
  using detail::LargeReview;
  constexpr std::size_t most = detail::LargeReviews::bytes_at_once;
  detail::LargeReviews all;
  std::optional<LargeReview> first(std::in_place, all, most / 2);
  std::optional<LargeReview> second(std::in_place, all, most / 2);
  std::vector<std::string> order;
  std::promise<void> leave;
  std::thread large([&] {
    const LargeReview mine(all, 7 * most);
    order.emplace_back("large");
    leave.get_future().wait();
  });
  await("the large one", [&] { return all.waiting() == 1; });
  std::thread next([&] {
    const LargeReview mine(all, limits::uncounted_body + 1);
    order.emplace_back("next");
  });
  await("the next one", [&] { return all.waiting() == 2; });
  { const LargeReview small(all, limits::uncounted_body); }
  first.reset();
  EXPECT_EQ(all.waiting(), 2U) << "half of the budget is taken";
  second.reset();
  await("the turn of the large one", [&] { return all.waiting() == 1; });
  leave.set_value();
  large.join();
  next.join();
  EXPECT_THAT(order, ::testing::ElementsAre("large", "next"));
}

// Regression: an endless chunk extension or trailer took memory without end on this port, too.
TEST(WebhookServerConcurrency, ALineOfABodyThatDoesNotEndIsBounded) {
  Running running;
  running.server.add(
      webhook_for<Website>().validates([](const Validation<Website>&) { return ValidationResult::allow(); }));
  running.server.start();
  for (const std::string begun : {"1;", "0\r\nX-A: "}) {
    const tests::ResidentGrowth growth;
    EXPECT_THAT(exchange_over_tls(running.server.port(),
                                  "POST /validate-demo-example-com-v2-website HTTP/1.1\r\nHost: h\r\n"
                                  "Transfer-Encoding: chunked\r\n\r\n" +
                                      begun,
                                  std::size_t{128} << 20),
                ::testing::StartsWith("HTTP/1.1 431 "));
    EXPECT_LT(growth.mebibytes(), 64u);
  }
}

TEST(WebhookServerConcurrency, CountsTheCallsThatItHasNoThreadFor) {
  Running running(1, 1);
  std::atomic<bool> began = false;
  std::promise<void> leave;
  running.server.add(
      webhook_for<Website>().validates([&, left = leave.get_future().share()](const Validation<Website>&) {
        began = true;
        left.wait();
        return ValidationResult::allow();
      }));
  running.server.start();
  std::atomic<int> refused = 0;
  std::vector<std::thread> callers;
  const auto call = [&] {
    callers.emplace_back([&] {
      if (running.post("any").status == 503) ++refused;
    });
  };
  call();
  await("the first call", [&] { return began.load(); });
  call();  // of these two, one waits
  call();
  await("a refusal", [&] { return refused == 1; });
  leave.set_value();
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(refused, 1);
  PrometheusText metrics;
  running.server.collect(metrics);
  const std::string counter = "controller_runtime_webhook_requests_total";
  const std::string path = R"(webhook="/validate-demo-example-com-v2-website"} )";
  EXPECT_THAT(metrics.str(), AllOf(HasSubstr(counter + R"({code="503",)" + path + "1"),
                                   HasSubstr(counter + R"({code="200",)" + path + "2")));
}

// Regression: validators that read objects in another version than the stored one made the API server ask for
// a conversion, for which they had left no thread.
TEST(WebhookServerConcurrency, ConvertsWhileAllFunctionsOfWebhooksWait) {
  Running running(1);
  running.server.add(websites());
  running.server.add(webhook_for<Website>().validates([&](const Validation<Website>&) {
    return ValidationResult::deny(running.convert("demo.example.com/v2").body);
  }));
  running.server.start();
  EXPECT_THAT(running.post("any").body, HasSubstr(R"(\"replicas\":3)"));
}

TEST(WebhookServerConcurrency, AFunctionThatRunsWhenItStopsIsAnswered) {
  Running running;
  std::promise<void> entered;
  std::promise<void> leave;
  running.server.add(webhook_for<Website>().validates([&](const Validation<Website>&) {
    entered.set_value();
    leave.get_future().wait();
    return ValidationResult::allow();
  }));
  running.server.start();
  auto slow = std::async(std::launch::async, [&] { return running.post("slow").body; });
  entered.get_future().wait();
  std::thread stopping([&] { running.server.stop(); });
  await("a refused connection", [&] {
    try {
      running.send({.target = "/"});
      return false;
    } catch (const TransportError&) {
      return true;
    }
  });
  leave.set_value();
  EXPECT_THAT(slow.get(), HasSubstr(R"("allowed":true)"));
  stopping.join();
}

TEST(WebhookServerConcurrency, ServesWithAReplacedCertificate) {
  Running running;
  running.server.add(
      webhook_for<Website>().validates([](const Validation<Website>&) { return ValidationResult::allow(); }));
  running.server.start();
  EXPECT_EQ(running.post("one").status, 200);
  running.authority = detail::make_authority("test", today());
  EXPECT_THROW(running.post("two"), TransportError);
  running.server.set_certificate(detail::make_serving(running.authority, {"127.0.0.1"}, today()));
  EXPECT_EQ(running.post("three").status, 200);
  const WallTime now = real_clock()->wall_now();
  running.server.set_certificate(
      detail::make_serving(running.authority, {"127.0.0.1"}, {now - 2h, now - 1h}));
  EXPECT_EQ(running.server.problem(), "the certificate of the webhooks has expired");
}

TEST(WebhookServerConcurrency, IsNotReadyWhileTheSignerOfItsCertificateIsNotValid) {
  Running running;
  running.server.start();
  const WallTime now = real_clock()->wall_now();
  const auto problem_with = [&](const detail::Lifetime& authority) {
    const http::TlsPair signer = detail::make_authority("test", authority);
    const http::TlsPair pair =
        detail::make_serving(signer, {"127.0.0.1"}, {now - 1h, std::max(now + 1h, authority.begin)});
    const std::string other = detail::make_authority("test", today()).certificate;
    running.server.set_certificate(pair, other + signer.certificate);
    return running.server.problem();
  };
  EXPECT_EQ(problem_with({now - 1h, now + 2h}), "");
  EXPECT_EQ(problem_with({now + 1h, now + 2h}), "the authority of the webhooks is not valid yet");
  EXPECT_EQ(problem_with({now - 2h, now - 1min}), "the certificate of the webhooks has expired")
      << "a certificate does not outlive its authority";
}

// An API server keeps its connections, which lead here even when the Service does not any more.
TEST(WebhookServerConcurrency, EndsConnectionsWithTheirNextResponseWhenTheProgramLeaves) {
  const http::TlsPair authority = detail::make_authority("test", today());
  std::atomic<bool> leaving = false;
  WebhookServer server({.address = "127.0.0.1:0"}, detail::make_serving(authority, {"127.0.0.1"}, today()),
                       {.is_leaving = [&] { return leaving.load(); }});
  server.add(
      webhook_for<Website>().validates([](const Validation<Website>&) { return ValidationResult::allow(); }));
  server.start();
  const auto transport =
      http::make_curl_transport({.server = server.url(), .tls = {.ca_data = authority.certificate}});
  const auto connection = [&] {
    http::Request request = review_of("/validate-demo-example-com-v2-website", "nginx");
    request.deadline = real_clock()->now() + 60s;
    const http::Response response = transport->fetch(std::move(request));
    EXPECT_EQ(response.status, 200);
    const std::string* found = response.headers.find("Connection");
    return found == nullptr ? std::string() : *found;
  };
  EXPECT_EQ(connection(), "");
  leaving = true;
  EXPECT_EQ(connection(), "close");
}

// Regression: the second one silently replaced the first.
TEST(WebhookServer, RefusesASecondWebhookOfAPath) {
  Running running;
  const auto add = [&](ResourceId resource) -> std::string {
    try {
      running.server.add(webhook_for(std::move(resource)).validates([](const Validation<DynamicObject>&) {
        return ValidationResult::allow();
      }));
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(add({"a-b.c", "v1", "Site", "sites"}), "");
  EXPECT_EQ(add({"a-b.c", "v1", "Site", "webpages"}), "WebhookServer: Site (a-b.c/v1) has webhooks already");
  EXPECT_EQ(add({"a.b-c", "v1", "Site", "sites"}),
            "WebhookServer: Site (a.b-c/v1) has the paths of a-b.c/v1: /mutate-a-b-c-v1-site");
  EXPECT_EQ(add({"a-b.c", "v2", "Site", "sites"}), "");
}

TEST(WebhookServerConcurrency, ConversionsAreAddedConcurrently) {
  Running running;
  running.server.start();
  std::vector<std::thread> adding;
  for (int number = 0; number < 8; ++number) {
    adding.emplace_back([&running, number] {
      const ResourceId hub{"demo.example.com", "v2", "Kind" + std::to_string(number), "kinds"};
      running.server.add(Conversion({.resource = hub}));
    });
  }
  running.server.add(websites());
  for (std::thread& thread : adding) thread.join();
  EXPECT_THAT(running.convert("demo.example.com/v2").body, HasSubstr(R"("replicas":3)"));
}

TEST(WebhookServer, RefusesToServeWithoutACertificate) {
  try {
    WebhookServer server({.address = "127.0.0.1:0"});
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "WebhookServer: there is no certificate; the API server calls webhooks over TLS only");
  }
}

}  // namespace server
}  // namespace evenkeel::webhook_tests
