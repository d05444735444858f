// SPDX-License-Identifier: Apache-2.0
#include "testing/harness/harness_impl.hpp"

#include <algorithm>
#include <random>
#include <stdexcept>

#include "apiserver/schema/builtin_data.hpp"
#include "testing/harness/harness_webhooks.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing {
namespace {

/// Life of a watch: without end for a test. Renewals, and bookmarks of watches that end soon, would cost real
/// time, and much of the virtual time of a test is idle. Faults end watches.
constexpr std::chrono::hours watch_life{24 * 365 * 10};

apiserver::SharedCoreOptions core_options(const HarnessOptions& options, std::shared_ptr<const Clock> clock) {
  apiserver::SharedCoreOptions made;
  made.core.seed = options.seed;
  made.world = options.world;
  made.faults = options.faults;
  made.webhooks = make_webhook_caller(options.webhooks, options.conversions);
  made.clock = std::move(clock);
  return made;
}

std::shared_ptr<Tracer> tracer_for(const HarnessOptions& options, std::shared_ptr<const Clock> clock) {
  if (!options.span_exporter) return nullptr;
  return std::make_shared<Tracer>(options.span_exporter,
                                  TracerOptions{.clock = std::move(clock), .seed = options.seed});
}

// Returns a clock that begins where the world of the options was taken.
std::shared_ptr<HarnessClock> clock_for(const HarnessOptions& options) {
  auto clock = std::make_shared<HarnessClock>();
  if (options.world) clock->advance_to(clock->now() + (options.world->time() - clock->wall_now()));
  return clock;
}

}  // namespace

Harness::Impl::Impl(HarnessOptions options)
    : options_(std::move(options)),
      clock_(clock_for(options_)),
      core_(std::make_shared<apiserver::SharedCore>(core_options(options_, clock_))),
      recorder_(std::make_shared<LogRecorder>(options_.log_level)),
      transport_(std::make_shared<HarnessTransport>(
          core_, clock_, options_.cache_lag, [this](Write write) { on_write(std::move(write)); },
          options_.on_exec)),
      controllers_transport_(controllers_transport()),
      controllers_client_(controllers_client()),
      background_client_({.server = "http://harness"},
                         {.transport = std::make_shared<BackgroundTransport>(transport_->inner()),
                          .clock = clock_,
                          .log = Log(recorder_),
                          .field_owner = options_.name,
                          .seed = options_.seed,
                          .access_recorder = accesses_}),
      client_(
          {.server = "http://harness"},
          {.transport = test_transport(), .clock = clock_, .field_owner = "test", .seed = options_.seed}) {
  for (const Json& configuration : harness_webhook_configurations(options_.webhooks))
    core_->install(configuration.dump());
  for (const Json& definition : harness_definitions(options_.conversions)) core_->install(definition.dump());
  last_fault_ = options_.faults.size();
  clock_->set_pass([this](TimePoint deadline) { pass(deadline); });
  begin_process();
}

Harness::Impl::~Impl() {
  if (overtaken_) go_on();
  clock_->set_pass({});
  end_process();
}

std::shared_ptr<http::Transport> Harness::Impl::controllers_transport() const {
  if (!options_.hooks) return transport_;
  options_.hooks->begin(
      core_, clock_,
      {.cancel = [this] { cancel_controllers(); }, .stand_still = [this] { call_->suspend(); }});
  return options_.hooks->around_controllers(transport_);
}

Client Harness::Impl::controllers_client() const {
  return Client({.server = "http://harness"}, {.transport = controllers_transport_,
                                               .clock = clock_,
                                               .log = Log(recorder_),
                                               .field_owner = options_.name,
                                               .seed = options_.seed,
                                               .tracer = tracer_for(options_, clock_),
                                               .access_recorder = accesses_});
}

std::shared_ptr<http::Transport> Harness::Impl::test_transport() const {
  auto direct = std::make_shared<DirectTransport>(core_, transport_->inner());
  if (!options_.hooks) return direct;
  return options_.hooks->around_test(std::move(direct));
}

std::function<std::uint64_t()> Harness::Impl::term() const {
  if (!options_.hooks || !options_.hooks->has_terms()) return nullptr;
  return [hooks = options_.hooks] { return hooks->term(); };
}

