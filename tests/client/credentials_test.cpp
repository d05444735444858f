// SPDX-License-Identifier: Apache-2.0
#include "client/config/credentials.hpp"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <future>
#include <netinet/in.h>
#include <optional>
#include <stop_token>
#include <sys/socket.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/client/client.hpp>

#include "../http/certificates.hpp"
#include "../support/error_text.hpp"
#include "base/files.hpp"
#include "client/config/exec_plugin.hpp"
#include "fake_transport.hpp"
#include "widget.hpp"

namespace evenkeel::detail {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using tests::error_of;

constexpr const char* encrypted_key = R"(-----BEGIN ENCRYPTED PRIVATE KEY-----
MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAh3WR0i+L4CqwICCAAw
DAYIKoZIhvcNAgkFADAdBglghkgBZQMEAQIEEPxYNX521j8KuFSw2CMYGqwEgZDH
qkfZlocpkR9vEcUI387ufNF1L7ZYgcVPr67LZAFiTR4k8r6mfdBcqWuo5RgV3WvU
FgbiChAlPkSyYkIZAuQ4rAvNbwkHY8aENPIC4ZKzeKa7M8wjtKtHWwQVtS2F+5/b
zDareMfDe1udpPKqUMLfsw97tyUxxZ2/KwV6XIvoLJYvw397xz9tx6AmKZrw10I=
-----END ENCRYPTED PRIVATE KEY-----
)";

// A line of a program that prints this.
constexpr const char* credential =
    R"(echo '{"kind":"ExecCredential","status":{"token":"t","expirationTimestamp":"2026-01-01T00:10:00Z"}}')"
    "\n";

class CredentialsTest : public ::testing::Test {
 protected:
  CredentialsTest() {
    std::string pattern = ::testing::TempDir() + "evenkeel-token-XXXXXX";
    directory = mkdtemp(pattern.data());
  }
  ~CredentialsTest() override {
    std::remove(file("token").c_str());
    std::remove(file("plugin").c_str());
    std::remove(directory.c_str());
  }
  std::string file(const std::string& name) const { return directory + "/" + name; }
  void write(const std::string& name, const std::string& text) const { std::ofstream(file(name)) << text; }
  void write_plugin(const std::string& text) const {
    write("plugin", "#!/bin/sh\n" + text);
    chmod(file("plugin").c_str(), 0700);
  }
  static std::string authorization(Credentials& credentials) {
    http::Headers headers;
    credentials.add_to(headers);
    const std::string* value = headers.find("Authorization");
    return value != nullptr ? *value : "";
  }

  std::string directory;
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
};

TEST_F(CredentialsTest, FixedOnes) {
  Credentials none({}, clock), token({.token = "t"}, clock),
      basic({.username = "me", .password = "secret"}, clock);
  EXPECT_EQ(authorization(none), "");
  EXPECT_EQ(authorization(token), "Bearer t");
  EXPECT_EQ(authorization(basic), "Basic bWU6c2VjcmV0");
  EXPECT_FALSE(token.refresh({{"Authorization", "Bearer t"}}));
}

TEST_F(CredentialsTest, ImpersonationGoesAlong) {
  Credentials credentials(
      {.token = "t",
       .impersonate = {.user = "boss", .uid = "7", .groups = {"a", "b"}, .extra = {{"why/so", {"x"}}}}},
      clock);
  http::Headers headers;
  credentials.add_to(headers);
  EXPECT_EQ(*headers.find("Impersonate-User"), "boss");
  EXPECT_EQ(*headers.find("Impersonate-Uid"), "7");
  EXPECT_EQ(*headers.find("Impersonate-Group"), "a");
  EXPECT_EQ(*headers.find("Impersonate-Extra-why%2Fso"), "x");
  EXPECT_EQ(headers.size(), 6U);
}

