// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdint>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include <evenkeel/base/duration_text.hpp>

namespace evenkeel {
namespace {

using namespace std::chrono_literals;

static_assert(parse_duration("1m30s") == Duration{90s});

TEST(DurationText, ReadsEveryUnitAndSumsOfThem) {
  EXPECT_EQ(parse_duration("7ns"), 7ns);
  EXPECT_EQ(parse_duration("7us"), 7us);
  EXPECT_EQ(parse_duration("7\u00b5s"), 7us);
  EXPECT_EQ(parse_duration("7\u03bcs"), 7us);
  EXPECT_EQ(parse_duration("7ms"), 7ms);
  EXPECT_EQ(parse_duration("7s"), 7s);
  EXPECT_EQ(parse_duration("7m"), 7min);
  EXPECT_EQ(parse_duration("7h"), 7h);
  EXPECT_EQ(parse_duration("1h2m3s4ms5us6ns"), 1h + 2min + 3s + 4ms + 5us + 6ns);
  EXPECT_EQ(parse_duration("-1.5s"), -1500ms);
  EXPECT_EQ(parse_duration("+0"), 0s);
}

TEST(DurationText, CutsDecimalsAtTheNanosecondHoweverManyThereAre) {
  EXPECT_EQ(parse_duration("1.9999999999s"), 1999999999ns);
  EXPECT_EQ(parse_duration("0.3333333333333333333333333333333333333333h"), 1199999999999ns);
  EXPECT_EQ(parse_duration("0.5ns"), 0ns);
  EXPECT_EQ(parse_duration("1.h"), 1h);
}

TEST(DurationText, ReadsUpToTheLastNanosecondAndNoFurther) {
  EXPECT_EQ(parse_duration("9223372036854775807ns"), Duration::max());
  EXPECT_EQ(parse_duration("9223372036854775808ns"), std::nullopt);
  EXPECT_EQ(parse_duration("2562047h47m16.854775807s"), Duration::max());
  EXPECT_EQ(parse_duration("2562047h47m16.854775808s"), std::nullopt);
  EXPECT_EQ(parse_duration("9223372036854775807.9ns"), Duration::max());
  EXPECT_EQ(parse_duration("9223372036.9s"), std::nullopt);
  EXPECT_EQ(parse_duration("99999999999999999999s"), std::nullopt);
  EXPECT_EQ(parse_duration("99999999999999999999999999999999h"), std::nullopt);
}

TEST(DurationText, RefusesTextsThatAreNotDurations) {
  for (const char* text : {"",   "5",  "-",   "+",     ".",      ".s",   "s",    "1 s",  " 1s", "1s ",
                           "1d", "1S", "1s2", "1..5s", "1.5.5s", "--1s", "1e3s", "0x1s", "00",  "one"}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
  }
}

TEST(DurationText, ReadsBackWhatItPrints) {
  constexpr std::uint64_t seed = 20210712;
  std::mt19937_64 random(seed);
  for (int round = 0; round < 20'000; ++round) {
    const Duration duration{static_cast<std::int64_t>(random()) >> (random() % 64)};
    if (duration == Duration::min()) continue;
    const std::string text = format_duration(duration);
    ASSERT_EQ(parse_duration(text), duration) << text << " of seed " << seed;
  }
}

}  // namespace
}  // namespace evenkeel
