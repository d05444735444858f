// SPDX-License-Identifier: Apache-2.0
// Commands and ports through a real API server, with the kubelet's own code behind it (kubelet-streams of
// tests/control-plane), in which every Pod is this machine.
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/client/client.hpp>
#include <evenkeel/client/pod_exec.hpp>
#include <evenkeel/client/port_forward.hpp>
#include <evenkeel/client/resource_client.hpp>
#include <evenkeel/client/subresources.hpp>
#include <evenkeel/http/curl_transport.hpp>

#include "../http/scripted_server.hpp"
#include "../support/await.hpp"
#include "real_environment.hpp"

namespace {

namespace ek = evenkeel;
using ek::tests::await;
using ek::tests::environment;
using ek::tests::error_code;
using ::testing::HasSubstr;

/// A running kubelet-streams, which ends with the pipe to it.
class KubeletStreams {
 public:
  explicit KubeletStreams(const std::string& program) {
    int to[2];
    int from[2];
    if (::pipe2(to, O_CLOEXEC) != 0 || ::pipe2(from, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    child_ = ::fork();
    if (child_ == 0) {
      ::dup2(to[0], 0);
      ::dup2(from[1], 1);
      ::execl(program.c_str(), program.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(to[0]);
    ::close(from[1]);
    input_ = to[1];
    char digit = 0;
    while (::read(from[0], &digit, 1) == 1 && digit != '\n') port_ = port_ * 10 + (digit - '0');
    ::close(from[0]);
  }
  ~KubeletStreams() {
    ::close(input_);
    ::waitpid(child_, nullptr, 0);
  }
  KubeletStreams(const KubeletStreams&) = delete;
  KubeletStreams& operator=(const KubeletStreams&) = delete;

  int port() const { return port_; }

 private:
  pid_t child_ = -1;
  int input_ = -1;
  int port_ = 0;
};

ek::ResourceId nodes() {
  return {"", "v1", "Node", "nodes", ek::Scope::cluster};
}

/// Returns the path of kubelet-streams; "" if the control plane comes from elsewhere.
std::string find_program() {
  const char* const assets = std::getenv("KUBEBUILDER_ASSETS");
  const std::string path = assets == nullptr ? "" : std::string(assets) + "/kubelet-streams";
  return ::access(path.c_str(), X_OK) == 0 ? path : "";
}

/// A Pod "web" with one container, on a node whose kubelet is kubelet-streams.
class RealPodStreams : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string program = find_program();
    if (program.empty()) GTEST_SKIP() << "no kubelet-streams in $KUBEBUILDER_ASSETS";
    kubelet_ = std::make_unique<KubeletStreams>(program);
    ASSERT_NE(kubelet_->port(), 0);
    namespace_ = ek::tests::fresh_namespace(client_);
    pod_ = {namespace_, "web"};
    add_node();
    add_pod();
  }
  void add_node() {
    ek::DynamicObject node(nodes(), "", "streams-" + namespace_);
    client_.resource(nodes()).create(node);
    node["status"]["addresses"] = ek::Json::parse(R"([{"type":"InternalIP","address":"127.0.0.1"}])");
    node["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"] = kubelet_->port();
    client_.resource(nodes()).update(node, "status");
  }
  void add_pod() {
    const ek::ResourceId pods{"", "v1", "Pod", "pods"};
    ek::DynamicObject pod(pods, namespace_, "web");
    pod["spec"]["containers"] = ek::Json::parse(R"([{"name":"main","image":"none","stdin":true}])");
    pod["spec"]["automountServiceAccountToken"] = false;
    pod["spec"]["serviceAccountName"] = "default";
    await("the namespace's service account",
          [&] { return error_code([&] { client_.resource(pods).create(pod); }) == 0; });
    client_.run(ek::calls::bind(pod_, "streams-" + namespace_));
  }

  const ek::Client client_{environment().config()};
  std::unique_ptr<KubeletStreams> kubelet_;
  std::string namespace_;
  ek::ObjectKey pod_;
};

TEST_F(RealPodStreams, CommandsAreRun) {
  const ek::ExecResult result =
      ek::exec(client_, pod_, {.command = {"sh", "-c", "echo out; echo err >&2; exit 3"}});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");

  const std::string input(3'000'000, 'x');
  EXPECT_EQ(ek::exec(client_, pod_, {.command = {"cat"}, .container = "main"}, input).out, input);
  std::size_t got = 0;
  const ek::ExecListener listener{.on_stdout = [&](std::string_view piece) { got += piece.size(); }};
  EXPECT_EQ(ek::exec(client_, pod_, {.command = {"head", "-c", "50000000", "/dev/zero"}}, listener), 0);
  EXPECT_EQ(got, 50'000'000U);
  EXPECT_EQ(ek::exec(client_, pod_, {.command = {"head", "-c", "1"}}, input).out, "x")
      << "ends before its input";

  try {
    ek::exec(client_, pod_, {.command = {"/no/such/program"}});
    ADD_FAILURE() << "no error";
  } catch (const ek::ApiError& error) {
    EXPECT_EQ(error.code(), 500);
    EXPECT_THAT(error.message(), HasSubstr("no such file or directory"));
  }
  EXPECT_EQ(error_code([&] { ek::exec(client_, pod_, {.command = {"ls"}, .container = "other"}); }), 400);
  EXPECT_EQ(error_code([&] { ek::exec(client_, {namespace_, "absent"}, {.command = {"ls"}}); }), 404);
}

TEST_F(RealPodStreams, SessionsAreInteractive) {
  ek::ExecSession shell(client_, pod_, ek::ExecOptions{.command = {"sh"}, .with_stdin = true});
  shell.write("echo one\n");
  EXPECT_EQ(shell.read()->bytes, "one\n");
  shell.write("echo two >&2\n");
  const auto two = shell.read();
  EXPECT_TRUE(two->is_stderr);
  EXPECT_EQ(two->bytes, "two\n");
  shell.write("exit 5\n");
  EXPECT_EQ(shell.wait(), 5);

  ek::ExecSession terminal(client_, pod_,
                           ek::ExecOptions{.command = {"print-size"}, .with_stdin = true, .tty = true});
  terminal.resize({.width = 120, .height = 40});
  EXPECT_EQ(terminal.read()->bytes, "120x40\n");
  EXPECT_EQ(terminal.wait(), 0);

  ek::ExecSession attached(client_, pod_, ek::AttachOptions{.with_stdin = true});
  EXPECT_EQ(attached.read()->bytes, "attached\n");
  attached.write("hello");
  EXPECT_EQ(attached.read()->bytes, "hello");
  attached.close_stdin();
  EXPECT_EQ(attached.wait(), 0);
}

// A request for v4 alone goes through to the kubelet, whose WebSockets are those of an older cluster.
TEST_F(RealPodStreams, AKubeletsOwnWebSocket) {
  const auto socket = client_.open_web_socket(
      {.resource = {"", "v1", "Pod", "pods"},
       .namespace_ = namespace_,
       .name = "web",
       .subresource = "exec",
       .query =
           {{"stdin", "true"}, {"stdout", "true"}, {"command", "head"}, {"command", "-c"}, {"command", "5"}}},
      {"v4.channel.k8s.io"});
  EXPECT_EQ(socket->protocol(), "v4.channel.k8s.io");
  const std::string input(100'000, 'x');
  ASSERT_TRUE(socket->send(std::string(1, '\0') + input));
  std::string out;
  std::string status;
  while (!socket->closed()) {
    socket->wait(ek::http::WebSocket::readable, ek::TimePoint::max(), {});
    while (const auto message = socket->receive()) {
      if (message->front() == '\x01') out += message->substr(1);
      if (message->front() == '\x03') status += message->substr(1);
    }
  }
  EXPECT_EQ(out, "xxxxx");
  EXPECT_THAT(status, HasSubstr(R"("status":"Success")"));
  EXPECT_EQ(socket->closed()->code, 1000);
}

TEST_F(RealPodStreams, PortsAreForwarded) {
  ek::tests::ScriptedServer server([](ek::tests::Connection& connection) {
    while (const auto request = connection.read_request()) connection.respond(200, request->body);
  });
  const auto port = static_cast<std::uint16_t>(server.port());
  const std::string body(300'000, 'x');
  const std::string request =
      "POST / HTTP/1.1\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  ek::PodConnection connection(client_, pod_, port);
  connection.write(request);
  std::string answer;
  while (!answer.ends_with(body)) answer += connection.read().value();
  EXPECT_THAT(answer.substr(0, 20), HasSubstr("200"));
  connection.close();

  const ek::PortForward forward(client_, pod_, port);
  const auto local = ek::http::make_curl_transport(
      {.server = "http://127.0.0.1:" + std::to_string(forward.local_port()), .proxy = ""});
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(local->fetch({.method = ek::http::Method::post, .target = "/", .body = body}).body, body);

  ek::PodConnection closed(client_, pod_, static_cast<std::uint16_t>(ek::tests::unused_port()));
  try {
    closed.read();
    ADD_FAILURE() << "no error";
  } catch (const ek::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("connection refused"));
  }
}

}  // namespace
