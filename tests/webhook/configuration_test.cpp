// SPDX-License-Identifier: Apache-2.0
// Webhook configurations, and the injection of authorities into them.
#include <gtest/gtest.h>

#include <evenkeel/api/bytes.hpp>
#include <evenkeel/api/patch.hpp>
#include <evenkeel/webhook/configuration.hpp>
#include <evenkeel/webhook/conversion.hpp>

#include "webhook/bundle_injector.hpp"
#include "website.hpp"

namespace evenkeel::webhook_tests {
namespace configuration {

const WebhookTarget target{.service = {"ops", "demo-webhook"}};
const detail::BundleOwner owner{.service = {"ops", "demo-webhook"}, .hosts = {"127.0.0.1", "::1"}};

std::vector<Json> configurations(const WebhookTarget& to) {
  const std::vector<Webhook> webhooks = {
      webhook_for<Website>().defaults([](Website&, const AdmissionRequest&) {}),
      webhook_for<OldWebsite>().validates(
          [](const Validation<OldWebsite>&) { return ValidationResult::allow(); },
          {.operations = {AdmissionOperation::remove},
           .failure_policy = FailurePolicy::ignore,
           .timeout = std::chrono::seconds{3},
           .subresources = {"status"},
           .match_conditions = {{"named", "object.metadata.name != ''"}}})};
  return webhook_configurations(webhooks, "demo", to);
}

TEST(WebhookConfigurations, NameRulesAndAddressOfEachWebhook) {
  const auto found = configurations(target);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(
      found[0].dump(),
      R"({"apiVersion":"admissionregistration.k8s.io/v1","kind":"MutatingWebhookConfiguration","metadata":{"name":"demo-mutating"},"webhooks":[{"admissionReviewVersions":["v1"],"clientConfig":{"service":{"name":"demo-webhook","namespace":"ops","path":"/mutate-demo-example-com-v2-website","port":443}},"failurePolicy":"Fail","name":"mutate-v2.websites.demo.example.com","rules":[{"apiGroups":["demo.example.com"],"apiVersions":["v2"],"operations":["CREATE","UPDATE"],"resources":["websites"],"scope":"*"}],"sideEffects":"None","timeoutSeconds":10}]})");
  EXPECT_EQ(
      found[1]["webhooks"].dump(),
      R"([{"admissionReviewVersions":["v1"],"clientConfig":{"service":{"name":"demo-webhook","namespace":"ops","path":"/validate-demo-example-com-v1-website","port":443}},"failurePolicy":"Ignore","matchConditions":[{"expression":"object.metadata.name != ''","name":"named"}],"name":"validate-v1.websites.demo.example.com","rules":[{"apiGroups":["demo.example.com"],"apiVersions":["v1"],"operations":["DELETE"],"resources":["websites","websites/status"],"scope":"*"}],"sideEffects":"None","timeoutSeconds":3}])");
}

TEST(WebhookConfigurations, RefuseATimeoutThatTheServerRefuses) {
  try {
    (void)webhook_for<Website>().defaults([](Website&, const AdmissionRequest&) {},
                                          {.timeout = std::chrono::seconds{31}});
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "webhook of Website: timeout must be from 1 to 30 whole seconds");
  }
}

TEST(BundlePatch, SetsTheBundleOfOwnWebhooksOnly) {
  Json object = configurations(target)[0];
  Json other = object["webhooks"][0];
  other["clientConfig"]["service"]["name"] = "somebody-else";
  object["webhooks"].push_back(other);
  const Json patched = apply_json_patch(object, detail::bundle_patch(object, owner, "PEM"));
  Json expected = object;
  expected["webhooks"][0]["clientConfig"]["caBundle"] = Bytes("PEM").base64();
  EXPECT_EQ(patched.dump(), expected.dump());
  EXPECT_TRUE(detail::bundle_patch(patched, owner, "PEM").is_null());
}

TEST(BundlePatch, KnowsOwnUrls) {
  for (const char* url : {"https://127.0.0.1:9443", "https://[::1]:9443"}) {
    const Json object = configurations({.url = url})[0];
    EXPECT_EQ(detail::bundle_patch(object, owner, "PEM").size(), 2U) << url;
  }
  EXPECT_TRUE(
      detail::bundle_patch(configurations({.url = "https://10.0.0.1:9443"})[0], owner, "PEM").is_null());
}

TEST(BundlePatch, FailsIfTheListChangedInBetween) {
  const Json object = configurations(target)[0];
  const Json patch = detail::bundle_patch(object, owner, "PEM");
  Json changed = object;
  changed["webhooks"][0]["clientConfig"]["service"]["path"] = "/another";
  EXPECT_THROW(apply_json_patch(changed, patch), PatchError);
}

TEST(BundlePatch, SetsTheBundleOfAConversion) {
  Json crd = crd_for<Website>();
  EXPECT_TRUE(detail::bundle_patch(crd, owner, "PEM").is_null());
  set_conversion_webhook(crd, target);
  const Json patched = apply_json_patch(crd, detail::bundle_patch(crd, owner, "PEM"));
  EXPECT_EQ(
      patched.at({"spec", "conversion"}).dump(),
      R"({"strategy":"Webhook","webhook":{"clientConfig":{"caBundle":"UEVN","service":{"name":"demo-webhook","namespace":"ops","path":"/convert","port":443}},"conversionReviewVersions":["v1"]}})");
}

}  // namespace configuration
}  // namespace evenkeel::webhook_tests
