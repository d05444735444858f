// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fcntl.h>
#include <fstream>
#include <latch>
#include <random>
#include <sys/resource.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/http/curl_transport.hpp>

#include "../support/sockets.hpp"
#include "../support/temporary_directory.hpp"
#include "certificates.hpp"
#include "scripted_server.hpp"

namespace evenkeel::http {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;
using tests::Authority;
using tests::Connection;
using tests::Pem;
using tests::ScriptedServer;

std::shared_ptr<Transport> transport_to(const ScriptedServer& server, CurlTransportOptions options = {}) {
  options.server = server.url();
  options.proxy = "";
  return make_curl_transport(std::move(options));
}

TimePoint in(Duration delay) {
  return std::chrono::steady_clock::now() + delay;
}

/// Returns a script that answers every request of every connection with the same status and body.
ScriptedServer::Script always(int status, std::string body, std::string headers = "") {
  return [=](Connection& connection) {
    while (connection.read_request()) connection.respond(status, body, headers);
  };
}

/// Returns the TransportError or Cancelled that `run` throws, as "code: text" or "cancelled: text".
template <class Run>
std::string error_of(Run run) {
  static constexpr const char* names[] = {"resolve",     "connect",  "tls",   "timeout",
                                          "interrupted", "protocol", "closed"};
  try {
    run();
  } catch (const TransportError& error) {
    return std::string(names[static_cast<int>(error.code())]) + ": " + error.what();
  } catch (const Cancelled& error) {
    return std::string("cancelled: ") + error.what();
  }
  return "no error";
}

std::string error_of(const std::exception_ptr& error) {
  return error_of([&] {
    if (error) std::rethrow_exception(error);
  });
}

/// Records what a stream delivers, and lets a test wait for it.
class Recorder : public StreamHandler {
 public:
  void on_response(int status, const Headers& headers) override {
    const std::lock_guard lock(mutex_);
    status_ = status;
    headers_ = headers;
    changed_.notify_all();
  }
  void on_data(std::string_view piece) override {
    {
      const std::lock_guard lock(mutex_);
      data_ += piece;
      changed_.notify_all();
    }
    if (during_data) during_data();
  }
  void on_end(std::exception_ptr error) override {
    const std::lock_guard lock(mutex_);
    ++ends_;
    error_ = std::move(error);
    changed_.notify_all();
  }

  std::string wait_for_end() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ends_ > 0; });
    const std::exception_ptr error = std::move(error_);  // so that this thread, and no other, releases it
    return error_of(error);
  }
  void wait_for_bytes(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return data_.size() >= count; });
  }
  bool ended() {
    const std::lock_guard lock(mutex_);
    return ends_ > 0;
  }
  std::size_t bytes() {
    const std::lock_guard lock(mutex_);
    return data_.size();
  }
  int status_ = 0;
  Headers headers_;
  std::string data_;
  std::function<void()> during_data;  ///< Called on the transport's thread, after each piece.

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int ends_ = 0;
  std::exception_ptr error_;
};

/// Passes the outcome of a send() to a waiting thread.
struct Landing {
  std::mutex mutex;
  std::condition_variable changed;
  int completions = 0;
  std::string error;
  Response response;

  static Completion into(const std::shared_ptr<Landing>& landing) {
    return [landing](Outcome<Response> outcome) {
      const std::lock_guard lock(landing->mutex);
      ++landing->completions;
      if (outcome.ok()) {
        landing->response = std::move(outcome).value();
      } else {
        landing->error = error_of(outcome.error());
      }
      landing->changed.notify_all();
    };
  }
  void wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return completions > 0; });
  }
};

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
  const test::SocketCount sockets = test::sockets_at(static_cast<std::uint16_t>(server.port()), false);
  EXPECT_EQ(sockets.all, 1);
  EXPECT_EQ(sockets.inherited, 0);
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

// ---- Blocking calls

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

// ---- Guards of writes ----

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

/// Sends a request over the connections that requests share, and waits for the response.
Response shared_fetch(Transport& transport, Request request) {
  return transport.Transport::fetch(std::move(request));
}

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
            "timeout: GET " + server.url() + "/mute: nothing was received for 40 ms");
  const auto after_data = std::make_shared<Recorder>();
  transport->stream({.target = "/watch", .idle_timeout = 25ms}, after_data);
  EXPECT_EQ(after_data->wait_for_end(),
            "timeout: GET " + server.url() + "/watch: nothing was received for 25 ms");
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

class CurlTransportTls : public ::testing::Test {
 protected:
  tests::ScriptedServerOptions secured(const std::string& names) {
    const Pem pem = authority.issue_server(names);
    return {.cert = pem.cert, .key = pem.key};
  }
  std::string fetch_with(const ScriptedServer& server, TlsOptions tls) {
    return error_of([&] { transport_to(server, {.tls = std::move(tls)})->fetch({.target = "/x"}); });
  }

