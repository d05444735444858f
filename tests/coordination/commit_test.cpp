// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/coordination/store.hpp>

namespace evenkeel::coordination {
namespace {

std::vector<std::string> put_keys(const Commit& commit) {
  std::vector<std::string> keys;
  for (const Commit::Put& put : commit.puts) keys.push_back(put.key + "=" + put.value);
  return keys;
}

using Texts = std::vector<std::string>;
using Ranges = std::vector<KeyRange>;

TEST(CommitNormalForm, HasOneOperationForEachKey) {
  Commit commit;
  commit.puts = {{"b", "1"}, {"a", "1"}, {"b", "2"}};
  commit.erases = {"a", "c", "c"};
  const Commit normal = normalise(std::move(commit));
  EXPECT_EQ(put_keys(normal), (Texts{"a=1", "b=2"}));
  EXPECT_EQ(normal.erases, Texts{"c"});
}

TEST(CommitNormalForm, RemovesAroundWhatIsPut) {
  Commit commit;
  commit.puts = {{"b", "1"}, {"d", "1"}};
  commit.range_erases = {{"a", "c"}, {"b", "e"}};
  EXPECT_EQ(normalise(std::move(commit)).range_erases,
            (Ranges{{"a", "b"}, {std::string("b\0", 2), "d"}, {std::string("d\0", 2), "e"}}));
}

TEST(CommitNormalForm, JoinsRangesAndDropsErasesWithinThem) {
  Commit commit;
  commit.erases = {"b", "x"};
  commit.range_erases = {{"c", "d"}, {"a", "c"}, {"k", "k"}};
  const Commit normal = normalise(std::move(commit));
  EXPECT_EQ(normal.range_erases, (Ranges{{"a", "d"}}));
  EXPECT_EQ(normal.erases, Texts{"x"});
}

TEST(CommitNormalForm, KnowsRangesWithoutEnd) {
  Commit commit;
  commit.range_erases = {{"m", ""}, {"a", "n"}};
  EXPECT_EQ(normalise(std::move(commit)).range_erases, (Ranges{{"a", ""}}));
}

TEST(CommitNormalForm, RefusesWhatHasNoSense) {
  EXPECT_THROW(normalise({.puts = {{"", "1"}}}), std::invalid_argument);
  EXPECT_THROW(normalise({.erases = {""}}), std::invalid_argument);
  EXPECT_THROW(normalise({.reads = {{"", 0}}}), std::invalid_argument);
  EXPECT_THROW(normalise({.range_erases = {{"b", "a"}}}), std::invalid_argument);
}

TEST(PrefixRange, EndsBehindTheLastKeyOfThePrefix) {
  EXPECT_EQ(prefix_range("/db/"), (KeyRange{"/db/", "/db0"}));
  EXPECT_EQ(prefix_range("a\xff"), (KeyRange{"a\xff", "b"}));
  EXPECT_EQ(prefix_range("\xff\xff"), (KeyRange{"\xff\xff", ""}));
  EXPECT_EQ(prefix_range(""), (KeyRange{"", ""}));
}

}  // namespace
}  // namespace evenkeel::coordination
