// SPDX-License-Identifier: Apache-2.0
// Helpers for benchmarks that are one timed pass over a large structure.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <benchmark/benchmark.h>

#include <evenkeel/base/time.hpp>

namespace evenkeel::benchmarks {

/// Settings of a benchmark with one iteration, a whole pass, which sets its own time with set_time().
inline void one_pass(benchmark::internal::Benchmark* benchmark) {
  benchmark->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);
}

inline void set_time(benchmark::State& state, Duration time) {
  state.SetIterationTime(std::chrono::duration<double>(time).count());
}

template <class Work>
Duration time_of(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::steady_clock::now() - start;
}

inline double nanoseconds_each(Duration time, std::size_t count) {
  return static_cast<double>(time.count()) / static_cast<double>(count);
}

/// Returns a pseudo-random permutation of the numbers below `count` (not a multiple of 7919).
inline std::size_t scattered(std::size_t index, std::size_t count) {
  return index * 7919 % count;
}

/// Returns the quantile `share` of the samples in nanoseconds; sorts them.
inline double percentile(std::vector<std::int64_t>& samples, double share) {
  std::sort(samples.begin(), samples.end());
  const auto at = static_cast<std::size_t>(share * static_cast<double>(samples.size() - 1));
  return static_cast<double>(samples[at]);
}

}  // namespace evenkeel::benchmarks