  std::string stream_with(const ScriptedServer& server, TlsOptions tls) {
    return end_of_stream(*transport_to(server, {.tls = std::move(tls)}));
  }
  static std::string end_of_stream(Transport& transport) {
    const auto recorder = std::make_shared<Recorder>();
    transport.stream({.target = "/x"}, recorder);
    return recorder->wait_for_end();
  }

  Authority authority{"test-ca"};
};

TEST_F(CurlTransportTls, TrustsTheGivenAuthorityOnly) {
  ScriptedServer server(always(200, "ok"), secured("IP:127.0.0.1"));
  const Authority other("other-ca");
  EXPECT_EQ(fetch_with(server, {.ca_data = authority.pem()}), "no error");
  EXPECT_THAT(fetch_with(server, {.ca_data = other.pem()}),
              HasSubstr("tls: GET " + server.url() + "/x: SSL certificate problem"));
  EXPECT_THAT(fetch_with(server, {}), HasSubstr("tls: GET "));
  EXPECT_EQ(fetch_with(server, {.insecure = true}), "no error");
  EXPECT_THAT(fetch_with(server, {.ca_data = "not a certificate"}), HasSubstr("tls: GET "));
}

TEST_F(CurlTransportTls, TheCertificateMustNameTheHostOrTheServerName) {
  ScriptedServer server(always(200, "ok"), secured("DNS:api.internal"));
  EXPECT_THAT(fetch_with(server, {.ca_data = authority.pem()}), HasSubstr("tls: GET "));
  EXPECT_EQ(fetch_with(server, {.ca_data = authority.pem(), .server_name = "api.internal"}), "no error");
  EXPECT_THAT(fetch_with(server, {.ca_data = authority.pem(), .server_name = "api.other"}),
              HasSubstr("tls: GET "));
}

TEST_F(CurlTransportTls, StreamsTrustWhatRequestsTrust) {
  ScriptedServer server(always(200, "ok"), secured("IP:127.0.0.1"));
  ScriptedServer named(always(200, "ok"), secured("DNS:api.internal"));
  const std::string ca = authority.pem();
  const std::string both = Authority("other-ca").pem() + ca;
  EXPECT_EQ(stream_with(server, {.ca_data = ca}), "no error");
  EXPECT_EQ(stream_with(server, {.ca_data = both}), "no error");
  EXPECT_EQ(stream_with(server, {.insecure = true}), "no error");
  EXPECT_EQ(stream_with(named, {.ca_data = ca, .server_name = "api.internal"}), "no error");
  const std::pair<const ScriptedServer&, TlsOptions> refused[] = {
      {server, {}},
      {server, {.ca_data = Authority("other-ca").pem()}},
      {server, {.ca_data = "not a certificate"}},
      {server, {.ca_data = ca + "-----BEGIN CERTIFICATE-----\nMIIB"}},
      {server, {.ca_data = ca, .cert_data = "not a certificate", .key_data = "not a key"}},
      {named, {.ca_data = ca}},
      {named, {.ca_data = ca, .server_name = "api.other"}}};
  for (const auto& [peer, tls] : refused) {
    const std::string error = stream_with(peer, tls);
    EXPECT_THAT(error, HasSubstr("tls: GET " + peer.url() + "/x: "));
    EXPECT_EQ(error, fetch_with(peer, tls));
  }
  EXPECT_EQ(stream_with(server, {.ca_data = "not a certificate"}),
            "tls: GET " + server.url() + "/x: error importing CA certificate blob (CA data)");
}

TEST_F(CurlTransportTls, NamesTheFileThatIsNoCertificate) {
  ScriptedServer server(always(200, "ok"), secured("IP:127.0.0.1"));
  const test::TemporaryDirectory folder;
  const std::string file = folder.path / "junk.pem";
  std::ofstream(file) << "not a certificate";
  EXPECT_THAT(fetch_with(server, {.ca_file = file}), HasSubstr("(CA file " + file + ")"));
  EXPECT_THAT(fetch_with(server, {.ca_data = authority.pem(), .cert_file = file, .key_file = file}),
              HasSubstr("(client certificate file " + file + ", key file " + file + ")"));
  EXPECT_THAT(fetch_with(server, {.ca_data = authority.pem(), .cert_data = "junk", .key_data = "junk"}),
              HasSubstr("(client certificate data, key data)"));
}

