// SPDX-License-Identifier: Apache-2.0
// Webhooks in the harness: asked about each write, in virtual time.
#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/testing/harness.hpp>
#include <evenkeel/testing/run.hpp>

#include "gadget.hpp"

namespace evenkeel::testing {
namespace harness_webhooks {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

Webhook gadget_webhook() {
  return webhook_for<Gadget>()
      .defaults([](Gadget& gadget, const AdmissionRequest&) {
        if (gadget.spec.image.empty()) gadget.spec.image = "web:9";
      })
      .validates([](const Validation<Gadget>& it) {
        ValidationResult result;
        if (it.object.spec.replicas > 5) result.invalid("spec.replicas", "must be at most 5");
        return result;
      });
}

Gadget without_image() {
  Gadget out = gadget("web", 2);
  out.spec.image.clear();
  return out;
}

// Returns what the server says to a creation by the test.
std::string refusal(Harness& harness, const Gadget& object) {
  try {
    harness.create({object});
  } catch (const ApiError& error) {
    return error.status().message;
  }
  return "created";
}

TEST(HarnessWebhooks, SetDefaultsOfWhatTheTestCreates) {
  const Harness harness =
      run(reconcile_gadget, {without_image()}, {.harness = {.webhooks = {gadget_webhook()}}});
  EXPECT_EQ(harness.get<Gadget>(web)->spec.image, "web:9");
  EXPECT_EQ(harness.get<ConfigMap>(web)->data.at("image"), "web:9") << "the controller sees the default";
}

TEST(HarnessWebhooks, DenyWithTheWordsOfARealServer) {
  Harness harness({.webhooks = {gadget_webhook()}});
  harness.add(rollout_controller());
  EXPECT_EQ(refusal(harness, gadget("web", 6)),
            R"(admission webhook "validate-v1.gadgets.test.evenkeel.dev" denied the request: )"
            R"(Gadget.test.evenkeel.dev "web" is invalid: spec.replicas: Invalid value: must be at most 5)");
  EXPECT_EQ(refusal(harness, gadget("web", 5)), "created");
}

TEST(HarnessWebhooks, AreAskedAboutWritesOfControllersAndTheirRetries) {
  int asked = 0;
  const Webhook webhook = webhook_for<ConfigMap>().validates([&asked](const Validation<ConfigMap>&) {
    return ++asked > 2 ? ValidationResult::allow() : ValidationResult::deny("not yet");
  });
  const Harness harness =
      run(reconcile_gadget, {gadget("web")}, {.harness = {.expect_failures = true, .webhooks = {webhook}}});
  ASSERT_GE(harness.runs().size(), 3u);
  EXPECT_EQ(harness.runs()[0].writes.at(0).status, 403);
  EXPECT_THAT(harness.runs()[1].writes.at(0).message, HasSubstr("denied the request: not yet"));
  EXPECT_GT(harness.runs()[2].at, harness.runs()[1].at) << "back-off takes virtual time";
  EXPECT_EQ(harness.get<ConfigMap>(web)->data.at("image"), "web:1");
}

TEST(HarnessWebhooks, MakeEqualRunsWithEqualSeeds) {
  const auto story = [] {
    return run(reconcile_gadget, {without_image()}, {.harness = {.webhooks = {gadget_webhook()}}}).str();
  };
  EXPECT_EQ(story(), story());
}

TEST(HarnessWebhooks, GoOnInAWorldThatWasTakenWithThem) {
  Harness first({.webhooks = {gadget_webhook()}});
  first.add(rollout_controller());
  Harness second({.world = first.snapshot(), .webhooks = {gadget_webhook()}});
  EXPECT_THAT(refusal(second, gadget("web", 6)), HasSubstr("must be at most 5"));
  Harness without({.world = first.snapshot()});
  EXPECT_THAT(refusal(without, gadget("web", 1)), HasSubstr("no function is registered for this URL"));
}

}  // namespace harness_webhooks
}  // namespace evenkeel::testing
