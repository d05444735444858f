// SPDX-License-Identifier: Apache-2.0
#include "rollout.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <stdexcept>
#include <utility>

#include <evenkeel/coordination/claim.hpp>
#include <evenkeel/coordination/coordination_metrics.hpp>
#include <evenkeel/coordination/deny_list.hpp>
#include <evenkeel/coordination/lease_lock.hpp>
#include <evenkeel/coordination/liveness.hpp>
#include <evenkeel/coordination/memory_store.hpp>
#include <evenkeel/coordination/scope_migrator.hpp>
#include <evenkeel/testing/faulty_store.hpp>

namespace evenkeel::coordination::rollout {
namespace {

using namespace std::chrono_literals;

constexpr Duration kRenewal = 15s;

std::string scope_of(std::size_t index) {
  return "dc" + std::to_string(index + 1);
}
std::string unit_of(std::size_t instance, std::size_t unit) {
  return scope_of(instance) + "-" + std::to_string(unit + 1);
}

/// The times at which each instance learns of the change, and each of its units is prepared.
struct Schedule {
  explicit Schedule(const Options& options) {
    std::mt19937_64 random(options.seed);
    const auto within = [&](Duration from, Duration to) {
      const auto steps = static_cast<std::uint64_t>((to - from) / 1ms);
      return from + std::chrono::milliseconds{steps == 0 ? 0 : random() % (steps + 1)};
    };
    for (std::size_t i = 0; i < options.instances; ++i) {
      arrival.push_back(within(0s, options.arrivals));
      prepared.emplace_back();
      for (std::size_t u = 0; u < options.units; ++u) {
        prepared.back().push_back(arrival.back() + within(options.preparation_min, options.preparation_max));
      }
      if (options.batches != 0) into_batches(prepared.back(), options.batches);
    }
  }
  /// All units that are to be removed, according to what the instances have learned before `now`.
  std::set<std::string> doomed(Duration now) const {
    std::set<std::string> units;
    for (std::size_t i = 0; i < arrival.size(); ++i) {
      for (std::size_t u = 0; arrival[i] < now && u < prepared[i].size(); ++u) units.insert(unit_of(i, u));
    }
    return units;
  }
  Duration all_prepared(std::size_t instance) const { return *std::ranges::max_element(prepared[instance]); }

  std::vector<Duration> arrival;
  std::vector<std::vector<Duration>> prepared;

 private:
  static void into_batches(std::vector<Duration>& times, std::size_t count) {
    std::ranges::sort(times);
    const std::size_t size = (times.size() + count - 1) / count;
    for (std::size_t at = 0; at < times.size(); at += size) {
      const std::size_t end = std::min(at + size, times.size());
      std::fill(times.begin() + static_cast<std::ptrdiff_t>(at),
                times.begin() + static_cast<std::ptrdiff_t>(end), times[end - 1]);
    }
  }
};

/// The shared system. One recovery for each call and for each change of coordinators.
class System {
 public:
  System(const Options& options, Result& result)
      : options_(options), result_(result), random_(options.seed + 77) {
    for (std::size_t i = 0; i < options.coordinators; ++i) {
      coordinators_.insert(unit_of(i % options.instances, i / options.instances));
    }
  }

  void fence(std::uint64_t epoch) { fence_ = std::max(fence_, epoch); }
  bool refuses(std::uint64_t epoch) const { return epoch < fence_; }
  bool is_done(const std::string& unit) const { return done_.contains(unit); }
  std::size_t done() const { return done_.size(); }
  std::optional<Duration> disturbed() const { return disturbed_; }

  /// Acts on `units` at `now`; no new coordinator is placed on one of `avoid`. `doomed`: all units that are
  /// to be removed, known to the caller or not.
  void act(const std::set<std::string>& units, const std::set<std::string>& avoid,
           const std::set<std::string>& doomed, Duration now) {
    change_coordinators(units, avoid, doomed);
    ++result_.calls;
    ++result_.recoveries;
    result_.called_at.push_back(now);
    disturbed_ = now;
    for (const std::string& unit : units) result_.twice += done_.insert(unit).second ? 0 : 1;
  }

