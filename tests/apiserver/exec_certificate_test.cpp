// SPDX-License-Identifier: Apache-2.0
// Credential programs that return client certificates, through the client to the embedded API server over
// TLS.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/json.hpp>
#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/apiserver/shared_core.hpp>
#include <evenkeel/client/client.hpp>

#include "apiserver/shell/http_server.hpp"
#include "apiserver/shell/tls_certificates.hpp"

namespace evenkeel::apiserver {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A server that accepts certificates of its authority only, and a program that prints what is in a file.
class ExecCertificate : public ::testing::Test {
 protected:
  ExecCertificate() {
    std::string pattern = ::testing::TempDir() + "evenkeel-exec-XXXXXX";
    directory_ = mkdtemp(pattern.data());
    std::ofstream(file("plugin")) << "#!/bin/sh\necho x >> " + file("runs") + "\ncat " + file("out") + "\n";
    chmod(file("plugin").c_str(), 0700);
  }
  ~ExecCertificate() override {
    for (const char* name : {"plugin", "runs", "out"}) std::remove(file(name).c_str());
    std::remove(directory_.c_str());
  }
  std::string file(const std::string& name) const { return directory_ + "/" + name; }

  Json status_of(const std::string& user) const {
    const CertifiedKey pair = make_client_certificate(authority_, {.user = user, .groups = {}});
    return Json::object({{"clientCertificateData", pair.certificate}, {"clientKeyData", pair.key}});
  }
  void print(Json status) const {
    std::ofstream(file("out"))
        << Json::object({{"kind", "ExecCredential"}, {"status", std::move(status)}}).dump();
  }
  std::size_t runs() const {
    std::ifstream lines(file("runs"));
    std::size_t count = 0;
    for (std::string line; std::getline(lines, line);) ++count;
    return count;
  }
  Client client() {
    return Client(Config{.server = "https://127.0.0.1:" + std::to_string(server_.port()),
                         .tls = {.ca_data = authority_.certificate},
                         .proxy = "",
                         .exec = {.command = file("plugin")}},
                  // The transport compares the manual clock's deadline with the real one.
                  ClientOptions{.clock = clock_, .timeout = 24h * 36500});
  }
  static void get(const Client& client) { client.find<ConfigMap>({"default", "a"}); }
  std::vector<std::string> users() {
    std::lock_guard lock(mutex_);
    return users_;
  }

