// SPDX-License-Identifier: Apache-2.0
#include "testing/simulation/simulation_run.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/caught.hpp"
#include "testing/explore/run_error.hpp"
#include "testing/explore/trace.hpp"
#include "testing/harness/harness_webhooks.hpp"
#include "testing/simulation/swarm.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {
namespace {

using namespace std::chrono_literals;

constexpr Duration quiet_time = 20s;       // without a change, before everything counts as settled
constexpr Duration long_quiet = 20min;     // the same while keys wait: longer than any back-off
constexpr Duration shutdown_limit = 2min;  // of the process
constexpr Duration hard_limit = 12h;       // of a run whose workload does not end
constexpr std::size_t most_steps_at_end = 100'000;

SimulationRates rates_for(const SimulationOptions& options, bool stormy, SimulationRandom random) {
  if (!stormy) return {};
  SimulationRates rates = options.rates ? *options.rates : draw_rates(random);
  leave_out(rates, options.without);
  return rates;
}

NetworkOptions network_options(const SimulationOptions& options, const SimulationRates& rates,
                               std::uint64_t seed) {
  const Duration margin = options.lease.lease_duration - options.lease.renew_deadline;
  return {.rates = rates,
          .machines = options.replicas,
          .slowest = std::min<Duration>(3500ms, margin * 7 / 10),
          .seed = seed};
}

apiserver::SharedCoreOptions server_options(const SimulationSetup& setup, const Schedule& schedule) {
  apiserver::SharedCoreOptions options;
  options.world = setup.world;
  options.webhooks = make_webhook_caller(setup.options.harness.webhooks, setup.options.harness.conversions);
  options.clock = std::make_shared<SimulatedClock>(schedule, setup.world.time());
  return options;
}

}  // namespace

SimulationRun::SimulationRun(const SimulationSetup& setup, std::uint64_t seed, bool stormy)
    : setup_(setup),
      options_(setup.options),
      stormy_(stormy),
      random_(seed),
      rates_(rates_for(options_, stormy, random_.split())),
      schedule_(random_.next()),
      trace_(options_.whole_trace ? 0 : options_.trace_lines),
      network_(network_options(options_, rates_, random_.next())),
      storm_({.rates = rates_,
              .machines = options_.replicas,
              .lease_duration = options_.lease.lease_duration,
              .seed = random_.next()}),
      server_(schedule_, server_options(setup, schedule_),
              [this](const std::string& resource, std::string_view type, Json object) {
                audit_.on_change(resource, type, std::move(object), schedule_.now());
              }),
      parts_{schedule_,
             network_,
             server_,
             audit_,
             trace_,
             [this](std::size_t machine) { crash(machine); },
             [this](std::size_t machine) { pause(machine, storm_.pause()); }},
      machines_(options_.replicas) {}

SimulationRun::~SimulationRun() = default;

void SimulationRun::note(const std::string& who, const std::string& what) {
  trace_.add(schedule_.now(), who, what);
}

bool SimulationRun::elects() const {
  return options_.election == SimulatedElection::on ||
         (options_.election == SimulatedElection::automatic && options_.replicas > 1);
}

SimulationRecord SimulationRun::run() {
  server_.observe("leases.coordination.k8s.io", "/apis/coordination.k8s.io/v1/leases");
  for (const auto& [resource, path] : setup_.watched) server_.observe(resource, path);
  const std::uint64_t changes_before = audit_.changes();
  for (std::size_t machine = 0; machine < machines_.size(); ++machine)
    schedule_.at(random_.between(0s, 2s), [this, machine] { start_process(machine); });
  start_users();
  plan_strike();
  schedule_.at(1s, [this] { look(); });
  while (phase_ != Phase::over) {
    const std::function<void()> step = schedule_.take();
    step();
    after_step();
  }
  record_.simulated = schedule_.now();
  record_.writes = audit_.changes() - changes_before;
  end_all();
  record_.faults = network_.counts();
  for (std::size_t fault = 0; fault < fault_names.size(); ++fault)
    record_.faults.add(static_cast<SimulatedFault>(fault), strikes_.of(static_cast<SimulatedFault>(fault)));
  record_.problems = audit_.problems();
  record_.fingerprint = trace_.fingerprint();
  record_.trace = trace_.str();
  return std::move(record_);
}

// ---- Processes

