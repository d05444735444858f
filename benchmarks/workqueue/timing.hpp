// SPDX-License-Identifier: Apache-2.0
// For benchmarks that are one pass over something large and take their own time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <benchmark/benchmark.h>

#include <evenkeel/base/time.hpp>

namespace evenkeel::benchmarks {

/// Settings of a benchmark whose one iteration is a whole pass, timed by itself with set_time().
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

/// A permutation of the numbers below `count` (no multiple of 7919) without order in it.
inline std::size_t scattered(std::size_t index, std::size_t count) {
  return index * 7919 % count;
}

/// The value below which `share` of the samples are, in nanoseconds; sorts them.
inline double percentile(std::vector<std::int64_t>& samples, double share) {
  std::sort(samples.begin(), samples.end());
  const auto at = static_cast<std::size_t>(share * static_cast<double>(samples.size() - 1));
  return static_cast<double>(samples[at]);
}

}  // namespace evenkeel::benchmarks
