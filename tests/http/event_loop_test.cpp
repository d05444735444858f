// SPDX-License-Identifier: Apache-2.0
// The event loop of a program, and a transport that it drives.
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/http/curl_transport.hpp>
#include <evenkeel/http/event_loop.hpp>

#include "certificates.hpp"
#include "loop_driver.hpp"
#include "scripted_server.hpp"

namespace evenkeel::http {
namespace {

using namespace std::chrono_literals;
using tests::Connection;
using tests::drive_until;
using tests::is_readable;
using tests::ScriptedServer;
using tests::thread_count;

TEST(EventLoop, RunsPostedTasksInOrderWithinPoll) {
  EventLoop loop;
  std::string order;
  loop.post([&] {
    order += "a";
    loop.post([&] { order += "c"; });
  });
  loop.post([&] { order += "b"; });
  EXPECT_EQ(order, "");
  loop.poll();
  EXPECT_EQ(order, "abc");
}

TEST(EventLoop, IsReadableFromAPostToThePoll) {
  EventLoop loop;
  EXPECT_FALSE(is_readable(loop));
  EXPECT_EQ(loop.next_due(), std::nullopt);
  loop.post([] {});
  EXPECT_TRUE(is_readable(loop));
  loop.poll();
  EXPECT_FALSE(is_readable(loop));
  EXPECT_EQ(loop.poll(), 0U);
}

TEST(EventLoopConcurrency, AnotherThreadsPostWakesTheProgram) {
  EventLoop loop;
  int count = 0;
  std::jthread other([&] {
    for (int i = 0; i < 1000; ++i) loop.post([&] { ++count; });
  });
  drive_until(loop, [&] { return count == 1000; });
  other.join();
  loop.poll();  // the last post may have woken the loop after its task ran with those before it
  EXPECT_FALSE(is_readable(loop));
  EXPECT_EQ(loop.poll(), 0U);
  EXPECT_EQ(count, 1000);  // nothing ran twice
}

/// The answer to a request that the loop drives, or the text of its error.
class Answer {
 public:
  Completion completion() {
    return [this](Outcome<Response> outcome) {
      try {
        text_ = std::move(outcome).value().body;
      } catch (const std::exception& error) {
        text_ = error.what();
      }
    };
  }
  bool is_there() const { return text_.has_value(); }
  const std::string& wait(EventLoop& loop) {
    drive_until(loop, [&] { return is_there(); });
    return *text_;
  }

 private:
  std::optional<std::string> text_;
};

class Reader final : public StreamHandler {
 public:
  void on_response(int status, const Headers&) override { status_ = status; }
  void on_data(std::string_view piece) override { data_ += piece; }
  void on_end(std::exception_ptr error) override {
    end_ = "complete";
    try {
      if (error) std::rethrow_exception(error);
    } catch (const std::exception& problem) {
      end_ = problem.what();
    }
  }

