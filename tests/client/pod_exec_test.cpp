// SPDX-License-Identifier: Apache-2.0
// Commands in containers, against a server that speaks the subprotocols of a kubelet.
#include <array>
#include <atomic>
#include <fstream>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/client/errors.hpp>
#include <evenkeel/client/pod_exec.hpp>
#include <evenkeel/client/request_meter.hpp>
#include <evenkeel/http/curl_transport.hpp>

#include "../http/certificates.hpp"
#include "../support/await.hpp"
#include "../support/cutting_proxy.hpp"
#include "../support/error_text.hpp"
#include "../support/temporary_directory.hpp"
#include "client/pods/exec_core.hpp"
#include "controller/fibers/fibers.hpp"
#include "scripted_kubelet.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using tests::Connection;
using tests::CuttingProxy;
using tests::error_of;
using tests::Frame;
using tests::ScriptedServer;
using tests::success;
using tests::v4;
using tests::v5;
using tests::WebSocketPeer;

std::string failure(int code) {
  return R"({"metadata":{},"status":"Failure","message":"command terminated with non-zero exit code: exit status )" +
         std::to_string(code) +
         R"(","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":")" +
         std::to_string(code) + R"("}]}})";
}

// ---- Core ----

TEST(ExecCore, ReadsChannels) {
  detail::ExecCore core("exec");
  EXPECT_EQ(core.on_message(""), std::nullopt);
  EXPECT_EQ(core.on_message("\x01"), std::nullopt) << "the first message of a server is empty";
  EXPECT_EQ(core.on_message(std::string("\xff\x01", 2)), std::nullopt);
  const auto out = core.on_message("\x01one");
  EXPECT_EQ(out->bytes, "one");
  EXPECT_FALSE(out->is_stderr);
  EXPECT_TRUE(core.on_message("\x02two")->is_stderr);
  EXPECT_EQ(core.exit_code(), std::nullopt);
  EXPECT_EQ(core.on_message(std::string("\x03") + success), std::nullopt);
  EXPECT_EQ(core.exit_code(), 0);
  EXPECT_EQ(error_of([&] { core.on_message("\x07x"); }), "exec: the server sent a message of channel 7");
}

TEST(ExecCore, ReadsExitCodesAndFailures) {
  const auto status_error = [](const std::string& status) {
    return error_of([&] { detail::ExecCore("exec").on_message("\x03" + status); });
  };
  detail::ExecCore core("exec");
  core.on_message("\x03" + failure(137));
  EXPECT_EQ(core.exit_code(), 137);
  EXPECT_EQ(
      status_error(R"({"status":"Failure","reason":"InternalError","code":500,"message":"no such program"})"),
      "exec: 500 InternalError: no such program");
  EXPECT_EQ(status_error(R"({"status":"Failure"})"), "exec: 500 InternalError");
  EXPECT_EQ(status_error(
                R"({"status":"Failure","reason":"NonZeroExitCode","message":"m","details":{"causes":[{}]}})"),
            "exec: 500 NonZeroExitCode: m");
  EXPECT_THAT(status_error("not JSON"),
              StartsWith("exec: the status of the command is not understood: status:"));
}

TEST(ExecCore, MakesMessages) {
  EXPECT_EQ(detail::stdin_message("ab"), std::string("\0ab", 3));
  EXPECT_EQ(detail::end_of_stdin_message(), std::string("\xff\0", 2));
  EXPECT_EQ(detail::resize_message({.width = 120, .height = 40}), "\x04{\"Width\":120,\"Height\":40}");
}

// ---- On the wire ----

class PodExec : public tests::ScriptedKubelet {
 protected:
  ExecResult run(const ExecOptions& options, std::string_view input = {}) const {
    return exec(client(), web_, options, input);
  }
  std::string url(const std::string& query) const {
    return "GET " + server_->url() + "/api/v1/namespaces/default/pods/web-0/exec?" + query;
  }
};

