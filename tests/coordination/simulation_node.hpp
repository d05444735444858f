// SPDX-License-Identifier: Apache-2.0
// An instance of the simulation: its process, and its crashes.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/coordination/claim.hpp>
#include <evenkeel/coordination/lease_lock.hpp>
#include <evenkeel/coordination/ledger.hpp>
#include <evenkeel/coordination/liveness.hpp>
#include <evenkeel/coordination/transact.hpp>
#include <evenkeel/testing/faulty_store.hpp>

#include "simulation_world.hpp"

namespace evenkeel::coordination::simulation {

/// Transaction options without delays, with `clock`.
TransactOptions transactions(const std::shared_ptr<ManualClock>& clock);

/// The process of an instance, whose state is lost in a crash.
struct Process {
  Process(Store& store, const Layout& layout, const LedgerOptions& options)
      : ledger(store, options),
        registry(store, layout, options.identity, options.liveness, options.transact),
        lock(store, layout, options.identity,
             {.duration = std::chrono::seconds{100}, .yield_after = Duration::zero()}, options.transact),
        claims(ledger, {.transact = options.transact}) {}

  Ledger ledger;
  LivenessRegistry registry;
  LeaseLock lock;
  ActionClaims claims;
  Units known;
  bool looked = false;
  struct Work {
    Claim claim;
    bool taken_over = false;
    std::optional<ActReport> report;
  };
  std::optional<Work> work;
};

class Node {
 public:
  Node(World& world, std::size_t index)
      : world_(world),
        home_(scope_of(index)),
        scope_(home_),
        faulty_(std::make_shared<AuditedStore>(
            world.store, world.auditor, home_,
            [this] {
              die_if_due();
              world_.about_to_commit(home_);
            },
            world.options.pieces)),
        // Wall clocks and steady clocks differ by a minute in each direction.
        clock_(std::make_shared<ManualClock>(
            WallTime{std::chrono::seconds{1767225600} +
                     (index % 2 == 0 ? std::chrono::seconds{60} : -std::chrono::seconds{60})})) {
    clock_->advance(std::chrono::seconds{100 * (index + 1)});
    start();
  }

  void advance(Duration by) { clock_->advance(by); }
  const std::string& home() const { return home_; }
  const std::string& scope() const { return scope_; }
  bool paused() const { return world_.time < paused_until_; }
  void pause(Duration length) { paused_until_ = world_.time + length; }
  testing::FaultyStore& store() { return faulty_; }
  Mode mode() const { return mode_; }
  void set_mode(Mode mode) {
    mode_ = mode;
    start();
  }
  /// Starts another run with the other scope. Its move dies before its commit `dies_at`, and the next run
  /// starts after `rest`.
  void rename(unsigned dies_at, Duration rest);
  void start();
  void refresh();
  void pass();
  void decide();
  void act();
  void settle();
  void drop();

 private:
  /// Thrown when the process dies.
  struct Death {};
  void die_if_due();
  bool move();
  void publish();
  DesiredState wanted(const OwnState& own) const;
  void act_alone();
  ActReport kill(const Claim& claim);
  ActReport observe(const Claim& claim);
  bool obeys(const Claim& claim);
  Identity identity() const { return {scope_, "uid-" + home_, "run-" + std::to_string(incarnation_)}; }

  World& world_;
  const std::string home_;  // the first name of the scope
  std::string scope_;
  testing::FaultyStore faulty_;
  const std::shared_ptr<ManualClock> clock_;
  Mode mode_ = Mode::global;
  int incarnation_ = 0;
  TimePoint paused_until_ = {};
  bool moved_ = true;                     // the entries below the other name have been moved here
  std::optional<unsigned> commits_left_;  // commits of the move until this process dies
  Duration rest_ = {};
  bool moving_ = false;
  std::optional<Process> process_;
};

}  // namespace evenkeel::coordination::simulation