 private:
  void change_coordinators(const std::set<std::string>& leaving, const std::set<std::string>& avoid,
                           const std::set<std::string>& doomed) {
    const std::size_t before = coordinators_.size();
    std::erase_if(coordinators_, [&](const std::string& one) { return leaving.contains(one); });
    if (coordinators_.size() == before) return;
    ++result_.coordinator_changes;
    ++result_.recoveries;
    std::vector<std::string> candidates;
    for (std::size_t i = 0; i < options_.instances; ++i) {
      for (std::size_t u = 0; u < options_.units; ++u) {
        for (const std::string& one : {unit_of(i, u), unit_of(i, u) + "-new"}) {
          if (!leaving.contains(one) && !avoid.contains(one) && !done_.contains(one))
            candidates.push_back(one);
        }
      }
    }
    while (coordinators_.size() < before) {
      const std::string& one = candidates[random_() % candidates.size()];
      if (coordinators_.insert(one).second && doomed.contains(one)) ++result_.doomed_coordinators;
    }
  }

  const Options& options_;
  Result& result_;
  std::mt19937_64 random_;
  std::set<std::string> coordinators_;
  std::set<std::string> done_;
  std::uint64_t fence_ = 0;
  std::optional<Duration> disturbed_;
};

class Rollout;

/// One instance with coordination.
class Node {
 public:
  Node(Rollout& rollout, std::size_t index);

  /// Renews, publishes, and runs a step at `now`. Returns whether others may see something new.
  bool pass(Duration now);
  /// Returns when it runs next if no other instance changes anything.
  Duration next(Duration now) const;
  void advance(Duration by) { clock_->advance(by); }
  bool alive() const { return alive_; }
  const std::string& why() const { return why_; }
  testing::FaultyStore& store() { return store_; }
  std::size_t index() const { return index_; }
  Duration lock_wait() const { return lock_wait_ + process_->lock.figures().waited; }
  /// With Options::poll: the time of the next pass.
  Duration due() const { return due_; }
  void set_due(Duration due) { due_ = due; }

 private:
  struct Process {
    Process(Store& store, const LedgerOptions& options, const Layout& layout)
        : ledger(store, options),
          registry(store, layout, options.identity, options.liveness, options.transact),
          lock(store, layout, options.identity,
               {.holder_silence = options.liveness.silence, .yield_after = 0s}, options.transact),
          claims(ledger, {.transact = options.transact}) {}
    Ledger ledger;
    LivenessRegistry registry;
    LeaseLock lock;
    ActionClaims claims;
  };
  LedgerOptions options_of(const std::string& scope) const;
  void rename();
  bool look(Duration now);
  void note_age();
  bool publish(Duration now);
  bool step(Duration now);
  void die_if(Death where);
  ActReport act(const Claim& claim, Duration now);
  ActReport observe(const Claim& claim);
  bool ready_to_die(Duration now) const;

  Rollout& rollout_;
  const std::size_t index_;
  std::string scope_;
  testing::FaultyStore store_;
  const std::shared_ptr<ManualClock> clock_;
  const std::shared_ptr<CoordinationMeter> meter_ = std::make_shared<CoordinationMeter>("/rollout");
  std::optional<Process> process_;
  Duration lock_wait_ = {};  // total of former scopes
  bool alive_ = true;
  std::optional<Duration> renewed_;
  std::optional<Duration> again_;
  Duration due_ = {};
  std::string why_;
};

class Rollout {
 public:
  explicit Rollout(const Options& given)
      : options(given),
        schedule(given),
        system(options, result),
        shared(given.open ? given.open() : std::make_shared<MemoryStore>()) {
    for (const std::string& scope : options.orphans) {
      shared->commit({.puts = {{layout.member(pending_set(options.action), scope, "left"), ""}}});
    }
    for (std::size_t i = 0; i < options.instances; ++i) nodes.push_back(std::make_unique<Node>(*this, i));
  }

