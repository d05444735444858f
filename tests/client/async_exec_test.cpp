// SPDX-License-Identifier: Apache-2.0
// Commands and ports without a thread that waits, against a server that speaks the subprotocols of a kubelet.
#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/client/errors.hpp>
#include <evenkeel/client/exec_call.hpp>
#include <evenkeel/client/pod_connection_call.hpp>
#include <evenkeel/http/curl_transport.hpp>
#include <evenkeel/http/event_loop.hpp>

#include "../http/certificates.hpp"
#include "../http/loop_driver.hpp"
#include "../support/await.hpp"
#include "../support/cutting_proxy.hpp"
#include "scripted_kubelet.hpp"

namespace evenkeel {
namespace async_exec_test {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using tests::Connection;
using tests::CuttingProxy;
using tests::ScriptedKubelet;
using tests::ScriptedServer;
using tests::success;
using tests::v4;
using tests::v5;
using tests::WebSocketPeer;

constexpr const char* failure_5 =
    R"({"status":"Failure","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"5"}]}})";

/// Returns the text of an error; "no error" for null.
std::string text_of(const std::exception_ptr& error) {
  if (!error) return "no error";
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& thrown) {
    return thrown.what();
  }
}

class AsyncExecConcurrency : public ScriptedKubelet {
 protected:
  /// Runs a command to its end.
  Outcome<ExecResult> run(const Client& client, const ExecOptions& options, std::string input = {}) const {
    std::promise<Outcome<ExecResult>> end;
    start_exec(client, web_, options, std::move(input),
               [&](Outcome<ExecResult> result) { end.set_value(std::move(result)); });
    return end.get_future().get();
  }
};

TEST_F(AsyncExecConcurrency, ReturnsWhatACommandWrites) {
  http::Request request;
  serve([&](WebSocketPeer& peer, const http::Request& got) {
    request = got;
    peer.send("\x01");
    peer.send(1, "one\n");
    peer.send(2, "oops\n");
    peer.send(1, "two\n");
    peer.send(3, failure_5);
    peer.close();
  });
  const Client client = this->client();
  const ExecResult result = run(client, {.command = {"ls", "a b"}, .container = "main"}).value();
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_EQ(result.out, "one\ntwo\n");
  EXPECT_EQ(result.err, "oops\n");
  EXPECT_EQ(request.target,
            "/api/v1/namespaces/default/pods/web-0/exec?container=main&stdout=true&stderr=true&command=ls&"
            "command=a%20b");
  EXPECT_EQ(*request.headers.find("Sec-WebSocket-Protocol"), "v5.channel.k8s.io, v4.channel.k8s.io");
  EXPECT_EQ(*request.headers.find("Authorization"), "Bearer secret");
}

TEST_F(AsyncExecConcurrency, SendsInputAndItsEndWhileItReads) {
  const std::string input(std::size_t{8} << 20, 'x');
  serve([&](WebSocketPeer& peer, const http::Request&) {
    for (int i = 0; i < 256; ++i) peer.send(1, std::string(32768, 'y'));  // before anything is read
    std::size_t got = 0;
    while (const auto message = peer.read_message()) {
      if (*message == std::string("\xff\0", 2)) break;
      EXPECT_LE(message->size(), 32769U);
      got += message->size() - 1;
    }
    EXPECT_EQ(got, input.size());
    peer.send(3, success);
    peer.close();
  });
  const Client client = this->client();
  EXPECT_EQ(run(client, {.command = {"cat"}}, input).value().out.size(), std::size_t{8} << 20);
}

