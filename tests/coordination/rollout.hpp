// SPDX-License-Identifier: Apache-2.0
// A change that reaches several instances within some time, in virtual time: each unit needs some time to be
// prepared, then the shared system is disrupted for it. Measures the number of disruptions and the total
// time, with and without coordination.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <evenkeel/base/time.hpp>
#include <evenkeel/coordination/gate.hpp>
#include <evenkeel/coordination/store.hpp>

namespace evenkeel::coordination::rollout {

/// The point at which one instance dies.
enum class Death : std::uint8_t {
  none,
  pending,  ///< After it published what it needs.
  ready,    ///< After all of it was ready.
  lock,     ///< With the lock (the first to get it).
  claim,    ///< With a claim, before it acted (the first to get one).
  act,      ///< After it acted, before it settled (the first to act).
};

struct Options {
  std::uint64_t seed = 1;
  std::size_t instances = 3;
  std::size_t units = 16;  ///< Units of each instance.
  std::string action = "restart";
  Duration arrivals = std::chrono::seconds{10};  ///< All instances learn of the change within this time.
  Duration preparation_min = std::chrono::seconds{10};
  Duration preparation_max = std::chrono::seconds{70};
  /// Minimum time since the last disruption: minimum uptime of the shared system.
  Duration spacing = std::chrono::minutes{10};
  Duration quiet_window = std::chrono::seconds{30};
  Barrier barrier = Barrier::all_ready;
  std::size_t coordinators = 0;  ///< Coordinators of the shared system, to be moved off excluded units.
  Duration silence = std::chrono::seconds{60};
  Death death = Death::none;
  std::optional<std::size_t> never_ready = {};      ///< An instance one of whose units is never prepared.
  Duration skew = {};                               ///< Wall clocks differ by this much, in both directions.
  Duration store_down_from = {};                    ///< The store is unavailable from this time ...
  Duration store_down_until = {};                   ///< ... until this time.
  std::optional<std::size_t> cut = {};              ///< An instance that never reaches the store.
  std::optional<std::size_t> cut_from_system = {};  ///< ... the shared system.
  std::optional<std::size_t> denied = {};           ///< An instance that is on the deny list ...
  Duration allowed_at = {};                         ///< ... until this time; 0: for good.
  std::optional<std::size_t> renamed = {};  ///< An instance whose scope becomes "unicorn" at `renamed_at`.
  Duration renamed_at = {};
  std::vector<std::string> orphans = {};  ///< Scopes with members but no owner.
  std::size_t local = 0;                  ///< Number of instances in mode local, which are the last ones.
  /// Polling interval of instances that get no hints of the others' commits. 0: they get them at once.
  Duration poll = {};
  std::size_t batches = 0;  ///< Steps in which an instance's units are prepared; 0: one per unit.
  std::function<std::shared_ptr<Store>()> open = {};  ///< A fresh store; default: in memory.
  Duration limit = std::chrono::hours{2};
};

struct Result {
  bool finished = false;  ///< Everything is done for all units whose instance is live and that can be ready.
  Duration time = {};     ///< The time until then.
  int calls = 0;          ///< Kills, exclusions or inclusions.
  int coordinator_changes = 0;
  int recoveries = 0;
  int doomed_coordinators = 0;  ///< Coordinators placed on units that their instance was about to remove.
  int twice = 0;                ///< Units that were acted upon twice.
  std::size_t done = 0;         ///< Units that were acted upon.
  std::vector<Duration> called_at = {};
  std::vector<std::string> waits = {};  ///< The last reason of each instance that had to wait.
  Duration oldest_pending = {};         ///< The longest time that a unit was seen pending, by any instance.
  // Costs of all instances together.
  Duration lock_wait = {};  ///< From the first refusal of the lock to taking it.
  std::size_t transactions = 0;
  std::size_t conflicts = 0;
  std::size_t written_bytes = 0;
  std::size_t read_bytes = 0;
  std::size_t left_over = 0;  ///< Members of a renamed scope below its old name at the end.
};

/// With coordination, in mode global.
Result run_global(const Options& options);
/// Without coordination.
Result run_local(const Options& options);

}  // namespace evenkeel::coordination::rollout
