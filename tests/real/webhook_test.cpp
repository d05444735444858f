// SPDX-License-Identifier: Apache-2.0
// Webhooks of a manager, called by a real kube-apiserver: defaults, denials with causes, conversion between
// two versions, and certificates that are made, injected and rotated.
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/client/resource_client.hpp>
#include <evenkeel/manager/manager.hpp>
#include <evenkeel/serve/server.hpp>
#include <evenkeel/testing/running_manager.hpp>
#include <evenkeel/webhook/webhook_server.hpp>

#include "../support/await.hpp"
#include "../webhook/website.hpp"
#include "real_environment.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using tests::await;
using tests::environment;
using webhook_tests::OldWebsite;
using webhook_tests::Website;

// A port that nothing uses now.
std::uint16_t free_port() {
  http::Server server;
  const std::size_t site = server.add_site({.address = "127.0.0.1:0"});
  server.start();
  return server.port(site);
}

class RealWebhooks : public ::testing::Test {
 protected:
  RealWebhooks() {
    const std::string address = "127.0.0.1:" + std::to_string(free_port());
    target.url = "https://" + address;
    manager.add(webhook_for<Website>()
                    .defaults([](Website& site, const AdmissionRequest& request) {
                      if (!site.spec.replicas) site.spec.replicas = 2;
                      site.metadata.annotations.try_emplace("author", request.user.name);
                    })
                    .validates([](const Validation<Website>& it) {
                      ValidationResult result;
                      if (it.object.spec.replicas.value_or(0) > 10)
                        result.invalid("spec.replicas", "must be at most 10");
                      return result;
                    }));
    manager.add(conversion_through<Website>().converts<OldWebsite>(
        [](const OldWebsite& from, Website& to) {
          to.spec.replicas = from.spec.size;
          to.spec.image = from.spec.image;
        },
        [](const Website& from, OldWebsite& to) {
          to.spec.size = from.spec.replicas.value_or(1);
          to.spec.image = from.spec.image;
        }));
    manager.serve_webhooks({.address = address,
                            .service = {space, "real-webhook"},
                            .certificates = {.names = {"127.0.0.1"}, .settle = 3s, .check_period = 1s}});
    for (const Json& object : manager.crds(target))
      create(object, "CustomResourceDefinition", "apiextensions.k8s.io");
    for (const Json& object : manager.webhook_configurations(target))
      create(object, object["kind"].as_string(), "admissionregistration.k8s.io");
    running.emplace(manager);
  }

  void create(const Json& object, const std::string& kind, const char* group) {
    std::string plural = kind + "s";
    for (char& c : plural) c = static_cast<char>(std::tolower(c));
    client.resource({group, "v1", kind, plural, Scope::cluster}).create(DynamicObject(object));
  }

  // The API server takes a moment to know a new definition and the injected authorities.
  Snapshot<Website> create_when_possible(const Website& site) {
    Snapshot<Website> made;
    std::string last;
    try {
      await("a webhook that is called", [&] {
        try {
          made = client.create(site);
          return true;
        } catch (const ApiError& error) {
          last = error.what();
          return false;
        }
      });
    } catch (const std::runtime_error& timeout) {
      throw std::runtime_error(std::string(timeout.what()) + ": " + last);
    }
    return made;
  }

  std::string certificate() {
    return client.get<Secret>({space, "real-webhook-certificates"})->data.at("tls.crt").value();
  }

  const Client client{environment().config()};
  const std::string space = tests::fresh_namespace(client);
  WebhookTarget target;
  Manager manager{Client(environment().config()),
                  {.name = "real", .lifecycle = {.shutdown_delay = Duration::zero()}}};
  std::optional<testing::RunningManager> running;
};

Website site_of(const std::string& space, const char* name, std::optional<int> replicas) {
  Website site;
  site.metadata.name = name;
  site.metadata.namespace_ = space;
  site.spec.image = "nginx";
  site.spec.replicas = replicas;
  return site;
}

TEST_F(RealWebhooks, DefaultDenyConvertAndRotate) {
  const auto made = create_when_possible(site_of(space, "web", std::nullopt));
  EXPECT_EQ(made->spec.replicas, 2);
  EXPECT_EQ(made->metadata.annotations.count("author"), 1U);
  EXPECT_EQ(manager.answer_probe("/readyz/webhook").status, 200);

  try {
    client.create(site_of(space, "large", 11));
    ADD_FAILURE() << "it was not denied";
  } catch (const ApiError& error) {
    EXPECT_EQ(error.code(), 422);
    EXPECT_EQ(
        error.message(),
        "admission webhook \"validate-v2.websites.demo.example.com\" denied the request: "
        "Website.demo.example.com \"large\" is invalid: spec.replicas: Invalid value: must be at most 10");
    ASSERT_EQ(error.status().causes.size(), 1U);
    EXPECT_EQ(error.status().causes[0].field, "spec.replicas");
  }

  EXPECT_EQ(client.get<OldWebsite>({space, "web"})->spec.size, 2);
  OldWebsite old;
  old.metadata.name = "old";
  old.metadata.namespace_ = space;
  old.spec.size = 7;
  client.create(old);
  EXPECT_EQ(client.get<Website>({space, "old"})->spec.replicas, 7);

  const std::string before = certificate();
  client.patch<Secret>({space, "real-webhook-certificates"},
                       Patch::merge(Json::parse(R"({"data":{"ca.key":null}})")));
  int writes = 0;
  await("another certificate", [&] {
    client.create(site_of(space, ("during-" + std::to_string(writes++)).c_str(), 1));
    return certificate() != before;
  });
  for (int more = 0; more < 20; ++more)
    client.create(site_of(space, ("after-" + std::to_string(more)).c_str(), 1));
  EXPECT_GE(writes, 1);
  running->stop();
}

}  // namespace
}  // namespace evenkeel
