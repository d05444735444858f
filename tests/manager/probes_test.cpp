// SPDX-License-Identifier: Apache-2.0
// The responses of probes, in the format of controller-runtime and the API server.
#include "manager/probes.hpp"

#include <memory>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/testing/log_recorder.hpp>

namespace evenkeel {
namespace {

using detail::Probe;
using ::testing::ElementsAre;

class ProbeTest : public ::testing::Test {
 protected:
  ProbeTest() {
    probe.add("ping", [] { return std::string(); });
    probe.add("cache", [this] { return problem; });
  }
  http::Response ask(const std::string& check = {}, const std::string& query = {}) {
    return probe.answer(check, http::parse_target("/readyz?" + query));
  }

  std::string problem;
  std::shared_ptr<testing::LogRecorder> lines = std::make_shared<testing::LogRecorder>();
  Probe probe{"readyz", Log(lines)};
};

// Source: controller-runtime pkg/healthz/healthz_test.go and k8s.io/apiserver pkg/server/healthz.
TEST_F(ProbeTest, SaysOkInOneWordUnlessAskedForMore) {
  EXPECT_EQ(ask().status, 200);
  EXPECT_EQ(ask().body, "ok");
  ASSERT_NE(ask().headers.find("X-Content-Type-Options"), nullptr);
  EXPECT_EQ(*ask().headers.find("X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(ask("", "verbose").body, "[+]cache ok\n[+]ping ok\nreadyz check passed\n");
}

TEST_F(ProbeTest, NamesWhatIsWrongAndWhy) {
  problem = "pods (v1): forbidden";
  EXPECT_EQ(ask().status, 500);
  EXPECT_EQ(ask().body, "[-]cache failed: pods (v1): forbidden\n[+]ping ok\nreadyz check failed\n");
}

TEST_F(ProbeTest, ChecksMayBeLeftOut) {
  problem = "no";
  EXPECT_EQ(ask("", "exclude=cache").status, 200);
  EXPECT_EQ(ask("", "exclude=cache").body, "ok");
  EXPECT_EQ(ask("", "exclude=cache&verbose").body,
            "[+]cache excluded: ok\n[+]ping ok\nreadyz check passed\n");
  EXPECT_EQ(ask("", "exclude=b&exclude=a&exclude=ping").body,
            "[-]cache failed: no\n[+]ping excluded: ok\n"
            "warn: some health checks cannot be excluded: no matches for \"a\",\"b\"\nreadyz check failed\n");
}

TEST_F(ProbeTest, EachCheckAnswersAlone) {
  EXPECT_EQ(ask("cache").status, 200);
  EXPECT_EQ(ask("cache").body, "ok");
  problem = "no";
  EXPECT_EQ(ask("cache").status, 500);
  EXPECT_EQ(ask("cache").body, "internal server error: no\n");
  EXPECT_EQ(ask("ping").status, 200);
  EXPECT_EQ(ask("nothing").status, 404);
}

TEST_F(ProbeTest, ACheckThatThrowsFails) {
  probe.add("throws", []() -> std::string { throw std::runtime_error("broken"); });
  probe.add("strange", []() -> std::string { throw 1; });
  EXPECT_EQ(ask("throws").body, "internal server error: broken\n");
  EXPECT_EQ(ask("strange").body,
            "internal server error: an exception that is not a std::exception was thrown\n");
}

TEST_F(ProbeTest, AProblemIsOneLineOfBoundedLength) {
  problem = "\x1b[2Jforged\n[+]cache ok";
  EXPECT_EQ(ask("cache").body, "internal server error: \\x1b[2Jforged\\n[+]cache ok\n");
  EXPECT_THAT(ask().body, ::testing::HasSubstr("[-]cache failed: \\x1b[2Jforged\\n[+]cache ok\n"));
  problem = std::string(5'000'000, 'x');
  EXPECT_LT(ask().body.size(), 17'000U);
}

TEST_F(ProbeTest, TheLogSaysWhenAnAnswerChanges) {
  ask();
  problem = "no";
  ask();
  ask("cache");
  problem.clear();
  ask();
  ask();
  EXPECT_THAT(lines->lines(), ElementsAre("WARN check failed probe=readyz check=cache problem=no",
                                          "INFO check passes again probe=readyz check=cache"));
}

TEST_F(ProbeTest, NamesAreTakenOnce) {
  const auto problem_of = [this](const std::string& name) -> std::string {
    try {
      probe.add(name, [] { return std::string(); });
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(problem_of("ping"), "there are two checks ping of readyz");
  EXPECT_EQ(problem_of("a\nb"), "readyz: the name of a check is empty, or has a control character");
  EXPECT_EQ(problem_of(""), "readyz: the name of a check is empty, or has a control character");
  EXPECT_EQ(problem_of("controller/dropped connections"), "none");
  EXPECT_THROW(probe.add("none", {}), std::invalid_argument);
}

}  // namespace
}  // namespace evenkeel
