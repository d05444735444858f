// SPDX-License-Identifier: Apache-2.0
// Compression of large answers between client and embedded API server, over TLS: as by kube-apiserver, beyond
// 128 KiB, for clients that ask for it, and never of a watch.
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/apiserver/api_server.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/http/curl_transport.hpp>

namespace {

namespace ek = evenkeel;

/// Sends requests with "Accept-Encoding: gzip" of its own, so that answers stay as they were sent.
class EmbeddedCompression : public ::testing::Test {
 protected:
  EmbeddedCompression() {
    for (int i = 0; i < 3; ++i) {
      client(true).create(
          ek::ConfigMap{.metadata = {.name = "map-" + std::to_string(i), .namespace_ = "default"},
                        .data = {{"a", std::string(60'000, 'x')}}});
    }
  }
  ek::Client client(std::optional<bool> compression) const {
    ek::Config config = server_.config();
    config.compression = compression;
    return ek::Client(config);
  }
  ek::http::Response ask(const std::string& target, const std::string& accepted) const {
    const ek::Config config = server_.config();
    const auto transport =
        ek::http::make_curl_transport({.server = config.server, .tls = config.tls, .proxy = ""});
    ek::http::Request request{.target = target};
    if (!accepted.empty()) request.headers.set("Accept-Encoding", accepted);
    return transport->fetch(request);
  }
  bool compresses(const std::string& target, const std::string& accepted) const {
    const ek::http::Response response = ask(target, accepted);
    EXPECT_EQ(response.status, 200);
    const std::string* const encoding = response.headers.find("Content-Encoding");
    EXPECT_EQ(response.headers.find("Vary") != nullptr, encoding != nullptr);
    return encoding != nullptr && *encoding == "gzip" && response.body.starts_with("\x1f\x8b");
  }

  const std::string all_ = "/api/v1/namespaces/default/configmaps";
  ek::apiserver::ApiServer server_{{.tls = true}};
};

TEST_F(EmbeddedCompression, IsForLargeAnswersToThoseWhoAsk) {
  EXPECT_TRUE(compresses(all_, "gzip"));
  EXPECT_TRUE(compresses(all_, "deflate, gzip"));
  EXPECT_FALSE(compresses(all_, ""));
  EXPECT_FALSE(compresses(all_, "deflate, br"));
  EXPECT_FALSE(compresses(all_ + "/map-0", "gzip")) << "60 KB";
  EXPECT_FALSE(compresses(all_ + "?limit=2", "gzip")) << "120 KB";
}

TEST_F(EmbeddedCompression, IsNotForWatches) {
  struct Head final : ek::http::StreamHandler {
    void on_response(int, const ek::http::Headers& headers) override {
      encoded.set_value(headers.find("Content-Encoding") != nullptr);
    }
    void on_data(std::string_view) override {}
    void on_end(std::exception_ptr) override {}
    std::promise<bool> encoded;
  };
  const ek::Config config = server_.config();
  const auto transport =
      ek::http::make_curl_transport({.server = config.server, .tls = config.tls, .proxy = ""});
  const auto head = std::make_shared<Head>();
  const auto call = transport->stream(
      {.target = all_ + "?watch=1&resourceVersion=0", .headers = {{"Accept-Encoding", "gzip"}}}, head);
  EXPECT_FALSE(head->encoded.get_future().get()) << "it begins with 180 KB";
  call->cancel();
}

TEST_F(EmbeddedCompression, TheClientGetsTheSameObjects) {
  const auto plain = client(false).list<ek::ConfigMap>({.namespace_ = "default"});
  const auto expanded = client(true).list<ek::ConfigMap>({.namespace_ = "default"});
  ASSERT_EQ(plain.items.size(), 3U);
  ASSERT_EQ(expanded.items.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(expanded.items[i].raw(), plain.items[i].raw());
}

}  // namespace
