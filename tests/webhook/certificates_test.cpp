// SPDX-License-Identifier: Apache-2.0
// Certificates in a Secret that replicas share, over the embedded API server's core in virtual time.
#include <chrono>
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/client/resource_client.hpp>
#include <evenkeel/testing/harness.hpp>
#include <evenkeel/webhook/configuration.hpp>

#include "webhook/bundle_injector.hpp"
#include "webhook/certificate_keeper.hpp"
#include "webhook/x509.hpp"
#include "website.hpp"

namespace evenkeel::webhook_tests {
namespace certificates {

using namespace std::chrono_literals;
using detail::CertificateKeeper;
using detail::WebhookCertificates;
using evenkeel::testing::Harness;

const WebhookService service{"default", "demo-webhook"};

struct Replicas {
  Harness cluster;
  CertificateOptions options{.names = {"127.0.0.1"}};
  CertificateKeeper one{cluster.client(), service, options, Log(), cluster.clock()};
  CertificateKeeper other{cluster.client(), service, options, Log(), cluster.clock()};
};

bool trusts(const WebhookCertificates& client, const WebhookCertificates& server) {
  for (const std::string& authority : detail::split_bundle(client.bundle)) {
    if (detail::is_signed_by(server.serving.certificate, authority)) return true;
  }
  return false;
}

TEST(CertificateKeeper, MakesACertificateForTheService) {
  Replicas replicas;
  const WebhookCertificates made = replicas.one.refresh();
  EXPECT_TRUE(detail::match(made.serving));
  for (const char* name : {"demo-webhook.default.svc", "demo-webhook.default.svc.cluster.local", "127.0.0.1"})
    EXPECT_TRUE(detail::is_for(made.serving.certificate, name)) << name;
  EXPECT_FALSE(detail::is_for(made.serving.certificate, "other.default.svc"));
  EXPECT_TRUE(trusts(made, made));
  EXPECT_EQ(replicas.cluster.get<Secret>({"default", "demo-webhook-certificates"})->type,
            "kubernetes.io/tls");
}

TEST(CertificateKeeper, AdoptsWhatAnotherReplicaMade) {
  Replicas replicas;
  const WebhookCertificates made = replicas.one.refresh();
  EXPECT_EQ(replicas.other.refresh(), made);
  EXPECT_EQ(replicas.one.refresh(), made);
}

TEST(CertificateKeeper, RotatesBothWithoutAMomentOfDistrust) {
  Replicas replicas;
  WebhookCertificates before = replicas.one.refresh();
  std::size_t serving_changes = 0;
  std::size_t bundle_changes = 0;
  for (int day = 0; day < 365 * 8; day += 5) {
    replicas.cluster.run_for(24h * 5);
    // The other replica reads before, and serves what was; each must be trusted with the bundle of the other.
    const WebhookCertificates late = replicas.other.refresh();
    const WebhookCertificates now = replicas.one.refresh();
    ASSERT_TRUE(trusts(now, before)) << day;
    ASSERT_TRUE(trusts(before, now)) << day;
    ASSERT_TRUE(trusts(late, now)) << day;
    if (!(now.serving == before.serving)) ++serving_changes;
    if (now.bundle != before.bundle) ++bundle_changes;
    before = now;
  }
  EXPECT_GE(serving_changes, 40U);
  EXPECT_EQ(bundle_changes, 2U) << "an authority joined after two thirds of ten years, and the old one left";
}

TEST(CertificateKeeper, RepairsASecretThatSomebodyEmptied) {
  Replicas replicas;
  replicas.one.refresh();
  replicas.cluster.edit<Secret>({"default", "demo-webhook-certificates"}, [](Secret& secret) {
    secret.data["tls.key"] = "nonsense";
    secret.data["ca.key"] = "";
  });
  const WebhookCertificates repaired = replicas.other.refresh();
  EXPECT_TRUE(detail::match(repaired.serving));
  EXPECT_TRUE(trusts(repaired, repaired));
  EXPECT_EQ(replicas.one.refresh(), repaired);
}

TEST(BundleInjector, RepeatsAnInjectionThatSomebodyRemoved) {
  Harness cluster;
  Json crd = crd_for<Website>();
  set_conversion_webhook(crd, {.service = service});
  cluster.create({crd});
  detail::BundleInjector injector(cluster.client(), {.service = service},
                                  {.mutating = "absent-mutating", .crds = {"websites.demo.example.com"}},
                                  Log());
  const ResourceId kind{"apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions",
                        Scope::cluster};
  const auto bundle = [&] {
    return cluster.client()
        .resource(kind)
        .get({"", "websites.demo.example.com"})
        ->body()
        .at({"spec", "conversion", "webhook", "clientConfig", "caBundle"})
        .string_or("");
  };
  const std::string authority =
      detail::make_authority("a", {cluster.clock()->wall_now(), cluster.clock()->wall_now() + 24h})
          .certificate;
  EXPECT_TRUE(injector.inject(authority));
  const std::string injected = bundle();
  EXPECT_NE(injected, "");
  cluster.client().resource(kind).patch(
      ObjectKey{"", "websites.demo.example.com"},
      Patch::merge(Json::parse(R"({"spec":{"conversion":{"webhook":{"clientConfig":{"caBundle":null}}}}})")));
  EXPECT_EQ(bundle(), "");
  EXPECT_TRUE(injector.inject(authority));
  EXPECT_EQ(bundle(), injected);
}

TEST(X509, RefusesANameThatIsNone) {
  const auto authority = detail::make_authority("a", {WallTime{}, WallTime{1h}});
  try {
    detail::make_serving(authority, {"a,DNS:evil"}, {WallTime{}, WallTime{1h}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "a certificate cannot be made: \"a,DNS:evil\" is no DNS name and no IP address");
  }
}

}  // namespace certificates
}  // namespace evenkeel::webhook_tests
