// SPDX-License-Identifier: Apache-2.0
// The webhooks with each property of a Website changed and changed back (docs/operations-testing.md), and a
// controller whose writes they complete, with something that goes wrong at each of these (docs/exploring.md).
#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/testing/explore.hpp>
#include <evenkeel/testing/operations.hpp>

#include "website.hpp"

using namespace std::chrono_literals;

namespace {

const ek::ObjectKey shop{"default", "shop"};
const ek::testing::HarnessOptions with_webhooks{.webhooks = {website_webhook()},
                                                .conversions = {website_conversion()}};

std::vector<ek::ControllerSpec> no_controller() {
  return {};
}

ek::ConfigMap order_of(const std::string& size) {
  return {.metadata = {.name = shop.name, .namespace_ = shop.namespace_},
          .data = {{"size", size}, {"image", "shop:1"}}};
}

/// Keeps a Website of the old version for each order, and writes beside it what became of it in the new one.
ek::ControllerSpec orders() {
  return ek::controller_for<ek::ConfigMap>([](ek::Context& context, const ek::ConfigMap& order) {
           context.apply(v1::Website{
               .metadata = {.name = order.metadata.name},
               .spec = {.size = std::stoi(order.data.at("size")), .image = order.data.at("image")}});
           const auto stored = context.client().get<v2::Website>(context.key());
           context.patch(order, [&](ek::ConfigMap& map) {
             map.data["replicas"] = std::to_string(stored->spec.replicas.value_or(0));
             map.data["author"] = stored->metadata.annotations.at("webhook.evenkeel.dev/author");
           });
         })
      .owns<v1::Website>();
}

void live(ek::testing::Harness& cluster) {
  cluster.create({order_of("2")});
  cluster.settle();
  for (const char* const size : {"11", "3"}) {  // 11 is refused, and tried again
    cluster.edit<ek::ConfigMap>(shop, [size](ek::ConfigMap& order) { order.data["size"] = size; });
    cluster.run_for(1s);
  }
  cluster.edit<v2::Website>(shop, [](v2::Website& site) { site.spec.replicas.reset(); });
  cluster.settle();
  cluster.remove<v2::Website>(shop);
  cluster.settle();
}

}  // namespace

TEST(WebsiteFaults, EndAsIfNothingHadGoneWrong) {
  const auto result = ek::testing::explore(orders, live, {.harness = with_webhooks});
  RecordProperty("explored", result.describe());
  EXPECT_TRUE(result.ok()) << result.describe();
  EXPECT_GT(result.plans_run, 20U) << result.describe();
}

TEST(WebsiteOperations, TakeValidChangesAndRefuseTheOthers) {
  const v2::Website typical{.metadata = {.name = shop.name, .namespace_ = shop.namespace_},
                            .spec = {.replicas = 2, .image = "shop:1"}};
  const auto result = ek::testing::operations(
      no_controller, typical,
      {.harness = with_webhooks,
       .values = {{"spec.replicas", {.valid = {"0", "10"}, .wrong = {"-1", "11", R"("two")"}}},
                  {"spec.image", {.valid = {R"("shop:2")"}, .wrong = {R"("")", "7"}}}}});
  EXPECT_TRUE(result.ok()) << result.describe();
  EXPECT_GT(result.refused, 4U) << result.describe();
}

TEST(WebsiteOperations, TakeAndRefuseThroughTheOldVersion) {
  const v1::Website typical{.metadata = {.name = shop.name, .namespace_ = shop.namespace_},
                            .spec = {.size = 2, .image = "shop:1"}};
  const auto result = ek::testing::operations(
      no_controller, typical,
      {.harness = with_webhooks,
       .values = {{"spec.size", {.valid = {"0", "10"}, .wrong = {"-1", "11", R"("two")"}}},
                  {"spec.image", {.valid = {R"("shop:2")"}, .wrong = {R"("")", "7"}}}}});
  EXPECT_TRUE(result.ok()) << result.describe();
  EXPECT_GT(result.refused, 4U) << result.describe();
}
