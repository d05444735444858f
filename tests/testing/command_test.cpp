// SPDX-License-Identifier: Apache-2.0
// Commands that a reconciler runs in containers, played by the test.
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/pods.hpp>
#include <evenkeel/apiserver/api_server.hpp>
#include <evenkeel/client/pod_exec.hpp>
#include <evenkeel/testing/harness.hpp>

#include "gadget.hpp"

namespace evenkeel::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;

class HarnessCommands : public ::testing::Test {
 protected:
  /// Reconciles one gadget with `reconcile`, in a cluster that has a Pod "default/web".
  Harness reconciled(std::function<void(Context&)> reconcile, HarnessOptions options) {
    Harness harness(std::move(options));
    harness.add(controller_for<Gadget>([reconcile = std::move(reconcile)](Context& context, const Gadget&) {
      reconcile(context);
      return done();
    }));
    Pod pod{.metadata = {.name = "web", .namespace_ = "default"}};
    pod.spec.containers.push_back({.name = "main", .image = "none"});
    harness.create({pod, gadget("web")});
    harness.step();
    return harness;
  }
  HarnessOptions playing(ExecResult result) {
    return {.on_exec = [this, result](const Command& command) {
      commands.push_back(command);
      return result;
    }};
  }

  std::vector<Command> commands;
};

TEST_F(HarnessCommands, AreGivenToTheTest) {
  ExecResult got;
  reconciled(
      [&](Context& context) {
        got = exec(context.client(), web, {.command = {"psql", "-c", "select 1 & 2"}, .container = "main"},
                   "input");
      },
      playing({.exit_code = 3, .out = "out", .err = "err"}));
  EXPECT_EQ(got.exit_code, 3);
  EXPECT_EQ(got.out, "out");
  EXPECT_EQ(got.err, "err");
  ASSERT_EQ(commands.size(), 1U);
  EXPECT_EQ(commands[0].pod, web);
  EXPECT_EQ(commands[0].container, "main");
  EXPECT_THAT(commands[0].words, ElementsAre("psql", "-c", "select 1 & 2"));
  EXPECT_EQ(commands[0].input, "input");
}

TEST_F(HarnessCommands, SessionsHaveOutputAfterTheirInput) {
  std::string got;
  std::string early;
  reconciled(
      [&](Context& context) {
        ExecSession session(context.client(), web, ExecOptions{.command = {"cat"}, .with_stdin = true});
        try {
          session.read();
        } catch (const Error& error) {
          early = error.what();
        }
        session.write("a");
        session.write("b");
        session.close_stdin();
        session.write("too late");
        while (const auto output = session.read()) got += output->bytes;
        EXPECT_EQ(session.wait(), 0);
      },
      playing({.out = "out"}));
  EXPECT_EQ(got, "out");
  EXPECT_EQ(commands.at(0).input, "ab");
  EXPECT_EQ(early,
            "exec: the command is run when its input has ended (ExecSession::close_stdin), and has no output "
            "before");
}

TEST_F(HarnessCommands, FailuresReachTheReconciler) {
  const auto error_of = [&](const ObjectKey& pod, HarnessOptions options) {
    std::string text;
    reconciled(
        [&](Context& context) {
          try {
            exec(context.client(), pod, {.command = {"ls"}});
          } catch (const Error& error) {
            text = error.what();
          }
        },
        std::move(options));
    return text;
  };
  EXPECT_EQ(error_of({"default", "absent"}, playing({})),
            "get Pod/exec default/absent: 404 NotFound: pods \"absent\" not found");
  EXPECT_EQ(
      error_of(web,
               {.on_exec = [](const Command&) -> ExecResult { throw std::runtime_error("no program"); }}),
      "get Pod/exec default/web: 500 InternalError: Internal error occurred: error executing command in "
      "container: no program");
  EXPECT_THAT(error_of(web, {}), EndsWith("command=ls: HarnessOptions::on_exec is not set"));
}

TEST(EmbeddedApiServer, RunsNoCommands) {
  const apiserver::ApiServer server;
  try {
    exec(Client(server.config()), web, {.command = {"ls"}});
    ADD_FAILURE() << "no error";
  } catch (const ApiError& error) {
    EXPECT_TRUE(error.is_not_found()) << error.what();
  }
}

}  // namespace
}  // namespace evenkeel::testing