void SimulationRun::start_process(std::size_t machine) {
  if (phase_ == Phase::shutdown || phase_ == Phase::over || machines_[machine].process) return;
  const std::int64_t most = static_cast<std::int64_t>(rates_.drift * 1e6);
  const std::int64_t ppm =
      most == 0 ? 0 : static_cast<std::int64_t>(random_.below(static_cast<std::size_t>(2 * most + 1))) - most;
  if (ppm != 0) strikes_.add(SimulatedFault::drift);
  const std::string name =
      "replica-" + std::to_string(machine + 1) + "/" + std::to_string(++machines_[machine].starts);
  auto clock =
      std::make_shared<SimulatedClock>(schedule_, setup_.world.time(), random_.between(0s, 1000h), ppm);
  auto process = std::make_shared<SimulatedReplica>(
      parts_, name, std::move(clock),
      ReplicaOptions{.machine = machine,
                     .seed = random_.next(),
                     .elects = elects(),
                     .simulation = options_,
                     .make = setup_.make,
                     .on_exception = [this](const std::string& text) { on_exception(text); },
                     .on_exit =
                         [this, machine] {
                           schedule_.at(schedule_.now(),
                                        [this, machine, process = machines_[machine].process] {
                                          if (process && machines_[machine].process == process)
                                            retire(machine, storm_.downtime());
                                        });
                         }});
  machines_[machine].process = process;
  std::erase_if(processes_, [](const auto& one) { return one.expired(); });
  processes_.push_back(process);
  process->start();
}

void SimulationRun::start_users() {
  auto clock = std::make_shared<SimulatedClock>(schedule_, setup_.world.time());
  users_ = std::make_shared<SimulatedHost>(schedule_, "users", clock, random_.next());
  users_port_ = std::make_shared<SimulatedPort>(parts_, users_, PortOptions{.machine = options_.replicas});
  const std::shared_ptr<Client> client =
      std::make_shared<Client>(Config{.server = "http://simulation", .namespace_ = "default"},
                               ClientOptions{.transport = users_port_,
                                             .clock = clock,
                                             .field_owner = "test",
                                             .seed = random_.next(),
                                             .event_loop = users_->loop()});
  const auto begin = [this, client](const SimulatedWorkload& workload, bool is_main) {
    users_->start_fiber([this, client, &workload, is_main, seed = random_.next()] {
      try {
        SimulatedCluster cluster(*client, seed);
        workload(cluster);
      } catch (...) {
        if (!users_->is_dead())
          audit_.add_problem("the workload failed: " + evenkeel::detail::error_text(std::current_exception()),
                             schedule_.now());
      }
      if (is_main) workload_done_ = true;
    });
  };
  begin(setup_.workload, true);
  for (const auto& other : options_.others) begin(other, false);
  users_->enter_at(0s, [] {});
}

void SimulationRun::retire(std::size_t machine, Duration down_for) {
  const auto process = std::exchange(machines_[machine].process, nullptr);
  if (!process) return;
  if (process->state() != SimulatedReplica::State::ended) note(process->name(), "--- the process ends");
  record_.runs += process->runs();
  record_.elections += process->terms();
  process->kill();
  ending_.push_back(process);
  schedule_.at(schedule_.now() + down_for, [this, machine] { start_process(machine); });
}

void SimulationRun::crash(std::size_t machine) {
  retire(machine, storm_.downtime());
}

void SimulationRun::pause(std::size_t machine, Duration length) {
  const auto& process = machines_[machine].process;
  if (!process || process->is_dead()) return;
  note(process->name(), ">>> pause of " + std::to_string(length / 1ms) + " ms");
  process->freeze(schedule_.now() + length);
}

// ---- Faults

void SimulationRun::plan_strike() {
  if (const auto due = storm_.next_due())
    schedule_.at(*due, [this] {
      while (const auto next = storm_.next_strike(schedule_.now())) strike(*next);
      plan_strike();
    });
}

void SimulationRun::strike(const Strike& strike) {
  const auto process = machines_[strike.machine].process;
  if (!process || process->is_dead()) return;
  const Duration until = schedule_.now() + strike.length;
  const auto say = [&](const std::string& what) { note(process->name(), ">>> " + what); };
  switch (strike.fault) {
    case SimulatedFault::crashes:
      say("crash");
      retire(strike.machine, strike.length);
      break;
    case SimulatedFault::stops:
      say("stop");
      machines_[strike.machine].down_for = strike.length;
      process->stop();
      break;
    case SimulatedFault::pauses:
      pause(strike.machine, strike.length);
      break;
    case SimulatedFault::partitions:
      say("partition of " + std::to_string(strike.length / 1ms) + " ms");
      return network_.cut_off(strike.machine, until);  // counts it
    case SimulatedFault::breaks:
      say("all connections break");
      process->break_connections();
      break;
    default:
      say("the wall clock is set by " + std::to_string(strike.length / 1ms) + " ms");
      process->clock()->jump(strike.length);
      break;
  }
  strikes_.add(strike.fault);
}

void SimulationRun::on_exception(const std::string& text) {
  record_.exceptions.insert(text);
  if (stormy_ && !setup_.exceptions.contains(text))
    audit_.add_problem("a reconcile threw: " + text, schedule_.now());
}

// ---- Steps and phases

