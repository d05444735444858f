// SPDX-License-Identifier: Apache-2.0
// Connections to ports of a Pod, against a server that speaks the subprotocol of a kubelet.
#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/client/errors.hpp>
#include <evenkeel/client/port_forward.hpp>

#include "../http/web_socket_peer.hpp"
#include "../support/await.hpp"
#include "../support/cutting_proxy.hpp"
#include "../support/error_text.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using tests::await;
using tests::Connection;
using tests::CuttingProxy;
using tests::error_of;
using tests::ScriptedServer;
using tests::WebSocketPeer;

constexpr const char* subprotocol = "v4.channel.k8s.io";
const std::string port_8080("\x90\x1f", 2);  // little endian

class PortForwardTest : public ::testing::Test {
 protected:
  using Script = std::function<void(WebSocketPeer&)>;

  /// Serves connections to port 8080 with `script`, once both channels have begun.
  void serve(Script script) {
    raw([this, script = std::move(script)](Connection& connection) {
      WebSocketPeer peer(connection);
      const auto request = peer.accept(subprotocol);
      if (!request) return;
      {
        const std::scoped_lock lock(mutex_);
        request_ = *request;
      }
      peer.send(0, port_8080);
      peer.send(1, port_8080);
      script(peer);
    });
  }
  /// Answers each message with itself, until the client closes the connection.
  void serve_echo() {
    serve([](WebSocketPeer& peer) {
      while (const auto message = peer.read_message()) peer.send(*message);
      peer.close();
    });
  }
  void raw(ScriptedServer::Script script) { server_.emplace(std::move(script)); }
  Client client() const { return Client({.server = server_->url(), .proxy = ""}); }
  PodConnection connection() const { return PodConnection(client(), web_, 8080); }
  http::Request request() {
    const std::scoped_lock lock(mutex_);
    return request_;
  }

  const ObjectKey web_{"default", "web-0"};
  const std::string call_ = "get Pod/portforward default/web-0: ";
  std::mutex mutex_;
  http::Request request_;
  std::optional<ScriptedServer> server_;
};

TEST_F(PortForwardTest, CarriesBytesBothWays) {
  serve_echo();
  PodConnection pod = connection();
  pod.write("hello");
  EXPECT_EQ(pod.read(), "hello");
  EXPECT_EQ(request().target, "/api/v1/namespaces/default/pods/web-0/portforward?ports=8080");
  EXPECT_EQ(*request().headers.find("Sec-WebSocket-Protocol"), subprotocol);
  pod.close();
  EXPECT_EQ(pod.read(), std::nullopt);
  pod.write("dropped");
}

