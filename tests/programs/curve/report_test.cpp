// SPDX-License-Identifier: Apache-2.0
#include "programs/curve/report.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace evenkeel {
namespace {

using curve::Column;

const std::vector<Column> two{{1, {7, 1, 0}}, {10'000, {70'000, 10'000, 0}}};

TEST(CurveReport, TableIsAlignedAndSummedUp) {
  EXPECT_EQ(curve::table(two),
            "second  1 object  10000 objects\n"
            "     0         7          70000\n"
            "     1         1          10000\n"
            "     2         0              0\n"
            "   sum         8          80000\n");
}

TEST(CurveReport, ColumnsGrowWithTheirNumbers) {
  EXPECT_EQ(curve::table({{1, {12'345'678'901, 0}}}),
            "second     1 object\n"
            "     0  12345678901\n"
            "     1            0\n"
            "   sum  12345678901\n");
}

TEST(CurveReport, CommaSeparatedValuesHaveNoSums) {
  EXPECT_EQ(curve::comma_separated(two), "second,1,10000\n0,7,70000\n1,1,10000\n2,0,0\n");
}

TEST(CurveReport, ScriptHasTheNumbersAndOnePanelForEachColumn) {
  const std::string script = curve::gnuplot_script(two, "it's", "a'b.svg", curve::Picture::svg);
  EXPECT_NE(script.find("$requeues << EOD\n0 7 70000\n1 1 10000\n2 0 0\nEOD\n"), std::string::npos);
  EXPECT_NE(script.find("set output 'a''b.svg'\n"), std::string::npos);
  EXPECT_NE(script.find("layout 1,2 title 'it''s'\n"), std::string::npos);
  EXPECT_NE(script.find("set title '1 object'\nplot $requeues using 1:2 "), std::string::npos);
  EXPECT_NE(script.find("set title '10000 objects'\nplot $requeues using 1:3 "), std::string::npos);
  EXPECT_NE(script.find("set terminal svg "), std::string::npos);
  EXPECT_NE(curve::gnuplot_script(two, "t", "f", curve::Picture::png).find("set terminal pngcairo "),
            std::string::npos);
}

}  // namespace
}  // namespace evenkeel
