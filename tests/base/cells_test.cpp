// SPDX-License-Identifier: Apache-2.0
// Part of cache_test: the selector of cells is read as the server reads it.
#include "base/cells.hpp"

#include <cstdint>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include <evenkeel/api/selector.hpp>
#include <evenkeel/base/hash_ranges.hpp>

#include "../cache/shares.hpp"

namespace evenkeel::cache_share_tests {
namespace {

TEST(Cells, ASelectorTakesThoseOfItsRangesAndWhatIsNotLabelled) {
  EXPECT_EQ(detail::cell_selector("cell", HashRanges::all()), "");
  EXPECT_EQ(detail::cell_selector("cell", HashRanges({{0x0200000000000000, ~std::uint64_t{0}}})),
            "cell notin (00,01)");
  const LabelSelector selector = LabelSelector::parse(label_selector({"a", "b"}));
  const auto takes = [&](const std::string& value) {
    return selector.matches(std::map<std::string, std::string>{{"cell", value}});
  };
  ASSERT_NE(cell("a"), cell("c"));
  EXPECT_TRUE(takes(cell("a")));
  EXPECT_TRUE(takes(cell("b")));
  EXPECT_FALSE(takes(cell("c")));
  EXPECT_TRUE(takes("zz")) << "not a cell";
  EXPECT_TRUE(selector.matches(std::map<std::string, std::string>{}));
  // A range that ends within a cell needs all of it.
  const std::uint64_t hash = detail::hash_of("a", NamespaceHash::mixed);
  EXPECT_EQ(detail::cell_selector("cell", HashRanges({{hash, hash}})), label_selector({"a"}));
}

}  // namespace
}  // namespace evenkeel::cache_share_tests
