// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <utility>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/apiserver/shared_core.hpp>
#include <evenkeel/cache/cache.hpp>
#include <evenkeel/client/access_recorder.hpp>
#include <evenkeel/testing/harness.hpp>
#include <evenkeel/testing/log_recorder.hpp>
#include <evenkeel/testing/run.hpp>
#include <evenkeel/workqueue/key_table.hpp>

#include "apiserver/schema/builtin_data.hpp"
#include "apiserver/text/seconds_text.hpp"
#include "testing/harness_clock.hpp"
#include "testing/harness_hooks.hpp"
#include "testing/harness_report.hpp"
#include "testing/harness_transport.hpp"
#include "testing/harness_webhooks.hpp"
#include "testing/suspended_call.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing {
namespace {

constexpr std::size_t runs_shown = 5;
constexpr std::size_t stack_bytes = std::size_t{1} << 20;
/// Limit of a wait without a deadline; a run that waits longer is considered blocked.
constexpr Duration patience = std::chrono::hours{1};

apiserver::SharedCoreOptions core_options(const HarnessOptions& options, std::shared_ptr<const Clock> clock) {
  apiserver::SharedCoreOptions made;
  made.core.seed = options.seed;
  made.world = options.world;
  made.faults = options.faults;
  made.webhooks = make_webhook_caller(options.webhooks, options.conversions);
  made.clock = std::move(clock);
  return made;
}

// Returns a clock that begins where the world of the options was taken.
std::shared_ptr<Tracer> tracer_for(const HarnessOptions& options, std::shared_ptr<const Clock> clock) {
  if (!options.span_exporter) return nullptr;
  return std::make_shared<Tracer>(options.span_exporter,
                                  TracerOptions{.clock = std::move(clock), .seed = options.seed});
}

std::shared_ptr<HarnessClock> clock_for(const HarnessOptions& options) {
  auto clock = std::make_shared<HarnessClock>();
  if (options.world) clock->advance_to(clock->now() + (options.world->time() - clock->wall_now()));
  return clock;
}

// Returns the earlier time; std::nullopt if neither is set.
std::optional<TimePoint> earlier(std::optional<TimePoint> one, std::optional<TimePoint> other) {
  if (!one || !other) return one ? one : other;
  return std::min(*one, *other);
}

}  // namespace

class Harness::Impl {
 public:
  explicit Impl(HarnessOptions options);
  ~Impl();

  void add(ControllerSpec spec);
  void enqueue(const ObjectKey& key, std::string_view controller);
  void restart();
  const ReconcileRun* step();
  bool settle(Duration limit);
  void run_for(Duration time);
  void after(Duration delay, std::function<void()> action) {
    actions_.emplace(deadline_after(clock_->now(), delay), std::move(action));
  }
  apiserver::FaultId inject(apiserver::FaultRule rule);
  std::string str() const;
  AccessRecord accesses() const { return accesses_->record(); }
  const Cache& cache() const { return process_->cache; }
  Duration elapsed() const { return clock_->now() - start_; }

  const HarnessOptions options_;
  const std::shared_ptr<HarnessClock> clock_;
  const std::shared_ptr<const Clock> read_clock_ = clock_;
  const TimePoint start_ = clock_->now();
  const std::shared_ptr<apiserver::SharedCore> core_;
  std::vector<ReconcileRun> runs_;
  std::vector<std::string> log_;

 private:
  // The state that is lost in a crash.
  struct Process {
    Process(const Client& client, CacheOptions options, const Client& background,
            EventRecorderOptions recorder)
        : cache(client, std::move(options)), events(background, std::move(recorder)) {}
    KeyTable keys;
    Cache cache;
    EventRecorder events;
    std::vector<std::unique_ptr<Controller>> controllers;
  };

  // A process that stands still in the middle of a run, while the next one works.
  struct Overtaken {
    std::unique_ptr<detail::SuspendedCall> run;
    std::unique_ptr<Process> process;
  };

