// SPDX-License-Identifier: Apache-2.0
// Explanations of a running operator, over HTTP and with the program `evenkeel`.
#include <cstdio>
#include <string>
#include <sys/wait.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/controller/explanation.hpp>
#include <evenkeel/http/curl_transport.hpp>
#include <evenkeel/manager/endpoint.hpp>
#include <evenkeel/manager/manager.hpp>
#include <evenkeel/ratelimit/exponential.hpp>

#include "../support/await.hpp"
#include "world.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// The output of a command, standard error after standard output, and its exit code.
struct Ran {
  int code = -1;
  std::string text = {};
};

Ran run_command(const std::string& command) {
  Ran ran;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return ran;
  char piece[4096];
  while (const std::size_t size = std::fread(piece, 1, sizeof piece, pipe)) ran.text.append(piece, size);
  const int status = ::pclose(pipe);
  ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ran;
}

class ExplainRoutesConcurrency : public ::testing::Test {
 protected:
  ExplainRoutesConcurrency() {
    world.install_crd();
    make(world.options());
  }
  void make(ManagerOptions options) {
    manager = std::make_unique<Manager>(world.client(), std::move(options));
    ControllerSpec spec =
        controller_for<Gadget>([](Context&, const Gadget&) -> Result { throw Error("no disk left"); });
    spec.options.limiter = [] { return AnyLimiter<RequestKey>(exponential(1h, 1h)); };
    manager->add(std::move(spec));
  }
  void start(Explanations explanations = Explanations::on) {
    manager->serve({.metrics_address = "127.0.0.1:0", .explanations = explanations});
    running = std::make_unique<Running>(*manager);
    world.wait_for_line("serving what=metrics");
    const std::string line = world.happenings->lines_with("serving what=metrics").back();
    url = line.substr(line.find("url=") + 4);
  }
  http::Response get(const std::string& target) const {
    return http::make_curl_transport({.server = url, .proxy = ""})->fetch({.target = target});
  }
  void fail_once() {
    world.create_gadget("web");
    tests::await("a failure", [this] {
      return get("/debug/explain/gadget/default/web").body.find("waits for its retry") != std::string::npos;
    });
  }

  World world;
  std::unique_ptr<Manager> manager;
  std::string url;
  std::unique_ptr<Running> running;
};

TEST_F(ExplainRoutesConcurrency, AnswersWhyAnObjectIsNotReconciled) {
  start();
  fail_once();
  const http::Response text = get("/debug/explain/gadget/default/web");
  EXPECT_EQ(text.status, 200);
  EXPECT_THAT(text.body, AllOf(StartsWith("gadget default/web: it waits for its retry until "),
                               HasSubstr(" after 1 failure; the last one, "), HasSubstr(": no disk left\n"),
                               HasSubstr("watch           gadgets (test.evenkeel.dev/v1): synced\n"),
                               HasSubstr("  run ended after ")));
  const Json json = Json::parse(get("/debug/explain/gadget/default/web?format=json").body);
  EXPECT_EQ(json["reason"], Json("backing_off"));
  EXPECT_EQ(json.at({"lastFailure", "error"}), Json("no disk left"));
  EXPECT_THAT(get("/debug/explain/gadget/default/nobody").body, HasSubstr("there is no such object"));
  EXPECT_THAT(get("/debug/explain/gadget/nobody").body, StartsWith("gadget nobody: "));
}

TEST_F(ExplainRoutesConcurrency, TellsWhatThereIsAndWhatIsWrongWithIt) {
  start();
  fail_once();
  EXPECT_EQ(get("/debug/explain").body, "gadget: it works, and keys fail; the latest is default/web\n");
  EXPECT_THAT(get("/debug/explain/gadget").body,
              AllOf(HasSubstr("Failing, the latest first:\n  default/web: error of attempt 1, "),
                    HasSubstr("queue           0 ready, 1 waiting\n")));
  EXPECT_EQ(Json::parse(get("/debug/explain?format=json").body)["controllers"][0]["controller"],
            Json("gadget"));
  const http::Response unknown = get("/debug/explain/nobody/default/web");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(unknown.body, "there is no controller nobody; there are: gadget\n");
  EXPECT_EQ(get("/debug/explain/gadget/a/b/c").status, 404);
}

