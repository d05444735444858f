// SPDX-License-Identifier: Apache-2.0
// Commands, logs and ports of Pods whose node is played by the program, with the library's own client.
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/apiserver/api_server.hpp>
#include <evenkeel/client/errors.hpp>
#include <evenkeel/client/pod_exec.hpp>
#include <evenkeel/client/pod_logs.hpp>
#include <evenkeel/client/port_forward.hpp>
#include <evenkeel/http/curl_transport.hpp>

#include "../support/await.hpp"
#include "../support/error_text.hpp"

namespace evenkeel::apiserver {
namespace kubelet_test {

using namespace std::chrono_literals;
using evenkeel::tests::await;
using evenkeel::tests::error_of;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr const char* pods = R"(
{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: default},
 spec: {nodeName: node-1, containers: [{name: main, image: none}], initContainers: [{name: setup, image: none}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: two, namespace: default},
 spec: {nodeName: node-1, containers: [{name: a, image: none}, {name: b, image: none}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: pending, namespace: default},
 spec: {containers: [{name: main, image: none}]}}
)";

/// Writes to stdout all that it reads.
int cat(KubeletStreams& streams) {
  while (const auto bytes = streams.read()) streams.write(*bytes);
  return 0;
}

/// With sockets, without TLS and with it.
class KubeletConcurrency : public ::testing::TestWithParam<bool> {
 protected:
  void serve(Kubelet kubelet, std::vector<FaultRule> faults = {}) {
    server_.reset();
    server_ = std::make_unique<ApiServer>(
        ApiServerOptions{.tls = GetParam(),
                         .token = "secret",
                         .faults = std::move(faults),
                         .on_request = [this](const ServedRequest& request) { status_ = request.status; },
                         .kubelet = std::move(kubelet)});
    server_->install(pods);
  }
  /// Serves commands with `on_exec`.
  void run(std::function<int(const ExecOptions&, KubeletStreams&)> on_exec) {
    serve({.on_exec = [on_exec = std::move(on_exec)](const ObjectKey&, const ExecOptions& options,
                                                     KubeletStreams& streams) {
      return on_exec(options, streams);
    }});
  }
  Client client() const { return Client(server_->config()); }

