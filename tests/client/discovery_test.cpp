// SPDX-License-Identifier: Apache-2.0
#include <future>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/client/discovery.hpp>
#include <evenkeel/client/resource_client.hpp>

#include "../support/error_text.hpp"
#include "fake_transport.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using tests::error_of;

constexpr const char* core_group = R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2",
  "items":[{"metadata":{},"versions":[{"version":"v1","freshness":"Current","resources":[
    {"resource":"pods","responseKind":{"group":"","version":"","kind":"Pod"},"scope":"Namespaced",
     "singularResource":"pod","verbs":["get","list"],"shortNames":["po"],"categories":["all"],
     "subresources":[{"subresource":"eviction","verbs":["create"],
                      "responseKind":{"group":"policy","version":"v1","kind":"Eviction"}}]},
    {"resource":"events","responseKind":{"kind":"Event"},"scope":"Namespaced","singularResource":"event",
     "verbs":["get"],"shortNames":["ev"]},
    {"resource":"namespaces","responseKind":{"kind":"Namespace"},"scope":"Cluster","singularResource":"namespace",
     "verbs":["get"],"shortNames":["ns"]},
    {"resource":"onlyparent","verbs":[],"scope":"Cluster"}]}]}]})";

/// Returns one version of a group with one resource.
std::string version(const std::string& name, const std::string& plural, const std::string& kind,
                    const std::string& freshness = "Current") {
  return R"({"version":")" + name + R"(","freshness":")" + freshness + R"(","resources":[{"resource":")" +
         plural + R"(","responseKind":{"kind":")" + kind +
         R"("},"scope":"Namespaced","singularResource":"","verbs":["get"],"shortNames":["x"]}]})";
}
std::string group(const std::string& name, const std::string& versions) {
  return R"({"metadata":{"name":")" + name + R"("},"versions":[)" + versions + "]}";
}
std::string aggregated(const std::string& groups) {
  return R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[)" + groups + "]}";
}

class DiscoveryTest : public ::testing::Test {
 protected:
  /// Queues the two documents of an aggregated discovery.
  void serve(const std::string& groups) {
    transport->reply(200, core_group);
    transport->reply(200, aggregated(groups));
  }
  std::vector<std::string> targets() {
    std::vector<std::string> result;
    for (const auto& request : transport->requests()) result.push_back(request.target);
    return result;
  }

  std::shared_ptr<tests::FakeTransport> transport = std::make_shared<tests::FakeTransport>();
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  Client client{Config{.server = "https://h"},
                ClientOptions{.transport = transport, .clock = clock, .retry = {.max_retries = 0}}};
  Discovery discovery{client};
};

TEST_F(DiscoveryTest, ResolvesAKindWithWhatTheServerSaysOfIt) {
  serve(group("apps", version("v1", "deployments", "Deployment")));
  const ApiResource pod = discovery.find_kind("", "Pod");
  EXPECT_EQ(pod.id, ResourceId("", "v1", "Pod", "pods", Scope::namespaced));
  EXPECT_EQ(pod.singular, "pod");
  EXPECT_THAT(pod.short_names, ElementsAre("po"));
  EXPECT_THAT(pod.categories, ElementsAre("all"));
  EXPECT_TRUE(pod.has_verb("list"));
  EXPECT_FALSE(pod.has_verb("watch"));
  ASSERT_TRUE(pod.has_subresource("eviction"));
  EXPECT_EQ(pod.subresources[0].kind, "Eviction");
  EXPECT_EQ(discovery.find_kind("", "Namespace").id.scope, Scope::cluster);
  EXPECT_EQ(discovery.find_kind("apps", "Deployment", "v1").id.plural, "deployments");
  EXPECT_EQ(discovery.resources().size(), 4U) << "one resource is only a parent";
  EXPECT_THAT(targets(), ElementsAre("/api", "/apis")) << "asked once";
  EXPECT_THAT(*transport->last().headers.find("Accept"), HasSubstr("g=apidiscovery.k8s.io;v=v2;"));
}

TEST_F(DiscoveryTest, PrefersTheFirstVersionThatHasTheKind) {
  serve(group("demo.io", version("v2", "demos", "Demo") + "," + version("v1", "olds", "Old")));
  EXPECT_EQ(discovery.find_kind("demo.io", "Demo").id.version, "v2");
  EXPECT_EQ(discovery.find_kind("demo.io", "Old").id.version, "v1");
  EXPECT_EQ(discovery.preferred_version("demo.io"), "v2");
  EXPECT_EQ(discovery.preferred_version(""), "v1");
  EXPECT_EQ(error_of([&] { discovery.preferred_version("other.io"); }), "no match for group \"other.io\"");
}

