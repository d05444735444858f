// SPDX-License-Identifier: Apache-2.0
// The environment that simulated instances share: time, random numbers, the store, and the system that they
// restart.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <evenkeel/coordination/gate.hpp>
#include <evenkeel/coordination/layout.hpp>
#include <evenkeel/coordination/store.hpp>

#include "simulation.hpp"
#include "simulation_audit.hpp"

namespace evenkeel::coordination::simulation {

constexpr Duration kSilence = std::chrono::seconds{60};

/// Scopes of which one is a prefix of another.
std::string scope_of(std::size_t index);

/// The true state of a unit.
struct Unit {
  std::uint64_t need = 0;  ///< Number of restarts that were needed so far.
  std::uint64_t done = 0;  ///< The need that the last restart fulfilled.
  bool prepared = false;
  bool exists = true;
  bool alone = false;  ///< Its owner restarted it alone, so another instance may have restarted it as well.

  bool needs() const { return exists && done < need; }
};
using Units = std::map<std::string, Unit>;

/// The shared system: it executes restarts, and refuses callers with an old epoch.
struct System {
  std::map<std::string, Units> units;
  std::uint64_t fence = 0;
  std::optional<TimePoint> last_disruption;
};

struct World {
  World(const Options& given, std::shared_ptr<Store> shared);

  Unit& unit(const UnitRef& ref) { return system.units[home_of(ref.scope)][ref.unit]; }
  void say(std::string line);
  void violated(const std::string& what) { auditor->violated(what); }
  TimePoint now() const { return time; }

  /// Called before an instance commits; sometimes lets another instance commit first.
  void about_to_commit(const std::string& home) {
    if (others_come_first && !amid_commit && random() % 4 == 0) {
      amid_commit = true;
      others_come_first(home);
      amid_commit = false;
    }
  }

  Options options;
  std::mt19937_64 random{options.seed + 1};
  std::function<void(const std::string& home)> others_come_first;
  bool amid_commit = false;
  ActionPolicy policy;
  Layout layout;
  TimePoint time{std::chrono::hours{1000}};
  System system;
  Figures figures;
  std::vector<std::string> kills;
  std::deque<std::string> journal;
  std::shared_ptr<Store> store;
  std::shared_ptr<Auditor> auditor;
};

}  // namespace evenkeel::coordination::simulation