TEST_F(PortForwardTest, LargeWritesAreSplit) {
  serve([](WebSocketPeer& peer) {
    std::size_t got = 0;
    while (got < 100'000) {
      const auto message = peer.read_message();
      if (!message) return;
      EXPECT_LE(message->size(), 32769U);
      got += message->size() - 1;
    }
    peer.send(0, std::to_string(got));
    peer.close();
  });
  PodConnection pod = connection();
  pod.write(std::string(100'000, 'x'));
  EXPECT_EQ(pod.read(), "100000");
  EXPECT_EQ(pod.read(), std::nullopt);
}

TEST_F(PortForwardTest, AClosedPortIsAnError) {
  serve([](WebSocketPeer& peer) {
    peer.send(1, "error forwarding port 8080 to pod x: connection refused");
    peer.close();
  });
  PodConnection pod = connection();
  EXPECT_EQ(error_of([&] { pod.read(); }), call_ + "error forwarding port 8080 to pod x: connection refused");
}

TEST_F(PortForwardTest, WrongAnswersAreErrors) {
  const auto outcome = [&](std::function<void(WebSocketPeer&)> script) {
    raw([script = std::move(script)](Connection& connection) {
      WebSocketPeer peer(connection);
      if (peer.accept(subprotocol)) script(peer);
    });
    return error_of([&] {
      PodConnection pod = connection();
      while (pod.read()) {
      }
    });
  };
  EXPECT_EQ(outcome([](WebSocketPeer& peer) { peer.send(0, "GET / HTTP/1.1"); }),
            call_ + "channel 0 does not begin with the port");
  EXPECT_EQ(outcome([](WebSocketPeer& peer) { peer.send(2, "x"); }),
            call_ + "the server sent a message of channel 2");
  EXPECT_EQ(outcome([](WebSocketPeer& peer) { peer.close(1011, "sorry"); }),
            call_ + "the server closed the WebSocket (1011 sorry)");
  EXPECT_THAT(
      outcome([](WebSocketPeer& peer) { peer.send(0, port_8080); }),
      ::testing::EndsWith("/api/v1/namespaces/default/pods/web-0/portforward?ports=8080: the connection "
                          "ended without a close frame"));
  EXPECT_EQ(error_of([&] { PodConnection(client(), web_, 0); }), "PodConnection: port 0");
}

TEST_F(PortForwardTest, ARefusalIsTheServersStatus) {
  raw([](Connection& connection) {
    connection.read_request();
    connection.respond(
        404, R"({"kind":"Status","message":"pods \"web-0\" not found","reason":"NotFound","code":404})");
  });
  EXPECT_EQ(error_of([&] { connection(); }), call_ + "404 NotFound: pods \"web-0\" not found");
}

TEST_F(PortForwardTest, DeadlinesAndStopTokensEndIt) {
  serve([](WebSocketPeer& peer) { peer.read_message(); });
  PodConnection late(client().with({.deadline = std::chrono::steady_clock::now() + 100ms}), web_, 8080);
  EXPECT_EQ(error_of([&] { late.read(); }), call_ + "deadline exceeded");
  std::stop_source stop;
  PodConnection pod = connection();
  const std::jthread stopper([&] { stop.request_stop(); });
  EXPECT_THROW(pod.read(stop.get_token()), Cancelled);
}

// ---- The local port ----

/// A client of the local port.
class LocalClient {
 public:
  explicit LocalClient(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
      throw std::runtime_error("cannot connect");
  }
  ~LocalClient() { ::close(socket_); }
  LocalClient(const LocalClient&) = delete;
  LocalClient& operator=(const LocalClient&) = delete;

  void write(const std::string& bytes) const { ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL); }
  /// Returns `count` bytes, fewer at the end.
  std::string read(std::size_t count) const {
    std::string bytes(count, '\0');
    std::size_t got = 0;
    while (got < count) {
      const ssize_t more = ::recv(socket_, bytes.data() + got, count - got, 0);
      if (more <= 0) break;
      got += static_cast<std::size_t>(more);
    }
    bytes.resize(got);
    return bytes;
  }

 private:
  const int socket_;
};

class PortForwardConcurrency : public PortForwardTest {};

TEST_F(PortForwardConcurrency, ALocalPortServesManyClients) {
  serve_echo();
  const PortForward forward(client(), web_, 8080);
  std::vector<std::jthread> clients;
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back([&forward, i] {
      const LocalClient local(forward.local_port());
      const std::string text(20'000, static_cast<char>('a' + i));
      for (int round = 0; round < 5; ++round) {
        local.write(text);
        EXPECT_EQ(local.read(text.size()), text);
      }
    });
  }
}

TEST_F(PortForwardConcurrency, NoMoreThanTheLimitAtATime) {
  std::atomic<int> open = 0, most = 0;
  serve([&](WebSocketPeer& peer) {
    most = std::max(most.load(), ++open);
    while (const auto message = peer.read_message()) peer.send(*message);
    --open;
    peer.close();
  });
  const PortForward forward(client(), web_, 8080, {.max_connections = 1});
  std::vector<std::jthread> clients;
  for (int i = 0; i < 5; ++i) {
    clients.emplace_back([&forward] {
      const LocalClient local(forward.local_port());
      local.write("x");
      EXPECT_EQ(local.read(1), "x");
    });
  }
  clients.clear();
  EXPECT_EQ(most, 1);
}

TEST_F(PortForwardConcurrency, TheEndOfThePodsSideEndsTheClients) {
  serve([](WebSocketPeer& peer) {
    peer.send(0, "bye");
    peer.close();
  });
  const PortForward forward(client(), web_, 8080);
  const LocalClient local(forward.local_port());
  EXPECT_EQ(local.read(100), "bye");
}

