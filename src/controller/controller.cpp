// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <utility>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/error.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/clusters/cluster_set.hpp>
#include <evenkeel/controller/controller.hpp>
#include <evenkeel/controller/explanation.hpp>
#include <evenkeel/sharding/shards.hpp>
#include <evenkeel/workqueue/request_queue.hpp>

#include "base/ascii.hpp"
#include "client/request/write_log.hpp"
#include "controller/event_feed.hpp"
#include "controller/explain/inspector.hpp"
#include "controller/fibers/fibers.hpp"
#include "controller/followed_clusters.hpp"
#include "controller/gated_queue.hpp"
#include "controller/key_sources.hpp"
#include "controller/run_links.hpp"
#include "controller/runner.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

constexpr Duration default_sync_timeout = std::chrono::minutes{2};

constexpr std::size_t least_fiber_stack = std::size_t{64} << 10;

// Names are used in log lines, metric labels, flags and files.
void check_name(const std::string& name) {
  if (name.empty()) throw std::invalid_argument("Controller: a name is needed");
  if (!detail::ascii::is_label_value(name))
    throw std::invalid_argument(
        "Controller: the name " + Json(name).dump() +
        " must be up to 63 letters, digits, '-', '_' and '.', the first and the last a "
        "letter or digit");
}

ControllerSpec checked(ControllerSpec spec) {
  const std::string& name = spec.options.name;
  check_name(name);
  if (!spec.reconcile) throw std::invalid_argument("controller " + name + ": a reconciler is needed");
  if (spec.watches.empty() && spec.sources.empty() && spec.timers.empty())
    throw std::invalid_argument("controller " + name + " watches nothing");
  if (spec.options.workers == std::size_t{0})
    throw std::invalid_argument("controller " + name + ": workers must be at least 1");
  if (spec.options.in_flight == std::size_t{0})
    throw std::invalid_argument("controller " + name + ": in_flight must be at least 1");
  if (spec.options.per_cluster == std::size_t{0})
    throw std::invalid_argument("controller " + name + ": per_cluster must be at least 1");
  const auto is_channel = [](const WatchSpec& watch) { return !watch.from_server; };
  if (spec.options.runs_in == RunsIn::engaged_clusters &&
      std::any_of(spec.watches.begin(), spec.watches.end(), is_channel))
    throw std::invalid_argument(
        "controller " + name +
        ": the objects of an EventChannel belong to no engaged cluster; push keys with "
        "KeyOptions::cluster into a KeyChannel");
  if (spec.options.fiber_stack_bytes < least_fiber_stack)
    throw std::invalid_argument("controller " + name + ": fiber_stack_bytes must be at least 65536");
  if (spec.options.stuck_after && *spec.options.stuck_after <= Duration::zero())
    throw std::invalid_argument("controller " + name + ": stuck_after must be more than 0");
  if (spec.options.reconcile_timeout <= Duration::zero()) spec.options.reconcile_timeout.reset();
  return spec;
}

std::size_t threads_of(const ControllerOptions& options) {
  const std::size_t workers = options.workers.value_or(1);
  return std::min(workers, options.in_flight.value_or(workers));
}

// Gives the client of the controller an identity of its own, which marks its writes, and lets `links` observe
// what adds keys.
ControllerEnvironment own_environment(ControllerEnvironment environment,
                                      const std::shared_ptr<detail::RunLinks>& links) {
  environment.client = environment.client.with({.writer = environment.client.writes()->new_writer()});
  if (links) environment.observers.push_back(links);
  return environment;
}

// Returns null without a tracer.
std::shared_ptr<detail::RunLinks> links_for(const Client& client) {
  return client.tracer() ? std::make_shared<detail::RunLinks>(client.write_spans()) : nullptr;
}

detail::ControllerWrites own_writes(const Client& client) {
  return {.log = client.writes(), .writer = client.call_options().writer.value_or(0)};
}

}  // namespace