TEST_F(CredentialsTest, ATokenFileIsReadAgainEveryMinute) {
  write("token", "one\n");
  Credentials credentials({.token_file = file("token")}, clock);
  EXPECT_EQ(authorization(credentials), "Bearer one");
  write("token", "two");
  clock->advance(59s);
  EXPECT_EQ(authorization(credentials), "Bearer one");
  clock->advance(1s);
  EXPECT_EQ(authorization(credentials), "Bearer two");
  std::remove(file("token").c_str());
  clock->advance(2min);
  EXPECT_EQ(authorization(credentials), "Bearer two") << "the last good one serves";
  write("token", "");
  clock->advance(2min);
  EXPECT_EQ(authorization(credentials), "Bearer two");
}

TEST_F(CredentialsTest, AMissingTokenFileIsAnErrorAtFirst) {
  Credentials credentials({.token_file = file("token")}, clock);
  try {
    authorization(credentials);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.what(), file("token") + ": the token file cannot be read: No such file or directory");
  }
}

TEST_F(CredentialsTest, ATokenThatWouldBeAnotherHeaderIsRefused) {
  write("token", "one\r\nImpersonate-User: root\n");
  Credentials credentials({.token_file = file("token")}, clock);
  const auto problem = [&]() -> std::string {
    try {
      return authorization(credentials);
    } catch (const ConfigError& error) {
      return error.what();
    }
  };
  EXPECT_EQ(problem(), file("token") + ": the token holds control byte 0x0d at position 3");
  write("token", " two\r\n");
  EXPECT_EQ(problem(), "Bearer two");
  write("token", "three\nfour");
  clock->advance(2min);
  EXPECT_EQ(problem(), "Bearer two") << "the last good one serves";
  write_plugin("printf %s '{\"kind\":\"ExecCredential\",\"status\":{\"token\":\"a\\r\\nb\"}}'\n");
  Credentials program({.exec = {.command = file("plugin")}}, clock);
  try {
    authorization(program);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.what(),
              "credential program " + file("plugin") + ": the token holds control byte 0x0d at position 1");
  }
}

TEST_F(CredentialsTest, RefreshReturnsTrueIfTheTokenChanged) {
  write("token", "one");
  Credentials credentials({.token_file = file("token")}, clock);
  const http::Headers one{{"Authorization", "Bearer one"}};
  authorization(credentials);
  EXPECT_FALSE(credentials.refresh(one));
  write("token", "two");
  EXPECT_TRUE(credentials.refresh(one));
  EXPECT_TRUE(credentials.refresh(one)) << "another thread was faster";
  EXPECT_EQ(authorization(credentials), "Bearer two");
  write("token", "three");
  credentials.expire(one);
  EXPECT_EQ(authorization(credentials), "Bearer two") << "the refused token is not in use any more";
  credentials.expire({{"Authorization", "Bearer two"}});
  EXPECT_EQ(authorization(credentials), "Bearer three");
}

TEST_F(CredentialsTest, TheClientComesBackOnceWithAFreshToken) {
  write("token", "one");
  const auto transport = std::make_shared<tests::FakeTransport>();
  const Client client(Config{.server = "https://h", .token_file = file("token")},
                      ClientOptions{.transport = transport, .clock = clock});
  transport->on_request = [&](const http::Request&) { write("token", "two"); };
  transport->reply(401, "");
  transport->reply(404, R"({"kind":"Status","details":{"name":"a"}})");
  EXPECT_FALSE(client.find<tests::Widget>({"default", "a"}));
  EXPECT_EQ(*transport->requests()[0].headers.find("Authorization"), "Bearer one");
  EXPECT_EQ(*transport->requests()[1].headers.find("Authorization"), "Bearer two");
  transport->reply(401, "");
  EXPECT_THROW(client.find<tests::Widget>({"default", "a"}), ApiError) << "the same token again is not tried";
  EXPECT_EQ(transport->requests().size(), 3U);
}