  const CertifiedKey authority_ = make_authority();
  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
  std::mutex mutex_;
  std::vector<std::string> users_;
  SharedCore core_{{.tokens = {{.token = "t", .caller = {.user = "token-user", .groups = {}}}},
                    .on_request = [this](const ServedRequest& request) {
                      std::lock_guard lock(mutex_);
                      users_.push_back(request.user);
                    }}};
  detail::HttpServer server_{
      core_.host(),
      {.tls = true,
       .certificate = make_server_certificate(authority_, {"localhost", "127.0.0.1", "::1"}),
       .client_authority = authority_.certificate}};
  std::string directory_;
};

TEST_F(ExecCertificate, IdentifiesTheCaller) {
  print(status_of("jane"));
  const Client jane = client();
  get(jane);
  get(jane);
  EXPECT_THAT(users(), ElementsAre("jane", "jane"));
  EXPECT_EQ(runs(), 1U);
  EXPECT_EQ(server_.connections(), 1U);
}

// The server asks the certificate first.
TEST_F(ExecCertificate, GoesAlongWithATokenOrGivesWayToIt) {
  Json status = status_of("jane");
  status["token"] = "t";
  status["expirationTimestamp"] = "2026-01-01T00:10:00Z";
  print(status);
  const Client me = client();
  get(me);
  print(Json::object({{"token", "t"}}));
  clock_->advance(10min);
  get(me);
  EXPECT_THAT(users(), ElementsAre("jane", "token-user"));
}

TEST_F(ExecCertificate, IsReplacedWhenItExpires) {
  Json jane = status_of("jane");
  jane["expirationTimestamp"] = "2026-01-01T00:10:00Z";  // the manual clock starts at midnight
  print(jane);
  const Client me = client();
  get(me);
  print(status_of("bob"));
  clock_->advance(8min);
  get(me);
  clock_->advance(2min);
  get(me);
  EXPECT_THAT(users(), ElementsAre("jane", "jane", "bob"));
  EXPECT_EQ(runs(), 2U);
}

// A connection keeps the identity of its handshake, so that of the old certificate must not serve any more.
TEST_F(ExecCertificate, IsReplacedWhenTheServerRejectsIt) {
  print(status_of("jane"));
  const Client me = client();
  get(me);
  clock_->advance(5s);
  print(status_of("bob"));
  core_.inject({.user = "jane", .status = 401});
  get(me);
  EXPECT_EQ(users().back(), "bob");
  EXPECT_EQ(runs(), 2U);
}

TEST_F(ExecCertificate, IsReplacedForAsynchronousCallsToo) {
  print(status_of("jane"));
  const Client me = client();
  const auto get_asynchronously = [&] {
    std::promise<std::string> answered;
    me.start(calls::find<ConfigMap>({"default", "a"}), [&](Outcome<Snapshot<ConfigMap>> outcome) {
      answered.set_value(outcome.ok() ? "absent" : "error");
    });
    return answered.get_future().get();
  };
  EXPECT_EQ(get_asynchronously(), "absent");
  clock_->advance(5s);
  print(status_of("bob"));
  core_.inject({.user = "jane", .status = 401});
  EXPECT_EQ(get_asynchronously(), "absent");
  EXPECT_EQ(users().back(), "bob");
  EXPECT_EQ(runs(), 2U);
}

TEST_F(ExecCertificate, IsNotFetchedTwiceForOneRejectedCall) {
  print(status_of("jane"));
  const Client me = client();
  get(me);
  clock_->advance(5s);
  core_.inject({.user = "jane", .status = 401});
  EXPECT_THROW(get(me), ApiError) << "the same certificate again";
  EXPECT_EQ(runs(), 2U);
}

/// Reports the begin and the end of a stream.
class StreamEnd final : public http::StreamHandler {
 public:
  void on_response(int, const http::Headers&) override { started.set_value(); }
  void on_data(std::string_view) override {}
  void on_end(std::exception_ptr error) override {
    try {
      if (error) std::rethrow_exception(error);
      ended.set_value("complete");
    } catch (const std::exception& problem) {
      ended.set_value(problem.what());
    }
  }
  std::promise<void> started;
  std::promise<std::string> ended;
};

// Source: client-go util/connrotation, Dialer.CloseAll when a certificate was rotated.
TEST_F(ExecCertificate, ARotationEndsTheStreamsOfTheOldOne) {
  Json jane = status_of("jane");
  jane["expirationTimestamp"] = "2026-01-01T00:10:00Z";
  print(jane);
  const Client me = client();
  const auto watch = [&](const std::shared_ptr<StreamEnd>& handler) {
    me.stream(RestRequest{.resource = ConfigMap::resource, .query = {{"watch", "true"}}}, handler);
    handler->started.get_future().wait();
  };
  const auto old = std::make_shared<StreamEnd>(), young = std::make_shared<StreamEnd>();
  watch(old);
  get(me);
  print(status_of("bob"));
  clock_->advance(10min);
  get(me);
  EXPECT_THAT(old->ended.get_future().get(), HasSubstr("the client certificate was replaced"));
  watch(young);
  get(me);
  EXPECT_THAT(users(), ElementsAre("jane", "jane", "bob", "bob", "bob"));
  EXPECT_EQ(young->ended.get_future().wait_for(0s), std::future_status::timeout);
}

TEST_F(ExecCertificate, IsRefusedWithItsReason) {
  Json status = status_of("jane");
  status.erase("clientKeyData");
  print(status);
  try {
    get(client());
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_EQ(std::string(error.what()),
              "credential program " + file("plugin") +
                  ": status.clientKeyData: missing, although there is a clientCertificateData");
  }
  EXPECT_TRUE(users().empty());
}

}  // namespace
}  // namespace evenkeel::apiserver
