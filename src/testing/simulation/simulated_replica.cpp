// SPDX-License-Identifier: Apache-2.0
#include "testing/simulation/simulated_replica.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <evenkeel/controller/observer.hpp>

#include "base/caught.hpp"
#include "testing/explore/run_error.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {
namespace {

constexpr Duration grace_period = std::chrono::seconds{30};
constexpr Duration longest_turn = std::chrono::milliseconds{100};  // until a reconcile begins
constexpr std::size_t most_workers = 4;                            // of a controller

CachedState state_of(const WireObject& object) {
  return {.key = object.key().str(),
          .uid = std::string(object.uid()),
          .version = std::string(object.resource_version())};
}

/// Counts the runs of a process, also while they have not reached the reconciler.
class RunCounter final : public ControllerObserver {
 public:
  explicit RunCounter(std::size_t& running) : running_(running) {}
  void run_began(const RunBegan&) noexcept override { ++running_; }
  void run_ended(const RunEnded&) noexcept override { --running_; }

 private:
  std::size_t& running_;
};

}  // namespace

/// Reports the events of one watch.
class SimulatedReplica::CacheAudit final : public EventHandler {
 public:
  CacheAudit(const SimulatedReplica& replica, std::string name, std::string resource)
      : replica_(replica), name_(std::move(name)), resource_(std::move(resource)) {}

  void on_event(const ObjectEvent& event) noexcept override {
    if (replica_.is_dead()) return;
    const NetworkParts& parts = replica_.parts_;
    const Duration now = parts.schedule.now();
    const CachedState state = state_of(*event.object);
    if (!event.resync)
      parts.trace.add(now, replica_.name(),
                      std::string(event.type == EventType::added     ? "| sees new "
                                  : event.type == EventType::deleted ? "| sees no more "
                                                                     : "| sees changed ") +
                          resource_ + " " + state.key + " version " + state.version);
    if (event.type == EventType::deleted)
      return parts.audit.on_dropped(replica_.name(), name_, resource_, state, !event.final_state_unknown,
                                    now);
    parts.audit.on_cached(replica_.name(), name_, resource_, state, now);
  }

 private:
  const SimulatedReplica& replica_;
  const std::string name_;
  const std::string resource_;
};

SimulatedReplica::SimulatedReplica(const NetworkParts& parts, std::string name,
                                   std::shared_ptr<SimulatedClock> clock, ReplicaOptions options)
    : SimulatedHost(parts.schedule, std::move(name), std::move(clock), options.seed),
      parts_(parts),
      options_(std::move(options)),
      random_(options_.seed + 1) {}

SimulatedReplica::~SimulatedReplica() = default;

std::uint64_t SimulatedReplica::draw() {
  return random_.next();
}

std::string SimulatedReplica::lease() const {
  return "default/" + options_.simulation.harness.name;
}

// ---- The start

std::shared_ptr<SimulatedPort> SimulatedReplica::port(bool needs_lease) {
  return ports_.emplace_back(
      std::make_shared<SimulatedPort>(parts_, shared_from_this(),
                                      PortOptions{.machine = options_.machine,
                                                  .runs = [this] { return runs_; },
                                                  .audited = true,
                                                  .needs_lease = needs_lease && options_.elects,
                                                  .lease = lease()}));
}

Client SimulatedReplica::client(const std::shared_ptr<SimulatedPort>& port, std::uint64_t seed) const {
  return Client({.server = "http://simulation", .namespace_ = "default"},
                {.transport = port,
                 .clock = clock(),
                 .field_owner = options_.simulation.harness.name,
                 .seed = seed,
                 .event_loop = loop()});
}

void SimulatedReplica::start() {
  parts_.trace.add(parts_.schedule.now(), name(), "--- the process starts");
  everywhere_ = client(port(false), draw());
  client_ = client(port(true), draw());
  make_caches();
  if (options_.elects) begin_election();
  make_controllers();
  cache_->start();
  turn();
}

