// SPDX-License-Identifier: Apache-2.0
// Worlds: servers that begin in the state of another one, share what they do not change, and are independent.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/api/json.hpp>
#include <evenkeel/apiserver/api_server_core.hpp>

namespace evenkeel::apiserver {
namespace {

using http::Method;
using namespace std::chrono_literals;

const WallTime start = WallTime(std::chrono::seconds(1'770'000'000));
const std::string maps = "/api/v1/namespaces/default/configmaps";
const std::string crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

std::string config_map(const std::string& name, const std::string& value = "v") {
  return R"({"metadata":{"name":")" + name + R"(","labels":{"app":")" + value + R"("}},"data":{"k":")" +
         value + R"("}})";
}

std::string definition(const std::string& plural) {
  return R"({"metadata":{"name":")" + plural +
         R"(.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":")" + plural +
         R"(","kind":"K)" + plural + R"("},"versions":[{"name":"v1","served":true,"storage":true,)" +
         R"("schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object",)" +
         R"("x-kubernetes-preserve-unknown-fields":true}}}}}]}})";
}

/// One call of a core, and the text of its result.
struct Step {
  Method method = Method::get;
  std::string target = {};  ///< Empty: on_timeout().
  std::string body = {};
  WallTime at = start;
  std::string result = {};
};

/// A core that records its calls, those before it began included.
class Side {
 public:
  explicit Side(const ApiServerCoreOptions& options = {}) : core_(std::make_unique<ApiServerCore>(options)) {}
  explicit Side(const World& world) : core_(std::make_unique<ApiServerCore>(world)), now(world.time()) {}

  /// Returns status and body; of a watch, its output so far.
  std::string send(Method method, const std::string& target, const std::string& body = "") {
    http::Request request{
        .method = method, .target = target, .headers = {{"Accept", "application/json"}}, .body = body};
    if (method == Method::patch)
      request.headers.set("Content-Type", "application/merge-patch+json");
    else if (!body.empty())
      request.headers.set("Content-Type", "application/json");
    const Answer answer = core_->handle(request, now);
    std::string out = std::to_string(answer.response.status) + " " + answer.response.body;
    if (answer.watch) {
      out += core_->read_watch(*answer.watch).bytes;
      core_->close_watch(*answer.watch);
    }
    steps_.push_back({method, target, body, now, out});
    return out;
  }
  std::string get(const std::string& target) { return send(Method::get, target); }
  /// Does the pending work of the controllers.
  void work() {
    while (core_->next_due() && *core_->next_due() <= now) core_->on_timeout(now);
    steps_.push_back({.at = now});
  }
  Json object(const std::string& target) { return Json::parse(get(target).substr(4)); }
  std::string uid(const std::string& target) {
    return object(target).at({"metadata", "uid"}).string_or("none");
  }

  World snapshot() { return core_->snapshot(now); }
  /// Returns a core that begins in the present state.
  Side fork() {
    Side out(snapshot());
    out.steps_ = steps_;
    return out;
  }
  const std::vector<Step>& steps() const { return steps_; }
  std::uint64_t version() const { return core_->resource_version(); }

 private:
  std::unique_ptr<ApiServerCore> core_;
  std::vector<Step> steps_;

 public:
  WallTime now = start;
};

/// Expects that a server that never was a copy gives the same results.
void expect_plain_replay(const Side& side, const ApiServerCoreOptions& options) {
  Side plain(options);
  std::size_t number = 0;
  for (const Step& step : side.steps()) {
    plain.now = step.at;
    if (step.target.empty()) {
      plain.work();
    } else {
      ASSERT_EQ(plain.send(step.method, step.target, step.body), step.result)
          << "step " << number << ": " << step.target;
    }
    ++number;
  }
}

}  // namespace

TEST(World, IsIndependentInBothDirections) {
  Side original;
  original.send(Method::post, maps, config_map("kept"));
  original.send(Method::post, maps, config_map("changed"));
  original.send(Method::post, maps, config_map("deleted"));
  const World world = original.snapshot();
  EXPECT_EQ(world.resource_version(), original.version());
  EXPECT_EQ(world.time(), start);
  const std::string before = original.get(maps);
  Side other(world);
  EXPECT_EQ(other.get(maps), before);

  other.send(Method::patch, maps + "/changed", R"({"data":{"k":"theirs"}})");
  other.send(Method::delete_, maps + "/deleted");
  other.send(Method::post, maps, config_map("theirs"));
  EXPECT_EQ(original.get(maps), before);

  original.send(Method::patch, maps + "/changed", R"({"data":{"k":"ours"}})");
  original.send(Method::delete_, maps + "/kept");
  EXPECT_EQ(other.object(maps + "/changed").at({"data", "k"}), Json("theirs"));
  EXPECT_EQ(other.get(maps + "/kept").substr(0, 3), "200");
  EXPECT_EQ(Side(world).get(maps), before);
}

