// SPDX-License-Identifier: Apache-2.0
// The operator of docs/exploring.md.
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds.hpp>
#include <evenkeel/evenkeel.hpp>
#include <evenkeel/testing/explore.hpp>

#include "../support/repository.hpp"

namespace explore_document {

namespace ek = evenkeel;

struct ShopSpec {
  int replicas = 1;
};
EVENKEEL_FIELDS(ShopSpec, replicas)

struct Shop {
  static constexpr ek::ResourceInfo resource{
      .group = "demo.evenkeel.dev", .version = "v1", .kind = "Shop", .plural = "shops"};
  ek::ObjectMeta metadata = {};
  ShopSpec spec = {};
};
EVENKEEL_FIELDS(Shop, metadata, spec)

// Creates the Pods that are missing.
ek::Result reconcile(ek::Context& context, const Shop& shop) {
  const int have = static_cast<int>(context.owned_by<ek::Pod>(shop).size());
  for (int at = have; at < shop.spec.replicas; ++at) {
    ek::Pod pod{.metadata = {.generate_name = shop.metadata.name + "-"}};
    pod.spec.containers = {{.name = "shop", .image = "shop:1"}};
    context.create(pod);
  }
  return ek::done();
}

ek::ControllerSpec shop_controller() {
  return ek::controller_for<Shop>(reconcile).owns<ek::Pod>();
}

void open_a_shop(ek::testing::Harness& cluster) {
  cluster.create({Shop{.metadata = {.name = "books", .namespace_ = "default"}, .spec = {.replicas = 1}}});
  cluster.settle();
}

ek::Result reconcile_by_name(ek::Context& context, const Shop& shop) {
  for (int at = 0; at < shop.spec.replicas; ++at) {
    ek::Pod pod{.metadata = {.name = shop.metadata.name + "-" + std::to_string(at)}};
    pod.spec.containers = {{.name = "shop", .image = "shop:1"}};
    context.apply(pod);
  }
  return ek::done();
}

ek::ControllerSpec repaired_controller() {
  return ek::controller_for<Shop>(reconcile_by_name).owns<ek::Pod>();
}

struct DiskSpec {
  int size = 1;
};
EVENKEEL_FIELDS(DiskSpec, size)

struct DiskStatus {
  int size = 0;
};
EVENKEEL_FIELDS(DiskStatus, size)

struct Disk {
  static constexpr ek::ResourceInfo resource{
      .group = "demo.evenkeel.dev", .version = "v1", .kind = "Disk", .plural = "disks"};
  ek::ObjectMeta metadata = {};
  DiskSpec spec = {};
  DiskStatus status = {};
};
EVENKEEL_FIELDS(Disk, metadata, spec, status)

struct Cloud {
  std::map<std::string, int> disks;
};
EVENKEEL_FIELDS(Cloud, disks)

ek::ControllerSpec disk_controller(Cloud& cloud) {
  return ek::controller_for<Disk>([&cloud](ek::Context& context, const Disk& disk) {
    const int missing = disk.spec.size - disk.status.size;
    if (missing == 0) return;
    context.explore_point("resize disk", [&] { cloud.disks[disk.metadata.name] += missing; });
    context.patch_status(disk, [&](DiskStatus& status) { status.size = disk.spec.size; });
  });
}

void buy_a_disk(ek::testing::Harness& cluster) {
  cluster.create({Disk{.metadata = {.name = "data", .namespace_ = "default"}}});
  cluster.settle();
}

ek::ControllerSpec repaired_disk_controller(Cloud& cloud) {
  return ek::controller_for<Disk>([&cloud](ek::Context& context, const Disk& disk) {
    context.explore_point("resize disk", [&] { cloud.disks[disk.metadata.name] = disk.spec.size; });
    context.patch_status(disk, [&](DiskStatus& status) { status.size = disk.spec.size; });
  });
}

void grow_a_disk(ek::testing::Harness& cluster) {
  buy_a_disk(cluster);
  cluster.edit<Disk>({"default", "data"}, [](Disk& disk) { disk.spec.size = 3; });
  cluster.settle();
}

struct FencedCloud {
  std::map<std::string, int> disks;
  std::uint64_t latest = 0;