  int status_ = 0;
  std::string data_;
  std::string end_;
};

Request get(std::string target) {
  return {.method = Method::get, .target = std::move(target)};
}

ScriptedServer::Script echo_target() {
  return [](Connection& connection) {
    while (const auto request = connection.read_request()) connection.respond(200, request->target);
  };
}

TEST(EventLoopTransport, SendsAndStreamsWithoutAThread) {
  ScriptedServer server([](Connection& connection) {
    while (const auto request = connection.read_request()) {
      if (request->target != "/watch") {
        connection.respond(200, request->target);
        continue;
      }
      connection.start_chunked(200);
      connection.chunk("one");
      connection.chunk("two");
      connection.wait_until_closed();
    }
  });
  const std::size_t before = thread_count();
  auto loop = std::make_shared<EventLoop>();
  auto transport = make_curl_transport({.server = server.url(), .event_loop = loop});
  auto reader = std::make_shared<Reader>();
  const auto stream = transport->stream(get("/watch"), reader);
  Answer first;
  Answer second;
  transport->send(get("/first"), first.completion());
  transport->send(get("/second"), second.completion());
  EXPECT_EQ(first.wait(*loop), "/first");
  EXPECT_EQ(second.wait(*loop), "/second");
  drive_until(*loop, [&] { return reader->data_ == "onetwo"; });
  // The server has a thread for each of its connections.
  EXPECT_EQ(thread_count() - before, static_cast<std::size_t>(server.connections()));
  stream->cancel();
  drive_until(*loop, [&] { return !reader->end_.empty(); });
  EXPECT_EQ(reader->end_, "GET " + server.url() + "/watch: cancelled");
}

TEST(EventLoopTransport, ASilentServerIsNoticedAtTheDeadline) {
  ScriptedServer server([](Connection& connection) { connection.wait_until_closed(); });
  auto loop = std::make_shared<EventLoop>();
  auto transport = make_curl_transport({.server = server.url(), .event_loop = loop});
  Request request = get("/slow");
  request.deadline = std::chrono::steady_clock::now() + 30ms;
  Answer answer;
  transport->send(request, answer.completion());
  loop->poll();
  EXPECT_LE(loop->next_due(), request.deadline);
  EXPECT_EQ(answer.wait(*loop), "GET " + server.url() + "/slow: no answer before the deadline");
}

TEST(EventLoopTransport, ABlockingCallNeedsNoPoll) {
  ScriptedServer server(echo_target());
  auto loop = std::make_shared<EventLoop>();
  auto transport = make_curl_transport({.server = server.url(), .event_loop = loop});
  EXPECT_EQ(transport->fetch(get("/now")).body, "/now");
}

TEST(EventLoopTransport, MayBeDestroyedByItsCompletion) {
  ScriptedServer server(echo_target());
  auto loop = std::make_shared<EventLoop>();
  auto transport = make_curl_transport({.server = server.url(), .event_loop = loop});
  auto reader = std::make_shared<Reader>();
  bool done = false;
  transport->send(get("/first"), [&](const Outcome<Response>&) {
    transport->stream(get("/late"), reader);
    transport.reset();
    done = true;
  });
  drive_until(*loop, [&] { return done && !reader->end_.empty(); });
  EXPECT_EQ(reader->end_, "GET " + server.url() + "/late: the transport was closed");
  EXPECT_EQ(loop->next_due(), std::nullopt);
}

TEST(EventLoopTransport, EndsItsExchangesWhenItIsDestroyed) {
  ScriptedServer server([](Connection& connection) { connection.wait_until_closed(); });
  auto loop = std::make_shared<EventLoop>();
  auto transport = make_curl_transport({.server = server.url(), .event_loop = loop});
  Answer answer;
  auto call = transport->send(get("/open"), answer.completion());
  loop->poll();
  transport.reset();
  EXPECT_EQ(answer.wait(*loop), "GET " + server.url() + "/open: the transport was closed");
  call->cancel();  // a handle may outlive the transport
  loop->poll();
  EXPECT_EQ(loop->next_due(), std::nullopt);
}

// ---- Names

TEST(EventLoopTransport, TheProgramLooksUpNames) {
  ScriptedServer server(echo_target());
  std::vector<std::string> asked;
  EventLoopOptions::Resolved answer_later;
  auto loop = std::make_shared<EventLoop>(
      EventLoopOptions{.resolve = [&](const std::string& host, EventLoopOptions::Resolved done) {
        asked.push_back(host);
        answer_later = std::move(done);
      }});
  auto transport = make_curl_transport({.server = server.url("api.example"), .event_loop = loop});
  Answer first;
  Answer second;
  transport->send(get("/first"), first.completion());
  transport->send(get("/second"), second.completion());
  drive_until(*loop, [&] { return answer_later != nullptr; });
  EXPECT_FALSE(first.is_there());
  answer_later(std::vector<std::string>{"127.0.0.1"});
  EXPECT_EQ(first.wait(*loop), "/first");
  EXPECT_EQ(second.wait(*loop), "/second");
  EXPECT_EQ(asked, std::vector<std::string>{"api.example"});
}

TEST(EventLoopTransport, ANameThatIsNotFoundEndsWhatWaitsForIt) {
  int asked = 0;
  auto loop = std::make_shared<EventLoop>(
      EventLoopOptions{.resolve = [&](const std::string&, const EventLoopOptions::Resolved& done) {
        if (++asked > 1) return done(std::vector<std::string>{});
        done(std::make_exception_ptr(std::runtime_error("no such host")));
      }});
  auto transport = make_curl_transport({.server = "http://api.example:6443", .event_loop = loop});
  Answer first;
  transport->send(get("/"), first.completion());
  EXPECT_EQ(first.wait(*loop),
            "GET http://api.example:6443/: Could not resolve host: api.example: no such host");
  auto reader = std::make_shared<Reader>();
  transport->stream(get("/watch"), reader);
  drive_until(*loop, [&] { return !reader->end_.empty(); });
  EXPECT_EQ(reader->end_,
            "GET http://api.example:6443/watch: Could not resolve host: api.example: it has no address");
  EXPECT_EQ(asked, 2);
}

TEST(EventLoopTransport, AProxysNameIsLookedUpInsteadOfTheServers) {
  ScriptedServer proxy(echo_target());
  auto loop = std::make_shared<EventLoop>(
      EventLoopOptions{.resolve = [&](const std::string& host, const EventLoopOptions::Resolved& done) {
        EXPECT_EQ(host, "proxy.example");
        done(std::vector<std::string>{"127.0.0.1"});
      }});
  auto transport = make_curl_transport(
      {.server = "http://api.example:6443", .proxy = proxy.url("proxy.example"), .event_loop = loop});
  Answer answer;
  transport->send(get("/first"), answer.completion());
  EXPECT_EQ(answer.wait(*loop), "http://api.example:6443/first");
}

TEST(EventLoopTransport, NumericAddressesAreNotLookedUp) {
  ScriptedServer server(echo_target());
  auto loop = std::make_shared<EventLoop>(EventLoopOptions{
      .resolve = [](const std::string& host, const EventLoopOptions::Resolved&) { FAIL() << host; }});
  for (const char* host : {"127.0.0.1", "localhost"}) {
    auto transport = make_curl_transport({.server = server.url(host), .event_loop = loop});
    Answer answer;
    transport->send(get("/here"), answer.completion());
    EXPECT_EQ(answer.wait(*loop), "/here");
  }
}

// ---- Files

/// Keeps work until it is run, as a thread pool would.
struct Pool {
  EventLoopOptions options() {
    return {.offload = [this](std::function<void()> work) { waiting.push_back(std::move(work)); }};
  }
  void run() {
    for (const auto& work : std::exchange(waiting, {})) work();
  }
  std::vector<std::function<void()>> waiting;
};

TEST(EventLoopTransport, CertificateFilesAreReadElsewhere) {
  const tests::Authority authority("loop");
  const tests::Pem pem = authority.issue_server("IP:127.0.0.1");
  ScriptedServer server(echo_target(), {.cert = pem.cert, .key = pem.key});
  Pool pool;
  auto loop = std::make_shared<EventLoop>(pool.options());
  auto transport =
      make_curl_transport({.server = server.url(), .tls = {.ca_data = authority.pem()}, .event_loop = loop});
  Answer answer;
  transport->send(get("/secret"), answer.completion());
  drive_until(*loop, [&] { return !pool.waiting.empty(); });
  EXPECT_EQ(server.connections(), 0);
  pool.run();
  EXPECT_EQ(answer.wait(*loop), "/secret");
  Answer again;
  transport->send(get("/again"), again.completion());
  EXPECT_EQ(again.wait(*loop), "/again");
  EXPECT_TRUE(pool.waiting.empty());
}

TEST(EventLoopTransport, AMissingCertificateFileEndsWhatWaitsForIt) {
  auto loop = std::make_shared<EventLoop>();
  auto transport = make_curl_transport(
      {.server = "https://127.0.0.1:1", .tls = {.ca_file = "/nonexistent/ca.crt"}, .event_loop = loop});
  Answer answer;
  transport->send(get("/"), answer.completion());
  EXPECT_EQ(answer.wait(*loop), "GET https://127.0.0.1:1/: cannot read CA file /nonexistent/ca.crt");
}

}  // namespace
}  // namespace evenkeel::http
