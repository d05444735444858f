// SPDX-License-Identifier: Apache-2.0
// Malicious requests: the server answers each of them, and continues. Rounds are generated from a seed;
// EVENKEEL_FUZZ_SEED and EVENKEEL_FUZZ_ROUNDS set it and the number of rounds.
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core_fixture.hpp"

namespace evenkeel::apiserver {
namespace {

using tests::CoreFixture;
using tests::CoreReply;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

const std::vector<std::string> content_types = {"application/json",
                                                "application/yaml",
                                                "application/vnd.kubernetes.protobuf",
                                                "application/merge-patch+json",
                                                "application/json-patch+json",
                                                "application/strategic-merge-patch+json",
                                                "application/apply-patch+yaml",
                                                "text/plain"};

// Initial inputs of the mutations, which the parsers know.
const std::vector<std::string> bodies = {
    R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":{"a":"b"}},"data":{"k":"v"}})",
    R"({"apiVersion":"example.com/v1","kind":"Ship","metadata":{"name":"a","finalizers":["a.b/c"]},"spec":{"crew":1}})",
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata: {k: \"v\", l: |\n    text\n  }\n",
    "apiVersion: v1\nkind: Secret\nmetadata: &m {name: a, labels: &l {x: y}}\nstringData: *l\n",
    R"([{"op":"add","path":"/data/x","value":"y"},{"op":"test","path":"/data/k","value":"v"},{"op":"move","from":"/data/k","path":"/data/l"}])",
    R"({"data":{"k":null},"metadata":{"$patch":"replace","resourceVersion":"1","managedFields":[{}]}})",
    R"({"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0,"preconditions":{"uid":"x"},"propagationPolicy":"Orphan"})",
    std::string("k8s\0\n\x0f\n\x02v1\x12\x09ConfigMap\x12\x12\n\x0b\n\x01"
                "a\x12\0\x1a\0\"\0*\0\x12\x03\n\x01k",
                40)};
const std::vector<std::string> targets = {
    "/api/v1/namespaces/default/configmaps",
    "/api/v1/namespaces/default/configmaps/a",
    "/api/v1/namespaces/default/configmaps/a?fieldManager=x&force=true",
    "/apis/example.com/v1/namespaces/default/ships",
    "/apis/example.com/v1/namespaces/default/ships/a?fieldManager=x",
    "/apis/example.com/v1/namespaces/default/ships/a/scale",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "/api/v1/namespaces/default/secrets",
    "/apis/apps/v1/namespaces/default/deployments?fieldValidation=Strict",
    "/api/v1/configmaps?labelSelector=a%20in%20(b,c),!d&fieldSelector=metadata.name!=x&limit=1&continue=abc",
    "/api/v1/configmaps?watch=1&resourceVersion=1&timeoutSeconds=1&sendInitialEvents=true",
    "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"};

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t count) { return static_cast<std::size_t>(random_() % count); }
  const std::string& one_of(const std::vector<std::string>& choices) {
    return choices[below(choices.size())];
  }

  std::string mutated(std::string text) {
    for (std::size_t times = below(6); times > 0; --times) change(text);
    return text;
  }

 private:
  void change(std::string& text) {
    static const std::vector<std::string> pieces = {"{",
                                                    "}",
                                                    "[",
                                                    "]",
                                                    "\"",
                                                    ":",
                                                    ",",
                                                    "\\u0000",
                                                    "-",
                                                    "1e999",
                                                    "null",
                                                    "\xff",
                                                    "*m",
                                                    "&m ",
                                                    "<<: ",
                                                    "---\n",
                                                    "%",
                                                    "/",
                                                    "~1~2",
                                                    "\\ud800",
                                                    "\t",
                                                    "\x80\x80\x80\x80\x80\x80\x01",
                                                    std::string(1, '\0'),
                                                    "99999999999999999999",
                                                    "!!binary ",
                                                    "? "};
    const std::size_t at = below(text.size() + 1);
    switch (below(5)) {
      case 0:
        text.insert(at, one_of(pieces));
        break;
      case 1:
        text.erase(at, below(20));
        break;
      case 2:
        if (at < text.size()) text[at] = static_cast<char>(random_());
        break;
      case 3:
        text.insert(at, text.substr(below(text.size() + 1), below(60)));
        break;
      default:
        text.resize(at);
    }
  }

  std::mt19937_64 random_;
};

class HostileInput : public CoreFixture {
 protected:
  void SetUp() override { install_ships(); }
  // Checks that the server still stores objects and sends events.
  void expect_at_work() {
    static int count = 0;
    const std::string name = "probe-" + std::to_string(++count);
    ASSERT_EQ(post(maps, config_map(name)).status, 201);
    ASSERT_EQ(get(maps + "/" + name).status, 200);
  }
};