// Does what a manager does without a grace period: no key is handed out any more, and the stop tokens are
// requested.
void Harness::Impl::cancel_controllers() const {
  for (const auto& controller : process_->controllers) {
    controller->stop();
    controller->cancel();
  }
}

void Harness::Impl::on_write(Write write) {
  if (options_.hooks) options_.hooks->on_write(write);
  if (!runs_.empty()) runs_.back().writes.push_back(std::move(write));
}

// The streams of its cache are cancelled; the transport and the streams release each other when it is pumped.
void Harness::Impl::end_process() {
  process_.reset();
  transport_->drop_late();
  transport_->pump();
  if (options_.hooks) options_.hooks->pump();
}

void Harness::Impl::begin_process() {
  auto engine = std::make_shared<std::mt19937_64>(options_.seed + lives_++);
  CacheOptions options{.threads = 0, .clock = clock_, .log = Log(recorder_), .reads = options_.hooks.get()};
  options.reflector.watch_timeout = watch_life;
  options.reflector.random = [engine] { return std::uniform_real_distribution<double>(0.0, 1.0)(*engine); };
  EventRecorderOptions events = options_.events;
  if (events.component.empty()) events.component = options_.name;
  if (events.instance.empty()) events.instance = events.component + "-harness";
  events.threads = 0;
  events.log = Log(recorder_);
  events.clock = clock_;
  events.seed = options_.seed + lives_;
  process_ = std::make_unique<Process>(controllers_client_, std::move(options), background_client_,
                                       std::move(events));
  process_->cache.start();
}

void Harness::Impl::add(ControllerSpec spec) {
  for (const ControllerSpec& other : specs_) {
    if (other.options.name == spec.options.name)
      throw std::invalid_argument("Harness: two controllers are called " + spec.options.name);
  }
  if (spec.options.field_owner.empty()) spec.options.field_owner = options_.name;
  if (!spec.options.reconcile_timeout) spec.options.reconcile_timeout = options_.reconcile_timeout;
  Objects definitions;
  std::optional<apiserver::BuiltinData> builtins;  // once it is needed
  const auto define = [&](const ResourceId& resource, const std::function<Json()>& crd) {
    if (!crd) return;
    if (!builtins) builtins.emplace();
    if (!builtins->has_kind(resource.group, resource.version, resource.kind)) definitions.emplace_back(crd());
  };
  define(spec.resource, spec.crd);
  for (const WatchSpec& watch : spec.watches) {
    if (!(watch.primary && spec.crd)) define(watch.resource, watch.crd);
  }
  create_objects(client_, definitions);
  host(spec);
  specs_.push_back(std::move(spec));
}

// Each start of a process begins with a copy of the reconciler as it was added: its state is lost.
void Harness::Impl::host(const ControllerSpec& added) {
  ControllerSpec spec = added;
  spec.reconcile = [this, inner = added.reconcile, name = spec.options.name](Context& context) {
    return reconcile(inner, name, context);
  };
  const std::uint64_t seed = options_.seed + 1000 * lives_ + process_->controllers.size();
  auto& controller = process_->controllers.emplace_back(
      std::make_unique<Controller>(std::move(spec), ControllerEnvironment{.client = controllers_client_,
                                                                          .cache = process_->cache,
                                                                          .keys = process_->keys,
                                                                          .log = Log(recorder_),
                                                                          .clock = clock_,
                                                                          .seed = seed,
                                                                          .term = term(),
                                                                          .events = &process_->events,
                                                                          .points = options_.hooks.get()}));
  controller->attach();
}

void Harness::Impl::restart() {
  end_process();
  take_log(nullptr);
  if (options_.hooks) {
    begin_next_process();
    return;
  }
  begin_process();
  for (const ControllerSpec& spec : specs_) host(spec);
}

void Harness::Impl::begin_next_process() {
  options_.hooks->on_restart();
  specs_.clear();
  begin_process();
  for (ControllerSpec& spec : options_.hooks->controllers()) add(std::move(spec));
}

