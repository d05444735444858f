// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/controller/latency.hpp>

namespace evenkeel {
namespace {

using namespace std::chrono_literals;

TEST(LatencyHistogram, IsEmptyAtFirst) {
  const LatencyHistogram histogram;
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.quantile(0.99), 0ns);
}

TEST(LatencyHistogram, QuantilesAreAtMostOneSixteenthTooHighAndNeverTooLow) {
  std::vector<Duration> all;
  LatencyHistogram histogram;
  std::uint64_t state = 42;
  for (int i = 0; i < 20000; ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    // Covers every octave from 1 us to 17 minutes.
    const auto latency = Duration{static_cast<std::int64_t>((state >> 33) % 1000 + 1000) << (state >> 59)};
    if (latency > Duration{std::int64_t{1} << 40}) continue;
    all.push_back(latency);
    histogram.record(latency);
  }
  std::sort(all.begin(), all.end());
  for (const double share : {0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const auto rank = static_cast<std::size_t>(share * static_cast<double>(all.size()) + 0.999999) - 1;
    const Duration exact = all[std::min(rank, all.size() - 1)];
    EXPECT_GE(histogram.quantile(share), exact) << share;
    EXPECT_LE(histogram.quantile(share).count(), exact.count() + exact.count() / 16 + 1) << share;
  }
}

TEST(LatencyHistogram, BoundsOfBucketsBelongToThem) {
  for (std::int64_t bound : {1024, 1088, 2048, 4096, 1 << 20, (1 << 20) + (1 << 16)}) {
    LatencyHistogram histogram;
    histogram.record(Duration{bound});
    EXPECT_EQ(histogram.quantile(1.0), Duration{bound == 1024 ? 1088 : bound});
  }
}

TEST(LatencyHistogram, TooShortAndTooLongCountAtTheEnds) {
  LatencyHistogram histogram;
  histogram.record(-5s);
  histogram.record(0ns);
  EXPECT_LE(histogram.quantile(1.0), 2us);
  histogram.record(2h);
  EXPECT_EQ(histogram.quantile(1.0), Duration{std::int64_t{1} << 40});
  EXPECT_EQ(histogram.count(), 3U);
}

TEST(LatencyHistogram, Adds) {
  LatencyHistogram one;
  LatencyHistogram other;
  one.record(1ms);
  other.record(1s);
  one += other;
  EXPECT_EQ(one.count(), 2U);
  EXPECT_LT(one.quantile(0.5), 2ms);
  EXPECT_GE(one.quantile(1.0), 1s);
}

}  // namespace
}  // namespace evenkeel