TEST_F(CredentialsTest, AProgramGivesATokenUntilItExpires) {
  // The manual clock starts at 2026-01-01T00:00:00Z.
  write_plugin(
      "echo x >> \"$COUNT\"\n"
      "echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\",\"status\":"
      "{\"token\":\"'$1-$NAME'\",\"expirationTimestamp\":\"2026-01-01T00:10:00Z\"}}'\n");
  Credentials credentials({.exec = {.command = file("plugin"),
                                    .args = {"arg"},
                                    .env = {{"NAME", "env"}, {"COUNT", file("token")}}}},
                          clock);
  const auto runs = [&] {
    std::string problem;
    return read_file(file("token"), problem).value_or("").size() / 2;
  };
  EXPECT_EQ(authorization(credentials), "Bearer arg-env");
  EXPECT_EQ(authorization(credentials), "Bearer arg-env");
  EXPECT_EQ(runs(), 1U);
  clock->advance(8min);
  authorization(credentials);
  EXPECT_EQ(runs(), 1U);
  clock->advance(2min);
  authorization(credentials);
  EXPECT_EQ(runs(), 2U);
}

// In the last minute it is replaced beside the calls, and used if that fails.
TEST_F(CredentialsTest, ATokenIsUsedWhileItIsValidAlthoughTheProgramFails) {
  write_plugin(std::string("[ -e ") + file("token") + " ] && exit 1\n" + credential);
  Credentials credentials({.exec = {.command = file("plugin")}}, clock);
  EXPECT_EQ(authorization(credentials), "Bearer t");
  write("token", "broken");
  for (const Duration step : {Duration(9min), Duration(5s), Duration(44s)}) {
    clock->advance(step);
    EXPECT_EQ(authorization(credentials), "Bearer t");
  }
  clock->advance(1s);
  EXPECT_EQ(error_of([&] { authorization(credentials); }),
            "credential program " + file("plugin") + ": ended with exit code 1");
}

TEST_F(CredentialsTest, AnExpiryInCenturiesIsFarAwayAndOneInThePastIsSoon) {
  for (const bool far : {true, false}) {
    std::remove(file("token").c_str());
    write_plugin(
        "echo x >> \"$COUNT\"\nprintf %s '{\"kind\":\"ExecCredential\",\"status\":{\"token\":\"t\","
        "\"expirationTimestamp\":\"" +
        std::string(far ? "2400" : "0001") + "-01-01T00:00:00Z\"}}'\n");
    Credentials credentials({.exec = {.command = file("plugin"), .env = {{"COUNT", file("token")}}}}, clock);
    authorization(credentials);
    clock->advance(1h);
    authorization(credentials);
    std::string problem;
    EXPECT_EQ(read_file(file("token"), problem).value_or("").size() / 2, far ? 1U : 2U);
  }
}

TEST_F(CredentialsTest, AProgramGetsTheClusterInItsEnvironment) {
  write_plugin(
      "printf "
      "'{\"apiVersion\":\"client.authentication.k8s.io/"
      "v1\",\"kind\":\"ExecCredential\",\"status\":{\"token\":\"%s\"}}' "
      "\"$(printf %s \"$KUBERNETES_EXEC_INFO\" | tr -d '\"')\"\n");
  const ExecCredential credential =
      run_exec_plugin({.api_version = "client.authentication.k8s.io/v1",
                       .command = file("plugin"),
                       .provide_cluster_info = true,
                       .cluster_config = R"({"audience":"a","n":[1,true]})"},
                      {.server = "https://h:1", .proxy = "http://p:1", .tls = {.ca_data = "CA"}});
  EXPECT_EQ(
      credential.token,
      "{apiVersion:client.authentication.k8s.io/"
      "v1,kind:ExecCredential,spec:{cluster:{certificate-authority-data:"
      "Q0E=,config:{audience:a,n:[1,true]},proxy-url:http://p:1,server:https://h:1},interactive:false}}");
  EXPECT_FALSE(credential.expires);
}

