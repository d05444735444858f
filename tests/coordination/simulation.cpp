// SPDX-License-Identifier: Apache-2.0
#include "simulation.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <variant>

#include <evenkeel/coordination/claim.hpp>
#include <evenkeel/coordination/deny_list.hpp>
#include <evenkeel/coordination/lease_lock.hpp>
#include <evenkeel/coordination/liveness.hpp>
#include <evenkeel/coordination/scope_migrator.hpp>
#include <evenkeel/testing/faulty_store.hpp>

#include "simulation_audit.hpp"

namespace evenkeel::coordination::simulation {
namespace {

using namespace std::chrono_literals;
using Kind = Event::Kind;

constexpr Duration kSilence = 60s;
constexpr std::size_t kJournal = 60;  // lines that a violation shows

ActionPolicy policy_of(const Options& options) {
  return {.action = "restart",
          .barrier = options.ready_subset ? Barrier::ready_subset : Barrier::all_ready,
          .quiet_window = 30s,
          .straggler_timeout = 150s,
          .minimum_spacing = 50s,
          .needs_lock = options.needs_lock,
          .claim_timeout = 40s};
}

/// Scopes of which one is the beginning of another (I10).
std::string scope_of(std::size_t index) {
  static const std::array<std::string, 4> names{"dc1", "dc10", "primary", "primary-sat"};
  return index < names.size() ? names.at(index) : "dc" + std::to_string(index + 100);
}

/// A unit as it really is.
struct Unit {
  std::uint64_t need = 0;  ///< How many restarts were needed so far.
  std::uint64_t done = 0;  ///< The need that the last restart was for.
  bool prepared = false;
  bool exists = true;
  bool alone = false;  ///< Its owner restarted it on its own, so somebody else may have done it too.

  bool needs() const { return exists && done < need; }
};
using Units = std::map<std::string, Unit>;

/// The shared system: it restarts what it is told to, and refuses whoever comes too late.
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