  void begin_process();
  void begin_next_process();
  void end_process();
  bool run_one(Controller& controller);
  void go_on();
  void host(const ControllerSpec& added);
  Result reconcile(const ReconcileFunction& inner, const std::string& controller, Context& context);
  void take_log(ReconcileRun* run);
  void write_events();
  std::size_t turn();
  void pass(TimePoint deadline);
  void move_to(TimePoint when);
  bool all_synced() const;
  std::optional<TimePoint> next_event() const;
  std::optional<TimePoint> next_work() const;
  bool work_until(TimePoint end);
  std::string story_of_last() const;
  std::uint64_t faults_fired() const;
  void check_last() const;
  std::shared_ptr<http::Transport> controllers_transport() const;
  Client controllers_client() const;
  std::shared_ptr<http::Transport> test_transport() const;
  void on_write(Write write);
  void cancel_controllers() const;
  std::function<std::uint64_t()> term() const;
  bool is_dead() const { return options_.hooks && options_.hooks->is_dead(); }
  bool ends_after_run() const { return options_.hooks && options_.hooks->ends_after_run(); }

  const std::shared_ptr<LogRecorder> recorder_;
  const std::shared_ptr<HarnessTransport> transport_;
  const std::shared_ptr<AccessRecorder> accesses_ = std::make_shared<AccessRecorder>();
  const std::shared_ptr<http::Transport> controllers_transport_;
  Client controllers_client_;
  const Client background_client_;  // of the recorder of Events
  std::vector<ControllerSpec> specs_;
  std::multimap<TimePoint, std::function<void()>> actions_;
  std::unique_ptr<Process> process_;
  v0::detail::FiberStacks stacks_{stack_bytes};
  detail::SuspendedCall* call_ = nullptr;  // that runs
  std::optional<Overtaken> overtaken_;
  std::size_t turn_of_ = 0;  // the controller that is tried first
  TimePoint run_start_{};
  bool running_ = false;
  apiserver::FaultId last_fault_ = 0;  // ids are 1 and up, those of the options first
  bool hit_by_fault_ = false;
  std::uint64_t lives_ = 0;

 public:
  const Client client_;
};

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
  CacheOptions options{.threads = 0, .clock = clock_, .log = Log(recorder_)};
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

// ---- Time

// Does the work that is due now, except runs.
std::size_t Harness::Impl::turn() {
  const auto work = [this] {
    std::size_t done = transport_->pump();
    if (options_.hooks) done += options_.hooks->pump();
    return done + process_->cache.pump() + process_->events.pump();
  };
  std::size_t total = 0;
  while (const std::size_t done = work()) total += done;
  return total;
}

// A thread waits: do the work that is due; if there is none, advance the clock.
void Harness::Impl::pass(TimePoint deadline) {
  if (running_ && is_dead()) throw Error("Harness: the process has crashed");
  if (turn() > 0) return;
  std::optional<TimePoint> next = next_event();
  if (deadline != TimePoint::max()) next = earlier(next, deadline);
  const bool impatient = running_ && clock_->now() - run_start_ > patience;
  if (impatient && options_.hooks)
    throw Error("Harness: at " + apiserver::seconds_text(elapsed()) + " a run has taken more than an hour");
  if (!next || (impatient && deadline == TimePoint::max()))
    throw Error("Harness: at " + apiserver::seconds_text(elapsed()) +
                " a thread waits without a deadline, and nothing can wake it");
  move_to(*next);
}

void Harness::Impl::move_to(TimePoint when) {
  clock_->advance_to(when);
  while (!actions_.empty() && actions_.begin()->first <= clock_->now()) {
    const auto action = std::move(actions_.begin()->second);
    actions_.erase(actions_.begin());
    action();
  }
  turn();
}

bool Harness::Impl::all_synced() const {
  const auto health = process_->cache.health();
  return std::all_of(health.begin(), health.end(),
                     [](const CollectionHealth& one) { return one.informer.synced; });
}