TEST_F(HostileInput, BodiesAndTargetsWithRandomDamageAreAnswered) {
  const std::uint64_t seed = number_from("EVENKEEL_FUZZ_SEED", 1);
  const std::uint64_t rounds = number_from("EVENKEEL_FUZZ_ROUNDS", 3000);
  SCOPED_TRACE("EVENKEEL_FUZZ_SEED=" + std::to_string(seed));
  Mutator mutator(seed);
  constexpr http::Method methods[] = {http::Method::get, http::Method::post, http::Method::put,
                                      http::Method::patch, http::Method::delete_};
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const http::Method method = methods[mutator.below(5)];
    std::string target = mutator.one_of(targets);
    if (mutator.below(4) == 0) target = "/" + mutator.mutated(target);
    const std::string body = mutator.mutated(mutator.one_of(bodies));
    const std::string type = mutator.one_of(content_types);
    const Answer answer = core.handle({.method = method,
                                       .target = target,
                                       .headers = {{"Content-Type", type}, {"Accept", "application/json"}},
                                       .body = body},
                                      now);
    ASSERT_GE(answer.response.status, 200) << "round " << round;
    ASSERT_LT(answer.response.status, 600) << "round " << round;
    // A 500 is permitted only where a real server responds with one, too.
    const bool internal = answer.response.status == 500 &&
                          answer.response.body.find("resourceVersion: Invalid value") == std::string::npos;
    ASSERT_FALSE(internal) << "round " << round << ": " << target << "\n"
                           << body << "\n"
                           << answer.response.body;
    if (answer.watch) {
      core.read_watch(*answer.watch);
      core.close_watch(*answer.watch);
    }
    if (round % 100 == 0) core.on_timeout(now);
  }
  expect_at_work();
}

// Regression: periods that no time can express overflowed when they were converted.
TEST_F(HostileInput, PeriodsThatNoTimeCanExpressAreShortened) {
  const std::string longest = std::to_string(std::numeric_limits<std::int64_t>::max());
  const CoreReply stream = get(maps + "?watch=1&timeoutSeconds=" + longest);
  EXPECT_EQ(stream.status, 200);
  core.on_timeout(now += std::chrono::hours(1));
  events(stream);
  EXPECT_FALSE(ended) << "the end of the watch was in the past";
  const std::string pods = "/api/v1/namespaces/default/pods";
  ASSERT_EQ(post(pods, Json::parse(R"({"metadata":{"name":"long"},"spec":{"nodeName":"n",)"
                                   R"("containers":[{"name":"c","image":"i"}]}})"))
                .status,
            201);
  const CoreReply marked = remove(pods + "/long?gracePeriodSeconds=" + longest);
  EXPECT_EQ(marked.body.at({"metadata", "deletionGracePeriodSeconds"}), Json(1'000'000'000)) << marked.text;
}

// Nesting that could overflow the stack of a recursive parser or traversal.
TEST_F(HostileInput, DeepNestingIsRefused) {
  constexpr std::size_t depth = 40'000;
  const auto repeated = [](const std::string& piece, std::size_t times) {
    std::string out;
    for (; times > 0; --times) out += piece;
    return out;
  };
  const std::string nested[] = {std::string(depth, '['),
                                std::string(depth, '[') + std::string(depth, ']'),
                                repeated(R"({"a":)", depth) + "1" + std::string(depth, '}'),
                                R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":)" +
                                    repeated(R"({"a":)", depth) + "1" + std::string(depth, '}') + "}",
                                repeated("- ", depth) + "a",
                                repeated("{a: ", depth)};
  const std::vector<std::string> heads = {maps, ships, maps + "/a?fieldManager=x",
                                          ships + "/a?fieldManager=x"};
  post(maps, config_map("a"));
  post(ships, ship("a"));
  for (const std::string& body : nested) {
    for (const std::string& type : content_types) {
      for (const http::Method method :
           {http::Method::post, http::Method::put, http::Method::patch, http::Method::delete_}) {
        const CoreReply reply = send(method, method == http::Method::post ? heads[0] : heads[2], body, type);
        if (method != http::Method::delete_) {
          EXPECT_GE(reply.status, 400) << type << " " << body.substr(0, 20);
        }
        send(method, method == http::Method::post ? heads[1] : heads[3], body, type);
      }
    }
  }
  expect_at_work();
}

// A few lines of YAML, each of which refers to the previous one ten times.
TEST_F(HostileInput, AliasesDoNotMultiplyWithoutBound) {
  std::string yaml = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\na0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int level = 1; level < 10; ++level) {
    const std::string before = "*a" + std::to_string(level - 1);
    yaml += "a" + std::to_string(level) + ": &a" + std::to_string(level) + " [" + before;
    for (int at = 0; at < 9; ++at) yaml += "," + before;
    yaml += "]\n";
  }
  EXPECT_GE(send(http::Method::post, maps, yaml, "application/yaml").status, 400);
  EXPECT_GE(apply(maps + "/a?fieldManager=x", yaml).status, 400);
  expect_at_work();
}

// Patterns and rules of a CRD that would run practically without end.
TEST_F(HostileInput, PatternsThatBacktrackEndSoon) {
  const std::string pattern = "(a+)+$";
  const CoreReply made = post(
      crds,
      Json::parse(
          R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",)"
          R"("metadata":{"name":"traps.example.com"},"spec":{"group":"example.com","scope":"Namespaced",)"
          R"("names":{"plural":"traps","kind":"Trap"},"versions":[{"name":"v1","served":true,)"
          R"("storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"word":)"
          R"({"type":"string","pattern":")" +
          pattern + R"("}}}}}]}})"));
  ASSERT_EQ(made.status, 201) << made.text;
  Json object = Json::parse(R"({"apiVersion":"example.com/v1","kind":"Trap","metadata":{"name":"a"}})");
  object["word"] = std::string(50'000, 'a') + "!";
  EXPECT_EQ(post("/apis/example.com/v1/namespaces/default/traps", object).status, 422);
  expect_at_work();
}

}  // namespace
}  // namespace evenkeel::apiserver
