// SPDX-License-Identifier: Apache-2.0
// The console of a running operator, and access by reviews of the API server, over sockets.
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/coordination/console_section.hpp>
#include <evenkeel/http/curl_transport.hpp>
#include <evenkeel/manager/endpoint.hpp>
#include <evenkeel/manager/manager.hpp>
#include <evenkeel/ratelimit/exponential.hpp>
#include <evenkeel/serve/server.hpp>

#include "../support/await.hpp"
#include "../support/hanging_store.hpp"
#include "world.hpp"

namespace evenkeel {
namespace console_test {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Answers reviews from a script, or holds them back; passes everything else on.
class ReviewingTransport final : public http::Transport {
 public:
  explicit ReviewingTransport(std::shared_ptr<http::Transport> below) : below_(std::move(below)) {}

  std::shared_ptr<http::Call> send(http::Request request, http::Completion completion) override {
    const bool token = request.target.find("/tokenreviews") != std::string::npos;
    if (!token && request.target.find("/subjectaccessreviews") == std::string::npos) {
      return below_->send(std::move(request), std::move(completion));
    }
    const Json spec = Json::parse(request.body)["spec"];
    {
      MutexLock lock(mutex_);
      if (token && spec["token"] == Json("slow")) {
        held_.push_back(std::move(completion));
        return std::make_shared<NoCall>();
      }
    }
    completion(token ? reviewed_token(spec) : reviewed_right(spec));
    return std::make_shared<NoCall>();
  }
  std::shared_ptr<http::Call> stream(http::Request request,
                                     std::shared_ptr<http::StreamHandler> handler) override {
    return below_->stream(std::move(request), std::move(handler));
  }
  std::size_t held() const {
    MutexLock lock(mutex_);
    return held_.size();
  }
  void release() {
    std::vector<http::Completion> held;
    {
      MutexLock lock(mutex_);
      held.swap(held_);
    }
    for (const auto& completion : held) completion(reviewed_token(Json::object({{"token", "ann"}})));
  }

 private:
  class NoCall final : public http::Call {
    void cancel() noexcept override {}
  };
  static http::Response created(const std::string& status) {
    return {.status = 201,
            .headers = {{"Content-Type", "application/json"}},
            .body = R"({"status":)" + status + "}"};
  }
  static http::Response reviewed_token(const Json& spec) {
    const std::string token = spec["token"].as_string();
    if (token == "broken") return {.status = 403, .body = "no"};
    if (token != "ann" && token != "bob") return created(R"({"authenticated":false})");
    return created(R"({"authenticated":true,"user":{"username":")" + token + R"("}})");
  }
  static http::Response reviewed_right(const Json& spec) {
    const bool allowed =
        spec["user"] == Json("ann") && spec.at({"nonResourceAttributes", "verb"}) == Json("get");
    return created(allowed ? R"({"allowed":true})" : R"({"allowed":false})");
  }

  const std::shared_ptr<http::Transport> below_;
  mutable Mutex mutex_;
  std::vector<http::Completion> held_ EVENKEEL_GUARDED_BY(mutex_);
};

class ConsoleConcurrency : public ::testing::Test {
 protected:
  ConsoleConcurrency() {
    world.install_crd();
    reviews =
        std::make_shared<ReviewingTransport>(std::make_shared<apiserver::InProcessTransport>(world.core));
    manager = std::make_unique<Manager>(
        Client(Config{.server = "http://in-process"}, {.transport = reviews, .log = world.log()}),
        world.options());
    ControllerSpec spec = controller_for<Gadget>(
        [](Context&, const Gadget&) -> Result { throw Error("no disk left: <script>alert(1)</script>"); });
    spec.options.limiter = [] { return AnyLimiter<RequestKey>(exponential(1h, 1h)); };
    manager->add(std::move(spec));
  }
  void start(EndpointOptions options) {
    options.metrics_address = "127.0.0.1:0";
    manager->serve(std::move(options));
    running = std::make_unique<Running>(*manager);
    world.wait_for_line("serving what=metrics");
    const std::string line = world.happenings->lines_with("serving what=metrics").back();
    url = line.substr(line.find("url=") + 4);
  }
  http::Response get(const std::string& target, const std::string& token = {},
                     http::Method method = http::Method::get) const {
    http::Request request{.method = method, .target = target};
    if (!token.empty()) request.headers.set("Authorization", "Bearer " + token);
    return http::make_curl_transport({.server = url, .proxy = ""})->fetch(std::move(request));
  }
  Json json(const std::string& question) const {
    const http::Response answer = get("/console/api/" + question);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return Json::parse(answer.body);
  }
  void fail_once() {
    world.create_gadget("web");
    tests::await("a failure", [this] {
      return json("keys/gadget/default/web").at({"explanation", "reason"}) == Json("backing_off");
    });
  }

