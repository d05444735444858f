// SPDX-License-Identifier: Apache-2.0
// The embedded API server converts between versions with the conversions that the library serves, over TLS.
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/crd.hpp>
#include <evenkeel/client/watch.hpp>

#include "webhook_cluster.hpp"
#include "website.hpp"

namespace evenkeel::webhook_tests {
namespace embedded_conversion {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Conversion websites() {
  return conversion_through<Website>().converts<OldWebsite>(
      [](const OldWebsite& from, Website& to) {
        if (from.spec.image == "broken") throw Error("this image has no v2");
        to.spec.replicas = from.spec.size;
        to.spec.image = from.spec.image;
      },
      [](const Website& from, OldWebsite& to) {
        to.spec.size = from.spec.replicas.value_or(1);
        to.spec.image = from.spec.image;
      });
}

Json definition(const WebhookTarget& target) {
  Json crd = merge_versions({crd_for<Website>(), crd_for<OldWebsite>()}).front();
  set_conversion_webhook(crd, target);
  return crd;
}

// A server that stores Website and converts it with a webhook.
struct Cluster : WebhookCluster {
  Cluster() {
    hooks.add(websites());
    hooks.start();
  }
  void install(const WebhookTarget& target) { api.install(definition(target).dump()); }
};

OldWebsite old_site(const char* name, int size) {
  OldWebsite site;
  site.metadata.name = name;
  site.metadata.namespace_ = "default";
  site.spec = {.size = size, .image = "nginx"};
  return site;
}

const ObjectKey a{"default", "a"};

// Returns the message of the error of a call.
template <class F>
std::string error_of(F&& call) {
  try {
    call();
  } catch (const ApiError& error) {
    return error.status().message;
  }
  return "no error";
}

void expect_both_versions(const Client& client) {
  const Snapshot<OldWebsite> made = client.create(old_site("a", 3));
  EXPECT_EQ(made->spec.size, 3);
  EXPECT_EQ(client.get<Website>(a)->spec.replicas, 3);
  EXPECT_EQ(
      client.patch(client.get<Website>(a), [](Website& site) { site.spec.replicas = 4; })->spec.replicas, 4);
  EXPECT_EQ(client.get<OldWebsite>(a)->spec.size, 4);
  client.patch(client.get<OldWebsite>(a), [](OldWebsite& site) { site.spec.size = 5; });
  EXPECT_EQ(client.get<Website>(a)->spec.replicas, 5);
}

TEST(EmbeddedConversionConcurrency, WritesAndReadsBothVersionsByUrl) {
  Cluster cluster;
  cluster.install(cluster.by_url());
  expect_both_versions(cluster.client);
}

TEST(EmbeddedConversionConcurrency, WritesAndReadsBothVersionsByService) {
  Cluster cluster;
  cluster.install(cluster.by_service());
  expect_both_versions(cluster.client);
}

TEST(EmbeddedConversionConcurrency, ListsAppliesAndPatchesInTheOldVersion) {
  Cluster cluster;
  cluster.install(cluster.by_url());
  const Client& client = cluster.client;
  client.apply(old_site("a", 3));
  client.create(old_site("b", 5));
  int total = 0;
  for (const auto& site : client.list<OldWebsite>({.namespace_ = "default"}).items) total += site->spec.size;
  EXPECT_EQ(total, 8);
  client.apply(old_site("a", 6));
  EXPECT_EQ(client.get<Website>(a)->spec.replicas, 6);
}

TEST(EmbeddedConversionConcurrency, ConvertsTheEventsOfAWatch) {
  Cluster cluster;
  cluster.install(cluster.by_url());
  cluster.client.create(old_site("a", 3));
  Watch<OldWebsite> watch(cluster.client, {.namespace_ = "default"});
  std::vector<int> sizes = {watch.next({})->object->spec.size};
  cluster.client.patch(cluster.client.get<Website>(a), [](Website& site) { site.spec.replicas = 9; });
  sizes.push_back(watch.next({})->object->spec.size);
  EXPECT_EQ(sizes, (std::vector<int>{3, 9}));
}

TEST(EmbeddedConversionConcurrency, TellsWhyAnObjectCannotBeConverted) {
  Cluster cluster;
  cluster.install(cluster.by_url());
  OldWebsite broken = old_site("a", 3);
  broken.spec.image = "broken";
  EXPECT_EQ(error_of([&] { cluster.client.create(broken); }),
            "conversion webhook for demo.example.com/v1, Kind=Website failed: Website default/a: "
            "demo.example.com/v1 to demo.example.com/v2: this image has no v2");
}

TEST(EmbeddedConversionConcurrency, TrustsTheBundleOnly) {
  Cluster cluster;
  WebhookTarget target = cluster.by_url();
  target.ca_bundle = detail::make_authority("other", today()).certificate;
  cluster.install(target);
  const std::string message = error_of([&] { cluster.client.create(old_site("a", 3)); });
  EXPECT_THAT(message, StartsWith("conversion webhook for demo.example.com/v1, Kind=Website failed: Post \"" +
                                  cluster.hooks.url() + "/convert?timeout=30s\": "));
  EXPECT_THAT(message, HasSubstr("tls: failed to verify certificate"));
}

TEST(EmbeddedConversionConcurrency, SaysThatAServiceDoesNotExist) {
  Cluster cluster;
  WebhookTarget target = cluster.by_service();
  target.service.name = "nobody";
  cluster.install(target);
  EXPECT_EQ(error_of([&] { cluster.client.create(old_site("a", 3)); }),
            "conversion webhook for demo.example.com/v1, Kind=Website failed: Post "
            R"("https://nobody.team.svc:443/convert?timeout=30s": service "nobody" not found)");
}

}  // namespace embedded_conversion
}  // namespace evenkeel::webhook_tests
