// SPDX-License-Identifier: Apache-2.0
// Conditions of built-in kinds.
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/controller/readiness.hpp>

namespace evenkeel {
namespace {

TEST(Readiness, OfARolloutSaysWhatIsMissing) {
  Deployment deployment{.metadata = {.generation = 2}};
  deployment.spec.replicas = 3;
  EXPECT_EQ(rolled_out(deployment).why_not, "its controller has not seen the last change");
  deployment.status.observed_generation = 2;
  deployment.status.replicas = 3;
  deployment.status.updated_replicas = 1;
  EXPECT_EQ(rolled_out(deployment).why_not, "1 of 3 replicas have the last change");
  deployment.status.updated_replicas = 3;
  deployment.status.replicas = 4;
  EXPECT_EQ(rolled_out(deployment).why_not, "1 old replicas are left");
  deployment.status.replicas = 3;
  deployment.status.available_replicas = 2;
  EXPECT_EQ(rolled_out(deployment).why_not, "2 of 3 replicas are available");
  deployment.status.available_replicas = 3;
  EXPECT_TRUE(rolled_out(deployment).ready);
}

TEST(Readiness, OfSetsIsThatOfTheirPods) {
  StatefulSet set{.metadata = {.generation = 1}};
  set.status = {.available_replicas = 1, .observed_generation = 1, .replicas = 1, .updated_replicas = 1};
  EXPECT_TRUE(rolled_out(set).ready) << "one replica is the default";
  set.spec.replicas = 2;
  EXPECT_FALSE(rolled_out(set).ready);
  DaemonSet daemons{.metadata = {.generation = 1}};
  EXPECT_FALSE(rolled_out(daemons).ready);
  daemons.status.observed_generation = 1;
  daemons.status.desired_number_scheduled = 2;
  daemons.status.updated_number_scheduled = 2;
  daemons.status.number_available = 1;
  EXPECT_EQ(rolled_out(daemons).why_not, "1 of 2 replicas are available");
  daemons.status.number_available = 2;
  EXPECT_TRUE(rolled_out(daemons).ready);
}

TEST(Readiness, OfAJobIsItsCompletion) {
  Job job;
  EXPECT_EQ(completed(job).why_not, "it is not complete");
  job.status.conditions = {{.status = "True", .message = "too many retries", .type = "Failed"}};
  EXPECT_EQ(completed(job).why_not, "it failed: too many retries");
  job.status.conditions = {{.status = "True", .type = "Complete"}};
  EXPECT_TRUE(completed(job).ready);
}

TEST(Readiness, OfAnyKindIsACondition) {
  StatefulSet set;
  const auto up = has_condition("Up");
  EXPECT_EQ(up(set).why_not, "it has no condition Up");
  set.status.conditions = {{.status = "False", .type = "Up"}};
  EXPECT_EQ(up(set).why_not, "Up is False");
  set.status.conditions[0].status = "True";
  EXPECT_TRUE(up(set).ready);
}

struct Lamp {
  std::optional<decltype(Deployment::status)> status = {};
};

TEST(Readiness, OfAKindWhoseStatusIsOptionalIsACondition) {
  Lamp lamp;
  const auto up = has_condition("Up");
  EXPECT_EQ(up(lamp).why_not, "it has no condition Up");
  lamp.status.emplace().conditions = {{.status = "True", .type = "Up"}};
  EXPECT_TRUE(up(lamp).ready);
}

}  // namespace
}  // namespace evenkeel
