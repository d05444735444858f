// SPDX-License-Identifier: Apache-2.0
#include "coordination/kubernetes_shard.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace evenkeel::coordination::detail {
namespace {

KubernetesShard with(const Commit& commit, const KubernetesShard& shard, const std::string& mark) {
  return applied(shard, normalise(commit), mark, 0);
}

TEST(KubernetesShard, ComesBackFromItsText) {
  KubernetesShard shard = with({.puts = {{"/db/a b", " x "}, {"/db/%41", "\n"}, {"/db/\xff", ""}}}, {}, "m1");
  shard = with({.puts = {{"/db/c", "{\"at\": 1}"}}, .erases = {"/db/a b"}}, shard, "m2");
  const auto data = encode_shard(shard);
  EXPECT_EQ(data.at("version"), "2");
  EXPECT_EQ(data.at("entries"), "/db/%2541 1 %0A\n/db/c 2 {\"at\": 1}\n/db/%FF 1\n");
  EXPECT_EQ(data.at("commits"), "1 m1\n2 m2\n");
  EXPECT_EQ(data.at("erased"), "0\n2 /db/a%20b\n");
  const KubernetesShard back = decode_shard(data, "ConfigMap x");
  EXPECT_EQ(back.version, 2u);
  EXPECT_EQ(back.entries, shard.entries);
  EXPECT_EQ(encode_shard(back), data);
}

TEST(KubernetesShard, RemembersOnlyTheLastErasures) {
  KubernetesShard shard;
  for (std::size_t i = 0; i <= kept_erasures; ++i) {
    shard = with({.puts = {{"a", ""}}}, shard, "m");
    shard = with({.erases = {"a"}}, shard, "m");
  }
  EXPECT_EQ(shard.erasures.size(), kept_erasures);
  EXPECT_EQ(shard.marks.size(), kept_marks);
  EXPECT_EQ(shard.erasures_from, 2u) << "the first erasure is forgotten";
  const std::vector<KeyRange> other = {prefix_range("b")};
  EXPECT_TRUE(range_conflict(shard, other, 1)) << "it may have gone then";
  EXPECT_FALSE(range_conflict(shard, other, 2));
  EXPECT_TRUE(range_conflict(shard, {prefix_range("a")}, 2));
  EXPECT_TRUE(range_conflict({}, other, 5)) << "the object was deleted";
}

TEST(KubernetesShard, TellsWhatBecameOfACommit) {
  const auto fate = [](const KubernetesShard& shard, Version base) {
    Version version = 0;
    return fate_of(shard, base, "mine", version);
  };
  const KubernetesShard before = with({}, {}, "other");
  EXPECT_EQ(fate({}, 0), CommitFate::open);
  EXPECT_EQ(fate(before, 0), CommitFate::refused) << "somebody else made the object";
  EXPECT_EQ(fate(before, 1), CommitFate::open);
  EXPECT_EQ(fate(with({}, before, "mine"), 1), CommitFate::applied);
  KubernetesShard later = with({}, before, "other");
  EXPECT_EQ(fate(later, 1), CommitFate::refused);
  EXPECT_EQ(fate(with({}, with({}, before, "mine"), "other"), 1), CommitFate::applied);
  for (std::size_t i = 0; i < kept_marks; ++i) later = with({}, later, "other");
  EXPECT_EQ(fate(later, 1), CommitFate::unknown);
  EXPECT_EQ(fate(applied({}, {}, "other", 1000), 1), CommitFate::unknown) << "another object of that name";
}

}  // namespace
}  // namespace evenkeel::coordination::detail
