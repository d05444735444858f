// SPDX-License-Identifier: Apache-2.0
// The list of scopes that may neither lock nor act.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/coordination/deny_list.hpp>
#include <evenkeel/coordination/memory_store.hpp>

namespace evenkeel::coordination {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> scopes_of(const std::vector<Denied>& list) {
  std::vector<std::string> scopes;
  for (const Denied& one : list) scopes.push_back(one.scope);
  return scopes;
}

class DenyListTest : public ::testing::Test {
 protected:
  MemoryStore store;
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  DenyList list{store, Layout("/db"), "uid-1", {.delay = {}, .clock = clock}};
};

TEST_F(DenyListTest, TakesWhomAnEntryNames) {
  EXPECT_THAT(scopes_of(list.apply({{"dc2"}})), ElementsAre("dc2"));
  EXPECT_TRUE(list.is_denied("dc2"));
  EXPECT_FALSE(list.is_denied("dc"));
  EXPECT_FALSE(list.is_denied("dc20"));
}

TEST_F(DenyListTest, LetsGoWhomAnEntryAllows) {
  list.apply({{"dc2"}, {"dc3"}});
  EXPECT_THAT(scopes_of(list.apply({{.scope = "dc2", .allow = true}})), ElementsAre("dc3"));
  EXPECT_THAT(scopes_of(list.list()), ElementsAre("dc3"));
}

// 'no idle writes', for the deny list.
TEST_F(DenyListTest, WritesNothingWhereAllIsAsWanted) {
  list.apply({{"dc2"}});
  const Version before = store.version();
  EXPECT_THAT(scopes_of(list.apply({{"dc2"}, {.scope = "dc3", .allow = true}})), ElementsAre("dc2"));
  EXPECT_EQ(store.version(), before);
}

TEST_F(DenyListTest, OfTwoEntriesTheLastCounts) {
  EXPECT_THAT(list.apply({{"dc2"}, {.scope = "dc2", .allow = true}}), IsEmpty());
  EXPECT_THAT(scopes_of(list.apply({{.scope = "dc2", .allow = true}, {"dc2"}})), ElementsAre("dc2"));
}

TEST_F(DenyListTest, SaysWhoWhenAndWhy) {
  list.apply({{"dc/2"}}, "moves data while it is drained");
  EXPECT_THAT(list.list(), ElementsAre(Denied{.scope = "dc/2",
                                              .by = "uid-1",
                                              .reason = "moves data while it is drained",
                                              .at = clock->wall_now()}));
}

TEST_F(DenyListTest, AKeyDeniesWhateverItsValueIs) {
  store.commit({.puts = {{"/db/arbiter/denyList/dc9", "by hand"}}});
  EXPECT_THAT(scopes_of(list.list()), ElementsAre("dc9"));
  EXPECT_EQ(list.list().front().reason, "by hand");
}

}  // namespace
}  // namespace evenkeel::coordination
