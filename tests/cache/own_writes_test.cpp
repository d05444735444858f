// SPDX-License-Identifier: Apache-2.0
// The overlay of own writes on a store, without a clock.
#include "cache/own_writes.hpp"

#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/cache/object_store.hpp>
#include <evenkeel/cache/write_effect.hpp>

#include "objects.hpp"

namespace evenkeel::own_writes_tests {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using tests::object;
using Kind = WriteEffect::Kind;

std::vector<std::string> listed(const ObjectStore& store) {
  std::vector<std::string> result;
  for (const WireObject& one : store.list())
    result.push_back(std::string(one.name()) + "@" + std::string(one.resource_version()));
  return result;
}

std::vector<std::string> unknown(const ObjectStore& store) {
  std::vector<std::string> result;
  for (const ObjectKey& key : store.unknown()) result.push_back(key.name);
  return result;
}

class OwnWrites : public ::testing::Test {
 protected:
  OwnWrites() {
    store_.replace({object({.name = "a", .version = "5", .uid = "ua"}),
                    object({.name = "b", .version = "6", .uid = "ub", .owners = {"o"}})});
    store_.reached("10");
  }

  void record(Kind kind, const std::string& name, const std::string& uid = "",
              const std::string& version = "", TimePoint until = TimePoint::max()) {
    store_.record({.kind = kind,
                   .namespace_ = "default",
                   .name = name,
                   .uid = uid,
                   .version = version,
                   .until = until});
  }
  void write(const tests::ObjectParts& parts,
             WriteEffect::Selection selection = WriteEffect::Selection::inside) {
    store_.record({.namespace_ = parts.namespace_,
                   .name = parts.name,
                   .object = object(parts),
                   .selection = selection});
  }

