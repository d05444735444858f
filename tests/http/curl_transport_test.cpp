// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <fcntl.h>
#include <latch>
#include <memory>
#include <mutex>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/http/curl_transport.hpp>

#include "../support/sockets.hpp"
#include "curl_transport_fixture.hpp"

namespace evenkeel::http::curl_tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(CurlTransport, SendsMethodTargetHeadersAndBodyAsGiven) {
  std::mutex mutex;
  std::vector<Request> seen;
  ScriptedServer server([&](Connection& connection) {
    while (auto request = connection.read_request()) {
      {
        const std::lock_guard lock(mutex);
        seen.push_back(*request);
      }
      connection.respond(200, "{}");
    }
  });
  const auto transport = transport_to(server, {.user_agent = "demo/1.2"});
  for (const Method method : {Method::get, Method::post, Method::put, Method::patch, Method::delete_}) {
    for (const std::string body : {"", "{\"a\":1}"}) {
      if (method == Method::get && !body.empty()) continue;
      transport->fetch(
          {.method = method,
           .target = "/a/../b%2Fc?x=%20y",
           .headers = {{"Content-Type", "application/x"}, {"Authorization", "Bearer t"}, {"X-Empty", ""}},
           .body = body});
      const std::lock_guard lock(mutex);
      const Request& request = seen.back();
      EXPECT_EQ(request.method, method);
      EXPECT_EQ(request.target, "/a/../b%2Fc?x=%20y");
      EXPECT_EQ(request.body, body);
      EXPECT_EQ(*request.headers.find("user-agent"), "demo/1.2");
      EXPECT_EQ(*request.headers.find("authorization"), "Bearer t");
      EXPECT_EQ(*request.headers.find("content-type"), "application/x");
      EXPECT_EQ(*request.headers.find("x-empty"), "");
      EXPECT_EQ(request.headers.find("accept-encoding"), nullptr);
      EXPECT_EQ(request.headers.find("expect"), nullptr);
    }
  }
  EXPECT_EQ(seen.size(), 9U);
  EXPECT_EQ(server.connections(), 1) << "one connection is kept alive";
}

TEST(CurlTransport, ItsConnectionsAreInheritedByNoChild) {
  ScriptedServer server(always(200, "ok"));
  const auto transport = transport_to(server);
  transport->fetch({.target = "/x"});
  const tests::SocketCount sockets = tests::sockets_at(static_cast<std::uint16_t>(server.port()), false);
  EXPECT_EQ(sockets.all, 1);
  EXPECT_EQ(sockets.inherited, 0);
}