// Returns the time of the next event of any kind.
std::optional<TimePoint> Harness::Impl::next_event() const {
  const TimePoint now = clock_->now();
  std::optional<TimePoint> next;
  const auto consider = [&](std::optional<TimePoint> at) {
    if (at && *at > now) next = earlier(next, at);
  };
  consider(transport_->next_due());
  consider(process_->cache.next_due());
  consider(process_->events.next_due());
  if (!actions_.empty()) consider(actions_.begin()->first);
  return next;
}

// Returns the time of the next event that a test would wait for: bookmarks and timeouts of watches recur
// without end and change nothing.
std::optional<TimePoint> Harness::Impl::next_work() const {
  std::optional<TimePoint> next = transport_->next_wanted();
  if (!actions_.empty()) next = earlier(next, actions_.begin()->first);
  next = earlier(next, process_->events.next_write_due());
  if (process_->events.is_writing()) next = earlier(next, transport_->next_due());
  for (const auto& controller : process_->controllers) next = earlier(next, controller->next_due());
  for (const CollectionHealth& one : process_->cache.health()) {
    if (one.informer.activity != "watching" || !one.informer.synced) next = earlier(next, next_event());
  }
  return next;
}

bool Harness::Impl::work_until(TimePoint end) {
  const std::size_t before = runs_.size();
  for (;;) {
    while (clock_->now() <= end && step() != nullptr) {
      if (runs_.size() - before > options_.max_runs) throw TooManyRuns(story_of_last());
    }
    if (clock_->now() > end) return false;  // a run took longer
    std::optional<TimePoint> work = next_work();
    // A key that is due and was not run waits for the first list of another watch.
    if (work && *work <= clock_->now()) work = next_event();
    if (options_.hooks && options_.hooks->on_idle(work && *work <= end)) continue;
    if (!work || *work > end) return !work;
    move_to(*earlier(work, next_event()));
  }
}

bool Harness::Impl::settle(Duration limit) {
  const TimePoint end = deadline_after(clock_->now(), limit);
  if (work_until(end)) return true;
  run_for(end - clock_->now());
  return false;
}

void Harness::Impl::run_for(Duration time) {
  const TimePoint end = deadline_after(clock_->now(), time);
  for (work_until(end); clock_->now() < end; work_until(end)) {
    const auto next = next_event();
    move_to(next ? std::min(*next, end) : end);
  }
}

// ---- The history

std::string Harness::Impl::story_of_last() const {
  std::string text = "Harness: more than " + std::to_string(options_.max_runs) +
                     " runs, and a timer is still due at " + apiserver::seconds_text(elapsed()) +
                     "; the last ones:";
  const std::size_t first = runs_.size() - std::min(runs_.size(), runs_shown);
  return text + "\n" + detail::story(std::span(runs_).subspan(first));
}

std::string Harness::Impl::str() const {
  std::string text = detail::story(runs_);
  if (!text.empty()) text += "\n";
  return text + std::to_string(runs_.size()) + " runs in " + apiserver::seconds_text(elapsed());
}

// ---- The public class