/// The lifecycle of a controller: waiting for the caches, running workers, stopping.
class Controller::Impl {
 public:
  Impl(ControllerSpec spec, ControllerEnvironment environment);
  ~Impl();

  void attach();
  void start(std::function<void(std::exception_ptr)> on_end);
  bool step();
  std::optional<TimePoint> next_due();
  void stop() noexcept;
  void enqueue(const ObjectKey& key, const KeyOptions& options);
  bool is_synced() const;
  detail::ControllerMoment moment(std::string_view blocked_reason, std::string_view cluster = {}) const;
  detail::ClusterObject in_cluster(const ObjectKey& key) const { return inspector_.in_cluster(key); }
  void collect(MetricSink& sink);

  const ControllerSpec& spec() const noexcept { return spec_; }
  detail::Runner& runner() noexcept { return runner_; }
  detail::EventFeed& feed() noexcept { return feed_; }
  detail::Inspector& inspector() noexcept { return inspector_; }
  std::vector<WatchHealth> watch_health() const { return feed_.health(spec_.options.name); }
  std::size_t objects() const;
  std::size_t queue_size() { return queue_.queue().size(); }
  LatencyHistogram latency() const { return queue_.latency(); }

 private:
  void notify() noexcept;
  void run_first_worker(const std::function<void(std::exception_ptr)>& on_end) noexcept;
  bool wait_for_sync();
  void say_what_is_missing(std::string& said) const;
  void run_worker(std::size_t number) noexcept;
  void run_keys(std::size_t number);
  void run_keys_on_fibers(std::size_t number);
  void run_key_on_fiber(detail::Fibers& fibers, std::size_t number) noexcept;
  void name_thread(const std::string& role) const;
  void fail(std::exception_ptr error) noexcept;

  void each_cluster(const std::function<void(const std::string&, Cache&)>& visit) const;
  bool ready() const { return feed_.all_synced() && sources_.all_synced(); }
  detail::KeySources::Calls source_calls();

  const ControllerSpec spec_;
  const std::shared_ptr<detail::RunLinks> links_;  // null without a tracer
  const ControllerEnvironment environment_;
  const Log log_;
  const std::size_t workers_;
  detail::GatedQueue queue_;
  detail::EventFeed feed_;
  detail::UnlistedKeys unlisted_;
  detail::FollowedClusters clusters_;
  detail::Runner runner_;
  detail::KeySources sources_;
  detail::Inspector inspector_;
  mutable Mutex mutex_;
  CondVar changed_;
  bool synced_ EVENKEEL_GUARDED_BY(mutex_) = false;
  bool stepping_ EVENKEEL_GUARDED_BY(mutex_) = false;  // step() was called
  bool stopping_ EVENKEEL_GUARDED_BY(mutex_) = false;
  std::exception_ptr error_ EVENKEEL_GUARDED_BY(mutex_);
  std::thread first_worker_;
};

Controller::Impl::Impl(ControllerSpec spec, ControllerEnvironment environment)
    : spec_(checked(std::move(spec))),
      links_(links_for(environment.client)),
      environment_(own_environment(std::move(environment), links_)),
      log_(environment_.log.with({{"controller", spec_.options.name}})),
      workers_(threads_of(spec_.options)),
      queue_(spec_.options, environment_.clock, environment_.schedule_stuck_check,
             own_writes(environment_.client)),
      feed_(spec_, environment_, queue_, log_,
            {.on_synced = [this] { notify(); }, .on_held = [this] { unlisted_.release(); }}),
      unlisted_(environment_, queue_, feed_),
      clusters_(spec_, environment_, queue_, feed_),
      runner_(spec_, environment_, queue_, log_,
              {.links = links_, .clusters = clusters_, .feed = feed_, .unlisted = unlisted_}),
      sources_(spec_, environment_, queue_, log_, source_calls()),
      inspector_(spec_, environment_, queue_, log_, clusters_, unlisted_) {}

