// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>

#include <gtest/gtest.h>

#include <evenkeel/base/text_hash.hpp>

namespace evenkeel {
namespace {

TEST(TextHash, DependsOnEveryByteAndOnTheLength) {
  for (std::size_t size = 0; size <= 70; ++size) {
    const std::string text(size, 'a');
    std::unordered_set<std::uint64_t> hashes{text_hash(text), text_hash(text + '\0'), text_hash(text + 'a')};
    for (std::size_t at = 0; at < size; ++at) {
      std::string other = text;
      other[at] = 'b';
      hashes.insert(text_hash(other));
    }
    EXPECT_EQ(hashes.size(), size + 3) << size;
  }
}

TEST(TextHash, ReadsNothingBeyondTheText) {
  for (std::size_t size = 0; size <= 40; ++size) {
    const std::string alone(size, 'k');
    const std::string within = "before" + alone + "after";
    EXPECT_EQ(text_hash(alone), text_hash(std::string_view(within).substr(6, size))) << size;
  }
}

TEST(TextHash, HalfOfTheBitsChangeWithOneBit) {
  const std::string text = "default/deployment-with-a-long-name-00000042";
  const std::uint64_t before = text_hash(text);
  int changed = 0;
  int tries = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit, ++tries) {
      std::string other = text;
      other[at] = static_cast<char>(other[at] ^ (1 << bit));
      const int bits = std::popcount(before ^ text_hash(other));
      EXPECT_GT(bits, 8);
      changed += bits;
    }
  }
  EXPECT_NEAR(static_cast<double>(changed) / tries, 32, 1);
}

TEST(TextHash, NamesThatAreCountedUpFallIntoDifferentBuckets) {
  constexpr std::size_t names = 65536;
  std::unordered_set<std::uint64_t> high;
  std::unordered_set<std::uint64_t> low;
  for (std::size_t i = 0; i < names; ++i) {
    const std::uint64_t hash = text_hash("namespace/name-" + std::to_string(i));
    high.insert(hash >> 48);
    low.insert(hash & 0xffff);
  }
  // With as many balls as bins, a fraction of 1 - 1/e of the bins is hit.
  EXPECT_NEAR(static_cast<double>(high.size()) / names, 0.632, 0.01);
  EXPECT_NEAR(static_cast<double>(low.size()) / names, 0.632, 0.01);
}

TEST(TextHash, ChainsByItsSeed) {
  EXPECT_NE(text_hash("b", text_hash("a")), text_hash("a", text_hash("b")));
  EXPECT_NE(text_hash("", text_hash("ab")), text_hash("b", text_hash("a")));
  EXPECT_EQ(hash_of(std::string("x")), text_hash("x"));
  EXPECT_EQ(hash_of(7), std::hash<int>{}(7));
}

}  // namespace
}  // namespace evenkeel