  ManualClock clock_;
  ObjectStore store_{{.clock = &clock_}};
};

TEST_F(OwnWrites, HidesADeletedObjectUntilTheWatchRemovesIt) {
  record(Kind::removed, "b", "ub");
  EXPECT_THAT(listed(store_), ElementsAre("a@5"));
  EXPECT_FALSE(store_.find("default", "b"));
  EXPECT_THAT(store_.by_owner("o"), IsEmpty());
  EXPECT_TRUE(store_.stored("default", "b"));
  store_.apply(object({.name = "b", .version = "11", .uid = "ub"}));
  store_.reached("11");
  EXPECT_FALSE(store_.find("default", "b")) << "a change before the deletion, which the watch delivers late";
  store_.remove(object({.name = "b", .version = "12", .uid = "ub"}));
  store_.apply(object({.name = "b", .version = "13", .uid = "ub2"}));
  EXPECT_THAT(listed(store_), ElementsAre("a@5", "b@13"));
}

TEST_F(OwnWrites, HidesADeletedObjectWhoseCreationTheWatchDeliversLater) {
  write({.name = "c", .version = "11", .uid = "uc"});
  record(Kind::removed, "c", "uc");
  EXPECT_THAT(listed(store_), ElementsAre("a@5", "b@6"));
  store_.apply(object({.name = "c", .version = "11", .uid = "uc"}));
  store_.reached("11");
  EXPECT_THAT(listed(store_), ElementsAre("a@5", "b@6"));
  write({.name = "c", .version = "13", .uid = "uc2"});
  EXPECT_THAT(listed(store_), ElementsAre("a@5", "b@6", "c@13")) << "created again";
  store_.remove(object({.name = "c", .version = "12", .uid = "uc"}));
  EXPECT_THAT(listed(store_), ElementsAre("a@5", "b@6", "c@13"));
}

TEST_F(OwnWrites, HidesEveryOneOfSeveralObjectsThatHadTheName) {
  for (const char* uid : {"u1", "u2", "u3"}) {
    record(Kind::removed, "a", "ua");
    write({.name = "a", .version = std::to_string(10 + uid[1] - '0'), .uid = uid});
    EXPECT_EQ(store_.find("default", "a").uid(), uid);
    record(Kind::removed, "a", uid);
    EXPECT_FALSE(store_.find("default", "a"));
  }
  store_.remove(object({.name = "a", .version = "11", .uid = "ua"}));
  for (const char* uid : {"u1", "u2"}) {
    store_.apply(object({.name = "a", .version = std::to_string(10 + uid[1] - '0'), .uid = uid}));
    EXPECT_FALSE(store_.find("default", "a")) << uid;
  }
}

TEST_F(OwnWrites, AnAnswerThatComesAfterTheDeletionShowsNothing) {
  record(Kind::removed, "a", "ua");
  write({.name = "a", .version = "11", .uid = "ua"});
  EXPECT_FALSE(store_.find("default", "a"));
  store_.remove(object({.name = "a", .version = "12", .uid = "ua"}));
  write({.name = "a", .version = "13", .uid = "ua"});
  EXPECT_FALSE(store_.find("default", "a")) << "the watch has removed that uid";
}

// A DELETED of a watch with a selector says that the object is not selected any more.
TEST_F(OwnWrites, AreShownOfAnObjectThatWasNotSelectedForATime) {
  store_.remove(object({.name = "b", .version = "11", .uid = "ub"}));
  store_.apply(object({.name = "b", .version = "12", .uid = "ub"}));
  store_.reached("12");
  write({.name = "b", .version = "13", .uid = "ub"});
  EXPECT_THAT(listed(store_), ElementsAre("a@5", "b@13"));
  record(Kind::removed, "b", "ub");
  EXPECT_THAT(listed(store_), ElementsAre("a@5"));
}

TEST_F(OwnWrites, ADeletionThatTheWatchDeliveredFirstLeavesNothingPending) {
  store_.remove(object({.name = "a", .version = "12", .uid = "ua"}));
  record(Kind::removed, "a", "ua");
  record(Kind::ending, "a", "ua");
  EXPECT_THAT(unknown(store_), IsEmpty());
  clock_.advance(std::chrono::hours{1});
  EXPECT_THAT(listed(store_), ElementsAre("b@6"));
}

TEST_F(OwnWrites, AWriteBeforeTheFirstListIsShownIfThatListIsOlder) {
  ObjectStore store;
  store.written(object({.name = "a", .version = "20", .uid = "ua"}));
  store.replace({});
  store.reached("19");
  EXPECT_THAT(listed(store), ElementsAre("a@20"));
  store.reached("20");
  EXPECT_THAT(listed(store), IsEmpty()) << "deleted since";
}

TEST_F(OwnWrites, SurvivesARelistWithoutAVersion) {
  write({.name = "c", .version = "11", .uid = "uc"});
  record(Kind::removed, "a", "ua");
  store_.reached("");
  EXPECT_THAT(listed(store_), ElementsAre("b@6", "c@11"));
  store_.replace({object({.name = "b", .version = "6", .uid = "ub"}),
                  object({.name = "c", .version = "11", .uid = "uc"})});
  store_.reached("15");
  EXPECT_THAT(listed(store_), ElementsAre("b@6", "c@11"));
}

TEST_F(OwnWrites, AServerThatWentBackMayHaveLostThem) {
  write({.name = "c", .version = "11", .uid = "uc"});
  record(Kind::removed, "a", "ua");
  record(Kind::unknown, "b");
  store_.reached("3");
  EXPECT_THAT(listed(store_), ElementsAre("a@5", "b@6"));
  EXPECT_THAT(unknown(store_), IsEmpty());
}

TEST_F(OwnWrites, EndWithTime) {
  const TimePoint end = clock_.now() + std::chrono::seconds{5};
  record(Kind::removed, "a", "ua", "", end);
  record(Kind::unknown, "b", "", "", end + std::chrono::seconds{1});
  store_.record({.namespace_ = "default",
                 .name = "c",
                 .object = object({.name = "c", .version = "11"}),
                 .until = end + std::chrono::seconds{2}});
  clock_.advance(std::chrono::milliseconds{4999});
  EXPECT_THAT(listed(store_), ElementsAre("b@6", "c@11"));
  clock_.advance(std::chrono::milliseconds{1});
  EXPECT_THAT(listed(store_), ElementsAre("a@5", "b@6", "c@11"));
  EXPECT_TRUE(store_.is_unknown("default", "b"));
  clock_.advance(std::chrono::seconds{1});
  EXPECT_FALSE(store_.is_unknown("default", "b"));
  clock_.advance(std::chrono::seconds{1});
  EXPECT_FALSE(store_.find("default", "c"));
}

TEST_F(OwnWrites, AnEvictionIsUnknownUntilTheWatchShowsTheDeletion) {
  record(Kind::ending, "a");
  EXPECT_THAT(unknown(store_), ElementsAre("a"));
  EXPECT_FALSE(store_.is_unknown("default", "b"));
  EXPECT_THAT(store_.unknown("other"), IsEmpty());
  store_.apply(object({.name = "a", .version = "11", .uid = "ua"}));
  store_.reached("11");
  EXPECT_THAT(unknown(store_), ElementsAre("a")) << "a change from before the eviction";
  store_.remove(object({.name = "a", .version = "12", .uid = "ua"}));
  EXPECT_THAT(unknown(store_), IsEmpty());
}

TEST_F(OwnWrites, AConflictIsUnknownUntilTheWatchShowsANewerState) {
  record(Kind::outdated, "a", "", "5");
  record(Kind::outdated, "b", "", "4");
  EXPECT_THAT(unknown(store_), ElementsAre("a")) << "what is cached of b is newer than what was sent";
  store_.reached("11");
  EXPECT_THAT(unknown(store_), ElementsAre("a"));
  store_.apply(object({.name = "a", .version = "12", .uid = "ua"}));
  EXPECT_THAT(unknown(store_), IsEmpty());
}

TEST_F(OwnWrites, AnOwnWriteResolvesAConflict) {
  record(Kind::outdated, "a", "", "5");
  write({.name = "a", .version = "12", .uid = "ua"});
  EXPECT_THAT(unknown(store_), IsEmpty());
  EXPECT_EQ(store_.find("default", "a").resource_version(), "12");
}

TEST_F(OwnWrites, AScaleIsUnknownUntilTheWatchReachesIt) {
  record(Kind::changed, "a", "", "12");
  EXPECT_THAT(unknown(store_), ElementsAre("a"));
  store_.reached("11");
  EXPECT_THAT(unknown(store_), ElementsAre("a"));
  store_.reached("12");
  EXPECT_THAT(unknown(store_), IsEmpty());
  record(Kind::changed, "a", "", "12");
  EXPECT_THAT(unknown(store_), IsEmpty()) << "the watch was first";
}

TEST_F(OwnWrites, ANameThatIsTakenIsUnknownUntilTheWatchShowsTheObject) {
  record(Kind::present, "c");
  record(Kind::present, "a");
  EXPECT_THAT(unknown(store_), ElementsAre("c"));
  store_.apply(object({.name = "c", .version = "9", .uid = "uc"}));
  EXPECT_THAT(unknown(store_), IsEmpty());
}

TEST_F(OwnWrites, AnObjectThatTheServerDoesNotFindIsUnknownWhileItIsShown) {
  record(Kind::absent, "c");
  record(Kind::absent, "a");
  EXPECT_THAT(unknown(store_), ElementsAre("a"));
  store_.remove(object({.name = "a", .version = "9", .uid = "ua"}));
  EXPECT_THAT(unknown(store_), IsEmpty());
}

TEST_F(OwnWrites, ALostAnswerIsUnknownWhateverTheWatchShows) {
  record(Kind::unknown, "a");
  store_.apply(object({.name = "a", .version = "12", .uid = "ua"}));
  store_.reached("12");
  EXPECT_THAT(unknown(store_), ElementsAre("a"));
}

TEST_F(OwnWrites, APageByIndexIsFullAlthoughOwnWritesTookObjectsFromIt) {
  for (const char* name : {"c", "d", "e"})
    store_.apply(object({.name = name, .version = "9", .uid = name, .owners = {"o"}}));
  record(Kind::removed, "b", "ub");
  record(Kind::removed, "d", "d");
  write({.name = "z", .version = "11", .uid = "z", .owners = {"o"}});
  std::vector<std::string> pages;
  IndexListOptions options{.limit = 2};
  for (auto page = store_.by_owner("o", options); !page.empty(); page = store_.by_owner("o", options)) {
    for (const WireObject& one : page) pages.emplace_back(one.name());
    options.after = page.back().key();
  }
  EXPECT_THAT(pages, ElementsAre("c", "e", "z"));
  EXPECT_EQ(store_.by_owner("o", {.limit = 2}).back().name(), "e");
}

TEST_F(OwnWrites, FollowTheSelectorOfTheStore) {
  write({.name = "a", .version = "11", .uid = "ua"}, WriteEffect::Selection::outside);
  write({.name = "c", .version = "12", .uid = "uc"}, WriteEffect::Selection::outside);
  write({.name = "d", .version = "13", .uid = "ud"}, WriteEffect::Selection::undecided);
  write({.name = "b", .version = "14", .uid = "ub"}, WriteEffect::Selection::undecided);
  EXPECT_THAT(listed(store_), ElementsAre("b@14"));
  EXPECT_FALSE(store_.find("default", "a"));
  store_.reached("14");
  EXPECT_THAT(listed(store_), ElementsAre("a@5", "b@6")) << "what the watch delivered is all there is";
}

}  // namespace
}  // namespace evenkeel::own_writes_tests