Controller::Impl::~Impl() {
  stop();
  runner_.cancel();
  if (first_worker_.joinable()) first_worker_.join();
  clusters_.end();
  sources_.detach();
  feed_.detach();
}

void Controller::Impl::attach() {
  if (environment_.shards != nullptr)
    environment_.shards->on_gained([this](const std::vector<bool>& slots) { feed_.replay(slots); });
  if (clusters_.runs_at_home()) {
    for (const IndexSpec& spec : spec_.indexes) environment_.cache.index(spec.resource, spec.index);
    for (const WatchSpec& spec : spec_.watches) feed_.attach(spec);
  }
  sources_.subscribe();
  clusters_.begin();
}

void Controller::Impl::each_cluster(
    const std::function<void(const std::string& cluster, Cache& cache)>& visit) const {
  if (clusters_.runs_at_home()) visit({}, environment_.cache);
  for (const auto& followed : clusters_.all()) visit(followed->cluster->name(), followed->cluster->cache());
}

std::size_t Controller::Impl::objects() const {
  std::size_t count = 0;
  if (spec_.count) each_cluster([&](const std::string&, Cache& cache) { count += spec_.count(cache); });
  return count;
}

detail::KeySources::Calls Controller::Impl::source_calls() {
  return {.on_synced = [this] { notify(); },
          .on_failure = [this](std::exception_ptr error) { fail(std::move(error)); },
          .on_thread_start = [this](const std::string& role) { name_thread(role); },
          .each_cluster =
              [this](const auto& visit) {
                each_cluster([&](const std::string& cluster, Cache& cache) {
                  if (cluster.empty() || feed_.is_synced(cluster)) visit(cluster, cache);
                });
              }};
}

void Controller::Impl::enqueue(const ObjectKey& key, const KeyOptions& options) {
  if (key.name.empty())
    throw std::invalid_argument("controller " + spec_.options.name + ": the key has no name");
  sources_.add(AddCause::call, {}, key, options);
}

void Controller::Impl::notify() noexcept {
  MutexLock lock(mutex_);
  changed_.notify_all();
}

void Controller::Impl::start(std::function<void(std::exception_ptr)> on_end) {
  if (first_worker_.joinable()) {
    throw std::invalid_argument("controller " + spec_.options.name + " was started before");
  }
  first_worker_ = std::thread([this, on_end = std::move(on_end)] { run_first_worker(on_end); });
}

bool Controller::Impl::step() {
  {
    MutexLock lock(mutex_);
    if (stopping_) return false;
    if (!std::exchange(stepping_, true)) sources_.start_without_threads();
    if (!synced_ && !feed_.all_synced()) return false;
    synced_ = true;
  }
  sources_.fire_timers();
  feed_.map_due();
  const auto claim = queue_.queue().try_get();
  if (claim) runner_.run(*claim, 0);
  return claim.has_value();
}

void Controller::Impl::stop() noexcept {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  sources_.stop();
  queue_.stop();
}

void Controller::Impl::fail(std::exception_ptr error) noexcept {
  {
    MutexLock lock(mutex_);
    if (!error_) error_ = std::move(error);
  }
  stop();
}

void Controller::Impl::name_thread(const std::string& role) const {
  if (environment_.on_thread_start) environment_.on_thread_start(spec_.options.name + "/" + role);
}

// The first worker waits for the caches, starts the others, works, and reports the end of all.
void Controller::Impl::run_first_worker(const std::function<void(std::exception_ptr)>& on_end) noexcept {
  try {
    name_thread("0");
    queue_.begin_running(environment_.clock->now());
    sources_.start();
    feed_.start([this](const std::string& role) { name_thread(role); });
    if (wait_for_sync()) {
      log_.info("workers started",
                {{"kind", spec_.resource.kind}, {"workers", workers_}, {"queued", queue_.queue().size()}});
      std::vector<std::jthread> others;
      try {
        for (std::size_t number = 1; number < workers_; ++number)
          others.emplace_back([this, number] { run_worker(number); });
      } catch (...) {  // there may be no more threads; those that run are stopped before they are joined
        fail(std::current_exception());
      }
      run_worker(0);
    }
  } catch (...) {
    fail(std::current_exception());
  }
  sources_.join();
  std::exception_ptr error;
  {
    MutexLock lock(mutex_);
    error = error_;
  }
  on_end(std::move(error));
}