void SimulatedReplica::make_caches() {
  CacheOptions options{.threads = 0, .clock = clock()};
  options.reflector.random = [this] { return random_.fraction(); };
  cache_ = std::make_unique<Cache>(*everywhere_, std::move(options));
  cache_->observe(*client_);
  EventRecorderOptions events;
  events.component = options_.simulation.harness.name;
  events.instance = name();
  events.threads = 0;
  events.clock = clock();
  events.seed = draw();
  events_ = std::make_unique<EventRecorder>(*everywhere_, std::move(events));
}

void SimulatedReplica::begin_election() {
  ElectionOptions options = options_.simulation.lease;
  options.name = options_.simulation.harness.name;
  options.namespace_ = "default";
  options.identity = name();
  options.seed = draw();
  elector_ = std::make_unique<Elector>(client(port(false), draw()), std::move(options));
  elector_->start({.on_leading =
                       [this](const Leadership& leadership) {
                         parts_.trace.add(parts_.schedule.now(), name(), "--- becomes the leader");
                         leading_ = true;
                         term_ = leadership.term;
                         ++terms_;
                       },
                   .on_end =
                       [this](ElectionEnd end) {
                         leading_ = false;
                         if (end != ElectionEnd::lost) return;
                         parts_.trace.add(parts_.schedule.now(), name(), "--- lost leadership");
                         options_.on_exit();
                       }});
}

void SimulatedReplica::make_controllers() {
  const SimulatedProcess process{
      .client = *client_, .identity = name(), .is_leader = [this] { return is_leader(); }};
  std::size_t number = 0;
  for (ControllerSpec& spec : options_.make(process)) add(std::move(spec), ++number);
}

void SimulatedReplica::add(ControllerSpec spec, std::size_t number) {
  for (std::size_t watch = 0; watch < spec.watches.size(); ++watch) {
    WatchSpec& one = spec.watches[watch];
    one.crd = nullptr;  // the definitions exist
    if (!one.from_server) continue;
    const std::string resource = one.resource.qualified_plural();
    const std::string name = spec.options.name + "/" + std::to_string(watch) + "/" + resource;
    attachments_.push_back(one.attach(*cache_, std::make_shared<CacheAudit>(*this, name, resource)));
  }
  spec.crd = nullptr;
  const HarnessOptions& defaults = options_.simulation.harness;
  if (spec.options.field_owner.empty()) spec.options.field_owner = defaults.name;
  if (!spec.options.reconcile_timeout) spec.options.reconcile_timeout = defaults.reconcile_timeout;
  spec.reconcile = [this, inner = std::move(spec.reconcile), name = spec.options.name](Context& context) {
    return reconcile(inner, name, context);
  };
  const bool on_leader = spec.options.runs_on == RunsOn::leader;
  const std::size_t workers = std::clamp(spec.options.in_flight.value_or(spec.options.workers.value_or(1)),
                                         std::size_t{1}, most_workers);
  const Client guarded = on_leader && elector_ ? elector_->guarded(*client_) : *client_;
  ControllerEnvironment environment{.client = on_leader ? guarded : *everywhere_,
                                    .cache = *cache_,
                                    .keys = keys_table_,
                                    .clock = clock(),
                                    .seed = options_.seed + number,
                                    .events = events_.get(),
                                    .observers = {std::make_shared<RunCounter>(running_)}};
  if (on_leader && elector_) environment.term = [this] { return term_; };
  controllers_.push_back({std::make_unique<Controller>(std::move(spec), std::move(environment)), on_leader});
  Controller& added = *controllers_.back().controller;
  added.attach();
  for (std::size_t worker = 0; worker < workers; ++worker)
    start_fiber([this, &added, on_leader] { run_worker(added, on_leader); });
}

// ---- Work

bool SimulatedReplica::may_run(bool on_leader) const {
  return state_ == State::running && (!on_leader || !options_.elects || leading_);
}

void SimulatedReplica::run_worker(Controller& controller, bool on_leader) {
  while (!is_dead() && state_ == State::running) {
    bool done = false;
    if (may_run(on_leader)) {
      try {
        done = controller.step();
      } catch (...) {
        options_.on_exception("a controller ended: " +
                              evenkeel::detail::error_text(std::current_exception()));
        options_.on_exit();
        return;
      }
    }
    if (done) {
      note_progress();
    } else {
      idle();
    }
  }
}