// After 30 s of silence the kernel sends probes, every 10 s. It closes a connection whose data or probes were
// not acknowledged for 60 s.
TEST(CurlTransport, ADeadPeerIsNoticedInAMinuteOnEveryConnection) {
  ScriptedServer server([](Connection& connection) {
    while (const auto request = connection.read_request()) {
      if (request->target != "/watch") {
        connection.respond(200, "ok");
        continue;
      }
      connection.start_chunked(200);
      connection.chunk("event");
      connection.wait_until_closed();
    }
  });
  const auto transport = transport_to(server);
  transport->fetch({.target = "/blocking"});
  shared_fetch(*transport, {.target = "/asynchronous"});
  const auto recorder = std::make_shared<Recorder>();
  const auto stream = transport->stream({.target = "/watch"}, recorder);
  recorder->wait_for_bytes(5);
  const std::vector<int> sockets =
      tests::socket_numbers(static_cast<std::uint16_t>(server.port()), /*own=*/false);
  EXPECT_EQ(sockets.size(), 3U);
  const auto option_of = [](int socket, int level, int option) {
    int value = -1;
    socklen_t size = sizeof(value);
    ::getsockopt(socket, level, option, &value, &size);
    return value;
  };
  for (const int socket : sockets) {
    EXPECT_EQ(option_of(socket, SOL_SOCKET, SO_KEEPALIVE), 1);
    EXPECT_EQ(option_of(socket, IPPROTO_TCP, TCP_KEEPIDLE), 30);
    EXPECT_EQ(option_of(socket, IPPROTO_TCP, TCP_KEEPINTVL), 10);
    EXPECT_EQ(option_of(socket, IPPROTO_TCP, TCP_USER_TIMEOUT), 60'000);
  }
  stream->cancel();
}

TEST(CurlTransport, AppendsTheTargetToThePathOfTheServer) {
  std::string target;
  ScriptedServer server([&](Connection& connection) {
    while (auto request = connection.read_request()) {
      target = request->target;
      connection.respond(200, "");
    }
  });
  const auto transport = make_curl_transport({.server = server.url() + "/clusters/c-1/", .proxy = ""});
  transport->fetch({.target = "/api/v1/pods"});
  EXPECT_EQ(target, "/clusters/c-1/api/v1/pods");
}

TEST(CurlTransport, AnyStatusIsAnAnswerAndRedirectsAreNotFollowed) {
  for (const int status : {200, 201, 301, 302, 307, 400, 401, 403, 404, 409, 410, 422, 429, 500, 503, 504}) {
    ScriptedServer server(always(status, "body", "Location: http://127.0.0.1:1/x\r\nRetry-After: 3\r\n"));
    const Response response = transport_to(server)->fetch({.target = "/x"});
    EXPECT_EQ(response.status, status);
    EXPECT_EQ(response.body, "body");
    EXPECT_EQ(*response.headers.find("retry-after"), "3");
  }
}

TEST(CurlTransport, InterimAnswersAndTrailersAreNotTheAnswer) {
  ScriptedServer server([](Connection& connection) {
    connection.read_request();
    connection.write(
        "HTTP/1.1 103 Early Hints\r\nX: early\r\n\r\nHTTP/1.1 200 OK\r\nX: final\r\n"
        "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX: trailer\r\n\r\n");
    connection.wait_until_closed();
  });
  const Response response = transport_to(server)->fetch({.target = "/x"});
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(*response.headers.find("x"), "final");
  EXPECT_EQ(response.body, "abc");
}

TEST(CurlTransport, TornAnswersAreInterrupted) {
  const char* torn[] = {"", "HTTP/1.1 200 OK\r\nContent-",
                        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
                        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc",
                        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"};
  for (const std::string answer : torn) {
    ScriptedServer server([answer](Connection& connection) {
      connection.read_request();
      connection.write(answer);
    });
    const auto transport = transport_to(server);
    EXPECT_THAT(error_of([&] { transport->fetch({.target = "/x"}); }),
                HasSubstr("interrupted: GET " + server.url() + "/x: "))
        << answer;
  }
}

TEST(CurlTransport, WhatIsNotHttpIsAProtocolError) {
  ScriptedServer server([](Connection& connection) {
    connection.read_request();
    connection.write("SSH-2.0-OpenSSH_9.2\r\n\r\n");
  });
  EXPECT_THAT(error_of([&] { transport_to(server)->fetch({.target = "/x"}); }), HasSubstr("protocol: GET "));
}

TEST(CurlTransport, GiantHeadersAndBodiesAreRefused) {
  ScriptedServer headers(always(200, "", "X-Big: " + std::string(60'000, 'x') + "\r\n"));
  EXPECT_THAT(error_of([&] { transport_to(headers, {.max_header_bytes = 50'000})->fetch({.target = "/x"}); }),
              HasSubstr("the answer's headers exceed 50000 bytes"));
  ScriptedServer body(always(200, std::string(5000, 'x')));
  EXPECT_THAT(error_of([&] { transport_to(body, {.max_body_bytes = 4999})->fetch({.target = "/x"}); }),
              HasSubstr("protocol: GET " + body.url() + "/x: the answer exceeds 4999 bytes"));
}

TEST(CurlTransport, ARefusedConnectionIsAConnectError) {
  const std::string url = "http://127.0.0.1:" + std::to_string(tests::unused_port());
  const auto transport = make_curl_transport({.server = url, .proxy = ""});
  EXPECT_EQ(
      error_of([&] {
        transport->fetch({.method = Method::post, .target = "/x", .headers = {{"Authorization", "secret"}}});
      }),
      "connect: POST " + url + "/x: Connection refused");
}

TEST(CurlTransport, DeadlineEndsARequestThatIsNotAnswered) {
  ScriptedServer server([](Connection& connection) { connection.wait_until_closed(); });
  const auto transport = transport_to(server);
  const std::string expected = "timeout: GET " + server.url() + "/x: no answer before the deadline";
  EXPECT_EQ(error_of([&] { transport->fetch({.target = "/x", .deadline = in(30ms)}); }), expected);
  EXPECT_EQ(error_of([&] { transport->fetch({.target = "/x", .deadline = in(-1ms)}); }), expected);
  const auto impatient = transport_to(server, {.request_timeout = 30ms});
  EXPECT_EQ(error_of([&] { impatient->fetch({.target = "/x"}); }), expected);
}

TEST(CurlTransport, StopEndsAFetch) {
  std::latch asked(1);
  ScriptedServer server([&](Connection& connection) {
    connection.read_request();
    asked.count_down();
    connection.wait_until_closed();
  });
  const auto transport = transport_to(server);
  std::stop_source stop;
  std::thread stopper([&] {
    asked.wait();
    stop.request_stop();
  });
  EXPECT_EQ(error_of([&] { transport->fetch({.target = "/x"}, stop.get_token()); }),
            "cancelled: GET /x: cancelled");
  stopper.join();
  EXPECT_EQ(error_of([&] { transport->fetch({.target = "/y"}, stop.get_token()); }),
            "cancelled: GET /y: cancelled");
}

TEST(CurlTransport, APostWhoseConnectionBrokeIsNotSentAgainAGetIs) {
  std::atomic<int> requests{0};
  ScriptedServer server([&](Connection& connection) {
    int mine = 0;
    while (connection.read_request()) {
      ++requests;
      if (++mine == 2) return;  // the second request on a connection is read but not answered
      connection.respond(200, "ok");
    }
  });
  const auto transport = transport_to(server);
  for (const Method method : {Method::post, Method::patch}) {
    requests = 0;
    transport->fetch({.target = "/first"});
    EXPECT_THAT(error_of([&] { transport->fetch({.method = method, .target = "/x", .body = "{}"}); }),
                HasSubstr("interrupted: "));
    EXPECT_EQ(requests, 2);
  }
  requests = 0;
  transport->fetch({.target = "/first"});
  EXPECT_EQ(transport->fetch({.method = Method::put, .target = "/x", .body = "{}"}).body, "ok");
  EXPECT_EQ(requests, 3);
}

// curl retries on a new connection and reports the result of that attempt, although the first request was
// sent.
TEST(CurlTransport, WhatWasSentBeforeAServerWentIsInterrupted) {
  for (const bool reset : {false, true}) {
    for (const Method method : {Method::post, Method::put, Method::delete_}) {
      ScriptedServer* self = nullptr;
      ScriptedServer server([&](Connection& connection) {
        connection.read_request();
        connection.respond(200, "ok");
        connection.read_request();
        self->stop_listening();
        if (reset) connection.reset_at_end();
      });
      self = &server;
      const auto transport = transport_to(server);
      EXPECT_EQ(transport->fetch({.target = "/first"}).body, "ok");
      EXPECT_THAT(error_of([&] {
                    transport->fetch(
                        {.method = method, .target = "/x", .body = method == Method::delete_ ? "" : "{}"});
                  }),
                  HasSubstr("interrupted: "))
          << method_name(method) << (reset ? ", reset" : ", closed");
    }
  }
}

TEST(CurlTransport, FlightIsBoundedAndTheRestWaits) {
  std::atomic<int> open{0}, most{0};
  ScriptedServer server([&](Connection& connection) {
    while (connection.read_request()) {
      const int now = ++open;
      int seen = most.load();
      while (seen < now && !most.compare_exchange_weak(seen, now)) {
      }
      --open;
      connection.respond(200, "ok");
    }
  });
  const auto transport = transport_to(server, {.max_in_flight_http1 = 2});
  std::vector<std::shared_ptr<Landing>> landings;
  for (int i = 0; i < 20; ++i) {
    landings.push_back(std::make_shared<Landing>());
    transport->send({.target = "/x"}, Landing::into(landings.back()));
  }
  for (const auto& landing : landings) {
    landing->wait();
    EXPECT_EQ(landing->response.body, "ok");
  }
  EXPECT_LE(most.load(), 2);
  EXPECT_LE(server.connections(), 2);
}

TEST(CurlTransport, DestructionEndsRunningAndWaitingWithClosed) {
  ScriptedServer server([](Connection& connection) { connection.wait_until_closed(); });
  const auto recorder = std::make_shared<Recorder>();
  std::vector<std::shared_ptr<Landing>> landings;
  std::shared_ptr<Call> call;
  {
    const auto transport = transport_to(server, {.max_in_flight_http1 = 1});
    for (int i = 0; i < 3; ++i) {
      landings.push_back(std::make_shared<Landing>());
      call = transport->send({.target = "/x"}, Landing::into(landings.back()));
    }
    transport->stream({.target = "/watch"}, recorder);
  }
  for (const auto& landing : landings) {
    EXPECT_EQ(landing->completions, 1);
    EXPECT_EQ(landing->error, "closed: GET " + server.url() + "/x: the transport was closed");
  }
  EXPECT_THAT(recorder->wait_for_end(), HasSubstr("closed: "));
  call->cancel();  // after the end: no effect
  EXPECT_EQ(landings.back()->completions, 1);
}

TEST(CurlTransport, TheLastHandleMayBeDroppedOnItsOwnThread) {
  ScriptedServer server(always(200, "ok"));
  auto transport = transport_to(server);
  const auto landing = std::make_shared<Landing>();
  auto done = Landing::into(landing);
  std::latch sent(1);
  Transport& raw = *transport;
  raw.send({.target = "/x"}, [&sent, transport = std::move(transport), done](Outcome<Response> outcome) {
    sent.wait();
    done(std::move(outcome));
  });
  sent.count_down();
  landing->wait();
  EXPECT_EQ(landing->response.body, "ok");
}

TEST(CurlTransport, RefusesBadOptions) {
  const auto problem = [](CurlTransportOptions options) -> std::string {
    try {
      make_curl_transport(std::move(options));
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(problem({.server = "not a url"}), "CurlTransportOptions.server \"not a url\": not a URL");
  EXPECT_EQ(problem({.server = "ftp://x"}),
            "CurlTransportOptions.server \"ftp://x\": must start with https:// or http://");
  EXPECT_EQ(problem({.server = "https://me:secret@host"}),
            "CurlTransportOptions.server: must not carry a user or password");
  EXPECT_EQ(problem({.server = "https://h", .max_in_flight = 0}),
            "CurlTransportOptions.max_in_flight: must be at least 1");
  EXPECT_EQ(problem({.server = "https://h", .request_timeout = 0s}),
            "CurlTransportOptions.request_timeout: must be positive");
}

TEST(CurlTransportCancel, WhileWaitingAndWhileQueuedCompletesOnceWithCancelled) {
  ScriptedServer server([](Connection& connection) { connection.wait_until_closed(); });
  const auto transport = transport_to(server, {.max_in_flight_http1 = 1});
  const auto running = std::make_shared<Landing>();
  const auto queued = std::make_shared<Landing>();
  const auto first = transport->send({.target = "/a"}, Landing::into(running));
  const auto second = transport->send({.target = "/b"}, Landing::into(queued));
  second->cancel();
  second->cancel();
  queued->wait();
  EXPECT_EQ(queued->error, "cancelled: GET " + server.url() + "/b: cancelled");
  first->cancel();
  running->wait();
  EXPECT_EQ(running->error, "cancelled: GET " + server.url() + "/a: cancelled");
  EXPECT_EQ(running->completions + queued->completions, 2);
}

TEST(CurlTransportCancel, AfterTheEndChangesNothing) {
  ScriptedServer server(always(200, "ok"));
  const auto transport = transport_to(server);
  const auto landing = std::make_shared<Landing>();
  const auto call = transport->send({.target = "/x"}, Landing::into(landing));
  landing->wait();
  call->cancel();
  EXPECT_EQ(transport->fetch({.target = "/y"}).status, 200);  // the cancel was handled before this
  EXPECT_EQ(landing->completions, 1);
  EXPECT_EQ(landing->response.body, "ok");
}

TEST(CurlTransportProxy, IsUsedIfGiven) {
  std::string target, host;
  ScriptedServer proxy([&](Connection& connection) {
    while (auto request = connection.read_request()) {
      target = request->target;
      host = *request->headers.find("host");
      connection.respond(200, "by proxy");
    }
  });
  const auto transport = make_curl_transport({.server = "http://api.invalid:8080", .proxy = proxy.url()});
  EXPECT_EQ(transport->fetch({.target = "/x"}).body, "by proxy");
  EXPECT_EQ(target, "http://api.invalid:8080/x");
  EXPECT_EQ(host, "api.invalid:8080");
}

/// Sets variables of the environment, of which a transport reads those of proxies when it is made.
class Variables {
 public:
  using Values = std::vector<std::pair<const char*, std::string>>;
  explicit Variables(Values values) : values_(std::move(values)) {
    for (const auto& [name, value] : values_) setenv(name, value.c_str(), 1);
  }
  ~Variables() {
    for (const auto& [name, value] : values_) unsetenv(name);
  }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;

 private:
  const Values values_;
};

// libcurl compares NO_PROXY also with the server of an explicit proxy, and does not read HTTP_PROXY.
TEST(CurlTransportProxy, TheEnvironmentIsReadByGosRules) {
  ScriptedServer proxy(always(200, "by proxy"));
  const auto body = [](std::optional<std::string> own) {
    const auto transport =
        make_curl_transport({.server = "http://api.invalid:8080", .proxy = std::move(own)});
    return transport->fetch({.target = "/x"}).body;
  };
  const Variables everything(Variables::Values{{"NO_PROXY", "*"}, {"HTTP_PROXY", "http://127.0.0.1:1"}});
  EXPECT_EQ(body(proxy.url()), "by proxy");
  const Variables but_another(Variables::Values{{"NO_PROXY", "other.invalid"}, {"HTTP_PROXY", proxy.url()}});
  EXPECT_EQ(body(std::nullopt), "by proxy");
  const Variables but_its_port(Variables::Values{{"NO_PROXY", "*.invalid:8080"}});
  EXPECT_THAT(error_of([&] { body(std::nullopt); }), HasSubstr("Could not resolve host: api.invalid"));
}

TEST(CurlTransportProxy, ItsPasswordIsInNoError) {
  const auto transport =
      make_curl_transport({.server = "https://api.invalid",
                           .proxy = "http://me:secret@127.0.0.1:" + std::to_string(tests::unused_port())});
  const std::string error = error_of([&] { transport->fetch({.target = "/x"}); });
  EXPECT_THAT(error, HasSubstr("connect: GET https://api.invalid/x: "));
  EXPECT_THAT(error, Not(HasSubstr("secret")));
}

TEST(CurlTransportConcurrency, CancellationStorm) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  ScriptedServer server([](Connection& connection) {
    while (auto request = connection.read_request()) {
      if (request->target == "/mute") {
        connection.wait_until_closed();
      } else {
        connection.respond(200, "ok");
      }
    }
  });
  constexpr int threads = 4, each = 60;
  std::atomic<int> completions{0}, ends{0};
  struct Counter : StreamHandler {
    explicit Counter(std::atomic<int>& ends) : ends_(ends) {}
    void on_response(int, const Headers&) override {}
    void on_data(std::string_view) override {}
    void on_end(std::exception_ptr) override { ++ends_; }
    std::atomic<int>& ends_;
  };
  {
    const auto transport = transport_to(server);
    std::vector<std::thread> workers;
    for (int t = 0; t < threads; ++t) {
      workers.emplace_back([&, t] {
        std::mt19937 random(seed + static_cast<unsigned>(t));
        std::vector<std::shared_ptr<Call>> calls;
        for (int i = 0; i < each; ++i) {
          Request request{.target = random() % 4 == 0 ? "/mute" : "/x"};
          if (random() % 4 == 0) {
            calls.push_back(transport->stream(request, std::make_shared<Counter>(ends)));
          } else {
            calls.push_back(transport->send(request, [&](Outcome<Response>) { ++completions; }));
          }
          const auto& some = calls[random() % calls.size()];
          switch (random() % 4) {
            case 0:
              some->cancel();
              break;
            case 1:
              some->pause();
              break;
            case 2:
              some->resume();
              break;
            default:
              break;
          }
        }
        for (const auto& call : calls) {
          if (random() % 2 == 0) call->cancel();
        }
      });
    }
    for (std::thread& worker : workers) worker.join();
  }  // the transport ends the rest
  EXPECT_EQ(completions + ends, threads * each);
}

Duration cpu_time() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return std::chrono::seconds{used.tv_sec} + std::chrono::nanoseconds{used.tv_nsec};
}

// SETTINGS_MAX_CONCURRENT_STREAMS (3) and SETTINGS_INITIAL_WINDOW_SIZE (4) of 0: the peer permits nothing.
TEST(CurlTransportHttp2, APeerThatHoldsEverythingBackCostsNoCpu) {
  for (const char setting : {'\x03', '\x04'}) {
    SCOPED_TRACE(static_cast<int>(setting));
    const Authority authority("test-ca");
    const Pem pem = authority.issue_server("IP:127.0.0.1");
    std::atomic<int> streams = 0;
    ScriptedServer server(
        [&](Connection& connection) {
          tests::serve_http2(connection, 1000, streams, std::string{'\0', setting, '\0', '\0', '\0', '\0'});
        },
        {.cert = pem.cert, .key = pem.key, .http2 = true});
    const auto transport = transport_to(server, {.tls = {.ca_data = authority.pem()}});
    const auto first = std::make_shared<Landing>();
    const auto second = std::make_shared<Landing>();
    const Duration before = cpu_time();
    const TimePoint deadline = in(1500ms);
    for (const auto& landing : {first, second}) {
      transport->send(
          {.method = Method::post, .target = "/", .body = std::string(1000, 'x'), .deadline = deadline},
          Landing::into(landing));
    }
    first->wait();
    second->wait();
    EXPECT_THAT(first->error, HasSubstr("timeout: POST "));
    // Without throttling the loop uses a full CPU: 1.5 s on an idle machine.
    EXPECT_LT(cpu_time() - before, 700ms);
    // A throttled loop still handles commands.
    const auto late = std::make_shared<Landing>();
    transport->send({.target = "/", .deadline = in(1h)}, Landing::into(late))->cancel();
    late->wait();
    EXPECT_THAT(late->error, HasSubstr("cancelled: "));
  }
}

/// Ends the process with code 7 if a transport is rejected for lack of file descriptors.
[[noreturn]] void make_without_descriptors() {
  // UBSan inspects a dynamic type through a pipe: trigger that for the transport while descriptors are left.
  make_curl_transport({.server = "http://127.0.0.1:1"});
  const rlimit few{.rlim_cur = 64, .rlim_max = 64};
  setrlimit(RLIMIT_NOFILE, &few);
  int last = -1;
  for (int opened = open("/dev/null", O_RDONLY); opened >= 0; opened = open("/dev/null", O_RDONLY))
    last = opened;
  try {
    make_curl_transport({.server = "http://127.0.0.1:1"});
  } catch (const Error& error) {
    close(last);
    close(last - 1);
    std::fprintf(stderr, "%s\n", error.what());
    _exit(7);
  }
  _exit(0);
}

TEST(CurlTransportDescriptors, TooFewAreReportedAtOnce) {
  EXPECT_EXIT(make_without_descriptors(), ::testing::ExitedWithCode(7),
              "the transport cannot wait for sockets: too few file descriptors may be open .ulimit -n.");
}

}  // namespace
}  // namespace evenkeel::http::curl_tests
