// SPDX-License-Identifier: Apache-2.0
// Identities with a real API server, which tells as whom it knows a client: each kind of credential, their
// rotation without a restart, the files of a pod, and a proxy.
#include <atomic>
#include <chrono>
#include <fstream>
#include <map>
#include <memory>
#include <netinet/in.h>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/json.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/client/config.hpp>
#include <evenkeel/client/resource_client.hpp>
#include <evenkeel/client/subresources.hpp>
#include <evenkeel/http/curl_transport.hpp>

#include "../http/certificates.hpp"
#include "../http/scripted_server.hpp"
#include "../support/temporary_directory.hpp"
#include "real_environment.hpp"

namespace real_credentials {
namespace {

namespace ek = evenkeel;
using namespace std::chrono_literals;
using ek::Client;
using ek::Config;
using ek::Json;
using ek::tests::environment;
using ek::tests::error_code;
using ::testing::HasSubstr;

/// Returns the user of a client as the server knows it: a member `userInfo` of a SelfSubjectReview.
Json user_of(const Client& client) {
  const ek::http::Response answer =
      client.raw({.method = ek::http::Method::post,
                  .resource = {"authentication.k8s.io", "v1", "SelfSubjectReview", "selfsubjectreviews",
                               ek::Scope::cluster},
                  .content_type = "application/json",
                  .body = R"({"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"})"});
  return Json::parse(answer.body).at({"status", "userInfo"});
}

std::string name_of(const Client& client) {
  return user_of(client)["username"].string_or("");
}

class RealCredentials : public ::testing::Test {
 protected:
  /// The server, without credentials.
  static Config nobody() {
    Config config = environment().config();
    config.token.clear();
    return config;
  }
  static std::string admin_token() { return environment().config().token; }
  /// Returns the certificate and key of a user.
  static ek::http::TlsOptions certificate_of(const std::string& user) {
    return environment().config_for({.user = user, .groups = {"team"}}).tls;
  }
  std::string write(const std::string& name, const std::string& text, ::mode_t mode = 0600) const {
    const std::string path = folder_.path / name;
    std::ofstream(path) << text;
    ::chmod(path.c_str(), mode);
    return path;
  }
  /// A client whose program prints the credential `status`, after `first` if that is given.
  Client with_program(const Json& status, const std::optional<Json>& first = {}) const {
    const auto print = [](const Json& one) {
      return "cat <<'end'\n" +
             Json::object({{"apiVersion", "client.authentication.k8s.io/v1"},
                           {"kind", "ExecCredential"},
                           {"status", one}})
                 .dump() +
             "\nend\n";
    };
    const std::string script = first ? "if [ -e \"$0.ran\" ]; then\n" + print(status) +
                                           "else\n>\"$0.ran\"\n" + print(*first) + "fi\n"
                                     : print(status);
    Config config = nobody();
    config.exec = {.api_version = "client.authentication.k8s.io/v1",
                   .command = write("program", "#!/bin/sh\n" + script, 0700)};
    return Client(config);
  }