void SimulationRun::after_step() {
  for (std::size_t machine = 0; machine < machines_.size(); ++machine) {
    const auto& process = machines_[machine].process;
    if (process && process->state() == SimulatedReplica::State::ended) {
      note(process->name(), "--- the process has stopped");
      retire(machine, machines_[machine].down_for);
    }
  }
  std::erase_if(ending_, [](const auto& process) { return process->has_ended(); });
  check_leaders();
  if (!audit_.problems().empty()) trace_.stop();
  if (phase_ == Phase::shutdown && ending_.empty() &&
      std::none_of(machines_.begin(), machines_.end(),
                   [](const Machine& machine) { return machine.process != nullptr; }))
    phase_ = Phase::over;
}

void SimulationRun::check_leaders() {
  std::vector<std::string> leaders;
  for (const Machine& machine : machines_) {
    if (machine.process && machine.process->is_leader()) leaders.push_back(machine.process->name());
  }
  audit_.on_leaders(leaders, schedule_.now());
}

// Some bugs need many changes of leadership, others a last change that nothing repeats.
Duration SimulationRun::rest_of_storm() {
  return stormy_ && random_.below(2) == 0 ? random_.between(0s, options_.storm) : Duration::zero();
}

// Looks each second whether a phase is over.
void SimulationRun::look() {
  const Duration now = schedule_.now();
  if (workload_done_ && !storm_until_) storm_until_ = now + rest_of_storm();
  if (phase_ == Phase::storm && storm_until_ && now >= *storm_until_) begin_calm();
  if (phase_ == Phase::storm && now > hard_limit) {
    audit_.add_problem("the workload does not end", now);
    begin_calm();
  }
  if (phase_ == Phase::calm && (is_settled() || now - phase_begun_ > options_.limit)) {
    check_limit();
    begin_shutdown();
  }
  if (phase_ == Phase::shutdown && now - phase_begun_ > shutdown_limit) {
    audit_.add_problem("a stopped process does not end", now);
    phase_ = Phase::over;
  }
  if (phase_ != Phase::over) schedule_.at(now + 1s, [this] { look(); });
}

void SimulationRun::begin_calm() {
  note("simulation", "=== no more faults");
  network_.calm();
  storm_.calm();
  phase_ = Phase::calm;
  phase_begun_ = schedule_.now();
}

bool SimulationRun::is_settled() const {
  const Duration now = schedule_.now();
  const Duration quiet = now - std::max(audit_.changed_at(), phase_begun_);
  if (quiet < quiet_time || !ending_.empty()) return false;
  bool led = !elects();
  for (const Machine& machine : machines_) {
    if (!machine.process || !machine.process->is_settled(quiet > long_quiet)) return false;
    led = led || machine.process->is_leader();
  }
  return led;
}

void SimulationRun::check_limit() {
  const Duration now = schedule_.now();
  bool led = !elects();
  for (const Machine& machine : machines_) led = led || (machine.process && machine.process->is_leader());
  if (!led) audit_.add_problem("no replica is the leader, long after the last fault", now);
  if (now - audit_.changed_at() < quiet_time && audit_.changed_at() > phase_begun_)
    audit_.add_problem("it does not settle: objects still change, long after the last fault", now);
  audit_.check_caches(now);
  record_.end = end_state_now();
}

EndState SimulationRun::end_state_now() const {
  std::set<std::string> compared = server_.observed();
  std::erase_if(compared, [this](const std::string& resource) {
    return is_incidental(resource) ||
           std::find(options_.ignored.begin(), options_.ignored.end(), resource) != options_.ignored.end();
  });
  return end_state(audit_.listed(compared), options_.normalize);
}

void SimulationRun::begin_shutdown() {
  note("simulation", "=== all processes are stopped");
  phase_ = Phase::shutdown;
  phase_begun_ = schedule_.now();
  for (const Machine& machine : machines_) {
    if (machine.process) machine.process->stop();
  }
}

// Everything that refers to the parts of this run ends before they do.
void SimulationRun::end_all() {
  for (std::size_t machine = 0; machine < machines_.size(); ++machine) retire(machine, 0s);
  users_->kill();
  users_port_->break_all(TransportErrorCode::closed, "the transport is closed");
  for (std::size_t step = 0; step < most_steps_at_end && !schedule_.empty(); ++step) {
    std::erase_if(ending_, [](const auto& process) { return process->has_ended(); });
    std::erase_if(processes_, [](const auto& one) { return one.expired(); });
    if (processes_.empty() && users_->has_ended() && !users_port_->is_busy()) break;
    const std::function<void()> next = schedule_.take();
    next();
  }
  if (!ending_.empty() || !users_->has_ended()) {
    audit_.add_problem("a reconcile or a workload does not end, although its process has", schedule_.now());
    // Stacks in use are left as they are.
    for (auto& process : ending_)
      static_cast<void>(new std::shared_ptr<SimulatedReplica>(std::move(process)));
    static_cast<void>(new std::shared_ptr<SimulatedHost>(users_));
  }
  ending_.clear();
  schedule_.clear();
}

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
