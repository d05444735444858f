// SPDX-License-Identifier: Apache-2.0
// Random operations on several election cores and one Lease, checked against an independent model of what
// each core knows. EVENKEEL_MODEL_SEED and EVENKEEL_MODEL_OPERATIONS set the seed and the number of
// operations.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "world.hpp"

namespace evenkeel::model {
namespace {

using Kind = Operation::Kind;

/// Draws a kind by its frequency; some sequences contain no external writes, so that no failure is excused.
Kind random_kind(Random& random, bool meddles) {
  struct Share {
    Kind kind;
    std::size_t part;
  };
  static constexpr Share shares[] = {
      {Kind::step, 30},    {Kind::advance, 14},  {Kind::arrive, 24},  {Kind::answer, 22}, {Kind::lose, 4},
      {Kind::event, 16},   {Kind::odd_event, 3}, {Kind::watching, 1}, {Kind::resign, 2},  {Kind::restart, 1},
      {Kind::calendar, 1}, {Kind::label, 2},     {Kind::remove, 3},   {Kind::edit, 3}};
  std::size_t number = random.below(meddles ? 126 : 120);
  for (const Share& share : shares) {
    if (number < share.part) return share.kind;
    number -= share.part;
  }
  return Kind::step;
}

std::vector<Operation> random_sequence(Random& random) {
  const bool meddles = random.once_in(2);
  std::vector<Operation> sequence(random.once_in(10) ? 600 : 20 + random.below(150));
  for (Operation& each : sequence) {
    each = {.kind = random_kind(random, meddles), .who = random.next(), .what = random.next()};
  }
  return sequence;
}

struct Result {
  std::string problem;
  std::vector<std::string> history;
};

Result run(std::uint64_t seed, const std::vector<Operation>& sequence) {
  World world(seed);
  for (const Operation& each : sequence) {
    world.apply(each);
    if (!world.problem().empty()) break;
  }
  if (world.problem().empty()) world.settle();
  return {world.problem(), world.history()};
}

/// Removes chunks, then single operations, while the sequence still fails.
std::vector<Operation> shrunk(std::uint64_t seed, std::vector<Operation> sequence) {
  for (std::size_t size = sequence.size() / 2; size > 0; size = size == 1 ? 0 : (size + 1) / 2) {
    for (std::size_t from = 0; from < sequence.size();) {
      std::vector<Operation> shorter = sequence;
      const auto begin = shorter.begin() + static_cast<std::ptrdiff_t>(from);
      shorter.erase(begin, begin + static_cast<std::ptrdiff_t>(std::min(size, sequence.size() - from)));
      if (run(seed, shorter).problem.empty()) {
        from += size;
      } else {
        sequence = std::move(shorter);
      }
    }
  }
  return sequence;
}

std::string report(std::uint64_t seed, const std::vector<Operation>& sequence) {
  const std::vector<Operation> core = shrunk(seed, sequence);
  const Result result = run(seed, core);
  std::string text = "EVENKEEL_MODEL_SEED=" + std::to_string(seed) + ": " + std::to_string(sequence.size()) +
                     " operations, shrunk to " + std::to_string(core.size()) + "\n";
  const std::size_t most = 60;
  const std::size_t from = result.history.size() > most ? result.history.size() - most : 0;
  for (std::size_t i = from; i < result.history.size(); ++i) text += "  " + result.history[i] + "\n";
  return text + result.problem;
}

std::optional<std::uint64_t> from_environment(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return std::nullopt;
  return std::stoull(text);
}

/// The first sequence uses the given seed; each further one derives its seed from the one before.
void explore(std::uint64_t seed, std::uint64_t operations) {
  seed = from_environment("EVENKEEL_MODEL_SEED").value_or(seed);
  operations = from_environment("EVENKEEL_MODEL_OPERATIONS").value_or(operations);
  const std::uint64_t first = seed;
  std::uint64_t done = 0;
  std::uint64_t sequences = 0;
  for (; done < operations; ++sequences) {
    Random random(seed);
    const std::vector<Operation> sequence = random_sequence(random);
    if (!run(seed, sequence).problem.empty()) FAIL() << report(seed, sequence);
    done += sequence.size();
    seed = random.next();
  }
  std::cout << done << " operations in " << sequences << " sequences from seed " << first << "\n";
}

TEST(ElectionModel, HoldsUnderRandomOperations) {
  explore(1, 10'000);
}

TEST(ElectionModel, HoldsUnderRandomOperationsFromANewSeed) {
  if (std::getenv("EVENKEEL_MODEL_SEED") != nullptr) GTEST_SKIP() << "EVENKEEL_MODEL_SEED is given";
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  explore(static_cast<std::uint64_t>(now), 10'000);
}

}  // namespace
}  // namespace evenkeel::model