TEST_F(DiscoveryTest, ResolvesNamesWithAndWithoutAGroup) {
  serve(group("events.k8s.io", version("v1", "events", "Event")) + "," +
        group("apps",
              version("v1", "deployments", "Deployment") + "," + version("v0", "deployments", "Deployment")) +
        "," + group("pod.io", version("v1", "po", "Po")));
  EXPECT_EQ(discovery.find_name("pods").id.kind, "Pod");
  EXPECT_EQ(discovery.find_name("Pod").id.kind, "Pod");
  EXPECT_EQ(discovery.find_name("ns").id.kind, "Namespace");
  EXPECT_EQ(discovery.find_name("deployments").id.version, "v1");
  EXPECT_EQ(discovery.find_name("po").id.kind, "Po") << "a plural precedes a short name";
  EXPECT_EQ(discovery.find_name("events.events.k8s.io").id.group, "events.k8s.io");
  EXPECT_EQ(discovery.find_name("events.").id.group, "");
  EXPECT_EQ(error_of([&] { discovery.find_name("events"); }),
            "resource \"events\" is ambiguous: events, events.events.k8s.io");
  EXPECT_EQ(error_of([&] { discovery.find_name("pods.apps"); }), "no match for resource \"pods.apps\"");
}

TEST_F(DiscoveryTest, SaysWhyAKindHasNoMatch) {
  serve(group("demo.io", version("v1", "demos", "Demo")) + "," +
        group("twice.io", R"({"version":"v1","resources":[
          {"resource":"ones","responseKind":{"kind":"Twin"},"scope":"Cluster"},
          {"resource":"others","responseKind":{"kind":"Twin"},"scope":"Cluster"}]})"));
  const auto error = [&](auto... names) { return error_of([&] { discovery.find_kind(names...); }); };
  EXPECT_EQ(error("", "Widget"), "no match for kind \"Widget\" in the core group");
  EXPECT_EQ(error("demo.io", "Widget"), "no match for kind \"Widget\" in group \"demo.io\"");
  EXPECT_EQ(error("demo.io", "Demo", "v2"), "no match for kind \"Demo\" in version \"demo.io/v2\"");
  EXPECT_EQ(error("", "Demo", "v1"), "no match for kind \"Demo\" in version \"v1\"");
  EXPECT_EQ(error("twice.io", "Twin"),
            "kind \"Twin\" in group \"twice.io\" is ambiguous: ones.twice.io, others.twice.io");
  EXPECT_EQ(targets().size(), 2U);
}

TEST_F(DiscoveryTest, ADeadGroupHidesNoOther) {
  const std::string dead = group("metrics.k8s.io", R"({"version":"v1beta1","freshness":"Stale"})");
  const std::string demos = group("demo.io", version("v1", "demos", "Demo"));
  serve(dead + "," + demos);
  EXPECT_EQ(discovery.find_kind("demo.io", "Demo").id.plural, "demos");
  try {
    discovery.find_kind("metrics.k8s.io", "PodMetrics");
    FAIL();
  } catch (const DiscoveryError& error) {
    EXPECT_EQ(error.code(), DiscoveryErrorCode::unavailable);
    EXPECT_STREQ(error.what(),
                 "no match for kind \"PodMetrics\" in group \"metrics.k8s.io\": metrics.k8s.io/v1beta1 is "
                 "unavailable: its API server does not answer");
  }
  EXPECT_EQ(error_of([&] { discovery.find_name("nodes.metrics.k8s.io"); }),
            "no match for resource \"nodes.metrics.k8s.io\"; unavailable: metrics.k8s.io/v1beta1");
  // It comes back, and dies again: what is known of it stays.
  clock->advance(10s);
  serve(group("metrics.k8s.io", version("v1beta1", "pods", "PodMetrics")) + "," + demos);
  EXPECT_EQ(discovery.find_kind("metrics.k8s.io", "PodMetrics").id.plural, "pods");
  serve(dead + "," + demos);
  discovery.refresh();
  EXPECT_EQ(discovery.find_kind("metrics.k8s.io", "PodMetrics").id.plural, "pods");
  EXPECT_TRUE(transport->exhausted());
}

