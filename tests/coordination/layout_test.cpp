// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <evenkeel/coordination/identity.hpp>
#include <evenkeel/coordination/layout.hpp>
#include <evenkeel/coordination/store.hpp>

namespace evenkeel::coordination::layout_tests {
namespace {

const Layout layout("/db");

TEST(Layout, HasTheDocumentsNames) {
  EXPECT_EQ(layout.member("pendingForExclusion", "kube-cluster-1", "kube-cluster-1-storage-1"),
            "/db/pendingForExclusion/kube-cluster-1/kube-cluster-1-storage-1");
  EXPECT_EQ(layout.guard("pendingForExclusion", "dc1"), "/db/guard/pendingForExclusion/dc1");
  EXPECT_EQ(layout.token("dc1"), "/db/tokens/dc1");
  EXPECT_EQ(layout.instance("dc1"), "/db/instances/dc1");
  EXPECT_EQ(layout.lock(), "/db/arbiter/lock");
  EXPECT_EQ(layout.denied("dc2"), "/db/arbiter/denyList/dc2");
  EXPECT_EQ(layout.claim("restart"), "/db/arbiter/claims/restart");
  EXPECT_EQ(layout.upgrade("7.3.1", "dc1-log-1"), "/db/arbiter/upgrades/7.3.1/dc1-log-1");
  EXPECT_EQ(layout.migrating("dc1"), "/db/arbiter/migrating/dc1");
  EXPECT_EQ(layout.arbiter_token("uid-1"), "/db/arbiter/tokens/uid-1");
}

// 'separate scopes': upstream's scan of the scope "primary" also finds "primary-sat".
TEST(Layout, NoScopeIsAPrefixOfAnother) {
  const KeyRange primary = prefix_range(layout.scope_prefix("pendingForRestart", "primary"));
  EXPECT_TRUE(primary.contains(layout.member("pendingForRestart", "primary", "log-1")));
  EXPECT_FALSE(primary.contains(layout.member("pendingForRestart", "primary-sat", "log-1")));
  EXPECT_FALSE(primary.contains(layout.member("pendingForRestart", "primary/sat", "log-1")));
  EXPECT_THROW(layout.scope_prefix("pendingForRestart", ""), std::invalid_argument);
}

TEST(Layout, ASetIsNoPrefixOfItsGuards) {
  const KeyRange set = prefix_range(layout.set_prefix("pendingForRestart"));
  EXPECT_FALSE(set.contains(layout.guard("pendingForRestart", "dc1")));
  EXPECT_TRUE(prefix_range(layout.guard_prefix("pendingForRestart"))
                  .contains(layout.guard("pendingForRestart", "dc1")));
}

TEST(Mode, IsWrittenAndReadByName) {
  for (const Mode mode : {Mode::local, Mode::shadow, Mode::global}) EXPECT_EQ(mode_of(text_of(mode)), mode);
  EXPECT_EQ(text_of(Mode::shadow), "shadow");
  EXPECT_EQ(mode_of("Global"), std::nullopt);
}

}  // namespace
}  // namespace evenkeel::coordination::layout_tests
