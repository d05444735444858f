// SPDX-License-Identifier: Apache-2.0
// Which objects get the label of their cell, and when.
#include "cache/label_core.hpp"

#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/base/hash_ranges.hpp>

#include "objects.hpp"
#include "shares.hpp"

namespace evenkeel::cache_share_tests {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using tests::object;

TEST(LabelCore, AWrongLabelIsCorrectedByTheHolderOfTheNamespaceOrOfTheLabel) {
  const HashRanges wanted = cells_of({"a"});
  const auto must = [&](const std::string& namespace_, const std::string& value) {
    return detail::must_label(object({.name = "o", .namespace_ = namespace_, .cell = value}), "cell", wanted);
  };
  EXPECT_FALSE(must("a", cell("a")));
  EXPECT_TRUE(must("a", ""));
  EXPECT_TRUE(must("a", "zz"));
  EXPECT_TRUE(must("a", cell("c")));
  EXPECT_FALSE(must("c", cell("c")));
  EXPECT_FALSE(must("c", "")) << "its own replica does it";
  EXPECT_FALSE(must("c", "zz"));
  EXPECT_TRUE(must("c", cell("a"))) << "its own replica does not see it";
}

const ResourceId maps{"", "v1", "ConfigMap", "configmaps"};
const ResourceId pods{"", "v1", "Pod", "pods"};

/// Returns the keys of the tasks that begin now.
std::vector<std::string> begin_all(detail::LabelCore& core, TimePoint now) {
  std::vector<std::string> keys;
  while (const auto task = core.next_task(now)) keys.push_back(task->resource.kind + " " + task->key.str());
  return keys;
}

TEST(LabelCore, PatchesFewObjectsAtATimeAndTakesTheKindsInTurn) {
  detail::LabelCore core;
  for (const char* name : {"1", "2", "3", "4", "1"}) core.on_found(maps, {"a", name});
  core.on_found(pods, {"a", "5"});
  EXPECT_EQ(core.counts().waiting, 5U);
  EXPECT_THAT(begin_all(core, TimePoint{}),
              ElementsAre("ConfigMap a/1", "Pod a/5", "ConfigMap a/2", "ConfigMap a/3"));
  EXPECT_EQ(core.next_due(), TimePoint::max());
  EXPECT_FALSE(core.on_done({maps, {"a", "1"}}, true));
  EXPECT_THAT(begin_all(core, TimePoint{}), ElementsAre("ConfigMap a/4"));
  EXPECT_EQ(core.counts().labelled, 1U);
  EXPECT_EQ(core.counts().waiting, 4U);
}

TEST(LabelCore, AnObjectThatIsFoundDuringItsPatchIsPatchedOnceMore) {
  detail::LabelCore core;
  core.on_found(maps, {"a", "1"});
  EXPECT_THAT(begin_all(core, TimePoint{}), ElementsAre("ConfigMap a/1"));
  core.on_found(maps, {"a", "1"});
  EXPECT_THAT(begin_all(core, TimePoint{}), IsEmpty());
  core.on_done({maps, {"a", "1"}}, true);
  ASSERT_THAT(begin_all(core, TimePoint{}), ElementsAre("ConfigMap a/1"));
  core.on_done({maps, {"a", "1"}}, false);
  EXPECT_EQ(core.counts().waiting, 0U);
  EXPECT_EQ(core.counts().labelled, 1U) << "the second was gone";
}

TEST(LabelCore, AfterAFailureTheKindWaitsAndOneAttemptShowsIfItWorksAgain) {
  detail::LabelCore core;
  for (const char* name : {"1", "2", "3"}) core.on_found(maps, {"a", name});
  core.on_found(pods, {"a", "4"});
  TimePoint now{};
  begin_all(core, now);
  EXPECT_TRUE(core.on_failed({maps, {"a", "1"}}, now));
  EXPECT_FALSE(core.on_failed({maps, {"a", "2"}}, now)) << "of the same attempt";
  EXPECT_FALSE(core.on_failed({maps, {"a", "3"}}, now));
  EXPECT_EQ(core.next_due(), now + 1s);
  core.on_done({pods, {"a", "4"}}, true);
  core.on_found(pods, {"a", "5"});
  EXPECT_THAT(begin_all(core, now), ElementsAre("Pod a/5")) << "other kinds do not wait";
  now += 1s;
  EXPECT_THAT(begin_all(core, now), ElementsAre("ConfigMap a/1"));
  EXPECT_FALSE(core.on_failed({maps, {"a", "1"}}, now));
  EXPECT_EQ(core.next_due(), now + 2s);
  now += 2s;
  EXPECT_THAT(begin_all(core, now), ElementsAre("ConfigMap a/2"));
  EXPECT_TRUE(core.on_done({maps, {"a", "2"}}, true));
  EXPECT_THAT(begin_all(core, now), ElementsAre("ConfigMap a/3", "ConfigMap a/1"));
  EXPECT_EQ(core.counts().failures, 4U);
}

// A quota or a policy may refuse the patches of one namespace.
TEST(LabelCore, AfterAFailureTheNextAttemptIsInAnotherNamespace) {
  detail::LabelCore core;
  for (const char* name : {"1", "2", "3", "4", "5", "6"}) core.on_found(maps, {"bad", name});
  core.on_found(maps, {"good", "7"});
  TimePoint now{};
  begin_all(core, now);
  for (const char* name : {"1", "2", "3", "4"}) core.on_failed({maps, {"bad", name}}, now);
  now += 1s;
  EXPECT_THAT(begin_all(core, now), ElementsAre("ConfigMap good/7"));
  core.on_done({maps, {"good", "7"}}, true);
  EXPECT_THAT(begin_all(core, now),
              ElementsAre("ConfigMap bad/5", "ConfigMap bad/6", "ConfigMap bad/1", "ConfigMap bad/2"));
}

TEST(LabelCore, WaitsFiveMinutesAtMost) {
  detail::LabelCore core;
  core.on_found(maps, {"a", "1"});
  TimePoint now{};
  for (int i = 0; i < 12; ++i) {
    ASSERT_EQ(begin_all(core, now).size(), 1U);
    core.on_failed({maps, {"a", "1"}}, now);
    EXPECT_LE(core.next_due(), now + 5min);
    now = core.next_due();
  }
  ASSERT_EQ(begin_all(core, now).size(), 1U);
  core.on_failed({maps, {"a", "1"}}, now);
  EXPECT_EQ(core.next_due(), now + 5min);
}

}  // namespace
}  // namespace evenkeel::cache_share_tests
