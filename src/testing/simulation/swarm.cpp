// SPDX-License-Identifier: Apache-2.0
#include "testing/simulation/swarm.hpp"

#include <stdexcept>
#include <string>

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {
namespace {

// Absent in one of three runs; else `most`, or a half, a quarter, ... a 32nd of it.
double draw(SimulationRandom& random, double most) {
  if (random.below(3) == 0) return 0;
  double rate = most;
  for (std::size_t halvings = random.below(6); halvings > 0; --halvings) rate /= 2;
  return rate;
}

}  // namespace

SimulationRates draw_rates(SimulationRandom& random) {
  SimulationRates rates;
  rates.lose_request = draw(random, 0.2);
  rates.lose_answer = draw(random, 0.2);
  rates.refuse = draw(random, 0.3);
  rates.slow = draw(random, 0.3);
  rates.pause_at_write = draw(random, 0.2);
  rates.crash_at_write = draw(random, 0.2);
  rates.cut = draw(random, 0.2);
  rates.silence = draw(random, 0.05);
  rates.crashes = draw(random, 40);
  rates.stops = draw(random, 20);
  rates.pauses = draw(random, 60);
  rates.partitions = draw(random, 30);
  rates.breaks = draw(random, 60);
  rates.clock_jumps = draw(random, 30);
  rates.drift = draw(random, 0.05);
  return rates;
}

void check_rates(const SimulationRates& rates, const char* where) {
  const auto check = [where](double rate, double most, const char* name) {
    if (rate >= 0 && rate <= most) return;
    const std::string limit = most == 1 ? "1" : most == 0.1 ? "0.1" : "10000";
    throw std::invalid_argument(std::string(where) + "." + name + " must be between 0 and " + limit);
  };
  check(rates.lose_request, 1, "lose_request");
  check(rates.lose_answer, 1, "lose_answer");
  check(rates.refuse, 1, "refuse");
  check(rates.slow, 1, "slow");
  check(rates.pause_at_write, 1, "pause_at_write");
  check(rates.crash_at_write, 1, "crash_at_write");
  check(rates.cut, 1, "cut");
  check(rates.silence, 1, "silence");
  check(rates.crashes, 10'000, "crashes");
  check(rates.stops, 10'000, "stops");
  check(rates.pauses, 10'000, "pauses");
  check(rates.partitions, 10'000, "partitions");
  check(rates.breaks, 10'000, "breaks");
  check(rates.clock_jumps, 10'000, "clock_jumps");
  check(rates.drift, 0.1, "drift");
}

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