// Runs a key of the controller, if one is due. A run that may stand still has a stack of its own.
bool Harness::Impl::run_one(Controller& controller) {
  if (!options_.hooks || !options_.hooks->may_stand_still()) return controller.step();
  const auto ran = std::make_shared<bool>(true);
  auto call =
      std::make_unique<detail::SuspendedCall>(stacks_, [ran, &controller] { *ran = controller.step(); });
  call_ = call.get();
  call->resume();
  call_ = nullptr;
  if (call->has_returned()) return *ran;
  running_ = false;
  process_->cache.stop();                      // it sees nothing more,
  controllers_client_ = controllers_client();  // also not the writes of the next one
  overtaken_ = Overtaken{std::move(call), std::move(process_)};
  begin_next_process();
  return true;
}

// Lets the process that stands still end its run; then it is gone.
void Harness::Impl::go_on() {
  running_ = true;
  run_start_ = clock_->now();
  overtaken_->run->resume();
  const Overtaken gone = std::move(*overtaken_);
  overtaken_.reset();
  options_.hooks->on_gone();
}

void Harness::Impl::enqueue(const ObjectKey& key, std::string_view controller) {
  if (controller.empty() && process_->controllers.size() == 1)
    return process_->controllers.front()->enqueue(key);
  for (const auto& one : process_->controllers) {
    if (one->name() == controller) return one->enqueue(key);
  }
  throw std::invalid_argument("Harness::enqueue: there is no controller \"" + std::string(controller) + "\"");
}

// ---- One run

Result Harness::Impl::reconcile(const ReconcileFunction& inner, const std::string& controller,
                                Context& context) {
  take_log(nullptr);
  runs_.push_back(
      {.controller = controller, .key = context.key(), .attempt = context.attempt(), .at = elapsed()});
  if (options_.hooks) options_.hooks->on_run(runs_.back());
  running_ = true;
  run_start_ = clock_->now();
  const std::uint64_t fired = faults_fired();
  const std::size_t number = runs_.size() - 1;  // others may begin before it ends
  const auto end = [&](ReconcileOutcome outcome) {
    running_ = false;
    hit_by_fault_ = faults_fired() != fired;
    outcome.timed_out = context.deadline() && clock_->now() >= *context.deadline();
    runs_[number].outcome = std::move(outcome);
  };
  try {
    Result result = inner(context);
    end(outcome_of(result));
    return result;
  } catch (...) {
    runs_[number].error = std::current_exception();
    end(outcome_of(std::current_exception(), false));
    throw;
  }
}

void Harness::Impl::take_log(ReconcileRun* run) {
  for (std::string& line : recorder_->take()) {
    if (run != nullptr) run->log.push_back(line);
    log_.push_back(std::move(line));
  }
}

const ReconcileRun* Harness::Impl::step() {
  if (ends_after_run()) restart();
  if (overtaken_ && options_.hooks->goes_on()) go_on();
  turn();
  if (all_synced()) transport_->start_lag();
  const auto& controllers = process_->controllers;
  for (std::size_t at = 0; at < controllers.size(); ++at) {
    const std::size_t number = (turn_of_ + at) % controllers.size();
    if (!run_one(*controllers[number])) continue;
    turn_of_ = number + 1;
    write_events();
    take_log(&runs_.back());
    check_last();
    if (ends_after_run()) restart();
    return &runs_.back();
  }
  return nullptr;
}

// Events of a run are written at once, as far as no fault delays them: tests look for them after a single
// step.
void Harness::Impl::write_events() {
  while (process_->events.pump() > 0) transport_->inner()->pump();
}

apiserver::FaultId Harness::Impl::inject(apiserver::FaultRule rule) {
  const apiserver::FaultId id = core_->inject(std::move(rule));
  last_fault_ = std::max(last_fault_, id);
  return id;
}

std::uint64_t Harness::Impl::faults_fired() const {
  std::uint64_t fired = 0;
  for (apiserver::FaultId id = 1; id <= last_fault_; ++id) fired += core_->fault_counts(id).fired;
  return fired;
}

void Harness::Impl::check_last() const {
  const ReconcileRun& run = runs_.back();
  if (run.error == nullptr || run.outcome.kind == OutcomeKind::conflict) return;
  if (options_.expect_failures || hit_by_fault_) return;
  throw UnexpectedFailure("Harness: a run failed, and HarnessOptions::expect_failures is not set: " +
                          run.str() + "\nthe whole story:\n" + str());
}

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