TEST_F(DiscoveryTest, AMissAsksAgainButNotEachTime) {
  const std::string demos = group("demo.io", version("v1", "demos", "Demo"));
  serve(demos);
  const auto find_new = [&] { return discovery.find_kind("new.io", "New").id.plural; };
  EXPECT_EQ(error_of(find_new), "no match for kind \"New\" in group \"new.io\"");
  EXPECT_EQ(targets().size(), 2U) << "the answer is new";
  clock->advance(9999ms);
  for (int i = 0; i < 3; ++i) EXPECT_THROW(find_new(), DiscoveryError);
  EXPECT_EQ(targets().size(), 2U);
  clock->advance(1ms);
  serve(demos);
  for (int i = 0; i < 3; ++i) EXPECT_THROW(find_new(), DiscoveryError);
  EXPECT_EQ(targets().size(), 4U);
  clock->advance(10s);
  EXPECT_EQ(discovery.find_kind("demo.io", "Demo").id.plural, "demos");
  EXPECT_EQ(targets().size(), 4U) << "a match never asks";
  serve(demos + "," + group("new.io", version("v1", "news", "New")));
  EXPECT_EQ(find_new(), "news");
}

TEST_F(DiscoveryTest, AFailedRefreshIsTheAnswerForTheSameTime) {
  serve(group("demo.io", version("v1", "demos", "Demo")));
  discovery.refresh();
  clock->advance(10s);
  transport->reply(500, "");
  const auto find_new = [&] { discovery.find_kind("new.io", "New"); };
  for (int i = 0; i < 2; ++i) EXPECT_THAT(error_of(find_new), HasSubstr("GET /api: 500"));
  EXPECT_EQ(targets().size(), 3U);
  EXPECT_EQ(discovery.find_kind("demo.io", "Demo").id.plural, "demos") << "what is known stays";
  clock->advance(10s);
  serve("");
  EXPECT_THROW(find_new(), DiscoveryError);
  EXPECT_EQ(targets().size(), 5U);
}

TEST_F(DiscoveryTest, AsksAServerWithoutAggregationForEachVersion) {
  transport->reply(200, R"({"kind":"APIVersions","versions":["v1"]})");
  transport->reply(200, R"({"kind":"APIResourceList","groupVersion":"v1","resources":[
    {"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod","verbs":["get"],"shortNames":["po"]},
    {"name":"pods/eviction","namespaced":true,"kind":"Eviction","verbs":["create"]}]})");
  transport->reply(200, R"({"kind":"APIGroupList","groups":[
    {"name":"metrics.k8s.io","versions":[{"groupVersion":"metrics.k8s.io/v1beta1","version":"v1beta1"}]},
    {"name":"demo.io","preferredVersion":{"version":"v1"},
     "versions":[{"version":"v2"},{"version":"v1"}]}]})");
  transport->reply(503, "");
  const std::string demos = R"({"kind":"APIResourceList","resources":[
    {"name":"demos","singularName":"demo","namespaced":false,"kind":"Demo","verbs":["get"]}]})";
  transport->reply(200, demos);
  transport->reply(200, demos);
  EXPECT_EQ(discovery.find_kind("demo.io", "Demo").id,
            ResourceId("demo.io", "v1", "Demo", "demos", Scope::cluster));
  EXPECT_THAT(targets(), ElementsAre("/api", "/api/v1", "/apis", "/apis/metrics.k8s.io/v1beta1",
                                     "/apis/demo.io/v1", "/apis/demo.io/v2"));
  EXPECT_TRUE(discovery.find_name("po").has_subresource("eviction"));
  EXPECT_THAT(error_of([&] { discovery.find_kind("metrics.k8s.io", "PodMetrics"); }),
              HasSubstr("metrics.k8s.io/v1beta1 is unavailable: GET /apis/metrics.k8s.io/v1beta1: 503"));
}

TEST_F(DiscoveryTest, AServerMayLackTheCoreGroupOrForbidIt) {
  for (const int status : {403, 404}) {
    const Discovery other(client);
    transport->reply(status, "");
    transport->reply(200, aggregated(group("demo.io", version("v1", "demos", "Demo"))));
    EXPECT_EQ(other.find_kind("demo.io", "Demo").id.plural, "demos");
  }
}

TEST_F(DiscoveryTest, GarbageIsNamed) {
  const auto find = [&] { Discovery(client).find_kind("", "Pod"); };
  transport->reply(200, "<html>");
  EXPECT_THAT(error_of(find), HasSubstr("/api"));
  transport->reply(200, R"({"kind":"Status"})");
  EXPECT_EQ(error_of(find), "/api: kind: expected APIGroupDiscoveryList, APIGroupList or APIVersions");
  transport->reply(200, R"({"kind":"APIGroupDiscoveryList","items":{}})");
  EXPECT_EQ(error_of(find), "/api: items: expected an array, found object");
  transport->reply(200, R"({"kind":"APIGroupDiscoveryList","items":[{"versions":[{}]}]})");
  EXPECT_EQ(error_of(find), "/api: versions.version: expected text, found null");
}

