// SPDX-License-Identifier: Apache-2.0
// Runs sequences until one fails, then shrinks and prints that one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "check.hpp"
#include "operations.hpp"
#include "print.hpp"
#include "random.hpp"
#include "settings.hpp"
#include "shrink.hpp"

namespace evenkeel::model {

struct Failure {
  std::uint64_t seed = 0;  ///< The first sequence of this seed is the failed one.
  Case shrunk = {};
  Difference difference = {};
  std::string report = {};
};

struct Explored {
  std::uint64_t operations = 0;
  std::uint64_t sequences = 0;
  std::optional<Failure> failure = std::nullopt;
};

inline Failure explain(std::uint64_t seed, const Case& failing, const MakeSubject& make) {
  const Shrinker shrinker(
      [&](const Case& candidate) { return check(candidate.settings, candidate.sequence, make).has_value(); });
  Failure failure{.seed = seed, .shrunk = shrinker.shrink(failing)};
  Check run(failure.shrunk.settings, make);
  failure.difference = *run.all(failure.shrunk.sequence);
  failure.shrunk.sequence = run.done_so_far();
  const std::string operations = std::to_string(failing.sequence.size()) + " operations, shrunk to " +
                                 std::to_string(failure.shrunk.sequence.size());
  failure.report = "// EVENKEEL_MODEL_SEED=" + std::to_string(seed) + ": " + operations + "\n" +
                   Printer(failure.shrunk).print(failure.difference);
  return failure;
}

/// Returns the settings of the sequences of one exploration; the default is random_settings().
using ChooseSettings = Settings (*)(Random&);

/// Runs random sequences until `operations` are done. Each has its own seed, the first one `seed`, so that a
/// failed sequence can be reproduced without the earlier ones.
inline Explored explore(std::uint64_t seed, std::uint64_t operations, const MakeSubject& make = make_subject,
                        ChooseSettings choose = random_settings) {
  Explored explored;
  while (explored.operations < operations) {
    Random random(seed);
    const Settings settings = choose(random);
    Generator generator(settings, random);
    Check run(settings, make);
    const std::size_t length = random.once_in(10) ? 1000 : 20 + random.below(150);
    std::optional<Difference> difference;
    for (std::size_t i = 0; i < length && !difference; ++i) {
      difference = run.step(generator.next(run.reference()));
    }
    if (!difference) difference = run.finish();
    explored.operations += run.done_so_far().size();
    ++explored.sequences;
    if (difference) {
      explored.failure = explain(seed, {settings, run.done_so_far()}, make);
      return explored;
    }
    seed = random.next();
  }
  return explored;
}

}  // namespace evenkeel::model
