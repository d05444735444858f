// SPDX-License-Identifier: Apache-2.0
// The embedded API server calls webhooks: over TLS those that the library serves, and functions of the
// process.
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/bytes.hpp>
#include <evenkeel/api/crd.hpp>
#include <evenkeel/apiserver/in_process_transport.hpp>
#include <evenkeel/apiserver/webhook_caller.hpp>
#include <evenkeel/http/curl_transport.hpp>

#include "webhook_cluster.hpp"
#include "website.hpp"

namespace evenkeel::webhook_tests {
namespace embedded {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Website site_of(const char* name, const char* image) {
  Website site;
  site.metadata.name = name;
  site.metadata.namespace_ = "default";
  site.spec.image = image;
  return site;
}

// Returns what the error of a create says.
std::string refusal(const Client& client, const Website& site) {
  try {
    client.create(site);
  } catch (const ApiError& error) {
    return error.status().message;
  }
  return "created";
}

// A server with the definition of Website that calls the webhooks of a server.
struct Cluster : WebhookCluster {
  explicit Cluster(const Webhook& webhook) {
    hooks.add(webhook);
    hooks.start();
    api.install(crd_for<Website>().dump());
  }
  // Installs the configurations of the webhook.
  void configure(const Webhook& webhook, WebhookTarget target) {
    for (const Json& object : webhook_configurations(std::vector{webhook}, "demo", target))
      api.install(object.dump());
  }
};

Webhook defaults_and_limits() {
  return webhook_for<Website>()
      .defaults([](Website& site, const AdmissionRequest& request) {
        if (!site.spec.replicas) site.spec.replicas = 2;
        site.metadata.annotations.try_emplace("author", request.user.name);
      })
      .validates([](const Validation<Website>& it) {
        ValidationResult result;
        if (it.object.spec.replicas.value_or(0) > 10) result.invalid("spec.replicas", "must be at most 10");
        if (it.object.spec.image == "old") result.warn("this image is old");
        return result;
      });
}

TEST(EmbeddedServerConcurrency, CallsWebhooksByUrl) {
  const Webhook webhook = defaults_and_limits();
  Cluster cluster(webhook);
  cluster.configure(webhook, cluster.by_url());
  const Snapshot<Website> made = cluster.client.create(site_of("a", "nginx"));
  EXPECT_EQ(made->spec.replicas, 2);
  EXPECT_EQ(made->metadata.annotations.at("author"), "kubernetes-admin");
  Website large = site_of("b", "nginx");
  large.spec.replicas = 11;
  EXPECT_THAT(
      refusal(cluster.client, large),
      StartsWith(R"(admission webhook "validate-v2.websites.demo.example.com" denied the request: )"));
  EXPECT_THAT(refusal(cluster.client, large), HasSubstr("spec.replicas: Invalid value"));
}

TEST(EmbeddedServerConcurrency, CallsWebhooksByService) {
  const Webhook webhook = defaults_and_limits();
  Cluster cluster(webhook);
  cluster.configure(webhook, cluster.by_service());
  EXPECT_EQ(cluster.client.create(site_of("a", "nginx"))->spec.replicas, 2);
}

TEST(EmbeddedServerConcurrency, SaysWhyAWebhookCouldNotBeCalled) {
  const Webhook webhook = defaults_and_limits();
  Cluster cluster(webhook);
  WebhookTarget target = cluster.by_service();
  target.service.name = "nobody";
  cluster.configure(webhook, target);
  const std::string start =
      R"(Internal error occurred: failed calling webhook "mutate-v2.websites.demo.example.com": failed to call webhook: )";
  EXPECT_EQ(refusal(cluster.client, site_of("a", "nginx")),
            start + R"(Post "https://nobody.team.svc:443/mutate-demo-example-com-v2-website?timeout=10s": )" +
                R"(service "nobody" not found)");
}

TEST(EmbeddedServerConcurrency, TrustsTheBundleOnly) {
  const Webhook webhook = defaults_and_limits();
  Cluster cluster(webhook);
  WebhookTarget target = cluster.by_url();
  target.ca_bundle = detail::make_authority("other", today()).certificate;
  cluster.configure(webhook, target);
  EXPECT_THAT(refusal(cluster.client, site_of("a", "nginx")), HasSubstr("tls: failed to verify certificate"));
}

TEST(EmbeddedServerConcurrency, GivesUpAWebhookThatIsTooSlow) {
  std::promise<void> leave;
  const std::shared_future<void> left = leave.get_future().share();
  const Webhook webhook = webhook_for<Website>().validates(
      [left](const Validation<Website>&) {
        left.wait();
        return ValidationResult::allow();
      },
      {.timeout = 1s});
  Cluster cluster(webhook);
  cluster.configure(webhook, cluster.by_url());
  EXPECT_THAT(refusal(cluster.client, site_of("a", "nginx")), HasSubstr("context deadline exceeded"));
  leave.set_value();
}

TEST(EmbeddedServerConcurrency, ServesOthersWhileAWebhookIsSlow) {
  std::promise<void> entered;
  std::promise<void> leave;
  const Webhook webhook = webhook_for<Website>().validates([&](const Validation<Website>&) {
    entered.set_value();
    leave.get_future().wait();
    return ValidationResult::allow();
  });
  Cluster cluster(webhook);
  cluster.configure(webhook, cluster.by_url());
  std::thread slow([&] { cluster.client.create(site_of("a", "nginx")); });
  entered.get_future().wait();
  EXPECT_FALSE(cluster.client.find<Website>({"default", "a"})) << "nothing is stored yet";
  leave.set_value();
  slow.join();
  EXPECT_TRUE(cluster.client.find<Website>({"default", "a"}));
}

TEST(EmbeddedServerConcurrency, LetsAWebhookAskTheServerThatCallsIt) {
  std::optional<Client> client;
  const Webhook webhook = webhook_for<Website>().validates([&](const Validation<Website>& it) {
    if (it.object.metadata.name == "inner") return ValidationResult::allow();
    client->create(site_of("inner", "nginx"));
    return ValidationResult::allow();
  });
  Cluster cluster(webhook);
  client.emplace(cluster.api.config());
  cluster.configure(webhook, cluster.by_url());
  cluster.client.create(site_of("outer", "nginx"));
  EXPECT_TRUE(cluster.client.find<Website>({"default", "inner"}));
}

// A review's answer that allows it, with a patch.
std::string allow_with(const std::string& review, const char* patch) {
  const Json asked = Json::parse(review);
  Json response = Json::object({{"uid", asked.at({"request", "uid"})}, {"allowed", true}});
  response["patchType"] = "JSONPatch";
  response["patch"] = Bytes(patch).base64();
  return Json::object(
             {{"apiVersion", asked["apiVersion"]}, {"kind", "AdmissionReview"}, {"response", response}})
      .dump();
}

const char* const configuration = R"(
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: m}
webhooks:
- name: m.example.com
  clientConfig: {service: {namespace: team, name: hooks, path: /m}}
  rules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE]}]
  sideEffects: None
  admissionReviewVersions: [v1]
)";
constexpr char function_url[] = "https://hooks.team.svc:443/m";