TEST(World, ContinuesUidsNamesAndVersions) {
  Side original;
  original.send(Method::post, maps, config_map("a"));
  Side one = original.fork();
  Side two = original.fork();
  for (Side* each : {&original, &one, &two}) {
    each->now += 5s;
    each->send(Method::post, maps, R"({"metadata":{"generateName":"x-"}})");
    each->send(Method::delete_, maps + "/a");
    each->send(Method::post, maps, config_map("a"));
    each->send(Method::post, crds, definition("ships"));
  }
  for (const Side* each : {&one, &two})
    for (std::size_t at = 0; at < original.steps().size(); ++at)
      EXPECT_EQ(each->steps()[at].result, original.steps()[at].result);
}

TEST(World, OutlivesItsServer) {
  auto original = std::make_unique<Side>();
  original->send(Method::post, maps, config_map("a"));
  const std::string before = original->get(maps);
  const World world = original->snapshot();
  original.reset();
  EXPECT_EQ(Side(world).get(maps), before);
}

TEST(World, BeginsWithTheFirstRequest) {
  Side untouched;
  Side other(untouched.snapshot());
  EXPECT_EQ(other.get("/api/v1/namespaces"), untouched.get("/api/v1/namespaces"));
}

TEST(World, HasThePendingWorkOfTheControllers) {
  Side original;
  original.send(Method::post, "/api/v1/namespaces", R"({"metadata":{"name":"going"}})");
  original.send(Method::post, "/api/v1/namespaces/going/configmaps", config_map("inside"));
  original.send(Method::post, maps, config_map("owner"));
  original.send(
      Method::post, maps,
      R"({"metadata":{"name":"owned","ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner",)"
      R"("uid":")" +
          original.uid(maps + "/owner") + R"("}]}})");
  original.send(Method::delete_, maps + "/owner");
  original.send(Method::delete_, "/api/v1/namespaces/going");
  Side other = original.fork();
  other.work();
  EXPECT_EQ(other.get(maps + "/owned").substr(0, 3), "404");
  EXPECT_EQ(other.get("/api/v1/namespaces/going").substr(0, 3), "404");
  EXPECT_EQ(original.get(maps + "/owned").substr(0, 3), "200");
  EXPECT_EQ(original.get("/api/v1/namespaces/going/configmaps/inside").substr(0, 3), "200");
}

TEST(World, CollectsGarbageOfOwnersThatWereDeletedLater) {
  Side original;
  original.send(Method::post, maps, config_map("owner"));
  original.send(
      Method::post, maps,
      R"({"metadata":{"name":"owned","ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner",)"
      R"("uid":")" +
          original.uid(maps + "/owner") + R"("}]}})");
  Side other = original.fork();
  other.send(Method::delete_, maps + "/owner");
  other.work();
  original.work();
  EXPECT_EQ(other.get(maps + "/owned").substr(0, 3), "404");
  EXPECT_EQ(original.get(maps + "/owned").substr(0, 3), "200");
}

TEST(World, HasItsOwnDefinitions) {
  Side original;
  original.send(Method::post, crds, definition("ships"));
  Side other = original.fork();
  const std::string ships = "/apis/example.com/v1/namespaces/default/ships";
  const std::string boats = "/apis/example.com/v1/namespaces/default/boats";
  other.send(Method::post, crds, definition("boats"));
  original.send(Method::delete_, crds + "/ships.example.com");
  original.work();
  EXPECT_EQ(other
                .send(Method::post, ships,
                      R"({"apiVersion":"example.com/v1","kind":"Kships","metadata":{"name":"a"}})")
                .substr(0, 3),
            "201");
  EXPECT_EQ(other.get(boats).substr(0, 3), "200");
  EXPECT_EQ(original.get(ships).substr(0, 3), "404");
  EXPECT_EQ(original.get(boats).substr(0, 3), "404");
}

