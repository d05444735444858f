// SPDX-License-Identifier: Apache-2.0
// A change that several instances get within some time, in virtual time: each of its units needs some time to
// be prepared, then the shared system is disturbed for it. Who disturbs it how often, and when all is done,
// is what coordination is for; the same is done without it.
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

/// Where one instance ends for good.
enum class Death : std::uint8_t {
  none,
  pending,  ///< After it said what it needs.
  ready,    ///< After all of it was ready.
  lock,     ///< With the lock (the first to get it).
  claim,    ///< With a claim, before it acted (the first to get one).
  act,      ///< After it acted, before it settled (the same).
};

struct Options {
  std::uint64_t seed = 1;
  std::size_t instances = 3;
  std::size_t units = 16;  ///< Of each.
  std::string action = "restart";
  Duration arrivals = std::chrono::seconds{10};  ///< All get the change within this.
  Duration preparation_min = std::chrono::seconds{10};
  Duration preparation_max = std::chrono::seconds{70};
  /// Since the last disruption: minimum uptime of the shared system.
  Duration spacing = std::chrono::minutes{10};
  Duration quiet_window = std::chrono::seconds{30};
  Barrier barrier = Barrier::all_ready;
  std::size_t coordinators = 0;  ///< Of the shared system, to be moved off what is excluded.
  Duration silence = std::chrono::seconds{60};
  Death death = Death::none;
  std::optional<std::size_t> never_ready = {};      ///< An instance of which one unit is never prepared.
  Duration skew = {};                               ///< Clocks are so far off, each way.
  Duration store_down_from = {};                    ///< The store answers nobody from then ...
  Duration store_down_until = {};                   ///< ... until then.
  std::optional<std::size_t> cut = {};              ///< An instance that never reaches the store.
  std::optional<std::size_t> cut_from_system = {};  ///< ... the shared system.
  std::optional<std::size_t> denied = {};           ///< An instance that is on the deny list ...
  Duration allowed_at = {};                         ///< ... until then; 0: for good.
  std::optional<std::size_t> renamed = {};  ///< An instance whose scope becomes "unicorn" at `renamed_at`.
  Duration renamed_at = {};
  std::vector<std::string> orphans = {};  ///< Scopes with members that nobody owns any more.
  std::size_t local = 0;                  ///< So many of the last instances work in mode local.
  /// Instances do not hear of each other's commits, but look every so often. 0: they hear at once.
  Duration poll = {};
  std::size_t batches = 0;  ///< Units are prepared in so many steps of each instance; 0: each on its own.
  std::function<std::shared_ptr<Store>()> open = {};  ///< A fresh store; default: in memory.
  Duration limit = std::chrono::hours{2};
};

struct Result {
  bool finished = false;  ///< All is done of whoever lives and can be ready.
  Duration time = {};     ///< Until then.
  int calls = 0;          ///< Kills, exclusions or inclusions.
  int coordinator_changes = 0;
  int recoveries = 0;
  int doomed_coordinators = 0;  ///< Times that one was put on a unit that was to go, as its instance knew.
  int twice = 0;                ///< Units that were done twice.
  std::size_t done = 0;         ///< Units that were done.
  std::vector<Duration> called_at = {};
  std::vector<std::string> waits = {};  ///< Last word of each instance that had to wait.
  Duration oldest_pending = {};         ///< The longest that a unit was seen pending, by any instance.
  // What it cost, of all instances together.
  Duration lock_wait = {};  ///< From a first refusal of the lock to taking it.
  std::size_t transactions = 0;
  std::size_t conflicts = 0;
  std::size_t written_bytes = 0;
  std::size_t read_bytes = 0;
  std::size_t left_over = 0;  ///< Members of a renamed scope below its old name at the end.
};

/// With coordination, in mode global.
Result run_global(const Options& options);
/// Each for itself.
Result run_local(const Options& options);

}  // namespace evenkeel::coordination::rollout
