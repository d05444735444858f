// SPDX-License-Identifier: Apache-2.0
// Certificates generated at start, and the TLS server that uses them, with the library's own client.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/client/config.hpp>
#include <evenkeel/http/curl_transport.hpp>

#include "../support/raw_client.hpp"
#include "apiserver/shell/http_server.hpp"
#include "apiserver/shell/kubeconfig_writer.hpp"
#include "apiserver/shell/tls_certificates.hpp"
#include "scripted_backend.hpp"

namespace evenkeel::apiserver {
namespace {

using evenkeel::tests::RawClient;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class TlsServer : public ::testing::Test {
 protected:
  std::shared_ptr<http::Transport> transport(http::TlsOptions tls, const std::string& host = "127.0.0.1") {
    return http::make_curl_transport({.server = "https://" + host + ":" + std::to_string(server_.port()),
                                      .tls = std::move(tls),
                                      .proxy = ""});
  }
  static std::string code_of(http::Transport& transport) {
    try {
      return std::to_string(transport.fetch({.target = "/x"}).status);
    } catch (const TransportError& error) {
      return error.code() == TransportErrorCode::tls ? "tls" : error.what();
    }
  }

  CertifiedKey authority_ = make_authority();
  ScriptedHost scripted_{{.tokens = {{.token = "t", .caller = {.user = "token-user", .groups = {}}}}}};
  detail::HttpServer server_{
      scripted_.host,
      {.tls = true,
       .certificate = make_server_certificate(authority_, {"localhost", "127.0.0.1", "::1"}),
       .client_authority = authority_.certificate}};
};

TEST_F(TlsServer, IsTrustedByWhoeverHasItsAuthority) {
  const auto trusted = transport({.ca_data = authority_.certificate});
  const http::Response answer = trusted->fetch({.target = "/x", .headers = {{"Authorization", "Bearer t"}}});
  EXPECT_EQ(answer.body, "GET /x token-user ");
  EXPECT_EQ(code_of(*trusted), "401");
  EXPECT_EQ(code_of(*transport({.ca_data = authority_.certificate}, "localhost")), "401");
}

TEST_F(TlsServer, IsNotTrustedByOthers) {
  EXPECT_EQ(code_of(*transport({.ca_data = make_authority().certificate})), "tls");
  EXPECT_EQ(code_of(*transport({.ca_data = authority_.certificate, .server_name = "elsewhere"})), "tls");
}

TEST_F(TlsServer, TakesTheCallerFromAClientCertificate) {
  const CertifiedKey jane = make_client_certificate(authority_, {.user = "jane", .groups = {"dev", "ops"}});
  const auto client =
      transport({.ca_data = authority_.certificate, .cert_data = jane.certificate, .key_data = jane.key});
  EXPECT_EQ(client->fetch({.target = "/x"}).body, "GET /x jane ");
}

TEST_F(TlsServer, RefusesAClientCertificateOfAnotherAuthority) {
  const CertifiedKey stranger = make_client_certificate(make_authority(), {.user = "mallory", .groups = {}});
  const auto client = transport(
      {.ca_data = authority_.certificate, .cert_data = stranger.certificate, .key_data = stranger.key});
  EXPECT_NE(code_of(*client), "200");
  scripted_.host->with([&](detail::Backend&) { EXPECT_TRUE(scripted_.backend->requests.empty()); });
}

TEST_F(TlsServer, SurvivesClientsThatSpeakNoTls) {
  RawClient plain(server_.port());
  plain.send("GET /x HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(plain.read_to_end(), ::testing::Not(HasSubstr("200 OK")));
  RawClient silent(server_.port());
  EXPECT_EQ(code_of(*transport({.ca_data = authority_.certificate})), "401");
}

TEST_F(TlsServer, CarriesLargeBodiesBothWays) {
  const auto client = transport({.ca_data = authority_.certificate});
  const http::Headers token = {{"Authorization", "Bearer t"}};
  const http::Response big = client->fetch({.target = "/big/10000000", .headers = token});
  EXPECT_EQ(big.body.size(), 10'000'000u);
  const http::Response echo = client->fetch(
      {.method = http::Method::post, .target = "/x", .headers = token, .body = std::string(2'000'000, 'y')});
  EXPECT_EQ(echo.body.size(), 2'000'000u + std::string_view("POST /x token-user ").size());
}

TEST(Kubeconfig, IsReadBackByOurClient) {
  const CertifiedKey authority = make_authority();
  const CertifiedKey client = make_client_certificate(authority, {});
  const Config certified = parse_kubeconfig(write_kubeconfig({.server = "https://127.0.0.1:1",
                                                              .certificate_authority = authority.certificate,
                                                              .client_certificate = client.certificate,
                                                              .client_key = client.key}));
  EXPECT_EQ(certified.server, "https://127.0.0.1:1");
  EXPECT_EQ(certified.tls.ca_data, authority.certificate);
  EXPECT_EQ(certified.tls.cert_data, client.certificate);
  EXPECT_EQ(certified.tls.key_data, client.key);
  EXPECT_EQ(certified.namespace_, "default");
  const std::string odd = "a\"b\\c: #d\t'";
  EXPECT_EQ(parse_kubeconfig(write_kubeconfig({.server = "https://h", .token = odd})).token, odd);
  EXPECT_EQ(parse_kubeconfig(write_kubeconfig({.server = "http://h"})).token, "");
}

}  // namespace
}  // namespace evenkeel::apiserver
