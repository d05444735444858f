// SPDX-License-Identifier: Apache-2.0
#include "controller/fibers/fiber_stacks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <set>
#include <string>
#include <sys/mman.h>
#include <vector>

#include <gtest/gtest.h>

namespace evenkeel::detail {
namespace {
namespace fiber_stacks_test {

constexpr std::size_t bytes = std::size_t{64} << 10;

class FiberStacksTest : public ::testing::TestWithParam<StackGuard> {
 protected:
  std::vector<FiberStack> take(std::size_t count) {
    std::vector<FiberStack> taken;
    for (std::size_t i = 0; i < count; ++i) taken.push_back(stacks_.take());
    return taken;
  }
  void give_back(const std::vector<FiberStack>& taken) {
    for (const FiberStack& stack : taken) stacks_.give_back(stack);
  }
  static bool is_mapped(const FiberStack& stack) {
    std::vector<unsigned char> resident(stack.bytes / 4096 + 1);
    return mincore(stack.bottom, stack.bytes, resident.data()) == 0;
  }

  FiberStacks stacks_{bytes, GetParam()};
};

TEST_P(FiberStacksTest, AreDistinctAndWritable) {
  const auto taken = take(200);
  for (const FiberStack& stack : taken) {
    EXPECT_EQ(stack.bytes, bytes);
    std::memset(stack.bottom, 1, stack.bytes);
  }
  std::set<const char*> bottoms;
  for (const FiberStack& stack : taken) bottoms.insert(stack.bottom);
  EXPECT_EQ(bottoms.size(), taken.size());
  for (auto next = bottoms.begin(), one = next++; next != bottoms.end(); ++one, ++next)
    EXPECT_GT(*next - *one, static_cast<std::ptrdiff_t>(bytes)) << "no page between two stacks";
  give_back(taken);
}

TEST_P(FiberStacksTest, HaveAnInaccessiblePageBelowEach) {
  const auto taken = take(5);
  for (const FiberStack& stack : taken) {
    volatile char* const below = stack.bottom - 1;
    EXPECT_DEATH(*below = 1, "");
  }
  give_back(taken);
}

TEST_P(FiberStacksTest, KeepTheirInaccessiblePagesWhenTheyAreReused) {
  auto taken = take(4);
  give_back({taken[2], taken[3]});
  stacks_.trim();
  for (const FiberStack& stack : {stacks_.take(), stacks_.take()}) {
    volatile char* const below = stack.bottom - 1;
    EXPECT_DEATH(*below = 1, "");
  }
  give_back(taken);
}

TEST_P(FiberStacksTest, AreReusedLastFirst) {
  const auto taken = take(10);
  stacks_.give_back(taken[3]);
  stacks_.give_back(taken[7]);
  EXPECT_EQ(stacks_.take().bottom, taken[7].bottom);
  EXPECT_EQ(stacks_.take().bottom, taken[3].bottom);
  give_back(taken);
}

TEST_P(FiberStacksTest, ATrimReturnsMemoryAndEmptySlabs) {
  const auto taken = take(300);
  for (const FiberStack& stack : taken) *stack.bottom = 1;
  const FiberStack kept = taken[10];
  std::vector<FiberStack> others = taken;
  others.erase(others.begin() + 10);
  give_back(others);
  stacks_.trim();
  EXPECT_EQ(*kept.bottom, 1);
  EXPECT_TRUE(is_mapped(kept));
  const auto gone =
      std::count_if(others.begin(), others.end(), [](const FiberStack& stack) { return !is_mapped(stack); });
  EXPECT_GE(gone, 300 - 64) << "the slabs without a stack in use";
  const auto again = take(300);
  for (const FiberStack& stack : again) EXPECT_EQ(*stack.bottom, 0) << "memory of an earlier use";
  give_back(again);
  stacks_.give_back(kept);
}

TEST_P(FiberStacksTest, TheFirstOnesTakeLittleAddressSpace) {
  const FiberStack first = stacks_.take();
  const FiberStack second = stacks_.take();
  EXPECT_NE(first.slab, second.slab) << "a slab of one";
  give_back({first, second});
}

INSTANTIATE_TEST_SUITE_P(By, FiberStacksTest, ::testing::Values(StackGuard::marker, StackGuard::protection),
                         [](const auto& info) {
                           return std::string(info.param == StackGuard::marker ? "Marker" : "Protection");
                         });

TEST(FiberStacks, RoundUpToPages) {
  FiberStacks stacks(1);
  const FiberStack stack = stacks.take();
  EXPECT_GE(stack.bytes, 1U);
  EXPECT_EQ(stack.bytes % 4096, 0U);
  stacks.give_back(stack);
}

TEST(FiberStacks, WithoutRoomThereIsNone) {
  for (const std::size_t most : {std::size_t{1} << 50, ~std::size_t{0}}) {
    FiberStacks stacks(most);
    EXPECT_THROW(static_cast<void>(stacks.take()), std::bad_alloc);
  }
}

}  // namespace fiber_stacks_test
}  // namespace
}  // namespace evenkeel::detail