TEST(World, AnswersWatchesFromVersionsBeforeIt) {
  const ApiServerCoreOptions options{.history = 20};
  Side original(options);
  for (int at = 0; at < 30; ++at) original.send(Method::post, maps, config_map("m" + std::to_string(at)));
  original.send(Method::delete_, maps + "/m29");
  Side other = original.fork();
  for (std::uint64_t version = original.version() - 25; version <= original.version(); ++version) {
    const std::string watch = maps + "?watch=1&resourceVersion=" + std::to_string(version);
    const std::string list = maps + "?resourceVersionMatch=Exact&resourceVersion=" + std::to_string(version);
    const std::string expected = original.get(watch);
    EXPECT_EQ(other.get(watch), expected);
    EXPECT_EQ(expected.find("too old resource version") != std::string::npos,
              version < original.version() - 20);
    EXPECT_EQ(other.get(list), original.get(list));
  }
  // The oldest versions expire in each of them by its own changes.
  const std::string oldest = maps + "?watch=1&resourceVersion=" + std::to_string(original.version() - 20);
  other.send(Method::post, maps, config_map("more"));
  EXPECT_NE(other.get(oldest).find("too old resource version"), std::string::npos);
  EXPECT_EQ(original.get(oldest).find("too old resource version"), std::string::npos);
}

TEST(World, ReleasesChangesThatLagByVersions) {
  ApiServerCore original;
  const auto send = [](ApiServerCore& core, Method method, const std::string& target, const std::string& body,
                       const CacheLag& lag = {}) {
    return core.handle(
        {.method = method, .target = target, .headers = {{"Content-Type", "application/json"}}, .body = body},
        start, {}, lag);
  };
  for (const char* name : {"a", "b", "c", "d"}) send(original, Method::post, maps, config_map(name));
  ApiServerCore other(original.snapshot(start));
  std::vector<std::string> seen;
  for (ApiServerCore* core : {&original, &other}) {
    const std::string watch =
        maps + "?watch=1&resourceVersion=" + std::to_string(core->resource_version() - 3);
    const Answer answer = send(*core, Method::get, watch, "", {.versions = 1});
    seen.push_back(core->read_watch(answer.watch.value()).bytes);
  }
  EXPECT_NE(seen[0].find("\"name\":\"c\""), std::string::npos) << seen[0];
  EXPECT_EQ(seen[1], seen[0]);
}

