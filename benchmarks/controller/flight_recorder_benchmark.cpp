// SPDX-License-Identifier: Apache-2.0
// Cost of the flight recorder for a controller whose reconciler does nothing.
#include <vector>

#include <benchmark/benchmark.h>

#include "rounds.hpp"

namespace evenkeel::benchmarks {
namespace {

void flight_recorder(benchmark::State& state) {
  World world;
  Rounds without(world, {.flight_recorder_bytes = 0});
  Rounds with(world, {.flight_recorder_bytes = 1u << 20});
  for (int i = 0; i < 50; ++i) {
    without.round();
    with.round();
  }
  std::vector<double> off;
  std::vector<double> on;
  std::vector<double> ratios;
  bool swapped = false;
  for (auto _ : state) {
    double plain = 0;
    double recorded = 0;
    // The second one finds the objects in the processor's cache, so the order alternates, too.
    if (swapped) recorded = with.round();
    plain = without.round();
    if (!swapped) recorded = with.round();
    swapped = !swapped;
    off.push_back(plain);
    on.push_back(recorded);
    ratios.push_back(recorded / plain);
  }
  state.counters["off_ns"] = median(off);
  state.counters["on_ns"] = median(on);
  state.counters["cost_percent"] = (median(ratios) - 1) * 100;
}
BENCHMARK(flight_recorder)->Iterations(4000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace evenkeel::benchmarks
