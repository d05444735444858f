// SPDX-License-Identifier: Apache-2.0
// The controller with something that goes wrong at each of its writes. docs/exploring.md
#include <string>

#include <gtest/gtest.h>

#include <evenkeel/testing/explore.hpp>

#include "census.hpp"

namespace {

ek::ConfigMap site(const std::string& name) {
  return {.metadata = {.name = name, .namespace_ = "default", .labels = {{"fleet", "yes"}}}};
}

void live(ek::testing::Harness& cluster) {
  cluster.create({site("a"), site("b")});
  cluster.settle();
  cluster.create({site("c")});
  cluster.settle();
  cluster.edit<ek::ConfigMap>({"default", "a"}, [](ek::ConfigMap& map) { map.metadata.labels.clear(); });
  cluster.settle();
  cluster.edit<ek::ConfigMap>({"default", "a"},
                              [](ek::ConfigMap& map) { map.metadata.labels["fleet"] = "yes"; });
  cluster.settle();
  cluster.remove<ek::ConfigMap>({"default", "b"});
  cluster.settle();
}

}  // namespace

TEST(CensusFaults, EndAsIfNothingHadGoneWrong) {
  const auto result = ek::testing::explore(census_controller, live);
  RecordProperty("explored", result.describe());
  EXPECT_TRUE(result.ok()) << result.describe();
  EXPECT_GT(result.plans_run, 10U) << result.describe();
}