TEST_F(PodExec, ReturnsWhatACommandWrites) {
  http::Request request;
  serve([&](WebSocketPeer& peer, const http::Request& got) {
    request = got;
    peer.send("\x01");
    peer.send(1, "one\n");
    peer.send(2, "oops\n");
    peer.send(1, "two\n");
    peer.send(3, failure(3));
    peer.close();
  });
  const ExecResult result = run({.command = {"ls", "-l", "a b&c"}, .container = "main"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.out, "one\ntwo\n");
  EXPECT_EQ(result.err, "oops\n");
  EXPECT_EQ(request.target,
            "/api/v1/namespaces/default/pods/web-0/exec?container=main&stdout=true&stderr=true&command=ls&"
            "command=-l&command=a%20b%26c");
  EXPECT_EQ(*request.headers.find("Sec-WebSocket-Protocol"), "v5.channel.k8s.io, v4.channel.k8s.io");
  EXPECT_EQ(*request.headers.find("Sec-WebSocket-Version"), "13");
  EXPECT_EQ(*request.headers.find("Authorization"), "Bearer secret");
  EXPECT_EQ(*request.headers.find("User-Agent"), "evenkeel");
  EXPECT_EQ(*request.headers.find("Host"), "127.0.0.1:" + std::to_string(server_->port()));
}

TEST_F(PodExec, SendsInputAndItsEnd) {
  const std::string input(200'000, 'x');
  serve([&](WebSocketPeer& peer, const http::Request&) {
    std::string got;
    for (;;) {
      const auto message = peer.read_message();
      if (!message || *message == std::string("\xff\0", 2)) break;
      EXPECT_EQ((*message)[0], '\0');
      EXPECT_LE(message->size(), 32769U);
      got += message->substr(1);
      peer.send(1, message->substr(1));
    }
    EXPECT_EQ(got, input);
    peer.send(3, success);
    peer.close();
  });
  EXPECT_EQ(run({.command = {"cat"}}, input).out, input);
}

// Nobody could read or write if one direction had to wait for the other.
TEST_F(PodExec, ReadsWhileItWrites) {
  const std::string input(std::size_t{8} << 20, 'x');
  serve([&](WebSocketPeer& peer, const http::Request&) {
    const std::string piece(32768, 'y');
    for (int i = 0; i < 256; ++i) peer.send(1, piece);  // nothing is read before all this is sent
    std::size_t got = 0;
    while (const auto message = peer.read_message()) {
      if ((*message)[0] != '\0') break;
      got += message->size() - 1;
    }
    EXPECT_EQ(got, input.size());
    peer.send(3, success);
  });
  std::size_t got = 0;
  const ExecListener listener{.on_stdout = [&](std::string_view piece) { got += piece.size(); }};
  EXPECT_EQ(exec(client(), web_, {.command = {"x"}}, listener, input), 0);
  EXPECT_EQ(got, std::size_t{8} << 20);
}

TEST_F(PodExec, AnEmptyInputIsSentIfItIsAskedFor) {
  serve([&](WebSocketPeer& peer, const http::Request& request) {
    EXPECT_THAT(request.target, HasSubstr("stdin=true"));
    EXPECT_EQ(peer.read_message(), std::string("\xff\0", 2));
    peer.send(3, success);
  });
  EXPECT_EQ(run({.command = {"wc"}, .with_stdin = true}).exit_code, 0);
}

TEST_F(PodExec, ACommandMayEndBeforeItsInput) {
  serve([&](WebSocketPeer& peer, const http::Request&) {
    peer.send(1, "enough");
    peer.send(3, failure(1));
    peer.close();  // and the connection ends with a reset, because most of the input was not read
  });
  const ExecResult result = run({.command = {"head", "-1"}}, std::string(std::size_t{4} << 20, 'x'));
  EXPECT_EQ(result.out, "enough");
  EXPECT_EQ(result.exit_code, 1);
}

TEST_F(PodExec, ASessionIsInteractive) {
  serve([&](WebSocketPeer& peer, const http::Request& request) {
    EXPECT_THAT(request.target, HasSubstr("stdin=true&stdout=true&tty=true&command=sh"));
    EXPECT_EQ(peer.read_message(), "\x04{\"Width\":100,\"Height\":30}");
    while (const auto message = peer.read_message()) {
      if ((*message)[0] != '\0') break;
      peer.send(1, "> " + message->substr(1));
    }
    peer.send(3, failure(7));
    peer.close();
  });
  ExecSession session(client(), web_, ExecOptions{.command = {"sh"}, .with_stdin = true, .tty = true});
  session.resize({.width = 100, .height = 30});
  session.write("pwd\n");
  EXPECT_EQ(session.read()->bytes, "> pwd\n");
  session.write("exit 7\n");
  EXPECT_EQ(session.read()->bytes, "> exit 7\n");
  session.close_stdin();
  EXPECT_EQ(session.read(), std::nullopt);
  EXPECT_EQ(session.read(), std::nullopt);
  EXPECT_EQ(session.wait(), 7);
  session.write("too late\n");
}

TEST_F(PodExec, AttachesToAProcess) {
  serve([&](WebSocketPeer& peer, const http::Request& request) {
    EXPECT_EQ(request.target,
              "/api/v1/namespaces/default/pods/web-0/attach?container=main&stdout=true&stderr=true");
    peer.send(1, "hello\n");
    peer.send(3, success);
    peer.close();
  });
  ExecSession session(client(), web_, AttachOptions{.container = "main"});
  EXPECT_EQ(session.read()->bytes, "hello\n");
  EXPECT_EQ(session.wait(), 0);
  EXPECT_EQ(error_of([&] { session.write("x"); }), "ExecSession: stdin was not asked for (with_stdin)");
}

TEST_F(PodExec, AnOlderServerCannotEndStdin) {
  serve([&](WebSocketPeer& peer, const http::Request&) { peer.read_message(); }, v4);
  const std::string reason =
      "get Pod/exec default/web-0: the server speaks v4.channel.k8s.io, in which stdin cannot be ended";
  EXPECT_EQ(error_of([&] { run({.command = {"cat"}}, "input"); }), reason);
  ExecSession session(client(), web_, ExecOptions{.command = {"cat"}, .with_stdin = true});
  EXPECT_EQ(error_of([&] { session.close_stdin(); }), reason);
  serve(
      [&](WebSocketPeer& peer, const http::Request&) {
        peer.send(1, "x");
        peer.send(3, success);
      },
      v4);
  EXPECT_EQ(run({.command = {"ls"}}).out, "x");
}

TEST_F(PodExec, ARefusalIsTheServersStatus) {
  raw([&](Connection& connection) {
    connection.read_request();
    connection.respond(403,
                       R"({"kind":"Status","status":"Failure","message":"pods \"web-0\" is forbidden: no",)"
                       R"("reason":"Forbidden","code":403})");
  });
  const Client forbidden = client();
  EXPECT_EQ(error_of([&] { exec(forbidden, web_, {.command = {"ls"}}); }),
            "get Pod/exec default/web-0: 403 Forbidden: pods \"web-0\" is forbidden: no");
  EXPECT_THROW(exec(forbidden, web_, {.command = {"ls"}}), ApiError);
  EXPECT_EQ(server_->connections(), 2);
}

TEST_F(PodExec, OptionsAreChecked) {
  raw([](Connection&) {});
  EXPECT_EQ(error_of([&] { run({}); }), "ExecOptions.command: must not be empty");
  EXPECT_THROW(exec(client(), {"default", ""}, {.command = {"ls"}}), std::invalid_argument);
}

TEST_F(PodExec, ACommandThatCannotBeRunIsAnError) {
  serve([&](WebSocketPeer& peer, const http::Request&) {
    peer.send(
        3,
        R"({"status":"Failure","code":500,"reason":"InternalError","message":"Internal error occurred: x"})");
    peer.close();
  });
  EXPECT_EQ(error_of([&] { run({.command = {"ls"}}); }),
            "get Pod/exec default/web-0: 500 InternalError: Internal error occurred: x");
}

TEST_F(PodExec, AnEndWithoutAnExitCodeIsAnError) {
  serve([&](WebSocketPeer& peer, const http::Request&) {
    peer.send(1, "one");
    peer.close(1011, "going away");
  });
  EXPECT_EQ(error_of([&] { run({.command = {"ls"}}); }),
            "get Pod/exec default/web-0: the server closed the WebSocket before the exit code came (1011 "
            "going away)");
  serve([&](WebSocketPeer& peer, const http::Request&) { peer.send(1, "one"); });
  EXPECT_EQ(error_of([&] { run({.command = {"ls"}}); }),
            url("stdout=true&stderr=true&command=ls: the connection ended without a close frame"));
  raw([](Connection& connection) {
    WebSocketPeer peer(connection);
    peer.accept(v5);
    connection.write(WebSocketPeer::frame("\x01 a frame").substr(0, 5));
  });
  EXPECT_EQ(error_of([&] { run({.command = {"ls"}}); }),
            url("stdout=true&stderr=true&command=ls: the connection ended without a close frame"));
}

TEST_F(PodExec, WrongAnswersAreErrors) {
  const auto outcome = [&](const std::function<std::string(const http::Request&)>& answer) {
    raw([&](Connection& connection) {
      if (const auto request = connection.read_request()) connection.write(answer(*request));
      connection.wait_until_closed();
    });
    std::string error = error_of([&] { run({.command = {"ls"}}); });
    const std::string prefix = url("stdout=true&stderr=true&command=ls: ");
    return error.starts_with(prefix) ? error.substr(prefix.size()) : error;
  };
  const auto accepted = [](const std::string& frames) {
    return [frames](const http::Request& request) { return WebSocketPeer::acceptance(request, v5) + frames; };
  };
  EXPECT_EQ(outcome([](const http::Request& request) { return WebSocketPeer::acceptance(request, "v9"); }),
            "the server chose the subprotocol \"v9\", which was not offered");
  EXPECT_EQ(outcome([](const http::Request& request) { return WebSocketPeer::acceptance(request, ""); }),
            "get Pod/exec default/web-0: the server chose no subprotocol");
  EXPECT_EQ(
      outcome([](const http::Request&) { return WebSocketPeer::acceptance({}, v5); }),
      "not a valid answer to a WebSocket: The WebSocket handshake Sec-WebSocket-Accept field is invalid");
  EXPECT_THAT(outcome([](const http::Request&) { return "SSH-2.0-OpenSSH_9.2\r\n\r\n"; }),
              StartsWith("not a valid answer to a WebSocket: "));
  EXPECT_EQ(outcome(accepted(WebSocketPeer::frame("text", WebSocketPeer::text))),
            "a message is text, and not binary");
  EXPECT_THAT(outcome(accepted(WebSocketPeer::frame("x", 5))), StartsWith("not a valid WebSocket: "));
  EXPECT_THAT(outcome(accepted(std::string("\x82\x7f\0\0\0\1\0\0\0\0", 10))),
              StartsWith("not a valid WebSocket: "))
      << "a frame of 4 GiB";
  EXPECT_THAT(outcome([](const http::Request&) {
                return "HTTP/1.1 101 X\r\nX-Filler: " + std::string(10'000'000, 'x') + "\r\n\r\n";
              }),
              StartsWith("not a valid answer to a WebSocket: "));
  EXPECT_THAT(outcome([](const http::Request&) {
                return "HTTP/1.1 403 Forbidden\r\n\r\n" + std::string(20'000'000, 'x');
              }),
              StartsWith("not a valid answer to a WebSocket: "))
      << "a refusal without end";
  EXPECT_EQ(outcome(accepted(WebSocketPeer::frame("\x09x"))),
            "get Pod/exec default/web-0: the server sent a message of channel 9");
}

// The head and the first frames arrive together, whatever the length of the head.
TEST_F(PodExec, AHeadOfAnyLengthMayComeWithFrames) {
  for (const int length : {0, 100, 1000, 1300, 1400, 1500, 1600, 2000, 4000, 7000}) {
    raw([&](Connection& connection) {
      const auto request = connection.read_request();
      if (!request) return;
      std::string answer = WebSocketPeer::acceptance(*request, v5);
      answer.insert(answer.size() - 2,
                    "X-Filler: " + std::string(static_cast<std::size_t>(length), 'x') + "\r\n");
      for (int i = 0; i < 100; ++i) answer += WebSocketPeer::frame("\x01" + std::string(100, 'y'));
      connection.write(answer + WebSocketPeer::frame(std::string("\x03") + success));
      connection.wait_until_closed();
    });
    EXPECT_EQ(run({.command = {"ls"}}).out, std::string(10'000, 'y')) << length;
  }
}

TEST_F(PodExec, PingsAreAnswered) {
  raw([&](Connection& connection) {
    WebSocketPeer peer(connection);
    peer.accept(v5);
    connection.write(WebSocketPeer::frame("are you there", WebSocketPeer::ping));
    const auto answer = peer.read();
    EXPECT_EQ(answer->opcode, WebSocketPeer::pong);
    EXPECT_EQ(answer->payload, "are you there");
    peer.send(3, success);
  });
  EXPECT_EQ(run({.command = {"ls"}}).exit_code, 0);
}

TEST_F(PodExec, ADeadPeerIsFoundByPings) {
  std::atomic<int> pings = 0;
  serve([&](WebSocketPeer& peer, const http::Request&) {
    while (const auto frame = peer.read()) pings += frame->opcode == WebSocketPeer::ping ? 1 : 0;
  });
  const Client impatient = client({.transport = http::make_curl_transport(
                                       {.server = server_->url(), .proxy = "", .dead_peer_timeout = 200ms})});
  const std::string expected =
      url("stdout=true&stderr=true&command=sleep: no answer to 4 pings of the WebSocket");
  EXPECT_EQ(error_of([&] { exec(impatient, web_, {.command = {"sleep"}}); }), expected);
  server_.reset();  // has read everything now
  EXPECT_EQ(pings, 4);
}

TEST_F(PodExec, AnsweredPingsKeepASilentConnection) {
  serve([&](WebSocketPeer& peer, const http::Request&) {
    for (int pings = 0; pings < 5;) {
      const auto frame = peer.read();
      if (!frame) return;
      if (frame->opcode != WebSocketPeer::ping) continue;
      ++pings;
      peer.send_frame(frame->payload, WebSocketPeer::pong);
    }
    peer.send(3, success);
  });
  const Client patient = client({.transport = http::make_curl_transport(
                                     {.server = server_->url(), .proxy = "", .dead_peer_timeout = 2s})});
  EXPECT_EQ(exec(patient, web_, {.command = {"sleep"}}).exit_code, 0);
}

TEST_F(PodExec, FragmentedMessagesAreJoined) {
  raw([&](Connection& connection) {
    WebSocketPeer peer(connection);
    peer.accept(v5);
    connection.write(WebSocketPeer::frame("\x01one ", WebSocketPeer::binary, false));
    connection.write(WebSocketPeer::frame("x", WebSocketPeer::ping));
    connection.write(WebSocketPeer::frame("message", 0, true));
    peer.send(3, success);
    connection.wait_until_closed();
  });
  EXPECT_EQ(run({.command = {"ls"}}).out, "one message");
}

TEST_F(PodExec, MoreOutputThanTheLimitIsAnError) {
  serve([&](WebSocketPeer& peer, const http::Request&) {
    const std::string piece(std::size_t{1} << 20, 'y');
    while (peer.send(1, piece)) {
    }
  });
  EXPECT_EQ(error_of([&] { run({.command = {"yes"}}); }),
            "get Pod/exec default/web-0: the command wrote more than 16777216 bytes");
}

TEST_F(PodExec, AReaderThatWaitsSlowsTheServerDown) {
  std::atomic<int> sent = 0;
  std::atomic<bool> over = false;
  serve([&](WebSocketPeer& peer, const http::Request&) {
    const std::string piece(std::size_t{64} << 10, 'y');
    for (int i = 0; i < 1024 && peer.send(1, piece); ++i) ++sent;
    peer.send(3, success);
    over = true;
    while (peer.read_message()) {
    }
  });
  ExecSession session(client(), web_, ExecOptions{.command = {"yes"}});
  session.read();
  // Other calls do not read ahead without limit, either.
  for (int i = 0; i < 200; ++i) session.resize({});
  EXPECT_LT(sent, 1024);
  EXPECT_FALSE(over);
  EXPECT_EQ(session.wait(), 0);
  EXPECT_EQ(sent, 1024);
}

TEST_F(PodExec, DeadlinesAndStopTokensEndIt) {
  serve([&](WebSocketPeer& peer, const http::Request&) { peer.read_message(); });
  const Client late = client().with({.deadline = std::chrono::steady_clock::now() + 100ms});
  EXPECT_EQ(error_of([&] { exec(late, web_, {.command = {"sleep"}}); }),
            "get Pod/exec default/web-0: deadline exceeded");
  std::stop_source stop;
  ExecSession session(client().with({.stop = stop.get_token()}), web_, ExecOptions{.command = {"sleep"}});
  std::stop_source once;
  once.request_stop();
  EXPECT_THROW(session.read(once.get_token()), Cancelled);
  const std::jthread stopper([&] { stop.request_stop(); });
  EXPECT_EQ(error_of([&] { session.read(); }), url("stdout=true&stderr=true&command=sleep: cancelled"));
}

TEST_F(PodExec, LimitsEndACommandThatAlwaysHasOutput) {
  serve([&](WebSocketPeer& peer, const http::Request&) {
    while (peer.send(1, "y")) {
    }
  });
  const Client late = client().with({.deadline = std::chrono::steady_clock::now() + 100ms});
  EXPECT_EQ(error_of([&] { exec(late, web_, {.command = {"yes"}}, ExecListener{}); }),
            "get Pod/exec default/web-0: deadline exceeded");
  std::stop_source stop;
  ExecSession session(client().with({.stop = stop.get_token()}), web_, ExecOptions{.command = {"yes"}});
  session.read();
  stop.request_stop();
  EXPECT_THROW(session.wait(), Cancelled);
}

TEST_F(PodExec, AServerThatNeverAnswersIsLeft) {
  raw([](Connection& connection) { connection.wait_until_closed(); });
  const Client hasty = client().with({.timeout = 100ms});
  EXPECT_EQ(error_of([&] { exec(hasty, web_, {.command = {"ls"}}); }),
            url("stdout=true&stderr=true&command=ls: no answer before the deadline"));
  std::stop_source stop;
  const std::jthread stopper([&] { stop.request_stop(); });
  EXPECT_THROW(exec(client().with({.stop = stop.get_token()}), web_, {.command = {"ls"}}), Cancelled);
}

TEST_F(PodExec, ARefusedConnectionIsAnError) {
  const int port = tests::unused_port();
  const Client nobody({.server = "http://127.0.0.1:" + std::to_string(port), .proxy = ""});
  EXPECT_EQ(error_of([&] { exec(nobody, web_, {.command = {"ls"}}); }),
            "GET http://127.0.0.1:" + std::to_string(port) +
                "/api/v1/namespaces/default/pods/web-0/exec?stdout=true&stderr=true&command=ls: Connection "
                "refused");
}

TEST_F(PodExec, IsCountedAsAStream) {
  serve([&](WebSocketPeer& peer, const http::Request&) { peer.send(3, success); });
  const Client counted = client();
  exec(counted, web_, {.command = {"ls"}});
  EXPECT_EQ(counted.meter()->metrics().requests.at({"101", "GET"}), 1U);
}

TEST_F(PodExec, ARejectedTokenIsReadAgainOnce) {
  const tests::TemporaryDirectory folder;
  const std::string file = folder.path / "token";
  std::ofstream(file) << "old";
  std::atomic<int> requests = 0;
  raw([&](Connection& connection) {
    const auto request = connection.read_request();
    if (!request) return;
    ++requests;
    if (*request->headers.find("Authorization") != "Bearer new") {
      std::ofstream(file) << "new";
      connection.respond(401, "");
      return;
    }
    connection.write(WebSocketPeer::acceptance(*request, v5));
    WebSocketPeer peer(connection);
    peer.send(3, success);
    connection.wait_until_closed();
  });
  const Client reader({.server = server_->url(), .proxy = "", .token_file = file});
  EXPECT_EQ(exec(reader, web_, {.command = {"ls"}}).exit_code, 0);
  EXPECT_EQ(requests, 2);
}

struct PartingGuard final : http::WriteGuard {
  void check() const override { throw Error("leadership is lost"); }
};

TEST_F(PodExec, AWriteGuardIsAsked) {
  raw([](Connection& connection) { connection.read_request(); });
  const Client guarded = client().with({.write_guard = std::make_shared<PartingGuard>()});
  EXPECT_EQ(error_of([&] { exec(guarded, web_, {.command = {"ls"}}); }), "leadership is lost");
  EXPECT_EQ(server_->connections(), 0);
}

// The proxy passes on bytes, also without TLS.
TEST_F(PodExec, GoesThroughAProxy) {
  raw([&](Connection& connection) {
    const auto connect = connection.read_request();
    ASSERT_EQ(connect->target, "api.invalid:8080");
    EXPECT_EQ(connect->headers.find("Authorization"), nullptr);
    connection.write("HTTP/1.1 200 Connection established\r\n\r\n");
    WebSocketPeer peer(connection);
    peer.accept(v5);
    peer.send(1, "through");
    peer.send(3, success);
  });
  const Client remote({.server = "http://api.invalid:8080", .proxy = server_->url()});
  EXPECT_EQ(exec(remote, web_, {.command = {"ls"}}).out, "through");
  raw([](Connection& connection) {
    connection.read_request();
    connection.respond(407, "who are you");
  });
  const Client refused({.server = "http://api.invalid:8080", .proxy = server_->url()});
  EXPECT_THAT(error_of([&] { exec(refused, web_, {.command = {"ls"}}); }), HasSubstr("407"));
}

/// Plays a proxy: connects to the port on this machine that the client names, and passes on bytes.
void relay(Connection& connection) {
  const auto request = connection.read_request();
  if (!request) return;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port =
      htons(static_cast<std::uint16_t>(std::stoi(request->target.substr(request->target.find(':') + 1))));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int target = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::connect(target, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  connection.write("HTTP/1.1 200 Connection established\r\n\r\n");
  std::jthread up([&] {
    while (const auto byte = connection.read_exactly(1)) ::send(target, byte->data(), 1, MSG_NOSIGNAL);
    ::shutdown(target, SHUT_RDWR);
  });
  std::array<char, 4096> buffer;
  for (ssize_t got = 1; got > 0;) {
    got = ::recv(target, buffer.data(), buffer.size(), 0);
    if (got > 0 && !connection.write({buffer.data(), static_cast<std::size_t>(got)})) break;
  }
  up.join();
  ::close(target);
}

TEST_F(PodExec, TlsGoesThroughAProxy) {
  const tests::Authority authority("tests");
  const tests::Pem pem = authority.issue_server("IP:127.0.0.1");
  ScriptedServer server(
      [&](Connection& connection) {
        WebSocketPeer peer(connection);
        if (!peer.accept(v5)) return;
        while (const auto message = peer.read_message()) {
          if ((*message)[0] == '\xff') break;
          peer.send(1, message->substr(1));
        }
        peer.send(3, success);
        connection.wait_until_closed();
      },
      {.cert = pem.cert, .key = pem.key});
  std::atomic<int> relayed = 0;
  raw([&](Connection& connection) {
    ++relayed;
    relay(connection);
  });
  const Client far({.server = server.url(), .tls = {.ca_data = authority.pem()}, .proxy = server_->url()});
  const std::string input(100'000, 'x');
  EXPECT_EQ(exec(far, web_, {.command = {"cat"}}, input).out, input);
  EXPECT_EQ(relayed, 1);
}

TEST_F(PodExec, ClientCertificatesAuthenticate) {
  const tests::Authority authority("tests");
  const tests::Pem pem = authority.issue_server("IP:127.0.0.1");
  const tests::Pem user = authority.issue_client("alice");
  std::string peer_name;
  ScriptedServer server(
      [&](Connection& connection) {
        peer_name = connection.peer_name();
        WebSocketPeer peer(connection);
        if (!peer.accept(v5)) return;
        peer.send(1, "hello");
        peer.send(3, success);
        peer.close();
      },
      {.cert = pem.cert, .key = pem.key, .client_ca = authority.pem()});
  const Client known({.server = server.url(),
                      .tls = {.ca_data = authority.pem(), .cert_data = user.cert, .key_data = user.key},
                      .proxy = ""});
  EXPECT_EQ(exec(known, web_, {.command = {"ls"}}).out, "hello");
  EXPECT_EQ(peer_name, "alice");
  const Client distrustful({.server = server.url(), .proxy = ""});
  EXPECT_THAT(error_of([&] { exec(distrustful, web_, {.command = {"ls"}}); }), HasSubstr("certificate"));
}

TEST_F(PodExec, TheEndOfATransportEndsIt) {
  serve([&](WebSocketPeer& peer, const http::Request&) { peer.read_message(); });
  std::optional<Client> owner = client();
  auto socket = owner->open_web_socket({.path = "/x"}, {v5});
  owner.reset();
  EXPECT_NE(socket->wait(http::WebSocket::readable, TimePoint::max(), {}), 0U);
  EXPECT_EQ(error_of([&] { socket->receive(); }), "GET " + server_->url() + "/x: the transport was closed");
}

// ---- Threads ----

class PodExecConcurrency : public PodExec {};

TEST_F(PodExecConcurrency, OneThreadReadsAndOneWrites) {
  constexpr int rounds = 300;
  const std::string piece(10'000, 'x');
  serve([&](WebSocketPeer& peer, const http::Request&) {
    while (const auto message = peer.read_message()) {
      if ((*message)[0] == '\xff') break;
      if ((*message)[0] == '\0') peer.send(1, message->substr(1));
    }
    peer.send(3, success);
    peer.close();
  });
  ExecSession session(client(), web_, ExecOptions{.command = {"cat"}, .with_stdin = true});
  std::jthread resizer([&] {
    for (int i = 0; i < rounds; ++i) session.resize({});
  });
  const std::jthread writer([&] {
    for (int i = 0; i < rounds; ++i) session.write(piece);
    resizer.join();  // the server reads nothing behind the end of the input
    session.close_stdin();
  });
  std::size_t got = 0;
  while (const auto output = session.read()) got += output->bytes.size();
  EXPECT_EQ(got, rounds * piece.size());
}

// One thread runs two fibers: the command ends only if the other fiber runs meanwhile.
TEST_F(PodExecConcurrency, SuspendsAFiber) {
  std::promise<void> other_has_run;
  serve([&](WebSocketPeer& peer, const http::Request&) {
    peer.send(1, peer.read_message()->substr(1));
    other_has_run.get_future().wait();
    peer.send(3, success);
    peer.close();
  });
  std::vector<std::function<void()>> works{
      [&] {
        ExecSession session(client(), web_, ExecOptions{.command = {"cat"}, .with_stdin = true});
        session.write("x");
        EXPECT_EQ(session.read()->bytes, "x");
        EXPECT_EQ(session.wait(), 0);
        const Client hasty = client().with({.deadline = std::chrono::steady_clock::now()});
        EXPECT_THROW(exec(hasty, web_, {.command = {"ls"}}), TransportError);
      },
      [&] { other_has_run.set_value(); }};
  std::size_t next = 0;
  detail::Fibers fibers({.limit = 3}, [&](detail::Fibers& own) {
    if (next == works.size()) return;
    const auto& work = works[next++];
    own.taken();
    work();
  });
  fibers.run();
}

// ---- Cuts ----

struct Wire {
  const char* name;
  bool tls;
  CuttingProxy::Ending ending;
};

class PodExecCutConcurrency : public ::testing::TestWithParam<Wire> {};

// Up to the last byte of the answer: the whole output, or an error.
TEST_P(PodExecCutConcurrency, AtEveryByte) {
  const tests::Authority authority("tests");
  const tests::Pem pem = authority.issue_server("IP:127.0.0.1");
  std::atomic<std::size_t> handshake = 0;  // bytes of the server in that of TLS
  std::atomic<bool> measured = false;
  std::function<std::size_t()> passed;
  ScriptedServer server(
      [&](Connection& connection) {
        WebSocketPeer peer(connection);
        const auto request = connection.read_request();
        if (!request) return;
        if (!measured.exchange(true)) handshake = passed();
        connection.write(WebSocketPeer::acceptance(*request, v5));
        peer.send("\x01");
        for (int i = 0; i < 3; ++i) peer.send(1 + i % 2, "piece " + std::to_string(i) + "\n");
        peer.send(3, failure(5));
        peer.close();
        connection.wait_until_closed();
      },
      GetParam().tls ? tests::ScriptedServerOptions{.cert = pem.cert, .key = pem.key}
                     : tests::ScriptedServerOptions{});
  CuttingProxy proxy(static_cast<std::uint16_t>(server.port()));
  passed = [&] { return proxy.passed(); };
  const Client client(
      {.server = (GetParam().tls ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(proxy.port()),
       .tls = {.ca_data = authority.pem()},
       .proxy = ""});
  const auto run = [&] { return exec(client, {"default", "web-0"}, {.command = {"ls"}}); };
  run();
  const std::size_t whole = proxy.passed();
  std::size_t errors = 0;
  for (std::size_t at = 0; at < whole; at += at < handshake ? 13 : 1) {
    proxy.cut_after(at, GetParam().ending);
    try {
      const ExecResult result = run();
      ASSERT_EQ(result.exit_code, 5) << "at byte " << at;
      ASSERT_EQ(result.out, "piece 0\npiece 2\n") << "at byte " << at;
      ASSERT_EQ(result.err, "piece 1\n") << "at byte " << at;
    } catch (const TransportError& error) {
      ++errors;
      ASSERT_THAT(error.code(), ::testing::AnyOf(TransportErrorCode::interrupted, TransportErrorCode::tls))
          << "at byte " << at << ": " << error.what();
    }
    proxy.cancel_cut();
  }
  EXPECT_GT(errors, 100U);
}

INSTANTIATE_TEST_SUITE_P(, PodExecCutConcurrency,
                         ::testing::Values(Wire{"Plain", false, CuttingProxy::Ending::close},
                                           Wire{"PlainReset", false, CuttingProxy::Ending::reset},
                                           Wire{"Tls", true, CuttingProxy::Ending::close}),
                         [](const auto& wire) { return std::string(wire.param.name); });

}  // namespace
}  // namespace evenkeel