  void resize(const std::string& name, int size, std::uint64_t term) {
    if (term < latest) throw std::runtime_error("there is a later leader");
    latest = term;
    disks[name] = size;
  }
  bool operator==(const FencedCloud& other) const { return disks == other.disks; }
};

ek::ControllerSpec fenced_disk_controller(FencedCloud& cloud) {
  return ek::controller_for<Disk>([&cloud](ek::Context& context, const Disk& disk) {
    context.explore_point("resize disk",
                          [&] { cloud.resize(disk.metadata.name, disk.spec.size, context.term().value()); });
    context.patch_status(disk, [&](DiskStatus& status) { status.size = disk.spec.size; });
  });
}

std::string page() {
  return evenkeel::tests::read_repository_file("docs/exploring.md");
}

TEST(ExploreDocument, ShowsTheOutputOfItsOperator) {
  const auto result = ek::testing::explore(shop_controller, open_a_shop);
  EXPECT_FALSE(result.ok());
  EXPECT_THAT(page(), ::testing::HasSubstr(result.describe())) << result.describe();
}

TEST(ExploreDocument, RepairsItsOperator) {
  const auto result = ek::testing::explore(repaired_controller, open_a_shop);
  EXPECT_TRUE(result.ok()) << result.describe();
  EXPECT_THAT(page(), ::testing::HasSubstr(result.describe())) << result.describe();
}

TEST(ExploreDocument, ShowsTheOutputOfItsDisk) {
  const auto result = ek::testing::explore<Cloud>(disk_controller, buy_a_disk);
  EXPECT_FALSE(result.ok());
  EXPECT_THAT(page(), ::testing::HasSubstr(result.describe())) << result.describe();
}

TEST(ExploreDocument, RepairsItsDisk) {
  const auto result = ek::testing::explore<Cloud>(repaired_disk_controller, buy_a_disk);
  EXPECT_TRUE(result.ok()) << result.describe();
  EXPECT_THAT(page(), ::testing::HasSubstr(result.describe())) << result.describe();
}

TEST(ExploreDocument, ShowsTheOutputOfItsDiskWithTwoReplicas) {
  const auto result = ek::testing::explore<Cloud>(repaired_disk_controller, grow_a_disk, {.replicas = 2});
  EXPECT_FALSE(result.ok());
  EXPECT_THAT(page(), ::testing::HasSubstr(result.describe())) << result.describe();
}

TEST(ExploreDocument, FencesItsDisk) {
  const auto result = ek::testing::explore<FencedCloud>(fenced_disk_controller, grow_a_disk, {.replicas = 2});
  EXPECT_TRUE(result.ok()) << result.describe();
  EXPECT_THAT(page(), ::testing::HasSubstr(result.describe())) << result.describe();
}

TEST(ShopConcurrency, SurvivesEveryFault) {
  const auto make = [] { return std::vector<ek::ControllerSpec>{repaired_controller()}; };
  const auto workload = [](ek::testing::Harness& cluster) {
    cluster.create({Shop{.metadata = {.name = "books", .namespace_ = "default"}, .spec = {.replicas = 1}}});
    cluster.settle();
    cluster.edit<Shop>({"default", "books"}, [](Shop& shop) { shop.spec.replicas = 3; });
    cluster.settle();
    cluster.remove<Shop>({"default", "books"});
    cluster.settle();
  };
  const ek::testing::Exploration result = ek::testing::explore(make, workload, {.threads = 2});
  EXPECT_TRUE(result.ok()) << result.describe();
}

const ek::testing::ExploreOptions without_attempts{.ignored = {"jobs.batch"},
                                                   .normalize = [](ek::Json& object) {
                                                     if (ek::Json* const status = object.find("status"))
                                                       status->erase("attempts");
                                                   }};

TEST(ExploreDocument, TakesOptions) {
  const auto result = ek::testing::explore(repaired_controller, open_a_shop, without_attempts);
  EXPECT_TRUE(result.ok()) << result.describe();
}

TEST(ExploreDocument, KeepsItsPlanAsATest) {
  const ek::testing::Plan plan{{
      ek::testing::restart_stale(
          {.after = {"create pods default/books-*"}, .as_before = {"create pods default/books-*"}}),
  }};
  const auto result = ek::testing::explore(repaired_controller, open_a_shop, {.plans = {plan}});
  // The repaired operator has no such write.
  EXPECT_EQ(result.findings.at(0).problems.at(0).kind, ek::testing::ProblemKind::not_reached);
}

}  // namespace explore_document
