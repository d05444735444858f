// SPDX-License-Identifier: Apache-2.0
// Tables from apimachinery's TestQuantityParse, TestQuantityParseEmit and TestQuantityString.
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include <evenkeel/api/codec.hpp>
#include <evenkeel/api/quantity.hpp>

namespace ek = evenkeel;
using ek::Quantity;

namespace {

std::string canonical(std::string_view text) {
  const auto parsed = Quantity::parse(text);
  return parsed ? parsed->str() : "refused";
}

TEST(Quantity, IsPrintedInCanonicalForm) {
  const struct {
    const char *text, *canonical;
  } rows[] = {
      {"0", "0"},
      {"0n", "0"},
      {"0Ki", "0"},
      {"1", "1"},
      {"100", "100"},
      {"1000", "1k"},
      {"1000m", "1"},
      {"1500m", "1500m"},
      {"1.5", "1500m"},
      {"0.5", "500m"},
      {"0.001", "1m"},
      {"0.0005k", "500m"},
      {"5n", "5n"},
      {"4u", "4u"},
      {"3m", "3m"},
      {"8k", "8k"},
      {"50k", "50k"},
      {"7M", "7M"},
      {"6G", "6G"},
      {"5T", "5T"},
      {"2P", "2P"},
      {"1E", "1E"},
      {"100.035k", "100035"},
      {"10.035M", "10035k"},
      {"7.123456M", "7123456"},
      {"6.987654321G", "6987654321"},
      {"1Ki", "1Ki"},
      {"1024Ki", "1Mi"},
      {"1.5Gi", "1536Mi"},
      {"1000Ki", "1000Ki"},
      {"300Mi", "300Mi"},
      {"0.5Mi", "512Ki"},
      {"0.05Gi", "53687091200m"},
      {"0.025Ti", "27487790694400m"},
      {"100.035Ki", "102435840m"},
      {"1023", "1023"},
      {"0.5Ki", "512"},
      {"3Ei", "3Ei"},
      {"1e3", "1e3"},
      {"1E3", "1e3"},
      {"1e6", "1e6"},
      {"12e5", "1200e3"},
      {"1.2e3", "1200"},
      {"1E-3", "1e-3"},
      {"0.5e0", "500e-3"},
      {"1e14", "100e12"},
      {"1.3E+6", "1300e3"},
      {".5", "500m"},
      {"1.", "1"},
      {"1.G", "1G"},
      {"+1", "1"},
      {"-1", "-1"},
      {"-1.5Gi", "-1536Mi"},
      {"007", "7"},
      {"1000E", "1e21"},
      {"12E", "12E"},
      // Fractions finer than nano are rounded away from zero.
      {"3.001n", "4n"},
      {"0.9n", "1n"},
      {"1.1E-9", "2e-9"},
      {"0.0000000001", "1n"},
      {"0.00000012345", "124n"},
      {"-0.1n", "-1n"},
      {"0.000000000001Ki", "2n"},
      // Binary quantities saturate at 2^63-1.
      {"9Ei", "9223372036854775807"},
      {"8Ei", "9223372036854775807"},
      {"9223372036854775807Ki", "9223372036854775807"},
      {"18446744073709551616", "18446744073709551616"},
  };
  for (const auto& [text, wanted] : rows) EXPECT_EQ(canonical(text), wanted) << text;
}

TEST(Quantity, RefusesInvalidTexts) {
  for (const char* text : {"",      ".",    "-",   "+",  "m",      "Ki",      "1.1.M", "1+1.0M", "0.1mi",
                           "0.1am", "aoeu", ".5i", "1i", "-3.01i", "-3.01e-", " 1",    "1 ",     "1 Ki",
                           "--1",   "1ki",  "1K",  "1e", "1e1.5",  "1e+-3",   "0x1"})
    EXPECT_EQ(canonical(text), "refused") << text;
}

TEST(Quantity, WhatIsPrintedIsReadBackEqual) {
  for (const char* text :
       {"1", "1500m", "1536Mi", "53687091200m", "500e-3", "-4u", "1e21", "9223372036854775807"})
    EXPECT_EQ(canonical(text), text);
}

TEST(Quantity, ComparesByValue) {
  EXPECT_EQ(Quantity::parse("1000m"), Quantity::parse("1"));
  EXPECT_EQ(Quantity::parse("1Ki"), Quantity(1024));
  EXPECT_LT(*Quantity::parse("100Gi"), *Quantity::parse("10000T"));
  EXPECT_LT(*Quantity::parse("-1"), *Quantity::parse("1n"));
  EXPECT_GT(*Quantity::parse("1.0000001"), Quantity(1));
}

TEST(Quantity, AddsAndSubtractsExactly) {
  EXPECT_EQ((*Quantity::parse("100m") + *Quantity::parse("900m")).str(), "1");
  EXPECT_EQ((*Quantity::parse("1Gi") - *Quantity::parse("512Mi")).str(), "512Mi");
  EXPECT_EQ((Quantity() + *Quantity::parse("1Gi")).str(), "1Gi");
  EXPECT_EQ((*Quantity::parse("1Gi") + Quantity()).str(), "1Gi");
  EXPECT_EQ((Quantity() - *Quantity::parse("100m")).str(), "-100m");
  EXPECT_EQ((*Quantity::parse("0.1") + *Quantity::parse("0.2")), *Quantity::parse("0.3"));
}

TEST(Quantity, RoundsAwayFromZeroToIntegers) {
  EXPECT_EQ(Quantity::parse("1.5")->value(), 2);
  EXPECT_EQ(Quantity::parse("-1.5")->value(), -2);
  EXPECT_EQ(Quantity::parse("1n")->milli_value(), 1);
  EXPECT_EQ(Quantity::parse("1.5")->milli_value(), 1500);
  EXPECT_EQ(Quantity::milli(250).str(), "250m");
  EXPECT_EQ(Quantity::parse("1e25")->value(), std::numeric_limits<std::int64_t>::max());
  EXPECT_DOUBLE_EQ(Quantity::parse("1.5Ki")->approximate(), 1536.0);
}

TEST(Quantity, StopsAtItsRange) {
  const Quantity most = *Quantity::parse("1e900");
  EXPECT_GT(most, *Quantity::parse("1e29"));
  EXPECT_EQ(most + most, most);
  EXPECT_EQ(-most - most, -most);
  EXPECT_EQ(*Quantity::parse("-1e900"), -most);
  EXPECT_EQ(Quantity::parse(most.str()), most);
}

TEST(Quantity, IsAStringOnTheWireAndAcceptsNumbers) {
  EXPECT_EQ(ek::to_json(*Quantity::parse("1000m")), "\"1\"");
  EXPECT_EQ(ek::from_json<std::vector<Quantity>>(R"(["2Gi",2,0.5,1e3])"),
            (std::vector<Quantity>{*Quantity::parse("2Gi"), 2, *Quantity::parse("0.5"), 1000}));
  try {
    static_cast<void>(ek::from_json<std::vector<Quantity>>(R"(["much"])", "x"));
    ADD_FAILURE();
  } catch (const ek::DecodeError& error) {
    EXPECT_STREQ(error.what(), R"(x: [0]: expected a quantity such as "500m" or "2Gi", found string "much")");
  }
}

}  // namespace