TEST_F(CredentialsTest, AProgramThatFailsIsNamedAndItsOutputIsNotShown) {
  const auto problem = [&](const std::string& script, const std::string& hint = "") -> std::string {
    write_plugin(script);
    try {
      run_exec_plugin({.command = file("plugin"), .install_hint = hint}, {.server = "https://h"});
    } catch (const ConfigError& error) {
      std::string what = error.what();
      return what.replace(what.find(directory), directory.size(), "DIR");
    }
    return "no problem";
  };
  EXPECT_EQ(problem("echo secret; exit 3\n"), "credential program DIR/plugin: ended with exit code 3");
  EXPECT_EQ(problem("echo secret\n"), "credential program DIR/plugin: printed no JSON");
  EXPECT_EQ(problem("echo '{}'\n"), "credential program DIR/plugin: printed no ExecCredential");
  EXPECT_EQ(problem("echo '{\"kind\":\"ExecCredential\"}'\n", "get it"),
            "credential program DIR/plugin: gives neither a token nor a client certificate; get it");
  EXPECT_EQ(
      problem(
          "echo "
          "'{\"kind\":\"ExecCredential\",\"status\":{\"token\":\"t\",\"expirationTimestamp\":\"soon\"}}'\n"),
      "credential program DIR/plugin: returned an expirationTimestamp that is not a time");
  EXPECT_EQ(problem("kill -9 $$\n"), "credential program DIR/plugin: was ended by a signal");
  try {
    run_exec_plugin({.command = "/no/such/program", .install_hint = "apt install it"}, {});
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_STREQ(
        error.what(),
        "credential program /no/such/program: cannot be started: No such file or directory; apt install it");
  }
}

