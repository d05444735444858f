// SPDX-License-Identifier: Apache-2.0
// The code of docs/simulation.md.
#include <string>

#include <gtest/gtest.h>

#include <evenkeel/api/kinds/pods.hpp>
#include <evenkeel/controller/builder.hpp>
#include <evenkeel/testing/simulation.hpp>

namespace ek = evenkeel;

namespace simulation_document {

struct ShopSpec {
  int replicas = 1;
};
EVENKEEL_FIELDS(ShopSpec, replicas)

struct Shop {
  static constexpr ek::ResourceInfo resource{
      .group = "demo.evenkeel.dev", .version = "v1", .kind = "Shop", .plural = "shops"};
  ek::ObjectMeta metadata;
  ShopSpec spec;
};
EVENKEEL_FIELDS(Shop, metadata, spec)

ek::ControllerSpec shop_controller() {
  return ek::controller_for<Shop>([](ek::Context& context, const Shop& shop) {
           for (int at = 0; at < shop.spec.replicas; ++at) {
             ek::Pod pod{.metadata = {.name = shop.metadata.name + "-" + std::to_string(at)}};
             pod.spec.containers = {{.name = "shop", .image = "shop:1"}};
             context.apply(pod);
           }
         })
      .owns<ek::Pod>();
}

void open_a_shop(ek::testing::SimulatedCluster& cluster) {
  cluster.create({Shop{.metadata = {.name = "books", .namespace_ = "default"}, .spec = {.replicas = 1}}});
  cluster.settle();
  cluster.edit<Shop>({"default", "books"}, [](Shop& shop) { shop.spec.replicas = 3; });
}

TEST(Shop, SurvivesAStorm) {
  const ek::testing::SimulationResult result =
      ek::testing::simulate(shop_controller, open_a_shop, {.seeds = 5, .threads = 1});
  EXPECT_TRUE(result.ok()) << result.describe();
}

}  // namespace simulation_document