  const ek::tests::TemporaryDirectory folder_{};
};

TEST_F(RealCredentials, AProgramPrintsATokenOrACertificate) {
  EXPECT_EQ(name_of(with_program(Json::object({{"token", admin_token()}}))),
            name_of(Client(environment().config())));
  const ek::http::TlsOptions eve = certificate_of("eve");
  const Json user = user_of(with_program(
      Json::object({{"clientCertificateData", eve.cert_data}, {"clientKeyData", eve.key_data}})));
  EXPECT_EQ(user["username"], Json("eve"));
  EXPECT_EQ(user["groups"], Json::array({"team", "system:authenticated"}));
}

TEST_F(RealCredentials, AProgramRunsAgainWhenTheServerRejectsItsCredential) {
  const Client client =
      with_program(Json::object({{"token", admin_token()}}), Json::object({{"token", "revoked"}}));
  EXPECT_EQ(name_of(client), name_of(Client(environment().config())));
}

TEST_F(RealCredentials, ATokenFileIsReadAgainWhenTheServerRejectsItsToken) {
  Config config = nobody();
  config.token_file = write("token", "revoked");
  const Client client(config);
  EXPECT_EQ(error_code([&] { user_of(client); }), 401);
  write("token", admin_token() + "\n");
  EXPECT_EQ(name_of(client), name_of(Client(environment().config())));
}

TEST_F(RealCredentials, ImpersonationNamesUserUidGroupsAndExtra) {
  Config config = environment().config();
  config.impersonate = {
      .user = "boss", .uid = "7", .groups = {"a", "b"}, .extra = {{"example.com/why", {"x", "y"}}}};
  const Json user = user_of(Client(config));
  EXPECT_EQ(user["username"], Json("boss"));
  EXPECT_EQ(user["uid"], Json("7"));
  EXPECT_EQ(user["groups"], Json::array({"a", "b", "system:authenticated"}));
  EXPECT_EQ(user["extra"], Json::object({{"example.com/why", Json::array({"x", "y"})}}));
  Config eve = environment().config_for({.user = "eve", .groups = {}});
  eve.impersonate.user = "boss";
  EXPECT_EQ(error_code([&] { user_of(Client(eve)); }), 403);
}

// A kube-apiserver knows no passwords since Kubernetes 1.19, and ignores them; proxies before one do not.
TEST_F(RealCredentials, PasswordsAreIgnoredByTheServer) {
  Config config = nobody();
  config.username = "admin";
  config.password = admin_token();
  try {
    user_of(Client(config));
    FAIL() << "it was accepted";
  } catch (const ek::ApiError& error) {
    EXPECT_EQ(error.code(), 403);
    EXPECT_THAT(error.message(), HasSubstr("User \"system:anonymous\" cannot create"));
  }
}

TEST_F(RealCredentials, CertificatesAndAuthoritiesRotateWithoutARestart) {
  const auto become = [this](const std::string& user) {
    const ek::http::TlsOptions tls = certificate_of(user);
    write("cert", tls.cert_data);
    write("key", tls.key_data);
  };
  Config config = nobody();
  config.tls = {.ca_file = write("ca", ek::tests::Authority("other").pem()),
                .cert_file = folder_.path / "cert",
                .key_file = folder_.path / "key"};
  become("eve");
  const Client client(config,
                      {.transport = ek::http::make_curl_transport(
                           {.server = config.server, .tls = config.tls, .proxy = "", .tls_reload = 0s})});
  EXPECT_THROW(user_of(client.with({.timeout = 10s, .max_retries = 0})), ek::TransportError);
  write("ca", environment().certificate_authority());
  EXPECT_EQ(name_of(client), "eve");
  become("adam");
  EXPECT_EQ(name_of(client), "adam");
}

TEST_F(RealCredentials, APodReadsTheFilesOfItsServiceAccount) {
  const Client admin(environment().config());
  const std::string space = ek::tests::fresh_namespace(admin);
  const ek::ResourceId accounts{"", "v1", "ServiceAccount", "serviceaccounts"};
  admin.resource(accounts).create(ek::DynamicObject(accounts, space, "robot"));
  write("token", admin.run(ek::calls::create_token({space, "robot"}, {.expires_after = 10min})).token);
  write("ca.crt", environment().certificate_authority());
  write("namespace", space);
  const std::string url = environment().url();
  const std::map<std::string, std::string> variables{
      {"KUBERNETES_SERVICE_HOST", "127.0.0.1"}, {"KUBERNETES_SERVICE_PORT", url.substr(url.rfind(':') + 1)}};
  const Config config =
      ek::load_config({.environment = [&](const std::string& name) -> std::optional<std::string> {
                         const auto found = variables.find(name);
                         return found == variables.end() ? std::nullopt : std::optional(found->second);
                       },
                       .service_account = folder_.path.string()});
  EXPECT_EQ(config.origin, "in-cluster");
  EXPECT_EQ(config.namespace_, space);
  EXPECT_EQ(name_of(Client(config)), "system:serviceaccount:" + space + ":robot");
}

/// A proxy that passes on the bytes of tunnels to a port of this machine.
ek::tests::ScriptedServer::Script tunnel_to(std::uint16_t port, std::atomic<int>& tunnels) {
  return [port, &tunnels](ek::tests::Connection& connection) {
    const auto request = connection.read_request();
    if (!request || request->target != "127.0.0.1:" + std::to_string(port)) return;
    const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(server, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0) {
      ++tunnels;
      connection.write("HTTP/1.1 200 Connected\r\n\r\n");
      std::thread answers([&] {
        char piece[16384];
        for (long got = 0; (got = ::recv(server, piece, sizeof(piece), 0)) > 0;)
          connection.write({piece, static_cast<std::size_t>(got)});
      });
      while (const auto byte = connection.read_exactly(1)) ::send(server, byte->data(), 1, MSG_NOSIGNAL);
      ::shutdown(server, SHUT_RDWR);
      answers.join();
    }
    ::close(server);
  };
}

TEST_F(RealCredentials, AProxyIsUsedIfTheConfigurationNamesOne) {
  const std::string url = environment().url();
  std::atomic<int> tunnels = 0;
  ek::tests::ScriptedServer proxy(
      tunnel_to(static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1))), tunnels));
  const Json kubeconfig = Json::parse(
      R"({"apiVersion": "v1", "kind": "Config", "current-context": "c",
          "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
          "users": [{"name": "u", "user": {"tokenFile": "token"}}],
          "clusters": [{"name": "c", "cluster": {"certificate-authority": "ca", "server": ")" +
      url + R"(", "proxy-url": ")" + proxy.url() + R"("}}]})");
  write("ca", environment().certificate_authority());
  write("token", admin_token());
  {
    const Client client(ek::load_config({.kubeconfig = write("config", kubeconfig.dump())}));
    EXPECT_EQ(name_of(client), name_of(Client(environment().config())));
  }
  EXPECT_GE(tunnels, 1);
}

}  // namespace
}  // namespace real_credentials