http::Request new_map(const char* name) {
  return {.method = http::Method::post,
          .target = "/api/v1/namespaces/default/configmaps",
          .headers = {{"Content-Type", "application/json"}},
          .body = std::string(R"({"metadata":{"name":")") + name + R"("},"data":{"k":"v"}})"};
}

TEST(FunctionWebhook, AnswersInVirtualTime) {
  const auto clock = std::make_shared<ManualClock>();
  const auto core = std::make_shared<apiserver::SharedCore>(apiserver::SharedCoreOptions{
      .webhooks = apiserver::make_function_webhook_caller(
          {{function_url,
            [](const std::string& review) {
              return allow_with(review, R"([{"op":"add","path":"/data/m","value":"1"}])");
            }}}),
      .clock = clock});
  core->install(configuration);
  apiserver::InProcessTransport transport(core, {.pumped = true});
  std::string body;
  const auto call =
      transport.send(new_map("a"), [&](Outcome<http::Response> outcome) { body = outcome.value().body; });
  while (transport.pump() > 0) {
  }
  EXPECT_EQ(Json::parse(body)["data"], Json::parse(R"({"k":"v","m":"1"})"));
  EXPECT_EQ(Json::parse(core->handle(new_map("b")).body).at({"data", "m"}), Json("1"));
}

TEST(FunctionWebhook, FailsWithTheTextOfAnException) {
  const auto core = std::make_shared<apiserver::SharedCore>(apiserver::SharedCoreOptions{
      .webhooks = apiserver::make_function_webhook_caller(
          {{function_url, [](const std::string&) -> std::string { throw Error("out of order"); }}})});
  core->install(configuration);
  EXPECT_EQ(
      Json::parse(core->handle(new_map("a")).body)["message"],
      Json(R"(Internal error occurred: failed calling webhook "m.example.com": failed to call webhook: )"
           R"(Post "https://hooks.team.svc:443/m?timeout=10s": out of order)"));
}

TEST(FunctionWebhookConcurrency, MayAskTheServerOnAThreadOfItsOwn) {
  std::optional<apiserver::ApiServer> server;
  std::atomic<int> status = 0;
  server.emplace(apiserver::ApiServerOptions{
      .webhooks = apiserver::make_function_webhook_caller(
          {{function_url,
            [&](const std::string& review) {
              const auto client = http::make_curl_transport({.server = server->url(), .proxy = ""});
              status = client->fetch({.target = "/api/v1/namespaces/default"}).status;
              return allow_with(review, R"([{"op":"add","path":"/data/m","value":"1"}])");
            }}},
          {.threads = 1})});
  server->install("{apiVersion: v1, kind: Namespace, metadata: {name: team}}");
  server->install(configuration);
  const auto client = http::make_curl_transport({.server = server->url(), .proxy = ""});
  const http::Response made = client->fetch(new_map("a"));
  EXPECT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(status, 200);
}

TEST(FunctionWebhookConcurrency, OutlivesTheServerThatWaitsForIt) {
  std::promise<void> entered;
  std::promise<void> leave;
  std::promise<bool> answered;
  std::atomic<bool> left = false;
  {
    auto server = std::make_unique<apiserver::ApiServer>(apiserver::ApiServerOptions{
        .webhooks = apiserver::make_function_webhook_caller({{function_url,
                                                              [&](const std::string& review) {
                                                                entered.set_value();
                                                                leave.get_future().wait();
                                                                left = true;
                                                                return review;
                                                              }}},
                                                            {.threads = 1})});
    server->install(configuration);
    const auto client = http::make_curl_transport({.server = server->url(), .proxy = ""});
    const auto call = client->send(
        new_map("a"), [&](const Outcome<http::Response>& outcome) { answered.set_value(outcome.ok()); });
    entered.get_future().wait();
    server->stop();
    EXPECT_FALSE(answered.get_future().get()) << "the connection ends without an answer";
    EXPECT_FALSE(left) << "stop() does not wait for the function";
    leave.set_value();
  }
  EXPECT_TRUE(left) << "the caller's end does";
}

}  // namespace embedded
}  // namespace evenkeel::webhook_tests
