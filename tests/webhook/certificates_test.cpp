// SPDX-License-Identifier: Apache-2.0
// Certificates in a Secret that replicas share, over the embedded API server's core in virtual time.
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/client/resource_client.hpp>
#include <evenkeel/testing/harness.hpp>
#include <evenkeel/testing/log_recorder.hpp>
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

// ---- Secrets that somebody else wrote

template <auto free>
struct Free {
  template <class T>
  void operator()(T* object) const noexcept {
    free(object);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;

/// A self-signed certificate of the Service with any key and any extensions.
http::TlsPair self_signed(EVP_PKEY* made, WallTime now,
                          const std::vector<std::pair<int, const char*>>& extensions) {
  const Key key(made);
  const std::unique_ptr<X509, Free<X509_free>> certificate(X509_new());
  X509* self = certificate.get();
  X509_set_version(self, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(self), 7);
  const auto seconds = [](WallTime time) {
    return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
  };
  ASN1_TIME_set(X509_getm_notBefore(self), seconds(now - 1h));
  ASN1_TIME_set(X509_getm_notAfter(self), seconds(now + 24h * 3000));
  X509_set_pubkey(self, key.get());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(self), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("x"), -1, -1, 0);
  X509_set_issuer_name(self, X509_get_subject_name(self));
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, self, self, nullptr, nullptr, 0);
  for (const auto& [id, value] : extensions) {
    const std::unique_ptr<X509_EXTENSION, Free<X509_EXTENSION_free>> extension(
        X509V3_EXT_conf_nid(nullptr, &context, id, value));
    X509_add_ext(self, extension.get(), -1);
  }
  const bool has_digest = EVP_PKEY_is_a(key.get(), "RSA") == 1 || EVP_PKEY_is_a(key.get(), "EC") == 1;
  X509_sign(self, key.get(), has_digest ? EVP_sha256() : nullptr);
  const std::unique_ptr<BIO, Free<BIO_free>> certificate_text(BIO_new(BIO_s_mem()));
  const std::unique_ptr<BIO, Free<BIO_free>> key_text(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(certificate_text.get(), self);
  PEM_write_bio_PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  const auto text = [](BIO* from) {
    char* data = nullptr;
    const long size = BIO_get_mem_data(from, &data);
    return std::string(data, static_cast<std::size_t>(size));
  };
  return {text(certificate_text.get()), text(key_text.get())};
}

constexpr const char* names_of_service =
    "DNS:demo-webhook.default.svc,DNS:demo-webhook.default.svc.cluster.local,IP:127.0.0.1";

struct SecretOfOthers {
  const char* what;
  std::function<EVP_PKEY*()> key;
  std::vector<std::pair<int, const char*>> extensions = {{NID_basic_constraints, "critical,CA:TRUE"},
                                                         {NID_subject_alt_name, names_of_service}};
};

std::vector<SecretOfOthers> unusable() {
  const auto rsa = [] { return EVP_RSA_gen(2048); };
  return {{"RSA of 512 bits", [] { return EVP_RSA_gen(512); }},
          {"RSA of 1024 bits", [] { return EVP_RSA_gen(1024); }},
          {"a curve that Go lacks", [] { return EVP_EC_gen("secp256k1"); }},
          {"Ed448", [] { return EVP_PKEY_Q_keygen(nullptr, nullptr, "ED448"); }},
          {"no authority", rsa, {{NID_basic_constraints, "critical,CA:FALSE"}}},
          {"no constraints", rsa, {}},
          {"a key that may not sign certificates",
           rsa,
           {{NID_basic_constraints, "critical,CA:TRUE"}, {NID_key_usage, "critical,digitalSignature"}}},
          {"an authority of clients",
           rsa,
           {{NID_basic_constraints, "critical,CA:TRUE"}, {NID_ext_key_usage, "clientAuth"}}},
          {"an authority of other names",
           rsa,
           {{NID_basic_constraints, "critical,CA:TRUE"},
            {NID_name_constraints, "critical,permitted;DNS:example.com"}}}};
}

class ForeignSecret : public Replicas {
 public:
  /// Stores `pair` as the authority and, if `serves`, as the serving certificate.
  void put(const http::TlsPair& pair, bool serves) {
    Secret secret;
    secret.metadata.name = "demo-webhook-certificates";
    secret.metadata.namespace_ = "default";
    secret.data["ca.crt"] = pair.certificate;
    secret.data["ca.key"] = pair.key;
    secret.data["tls.crt"] = serves ? pair.certificate : std::string();
    secret.data["tls.key"] = serves ? pair.key : std::string();
    cluster.create({secret});
  }
  WallTime now() const { return cluster.clock()->wall_now(); }
};

// Regression: some of these ended the program, with others no webhook was ever served.
TEST(CertificateKeeper, ReplacesAnAuthorityWhoseCertificatesAreNotAccepted) {
  for (const SecretOfOthers& each : unusable()) {
    SCOPED_TRACE(each.what);
    ForeignSecret world;
    const http::TlsPair found = self_signed(each.key(), world.now(), each.extensions);
    world.put(found, false);
    const WebhookCertificates made = world.one.refresh();
    EXPECT_TRUE(detail::match(made.serving));
    const std::vector<std::string> bundle = detail::split_bundle(made.bundle);
    ASSERT_FALSE(bundle.empty());
    EXPECT_NE(bundle[0], found.certificate);
    EXPECT_TRUE(detail::is_signed_by(made.serving.certificate, bundle[0]));
    EXPECT_EQ(world.one.refresh(), made) << "once";
  }
}

TEST(CertificateKeeper, ReplacesAPairThatNoServerTakes) {
  for (const auto& key : {+[] { return EVP_RSA_gen(512); }, +[] { return EVP_RSA_gen(1024); }}) {
    ForeignSecret world;
    const http::TlsPair weak = self_signed(key(), world.now(), unusable()[0].extensions);
    world.put(weak, true);
    const WebhookCertificates made = world.one.refresh();
    EXPECT_NE(made.serving, weak);
    EXPECT_TRUE(trusts(made, made));
    EXPECT_EQ(world.one.refresh(), made) << "once";
  }
}

TEST(CertificateKeeper, ReplacesAPairWithABrokenChain) {
  ForeignSecret world;
  const http::TlsPair pair = self_signed(EVP_RSA_gen(2048), world.now(), unusable()[0].extensions);
  world.put({pair.certificate + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", pair.key},
            true);
  const WebhookCertificates made = world.one.refresh();
  EXPECT_NE(made.serving.key, pair.key);
  EXPECT_TRUE(trusts(made, made));
}

TEST(CertificateKeeper, KeepsAPairThatIsGoodWhoeverMadeIt) {
  for (const auto& key : {+[] { return EVP_RSA_gen(2048); }, +[] { return EVP_EC_gen("P-384"); },
                          +[] { return EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"); }}) {
    ForeignSecret world;
    const http::TlsPair good = self_signed(key(), world.now(), unusable()[0].extensions);
    world.put(good, true);
    EXPECT_EQ(world.one.refresh().serving, good);
  }
}

TEST(CertificateKeeper, SignsWithAnEd25519Authority) {
  ForeignSecret world;
  const http::TlsPair good =
      self_signed(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"), world.now(), unusable()[0].extensions);
  world.put(good, false);
  const WebhookCertificates made = world.one.refresh();
  EXPECT_EQ(made.bundle, good.certificate);
  EXPECT_TRUE(trusts(made, made));
}

TEST(CertificateKeeper, ReplacesAnAuthorityOfTheFutureAndSaysSo) {
  ForeignSecret world;
  const auto log = std::make_shared<evenkeel::testing::LogRecorder>();
  CertificateKeeper keeper(world.cluster.client(), service, world.options, Log(log), world.cluster.clock());
  world.put(detail::make_authority("early", {world.now() + 55min, world.now() + 24h * 3650}), false);
  const WebhookCertificates made = keeper.refresh();
  const std::vector<std::string> bundle = detail::split_bundle(made.bundle);
  ASSERT_EQ(bundle.size(), 2U);
  EXPECT_LT(detail::lifetime_of(bundle[0])->begin, world.now());
  EXPECT_TRUE(detail::is_signed_by(made.serving.certificate, bundle[0]));
  EXPECT_EQ(keeper.refresh(), made);
  EXPECT_EQ(log->lines_with("a certificate of the webhooks is not valid yet and is replaced: the clock of "
                            "this replica is behind, or that of the replica that made it is ahead")
                .size(),
            1U);
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
