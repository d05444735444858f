// SPDX-License-Identifier: Apache-2.0
// The server's sockets with a scripted core: requests of all kinds of clients, and their responses.
#include "apiserver/shell/http_server.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/error.hpp>

#include "../support/await.hpp"
#include "../support/raw_client.hpp"
#include "scripted_backend.hpp"

namespace evenkeel::apiserver {
namespace {

using evenkeel::tests::await;
using evenkeel::tests::RawClient;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class HttpServer : public ::testing::Test {
 protected:
  void serve(detail::HttpServerOptions options = {}, SharedCoreOptions shared = {}) {
    scripted_ = std::make_unique<ScriptedHost>(std::move(shared));
    server_ = std::make_unique<detail::HttpServer>(scripted_->host, std::move(options));
  }
  void SetUp() override { serve(); }

  RawClient client() { return RawClient(server_->port()); }
  std::unique_ptr<ScriptedHost> scripted_;
  std::unique_ptr<detail::HttpServer> server_;
};

TEST_F(HttpServer, AnswersOneRequestAfterTheOtherOnAConnection) {
  RawClient client(server_->port());
  for (const std::string body : {"one", "two"}) {
    client.send("POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n" + body);
    const std::string answer = client.read_answer();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(answer, HasSubstr("Content-Type: application/json\r\n"));
    EXPECT_THAT(answer, HasSubstr("\r\nDate: "));
    EXPECT_THAT(answer, EndsWith("\r\n\r\nPOST /x kubernetes-admin " + body));
  }
  EXPECT_EQ(server_->connections(), 1u);
}

TEST_F(HttpServer, AnswersPipelinedRequestsInOrder) {
  RawClient client(server_->port());
  std::string requests;
  for (int at = 0; at < 500; ++at) requests += "GET /p" + std::to_string(at) + " HTTP/1.1\r\nHost: h\r\n\r\n";
  std::jthread sender([&] { client.send(requests); });
  for (int at = 0; at < 500; ++at)
    ASSERT_THAT(client.read_answer(), EndsWith("GET /p" + std::to_string(at) + " kubernetes-admin "));
}

TEST_F(HttpServer, UnderstandsARequestThatComesByteByByte) {
  RawClient client(server_->port());
  const std::string request =
      "PUT /x?a=b HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: "
      "chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n";
  for (const char byte : request) ASSERT_TRUE(client.send(std::string_view(&byte, 1)));
  EXPECT_THAT(client.read_answer(), EndsWith("PUT /x?a=b kubernetes-admin abcdefg"));
}

TEST_F(HttpServer, HeadersReachTheCore) {
  RawClient client(server_->port());
  client.send("GET /x HTTP/1.1\r\nHost: h\r\naccept: a/b\r\nX-Twice: 1\r\nX-Twice: 2\r\n\r\n");
  client.read_answer();
  scripted_->host->with([&](detail::Backend&) {
    ASSERT_EQ(scripted_->backend->requests.size(), 1u);
    const http::Headers& headers = scripted_->backend->requests[0].headers;
    ASSERT_NE(headers.find("Accept"), nullptr);
    EXPECT_EQ(*headers.find("Accept"), "a/b");
    EXPECT_EQ(
        std::count_if(headers.begin(), headers.end(), [](auto& line) { return line.first == "X-Twice"; }), 2);
  });
}

TEST_F(HttpServer, InvitesABodyThatIsAnnounced) {
  RawClient client(server_->port());
  client.send("POST /x HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
  EXPECT_EQ(client.read_to("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("body");
  EXPECT_THAT(client.read_answer(), EndsWith("POST /x kubernetes-admin body"));
}

TEST_F(HttpServer, ClosesWhenTheClientWantsTo) {
  for (const std::string request :
       {"GET /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", "GET /x HTTP/1.0\r\n\r\n"}) {
    RawClient client(server_->port());
    client.send(request);
    const std::string answer = client.read_to_end();
    EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
    EXPECT_THAT(answer, EndsWith("GET /x kubernetes-admin "));
  }
  await("no connection", [&] { return server_->connections() == 0; });
}

TEST_F(HttpServer, RefusesABodyThatIsTooLargeWithAStatusThatCanBeRead) {
  serve({.max_body = 1000});
  for (const std::string framing :
       {"Content-Length: 2000000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n1e8480\r\n"}) {
    RawClient client(server_->port());
    client.send("POST /x HTTP/1.1\r\nHost: h\r\n" + framing);
    std::jthread sender([&] { client.send(std::string(2'000'000, 'x')); });
    const std::string answer = client.read_answer();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 413 "));
    const Json status = Json::parse(answer.substr(answer.find("\r\n\r\n") + 4));
    EXPECT_EQ(status["reason"], Json("RequestEntityTooLarge"));
    EXPECT_EQ(status["code"], Json(413));
    EXPECT_EQ(status["message"], Json("Request entity too large: limit is 1000"));
  }
  scripted_->host->with([&](detail::Backend&) { EXPECT_EQ(scripted_->backend->requests.size(), 0u); });
}

TEST_F(HttpServer, TakesABodyOfExactlyTheLimit) {
  serve({.max_body = 100'000});
  RawClient client(server_->port());
  const std::string body(100'000, 'y');
  std::jthread sender(
      [&] { client.send("POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n" + body); });
  EXPECT_THAT(client.read_answer(), EndsWith(body));
}

TEST_F(HttpServer, RefusesHeadsThatAreTooLargeOrBroken) {
  struct Case {
    std::string request;
    std::string status;
  };
  const Case cases[] = {
      {"GET /x HTTP/1.1\r\nHost: h\r\nX: " + std::string(100'000, 'x') + "\r\n\r\n", "431 "},
      {"GET /" + std::string(100'000, 'x') + " HTTP/1.1\r\n\r\n", "431 "},
      {"nonsense\r\n\r\n", "400 "},
      {"GET x HTTP/1.1\r\nHost: h\r\n\r\n", "400 "},
      {"GET http://h/x HTTP/1.1\r\nHost: h\r\n\r\n", "400 "},
      {"GET /x HTTP/1.1\r\nContent-Length: a\r\n\r\n", "400 "},
      {"GET /x HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "400 "},
      {"\x16\x03\x01\x02\x05\x01\x01\xfc\x03\x03", "400 "}};
  for (const Case& bad : cases) {
    RawClient client(server_->port());
    client.send(bad.request);
    const std::string answer = client.read_to_end();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 " + bad.status)) << bad.request.substr(0, 40);
    EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
  }
}

TEST_F(HttpServer, RefusesMethodsThatTheApiDoesNotHave) {
  RawClient client(server_->port());
  client.send("OPTIONS /x HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(client.read_to_end(), HasSubstr("\"reason\":\"MethodNotAllowed\""));
  RawClient head(server_->port());
  head.send("HEAD /x HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(head.read_to_end(), EndsWith("\r\n\r\n"));
}

TEST_F(HttpServer, AHalfRequestDisturbsNobodyAndIsCutInTime) {
  serve({.head_timeout = std::chrono::milliseconds{1}, .body_timeout = std::chrono::milliseconds{1}});
  RawClient no_head(server_->port());
  no_head.send("GET /x HTTP/1.1\r\nHo");
  RawClient no_body(server_->port());
  no_body.send("POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nhalf");
  RawClient whole(server_->port());
  whole.send("GET /y HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(whole.read_answer(), EndsWith("GET /y kubernetes-admin "));
  EXPECT_EQ(no_head.read_to_end(), "");
  EXPECT_EQ(no_body.read_to_end(), "");
}

TEST_F(HttpServer, SurvivesRandomBytes) {
  const char* seed_text = std::getenv("EVENKEEL_FUZZ_SEED");
  const std::uint64_t seed = seed_text == nullptr ? 1 : std::strtoull(seed_text, nullptr, 10);
  SCOPED_TRACE("EVENKEEL_FUZZ_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto below = [&](std::size_t count) { return static_cast<std::size_t>(random() % count); };
  const std::vector<std::string> requests = {
      "GET /x?y=z HTTP/1.1\r\nHost: h\r\nAccept: a/b\r\n\r\n",
      "POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello",
      "PUT /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\nT: t\r\n\r\n",
      "PATCH /x HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}",
      "DELETE /x HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
      "GET /watch/a HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\n\r\n"};
  const std::vector<std::string> pieces = {"\r\n",
                                           "\n",
                                           "\r",
                                           ":",
                                           " ",
                                           "HTTP/1.1",
                                           "ffffffffffffffff",
                                           "-1",
                                           "\t",
                                           "\xff",
                                           "0\r\n",
                                           "chunked",
                                           "Content-Length: 99999999999999999999\r\n",
                                           "Transfer-Encoding: gzip\r\n",
                                           std::string(1, '\0')};
  for (int round = 0; round < 400; ++round) {
    std::string bytes;
    for (std::size_t count = 1 + below(3); count > 0; --count) bytes += requests[below(requests.size())];
    for (std::size_t count = below(5); count > 0; --count) {
      const std::size_t at = below(bytes.size() + 1);
      if (below(3) == 0) {
        bytes.erase(at, below(12));
      } else if (below(2) == 0) {
        bytes.insert(at, pieces[below(pieces.size())]);
      } else if (at < bytes.size()) {
        bytes[at] = static_cast<char>(random());
      }
    }
    RawClient client(server_->port());
    for (std::string_view rest = bytes; !rest.empty();) {
      const std::size_t size = std::min(rest.size(), 1 + below(60));
      if (!client.send(rest.substr(0, size))) break;
      rest.remove_prefix(size);
    }
    client.finish();
    client.read_to_end();
  }
  RawClient client(server_->port());
  client.send("GET /x HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(client.read_answer(), EndsWith("GET /x kubernetes-admin "));
  await("that all others are gone", [&] { return server_->connections() == 1; });
  EXPECT_EQ(scripted_->watches(), 0u);
}

TEST_F(HttpServer, SlowClientsDisturbNobody) {
  serve({.head_timeout = std::chrono::milliseconds{200}});
  std::vector<std::unique_ptr<RawClient>> slow;
  for (int at = 0; at < 100; ++at) slow.push_back(std::make_unique<RawClient>(server_->port()));
  RawClient quick(server_->port());
  const std::string request = "GET /slow HTTP/1.1\r\nHost: h\r\nX: ";
  for (const char byte : request) {
    for (auto& client : slow) client->send(std::string_view(&byte, 1));
    quick.send("GET /quick HTTP/1.1\r\nHost: h\r\n\r\n");
    ASSERT_THAT(quick.read_answer(), EndsWith("GET /quick kubernetes-admin "));
  }
  // A byte from time to time does not keep a header open without limit.
  for (auto& client : slow) {
    while (client->send("y") && server_->connections() > 1) std::this_thread::yield();
  }
  await("that they are gone", [&] { return server_->connections() == 1; });
}

TEST_F(HttpServer, CutsAnIdleConnection) {
  serve({.idle_timeout = std::chrono::milliseconds{1}});
  RawClient client(server_->port());
  EXPECT_EQ(client.read_to_end(), "");
  await("no connection", [&] { return server_->connections() == 0; });
}

TEST_F(HttpServer, StreamsAWatchInChunksUntilTheCoreEndsIt) {
  RawClient client(server_->port());
  client.send("GET /watch/a HTTP/1.1\r\nHost: h\r\n\r\nGET /after HTTP/1.1\r\nHost: h\r\n\r\n");
  const std::string head = client.read_to("\r\n\r\n");
  EXPECT_THAT(head, HasSubstr("Transfer-Encoding: chunked\r\n"));
  EXPECT_THAT(head, Not(HasSubstr("Content-Length")));
  scripted_->feed("/watch/a", "{\"n\":1}\n");
  EXPECT_EQ(client.read_chunk(), "{\"n\":1}\n");
  scripted_->feed("/watch/a", "{\"n\":2}\n", true);
  EXPECT_EQ(client.read_chunk(), "{\"n\":2}\n");
  EXPECT_EQ(client.read_chunk(), "");
  EXPECT_THAT(client.read_answer(), EndsWith("GET /after kubernetes-admin ")) << "the connection goes on";
}

// Regression: the bytes of the pipelined request were passed to the parser again when the next one came.
TEST_F(HttpServer, HandlesARequestThatWasPipelinedBehindAStreamOnce) {
  RawClient client(server_->port());
  client.send("GET /watch/a HTTP/1.1\r\nHost: h\r\n\r\nGET /one HTTP/1.1\r\nHost: h\r\n\r\n");
  client.read_to("\r\n\r\n");
  scripted_->feed("/watch/a", "{\"n\":1}\n", true);
  client.read_chunk();
  client.read_chunk();
  EXPECT_THAT(client.read_answer(), EndsWith("GET /one kubernetes-admin "));
  client.send("GET /two HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(client.read_answer(), EndsWith("GET /two kubernetes-admin "));
}

TEST_F(HttpServer, StreamsAWatchWithoutChunksToHttp10) {
  RawClient client(server_->port());
  client.send("GET /watch/a HTTP/1.0\r\n\r\n");
  EXPECT_THAT(client.read_to("\r\n\r\n"), Not(HasSubstr("chunked")));
  scripted_->feed("/watch/a", "{\"n\":1}\n", true);
  EXPECT_EQ(client.read_to_end(), "{\"n\":1}\n");
}

TEST_F(HttpServer, ForgetsAWatchWhoseClientIsGone) {
  auto client = std::make_unique<RawClient>(server_->port());
  client->send("GET /watch/a HTTP/1.1\r\nHost: h\r\n\r\n");
  client->read_to("\r\n\r\n");
  EXPECT_EQ(scripted_->watches(), 1u);
  client.reset();
  await("no watch", [&] { return scripted_->watches() == 0; });
}

TEST_F(HttpServer, CutsAWatcherThatDoesNotRead) {
  serve({.write_timeout = std::chrono::milliseconds{1}});
  RawClient client(server_->port(), 4096);
  client.send("GET /watch/a HTTP/1.1\r\nHost: h\r\n\r\n");
  await("the watch", [&] { return scripted_->watches() == 1; });
  scripted_->feed("/watch/a", std::string(32u << 20, 'x') + "\n");
  await("no watch", [&] { return scripted_->watches() == 0; });
  EXPECT_LT(client.read_to_end().size(), 32u << 20);
}

TEST_F(HttpServer, ASlowReaderOfALargeAnswerGetsItAll) {
  RawClient client(server_->port(), 4096);
  client.send("GET /big/20000000 HTTP/1.1\r\nHost: h\r\n\r\n");
  const std::string answer = client.read_answer();
  EXPECT_EQ(answer.size() - answer.find("\r\n\r\n") - 4, 20'000'000u);
}

TEST_F(HttpServer, TicksTheCoreWhenItIsDue) {
  RawClient client(server_->port());
  scripted_->host->with([&](detail::Backend&) { scripted_->backend->next = real_clock()->wall_now(); });
  await("a tick", [&] {
    int ticks = 0;
    scripted_->host->with([&](detail::Backend&) { ticks = scripted_->backend->ticks; });
    return ticks == 1;
  });
}

TEST_F(HttpServer, AsksForATokenWhereThereAreSome) {
  serve({}, {.tokens = {{.token = "s3cret", .caller = {.user = "jane", .groups = {}}}}});
  RawClient client(server_->port());
  for (const std::string line :
       {"", "Authorization: Bearer wrong\r\n", "Authorization: Basic czNjcmV0\r\n"}) {
    client.send("GET /x HTTP/1.1\r\nHost: h\r\n" + line + "\r\n");
    const std::string answer = client.read_answer();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 401 "));
    EXPECT_THAT(answer, HasSubstr("\"reason\":\"Unauthorized\""));
  }
  client.send("GET /x HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer s3cret\r\n\r\n");
  EXPECT_THAT(client.read_answer(), EndsWith("GET /x jane "));
}

TEST_F(HttpServer, CutsAnAnswerAfterSoManyBytes) {
  scripted_->host->inject({.count = 1, .cut_after = 100});
  RawClient client(server_->port());
  client.send("GET /big/5000 HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(client.read_to("\r\n\r\n"), HasSubstr("Content-Length: 5000\r\n"));
  EXPECT_EQ(client.read_to_end(), std::string(100, 'x'));
}

TEST_F(HttpServer, CutsAWatchInsideAnEvent) {
  scripted_->host->inject({.verb = "watch", .count = 1, .cut_after = 10});
  RawClient client(server_->port());
  client.send("GET /api/v1/pods?watch=1 HTTP/1.1\r\nHost: h\r\n\r\n");
  client.read_to("\r\n\r\n");
  scripted_->feed("pods", "{\"n\":1}\n");
  EXPECT_EQ(client.read_chunk(), "{\"n\":1}\n");
  scripted_->feed("pods", "{\"n\":2}\n");
  EXPECT_EQ(client.read_to_end(), "3\r\n{\"") << "a chunk of more bytes than come";
}

TEST_F(HttpServer, DropsAndDelaysByRule) {
  scripted_->host->inject({.count = 1, .drop = FaultDrop::after});
  scripted_->host->inject({.count = 1, .delay = std::chrono::milliseconds{20}});
  RawClient dropped(server_->port());
  dropped.send("GET /x HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(dropped.read_to_end(), "");
  RawClient delayed(server_->port());
  const auto start = std::chrono::steady_clock::now();
  delayed.send("GET /x HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(delayed.read_answer(), EndsWith("GET /x kubernetes-admin "));
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds{20});
}

TEST_F(HttpServer, ResetsConnections) {
  scripted_->host->inject({.count = 1, .drop = FaultDrop::before, .ending = FaultEnding::reset});
  scripted_->host->inject({.count = 1, .cut_after = 10, .ending = FaultEnding::reset});
  RawClient dropped(server_->port());
  dropped.send("GET /x HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(dropped.read_to_end(), "");
  EXPECT_TRUE(dropped.was_reset());
  RawClient cut(server_->port());
  cut.send("GET /big/5000 HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(cut.read_to("\r\n\r\n"), HasSubstr("Content-Length: 5000\r\n"));
  EXPECT_EQ(cut.read_to_end(), std::string(10, 'x'));
  EXPECT_TRUE(cut.was_reset());
  await("no connection", [&] { return server_->connections() == 0; });
}

TEST_F(HttpServer, FallsSilentUntilTheClientGoes) {
  scripted_->host->inject({.count = 1, .drop = FaultDrop::after, .ending = FaultEnding::silence});
  scripted_->host->inject({.count = 1, .cut_after = 10, .ending = FaultEnding::silence});
  scripted_->host->inject({.verb = "watch", .cut_after_events = 1, .ending = FaultEnding::silence});
  RawClient mute(server_->port());
  mute.send("GET /x HTTP/1.1\r\nHost: h\r\n\r\n");
  await("the request", [&] {
    std::size_t count = 0;
    scripted_->host->with([&](detail::Backend&) { count = scripted_->backend->requests.size(); });
    return count == 1;
  });
  RawClient half(server_->port());
  half.send("GET /big/5000 HTTP/1.1\r\nHost: h\r\n\r\n");
  half.read_to("\r\n\r\n");
  EXPECT_EQ(half.read_exactly(10), std::string(10, 'x'));
  RawClient watch(server_->port());
  watch.send("GET /api/v1/pods?watch=1 HTTP/1.1\r\nHost: h\r\n\r\n");
  watch.read_to("\r\n\r\n");
  scripted_->feed("pods", "{1}\n{2}\n");
  watch.read_to("{1}\n");
  // The response on another connection shows that the server was not blocked and that nothing else was sent.
  RawClient other(server_->port());
  other.send("GET /y HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(other.read_answer(), EndsWith("GET /y kubernetes-admin "));
  for (const RawClient* silent : {&mute, &half, &watch}) EXPECT_TRUE(silent->is_silent());
  EXPECT_EQ(server_->connections(), 4u);
  mute.close();
  await("that it is noticed", [&] { return server_->connections() == 3; });
  server_->stop();
  EXPECT_EQ(half.read_to_end(), "");
  EXPECT_EQ(watch.read_to_end(), "");
}

TEST_F(HttpServer, EndsAWatchProperlyAfterSoManyEventsOrSoLong) {
  scripted_->host->inject({.count = 1, .cut_after_events = 1, .ending = FaultEnding::complete});
  scripted_->host->inject({.cut_after_time = std::chrono::milliseconds{1}, .ending = FaultEnding::complete});
  RawClient client(server_->port());
  client.send("GET /api/v1/pods?watch=1 HTTP/1.1\r\nHost: h\r\n\r\n");
  client.read_to("\r\n\r\n");
  scripted_->feed("pods", "{1}\n{2}\n");
  EXPECT_EQ(client.read_chunk(), "{1}\n");
  EXPECT_EQ(client.read_chunk(), "");
  client.send("GET /api/v1/pods?watch=1 HTTP/1.1\r\nHost: h\r\n\r\n");
  client.read_to("\r\n\r\n");
  EXPECT_EQ(client.read_chunk(), "") << "by time, on the same connection";
}

TEST_F(HttpServer, SaysALengthThatIsTrueOfATruncatedBody) {
  scripted_->host->inject({.count = 1, .cut_after = 10, .ending = FaultEnding::complete});
  RawClient client(server_->port());
  client.send("GET /big/5000 HTTP/1.1\r\nHost: h\r\n\r\nGET /y HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(client.read_answer(), EndsWith("\r\n\r\n" + std::string(10, 'x')));
  EXPECT_THAT(client.read_answer(), EndsWith("GET /y kubernetes-admin ")) << "the connection goes on";
}

TEST_F(HttpServer, ATokenExpires) {
  const auto clock = std::make_shared<ManualClock>();
  serve({}, {.tokens = {{.token = "old",
                         .caller = {.user = "jane", .groups = {}},
                         .expires = clock->wall_now() + std::chrono::minutes{10}}},
             .clock = clock});
  const std::string request = "GET /x HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer old\r\n\r\n";
  RawClient client(server_->port());
  client.send(request);
  EXPECT_THAT(client.read_answer(), EndsWith("GET /x jane "));
  clock->advance(std::chrono::minutes{10});
  client.send(request);
  EXPECT_THAT(client.read_answer(), StartsWith("HTTP/1.1 401 "));
}

TEST_F(HttpServer, BreaksRunningWatchesOnDemand) {
  RawClient client(server_->port());
  client.send("GET /watch/a HTTP/1.1\r\nHost: h\r\n\r\n");
  client.read_to("\r\n\r\n");
  EXPECT_EQ(scripted_->host->cut_watches(), 1u);
  EXPECT_EQ(client.read_to_end(), "") << "no last chunk";
}

TEST_F(HttpServer, TellsWhatItServed) {
  std::vector<std::string> served;
  Mutex mutex;
  const auto note = [&](const ServedRequest& request) {
    MutexLock lock(mutex);
    served.push_back(request.user + " " + request.target + " " + std::to_string(request.status));
  };
  serve({}, {.tokens = {{.token = "t", .caller = {.user = "jane", .groups = {}}}},
             .faults = {{.skip = 1, .status = 503}},
             .on_request = note});
  RawClient client(server_->port());
  for (const std::string path : {"/a", "/b"}) {
    client.send("GET " + path + " HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer t\r\n\r\n");
    client.read_answer();
  }
  MutexLock lock(mutex);
  EXPECT_EQ(served, (std::vector<std::string>{"jane /a 200", "jane /b 503"}));
}

TEST_F(HttpServer, SaysWhyItCannotListen) {
  try {
    detail::HttpServer second(scripted_->host, {.port = server_->port()});
    FAIL() << "two servers on one port";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "cannot listen on 127.0.0.1:" + std::to_string(server_->port()) + ": Address already in use");
  }
  EXPECT_THROW(detail::HttpServer(scripted_->host, {.host = "no.such.host.invalid"}), Error);
}

using HttpServerConcurrency = HttpServer;

TEST_F(HttpServerConcurrency, HoldsHundredsOfWatchesOnOneThread) {
  constexpr std::size_t count = 250;
  std::vector<std::unique_ptr<RawClient>> clients;
  for (std::size_t at = 0; at < count; ++at) {
    clients.push_back(std::make_unique<RawClient>(server_->port()));
    clients.back()->send("GET /watch/a HTTP/1.1\r\nHost: h\r\n\r\n");
  }
  for (auto& client : clients) client->read_to("\r\n\r\n");
  EXPECT_EQ(scripted_->watches(), count);
  for (int event = 0; event < 20; ++event)
    scripted_->feed("/watch/a", "{\"n\":" + std::to_string(event) + "}\n");
  scripted_->feed("/watch/a", "{\"last\":1}\n");
  for (auto& client : clients) {
    std::string got;
    while (!got.ends_with("{\"last\":1}\n")) got += client->read_chunk();
    EXPECT_EQ(std::count(got.begin(), got.end(), '\n'), 21);
  }
}

TEST_F(HttpServerConcurrency, StopEndsOpenWatchesAndHalfRequestsAtOnce) {
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int at = 0; at < 20; ++at) {
    clients.push_back(std::make_unique<RawClient>(server_->port()));
    clients.back()->send(at % 2 ? "GET /watch/a HTTP/1.1\r\nHost: h\r\n\r\n" : "GET /wat");
  }
  await("the watches", [&] { return scripted_->watches() == 10; });
  const auto start = std::chrono::steady_clock::now();
  server_->stop();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds{5});
  EXPECT_EQ(scripted_->watches(), 0u);
  for (auto& client : clients) client->read_to_end();
  server_->stop();
}

TEST_F(HttpServerConcurrency, ServesManyClientsWhileWatchesAreFedFromOtherThreads) {
  constexpr int events = 200;
  RawClient watcher(server_->port());
  watcher.send("GET /watch/a HTTP/1.1\r\nHost: h\r\n\r\n");
  watcher.read_to("\r\n\r\n");
  std::vector<std::jthread> threads;
  threads.emplace_back([&] {
    for (int at = 0; at < events; ++at) scripted_->feed("/watch/a", "e\n", at + 1 == events);
  });
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      RawClient client(server_->port());
      for (int at = 0; at < 100; ++at) {
        client.send("POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nok");
        EXPECT_THAT(client.read_answer(), EndsWith("POST /x kubernetes-admin ok"));
      }
    });
  }
  std::string got;
  for (std::string chunk = watcher.read_chunk(); !chunk.empty(); chunk = watcher.read_chunk()) got += chunk;
  EXPECT_EQ(got.size(), 2u * events);
}

}  // namespace
}  // namespace evenkeel::apiserver