TEST(World, RandomWorldsEqualAPlainReplay) {
  const char* const given = std::getenv("EVENKEEL_WORLD_SEED");
  const unsigned seed = given != nullptr ? static_cast<unsigned>(std::stoul(given)) : std::random_device{}();
  SCOPED_TRACE("EVENKEEL_WORLD_SEED=" + std::to_string(seed));
  std::mt19937 random(seed);
  const auto below = [&random](unsigned limit) { return random() % limit; };
  const ApiServerCoreOptions options{.seed = seed, .history = 60};
  std::vector<Side> sides;
  sides.emplace_back(options);
  for (int round = 0; round < 400; ++round) {
    Side& side = sides[below(static_cast<unsigned>(sides.size()))];
    const std::string space = std::string("/api/v1/namespaces/") + (below(4) > 0 ? "default" : "team");
    const std::string all = space + "/configmaps";
    const std::string name = "m" + std::to_string(below(12));
    const std::string one = all + "/" + name;
    side.now += std::chrono::milliseconds(below(800));
    switch (below(14)) {
      case 0:
      case 1:
        side.send(Method::post, all, config_map(name, std::to_string(below(3))));
        break;
      case 2: {
        const std::string owner = "m" + std::to_string(below(12));
        side.send(Method::post, all,
                  R"({"metadata":{"name":")" + name + R"(","ownerReferences":[{"apiVersion":"v1","kind":)" +
                      R"("ConfigMap","name":")" + owner + R"(","uid":")" + side.uid(all + "/" + owner) +
                      R"(","blockOwnerDeletion":true}]}})");
        break;
      }
      case 3:
        side.send(Method::patch, one, R"({"data":{"k":")" + std::to_string(round) + "\"}}");
        break;
      case 4:
        side.send(Method::patch, one,
                  below(2) > 0 ? R"({"metadata":{"finalizers":["example.com/hold"]}})"
                               : R"({"metadata":{"finalizers":null}})");
        break;
      case 5:
      case 6: {
        static constexpr const char* policies[] = {"Background", "Foreground", "Orphan"};
        side.send(Method::delete_, one + "?propagationPolicy=" + policies[below(3)]);
        break;
      }
      case 7:
        side.work();
        break;
      case 8:
        side.get(all + "?labelSelector=app%3D" + std::to_string(below(3)));
        break;
      case 9:
        side.get(all + "?watch=1&resourceVersion=" +
                 std::to_string(side.version() - below(80) % (side.version() - 900)));
        break;
      case 10:
        if (below(3) > 0)
          side.send(Method::post, "/api/v1/namespaces", R"({"metadata":{"name":"team"}})");
        else
          side.send(Method::delete_, "/api/v1/namespaces/team");
        break;
      case 11: {
        const std::string plural = below(2) > 0 ? "ships" : "boats";
        if (below(4) > 0)
          side.send(Method::post, crds, definition(plural));
        else
          side.send(Method::delete_, crds + "/" + plural + ".example.com");
        side.send(Method::post, "/apis/example.com/v1/namespaces/default/" + plural,
                  R"({"apiVersion":"example.com/v1","kind":"K)" + plural + R"(","metadata":{"name":")" +
                      name + R"("}})");
        break;
      }
      case 12:
        side.get(space + "/configmaps?limit=3");
        break;
      default:
        Side made = side.fork();
        if (sides.size() < 6)
          sides.push_back(std::move(made));
        else
          sides[below(6)] = std::move(made);
    }
  }
  for (Side& side : sides) {
    for (const char* target : {"/api/v1/configmaps", "/api/v1/namespaces", "/apis"}) side.get(target);
    side.get(crds);
    side.get("/api/v1/configmaps?watch=1&resourceVersion=" + std::to_string(side.version() - 60));
    expect_plain_replay(side, options);
  }
}

TEST(WorldConcurrency, OfOneSnapshotMayBeOnDifferentThreads) {
  Side original;
  original.send(Method::post, crds, definition("ships"));
  for (int at = 0; at < 60; ++at)
    original.send(Method::post, maps, config_map("m" + std::to_string(at), std::to_string(at % 3)));
  for (int at = 0; at < 20; ++at) original.send(Method::delete_, maps + "/m" + std::to_string(at));
  const World world = original.snapshot();
  const auto drive = [](Side& side) {
    const std::string pods = "/api/v1/namespaces/default/pods";
    side.get(maps + "?watch=1&resourceVersion=1001");  // has DELETED events of before
    side.get(maps + "?labelSelector=app%3D1");
    side.get("/apis/apps/v1/deployments");  // a kind that the original never served
    side.send(Method::post, crds, definition("boats"));
    for (int at = 20; at < 60; ++at) {
      const std::string one = maps + "/m" + std::to_string(at);
      side.get(one);
      side.send(Method::patch, one, R"({"data":{"more":"x"}})");
      if (at % 3 == 0) side.send(Method::delete_, one);
      side.send(Method::post, "/apis/example.com/v1/namespaces/default/ships",
                R"({"apiVersion":"example.com/v1","kind":"Kships","metadata":{"name":"a)" +
                    std::to_string(at) + R"("}})");
      side.send(Method::post, pods,
                R"({"metadata":{"name":"p)" + std::to_string(at) +
                    R"("},"spec":{"containers":[{"name":"c","image":"i"}]}})");
    }
    side.get(maps + "?watch=1&resourceVersion=1001");
    side.send(Method::delete_, crds + "/ships.example.com");
    side.work();
    side.get(pods);
  };
  Side one(world);
  Side two(world);
  {
    const std::jthread first([&] { drive(one); });
    const std::jthread second([&] {
      drive(two);
      two.snapshot();
    });
    Side third(world);
    drive(original);
  }
  ASSERT_EQ(one.steps().size(), two.steps().size());
  const std::size_t skipped = original.steps().size() - one.steps().size();
  for (std::size_t at = 0; at < one.steps().size(); ++at) {
    EXPECT_EQ(one.steps()[at].result, two.steps()[at].result);
    EXPECT_EQ(one.steps()[at].result, original.steps()[at + skipped].result);
  }
}

}  // namespace evenkeel::apiserver