  World world;
  tests::HangingStore store;
  std::shared_ptr<ReviewingTransport> reviews;
  std::unique_ptr<Manager> manager;
  std::string url;
  std::unique_ptr<Running> running;
};

TEST_F(ConsoleConcurrency, IsOffUnlessAskedFor) {
  start({});
  EXPECT_EQ(get("/console").status, 404);
  EXPECT_EQ(get("/console/api/overview").status, 404);
}

TEST_F(ConsoleConcurrency, ItsPageRunsNothingButItsOwnScript) {
  start({.console = Console::on});
  const http::Response page = get("/console");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(*page.headers.find("Content-Type"), "text/html; charset=utf-8");
  EXPECT_THAT(*page.headers.find("Content-Security-Policy"),
              AllOf(HasSubstr("default-src 'none'; script-src 'sha256-"), HasSubstr("; style-src 'sha256-"),
                    HasSubstr("frame-ancestors 'none'"), Not(HasSubstr("unsafe"))));
  EXPECT_THAT(page.body,
              AllOf(HasSubstr("<!doctype html>"), Not(HasSubstr("innerHTML")), Not(HasSubstr(" onclick=")),
                    Not(HasSubstr("src=\"http")), Not(HasSubstr("style=\""))));
  EXPECT_EQ(get("/console/").body, page.body);
  EXPECT_EQ(get("/console/nothing").status, 404);
  // Texts enter the page in one place, which shows what a browser would obey: marks of text direction.
  EXPECT_THAT(
      page.body,
      AllOf(HasSubstr("child instanceof Node ? child : readable(String(child))"),
            HasSubstr(R"([\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069])")));
}

TEST_F(ConsoleConcurrency, TellsOfControllersKeysAndWatches) {
  start({.console = Console::on});
  fail_once();
  const Json overview = json("overview");
  EXPECT_EQ(overview["program"], Json("test-operator"));
  const Json& gadget = overview["controllers"][0];
  EXPECT_EQ(gadget["name"], Json("gadget"));
  EXPECT_EQ(gadget["state"], Json("works"));
  EXPECT_EQ(gadget["errors"], Json(1));
  EXPECT_EQ(gadget["objects"], Json(1));
  EXPECT_TRUE(gadget["points"]["waitP99"].is_array());
  EXPECT_EQ(overview["watches"][0]["resource"], Json("gadgets"));
  EXPECT_EQ(overview["watches"][0]["objects"], Json(1));

  const Json one = json("controllers/gadget");
  EXPECT_EQ(one["retrying"][0]["object"], Json("default/web"));
  EXPECT_EQ(one["retrying"][0]["failures"], Json(1));
  EXPECT_GT(one["retrying"][0]["nextAttemptIn"].as_number(), 3000);
  EXPECT_EQ(one["retrying"][0]["error"], Json("no disk left: <script>alert(1)</script>"));
  EXPECT_THAT(json("keys/gadget/default/web").at({"explanation", "verdict"}).as_string(),
              HasSubstr("waits for its retry"));
  EXPECT_EQ(json("watches")["watches"].size(), 1U);
}

TEST_F(ConsoleConcurrency, UnknownQuestionsAreRefusedAsJson) {
  start({.console = Console::on});
  const auto error = [&](const std::string& question) {
    const http::Response answer = get("/console/api/" + question);
    EXPECT_EQ(answer.status, 404);
    EXPECT_EQ(*answer.headers.find("Content-Type"), "application/json");
    return Json::parse(answer.body)["error"].string_or("");
  };
  EXPECT_EQ(error("nothing"), "the console has no nothing");
  EXPECT_EQ(error("controllers/%3Cb%3E"), "there is no controller <b>");
  EXPECT_EQ(error("keys/gadget"), "an object is asked for as CONTROLLER/NAMESPACE/NAME or CONTROLLER/NAME");
  EXPECT_EQ(error("keys/gadget/a/b/c"),
            "an object is asked for as CONTROLLER/NAMESPACE/NAME or CONTROLLER/NAME");
}

TEST_F(ConsoleConcurrency, ShowsSectionsOfTheProgram) {
  manager->add_console_section("Rings", [] { return Json::object({{"members", 3}}); });
  manager->add_console_section("Broken", []() -> Json { throw Error("no ring"); });
  EXPECT_THROW(manager->add_console_section("Rings", [] { return Json(); }), std::invalid_argument);
  EXPECT_THROW(manager->add_console_section("", [] { return Json(); }), std::invalid_argument);
  start({.console = Console::on});
  EXPECT_EQ(json("sections")["sections"].dump(),
            R"([{"content":{"members":3},"title":"Rings"},{"error":"no ring","title":"Broken"}])");
  EXPECT_EQ(json("overview")["hasSections"], Json(true));
}

TEST_F(ConsoleConcurrency, ShowsWhatInstancesShareWithoutWaitingForTheirStore) {
  manager->add_console_section("Coordination",
                               coordination::console_section(store, coordination::Layout("/db")));
  start({.console = Console::on});
  for (const char* other : {"overview", "watches", "controllers/gadget"}) json(other);
  EXPECT_EQ(store.begun, 0) << "nobody looked at it";
  EXPECT_EQ(json("sections")["sections"].dump(),
            R"([{"content":[{"content":{"keys below":"/db","read":"not yet","store":"hanging"},)"
            R"("title":"Store"}],"title":"Coordination"}])");
  tests::await("the read", [&] { return store.begun == 1; });
  EXPECT_EQ(json("sections")["sections"].size(), 1U);
}

std::string refused(Manager& manager, const EndpointOptions& options) {
  try {
    manager.serve(options);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST_F(ConsoleConcurrency, RefusesToBeOpenToOtherMachines) {
  for (const char* address : {":8080", "0.0.0.0:8080", "[::]:8080", "10.0.0.7:8080"}) {
    EXPECT_EQ(refused(*manager, {.metrics_address = address, .console = Console::on}),
              "the console (--console) at \"" + std::string(address) +
                  "\" would be open to other machines: give --metrics-token-file or "
                  "--metrics-access-reviews, or bind it to 127.0.0.1");
  }
  EXPECT_EQ(refused(*manager, {.console = Console::on}),
            "the console (--console) is served beside the metrics: it needs --metrics-bind-address");
  EXPECT_EQ(
      refused(*manager,
              {.metrics_address = ":0", .metrics_token_file = "/token", .access_reviews = AccessReviews::on}),
      "access reviews (--metrics-access-reviews) and a token file (--metrics-token-file) exclude each "
      "other");
}

TEST_F(ConsoleConcurrency, AccessReviewsDecideWhoMayRead) {
  start({.explanations = Explanations::on, .access_reviews = AccessReviews::on, .console = Console::on});
  for (const char* path : {"/metrics", "/console/api/overview", "/console/api/sections", "/debug/explain"}) {
    EXPECT_EQ(get(path).status, 401) << path;
    EXPECT_EQ(get(path, "ann").status, 200) << path;
    EXPECT_EQ(get(path, "bob").status, 403) << path;
  }
  EXPECT_EQ(get("/metrics").body, "401 a bearer token is needed\n");
  EXPECT_EQ(get("/metrics", "eve").body, "401 the API server does not accept the bearer token\n");
  EXPECT_EQ(get("/metrics", "bob").body, "403 bob may not get the non-resource URL /metrics\n");
  EXPECT_EQ(get("/debug/log-level", "ann", http::Method::put).body,
            "403 ann may not put the non-resource URL /debug/log-level\n");
  EXPECT_EQ(get("/console").status, 200);  // holds nothing; its script sends the token
}

TEST_F(ConsoleConcurrency, RefusesWhileTheApiServerCannotBeAsked) {
  start({.access_reviews = AccessReviews::on});
  const http::Response answer = get("/metrics", "broken");
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.body, "503 the API server could not be asked for access; try again\n");
  world.wait_for_line("the API server cannot be asked who may use the endpoint");
  EXPECT_EQ(get("/metrics", "ann").status, 200);
  world.wait_for_line("the API server can be asked again who may use the endpoint");
}

TEST_F(ConsoleConcurrency, ASlowReviewBlocksNobodyElse) {
  start({.access_reviews = AccessReviews::on});
  http::Response slow;
  std::jthread client([&] { slow = get("/metrics", "slow"); });
  tests::await("the review", [this] { return reviews->held() == 1; });
  EXPECT_EQ(get("/metrics", "ann").status, 200);
  EXPECT_EQ(get("/metrics", "bob").status, 403);
  reviews->release();
  client.join();
  EXPECT_EQ(slow.status, 200);
}

TEST_F(ConsoleConcurrency, StopsWhileAReviewRuns) {
  start({.access_reviews = AccessReviews::on});
  std::jthread client([&] { EXPECT_THROW(get("/metrics", "slow"), TransportError); });
  tests::await("the review", [this] { return reviews->held() == 1; });
  running->stop();
  client.join();
  manager.reset();
  reviews->release();  // its answer comes to nobody
}

}  // namespace
}  // namespace console_test
}  // namespace evenkeel
