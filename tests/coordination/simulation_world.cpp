// SPDX-License-Identifier: Apache-2.0
#include "simulation_world.hpp"

#include <array>
#include <utility>

namespace evenkeel::coordination::simulation {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kJournal = 60;  // lines of the journal that a violation prints

ActionPolicy policy_of(const Options& options) {
  return {.action = "restart",
          .barrier = options.ready_subset ? Barrier::ready_subset : Barrier::all_ready,
          .quiet_window = 30s,
          .straggler_timeout = 150s,
          .minimum_spacing = 50s,
          .needs_lock = options.needs_lock,
          .claim_timeout = 40s};
}

}  // namespace

std::string scope_of(std::size_t index) {
  static const std::array<std::string, 4> names{"dc1", "dc10", "primary", "primary-sat"};
  return index < names.size() ? names.at(index) : "dc" + std::to_string(index + 100);
}

World::World(const Options& given, std::shared_ptr<Store> shared)
    : options(given), policy(policy_of(given)), layout(given.root), store(std::move(shared)) {
  auditor =
      std::make_shared<Auditor>(layout, Rules{.policy = policy,
                                              .silence = kSilence,
                                              .now = [this] { return time; },
                                              .last_disruption = [this] { return system.last_disruption; }});
  for (std::size_t i = 0; i < options.instances; ++i) {
    for (std::size_t u = 0; u < options.units; ++u) system.units[scope_of(i)]["u-" + std::to_string(u)] = {};
  }
}

void World::say(std::string line) {
  const auto passed = std::chrono::duration<double>(time - TimePoint{1000h}).count();
  journal.push_back(std::to_string(passed) + " " + std::move(line));
  if (journal.size() > kJournal) journal.pop_front();
}

}  // namespace evenkeel::coordination::simulation