TEST_F(DiscoveryTest, AFixedListMakesNoRequests) {
  const Discovery fixed(std::vector<ResourceId>{{"demo.io", "v2", "Demo", "demos"},
                                                {"demo.io", "v1", "Demo", "demos"},
                                                {"", "v1", "Node", "nodes", Scope::cluster}});
  EXPECT_EQ(fixed.find_kind("demo.io", "Demo").id.version, "v2");
  EXPECT_EQ(fixed.find_kind("demo.io", "Demo", "v1").id.version, "v1");
  EXPECT_EQ(fixed.find_name("node").id.scope, Scope::cluster);
  EXPECT_EQ(fixed.with({.timeout = 1s}).preferred_version("demo.io"), "v2");
  EXPECT_THROW(fixed.find_kind("demo.io", "Other"), DiscoveryError);
  fixed.refresh();
  EXPECT_TRUE(targets().empty());
}

TEST_F(DiscoveryTest, RejectsAnIntervalThatIsNone) {
  EXPECT_EQ(error_of([&] { Discovery(client, {.refresh_interval = 0s}); }),
            "DiscoveryOptions.refresh_interval: must be positive");
}

TEST_F(DiscoveryTest, IsServedAsksForOneVersionAndRemembersNothing) {
  const auto resources = [](const std::string& name, const std::string& kind) {
    return R"({"kind":"APIResourceList","resources":[{"name":")" + name + R"(","kind":")" + kind +
           R"(","namespaced":true}]})";
  };
  for (int i = 0; i < 4; ++i) transport->reply(200, resources("demos", "Demo"));
  EXPECT_TRUE(is_served(client, {"demo.io", "v1", "Demo", "demos"}));
  EXPECT_TRUE(is_served(client, {"demo.io", "v1", "Demo", "demos"}));
  EXPECT_FALSE(is_served(client, {"demo.io", "v1", "Demo", "others"}));
  EXPECT_FALSE(is_served(client, {"demo.io", "v1", "Other", "demos"}));
  transport->reply(404, "404 page not found\n");
  EXPECT_FALSE(is_served(client, {"demo.io", "v2", "Demo", "demos"}));
  transport->reply(200, resources("pods", "Pod"));
  EXPECT_TRUE(is_served(client, {"", "v1", "Pod", "pods"}));
  const std::string v1 = "/apis/demo.io/v1";
  EXPECT_THAT(targets(), ElementsAre(v1, v1, v1, v1, "/apis/demo.io/v2", "/api/v1"));
}

TEST_F(DiscoveryTest, IsServedThrowsInDoubt) {
  const auto ask = [&] { is_served(client, {"demo.io", "v1", "Demo", "demos"}); };
  transport->reply(503, "");
  EXPECT_THAT(error_of(ask), HasSubstr("GET /apis/demo.io/v1: 503"));
  transport->reply(403, "");
  EXPECT_THAT(error_of(ask), HasSubstr("GET /apis/demo.io/v1: 403"));
  transport->reply(200, "<html>");
  EXPECT_THAT(error_of(ask), HasSubstr("/apis/demo.io/v1: "));
  transport->reply(200, R"({"resources":{}})");
  EXPECT_EQ(error_of(ask), "/apis/demo.io/v1: resources: expected an array, found object");
  transport->reply(200, R"({"resources":[{}]})");
  EXPECT_EQ(error_of(ask), "/apis/demo.io/v1: resources.name: expected text, found null");
}

using DiscoveryConcurrency = DiscoveryTest;

TEST_F(DiscoveryConcurrency, LookupsShareOneRefreshAndCanBeStoppedAlone) {
  transport->hang();
  transport->reply(200, aggregated(group("demo.io", version("v1", "demos", "Demo"))));
  std::promise<void> asked;
  transport->on_request = [&](const http::Request& request) {
    if (request.target == "/api") asked.set_value();
  };
  std::string first, second;
  std::thread one([&] { first = discovery.find_kind("demo.io", "Demo").id.plural; });
  asked.get_future().wait();
  std::thread two([&] { second = discovery.find_kind("demo.io", "Demo").id.plural; });
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(error_of([&] { discovery.with({.stop = stop.get_token()}).find_kind("demo.io", "Demo"); }),
            "discovery: cancelled");
  EXPECT_EQ(error_of([&] { discovery.with({.deadline = clock->now()}).find_kind("demo.io", "Demo"); }),
            "discovery: deadline exceeded");
  transport->release({.status = 200, .headers = {}, .body = core_group});
  one.join();
  two.join();
  EXPECT_EQ(first, "demos");
  EXPECT_EQ(second, "demos");
  EXPECT_EQ(targets().size(), 2U);
}

}  // namespace
}  // namespace evenkeel
