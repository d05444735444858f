// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/conf.h>
#include <openssl/ssl.h>

#include <evenkeel/http/curl_transport.hpp>

#include "../support/temporary_directory.hpp"
#include "curl_transport_fixture.hpp"

namespace evenkeel::http::curl_tests {
namespace {

using ::testing::HasSubstr;

class CurlTransportTls : public ::testing::Test {
 protected:
  tests::ScriptedServerOptions secured(const std::string& names) {
    const Pem pem = authority.issue_server(names);
    return {.cert = pem.cert, .key = pem.key};
  }
  std::string fetch_with(const ScriptedServer& server, TlsOptions tls) {
    return error_of([&] { transport_to(server, {.tls = std::move(tls)})->fetch({.target = "/x"}); });
  }

  std::string stream_with(const ScriptedServer& server, TlsOptions tls) {
    return end_of_stream(*transport_to(server, {.tls = std::move(tls)}));
  }
  static std::string end_of_stream(Transport& transport) {
    const auto recorder = std::make_shared<Recorder>();
    transport.stream({.target = "/x"}, recorder);
    return recorder->wait_for_end();
  }

  Authority authority{"test-ca"};
};

TEST_F(CurlTransportTls, TrustsTheGivenAuthorityOnly) {
  ScriptedServer server(always(200, "ok"), secured("IP:127.0.0.1"));
  const Authority other("other-ca");
  EXPECT_EQ(fetch_with(server, {.ca_data = authority.pem()}), "no error");
  EXPECT_THAT(fetch_with(server, {.ca_data = other.pem()}),
              HasSubstr("tls: GET " + server.url() + "/x: SSL certificate problem"));
  EXPECT_THAT(fetch_with(server, {}), HasSubstr("tls: GET "));
  EXPECT_EQ(fetch_with(server, {.insecure = true}), "no error");
  EXPECT_THAT(fetch_with(server, {.ca_data = "not a certificate"}), HasSubstr("tls: GET "));
}

TEST_F(CurlTransportTls, TheCertificateMustNameTheHostOrTheServerName) {
  ScriptedServer server(always(200, "ok"), secured("DNS:api.internal"));
  EXPECT_THAT(fetch_with(server, {.ca_data = authority.pem()}), HasSubstr("tls: GET "));
  EXPECT_EQ(fetch_with(server, {.ca_data = authority.pem(), .server_name = "api.internal"}), "no error");
  EXPECT_THAT(fetch_with(server, {.ca_data = authority.pem(), .server_name = "api.other"}),
              HasSubstr("tls: GET "));
}

/// A configuration of OpenSSL in which all versions of TLS are allowed, so that only the transport refuses
/// one.
class AnyTls {
 public:
  AnyTls() { load("CipherString = DEFAULT:@SECLEVEL=0\nMinProtocol = TLSv1\n"); }
  ~AnyTls() {
    load("MinProtocol = None\n");
    CONF_modules_load_file(nullptr, nullptr, CONF_MFLAGS_DEFAULT_SECTION | CONF_MFLAGS_IGNORE_MISSING_FILE);
  }
  AnyTls(const AnyTls&) = delete;
  AnyTls& operator=(const AnyTls&) = delete;