bool Controller::Impl::wait_for_sync() {
  const Duration chosen = spec_.options.sync_timeout.value_or(default_sync_timeout);
  const Duration timeout = chosen > Duration::zero() ? chosen : Duration::max();
  TimePoint deadline = deadline_after(environment_.clock->now(), timeout);
  std::string said;
  MutexLock lock(mutex_);
  while (!stopping_) {
    if (ready()) {
      synced_ = true;
      return true;
    }
    if (environment_.clock->now() < deadline) {
      environment_.clock->wait_until(changed_, lock, deadline);
      continue;
    }
    lock.unlock();
    say_what_is_missing(said);
    deadline = deadline_after(environment_.clock->now(), timeout);
    lock.lock();
  }
  return false;
}

// Logs once for each set of kinds and problems; `said` is the last one.
void Controller::Impl::say_what_is_missing(std::string& said) const {
  const TimePoint now = environment_.clock->now();
  std::string missing;
  std::string what;
  for (const WatchHealth& watch : watch_health()) {
    if (watch.synced) continue;
    missing += (missing.empty() ? "" : "; ") + watch.describe(now);
    what.append(watch.resource.plural).append(watch_problem_name(watch.problem));
  }
  if (const std::string sources = sources_.waiting_for(); !sources.empty()) {
    missing += (missing.empty() ? "" : "; ") + sources;
    what += sources;
  }
  if (spec_.options.on_sync_timeout == OnSyncTimeout::fail)
    throw Error("controller " + spec_.options.name + ": not synced in time: " + missing);
  if (what == std::exchange(said, what)) return;
  log_.error("still waiting for the first lists; no object is reconciled before", {{"missing", missing}});
}

void Controller::Impl::run_worker(std::size_t number) noexcept {
  try {
    if (number > 0) name_thread(std::to_string(number));
    if (spec_.options.in_flight) {
      run_keys_on_fibers(number);
    } else {
      run_keys(number);
    }
  } catch (...) {
    fail(std::current_exception());
  }
}

void Controller::Impl::run_keys(std::size_t number) {
  RequestQueue& queue = queue_.queue();
  for (auto claim = queue.get(); claim; claim = queue.get(std::move(*claim))) runner_.run(*claim, number);
}

void Controller::Impl::run_keys_on_fibers(std::size_t number) {
  const std::size_t in_flight = *spec_.options.in_flight;
  const auto on_no_room = [this, number](std::size_t limit) {
    log_.error("no memory, or no mapping (vm.max_map_count), for another fiber",
               {{"worker", number}, {"in_flight_from_now_on", limit}});
  };
  detail::Fibers fibers({.limit = in_flight / workers_ + (number < in_flight % workers_ ? 1 : 0),
                         .stack_bytes = spec_.options.fiber_stack_bytes,
                         .on_no_room = on_no_room},
                        [this, number](detail::Fibers& own) { run_key_on_fiber(own, number); });
  fibers.run();
}

// The wait for the key suspends the fiber, as do those of the run.
void Controller::Impl::run_key_on_fiber(detail::Fibers& fibers, std::size_t number) noexcept {
  try {
    const auto claim = queue_.queue().get();
    if (!claim) return;
    fibers.taken();
    runner_.run(*claim, number);
  } catch (...) {
    fail(std::current_exception());
  }
}

bool Controller::Impl::is_synced() const {
  MutexLock lock(mutex_);
  return synced_;
}

