// SPDX-License-Identifier: Apache-2.0
#include "clusters/membership_core.hpp"

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace evenkeel::membership_core {
namespace {

using detail::MembershipCore;
using Phase = MembershipCore::Phase;

ClusterDescription described(const std::string& name, const std::string& version = "1") {
  return {.name = name, .config = {.server = "https://" + name}, .version = version};
}

// Returns "engage eu 1" and so on for all steps that are due.
std::vector<std::string> steps(MembershipCore& core) {
  std::vector<std::string> all;
  while (const auto step = core.next_step()) {
    switch (step->kind) {
      case MembershipCore::StepKind::engage:
        all.push_back("engage " + step->name + " " + step->description.version);
        break;
      case MembershipCore::StepKind::leave:
        all.push_back("leave " + step->name);
        break;
      case MembershipCore::StepKind::retire:
        all.push_back("retire " + step->name);
        break;
    }
  }
  return all;
}

using Steps = std::vector<std::string>;

TEST(MembershipCore, EngagesWhatIsOfferedOnce) {
  MembershipCore core;
  EXPECT_TRUE(core.on_offered("files", described("eu")));
  EXPECT_TRUE(core.on_offered("files", described("us")));
  EXPECT_EQ(steps(core), (Steps{"engage eu 1", "engage us 1"}));
  EXPECT_TRUE(core.on_offered("files", described("eu")));
  EXPECT_EQ(steps(core), Steps{});
}

TEST(MembershipCore, AClusterThatIsTooLargeLeavesAndCountsAsFailed) {
  MembershipCore core;
  core.on_offered("files", described("eu"));
  steps(core);
  core.on_overflow("eu");
  EXPECT_EQ(steps(core), Steps{"leave eu"});
  core.on_overflow("eu");
  core.on_drained("eu");
  EXPECT_EQ(steps(core), Steps{"retire eu"});
  core.on_retired("eu");
  EXPECT_EQ(steps(core), Steps{});
  EXPECT_EQ(core.phase("eu"), Phase::failed);
  core.on_offered("files", described("eu", "2"));
  EXPECT_EQ(steps(core), Steps{"engage eu 2"});
  core.on_withdrawn("files", "eu");
  EXPECT_EQ(steps(core), Steps{"leave eu"});
  core.on_overflow("eu");
  core.on_drained("eu");
  EXPECT_EQ(steps(core), Steps{"retire eu"});
  core.on_retired("eu");
  EXPECT_EQ(core.phase("eu"), Phase::absent);
  core.stop();
  EXPECT_EQ(steps(core), Steps{});
  EXPECT_TRUE(core.is_empty());
}

TEST(MembershipCore, AWithdrawnClusterIsRetiredOnceItsLastRunHasEnded) {
  MembershipCore core;
  core.on_offered("files", described("eu"));
  steps(core);
  core.on_withdrawn("files", "eu");
  EXPECT_EQ(steps(core), Steps{"leave eu"});
  EXPECT_EQ(core.phase("eu"), Phase::leaving);
  EXPECT_EQ(steps(core), Steps{});
  core.on_drained("eu");
  EXPECT_EQ(steps(core), Steps{"retire eu"});
  EXPECT_EQ(steps(core), Steps{});
  core.on_retired("eu");
  EXPECT_EQ(steps(core), Steps{});
  EXPECT_TRUE(core.is_empty());
}

TEST(MembershipCore, AnotherConfigurationReplacesTheClusterAfterItHasLeft) {
  MembershipCore core;
  core.on_offered("files", described("eu", "1"));
  steps(core);
  core.on_offered("files", described("eu", "2"));
  EXPECT_EQ(steps(core), Steps{"leave eu"});
  core.on_offered("files", described("eu", "3"));
  core.on_drained("eu");
  EXPECT_EQ(steps(core), Steps{"retire eu"});
  core.on_retired("eu");
  EXPECT_EQ(steps(core), Steps{"engage eu 3"});
}

TEST(MembershipCore, AClusterThatIsOfferedAgainWhileItLeavesJoinsAfterwards) {
  MembershipCore core;
  core.on_offered("files", described("eu"));
  steps(core);
  core.on_withdrawn("files", "eu");
  EXPECT_EQ(steps(core), Steps{"leave eu"});
  core.on_offered("files", described("eu"));
  EXPECT_EQ(steps(core), Steps{});
  core.on_drained("eu");
  EXPECT_EQ(steps(core), Steps{"retire eu"});
  core.on_retired("eu");
  EXPECT_EQ(steps(core), Steps{"engage eu 1"});
}

TEST(MembershipCore, OfTwoProvidersTheFirstCountsUntilItWithdraws) {
  MembershipCore core;
  EXPECT_TRUE(core.on_offered("files", described("eu", "of files")));
  EXPECT_FALSE(core.on_offered("secrets", described("eu", "of secrets")));
  EXPECT_EQ(steps(core), Steps{"engage eu of files"});
  core.on_withdrawn("secrets", "us");
  core.on_withdrawn("files", "eu");
  EXPECT_EQ(steps(core), Steps{"leave eu"});
  core.on_drained("eu");
  EXPECT_EQ(steps(core), Steps{"retire eu"});
  core.on_retired("eu");
  EXPECT_EQ(steps(core), Steps{"engage eu of secrets"});
}

TEST(MembershipCore, AClusterThatFailedIsEngagedAgainOnlyWithAnotherConfiguration) {
  MembershipCore core;
  core.on_offered("files", described("eu", "bad"));
  steps(core);
  core.on_failed("eu");
  EXPECT_EQ(core.phase("eu"), Phase::failed);
  EXPECT_EQ(steps(core), Steps{});
  core.on_offered("files", described("eu", "good"));
  EXPECT_EQ(steps(core), Steps{"engage eu good"});
  EXPECT_EQ(core.phase("eu"), Phase::engaged);
}

TEST(MembershipCore, AClusterThatFailedIsForgottenWhenItIsWithdrawn) {
  MembershipCore core;
  core.on_offered("files", described("eu"));
  steps(core);
  core.on_failed("eu");
  core.on_withdrawn("files", "eu");
  EXPECT_EQ(steps(core), Steps{});
  EXPECT_TRUE(core.is_empty());
}

TEST(MembershipCore, AtTheEndAllLeaveAndOffersAreIgnored) {
  MembershipCore core;
  core.on_offered("files", described("eu"));
  core.on_offered("files", described("us"));
  steps(core);
  core.stop();
  core.on_offered("files", described("asia"));
  EXPECT_EQ(steps(core), (Steps{"leave eu", "leave us"}));
  for (const char* name : {"eu", "us"}) {
    EXPECT_FALSE(core.is_empty());
    core.on_drained(name);
    steps(core);
    core.on_retired(name);
    steps(core);
  }
  EXPECT_TRUE(core.is_empty());
}

TEST(MembershipCore, ReportsForUnknownClustersAreIgnored) {
  MembershipCore core;
  core.on_withdrawn("files", "eu");
  core.on_drained("eu");
  core.on_failed("eu");
  core.on_retired("eu");
  EXPECT_EQ(steps(core), Steps{});
  EXPECT_EQ(core.phase("eu"), Phase::absent);
}

}  // namespace
}  // namespace evenkeel::membership_core
