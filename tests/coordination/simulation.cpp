// SPDX-License-Identifier: Apache-2.0
#include "simulation.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <random>
#include <set>
#include <utility>

#include <evenkeel/coordination/deny_list.hpp>

#include "simulation_audit.hpp"
#include "simulation_node.hpp"
#include "simulation_world.hpp"

namespace evenkeel::coordination::simulation {
namespace {

using namespace std::chrono_literals;
using Kind = Event::Kind;

class Simulation {
 public:
  explicit Simulation(const Options& options)
      : world_(options, options.open(options.root)),
        person_(std::make_shared<AuditedStore>(world_.store, world_.auditor, "")) {
    for (std::size_t i = 0; i < options.instances; ++i) nodes_.push_back(std::make_unique<Node>(world_, i));
    // A store that does not check ranges does not promise 'current view': a decision may miss the latest
    // change.
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
      // A unit that comes back is a new one with the needs of the old one; commands for the old one may still
      // be executed.
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
      // Allows the scopes on the list, under either name.
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

// Once there are no more faults, all needed actions are done.
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
  // Out of 1000; consecutive events of an instance are one entry.
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