detail::ControllerMoment Controller::Impl::moment(std::string_view blocked_reason,
                                                  std::string_view cluster) const {
  detail::ControllerMoment moment;
  if (spec_.options.runs_on == RunsOn::leader) moment.blocked_reason = blocked_reason;
  const TimePoint now = environment_.clock->now();
  for (const WatchHealth& watch : feed_.health(spec_.options.name, cluster)) {
    const std::string name = watch.name();
    std::string problem = watch.describe(now);
    problem.erase(0, problem == name ? name.size() : name.size() + 2);
    moment.watches.push_back({.watch = name, .synced = watch.synced, .problem = std::move(problem)});
  }
  const bool synced = cluster.empty() || feed_.is_synced(cluster);
  MutexLock lock(mutex_);
  moment.synced = synced_ && synced;
  moment.stopping = stopping_;
  return moment;
}

std::optional<TimePoint> Controller::Impl::next_due() {
  const auto key = queue_.queue().next_due();
  std::optional<TimePoint> next;
  for (const auto& due : {key, sources_.next_due(), feed_.next_due()}) {
    if (due) next = next ? std::min(*next, *due) : *due;
  }
  return next;
}

void Controller::Impl::collect(MetricSink& sink) {
  runner_.meter().collect(sink, spec_.options.name, spec_.options.in_flight.value_or(workers_),
                          runner_.active());
  sink.counter("evenkeel_controller_applies_skipped_total",
               "Applies that sent nothing, as nothing had changed", {{"controller", spec_.options.name}},
               static_cast<double>(runner_.applies_skipped()));
  queue_.queue().collect(sink);
  inspector_.collect(sink);
}

// ---- The public class

Controller::Controller(ControllerSpec spec, ControllerEnvironment environment)
    : impl_(std::make_unique<Impl>(std::move(spec), std::move(environment))) {}
Controller::~Controller() = default;

const std::string& Controller::name() const noexcept {
  return impl_->spec().options.name;
}
const ResourceId& Controller::resource() const noexcept {
  return impl_->spec().resource;
}
void Controller::attach() {
  impl_->attach();
}
void Controller::start(std::function<void(std::exception_ptr)> on_end) {
  impl_->start(std::move(on_end));
}
bool Controller::step() {
  return impl_->step();
}
std::optional<TimePoint> Controller::next_due() {
  return impl_->next_due();
}
void Controller::stop() noexcept {
  impl_->stop();
}
void Controller::cancel() noexcept {
  impl_->runner().cancel();
}
void Controller::enqueue(const ObjectKey& key, KeyOptions options) {
  impl_->enqueue(key, options);
}
WatchId Controller::watch(WatchSpec spec) {
  return impl_->feed().attach(std::move(spec));
}
void Controller::unwatch(WatchId id) {
  impl_->feed().remove(id);
}
bool Controller::is_synced() const {
  return impl_->is_synced();
}
ReconcileCounts Controller::counts() const {
  return impl_->runner().meter().counts();
}
void Controller::collect(MetricSink& sink) const {
  impl_->collect(sink);
}
LatencyHistogram Controller::latency() const {
  return impl_->latency();
}
std::vector<WatchHealth> Controller::watch_health() const {
  return impl_->watch_health();
}
Explanation Controller::explain(const ObjectKey& key, std::string_view blocked_reason) {
  const detail::ClusterObject object = impl_->in_cluster(key);
  return impl_->inspector().explain(object, impl_->moment(blocked_reason, object.cluster));
}
ControllerSummary Controller::summary(std::size_t most, std::string_view blocked_reason) {
  return impl_->inspector().summary(most, impl_->moment(blocked_reason));
}
std::optional<TimePoint> Controller::look_for_stuck() {
  return impl_->inspector().look_for_stuck();
}
std::string Controller::problem() {
  return impl_->inspector().problem(impl_->moment({}));
}
std::size_t Controller::objects() const {
  return impl_->objects();
}
std::size_t Controller::queue_size() {
  return impl_->queue_size();
}

}  // namespace v0
}  // namespace evenkeel