  const ObjectKey web_{"default", "web"};
  std::atomic<int> status_ = 0;  // of the last request
  std::unique_ptr<ApiServer> server_;
};

INSTANTIATE_TEST_SUITE_P(Plain, KubeletConcurrency, ::testing::Values(false));
INSTANTIATE_TEST_SUITE_P(Tls, KubeletConcurrency, ::testing::Values(true));

TEST_P(KubeletConcurrency, RunsCommands) {
  ObjectKey pod;
  ExecOptions got;
  serve({.on_exec = [&](const ObjectKey& key, const ExecOptions& options, KubeletStreams& streams) {
    pod = key;
    got = options;
    streams.write("out\n");
    streams.write_error("err\n");
    EXPECT_EQ(streams.read(), std::nullopt) << "no stdin was asked for";
    EXPECT_FALSE(streams.terminal_size());
    return 3;
  }});
  const ExecResult result = exec(client(), web_, {.command = {"sh", "-c", "a b & c"}});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
  EXPECT_EQ(pod, web_);
  EXPECT_THAT(got.command, ElementsAre("sh", "-c", "a b & c"));
  EXPECT_EQ(got.container, "main") << "the only one";
  EXPECT_FALSE(got.with_stdin || got.tty);
  EXPECT_TRUE(got.with_stdout && got.with_stderr);
  EXPECT_EQ(status_, 101);
}

TEST_P(KubeletConcurrency, PassesInputAndItsEnd) {
  run([](const ExecOptions&, KubeletStreams& streams) { return cat(streams); });
  const std::string input(3'000'000, 'x');
  const ExecResult result = exec(client(), web_, {.command = {"cat"}}, input);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(result.out == input) << result.out.size();
}

TEST_P(KubeletConcurrency, ACommandMayEndBeforeItsInput) {
  run([](const ExecOptions&, KubeletStreams& streams) {
    streams.write(streams.read().value_or("").substr(0, 1));
    return 0;
  });
  EXPECT_EQ(exec(client(), web_, {.command = {"head"}}, std::string(3'000'000, 'x')).out, "x");
}

TEST_P(KubeletConcurrency, SlowsACommandThatWritesFasterThanItIsRead) {
  std::atomic<std::size_t> written = 0;
  run([&](const ExecOptions&, KubeletStreams& streams) {
    const std::string piece(100'000, 'x');
    for (int i = 0; i < 300; ++i) {
      streams.write(piece);
      written += piece.size();
    }
    return 0;
  });
  ExecSession session(client(), web_, ExecOptions{.command = {"yes"}});
  EXPECT_TRUE(session.read());
  await("the first MiB", [&] { return written > 1'000'000; });
  std::size_t read = 0;
  while (const auto output = session.read()) read += output->bytes.size();
  EXPECT_GT(read, 29'900'000U);
  EXPECT_EQ(written, 30'000'000U);
  EXPECT_EQ(session.wait(), 0);
}

TEST_P(KubeletConcurrency, ATerminalHasASizeAndOneOutput) {
  run([](const ExecOptions& options, KubeletStreams& streams) {
    EXPECT_TRUE(options.tty && options.with_stdin);
    while (!streams.terminal_size()) streams.read();
    streams.write("one ");
    streams.write_error(std::to_string(streams.terminal_size()->width) + "x" +
                        std::to_string(streams.terminal_size()->height));
    return 0;
  });
  ExecSession session(client(), web_, ExecOptions{.command = {"sh"}, .with_stdin = true, .tty = true});
  session.resize({.width = 120, .height = 40});
  session.write("\n");
  std::string text;
  while (const auto output = session.read()) {
    EXPECT_FALSE(output->is_stderr);
    text += output->bytes;
  }
  EXPECT_EQ(text, "one 120x40");
}

TEST_P(KubeletConcurrency, AttachesToAProcess) {
  serve({.on_attach = [](const ObjectKey&, const AttachOptions& options, KubeletStreams& streams) {
    streams.write("attached to " + options.container + "\n");
    cat(streams);
    return 7;
  }});
  ExecSession session(client(), web_, AttachOptions{.container = "main", .with_stdin = true});
  EXPECT_EQ(session.read()->bytes, "attached to main\n");
  session.write("hello");
  EXPECT_EQ(session.read()->bytes, "hello");
  session.close_stdin();
  EXPECT_EQ(session.wait(), 7);
}

TEST_P(KubeletConcurrency, AnExceptionIsTheErrorOfTheCommand) {
  run([](const ExecOptions& options, KubeletStreams&) -> int {
    if (options.command[0] == "odd") throw 7;
    throw std::runtime_error("no such program");
  });
  EXPECT_THAT(error_of([&] { exec(client(), web_, {.command = {"x"}}); }),
              EndsWith(": 500 InternalError: Internal error occurred: no such program"));
  EXPECT_THAT(
      error_of([&] { exec(client(), web_, {.command = {"odd"}}); }),
      EndsWith(": 500 InternalError: Internal error occurred: an exception that is no std::exception"));
}

TEST_P(KubeletConcurrency, TheEndOfTheClientEndsAFunction) {
  std::promise<std::string> written;
  std::promise<void> stopped;
  serve({.on_exec =
             [&](const ObjectKey&, const ExecOptions&, KubeletStreams& streams) {
               streams.write("ready");
               while (streams.read()) {
               }
               EXPECT_TRUE(streams.stop_token().stop_requested());
               written.set_value(error_of([&] { streams.write("x"); }));
               return 0;
             },
         .on_attach =
             [&](const ObjectKey&, const AttachOptions&, KubeletStreams& streams) {
               const std::stop_callback on_stop(streams.stop_token(), [&] { stopped.set_value(); });
               error_of([&] {
                 for (;;) streams.write(std::string(100'000, 'x'));  // blocks: nobody reads
               });
               return 0;
             }});
  {
    ExecSession session(client(), web_, ExecOptions{.command = {"sh"}, .with_stdin = true});
    EXPECT_EQ(session.read()->bytes, "ready");
  }
  EXPECT_EQ(written.get_future().get(), "the client of the Pod has gone");
  {
    ExecSession session(client(), web_, AttachOptions{});
    EXPECT_TRUE(session.read());
  }
  stopped.get_future().get();
  server_.reset();  // its threads use the promises
}

TEST_P(KubeletConcurrency, TheEndOfTheServerEndsItsFunctions) {
  std::promise<void> runs;
  run([&](const ExecOptions&, KubeletStreams& streams) {
    runs.set_value();
    while (streams.read()) {
    }
    return 0;
  });
  ExecSession session(client(), web_, ExecOptions{.command = {"sh"}, .with_stdin = true});
  runs.get_future().get();
  server_->stop();
  EXPECT_THROW(session.wait(), TransportError);
}

TEST_P(KubeletConcurrency, WritesLogs) {
  PodLogOptions got;
  serve({.on_logs = [&](const ObjectKey&, const PodLogOptions& options, KubeletStreams& streams) {
    got = options;
    EXPECT_EQ(streams.read(), std::nullopt);
    streams.write("one\ntwo\n");
    streams.write_error("three\n");
  }});
  const Client reader = client();
  const PodLogOptions wanted{.container = "setup",
                             .previous = true,
                             .timestamps = true,
                             .tail_lines = 5,
                             .since = 90s,
                             .limit_bytes = 1000};
  EXPECT_EQ(reader.run(calls::read_pod_logs(web_, wanted)), "one\ntwo\nthree\n");
  EXPECT_EQ(got.container, "setup") << "an init container";
  EXPECT_TRUE(got.previous && got.timestamps && !got.follow);
  EXPECT_EQ(got.tail_lines, 5);
  EXPECT_EQ(got.since, 90s);
  EXPECT_EQ(got.limit_bytes, 1000);
  EXPECT_EQ(reader.run(calls::read_pod_logs(web_, {.since_time = "2026-01-02T15:04:05Z"})),
            "one\ntwo\nthree\n");
  EXPECT_EQ(got.since_time, "2026-01-02T15:04:05Z");
  EXPECT_EQ(got.container, "main");
  EXPECT_FALSE(got.tail_lines || got.since || got.limit_bytes);
}

TEST_P(KubeletConcurrency, ALogIsFollowedLineByLine) {
  std::promise<void> go_on;
  serve({.on_logs = [&](const ObjectKey&, const PodLogOptions& options, KubeletStreams& streams) {
    EXPECT_TRUE(options.follow);
    streams.write("one\n");
    go_on.get_future().get();
    streams.write("two\n");
  }});
  PodLogReader reader(client(), web_, {.follow = true});
  EXPECT_EQ(reader.next(), "one");
  go_on.set_value();
  EXPECT_EQ(reader.next(), "two");
  EXPECT_EQ(reader.next(), std::nullopt);
}

TEST_P(KubeletConcurrency, ALogThatFailsIsAnErrorOrACut) {
  std::string before;
  serve({.on_logs = [&](const ObjectKey&, const PodLogOptions&, KubeletStreams& streams) {
    streams.write(before);
    throw std::runtime_error("the disk is away");
  }});
  const Client reader = client().with({.timeout = 10s, .max_retries = 0});
  EXPECT_THAT(error_of([&] { reader.run(calls::read_pod_logs(web_)); }),
              EndsWith(": 500 InternalError: the disk is away"));
  before = "one\n";
  PodLogReader lines(reader, web_);
  EXPECT_EQ(lines.next(), "one");
  EXPECT_THROW(lines.next(), TransportError);
}

TEST_P(KubeletConcurrency, PlaysPorts) {
  std::uint16_t got = 0;
  serve({.on_port_forward = [&](const ObjectKey&, std::uint16_t port, KubeletStreams& streams) {
    got = port;
    if (port == 81) throw std::runtime_error("connection refused");
    streams.write("hello ");
    streams.write(streams.read().value_or(""));
  }});
  PodConnection connection(client(), web_, 60'000);
  connection.write("world");
  std::string text;
  while (const auto bytes = connection.read()) text += *bytes;
  EXPECT_EQ(text, "hello world");
  EXPECT_EQ(got, 60'000);
  PodConnection refused(client(), web_, 81);
  EXPECT_THAT(error_of([&] { refused.read(); }), EndsWith(": connection refused"));
}

TEST_P(KubeletConcurrency, ALocalPortLeadsToAFunction) {
  serve({.on_port_forward = [](const ObjectKey&, std::uint16_t, KubeletStreams& streams) {
    std::string head;
    while (!head.ends_with("\r\n\r\n")) head += streams.read().value_or("\r\n\r\n");
    streams.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
  }});
  const PortForward forward(client(), web_, 8080);
  const auto transport = http::make_curl_transport(
      {.server = "http://127.0.0.1:" + std::to_string(forward.local_port()), .proxy = ""});
  EXPECT_EQ(transport->fetch({.target = "/"}).body, "ok");
}

TEST_P(KubeletConcurrency, OnlyWhatHasAFunctionIsServedOnlyForPodsWithANode) {
  run([](const ExecOptions&, KubeletStreams&) { return 0; });
  const Client client = this->client().with({.max_retries = 0});
  const auto exec_error = [&](const char* pod, const ExecOptions& options) {
    return error_of([&] { exec(client, {"default", pod}, options); });
  };
  EXPECT_EQ(exec_error("web", {.command = {"x"}}), "no error");
  EXPECT_THAT(exec_error("pending", {.command = {"x"}}),
              EndsWith(": 400 BadRequest: pod pending does not have a host assigned"));
  EXPECT_THAT(exec_error("web", {.command = {"x"}, .container = "other"}),
              EndsWith(": 400 BadRequest: container other is not valid for pod web"));
  EXPECT_THAT(
      exec_error("two", {.command = {"x"}}),
      EndsWith(": 400 BadRequest: a container name must be specified for pod two, choose one of: [a b]"));
  EXPECT_EQ(exec_error("two", {.command = {"x"}, .container = "b"}), "no error");
  EXPECT_THAT(exec_error("absent", {.command = {"x"}}),
              HasSubstr(": 404 NotFound: pods \"absent\" not found"));
  EXPECT_THAT(error_of([&] { ExecSession(client, web_, AttachOptions{}); }),
              EndsWith(": 501 NotImplemented: this server runs no nodes: attach is not served"));
  EXPECT_THAT(error_of([&] { client.run(calls::read_pod_logs(web_)); }),
              EndsWith(": 501 NotImplemented: this server runs no nodes: log is not served"));
}

TEST_P(KubeletConcurrency, RefusesWhatItDoesNotUnderstandAndReportsSo) {
  serve({.on_exec = [](const ObjectKey&, const ExecOptions&, KubeletStreams&) { return 0; },
         .on_logs = [](const ObjectKey&, const PodLogOptions&, KubeletStreams&) {},
         .on_port_forward = [](const ObjectKey&, std::uint16_t, KubeletStreams&) {}});
  const Client client = this->client();
  const auto answer = [&](const std::string& subresource,
                          std::vector<std::pair<std::string, std::string>> query,
                          const std::vector<std::string>& protocols) {
    status_ = 0;
    const RestRequest request{.resource = {"", "v1", "Pod", "pods"},
                              .namespace_ = "default",
                              .name = "web",
                              .subresource = subresource,
                              .query = std::move(query)};
    const std::string error = error_of([&] {
      if (protocols.empty()) {
        client.raw(request);
      } else {
        client.open_web_socket(request, protocols);
      }
    });
    EXPECT_EQ(status_, 400);
    return error.substr(error.find(": 400 ") + 2);
  };
  const std::vector<std::string> v5{"v5.channel.k8s.io"};
  EXPECT_EQ(answer("exec", {{"command", "x"}, {"stdout", "true"}}, {}),
            "400 BadRequest: Upgrade request required: this server speaks only WebSocket for exec");
  EXPECT_EQ(answer("exec", {{"command", "x"}, {"stdout", "true"}}, {"v3.channel.k8s.io"}),
            "400 BadRequest: unable to upgrade: this server speaks v5.channel.k8s.io and v4.channel.k8s.io");
  EXPECT_EQ(answer("exec", {{"stdout", "true"}}, v5),
            "400 BadRequest: you must specify at least 1 word of command");
  EXPECT_EQ(answer("exec", {{"command", "x"}}, v5),
            "400 BadRequest: you must specify at least 1 of stdin, stdout, stderr");
  EXPECT_EQ(answer("exec", {{"command", "x"}, {"tty", "true"}, {"stderr", "true"}}, v5),
            "400 BadRequest: tty and stderr cannot both be true");
  EXPECT_EQ(answer("portforward", {{"ports", "1"}}, v5),
            "400 BadRequest: unable to upgrade: this server speaks v4.channel.k8s.io");
  for (const char* port : {"0", "x", "65536", "-1"}) {
    EXPECT_EQ(answer("portforward", {{"ports", port}}, {"v4.channel.k8s.io"}),
              "400 BadRequest: ports: this server forwards one port for each WebSocket")
        << port;
  }
  EXPECT_EQ(answer("log", {{"tailLines", "few"}}, {}), "400 BadRequest: tailLines: not a number: \"few\"");
}

// The subprotocol of servers before 1.30, in which stdin has no end but that of the connection.
TEST_P(KubeletConcurrency, SpeaksTheOlderProtocol) {
  run([](const ExecOptions&, KubeletStreams& streams) {
    streams.write(streams.read().value_or("").substr(0, 5));
    return 0;
  });
  const Client client = this->client();
  const auto socket =
      client.open_web_socket({.resource = {"", "v1", "Pod", "pods"},
                              .namespace_ = "default",
                              .name = "web",
                              .subresource = "exec",
                              .query = {{"stdin", "true"}, {"stdout", "true"}, {"command", "head"}}},
                             {"v3.channel.k8s.io", "v4.channel.k8s.io"});
  EXPECT_EQ(socket->protocol(), "v4.channel.k8s.io");
  ASSERT_TRUE(socket->send(std::string(1, '\0') + "123456"));
  std::vector<std::string> messages;
  while (!socket->closed()) {
    socket->wait(http::WebSocket::readable, TimePoint::max(), {});
    while (auto message = socket->receive()) messages.push_back(std::move(*message));
  }
  EXPECT_THAT(messages, ElementsAre("\x01",
                                    "\x01"
                                    "12345",
                                    "\x03"
                                    R"({"metadata":{},"status":"Success"})"));
  EXPECT_EQ(socket->closed()->code, 1000);
}

TEST_P(KubeletConcurrency, FaultsOfWholeRequestsApply) {
  serve({.on_exec = [](const ObjectKey&, const ExecOptions&, KubeletStreams&) { return 0; }},
        {{.resource = "pods/exec", .count = 1, .status = 503},
         {.resource = "pods/exec", .count = 1, .delay = 1ms}});
  const Client client = this->client();
  EXPECT_THAT(error_of([&] { exec(client, web_, {.command = {"x"}}); }),
              HasSubstr(": 503 ServiceUnavailable"));
  EXPECT_EQ(exec(client, web_, {.command = {"x"}}).exit_code, 0);
  EXPECT_EQ(exec(client, web_, {.command = {"x"}}).exit_code, 0);
}

}  // namespace kubelet_test
}  // namespace evenkeel::apiserver