TEST(ExecCredential, HasTheFormOfItsType) {
  const auto problem = [](std::string_view output) -> std::string {
    try {
      read_exec_credential({.command = "aws"}, output);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "no problem";
  };
  for (const char* other : {"[]", "null", "5", "\"ExecCredential\"", "{}", R"({"kind":["ExecCredential"]})"})
    EXPECT_EQ(problem(other), "credential program aws: printed no ExecCredential") << other;
  for (const char* status : {"[]", "5", "{}", R"({"token":5})", R"({"token":null})"})
    EXPECT_EQ(problem(R"({"kind":"ExecCredential","status":)" + std::string(status) + "}"),
              "credential program aws: gives neither a token nor a client certificate")
        << status;
}

TEST(ExecCredential, HasACertificateWithItsKey) {
  const tests::Authority authority("ca");
  const tests::Pem jane = authority.issue_client("jane"), other = authority.issue_client("other");
  const auto read = [](const Json& status) {
    return read_exec_credential({.command = "aws"},
                                Json::object({{"kind", "ExecCredential"}, {"status", status}}).dump());
  };
  const auto pair = [](const std::string& cert, const std::string& key) {
    Json status = Json::object();
    if (!cert.empty()) status["clientCertificateData"] = cert;
    if (!key.empty()) status["clientKeyData"] = key;
    return status;
  };
  const auto problem = [&](const Json& status) { return error_of([&] { read(status); }); };
  const ExecCredential credential = read(pair(jane.cert + authority.pem(), jane.key));
  EXPECT_EQ(credential.token, "");
  EXPECT_EQ(*credential.certificate,
            (http::CertificatePair{.cert = jane.cert + authority.pem(), .key = jane.key}));
  Json both = pair(jane.cert, jane.key);
  both["token"] = "t";
  EXPECT_EQ(read(both).token, "t");
  EXPECT_TRUE(read(both).certificate);

  const std::string program = "credential program aws: ";
  EXPECT_EQ(problem(pair(jane.cert, "")),
            program + "status.clientKeyData: missing, although there is a clientCertificateData");
  EXPECT_EQ(problem(pair("", jane.key)),
            program + "status.clientCertificateData: missing, although there is a clientKeyData");
  const std::string no_cert = program + "status.clientCertificateData: not a certificate as PEM";
  EXPECT_EQ(problem(pair("secret", jane.key)), no_cert);
  EXPECT_EQ(problem(pair(jane.key, jane.key)), no_cert);
  EXPECT_EQ(problem(pair(jane.cert.substr(0, jane.cert.size() / 2), jane.key)), no_cert);
  const std::string no_key = program + "status.clientKeyData: not an unencrypted private key as PEM";
  EXPECT_EQ(problem(pair(jane.cert, "secret")), no_key);
  EXPECT_EQ(problem(pair(jane.cert, jane.cert)), no_key);
  EXPECT_EQ(problem(pair(jane.cert, encrypted_key)), no_key) << "nobody is asked for its passphrase";
  EXPECT_EQ(problem(pair(jane.cert, other.key)),
            program + "status.clientKeyData: not the key of status.clientCertificateData");
}

TEST(ExecCredential, HasTheConfiguredVersion) {
  const std::string v1 = "client.authentication.k8s.io/v1";
  const auto problem = [&](const std::string& version) {
    return error_of([&] {
      read_exec_credential({.api_version = v1, .command = "aws"},
                           R"({"kind":"ExecCredential",)" + version + R"("status":{"token":"t"}})");
    });
  };
  EXPECT_EQ(problem(R"("apiVersion":"client.authentication.k8s.io/v1",)"), "no error");
  for (const char* other : {"", R"("apiVersion":"client.authentication.k8s.io/v1beta1",)"})
    EXPECT_EQ(problem(other), "credential program aws: apiVersion: expected " + v1 + ", as configured");
}

TEST(ExecCredential, IsRefusedIfItsExpiryIsNotATime) {
  const auto read = [](const std::string& expiry) {
    return read_exec_credential(
        {.command = "aws"},
        R"({"kind":"ExecCredential","status":{"token":"t","expirationTimestamp":)" + expiry + "}}");
  };
  EXPECT_FALSE(read("null").expires);
  EXPECT_TRUE(read("\"2026-01-01T00:10:00Z\"").expires);
  for (const char* expiry : {"1767226200", "\"\"", "\"2026-01-01\"", "true", "{}"}) {
    try {
      read(expiry);
      ADD_FAILURE() << expiry;
    } catch (const ConfigError& error) {
      EXPECT_STREQ(error.what(),
                   "credential program aws: returned an expirationTimestamp that is not a time");
    }
  }
}

// ---- Standard input ----

/// Puts a pseudo terminal, or a pipe, in the place of standard input.
class StandardInput : public CredentialsTest {
 protected:
  StandardInput() : saved_(dup(STDIN_FILENO)), terminal_(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    write_plugin(
        "read -r line\nprintf '{\"kind\":\"ExecCredential\",\"status\":{\"token\":\"%s-%s\"}}' \"$line\" "
        "\"$(cut -d' ' -f5 /proc/$$/stat)\"\n");
  }
  void SetUp() override {
    if (terminal_ < 0 || grantpt(terminal_) != 0 || unlockpt(terminal_) != 0 ||
        ::access(ptsname(terminal_), R_OK | W_OK) != 0)
      GTEST_SKIP() << "no pseudo terminals: /dev/pts is not mounted";
  }
  ~StandardInput() override {
    dup2(saved_, STDIN_FILENO);
    close(saved_);
    close(terminal_);
  }
  void put_terminal() const {
    put(open(ptsname(terminal_), O_RDWR | O_NOCTTY | O_CLOEXEC));
    ASSERT_EQ(::write(terminal_, "typed\n", 6), 6);
  }
  static void put(int end) {
    ASSERT_GE(end, 0);
    dup2(end, STDIN_FILENO);
    close(end);
  }
  static void put_file() { put(open("/dev/null", O_RDONLY | O_CLOEXEC)); }
  std::string run(ExecInteractiveMode mode, bool unavailable = false) const {
    try {
      return run_exec_plugin(
                 {.command = file("plugin"), .interactive_mode = mode, .stdin_unavailable = unavailable}, {})
          .token;
    } catch (const ConfigError& error) {
      return std::string(error.what()).substr(("credential program " + file("plugin") + ": ").size());
    }
  }

 private:
  const int saved_;
  const int terminal_;
};

// Source: client-go plugin/pkg/client/auth/exec/exec.go, isInteractive and TestIsInteractive.
TEST_F(StandardInput, IsGivenToAProgramThatMayAsk) {
  const std::string group = "-" + std::to_string(getpgrp());
  put_terminal();
  EXPECT_EQ(run(ExecInteractiveMode::if_available), "typed" + group) << "in the terminal's foreground group";
  put_terminal();
  EXPECT_EQ(run(ExecInteractiveMode::always), "typed" + group);
  EXPECT_EQ(run(ExecInteractiveMode::always, true),
            "cannot support interactive mode: standard input is unavailable");
  for (const bool unavailable : {false, true}) {
    const std::string token =
        run(unavailable ? ExecInteractiveMode::if_available : ExecInteractiveMode::never, unavailable);
    EXPECT_TRUE(token.starts_with("-")) << token;
    EXPECT_NE(token, group);
  }
}

TEST_F(StandardInput, MustBeATerminal) {
  put_file();
  for (const bool unavailable : {false, true}) {
    EXPECT_EQ(run(ExecInteractiveMode::always, unavailable),
              "cannot support interactive mode: standard input is not a terminal");
  }
  EXPECT_TRUE(run(ExecInteractiveMode::if_available).starts_with("-"));
}

TEST_F(StandardInput, IsAnnouncedToTheProgram) {
  write_plugin(
      "printf '{\"kind\":\"ExecCredential\",\"status\":{\"token\":\"%s\"}}' "
      "\"$(printf %s \"$KUBERNETES_EXEC_INFO\" | tr -d '\"')\"\n");
  put_terminal();
  EXPECT_THAT(run(ExecInteractiveMode::always), HasSubstr("interactive:true"));
  EXPECT_THAT(run(ExecInteractiveMode::never), HasSubstr("interactive:false"));
}

TEST_F(CredentialsTest, OtherCredentialsTakePrecedenceOverAProgram) {
  write("token", "file");
  const ExecPlugin missing{.command = "/no/such/program"};
  Credentials token({.token = "t", .exec = missing}, clock),
      token_file({.token_file = file("token"), .exec = missing}, clock),
      basic({.username = "me", .password = "secret", .exec = missing}, clock),
      cert({.tls = {.cert_data = "C", .key_data = "K"}, .exec = missing}, clock);
  EXPECT_EQ(authorization(token), "Bearer t");
  EXPECT_EQ(authorization(token_file), "Bearer file");
  EXPECT_EQ(authorization(basic), "Basic bWU6c2VjcmV0");
  EXPECT_EQ(authorization(cert), "");
}

// ---- Programs that hang, and background processes that they start ----

/// A program that signals its start through a pipe, and hangs; so does a child of it. The pipe ends when both
/// have ended.
class HangingProgram : public CredentialsTest {
 protected:
  HangingProgram() {
    mkfifo(file("token").c_str(), 0600);
    write_plugin("exec 9>" + file("token") + "\n(echo x >&9; exec sleep 300) &\nexec sleep 300\n");
  }
  /// Blocks until it runs.
  void wait_until_it_hangs() {
    pipe_.open(file("token"));
    std::string line;
    std::getline(pipe_, line);
    EXPECT_EQ(line, "x");
  }
  /// Blocks until the program and its child have ended.
  void wait_until_it_is_gone() {
    std::string rest;
    EXPECT_FALSE(std::getline(pipe_, rest));
  }
  ExecPlugin plugin() const { return {.command = file("plugin")}; }

  std::ifstream pipe_;
};

TEST_F(HangingProgram, IsKilledWithItsChildrenWhenItIsCancelled) {
  std::stop_source stop;
  std::string error;
  std::thread runner([&] {
    error = error_of([&] { run_exec_plugin(plugin(), {.server = "https://h"}, {.stop = stop.get_token()}); });
  });
  wait_until_it_hangs();
  stop.request_stop();
  runner.join();
  wait_until_it_is_gone();
  EXPECT_EQ(error, "credential program " + file("plugin") + ": cancelled");
  EXPECT_THROW(run_exec_plugin(plugin(), {.server = "https://h"}, {.stop = stop.get_token()}), Cancelled);
}

TEST_F(HangingProgram, IsKilledWhenItTakesTooLong) {
  write_plugin("exec sleep 300\n");
  EXPECT_EQ(error_of([&] { run_exec_plugin(plugin(), {.server = "https://h"}, {.limit = 1ms}); }),
            "credential program " + file("plugin") + ": did not finish within 1ms and was killed");
  write_plugin("exec >&-\nexec sleep 300\n");
  EXPECT_EQ(error_of([&] { run_exec_plugin(plugin(), {.server = "https://h"}, {.limit = 1ms}); }),
            "credential program " + file("plugin") + ": did not finish within 1ms and was killed")
      << "a closed output is no end";
}

TEST_F(HangingProgram, IsKilledWhenItPrintsTooMuch) {
  write_plugin("exec yes\n");
  EXPECT_EQ(error_of([&] { run_exec_plugin(plugin(), {.server = "https://h"}); }),
            "credential program " + file("plugin") + ": printed more than 1048576 bytes and was killed");
}

TEST_F(HangingProgram, IsWaitedForOnlyWhenTheOldCredentialHasExpired) {
  write_plugin("[ -e " + file("hang") + " ] && exec 9>" + file("token") +
               " && echo x >&9 && exec sleep 300\n" + credential);
  Credentials credentials({.exec = plugin()}, clock);
  EXPECT_EQ(authorization(credentials), "Bearer t");
  std::ofstream(file("hang")) << "x";
  clock->advance(9min);
  EXPECT_EQ(authorization(credentials), "Bearer t");
  wait_until_it_hangs();
  clock->advance(49s);
  EXPECT_EQ(authorization(credentials), "Bearer t");
  clock->advance(1s);
  http::Headers headers;
  EXPECT_FALSE(credentials.try_add_to(headers));
  EXPECT_EQ(error_of([&] { credentials.add_to(headers, {.deadline = clock->now()}); }),
            "deadline exceeded while waiting for a token");
  std::remove(file("hang").c_str());
}

// A background process that stays, like ssh's agent, blocks neither a port nor the caller.
TEST_F(CredentialsTest, AProgramInheritsNothingAndMayLeaveAnAgentBehind) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);  // opened by unrelated code
  sockaddr_in address{
      .sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  socklen_t size = sizeof(address);
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  ASSERT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  write_plugin("sleep 300 &\necho $! > " + file("token") + "\n[ -e /proc/$$/fd/" + std::to_string(listener) +
               " ] && exit 7\n" + credential);
  EXPECT_EQ(run_exec_plugin({.command = file("plugin")}, {.server = "https://h"}).token, "t");
  close(listener);
  const int again = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_EQ(bind(again, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0)
      << "the agent holds the port";
  close(again);
  pid_t agent = 0;
  std::ifstream(file("token")) >> agent;
  ASSERT_GT(agent, 1);
  EXPECT_EQ(kill(agent, SIGKILL), 0) << "it is left alone";
}

using HangingProgramConcurrency = HangingProgram;

TEST_F(HangingProgramConcurrency, EachWaitingCallerCanBeStoppedAlone) {
  std::optional<Credentials> credentials(std::in_place, Config{.exec = plugin()}, clock);
  std::stop_source first, second;
  const auto add_on_thread = [&](std::stop_source& stop, std::string& error) {
    return std::thread([&] {
      http::Headers headers;
      error = error_of([&] { credentials->add_to(headers, {.stop = stop.get_token()}); });
    });
  };
  std::string first_error, second_error;
  std::thread starter = add_on_thread(first, first_error);
  wait_until_it_hangs();
  std::thread waiter = add_on_thread(second, second_error);
  second.request_stop();
  waiter.join();
  EXPECT_EQ(second_error, "cancelled before a token was there");
  http::Headers headers;
  EXPECT_FALSE(credentials->try_add_to(headers));
  EXPECT_EQ(error_of([&] { credentials->add_to(headers, {.deadline = clock->now()}); }),
            "deadline exceeded while waiting for a token");
  first.request_stop();
  starter.join();
  EXPECT_EQ(first_error, "cancelled before a token was there");
  credentials.reset();
  wait_until_it_is_gone();
}

TEST_F(HangingProgramConcurrency, OutlivesTheCallerThatStartedIt) {
  write_plugin("echo x >> " + file("runs") + "\nread line < " + file("token") + "\n" + credential);
  Credentials credentials({.exec = plugin()}, clock);
  std::stop_source stop;
  std::string error;
  std::thread starter([&] {
    http::Headers headers;
    error = error_of([&] { credentials.add_to(headers, {.stop = stop.get_token()}); });
  });
  std::ofstream pipe(file("token"));  // blocks until the program reads
  stop.request_stop();
  starter.join();
  EXPECT_EQ(error, "cancelled before a token was there");
  pipe << "go on\n" << std::flush;
  EXPECT_EQ(authorization(credentials), "Bearer t");
  std::string problem;
  EXPECT_EQ(read_file(file("runs"), problem), "x\n");
  std::remove(file("runs").c_str());
}

TEST_F(HangingProgramConcurrency, AnAsynchronousCallDoesNotWaitForItOnItsCallersThread) {
  const auto transport = std::make_shared<tests::FakeTransport>();
  std::optional<Client> client(std::in_place, Config{.server = "https://h", .exec = plugin()},
                               ClientOptions{.transport = transport, .clock = clock});
  std::promise<std::string> ended;
  auto call = client->start(
      calls::raw({.resource = tests::Widget::resource, .namespace_ = "default"}),
      [&](Outcome<http::Response> outcome) { ended.set_value(error_of([&] { outcome.value(); })); });
  wait_until_it_hangs();  // the test thread is not blocked
  call->cancel();
  EXPECT_THAT(ended.get_future().get(), HasSubstr("cancelled"));
  call = nullptr;
  client.reset();
  wait_until_it_is_gone();
  EXPECT_TRUE(transport->requests().empty());
}

// A broken program is not run again for each waiting call.
TEST_F(CredentialsTest, AFailureIsSharedForASecond) {
  write_plugin("echo x >> " + file("token") + "\nexit 1\n");
  Credentials credentials({.exec = {.command = file("plugin")}}, clock);
  const auto runs = [&] {
    std::string problem;
    return read_file(file("token"), problem).value_or("").size() / 2;
  };
  const std::string error = "credential program " + file("plugin") + ": ended with exit code 1";
  EXPECT_EQ(error_of([&] { authorization(credentials); }), error);
  EXPECT_EQ(error_of([&] { authorization(credentials); }), error);
  EXPECT_EQ(runs(), 1U);
  clock->advance(1s);
  EXPECT_EQ(error_of([&] { authorization(credentials); }), error);
  EXPECT_EQ(runs(), 2U);
}

}  // namespace
}  // namespace evenkeel::detail