  /// The instance is about to commit: now and then another one comes first.
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
  TimePoint time{1000h};
  System system;
  Figures figures;
  std::vector<std::string> kills;
  std::deque<std::string> journal;
  std::shared_ptr<Store> store;
  std::shared_ptr<Auditor> auditor;
};

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

TransactOptions transactions(const std::shared_ptr<ManualClock>& clock) {
  TransactOptions options;
  options.delay = 0s;
  options.clock = clock;
  return options;
}

/// The process of an instance: what dies in a crash.
struct Process {
  Process(Store& store, const Layout& layout, const LedgerOptions& options)
      : ledger(store, options),
        registry(store, layout, options.identity, options.liveness, options.transact),
        lock(store, layout, options.identity, {.duration = 100s, .yield_after = 0s}, options.transact),
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
        // Calendars and steady clocks disagree by a minute each way (S11).
        clock_(std::make_shared<ManualClock>(
            WallTime{std::chrono::seconds{1767225600} + (index % 2 == 0 ? 60s : -60s)})) {
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
  /// Another run begins with the other scope. Its move dies before its commit `dies_at`, and the next run
  /// begins after `rest`.
  void rename(unsigned dies_at, Duration rest);
  void start();
  void refresh();
  void pass();
  void decide();
  void act();
  void settle();
  void drop();

 private:
  /// Thrown where the process dies.
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
  const std::string home_;  // what the scope was called first
  std::string scope_;
  testing::FaultyStore faulty_;
  const std::shared_ptr<ManualClock> clock_;
  Mode mode_ = Mode::global;
  int incarnation_ = 0;
  TimePoint paused_until_ = {};
  bool moved_ = true;                     // what an earlier run had under the other name is here
  std::optional<unsigned> commits_left_;  // of the move, until this process dies
  Duration rest_ = {};
  bool moving_ = false;
  std::optional<Process> process_;
};

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

/// Whether all is here, so that this run may begin.
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

/// What the owner knows; the kind says which need it is, so that a consumed member is told from a new one.
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
  if (again.transacted.wrote) world_.violated("I13: " + scope_ + " wrote the same state twice");
  if (!again.done()) return;
  // I9, I10: what is its own is what it said, nothing less and nothing of others.
  const OwnState own = process_->ledger.own();
  const DesiredState said = wanted(own);
  for (const std::string set : {"pendingForRestart", "readyForRestart"}) {
    for (const auto& [unit, member] : own.sets.at(set)) {
      if (!said.contains(set, unit))
        world_.violated("I9: " + scope_ + " has " + unit + " in " + set + " still");
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

/// Refuses whoever is older than somebody it knows of.
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
    world_.violated("I12: " + scope_ + " acted without a claim");
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

/// Also makes sure that an older claim can do nothing any more.
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

class Simulation {
 public:
  explicit Simulation(const Options& options)
      : world_(options, options.open(options.root)),
        person_(std::make_shared<AuditedStore>(world_.store, world_.auditor, "")) {
    for (std::size_t i = 0; i < options.instances; ++i) nodes_.push_back(std::make_unique<Node>(world_, i));
    // Where ranges are not looked at, a decision may miss what came last: I6 is not promised there.
    if (!options.interleaved || !world_.store->capabilities().range_conflict) return;
    world_.others_come_first = [this](const std::string& home) {
      Node& other = *nodes_[world_.random() % nodes_.size()];
      if (other.home() == home || other.paused()) return;
      other.refresh();
      other.pass();
    };
  }

  Outcome run(const std::vector<Event>& events) {
    for (const Event& event : events) {
      if (world_.auditor->violation()) break;
      happen(event);
    }
    if (!world_.auditor->violation()) heal_and_finish();
    return outcome();
  }

 private:
  Node& node(const Event& event) { return *nodes_[event.who % nodes_.size()]; }
  Unit& unit(const Event& event) {
    auto& units = world_.system.units[node(event).home()];
    return std::next(units.begin(), static_cast<std::ptrdiff_t>(event.what % units.size()))->second;
  }
  void wait(Duration by) {
    world_.time += by;
    for (auto& one : nodes_) one->advance(by);
  }
  void happen(const Event& event) {
    world_.say(text_of(event));
    if (to_the_world(event) || to_an_instance(event)) return;
    Node& who = node(event);
    if (who.paused()) return;
    work(event.kind, who);
  }
  bool to_the_world(const Event& event);
  bool to_an_instance(const Event& event);
  static void work(Kind kind, Node& who);
  void deny(const std::string& scope, bool allow) {
    DenyList(*person_, world_.layout, "person", transactions(person_clock_)).apply({{scope, allow}});
  }
  void heal_and_finish();
  bool all_done() const;
  Outcome outcome();

  World world_;
  const std::shared_ptr<Store> person_;
  const std::shared_ptr<ManualClock> person_clock_ = std::make_shared<ManualClock>();
  std::vector<std::unique_ptr<Node>> nodes_;
};

bool Simulation::to_the_world(const Event& event) {
  Unit& one = unit(event);
  switch (event.kind) {
    case Kind::wait:
      wait(std::chrono::milliseconds{100} * (event.what % 300));
      return true;
    case Kind::need:
      if (!one.needs()) one.alone = false;
      if (one.exists && !one.needs()) ++one.need;
      return true;
    case Kind::prepare:
      one.prepared = one.prepared || one.needs();
      return true;
    case Kind::remove:
      one.exists = !one.exists;
      one.prepared = false;
      // What comes again is a new one, which has what the old one needed; what was said of that may be
      // obeyed.
      one.alone = one.alone || (one.exists && one.needs());
      if (one.exists) one.done = one.need;
      return true;
    default:
      return false;
  }
}

bool Simulation::to_an_instance(const Event& event) {
  Node& who = node(event);
  switch (event.kind) {
    case Kind::crash:
      who.start();
      return true;
    case Kind::pause:
      who.pause(std::chrono::seconds{event.what % 120});
      return true;
    case Kind::faults:
      who.store().set_rates({.conflict = 0.1,
                             .unknown_applied = 0.1,
                             .unknown_lost = 0.1,
                             .unknown_late = 0.1,
                             .unavailable = 0.1,
                             .snapshot_unavailable = 0.02,
                             .snapshot_expired = 0.02,
                             .delivery = 0.3},
                            world_.options.seed * 1000 + event.what);
      return true;
    case Kind::heal:
      who.store().set_rates({}, 1);
      who.store().set_cut(false);
      return true;
    case Kind::cut:
      who.store().set_cut(true);
      return true;
    case Kind::deny:
    case Kind::allow:
      // Allowed is whoever stands there, by whichever name.
      deny(who.scope(), event.kind == Kind::allow);
      if (event.kind == Kind::allow) deny(other_name_of(who.scope()), true);
      return true;
    case Kind::mode:
      who.set_mode(static_cast<Mode>(event.what % 3));
      return true;
    case Kind::rename:
      who.rename(event.what % 8, event.what % 16 < 8 ? 0s : 200s);
      return true;
    default:
      return false;
  }
}

void Simulation::work(Kind kind, Node& who) {
  switch (kind) {
    case Kind::refresh:
      return who.refresh();
    case Kind::pass:
      return who.pass();
    case Kind::decide:
      return who.decide();
    case Kind::act:
      return who.act();
    case Kind::settle:
      return who.settle();
    case Kind::drop:
      return who.drop();
    default:
      return;
  }
}

bool Simulation::all_done() const {
  for (const auto& [scope, units] : world_.system.units) {
    for (const auto& [name, one] : units) {
      if (one.needs()) return false;
    }
  }
  return true;
}

// When nothing goes wrong any more, everything that is needed gets done.
void Simulation::heal_and_finish() {
  for (auto& one : nodes_) {
    happen({.kind = Kind::heal, .who = static_cast<std::uint32_t>(&one - nodes_.data())});
    one->store().deliver();
    deny(one->scope(), true);
    deny(other_name_of(one->scope()), true);
    one->pause(0s);
    if (one->mode() != Mode::global) one->set_mode(Mode::global);
  }
  const TimePoint end = world_.time + 20min;
  while (!all_done() && !world_.auditor->violation()) {
    if (world_.time > end) return world_.violated("no progress: something is needed and is not done");
    for (auto& [scope, units] : world_.system.units) {
      for (auto& [name, one] : units) one.prepared = one.needs();
    }
    for (auto& one : nodes_) {
      for (const Kind kind : {Kind::refresh, Kind::pass, Kind::decide, Kind::act, Kind::settle})
        work(kind, *one);
    }
    wait(5s);
  }
}

Outcome Simulation::outcome() {
  Outcome out{.figures = world_.figures, .kills = world_.kills};
  for (auto& one : nodes_) {
    const testing::StoreCounts counts = one->store().counts();
    out.figures.commits += counts.commits;
    out.figures.conflicts += counts.conflicts;
    out.figures.unknowns += counts.unknowns;
    out.figures.late += counts.late_applied;
  }
  out.figures.claims = world_.auditor->claims();
  out.figures.without_denied = world_.auditor->claims_without_denied();
  out.figures.moves = world_.auditor->moves();
  out.figures.amid_moves = world_.auditor->claims_amid_moves();
  out.figures.take_overs = world_.auditor->take_overs();
  if (!world_.auditor->violation()) return out;
  out.violation = *world_.auditor->violation() + "\nseed " + std::to_string(world_.options.seed) + ", after:";
  for (const std::string& line : world_.journal) *out.violation += "\n  " + line;
  return out;
}

}  // namespace

std::string text_of(const Event& event) {
  static constexpr std::array<const char*, static_cast<std::size_t>(Kind::count_)> names{
      "wait",  "need",  "prepare", "remove", "refresh", "pass", "decide", "act",  "settle", "drop",
      "crash", "pause", "faults",  "heal",   "cut",     "deny", "allow",  "mode", "rename"};
  return std::string(names.at(static_cast<std::size_t>(event.kind))) + " " + std::to_string(event.who) + " " +
         std::to_string(event.what);
}

std::vector<Event> plan(const Options& options, std::size_t count) {
  // Out of 1000; what an instance does in a row is one entry.
  static const std::vector<std::pair<std::uint32_t, std::vector<Kind>>> weights{
      {119, {Kind::wait}},
      {45, {Kind::need}},
      {200, {Kind::prepare}},
      {6, {Kind::remove}},
      {220, {Kind::refresh, Kind::pass}},
      {20, {Kind::pass}},
      {130, {Kind::decide}},
      {90, {Kind::act}},
      {90, {Kind::settle}},
      {4, {Kind::drop}},
      {8, {Kind::crash}},
      {6, {Kind::pause}},
      {8, {Kind::faults}},
      {30, {Kind::heal}},
      {3, {Kind::cut}},
      {5, {Kind::deny}},
      {6, {Kind::allow}},
      {2, {Kind::mode}},
      {8, {Kind::rename}},
  };
  std::mt19937_64 random(options.seed);
  std::vector<Event> events;
  while (events.size() < count) {
    std::uint64_t at = random() % 1000;
    const auto who = static_cast<std::uint32_t>(random() % options.instances);
    const auto what = static_cast<std::uint32_t>(random() % 1'000'000);
    for (const auto& [weight, kinds] : weights) {
      if (at >= weight) {
        at -= weight;
        continue;
      }
      for (const Kind kind : kinds) {
        if (kind == Kind::rename && !options.renames) continue;
        events.push_back({kind, who, kind == Kind::mode && what % 4 != 0 ? 2 : what});
      }
      break;
    }
  }
  return events;
}

Outcome run(const Options& options, const std::vector<Event>& events) {
  return Simulation(options).run(events);
}

std::vector<Event> shrink(const Options& options, std::vector<Event> events) {
  for (std::size_t size = events.size() / 2; size > 0; size /= 2) {
    for (std::size_t at = 0; at + size <= events.size();) {
      std::vector<Event> fewer = events;
      const auto begin = fewer.begin() + static_cast<std::ptrdiff_t>(at);
      fewer.erase(begin, begin + static_cast<std::ptrdiff_t>(size));
      if (run(options, fewer).violation) {
        events = std::move(fewer);
      } else {
        at += size;
      }
    }
  }
  return events;
}

}  // namespace evenkeel::coordination::simulation
