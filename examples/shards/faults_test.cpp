// SPDX-License-Identifier: Apache-2.0
// The controller with something that goes wrong at each of its writes. docs/exploring.md
#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include <evenkeel/testing/explore.hpp>

#include "shared_controller.hpp"

using namespace std::chrono_literals;

namespace {

ek::ControllerSpec make() {
  return shared_controller([](const char*, const ek::Context&) {});
}

ek::ConfigMap map_of(const std::string& name) {
  return {.metadata = {.name = name, .namespace_ = "default", .labels = {{"shards-demo", "true"}}}};
}

// A map is reconciled every half second, without end.
void live(ek::testing::Harness& cluster) {
  cluster.create({map_of("a"), map_of("b")});
  cluster.run_for(2s);
  cluster.edit<ek::ConfigMap>({"default", "a"}, [](ek::ConfigMap& map) { map.data["term"] = "7"; });
  cluster.run_for(2s);
  cluster.remove<ek::ConfigMap>({"default", "b"});
  cluster.run_for(2s);
  cluster.create({map_of("b")});
  cluster.run_for(2s);
}

}  // namespace

TEST(ShardsFaults, EndAsIfNothingHadGoneWrong) {
  const auto result = ek::testing::explore(make, live, {.limit = 30s});
  RecordProperty("explored", result.describe());
  EXPECT_TRUE(result.ok()) << result.describe();
  EXPECT_GT(result.plans_run, 10U) << result.describe();
}
