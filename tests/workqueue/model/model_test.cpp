// SPDX-License-Identifier: Apache-2.0
// The queue against a slow, obvious model of it, under random sequences of operations. EVENKEEL_MODEL_SEED
// and EVENKEEL_MODEL_OPERATIONS choose the seed and the number of operations.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "explore.hpp"

namespace evenkeel::model {
namespace {

std::optional<std::uint64_t> from_environment(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return std::nullopt;
  return std::stoull(text);
}

void explore_and_expect_nothing(std::uint64_t seed, std::uint64_t operations) {
  const std::uint64_t count = from_environment("EVENKEEL_MODEL_OPERATIONS").value_or(operations);
  const std::uint64_t from = from_environment("EVENKEEL_MODEL_SEED").value_or(seed);
  const Explored explored = explore(from, count);
  std::cout << explored.operations << " operations in " << explored.sequences << " sequences from seed "
            << from << "\n";
  if (explored.failure) FAIL() << explored.failure->report;
}

TEST(QueueModel, DoesWhatTheReferenceDoes) {
  explore_and_expect_nothing(1, 1'500'000);
}

TEST(QueueModel, DoesWhatTheReferenceDoesFromANewSeed) {
  if (std::getenv("EVENKEEL_MODEL_SEED") != nullptr) GTEST_SKIP() << "EVENKEEL_MODEL_SEED is given";
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  explore_and_expect_nothing(static_cast<std::uint64_t>(now), 1'500'000);
}

// The stores without an AnyStore, which answers at run time what their types state at compile time.
template <class Key, template <class, class> class SubjectOf>
std::unique_ptr<Subject> make_plain(const Settings& settings) {
  switch (settings.store) {
    case StoreKind::fifo:
      return std::make_unique<SubjectOf<Key, FifoStore>>(settings, FifoStore());
    case StoreKind::two_lane:
      return std::make_unique<SubjectOf<Key, TwoLaneStore>>(
          settings, TwoLaneStore({.slow_share = settings.slow_share}));
    default:
      break;
  }
  return std::make_unique<SubjectOf<Key, PriorityStore>>(settings, PriorityStore());
}

TEST(QueueModel, StoresDoTheSameByThemselves) {
  const MakeSubject make = [](const Settings& settings, const SlowKeys&) {
    return settings.kind == Kind::core_of_strings ? make_plain<std::string, CoreSubject>(settings)
                                                  : make_plain<RequestKey, ShellSubject>(settings);
  };
  const Explored explored = explore(2, 300'000, make, [](Random& random) {
    Settings settings = random_settings(random);
    settings.kind = random.once_in(2) ? Kind::core_of_strings : Kind::request_queue;
    const StoreKind plain[] = {StoreKind::fifo, StoreKind::two_lane, StoreKind::priority};
    settings.store = plain[random.below(3)];
    return settings;
  });
  if (explored.failure) FAIL() << explored.failure->report;
}

}  // namespace
}  // namespace evenkeel::model
