// SPDX-License-Identifier: Apache-2.0
// Seeds of random tests.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

namespace evenkeel::tests {

/// Returns a new seed for each run, and prints it so that the run can be repeated with EVENKEEL_SEED=<seed>.
inline std::uint64_t fresh_seed() {
  const char* const given = std::getenv("EVENKEEL_SEED");
  const std::uint64_t seed = given != nullptr ? std::stoull(given) : std::random_device()();
  std::printf("[ seed     ] %llu\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  return seed;
}

}  // namespace evenkeel::tests
