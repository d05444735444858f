// SPDX-License-Identifier: Apache-2.0
#include "programs/evenkeel/explain.hpp"

#include <cstdio>
#include <fstream>
#include <unistd.h>

#include <gtest/gtest.h>

#include <evenkeel/base/error.hpp>

#include "../../http/certificates.hpp"
#include "../../http/scripted_server.hpp"

namespace evenkeel::program {
namespace {

using tests::Authority;
using tests::Connection;
using tests::Pem;
using tests::ScriptedServer;

/// A temporary file.
class File {
 public:
  File(const std::string& name, const std::string& text)
      : path_(::testing::TempDir() + "evenkeel-explain-" + std::to_string(::getpid()) + "-" + name) {
    std::ofstream(path_) << text;
  }
  ~File() { std::remove(path_.c_str()); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string refusal_of(const ExplainFlags& flags) {
  try {
    explain(flags);
  } catch (const Error& error) {
    return error.what();
  }
  return "asked";
}

TEST(ExplainProgram, SendsNoTokenOverPlainHttpToAnotherMachine) {
  const File token("token", "secret\n");
  EXPECT_EQ(
      refusal_of({.url = "http://192.0.2.1:8080", .token_file = token.path()}),
      "--token-file: http://192.0.2.1:8080 is neither https nor a loopback address, and the token would "
      "be sent in the clear; use https (--ca-file names its authority), or pass --credentials-in-clear");
}

TEST(ExplainProgram, ATokenMustFitIntoAHeader) {
  const File token("token", "one\r\ntwo\n");
  EXPECT_EQ(refusal_of({.url = "https://192.0.2.1:8080", .token_file = token.path()}),
            token.path() + ": the token holds control byte 0x0d at position 3");
}

TEST(ExplainProgramConcurrency, KeepsNoEndlessAnswer) {
  const ScriptedServer server([&](Connection& connection) {
    if (connection.read_request()) connection.respond(200, std::string(17u << 20, 'x'));
  });
  try {
    explain({.url = server.url()});
    FAIL() << "it was printed";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("the answer exceeds 16777216 bytes"), std::string::npos)
        << error.what();
  }
}

// The server may be another version of the operator, or another program behind the port.
TEST(ExplainProgramConcurrency, ShowsWhatATerminalWouldObey) {
  const auto output_of = [](int status, std::string body) {
    const ScriptedServer server([&](Connection& connection) {
      while (connection.read_request()) connection.respond(status, body);
    });
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    explain({.url = server.url()});
    return ::testing::internal::GetCapturedStdout() + ::testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(output_of(200, "one\x1b]0;x\x07\r\n\u202etwo\u009b\n"),
            "one\\x1b]0;x\\x07\\r\n\\u202etwo\\u009b\n");
  const std::string long_text = std::string(10'000, 'x') + "\n";
  EXPECT_EQ(output_of(200, long_text), long_text);
  const std::string refusal = output_of(500, "\x1b[2Jone\ntwo" + long_text);
  EXPECT_NE(refusal.find(" answered 500: \\x1b[2Jone\\ntwoxxx"), std::string::npos) << refusal;
  EXPECT_LT(refusal.size(), 4'300U);
}

TEST(ExplainProgramConcurrency, SpeaksTlsWithTheAuthorityOfAFile) {
  const Authority authority("test-ca");
  const Pem pem = authority.issue_server("IP:127.0.0.1");
  std::string authorization;
  int code = -1;
  {
    const ScriptedServer server(
        [&](Connection& connection) {
          while (const auto request = connection.read_request()) {
            if (const std::string* value = request->headers.find("Authorization")) authorization = *value;
            connection.respond(200, "fine\n");
          }
        },
        {.cert = pem.cert, .key = pem.key});
    const File token("token", "secret\n");
    const File ca("ca", authority.pem());
    const ExplainFlags flags{.url = server.url(), .token_file = token.path(), .ca_file = ca.path()};
    code = explain(flags);
  }
  EXPECT_EQ(code, 0);
  EXPECT_EQ(authorization, "Bearer secret");
}

}  // namespace
}  // namespace evenkeel::program
