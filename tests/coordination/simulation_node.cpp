// SPDX-License-Identifier: Apache-2.0
#include "simulation_node.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include <evenkeel/coordination/scope_migrator.hpp>

namespace evenkeel::coordination::simulation {

using namespace std::chrono_literals;

TransactOptions transactions(const std::shared_ptr<ManualClock>& clock) {
  TransactOptions options;
  options.delay = 0s;
  options.clock = clock;
  return options;
}

void Node::start() {
  process_.reset();
  LedgerOptions options;
  options.domain = {.root = world_.options.root, .actions = {"restart"}};
  ++incarnation_;
  moved_ = false;
  options.identity = identity();
  options.mode = mode_;
  options.liveness.silence = kSilence;
  options.transact = transactions(clock_);
  options.clock = clock_;
  process_.emplace(faulty_, world_.layout, options);
  paused_until_ = {};
}

void Node::rename(unsigned dies_at, Duration rest) {
  scope_ = other_name_of(scope_);
  commits_left_ = dies_at;
  rest_ = rest;
  start();
}

void Node::die_if_due() {
  if (!moving_ || !commits_left_) return;
  if (*commits_left_ == 0) throw Death();
  --*commits_left_;
}

/// Returns true if everything has been moved to the present scope, so that this run may begin.
bool Node::move() {
  if (moved_) return true;
  ScopeMigrator migrator(faulty_, world_.layout, identity(), {}, transactions(clock_));
  moving_ = true;
  try {
    const MigrationOutcome outcome = migrator.migrate_if_renamed().outcome;
    moved_ = outcome == MigrationOutcome::moved || outcome == MigrationOutcome::nothing;
  } catch (const Death&) {
    ++world_.figures.cut_moves;
    commits_left_.reset();
    start();
    pause(rest_);
  }
  moving_ = false;
  return moved_;
}

void Node::refresh() {
  process_->known = world_.system.units[home_];
  process_->looked = true;
}

/// The desired state of the owner. The kind contains the need, which distinguishes a consumed member from a
/// new one.
DesiredState Node::wanted(const OwnState& own) const {
  DesiredState desired;
  const auto say = [&](const std::string& set, const std::string& unit, const std::string& kind) {
    const OwnMember* member = own.find(set, unit);
    if (member != nullptr && member->kind != kind) {
      desired.renew(set, unit, member->since, kind);
    } else {
      desired.add(set, unit, kind);
    }
  };
  for (const auto& [name, unit] : process_->known) {
    if (!unit.needs()) continue;
    const std::string kind = "need-" + std::to_string(unit.need);
    say("pendingForRestart", name, kind);
    if (unit.prepared) say("readyForRestart", name, kind);
  }
  return desired;
}

void Node::publish() {
  const auto desire = [this](const OwnState& own) { return wanted(own); };
  const Published published = process_->ledger.publish(desire);
  if (!published.done()) return;
  const Published again = process_->ledger.publish(desire);
  if (again.transacted.wrote) world_.violated("no idle writes: " + scope_ + " wrote the same state twice");
  if (!again.done()) return;
  // 'no leftovers', 'separate scopes': the scope contains exactly what was published, and nothing of others.
  const OwnState own = process_->ledger.own();
  const DesiredState said = wanted(own);
  for (const std::string set : {"pendingForRestart", "readyForRestart"}) {
    for (const auto& [unit, member] : own.sets.at(set)) {
      if (!said.contains(set, unit))
        world_.violated("no leftovers: " + scope_ + " has " + unit + " in " + set + " still");
    }
  }
}

void Node::pass() {
  try {
    if (!move()) return;
    process_->registry.renew(mode_);
    if (mode_ != Mode::local && process_->looked) publish();
  } catch (const StoreUnavailable&) {
  } catch (const SnapshotExpired&) {
  }
}

/// Refuses callers whose epoch is older than the highest one seen.
bool Node::obeys(const Claim& claim) {
  if (claim.epoch < world_.system.fence) return false;
  world_.system.fence = claim.epoch;
  return true;
}

ActReport Node::kill(const Claim& claim) {
  ActReport report;
  if (!obeys(claim)) {
    ++world_.figures.fenced;
    for (const Target& target : claim.targets) report.not_done.push_back(target.ref);
    return report;
  }
  if (world_.auditor->claimant(claim.epoch) != home_) {
    world_.violated("no answer, no action: " + scope_ + " acted without a claim");
  }
  ++world_.figures.kills;
  world_.system.last_disruption = world_.time;
  std::string names;
  for (const Target& target : claim.targets) {
    names += " " + target.ref.scope + "/" + target.ref.unit;
    Unit& unit = world_.unit(target.ref);
    if (unit.exists && !unit.needs() && !unit.alone) {
      world_.violated("restarted twice: " + target.ref.scope + "/" + target.ref.unit);
    }
    if (unit.needs()) ++world_.figures.restarted;
    // The member may be of an earlier need than the newest one.
    const std::uint64_t need = std::stoull(target.kind.substr(5));
    unit.done = std::max(unit.done, need);
    if (!unit.needs()) unit.prepared = false;
  }
  world_.kills.push_back("epoch " + std::to_string(claim.epoch) + " by " + scope_ + ":" + names);
  return report;
}

/// Also raises the fence against older claims.
ActReport Node::observe(const Claim& claim) {
  ActReport report;
  obeys(claim);
  for (const Target& target : claim.targets) {
    const Unit& unit = world_.unit(target.ref);
    if (unit.needs()) report.not_done.push_back(target.ref);
  }
  return report;
}

void Node::decide() {
  if (process_->work || mode_ != Mode::global || !moved_) return;
  try {
    if (auto orphan = process_->claims.take_over(world_.policy)) {
      process_->work = {std::move(*orphan), true, std::nullopt};
      return;
    }
    if (world_.policy.needs_lock && !process_->lock.take().is_held()) return;
    auto claimed = process_->claims.claim(
        world_.policy, {.scope = scope_, .mode = mode_, .last_disruption = [&]() -> std::optional<TimePoint> {
                          if (!world_.system.last_disruption) return std::nullopt;
                          return clock_->now() - (world_.time - *world_.system.last_disruption);
                        }()});
    if (auto* claim = std::get_if<Claim>(&claimed)) {
      process_->work = {std::move(*claim), false, std::nullopt};
    } else if (std::get<StepReport>(claimed).kind == StepReport::Kind::nothing) {
      process_->claims.tidy("restart");
    }
  } catch (const StoreUnavailable&) {
  } catch (const SnapshotExpired&) {
  }
}

void Node::act_alone() {
  for (auto& [name, unit] : world_.system.units[home_]) {
    if (!unit.needs() || !unit.prepared) continue;
    unit.done = unit.need;
    unit.prepared = false;
    unit.alone = true;
  }
}

void Node::act() {
  if (mode_ != Mode::global) return act_alone();
  if (!process_->work || process_->work->report) return;
  Process::Work& work = *process_->work;
  work.report = work.taken_over ? observe(work.claim) : kill(work.claim);
}

void Node::settle() {
  if (!process_->work || !process_->work->report) return;
  const CommitResult result = process_->claims.settle(process_->work->claim, *process_->work->report);
  if (std::holds_alternative<Conflict>(result)) ++world_.figures.superseded;
  if (std::holds_alternative<Committed>(result) || std::holds_alternative<Conflict>(result)) {
    process_->work.reset();
    if (world_.policy.needs_lock) process_->lock.release();
  }
}

void Node::drop() {
  if (!process_->work) return;
  process_->claims.abandon(process_->work->claim);
  process_->work.reset();
}

}  // namespace evenkeel::coordination::simulation