TEST_F(AsyncExecConcurrency, ASessionIsInteractive) {
  serve([&](WebSocketPeer& peer, const http::Request& request) {
    EXPECT_THAT(request.target, HasSubstr("/attach?stdin=true&stdout=true&tty=true"));
    EXPECT_EQ(peer.read_message(), "\x04{\"Width\":100,\"Height\":30}");
    while (const auto message = peer.read_message()) {
      if ((*message)[0] != '\0') break;
      peer.send(1, "> " + message->substr(1));
    }
    peer.send(3, success);
    peer.close();
  });
  const Client client = this->client();
  std::promise<Outcome<int>> end;
  std::promise<void> answered;
  std::atomic<int> drained = 0;
  std::string text;
  const auto call = start_attach(client, web_, {.with_stdin = true, .tty = true},
                                 {.on_output =
                                      [&](ProcessOutput output) {
                                        text += output.bytes;
                                        if (text == "> pwd\n") answered.set_value();
                                      },
                                  .on_drained = [&] { ++drained; },
                                  .on_end = [&](Outcome<int> code) { end.set_value(std::move(code)); }});
  call->resize({.width = 100, .height = 30});
  call->write("pwd\n");
  answered.get_future().get();
  // The answer may be read before the end of the write is noticed.
  tests::await("the input to be out", [&] { return drained >= 1 && call->unsent() == 0; });
  call->close_stdin();
  EXPECT_EQ(end.get_future().get().value(), 0);
  call->write("too late\n");
  call->cancel();
}

TEST_F(AsyncExecConcurrency, APausedCallGetsNothingUntilItIsResumed) {
  constexpr std::size_t whole = std::size_t{16} << 20;
  std::atomic<std::size_t> sent = 0;
  serve([&](WebSocketPeer& peer, const http::Request&) {
    const std::string piece(32768, 'y');
    for (; sent < whole; sent += piece.size()) peer.send(1, piece);
    peer.send(3, success);
    peer.close();
  });
  const Client client = this->client();
  std::promise<Outcome<int>> end;
  std::promise<void> begun;
  std::atomic<std::size_t> got = 0;
  std::shared_ptr<ExecCall> call;
  std::promise<void> started;
  call = start_exec(client, web_, {.command = {"yes"}},
                    {.on_start = [&] { started.get_future().get(); },
                     .on_output =
                         [&](ProcessOutput output) {
                           const bool is_first = got == 0;
                           got += output.bytes.size();
                           if (!is_first) return;
                           call->pause();
                           begun.set_value();
                         },
                     .on_end = [&](Outcome<int> code) { end.set_value(std::move(code)); }});
  started.set_value();
  begun.get_future().get();
  tests::await("bytes that wait", [&] { return sent > std::size_t{1} << 20; });
  EXPECT_EQ(got, 32768U);
  call->resume();
  EXPECT_EQ(end.get_future().get().value(), 0);
  EXPECT_EQ(got, whole);
}

TEST_F(AsyncExecConcurrency, APausedCallThatHasEndedHoldsNothingUp) {
  serve([&](WebSocketPeer& peer, const http::Request&) {
    peer.send(1, "all");
    peer.send(3, success);
    peer.close();
  });
  constexpr Duration ping_interval = 100ms;
  const http::CurlTransportOptions options{
      .server = server_->url(), .proxy = "", .dead_peer_timeout = 4 * ping_interval};
  const Client client = this->client({.transport = http::make_curl_transport(options)});
  std::promise<Outcome<int>> end;
  std::promise<void> paused, started;
  std::shared_ptr<ExecCall> call;
  call = start_exec(client, web_, {.command = {"echo"}},
                    {.on_start = [&] { started.get_future().get(); },
                     .on_output =
                         [&](const ProcessOutput&) {
                           call->pause();
                           paused.set_value();
                         },
                     .on_end = [&](Outcome<int> code) { end.set_value(std::move(code)); }});
  started.set_value();
  paused.get_future().get();
  const auto pinged = std::chrono::steady_clock::now() + 2 * ping_interval;
  tests::await("the time of several pings", [&] { return std::chrono::steady_clock::now() >= pinged; });
  call->cancel();
  EXPECT_THAT(text_of(end.get_future().get().error()), HasSubstr(": cancelled"));
}