TEST_F(ExplainRoutesConcurrency, IsOffUnlessAskedFor) {
  start(Explanations::off);
  EXPECT_EQ(get("/metrics").status, 200);
  EXPECT_EQ(get("/debug/explain").status, 404);
}

TEST_F(ExplainRoutesConcurrency, MetricsAndProbeTellOfStuckRuns) {
  start();
  fail_once();
  EXPECT_THAT(get("/metrics").body,
              AllOf(HasSubstr("\nevenkeel_controller_stuck_reconciles{controller=\"gadget\"} 0\n"),
                    HasSubstr("\nevenkeel_controller_longest_running_seconds{controller=\"gadget\"} 0\n")));
  EXPECT_EQ(manager->answer_probe("/healthz/controller/gadget").status, 200);
}

TEST_F(ExplainRoutesConcurrency, AStandbySaysWhoLeads) {
  ManagerOptions options = world.options();
  options.election = ElectionOptions{.name = "op", .namespace_ = "default", .identity = "second"};
  options.election_client = world.client();
  make(std::move(options));
  ASSERT_EQ(
      world
          .call(http::Method::post, "/apis/coordination.k8s.io/v1/namespaces/default/leases",
                R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"op"},"spec":{
                         "holderIdentity":"first","leaseDurationSeconds":3600,
                         "renewTime":"2030-01-01T00:00:00.000000Z"}})")
          .status,
      201);
  start();
  tests::await("the holder", [this] {
    return get("/debug/explain").body ==
           "gadget: nothing is reconciled here: this instance is not the leader; the leader is first\n";
  });
}

#ifdef EVENKEEL_PROGRAM
TEST_F(ExplainRoutesConcurrency, TheProgramPrintsTheAnswer) {
  start();
  fail_once();
  const std::string ask = std::string(EVENKEEL_PROGRAM) + " explain --url " + url;
  Ran ran = run_command(ask + " gadget default/web");
  EXPECT_EQ(ran.code, 0) << ran.text;
  EXPECT_THAT(ran.text, StartsWith("gadget default/web: it waits for its retry until "));
  ran = run_command(ask + " gadget default/web --json");
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(Json::parse(ran.text)["reason"], Json("backing_off"));
  EXPECT_THAT(run_command(ask).text, StartsWith("gadget: it works, "));
  ran = run_command(ask + " nobody default/web");
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.text,
            "evenkeel explain: " + url + " answered 404: there is no controller nobody; there are: gadget\n");
  EXPECT_EQ(run_command(ask + " --unknown").code, 2);
  running->stop();
  running.reset();
  ran = run_command(ask);
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.text, StartsWith("evenkeel explain: GET " + url + "/debug/explain: "));
  EXPECT_THAT(ran.text, HasSubstr("does the operator run with --metrics-bind-address"));
}

TEST(ExplainProgram, NamesAWrongCommandAndAWrongUrl) {
  const Ran command = run_command(std::string(EVENKEEL_PROGRAM) + " explian demo");
  EXPECT_EQ(command.code, 2);
  EXPECT_EQ(command.text, "evenkeel: \"explian\" is not a command; there are: new, types, explain\n");
  const Ran address = run_command(std::string(EVENKEEL_PROGRAM) + " explain --url localhost:8080");
  EXPECT_EQ(address.code, 2);
  EXPECT_EQ(address.text,
            "evenkeel explain: --url: \"localhost:8080\" is not a URL such as http://127.0.0.1:8080\n");
}

TEST_F(ExplainRoutesConcurrency, TheProgramSaysWhyThereIsNoAnswer) {
  start(Explanations::off);
  const Ran ran = run_command(std::string(EVENKEEL_PROGRAM) + " explain --url " + url);
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.text, HasSubstr("does the operator run with --debug-endpoints?"));
}
#endif

}  // namespace
}  // namespace evenkeel