  Result run();
  ActionPolicy policy() const {
    return {.action = options.action,
            .barrier = options.barrier,
            .quiet_window = options.quiet_window,
            .minimum_spacing = options.spacing,
            .claim_timeout = 60s};
  }
  bool is_denied_for_good(std::size_t index) const {
    return options.denied == index && options.allowed_at == Duration::zero();
  }
  bool is_local(std::size_t index) const { return index + options.local >= options.instances; }

  const Options options;
  const Schedule schedule;
  const Layout layout{"/rollout"};
  Result result;
  System system;
  std::shared_ptr<Store> shared;
  std::vector<std::unique_ptr<Node>> nodes;
  bool somebody_died = false;

 private:
  bool finished() const;
  void deny(bool allow);
  void allow_if_due(Duration now);
  void cut_stores(Duration now);
  void pass_all(Duration now);

  bool allowed_ = false;  // the denied instance was allowed again
};

Node::Node(Rollout& rollout, std::size_t index)
    : rollout_(rollout),
      index_(index),
      scope_(scope_of(index)),
      store_(rollout.shared),
      clock_(std::make_shared<ManualClock>(
          WallTime{std::chrono::seconds{1767225600} +
                   std::chrono::duration_cast<WallTime::duration>(index % 2 == 0 ? rollout.options.skew
                                                                                 : -rollout.options.skew)})) {
  clock_->advance(1h + rollout.options.skew * static_cast<int>(index));
  process_.emplace(store_, options_of(scope_), rollout.layout);
}

LedgerOptions Node::options_of(const std::string& scope) const {
  LedgerOptions options;
  options.domain = {.root = rollout_.layout.root(), .actions = {rollout_.options.action}};
  options.identity = {scope, "uid-" + std::to_string(index_), "run-1"};
  options.mode = rollout_.is_local(index_) ? Mode::local : Mode::global;
  options.liveness.silence = rollout_.options.silence;
  options.meter = meter_;
  options.transact.delay = 0s;
  options.transact.clock = clock_;
  options.clock = clock_;
  return options;
}

void Node::die_if(Death where) {
  if (rollout_.options.death != where || rollout_.somebody_died) return;
  rollout_.somebody_died = true;
  alive_ = false;
  throw std::runtime_error("killed");
}

ActReport Node::act(const Claim& claim, Duration now) {
  die_if(Death::claim);
  if (rollout_.options.cut_from_system == index_)
    throw std::runtime_error("the shared system does not answer");
  ActReport report;
  if (rollout_.system.refuses(claim.epoch)) {
    for (const Target& target : claim.targets) report.not_done.push_back(target.ref);
    return report;
  }
  rollout_.system.fence(claim.epoch);
  std::set<std::string> units;
  std::set<std::string> avoid;
  for (const Target& target : claim.targets) units.insert(target.ref.unit);
  // Groups of all scopes: no coordinator is placed on one that is to be removed.
  for (const Member& member : process_->ledger.view(rollout_.options.action).pending)
    avoid.insert(member.ref.unit);
  rollout_.system.act(units, avoid, rollout_.schedule.doomed(now), now);
  die_if(Death::act);
  return report;
}

ActReport Node::observe(const Claim& claim) {
  if (rollout_.options.cut_from_system == index_)
    throw std::runtime_error("the shared system does not answer");
  ActReport report;
  rollout_.system.fence(claim.epoch);
  for (const Target& target : claim.targets) {
    if (!rollout_.system.is_done(target.ref.unit)) report.not_done.push_back(target.ref);
  }
  return report;
}

void Node::rename() {
  scope_ = "unicorn";
  lock_wait_ = lock_wait();
  const LedgerOptions options = options_of(scope_);
  ScopeMigrator migrator(store_, rollout_.layout, options.identity, {}, options.transact);
  const Migration moved = migrator.migrate_if_renamed();
  static_cast<void>(moved);
  process_.emplace(store_, options, rollout_.layout);
}

bool Node::publish(Duration now) {
  const Published published = process_->ledger.publish([&](const OwnState&) {
    DesiredState desired;
    if (now < rollout_.schedule.arrival[index_]) return desired;
    for (std::size_t u = 0; u < rollout_.options.units; ++u) {
      const std::string unit = unit_of(index_, u);
      if (rollout_.system.is_done(unit)) continue;
      desired.add(pending_set(rollout_.options.action), unit, "storage");
      const bool never = rollout_.options.never_ready == index_ && u == 0;
      if (never || now < rollout_.schedule.prepared[index_][u]) continue;
      desired.add(ready_set(rollout_.options.action), unit, "storage");
    }
    return desired;
  });
  return published.transacted.wrote;
}

bool Node::ready_to_die(Duration now) const {
  const bool last = index_ + 1 == rollout_.options.instances;
  if (!last) return false;
  return (rollout_.options.death == Death::pending && now >= rollout_.schedule.arrival[index_]) ||
         (rollout_.options.death == Death::ready && now >= rollout_.schedule.all_prepared(index_));
}

bool Node::step(Duration now) {
  const ActionCallbacks callbacks{
      .act = [&](const Claim& claim, std::stop_token) { return act(claim, now); },
      .observe = [&](const Claim& claim, std::stop_token) { return observe(claim); }};
  const auto take = [&](const std::stop_token& stop) {
    if (!process_->lock.take(stop).is_held()) return false;
    die_if(Death::lock);
    return true;
  };
  Situation situation{.scope = scope_, .mode = Mode::global};
  if (const auto disturbed = rollout_.system.disturbed()) {
    situation.last_disruption = clock_->now() - (now - *disturbed);
  }
  const StepReport report = process_->claims.step(rollout_.policy(), situation, callbacks, take);
  if (!alive_) return false;
  if (report.kind != StepReport::Kind::waits || !report.lock_missing) process_->lock.release();
  again_.reset();
  if (report.again) again_ = now + (*report.again - clock_->now());
  if (report.lock_missing || report.kind == StepReport::Kind::unavailable) again_ = now + 5s;
  if (report.kind == StepReport::Kind::acted && !report.why.empty()) again_ = now + 10s;
  if (!report.why.empty()) why_ = report.why;
  return report.kind == StepReport::Kind::acted || report.kind == StepReport::Kind::taken_over;
}

/// The age of the oldest unit that any instance still needs, the value of an alert.
void Node::note_age() {
  const CoordinationFigures figures = meter_->figures();
  const auto action = figures.actions.find(rollout_.options.action);
  if (action == figures.actions.end()) return;
  for (const auto& [scope, of] : action->second.scopes)
    rollout_.result.oldest_pending = std::max(rollout_.result.oldest_pending, of.oldest_pending);
}

bool Node::pass(Duration now) {
  if (!alive_) return false;
  const bool news = look(now);
  note_age();
  return news;
}

bool Node::look(Duration now) {
  try {
    if (rollout_.options.renamed == index_ && now >= rollout_.options.renamed_at && scope_ != "unicorn")
      rename();
    if (!renewed_ || now >= *renewed_ + kRenewal) {
      process_->registry.renew(rollout_.is_local(index_) ? Mode::local : Mode::global);
      renewed_ = now;
    }
    if (rollout_.is_local(index_)) return false;
    bool news = publish(now);
    if (ready_to_die(now)) die_if(rollout_.options.death);
    news = step(now) || news;
    return news;
  } catch (const StoreUnavailable&) {
    again_ = now + 5s;
    why_ = "the store does not answer";
  } catch (const std::runtime_error&) {
    if (alive_) throw;
  }
  return false;
}

Duration Node::next(Duration now) const {
  Duration next = renewed_ ? *renewed_ + kRenewal : now + kRenewal;
  if (next <= now) next = now + 5s;  // the store did not answer
  const auto consider = [&](Duration at) {
    if (at > now && at < next) next = at;
  };
  consider(rollout_.schedule.arrival[index_]);
  for (const Duration at : rollout_.schedule.prepared[index_]) consider(at);
  if (again_) consider(*again_);
  if (rollout_.options.renamed == index_) consider(rollout_.options.renamed_at);
  return next;
}

bool Rollout::finished() const {
  for (const auto& node : nodes) {
    if (!node->alive() || options.cut == node->index() || is_local(node->index())) continue;
    if (is_denied_for_good(node->index())) continue;
    for (std::size_t u = 0; u < options.units; ++u) {
      const bool never = options.never_ready == node->index() && u == 0;
      if (!never && !system.is_done(unit_of(node->index(), u))) return false;
    }
  }
  return true;
}

/// Done by a person, who is never cut off.
void Rollout::deny(bool allow) {
  DenyList(*shared, layout, "person").apply({{.scope = scope_of(*options.denied), .allow = allow}});
}

void Rollout::allow_if_due(Duration now) {
  if (options.allowed_at == Duration::zero() || now < options.allowed_at || allowed_) return;
  allowed_ = true;
  deny(true);
}

void Rollout::cut_stores(Duration now) {
  const bool down = now >= options.store_down_from && now < options.store_down_until;
  for (const auto& node : nodes) node->store().set_cut(down || options.cut == node->index());
}

/// Simulates the store's hints: instances that may see something new run a pass.
void Rollout::pass_all(Duration now) {
  if (options.poll > 0s) {
    for (const auto& node : nodes) {
      if (now < node->due()) continue;
      node->pass(now);
      node->set_due(std::min(node->next(now), now + options.poll));
    }
    return;
  }
  bool news = true;
  for (int round = 0; news && round < 10; ++round) {
    news = false;
    for (const auto& node : nodes) news = node->pass(now) || news;
  }
}

Result Rollout::run() {
  if (options.denied) deny(false);
  Duration now{};
  while (true) {
    allow_if_due(now);
    cut_stores(now);
    pass_all(now);
    if (finished() || now > options.limit) break;
    Duration next = now + 1h;
    for (const auto& node : nodes) {
      if (node->alive()) next = std::min(next, options.poll > 0s ? node->due() : node->next(now));
    }
    for (const auto& node : nodes) node->advance(next - now);
    now = next;
  }
  result.finished = finished();
  result.time = now;
  result.done = system.done();
  for (const auto& node : nodes) {
    result.waits.push_back(node->why());
    result.lock_wait += node->lock_wait();
    const testing::StoreCounts counts = node->store().counts();
    result.transactions += counts.committed;
    result.conflicts += counts.conflicts;
    result.written_bytes += counts.written_bytes;
    result.read_bytes += counts.read_bytes;
  }
  if (options.renamed) {
    const std::string old = scope_of(*options.renamed);
    for (const std::string& set : {pending_set(options.action), ready_set(options.action)}) {
      result.left_over += shared->snapshot()->scan_all(prefix_range(layout.scope_prefix(set, old))).size();
    }
  }
  return result;
}

}  // namespace

Result run_global(const Options& options) {
  return Rollout(options).run();
}

Result run_local(const Options& options) {
  const Schedule schedule(options);
  Result result;
  System system(options, result);
  std::vector<std::pair<Duration, std::size_t>> order;
  for (std::size_t i = 0; i < options.instances; ++i) order.emplace_back(schedule.all_prepared(i), i);
  std::ranges::sort(order);
  for (const auto& [prepared, index] : order) {
    const auto disturbed = system.disturbed();
    const Duration now = disturbed ? std::max(prepared, *disturbed + options.spacing) : prepared;
    std::set<std::string> own;
    for (std::size_t u = 0; u < options.units; ++u) own.insert(unit_of(index, u));
    result.oldest_pending = std::max(result.oldest_pending, now - schedule.arrival[index]);
    system.act(own, own, schedule.doomed(now), now);
    result.time = now;
  }
  result.finished = true;
  return result;
}

}  // namespace evenkeel::coordination::rollout