TEST_F(CurlTransportTls, StreamsPresentTheClientCertificate) {
  auto options = secured("IP:127.0.0.1");
  options.client_ca = authority.pem();
  ScriptedServer server(
      [](Connection& connection) {
        while (connection.read_request()) connection.respond(200, connection.peer_name());
      },
      options);
  const Pem client = authority.issue_client("admin");
  const auto transport = transport_to(
      server, {.tls = {.ca_data = authority.pem(), .cert_data = client.cert, .key_data = client.key}});
  const auto recorder = std::make_shared<Recorder>();
  transport->stream({.target = "/x"}, recorder);
  EXPECT_EQ(recorder->wait_for_end(), "no error");
  EXPECT_EQ(recorder->data_, "admin");
}

TEST_F(CurlTransportTls, StreamsResumeNoSessionOfAuthoritiesThatWereReplaced) {
  const std::string path = ::testing::TempDir() + "evenkeel-stream-ca-" + std::to_string(getpid()) + ".pem";
  const auto write = [&](const std::string& text) { std::ofstream(path) << text; };
  ScriptedServer server(always(200, "ok"), secured("IP:127.0.0.1"));
  const auto transport = transport_to(server, {.tls = {.ca_file = path}, .tls_reload = 0s});
  write(authority.pem());
  EXPECT_EQ(end_of_stream(*transport), "no error");
  EXPECT_EQ(end_of_stream(*transport), "no error");
  write(Authority("other-ca").pem());
  EXPECT_THAT(end_of_stream(*transport), HasSubstr("SSL certificate problem"));
  write("");  // the last contents stay in use
  EXPECT_THAT(end_of_stream(*transport), HasSubstr("SSL certificate problem"));
  write(authority.pem());
  EXPECT_EQ(end_of_stream(*transport), "no error");
  std::remove(path.c_str());
}

TEST_F(CurlTransportTls, TheProxyIsNotVerifiedByTheAuthoritiesOfTheServer) {
  ScriptedServer proxy(always(200, "ok"), secured("IP:127.0.0.1"));
  const auto transport = make_curl_transport(
      {.server = "https://api.invalid", .tls = {.ca_data = authority.pem()}, .proxy = proxy.url()});
  const std::string error = end_of_stream(*transport);
  EXPECT_THAT(error, HasSubstr("tls: GET https://api.invalid/x: SSL certificate problem"));
  EXPECT_EQ(error, error_of([&] { transport->fetch({.target = "/x"}); }));
}

TEST_F(CurlTransportTls, TheServerNameIsForTlsOnly) {
  std::string host;
  ScriptedServer server(
      [&](Connection& connection) {
        while (auto request = connection.read_request()) {
          host = *request->headers.find("host");
          connection.respond(200, "ok");
        }
      },
      secured("DNS:api.internal"));
  EXPECT_EQ(fetch_with(server, {.ca_data = authority.pem(), .server_name = "api.internal"}), "no error");
  EXPECT_EQ("https://" + host, server.url());
}

TEST_F(CurlTransportTls, PresentsTheClientCertificate) {
  auto options = secured("IP:127.0.0.1");
  options.client_ca = authority.pem();
  ScriptedServer server(
      [](Connection& connection) {
        while (connection.read_request()) connection.respond(200, connection.peer_name());
      },
      options);
  const Pem client = authority.issue_client("admin");
  const auto transport = transport_to(
      server, {.tls = {.ca_data = authority.pem(), .cert_data = client.cert, .key_data = client.key}});
  EXPECT_EQ(transport->fetch({.target = "/x"}).body, "admin");
  EXPECT_NE(fetch_with(server, {.ca_data = authority.pem()}), "no error") << "the server insists";
}

TEST_F(CurlTransportTls, PlainHttpBehindAnHttpsUrlIsATlsError) {
  ScriptedServer server([](Connection& connection) {
    connection.read_exactly(1);
    connection.respond(400, "Client sent an HTTP request to an HTTPS server.");
  });
  const auto transport =
      make_curl_transport({.server = "https://127.0.0.1:" + std::to_string(server.port()), .proxy = ""});
  EXPECT_THAT(error_of([&] { transport->fetch({.target = "/x"}); }), HasSubstr("tls: GET https://"));
}

TEST_F(CurlTransportTls, RereadsRotatedFilesAndSurvivesTheirAbsence) {
  const std::string path = ::testing::TempDir() + "evenkeel-ca-" + std::to_string(getpid()) + ".pem";
  const auto write = [&](const std::string& text) { std::ofstream(path) << text; };
  ScriptedServer server(
      [](Connection& connection) {
        if (connection.read_request()) connection.respond(200, "ok", "Connection: close\r\n");
      },
      secured("IP:127.0.0.1"));
  const auto transport = transport_to(server, {.tls = {.ca_file = path}, .tls_reload = 0s});
  std::remove(path.c_str());
  EXPECT_EQ(error_of([&] { transport->fetch({.target = "/x"}); }),
            "tls: GET " + server.url() + "/x: cannot read CA file " + path);
  write(Authority("other-ca").pem());
  EXPECT_THAT(error_of([&] { transport->fetch({.target = "/x"}); }), HasSubstr("tls: "));
  write(authority.pem());
  EXPECT_EQ(error_of([&] { transport->fetch({.target = "/x"}); }), "no error");
  std::remove(path.c_str());
  EXPECT_EQ(error_of([&] { transport->fetch({.target = "/x"}); }), "no error");
}