TEST_F(PortForwardConcurrency, AFailedConnectionIsReportedAndTheOthersGoOn) {
  std::atomic<int> count = 0;
  serve([&](WebSocketPeer& peer) {
    if (count++ == 0) {
      peer.send(1, "connection refused");
      peer.close();
      return;
    }
    while (const auto message = peer.read_message()) peer.send(*message);
    peer.close();
  });
  std::mutex mutex;
  std::vector<std::string> errors;
  const PortForward forward(client(), web_, 8080, {.on_error = [&](const std::exception_ptr& error) {
                              const std::scoped_lock lock(mutex);
                              errors.push_back(error_of([&] { std::rethrow_exception(error); }));
                            }});
  const LocalClient first(forward.local_port());
  EXPECT_EQ(first.read(1), "");
  await("the report", [&] {
    const std::scoped_lock lock(mutex);
    return !errors.empty();
  });
  EXPECT_EQ(errors, std::vector<std::string>{call_ + "connection refused"});
  const LocalClient second(forward.local_port());
  second.write("x");
  EXPECT_EQ(second.read(1), "x");
}

TEST_F(PortForwardConcurrency, DestructionAndAStopTokenEndConnections) {
  serve_echo();
  {
    const auto forward = std::make_unique<PortForward>(client(), web_, 8080);
    const LocalClient local(forward->local_port());
    local.write("x");
    EXPECT_EQ(local.read(1), "x");
  }
  std::stop_source stop;
  const PortForward forward(client().with({.stop = stop.get_token()}), web_, 8080);
  const LocalClient local(forward.local_port());
  local.write("x");
  EXPECT_EQ(local.read(1), "x");
  stop.request_stop();
  EXPECT_EQ(local.read(1), "");
}

TEST_F(PortForwardConcurrency, ADeadlineEndsConnectionsAndRefusesFurtherOnes) {
  serve_echo();
  const PortForward forward(client().with({.deadline = std::chrono::steady_clock::now() + 100ms}), web_,
                            8080);
  for (;;) {
    try {
      const LocalClient local(forward.local_port());
      EXPECT_EQ(local.read(1), "") << "it ends by itself";
    } catch (const std::runtime_error&) {
      break;
    }
  }
}

TEST_F(PortForwardTest, ALocalPortThatIsTakenIsAnError) {
  serve_echo();
  const PortForward forward(client(), web_, 8080);
  const std::string port = std::to_string(forward.local_port());
  EXPECT_EQ(error_of([&] { PortForward(client(), web_, 8080, {.local_port = forward.local_port()}); }),
            "PortForward: cannot listen on 127.0.0.1:" + port + ": Address already in use");
  EXPECT_EQ(error_of([&] { PortForward(client(), web_, 8080, {.address = "localhost"}); }),
            "PortForward: cannot listen on localhost:0: not an IP address");
  EXPECT_EQ(error_of([&] { PortForward(client(), web_, 0); }), "PodConnection: port 0");
  const PortForward six(client(), web_, 8080, {.address = "::1"});
  EXPECT_NE(six.local_port(), 0);
}

class PortForwardCutConcurrency : public PortForwardTest,
                                  public ::testing::WithParamInterface<CuttingProxy::Ending> {};

// Bytes received before the cut are a beginning of those that were sent, and the cut is no end.
TEST_P(PortForwardCutConcurrency, AtEveryByte) {
  serve([](WebSocketPeer& peer) {
    for (const char* piece : {"one ", "two ", "three"}) peer.send(0, piece);
    peer.close();
    peer.read();
  });
  CuttingProxy proxy(static_cast<std::uint16_t>(server_->port()));
  const Client cut({.server = "http://127.0.0.1:" + std::to_string(proxy.port()), .proxy = ""});
  std::string got;
  const auto run = [&] {
    got.clear();
    PodConnection pod(cut, web_, 8080);
    while (const auto bytes = pod.read()) got += *bytes;
  };
  run();
  const std::string whole = "one two three";
  EXPECT_EQ(got, whole);
  const std::size_t size = proxy.passed();
  for (std::size_t at = 0; at < size; ++at) {
    proxy.cut_after(at, GetParam());
    try {
      run();
      ASSERT_EQ(got, whole) << "at byte " << at;
    } catch (const TransportError& error) {
      ASSERT_EQ(error.code(), TransportErrorCode::interrupted) << "at byte " << at << ": " << error.what();
      ASSERT_TRUE(whole.starts_with(got)) << "at byte " << at << ": " << got;
    }
    proxy.cancel_cut();
  }
}

INSTANTIATE_TEST_SUITE_P(, PortForwardCutConcurrency,
                         ::testing::Values(CuttingProxy::Ending::close, CuttingProxy::Ending::reset),
                         [](const auto& ending) {
                           return ending.param == CuttingProxy::Ending::close ? "Close" : "Reset";
                         });

}  // namespace
}  // namespace evenkeel