TEST_F(AsyncExecConcurrency, ErrorsAreThoseOfABlockingCall) {
  raw([](Connection& connection) {
    connection.read_request();
    connection.respond(
        403, R"({"kind":"Status","status":"Failure","message":"no","reason":"Forbidden","code":403})");
  });
  EXPECT_EQ(text_of(run(client(), {.command = {"ls"}}).error()),
            "get Pod/exec default/web-0: 403 Forbidden: no");
  serve([](WebSocketPeer& peer, const http::Request&) {
    peer.send(1, "one");
    peer.close(1011, "going away");
  });
  EXPECT_EQ(
      text_of(run(client(), {.command = {"ls"}}).error()),
      "get Pod/exec default/web-0: the server closed the WebSocket before the exit code came (1011 going "
      "away)");
  serve([](WebSocketPeer& peer, const http::Request&) { peer.send(1, "one"); });
  EXPECT_EQ(
      text_of(run(client(), {.command = {"ls"}}).error()),
      "GET " + server_->url() +
          "/api/v1/namespaces/default/pods/web-0/exec?stdout=true&stderr=true&command=ls: the connection "
          "ended without a close frame");
  serve([](WebSocketPeer& peer, const http::Request&) {
    peer.send(3, R"({"status":"Failure","message":"x"})");
  });
  EXPECT_EQ(text_of(run(client(), {.command = {"ls"}}).error()),
            "get Pod/exec default/web-0: 500 InternalError: x");
  serve([](WebSocketPeer& peer, const http::Request&) { peer.read_message(); }, v4);
  EXPECT_EQ(
      text_of(run(client(), {.command = {"cat"}}, "input").error()),
      "get Pod/exec default/web-0: the server speaks v4.channel.k8s.io, in which stdin cannot be ended");
  serve([](WebSocketPeer&, const http::Request&) {}, "other");
  EXPECT_THAT(text_of(run(client(), {.command = {"ls"}}).error()),
              HasSubstr("the server chose the subprotocol \"other\", which was not offered"));
  const Client nobody({.server = "http://127.0.0.1:1", .proxy = ""});
  EXPECT_THAT(text_of(run(nobody, {.command = {"ls"}}).error()), HasSubstr("Connection refused"));
  EXPECT_THROW(run(nobody, {}), std::invalid_argument);
}

TEST_F(AsyncExecConcurrency, IsBoundByDeadlineStopTokenAndTransport) {
  serve([](WebSocketPeer& peer, const http::Request&) { peer.read_message(); });
  const auto end_of = [&](const Client& client, const std::function<void(ExecCall&)>& then) {
    std::promise<Outcome<int>> end;
    std::promise<void> started;
    const auto call = start_exec(client, web_, {.command = {"sleep"}},
                                 {.on_start = [&] { started.set_value(); },
                                  .on_end = [&](Outcome<int> code) { end.set_value(std::move(code)); }});
    started.get_future().get();
    then(*call);
    return text_of(end.get_future().get().error());
  };
  const Client open = client();
  EXPECT_THAT(end_of(open, [](ExecCall& call) { call.cancel(); }), HasSubstr(": cancelled"));
  std::stop_source stop;
  EXPECT_THAT(end_of(open.with({.stop = stop.get_token()}), [&](ExecCall&) { stop.request_stop(); }),
              HasSubstr(": cancelled"));
  EXPECT_THAT(end_of(open.with({.deadline = std::chrono::steady_clock::now() + 1s}), [](ExecCall&) {}),
              HasSubstr(": deadline exceeded"));
  std::optional<Client> owner = client();
  EXPECT_THAT(end_of(*owner, [&](ExecCall&) { owner.reset(); }), HasSubstr(": the transport was closed"));
}

TEST_F(AsyncExecConcurrency, AServerThatNeverAnswersIsATimeout) {
  raw([](Connection& connection) {
    connection.read_request();
    connection.wait_until_closed();
  });
  EXPECT_THAT(text_of(run(client().with({.timeout = 300ms}), {.command = {"ls"}}).error()),
              HasSubstr(": deadline exceeded"));
}