// A busy machine: without it, a reconcile that undoes the work of another controller would run thousands of
// times in a second.
void SimulatedReplica::wait_for_processor() {
  const TimePoint until = deadline_after(clock()->now(), random_.between(Duration::zero(), longest_turn));
  Mutex mutex;
  CondVar never;
  MutexLock lock(mutex);
  while (clock()->now() < until) clock()->wait_until(never, lock, until);
}

Result SimulatedReplica::reconcile(const ReconcileFunction& inner, const std::string& controller,
                                   Context& context) {
  ++runs_;
  const std::string key = context.key().str();
  if (!is_dead()) parts_.audit.on_run(name(), controller, key, parts_.schedule.now());
  const auto end = [&] {
    if (!is_dead()) parts_.audit.on_run_end(name(), controller, key);
  };
  try {
    wait_for_processor();
    parts_.trace.add(parts_.schedule.now(), name(), "| run " + controller + " " + key);
    Result result = inner(context);
    end();
    return result;
  } catch (...) {
    end();
    const std::string text = text_of_error(std::current_exception());
    if (!text.empty() && !is_dead() && state_ == State::running) options_.on_exception(text);
    throw;
  }
}

bool SimulatedReplica::work() {
  return events_ && events_->pump() > 0;
}

std::optional<TimePoint> SimulatedReplica::next_work() const {
  std::optional<TimePoint> next = events_ ? events_->next_due() : std::nullopt;
  const TimePoint now = clock()->now();
  const auto consider = [&](std::optional<TimePoint> due) {
    if (due && *due > now) next = next && *next > now ? std::min(*next, *due) : *due;
  };
  consider(drain_until_);
  for (const Hosted& hosted : controllers_) {
    if (may_run(hosted.on_leader)) consider(hosted.controller->next_due());
  }
  return next;
}

bool SimulatedReplica::is_leader() const {
  return !is_dead() && elector_ && elector_->is_leader();
}

bool SimulatedReplica::is_settled(bool keys_may_wait) const {
  if (state_ != State::running || is_dead() || is_frozen() || running_ > 0) return false;
  if (options_.elects && !leading_ && elector_->holder().empty()) return false;
  for (const auto& port : ports_) {
    if (port->is_behind()) return false;
  }
  for (const CollectionHealth& one : cache_->health()) {
    if (one.informer.activity != "watching" || !one.informer.synced) return false;
  }
  if (keys_may_wait) return true;
  return std::all_of(controllers_.begin(), controllers_.end(), [this](const Hosted& hosted) {
    return !may_run(hosted.on_leader) || !hosted.controller->next_due();
  });
}

void SimulatedReplica::break_connections() {
  for (const auto& port : ports_) port->break_all(TransportErrorCode::interrupted, "the connection broke");
}

// ---- The end

void SimulatedReplica::stop() {
  if (state_ != State::running || is_dead()) return;
  state_ = State::draining;
  drain_until_ = deadline_after(clock()->now(), grace_period);
  for (const Hosted& hosted : controllers_) hosted.controller->stop();
  enter([] {});
}

// Each stage ends when nothing of it runs any more.
void SimulatedReplica::on_turn() {
  if (is_dead()) {
    if (has_ended()) state_ = State::ended;
    return;
  }
  if (state_ == State::draining) {
    if (has_ended()) {
      state_ = State::resigning;
      drain_until_.reset();
      if (elector_) elector_->resign();
      enter_at(schedule().now(), [] {});
    } else if (clock()->now() >= *drain_until_) {
      for (const Hosted& hosted : controllers_) hosted.controller->cancel();
    }
  } else if (state_ == State::resigning && !leading_) {
    state_ = State::ended;
  }
}

void SimulatedReplica::kill() {
  if (is_dead()) return;
  SimulatedHost::kill();
  parts_.audit.on_process_end(name());
  for (const auto& port : ports_) port->break_all(TransportErrorCode::closed, "the transport is closed");
  for (const Hosted& hosted : controllers_) {
    hosted.controller->stop();
    hosted.controller->cancel();
  }
}

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
