// SPDX-License-Identifier: Apache-2.0
// A fixture for commands in containers: a Pod's node, played by a script on a WebSocket.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <evenkeel/client/client.hpp>

#include "../http/web_socket_peer.hpp"

namespace evenkeel::tests {

inline constexpr const char* v5 = "v5.channel.k8s.io";
inline constexpr const char* v4 = "v4.channel.k8s.io";
/// The status of a command that ended with 0.
inline constexpr const char* success = R"({"metadata":{},"status":"Success"})";

class ScriptedKubelet : public ::testing::Test {
 protected:
  using Script = std::function<void(WebSocketPeer&, const http::Request&)>;

  /// Serves connections with `script` once they are WebSockets.
  void serve(Script script, const std::string& protocol = v5) {
    raw([script = std::move(script), protocol](Connection& connection) {
      WebSocketPeer peer(connection);
      if (const auto request = peer.accept(protocol)) script(peer, *request);
    });
  }
  void raw(ScriptedServer::Script script) { server_.emplace(std::move(script)); }
  Client client(ClientOptions options = {}) const {
    return Client({.server = server_->url(), .proxy = "", .token = "secret"}, std::move(options));
  }

  const ObjectKey web_{"default", "web-0"};
  std::optional<ScriptedServer> server_;
};

}  // namespace evenkeel::tests
