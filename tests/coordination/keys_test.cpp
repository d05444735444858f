// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/coordination/keys.hpp>
#include <evenkeel/coordination/store.hpp>

namespace evenkeel::coordination {
namespace {

using Texts = std::vector<std::string>;

TEST(CoordinationKeys, AreTheDocumentsKeySpace) {
  EXPECT_EQ(key_of("\xff\x02/org.foundationdb.kubernetes-operator",
                   {"pendingForExclusion", "kube-cluster-1", "kube-cluster-1-storage-1"}),
            "\xff\x02/org.foundationdb.kubernetes-operator/pendingForExclusion/kube-cluster-1/"
            "kube-cluster-1-storage-1");
}

TEST(CoordinationKeys, GiveElementsBack) {
  const std::string odd("a/b%\x01 \xff", 7);
  EXPECT_EQ(key_element(odd), "a%2Fb%25%01%20%FF");
  EXPECT_EQ(elements_of("/db", key_of("/db", {"set", odd, "unit"})), (Texts{"set", odd, "unit"}));
  EXPECT_EQ(elements_of("", key_of("", {"a", "b"})), (Texts{"a", "b"}));
}

TEST(CoordinationKeys, LeaveWhatIsNoEscapeAsItIs) {
  EXPECT_EQ(key_text("50%"), "50%");
  EXPECT_EQ(key_text("%2"), "%2");
  EXPECT_EQ(key_text("%zz"), "%zz");
  EXPECT_EQ(key_text("%2F"), "/");
}

TEST(CoordinationKeys, RefuseEmptyElements) {
  EXPECT_THROW(key_of("/db", {"set", ""}), std::invalid_argument);
}

// 'separate scopes': scopes of which one is a prefix of the other.
TEST(CoordinationKeys, OfAScopeAreNoneOfAnother) {
  const KeyRange mine = prefix_range(prefix_of("/db", {"pendingForRestart", "primary"}));
  EXPECT_TRUE(mine.contains(key_of("/db", {"pendingForRestart", "primary", "log-1"})));
  EXPECT_FALSE(mine.contains(key_of("/db", {"pendingForRestart", "primary-sat", "log-1"})));
  EXPECT_FALSE(mine.contains(key_of("/db", {"pendingForRestart", "primary/sat", "log-1"})));
  EXPECT_FALSE(mine.contains(key_of("/db", {"pendingForRestart", "primar", "log-1"})));
}

TEST(CoordinationKeys, BelowAnotherRootAreNothing) {
  EXPECT_EQ(elements_of("/db", "/db2/set/a"), Texts());
  EXPECT_EQ(elements_of("/db", "/db"), Texts());
}

}  // namespace
}  // namespace evenkeel::coordination