Harness::Harness(HarnessOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Harness::~Harness() = default;
Harness::Harness(Harness&&) noexcept = default;
Harness& Harness::operator=(Harness&&) noexcept = default;

void Harness::add(ControllerSpec spec) {
  impl_->add(std::move(spec));
}
void Harness::create(const Objects& objects) {
  create_objects(impl_->client_, objects);
}
void Harness::after(Duration delay, std::function<void()> action) {
  impl_->after(delay, std::move(action));
}
void Harness::enqueue(const ObjectKey& key, std::string_view controller) {
  impl_->enqueue(key, controller);
}
apiserver::FaultId Harness::inject(apiserver::FaultRule rule) {
  return impl_->inject(std::move(rule));
}
void Harness::remove_fault(apiserver::FaultId id) {
  impl_->core_->remove_fault(id);
}
apiserver::FaultCounts Harness::fault_counts(apiserver::FaultId id) const {
  return impl_->core_->fault_counts(id);
}
void Harness::restart() {
  impl_->restart();
}
apiserver::World Harness::snapshot() const {
  return impl_->core_->snapshot();
}
std::optional<ReconcileRun> Harness::step() {
  const ReconcileRun* const run = impl_->step();
  return run == nullptr ? std::nullopt : std::optional(*run);
}
bool Harness::settle(Duration limit) {
  return impl_->settle(limit);
}
void Harness::run_for(Duration time) {
  impl_->run_for(time);
}
const std::vector<ReconcileRun>& Harness::runs() const noexcept {
  return impl_->runs_;
}
const ReconcileRun& Harness::last() const {
  if (impl_->runs_.empty()) throw Error("Harness: nothing was reconciled");
  return impl_->runs_.back();
}
std::vector<Write> Harness::writes() const {
  std::vector<Write> all;
  for (const ReconcileRun& run : impl_->runs_) all.insert(all.end(), run.writes.begin(), run.writes.end());
  return all;
}
std::vector<Write> Harness::changes() const {
  std::vector<Write> all = writes();
  std::erase_if(all, [](const Write& write) { return !write.ok() || write.changes().empty(); });
  return all;
}
std::vector<std::string> Harness::log() const {
  return impl_->log_;
}
std::vector<Snapshot<core_v1::Event>> Harness::events() const {
  return list<core_v1::Event>();
}
std::string Harness::str() const {
  return impl_->str();
}
AccessRecord Harness::accesses() const {
  return impl_->accesses();
}
Duration Harness::elapsed() const {
  return impl_->elapsed();
}
const Cache& Harness::cache() const noexcept {
  return impl_->cache();
}
const Client& Harness::client() const noexcept {
  return impl_->client_;
}
const std::shared_ptr<const Clock>& Harness::clock() const noexcept {
  return impl_->read_clock_;
}

namespace detail {
namespace {

ObjectKey key_for(const ControllerSpec& spec, const Objects& objects, const RunOptions& options) {
  if (options.key) return *options.key;
  for (const Object& object : objects) {
    for (const Json& document : object.documents()) {
      if (document["kind"] != Json(spec.resource.kind) ||
          document["apiVersion"] != Json(spec.resource.api_version()))
        continue;
      const bool namespaced = spec.resource.scope == Scope::namespaced;
      return {namespaced ? document.at({"metadata", "namespace"}).string_or("default") : "",
              document.at({"metadata", "name"}).string_or("")};
    }
  }
  throw std::invalid_argument("run_once: no object is a " + spec.resource.kind +
                              ", and RunOptions.key is not set");
}

// Returns the mapping restricted to one key.
KeyMapping only(ObjectKey key, KeyMapping inner) {
  return [key = std::move(key), inner = std::move(inner)](const WireObject& object,
                                                          std::vector<ObjectKey>& keys) {
    inner(object, keys);
    std::erase_if(keys, [&key](const ObjectKey& found) { return found != key; });
  };
}

}  // namespace

Harness run(ControllerSpec spec, const Objects& objects, const RunOptions& options) {
  Harness harness(options.harness);
  harness.add(std::move(spec));
  harness.create(objects);
  harness.settle(options.limit);
  return harness;
}

Harness run_once(ControllerSpec spec, const Objects& objects, const RunOptions& options) {
  const ObjectKey key = key_for(spec, objects, options);
  for (WatchSpec& watch : spec.watches) {
    if (watch.bind) {
      watch.bind = [key, inner = std::move(watch.bind)](Cache& cache) { return only(key, inner(cache)); };
    } else {
      watch.mapping = only(key, std::move(watch.mapping));
    }
  }
  Harness harness(options.harness);
  harness.add(std::move(spec));
  harness.create(objects);
  harness.enqueue(key);
  if (!harness.step()) throw Error("run_once: the first lists could not be read:\n" + harness.str());
  return harness;
}

}  // namespace detail
}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