TEST_F(AsyncExecConcurrency, OneLoopAndNoThreadRunManyCommands) {
  constexpr int commands = 20;
  serve([&](WebSocketPeer& peer, const http::Request&) {
    while (const auto message = peer.read_message()) {
      if (*message == std::string("\xff\0", 2)) break;
      peer.send(1, message->substr(1));
    }
    peer.send(3, success);
    peer.close();
  });
  const auto loop = std::make_shared<EventLoop>();
  const Client client = this->client({.event_loop = loop});
  const std::thread::id here = std::this_thread::get_id();
  int ended = 0;
  for (int i = 0; i < commands; ++i) {
    const std::string input = "input " + std::to_string(i);
    start_exec(client, web_, {.command = {"cat"}}, input, [&, input](Outcome<ExecResult> result) {
      EXPECT_EQ(result.value().out, input);
      EXPECT_EQ(std::this_thread::get_id(), here);
      ++ended;
    });
  }
  tests::drive_until(*loop, [&] { return ended == commands; });
  while (loop->poll() > 0) {
  }
  EXPECT_FALSE(tests::is_readable(*loop)) << "nothing is left to do";
}

// Regression: as long as a command wrote faster than its output was handled, poll() did not return.
TEST_F(AsyncExecConcurrency, ACommandThatNeverStopsWritingHasTurns) {
  constexpr std::size_t whole = std::size_t{64} << 20;
  constexpr std::size_t ahead = std::size_t{64} << 10;
  const auto sent = std::make_shared<std::atomic<std::size_t>>(0);
  serve([sent](WebSocketPeer& peer, const http::Request&) {
    const std::string piece(16384, 'y');
    while (*sent < whole && peer.send(1, piece)) *sent += piece.size();
    *sent = 2 * whole;
  });
  const auto loop = std::make_shared<EventLoop>();
  const Client client = this->client({.event_loop = loop});
  std::size_t got = 0;
  const auto call = start_exec(client, web_, {.command = {"yes"}}, {.on_output = [&](ProcessOutput output) {
                                 got += output.bytes.size();
                                 while (*sent < got + ahead) std::this_thread::yield();
                               }});
  tests::drive_until(*loop, [&] { return got > 0; });
  EXPECT_LT(got, whole / 2);
  call->cancel();
}

TEST_F(AsyncExecConcurrency, ConnectsToPorts) {
  serve(
      [&](WebSocketPeer& peer, const http::Request& request) {
        EXPECT_THAT(request.target, HasSubstr("/portforward?ports=6379"));
        peer.send(0, std::string("\xeb\x18", 2));
        peer.send(1, std::string("\xeb\x18", 2));
        const auto message = peer.read_message();
        EXPECT_EQ(*message, std::string("\0PING", 5));
        peer.send(0, "PONG");
        EXPECT_EQ(peer.read_message(), std::nullopt) << "the client closes";
        peer.close();
      },
      v4);
  const Client client = this->client();
  std::promise<std::exception_ptr> end;
  std::promise<std::string> data;
  const auto call =
      start_pod_connection(client, web_, 6379,
                           {.on_data = [&](std::string bytes) { data.set_value(std::move(bytes)); },
                            .on_end = [&](std::exception_ptr error) { end.set_value(std::move(error)); }});
  call->write("PING");
  EXPECT_EQ(data.get_future().get(), "PONG");
  call->close();
  EXPECT_EQ(text_of(end.get_future().get()), "no error");
  EXPECT_THROW(start_pod_connection(client, web_, 0, {}), std::invalid_argument);

  serve(
      [&](WebSocketPeer& peer, const http::Request&) {
        peer.send(0, std::string("\x50\0", 2));
        peer.send(1, std::string("\x50\0", 2));
        peer.send(1, "connection refused");
        peer.close();
      },
      v4);
  std::promise<std::exception_ptr> refused;
  const Client other = this->client();
  start_pod_connection(other, web_, 80,
                       {.on_end = [&](std::exception_ptr error) { refused.set_value(std::move(error)); }});
  EXPECT_THAT(text_of(refused.get_future().get()), HasSubstr(": connection refused"));
}