 private:
  void load(const std::string& commands) const {
    const std::string file = folder_.path / "openssl.cnf";
    std::ofstream(file) << "openssl_conf = init\n[init]\nssl_conf = ssl\n[ssl]\nsystem_default = all\n[all]\n"
                        << commands;
    EXPECT_EQ(CONF_modules_load_file(file.c_str(), nullptr, 0), 1);
  }
  const tests::TemporaryDirectory folder_;
};

TEST_F(CurlTransportTls, SpeaksNothingBelowVersion1_2) {
  auto old = secured("IP:127.0.0.1");
  old.highest_tls = TLS1_1_VERSION;
  ScriptedServer outdated(always(200, "ok"), old);
  old.highest_tls = TLS1_2_VERSION;
  ScriptedServer server(always(200, "ok"), old);
  const AnyTls any;
  const TlsOptions trust{.ca_data = authority.pem()};
  const auto shared = [&](const ScriptedServer& peer) {
    return error_of([&] { shared_fetch(*transport_to(peer, {.tls = trust}), {.target = "/x"}); });
  };
  const std::string refused = "tls: GET " + outdated.url() + "/x: ";
  for (const std::string& error :
       {fetch_with(outdated, trust), shared(outdated), stream_with(outdated, trust)}) {
    EXPECT_THAT(error, ::testing::StartsWith(refused));
    EXPECT_THAT(error, HasSubstr("protocol version"));
  }
  for (const std::string& error : {fetch_with(server, trust), shared(server), stream_with(server, trust)})
    EXPECT_EQ(error, "no error");
  EXPECT_EQ(outdated.connections(), 0);
}

TEST_F(CurlTransportTls, StreamsTrustWhatRequestsTrust) {
  ScriptedServer server(always(200, "ok"), secured("IP:127.0.0.1"));
  ScriptedServer named(always(200, "ok"), secured("DNS:api.internal"));
  const std::string ca = authority.pem();
  const std::string both = Authority("other-ca").pem() + ca;
  EXPECT_EQ(stream_with(server, {.ca_data = ca}), "no error");
  EXPECT_EQ(stream_with(server, {.ca_data = both}), "no error");
  EXPECT_EQ(stream_with(server, {.insecure = true}), "no error");
  EXPECT_EQ(stream_with(named, {.ca_data = ca, .server_name = "api.internal"}), "no error");
  const std::pair<const ScriptedServer&, TlsOptions> refused[] = {
      {server, {}},
      {server, {.ca_data = Authority("other-ca").pem()}},
      {server, {.ca_data = "not a certificate"}},
      {server, {.ca_data = ca + "-----BEGIN CERTIFICATE-----\nMIIB"}},
      {server, {.ca_data = ca, .cert_data = "not a certificate", .key_data = "not a key"}},
      {named, {.ca_data = ca}},
      {named, {.ca_data = ca, .server_name = "api.other"}}};
  for (const auto& [peer, tls] : refused) {
    const std::string error = stream_with(peer, tls);
    EXPECT_THAT(error, HasSubstr("tls: GET " + peer.url() + "/x: "));
    EXPECT_EQ(error, fetch_with(peer, tls));
  }
  EXPECT_EQ(stream_with(server, {.ca_data = "not a certificate"}),
            "tls: GET " + server.url() + "/x: error importing CA certificate blob (CA data)");
}

TEST_F(CurlTransportTls, NamesTheFileThatIsNoCertificate) {
  ScriptedServer server(always(200, "ok"), secured("IP:127.0.0.1"));
  const tests::TemporaryDirectory folder;
  const std::string file = folder.path / "junk.pem";
  std::ofstream(file) << "not a certificate";
  EXPECT_THAT(fetch_with(server, {.ca_file = file}), HasSubstr("(CA file " + file + ")"));
  EXPECT_THAT(fetch_with(server, {.ca_data = authority.pem(), .cert_file = file, .key_file = file}),
              HasSubstr("(client certificate file " + file + ", key file " + file + ")"));
  EXPECT_THAT(fetch_with(server, {.ca_data = authority.pem(), .cert_data = "junk", .key_data = "junk"}),
              HasSubstr("(client certificate data, key data)"));
}

TEST_F(CurlTransportTls, StreamsPresentTheClientCertificate) {
  auto options = secured("IP:127.0.0.1");
  options.client_ca = authority.pem();
  ScriptedServer server(
      [](Connection& connection) {
        while (connection.read_request()) connection.respond(200, connection.peer_name());
      },
      options);
  const Pem client = authority.issue_client("admin");
  const auto transport = transport_to(
      server, {.tls = {.ca_data = authority.pem(), .cert_data = client.cert, .key_data = client.key}});
  const auto recorder = std::make_shared<Recorder>();
  transport->stream({.target = "/x"}, recorder);
  EXPECT_EQ(recorder->wait_for_end(), "no error");
  EXPECT_EQ(recorder->data_, "admin");
}

TEST_F(CurlTransportTls, StreamsResumeNoSessionOfAuthoritiesThatWereReplaced) {
  const std::string path = ::testing::TempDir() + "evenkeel-stream-ca-" + std::to_string(getpid()) + ".pem";
  const auto write = [&](const std::string& text) { std::ofstream(path) << text; };
  ScriptedServer server(always(200, "ok"), secured("IP:127.0.0.1"));
  const auto transport = transport_to(server, {.tls = {.ca_file = path}, .tls_reload = 0s});
  write(authority.pem());
  EXPECT_EQ(end_of_stream(*transport), "no error");
  EXPECT_EQ(end_of_stream(*transport), "no error");
  write(Authority("other-ca").pem());
  EXPECT_THAT(end_of_stream(*transport), HasSubstr("SSL certificate problem"));
  write("");  // the last contents stay in use
  EXPECT_THAT(end_of_stream(*transport), HasSubstr("SSL certificate problem"));
  write(authority.pem());
  EXPECT_EQ(end_of_stream(*transport), "no error");
  std::remove(path.c_str());
}

TEST_F(CurlTransportTls, TheProxyIsNotVerifiedByTheAuthoritiesOfTheServer) {
  ScriptedServer proxy(always(200, "ok"), secured("IP:127.0.0.1"));
  const auto transport = make_curl_transport(
      {.server = "https://api.invalid", .tls = {.ca_data = authority.pem()}, .proxy = proxy.url()});
  const std::string error = end_of_stream(*transport);
  EXPECT_THAT(error, HasSubstr("tls: GET https://api.invalid/x: SSL certificate problem"));
  EXPECT_EQ(error, error_of([&] { transport->fetch({.target = "/x"}); }));
}

TEST_F(CurlTransportTls, TheServerNameIsForTlsOnly) {
  std::string host;
  ScriptedServer server(
      [&](Connection& connection) {
        while (auto request = connection.read_request()) {
          host = *request->headers.find("host");
          connection.respond(200, "ok");
        }
      },
      secured("DNS:api.internal"));
  EXPECT_EQ(fetch_with(server, {.ca_data = authority.pem(), .server_name = "api.internal"}), "no error");
  EXPECT_EQ("https://" + host, server.url());
}

TEST_F(CurlTransportTls, PresentsTheClientCertificate) {
  auto options = secured("IP:127.0.0.1");
  options.client_ca = authority.pem();
  ScriptedServer server(
      [](Connection& connection) {
        while (connection.read_request()) connection.respond(200, connection.peer_name());
      },
      options);
  const Pem client = authority.issue_client("admin");
  const auto transport = transport_to(
      server, {.tls = {.ca_data = authority.pem(), .cert_data = client.cert, .key_data = client.key}});
  EXPECT_EQ(transport->fetch({.target = "/x"}).body, "admin");
  EXPECT_NE(fetch_with(server, {.ca_data = authority.pem()}), "no error") << "the server insists";
}

TEST_F(CurlTransportTls, PlainHttpBehindAnHttpsUrlIsATlsError) {
  ScriptedServer server([](Connection& connection) {
    connection.read_exactly(1);
    connection.respond(400, "Client sent an HTTP request to an HTTPS server.");
  });
  const auto transport =
      make_curl_transport({.server = "https://127.0.0.1:" + std::to_string(server.port()), .proxy = ""});
  EXPECT_THAT(error_of([&] { transport->fetch({.target = "/x"}); }), HasSubstr("tls: GET https://"));
}

TEST_F(CurlTransportTls, RereadsRotatedFilesAndSurvivesTheirAbsence) {
  const std::string path = ::testing::TempDir() + "evenkeel-ca-" + std::to_string(getpid()) + ".pem";
  const auto write = [&](const std::string& text) { std::ofstream(path) << text; };
  ScriptedServer server(
      [](Connection& connection) {
        if (connection.read_request()) connection.respond(200, "ok", "Connection: close\r\n");
      },
      secured("IP:127.0.0.1"));
  const auto transport = transport_to(server, {.tls = {.ca_file = path}, .tls_reload = 0s});
  std::remove(path.c_str());
  EXPECT_EQ(error_of([&] { transport->fetch({.target = "/x"}); }),
            "tls: GET " + server.url() + "/x: cannot read CA file " + path);
  write(Authority("other-ca").pem());
  EXPECT_THAT(error_of([&] { transport->fetch({.target = "/x"}); }), HasSubstr("tls: "));
  write(authority.pem());
  EXPECT_EQ(error_of([&] { transport->fetch({.target = "/x"}); }), "no error");
  std::remove(path.c_str());
  EXPECT_EQ(error_of([&] { transport->fetch({.target = "/x"}); }), "no error");
}

TEST_F(CurlTransportTls, RequestsShareOneHttp2ConnectionStreamsDoNot) {
  constexpr int together = 12;
  std::atomic<int> streams{0};
  std::atomic<int> http1{0};
  auto options = secured("IP:127.0.0.1");
  options.http2 = true;
  ScriptedServer server(
      [&](Connection& connection) {
        // The preface of HTTP/2 begins like a request; its method identifies it.
        auto start = connection.read_exactly(3);
        if (!start) return;
        if (*start == "PRI") {
          connection.unread(*start);
          tests::serve_http2(connection, together, streams);
          return;
        }
        connection.unread(*start);
        connection.read_request();
        ++http1;
        connection.respond(200, "http1");
      },
      options);
  const auto transport = transport_to(server, {.tls = {.ca_data = authority.pem()}});
  std::vector<std::shared_ptr<Landing>> landings;
  for (int i = 0; i < together; ++i) {
    landings.push_back(std::make_shared<Landing>());
    transport->send({.target = "/x"}, Landing::into(landings.back()));
  }
  for (const auto& landing : landings) {
    landing->wait();
    EXPECT_EQ(landing->error, "");
    EXPECT_EQ(landing->response.status, 200);
    EXPECT_THAT(landing->response.body, HasSubstr("stream "));
  }
  EXPECT_EQ(server.connections(), 1);
  const auto recorder = std::make_shared<Recorder>();
  transport->stream({.target = "/watch"}, recorder);
  EXPECT_EQ(recorder->wait_for_end(), "no error");
  EXPECT_EQ(recorder->data_, "http1");
  EXPECT_EQ(shared_fetch(*transport, {.target = "/again"}).status, 200);
  EXPECT_EQ(server.connections(), 2);
  EXPECT_EQ(transport->fetch({.target = "/blocking"}).body, "http1") << "a connection of its own";
  EXPECT_EQ(server.connections(), 3);
}

TEST_F(CurlTransportTls, BodiesOfAnySizeGoOverHttp2) {
  std::atomic<int> streams{0};
  auto options = secured("IP:127.0.0.1");
  options.http2 = true;
  ScriptedServer server([&](Connection& connection) { tests::serve_http2(connection, 0, streams); }, options);
  const auto transport = transport_to(server, {.tls = {.ca_data = authority.pem()}});
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{300'000}}) {
    const Response response =
        shared_fetch(*transport, {.method = Method::post, .target = "/x", .body = std::string(size, 'b')});
    EXPECT_EQ(response.status, 200);
    EXPECT_THAT(response.body, HasSubstr(", " + std::to_string(size) + " bytes"));
  }
  EXPECT_EQ(server.connections(), 1);
}

class CurlTransportTlsConcurrency : public CurlTransportTls {};

TEST_F(CurlTransportTlsConcurrency, StreamsShareAuthoritiesWhileTheyAreReplaced) {
  const std::string path = ::testing::TempDir() + "evenkeel-shared-ca-" + std::to_string(getpid()) + ".pem";
  const std::string texts[] = {authority.pem(), authority.pem() + Authority("other-ca").pem()};
  const auto replace = [&](const std::string& text) {
    std::ofstream(path + ".new") << text;
    std::rename((path + ".new").c_str(), path.c_str());
  };
  ScriptedServer server(always(200, "ok"), secured("IP:127.0.0.1"));
  constexpr int threads = 4, each = 12;
  std::atomic<int> running{threads}, failures{0};
  replace(texts[0]);
  {
    const auto transport = transport_to(server, {.tls = {.ca_file = path}, .tls_reload = 0s});
    std::vector<std::thread> workers;
    workers.reserve(threads);
    for (int t = 0; t < threads; ++t) {
      workers.emplace_back([&] {
        for (int i = 0; i < each; ++i) {
          const auto recorder = std::make_shared<Recorder>();
          transport->stream({.target = "/x"}, recorder);
          // It reads the files on this thread, and the streams read them on the transport's.
          if (error_of([&] { transport->fetch({.target = "/x"}); }) != "no error") ++failures;
          if (recorder->wait_for_end() != "no error") ++failures;
        }
        --running;
      });
    }
    for (std::size_t i = 1; running > 0; ++i) replace(texts[i % 2]);
    for (std::thread& worker : workers) worker.join();
  }
  EXPECT_EQ(failures, 0);
  std::remove(path.c_str());
}

}  // namespace
}  // namespace evenkeel::http::curl_tests