TEST_F(CurlTransportTls, RequestsShareOneHttp2ConnectionStreamsDoNot) {
  constexpr int together = 12;
  std::atomic<int> streams{0};
  std::atomic<int> http1{0};
  auto options = secured("IP:127.0.0.1");
  options.http2 = true;
  ScriptedServer server(
      [&](Connection& connection) {
        // The preface of HTTP/2 begins like a request; its method identifies it.
        auto start = connection.read_exactly(3);
        if (!start) return;
        if (*start == "PRI") {
          connection.unread(*start);
          tests::serve_http2(connection, together, streams);
          return;
        }
        connection.unread(*start);
        connection.read_request();
        ++http1;
        connection.respond(200, "http1");
      },
      options);
  const auto transport = transport_to(server, {.tls = {.ca_data = authority.pem()}});
  std::vector<std::shared_ptr<Landing>> landings;
  for (int i = 0; i < together; ++i) {
    landings.push_back(std::make_shared<Landing>());
    transport->send({.target = "/x"}, Landing::into(landings.back()));
  }
  for (const auto& landing : landings) {
    landing->wait();
    EXPECT_EQ(landing->error, "");
    EXPECT_EQ(landing->response.status, 200);
    EXPECT_THAT(landing->response.body, HasSubstr("stream "));
  }
  EXPECT_EQ(server.connections(), 1);
  const auto recorder = std::make_shared<Recorder>();
  transport->stream({.target = "/watch"}, recorder);
  EXPECT_EQ(recorder->wait_for_end(), "no error");
  EXPECT_EQ(recorder->data_, "http1");
  EXPECT_EQ(shared_fetch(*transport, {.target = "/again"}).status, 200);
  EXPECT_EQ(server.connections(), 2);
  EXPECT_EQ(transport->fetch({.target = "/blocking"}).body, "http1") << "a connection of its own";
  EXPECT_EQ(server.connections(), 3);
}

TEST_F(CurlTransportTls, BodiesOfAnySizeGoOverHttp2) {
  std::atomic<int> streams{0};
  auto options = secured("IP:127.0.0.1");
  options.http2 = true;
  ScriptedServer server([&](Connection& connection) { tests::serve_http2(connection, 0, streams); }, options);
  const auto transport = transport_to(server, {.tls = {.ca_data = authority.pem()}});
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{300'000}}) {
    const Response response =
        shared_fetch(*transport, {.method = Method::post, .target = "/x", .body = std::string(size, 'b')});
    EXPECT_EQ(response.status, 200);
    EXPECT_THAT(response.body, HasSubstr(", " + std::to_string(size) + " bytes"));
  }
  EXPECT_EQ(server.connections(), 1);
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

class CurlTransportTlsConcurrency : public CurlTransportTls {};

TEST_F(CurlTransportTlsConcurrency, StreamsShareAuthoritiesWhileTheyAreReplaced) {
  const std::string path = ::testing::TempDir() + "evenkeel-shared-ca-" + std::to_string(getpid()) + ".pem";
  const std::string texts[] = {authority.pem(), authority.pem() + Authority("other-ca").pem()};
  const auto replace = [&](const std::string& text) {
    std::ofstream(path + ".new") << text;
    std::rename((path + ".new").c_str(), path.c_str());
  };
  ScriptedServer server(always(200, "ok"), secured("IP:127.0.0.1"));
  constexpr int threads = 4, each = 12;
  std::atomic<int> running{threads}, failures{0};
  replace(texts[0]);
  {
    const auto transport = transport_to(server, {.tls = {.ca_file = path}, .tls_reload = 0s});
    std::vector<std::thread> workers;
    for (int t = 0; t < threads; ++t) {
      workers.emplace_back([&] {
        for (int i = 0; i < each; ++i) {
          const auto recorder = std::make_shared<Recorder>();
          transport->stream({.target = "/x"}, recorder);
          // It reads the files on this thread, and the streams read them on the transport's.
          if (error_of([&] { transport->fetch({.target = "/x"}); }) != "no error") ++failures;
          if (recorder->wait_for_end() != "no error") ++failures;
        }
        --running;
      });
    }
    for (std::size_t i = 1; running > 0; ++i) replace(texts[i % 2]);
    for (std::thread& worker : workers) worker.join();
  }
  EXPECT_EQ(failures, 0);
  std::remove(path.c_str());
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
}  // namespace evenkeel::http
