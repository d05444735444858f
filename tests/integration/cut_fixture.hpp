// SPDX-License-Identifier: Apache-2.0
// A client, a proxy that cuts connections, and the embedded API server, with and without TLS.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/apiserver/api_server.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/http/transport.hpp>

#include "../support/cutting_proxy.hpp"

namespace evenkeel::tests {

using tests::CuttingProxy;

/// Returns "interrupted" for a TransportError of that code, the text of any other exception, or "no error".
inline std::string outcome_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const TransportError& error) {
    return error.code() == TransportErrorCode::interrupted ? "interrupted" : error.what();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

struct Wire {
  bool tls;
  CuttingProxy::Ending ending;
};

class CutFixture : public ::testing::TestWithParam<Wire> {
 protected:
  CutFixture() { connect(); }

  /// Replaces the client, whose connections end.
  void connect() {
    Config config = server_.config();
    config.server =
        (GetParam().tls ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(proxy_.port());
    config.proxy = "";
    client_.emplace(config, ClientOptions{.retry = {.first_delay = std::chrono::milliseconds{1}}});
  }
  static ConfigMap named(const std::string& name, const std::string& value = "1") {
    return {.metadata = {.name = name, .namespace_ = "default"}, .data = {{"k", value}}};
  }
  /// Distance of two cuts: each byte, fewer where only the kind of the end differs.
  static std::size_t step() { return GetParam().ending == CuttingProxy::Ending::reset ? 3 : 1; }

  std::atomic<int> writes_{0};
  apiserver::ApiServer server_{{.tls = GetParam().tls, .on_request = [this](const auto& request) {
                                  if (request.method != http::Method::get) ++writes_;
                                }}};
  CuttingProxy proxy_{server_.port()};
  std::optional<Client> client_;
};

inline std::string name_of(const ::testing::TestParamInfo<Wire>& wire) {
  if (wire.param.tls) return "Tls";
  return wire.param.ending == CuttingProxy::Ending::reset ? "PlainReset" : "Plain";
}

inline constexpr Wire wires[] = {{.tls = false, .ending = CuttingProxy::Ending::close},
                                 {.tls = false, .ending = CuttingProxy::Ending::reset},
                                 {.tls = true, .ending = CuttingProxy::Ending::close}};

}  // namespace evenkeel::tests