// Regression: after a close nothing limited the wait for the answer of the peer.
TEST_F(AsyncExecConcurrency, ACloseThatIsNotAnsweredIsATimeout) {
  serve(
      [&](WebSocketPeer& peer, const http::Request&) {
        peer.send(0, std::string("\xeb\x18", 2));
        peer.send(1, std::string("\xeb\x18", 2));
        while (peer.read()) {
        }
      },
      v4);
  std::promise<std::exception_ptr> end;
  const Client impatient = client({.transport = http::make_curl_transport(
                                       {.server = server_->url(), .proxy = "", .dead_peer_timeout = 200ms})});
  const auto call = start_pod_connection(
      impatient, web_, 6379, {.on_end = [&](std::exception_ptr error) { end.set_value(std::move(error)); }});
  call->close();
  auto ended = end.get_future();
  ASSERT_EQ(ended.wait_for(10s), std::future_status::ready);
  EXPECT_THAT(text_of(ended.get()), HasSubstr(": no answer to the close of the WebSocket"));
}

// ---- Cuts ----

class AsyncExecCutConcurrency : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Plain, AsyncExecCutConcurrency, ::testing::Values(false));
INSTANTIATE_TEST_SUITE_P(Tls, AsyncExecCutConcurrency, ::testing::Values(true));

// Up to the last byte of the answer: the whole output, or an error.
TEST_P(AsyncExecCutConcurrency, AtEveryByte) {
  const tests::Authority authority("tests");
  const tests::Pem pem = authority.issue_server("IP:127.0.0.1");
  ScriptedServer server(
      [&](Connection& connection) {
        WebSocketPeer peer(connection);
        if (!peer.accept(v5)) return;
        for (int i = 0; i < 3; ++i) peer.send(1 + i % 2, "piece " + std::to_string(i) + "\n");
        peer.send(3, failure_5);
        peer.close();
        connection.wait_until_closed();
      },
      GetParam() ? tests::ScriptedServerOptions{.cert = pem.cert, .key = pem.key}
                 : tests::ScriptedServerOptions{});
  CuttingProxy proxy(static_cast<std::uint16_t>(server.port()));
  const Client client(
      {.server = (GetParam() ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(proxy.port()),
       .tls = {.ca_data = authority.pem()},
       .proxy = ""});
  const auto run = [&] {
    std::promise<Outcome<ExecResult>> end;
    start_exec(client, {"default", "web-0"}, {.command = {"ls"}}, "",
               [&](Outcome<ExecResult> result) { end.set_value(std::move(result)); });
    return end.get_future().get();
  };
  EXPECT_TRUE(run().ok());
  const std::size_t whole = proxy.passed();
  std::size_t errors = 0;
  for (std::size_t at = 0; at < whole; at += GetParam() ? 7 : 1) {
    proxy.cut_after(at, CuttingProxy::Ending::close);
    Outcome<ExecResult> result = run();
    if (result.ok()) {
      ASSERT_EQ(result.value().exit_code, 5) << "at byte " << at;
      ASSERT_EQ(result.value().out, "piece 0\npiece 2\n") << "at byte " << at;
      ASSERT_EQ(result.value().err, "piece 1\n") << "at byte " << at;
    } else {
      ++errors;
      EXPECT_THROW(std::rethrow_exception(result.error()), TransportError) << "at byte " << at;
    }
    proxy.cancel_cut();
  }
  EXPECT_GT(errors, 100U);
}

}  // namespace async_exec_test
}  // namespace evenkeel
