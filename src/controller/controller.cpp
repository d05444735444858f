// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <random>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <unordered_map>
#include <utility>

#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/error.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/controller/builder.hpp>
#include <evenkeel/controller/controller.hpp>
#include <evenkeel/workqueue/request_queue.hpp>

#include "controller/backoff_core.hpp"
#include "controller/report.hpp"

namespace evenkeel::inline v0 {
namespace {

constexpr Duration default_sync_timeout = std::chrono::minutes{2};

// Sixteen hexadecimal digits that no other run of this or another process is likely to have.
class RunIds {
 public:
  explicit RunIds(std::optional<std::uint64_t> seed)
      : state_(seed ? *seed : (std::uint64_t{std::random_device{}()} << 32) | std::random_device{}()) {}
  std::string next() {
    // splitmix64
    std::uint64_t z = state_.fetch_add(0x9e3779b97f4a7c15ULL, std::memory_order_relaxed);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    z ^= z >> 31;
    std::string text(16, '0');
    for (std::size_t i = 16; i-- > 0; z >>= 4) text[i] = "0123456789abcdef"[z & 15];
    return text;
  }

 private:
  std::atomic<std::uint64_t> state_;
};

}  // namespace

class Controller::Impl {
 public:
  Impl(ControllerSpec spec, ControllerEnvironment environment);
  ~Impl();

  void attach();
  void start(std::function<void(std::exception_ptr)> on_end);
  bool step();
  void stop() noexcept;
  void cancel() noexcept { cancel_.request_stop(); }
  void enqueue(const ObjectKey& key) { queue_.add(environment_.keys.intern(key)); }
  bool is_synced() const;
  ReconcileCounts counts() const;
  LatencyHistogram latency() const;
  std::size_t objects() const { return spec_.count ? spec_.count(environment_.cache) : 0; }

  const ControllerSpec spec_;
  RequestQueue queue_;

 private:
  // Turns the events of one watch into keys. The cache may hold it longer than the controller lives.
  class Watch final : public EventHandler {
   public:
    Watch(Impl& controller, const WatchSpec& spec) : controller_(&controller), spec_(spec) {}
    void on_event(const ObjectEvent& event) noexcept override {
      MutexLock lock(mutex_);
      if (controller_ != nullptr) controller_->take(spec_, event);
    }
    void on_synced() noexcept override {
      MutexLock lock(mutex_);
      synced_.store(true);
      if (controller_ != nullptr) controller_->notify();
    }
    void detach() noexcept {
      MutexLock lock(mutex_);
      controller_ = nullptr;
    }
    bool synced() const { return synced_.load(); }
    void set_informer(const Informer* informer) { informer_ = informer; }
    /// "pods (v1)", and why they are not listed, as far as that is known.
    std::string describe() const {
      std::string text = spec_.resource.plural + " (" + spec_.resource.api_version() + ")";
      if (informer_ == nullptr) return text;
      const InformerHealth health = informer_->health();
      return health.last_error.empty() ? text : text + ": " + health.last_error;
    }

   private:
    Mutex mutex_;
    Impl* controller_ EVENKEEL_GUARDED_BY(mutex_);
    const WatchSpec& spec_;               // the controller's; used while attached only
    const Informer* informer_ = nullptr;  // set before the controller starts
    std::atomic<bool> synced_ = false;
  };

  void take(const WatchSpec& watch, const ObjectEvent& event) noexcept;
  bool passes(const WatchSpec& watch, const ObjectEvent& event) const;
  void add(const RequestKey& key, Priority priority, TimePoint arrival);
  bool gate_decides(const RequestKey& key, const WatchSpec& watch, const ObjectEvent& event) const;
  void add_minor(const RequestKey& key, Priority priority, TimePoint arrival);
  void notify() noexcept;
  bool all_synced() const;
  std::string waiting_for() const;

  void run_first_worker(const std::function<void(std::exception_ptr)>& on_end) noexcept;
  bool wait_for_sync();
  void run_worker(std::size_t number) noexcept;
  void name_thread(const std::string& role) const;
  void reconcile(const RequestQueue::Claim& claim);
  ReconcileOutcome run_once(const Request& request, std::uint64_t attempt, Context& context,
                            std::exception_ptr& panic);
  void settle(const RequestQueue::Claim& claim, std::uint64_t attempt, const Log& log,
              const ReconcileOutcome& outcome);
  Duration back_off(const RequestKey& key, Priority priority);
  void end_without_retry(const RequestQueue::Claim& claim);
  void fail(std::exception_ptr error) noexcept;

  const ControllerEnvironment environment_;
  const std::size_t workers_;
  const bool gated_;
  const Log log_;
  RunIds run_ids_;
  std::vector<std::shared_ptr<Watch>> watches_;  // set by attach()
  std::stop_source cancel_;

  mutable Mutex mutex_;
  CondVar changed_;
  bool synced_ EVENKEEL_GUARDED_BY(mutex_) = false;
  bool stopping_ EVENKEEL_GUARDED_BY(mutex_) = false;
  std::exception_ptr error_ EVENKEEL_GUARDED_BY(mutex_);
  ReconcileCounts counts_ EVENKEEL_GUARDED_BY(mutex_);
  LatencyHistogram latency_ EVENKEEL_GUARDED_BY(mutex_);
  // When the first event arrived that a key's next run answers.
  std::unordered_map<RequestKey, TimePoint> arrivals_ EVENKEEL_GUARDED_BY(mutex_);
  detail::BackoffCore backoff_ EVENKEEL_GUARDED_BY(mutex_);  // unused without gate
  std::thread first_worker_;
};

namespace {

RequestQueueOptions queue_options(const ControllerSpec& spec, const ControllerEnvironment& environment) {
  RequestQueueOptions options{.name = spec.options.name,
                              .debounce = spec.options.debounce,
                              .min_interval = spec.options.min_interval,
                              .clock = environment.clock};
  if (spec.options.limiter) options.limiter = spec.options.limiter();
  if (spec.options.store) options.store = spec.options.store();
  return options;
}

}  // namespace

Controller::Impl::Impl(ControllerSpec spec, ControllerEnvironment environment)
    : spec_(std::move(spec)),
      queue_(queue_options(spec_, environment)),
      environment_(std::move(environment)),
      workers_(spec_.options.workers.value_or(1)),
      gated_(spec_.options.gate.value_or(EventGate::on) == EventGate::on),
      log_(environment_.log.with({{"controller", spec_.options.name}})),
      run_ids_(environment_.seed) {
  if (spec_.options.name.empty()) throw std::invalid_argument("Controller: a name is needed");
  if (!spec_.reconcile)
    throw std::invalid_argument("controller " + spec_.options.name + ": a reconciler is needed");
  if (spec_.watches.empty())
    throw std::invalid_argument("controller " + spec_.options.name + " watches nothing");
  if (workers_ == 0)
    throw std::invalid_argument("controller " + spec_.options.name + ": workers must be at least 1");
}

Controller::Impl::~Impl() {
  stop();
  cancel();
  if (first_worker_.joinable()) first_worker_.join();
  for (const auto& watch : watches_) watch->detach();
}

void Controller::Impl::attach() {
  for (const WatchSpec& spec : spec_.watches) {
    watches_.push_back(std::make_shared<Watch>(*this, spec));
    watches_.back()->set_informer(spec.attach(environment_.cache, watches_.back()));
  }
}

// ---- Events

void Controller::Impl::take(const WatchSpec& watch, const ObjectEvent& event) noexcept {
  try {
    if (!passes(watch, event)) return;
    const Priority priority = event.initial || event.resync ? Lane::slow : Lane::fast;
    const TimePoint now = environment_.clock->now();
    for (const ObjectKey& key : keys_of(event, watch.mapping)) {
      const RequestKey request = environment_.keys.intern(key);
      if (gate_decides(request, watch, event)) {
        add_minor(request, priority, now);
      } else {
        add(request, priority, now);
      }
    }
  } catch (const std::exception& error) {
    log_.error(
        "an event could not be mapped to keys and is lost",
        {{"kind", watch.resource.kind}, {"object", event.object->key().str()}, {"error", error.what()}});
  } catch (...) {
    log_.error("an event could not be mapped to keys and is lost",
               {{"kind", watch.resource.kind}, {"object", event.object->key().str()}});
  }
}

void Controller::Impl::add(const RequestKey& key, Priority priority, TimePoint arrival) {
  {
    MutexLock lock(mutex_);
    if (stopping_) return;
    arrivals_.try_emplace(key, arrival);
  }
  queue_.add(key, priority);
}

// Asked in this order because comparing two states of an object is the dear part.
bool Controller::Impl::gate_decides(const RequestKey& key, const WatchSpec& watch,
                                    const ObjectEvent& event) const {
  if (!gated_ || !watch.primary) return false;
  {
    MutexLock lock(mutex_);
    if (!backoff_.concerns(key)) return false;
  }
  return detail::is_minor(event);
}

// The queue is asked under the lock, so that the arrival of an event that is left out is never seen.
void Controller::Impl::add_minor(const RequestKey& key, Priority priority, TimePoint arrival) {
  MutexLock lock(mutex_);
  if (stopping_) return;
  const detail::BackoffCore::Verdict verdict = backoff_.minor_event(key, priority, arrival);
  if (verdict == detail::BackoffCore::Verdict::held) return;
  const bool first = arrivals_.try_emplace(key, arrival).second;
  if (verdict == detail::BackoffCore::Verdict::add) {
    queue_.add(key, priority);
  } else if (!queue_.add_unless_waiting(key, priority) && first) {
    arrivals_.erase(key);
  }
}

bool Controller::Impl::passes(const WatchSpec& watch, const ObjectEvent& event) const {
  try {
    return watch.when(event);
  } catch (const std::exception& error) {
    log_.error(
        "a predicate failed; the event goes through",
        {{"kind", watch.resource.kind}, {"object", event.object->key().str()}, {"error", error.what()}});
    return true;
  }
}

void Controller::Impl::notify() noexcept {
  MutexLock lock(mutex_);
  changed_.notify_all();
}

// ---- Life

void Controller::Impl::start(std::function<void(std::exception_ptr)> on_end) {
  first_worker_ = std::thread([this, on_end = std::move(on_end)] { run_first_worker(on_end); });
}

bool Controller::Impl::step() {
  {
    MutexLock lock(mutex_);
    if (stopping_ || !all_synced()) return false;
    synced_ = true;
  }
  const auto claim = queue_.try_get();
  if (claim) reconcile(*claim);
  return claim.has_value();
}

void Controller::Impl::stop() noexcept {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  queue_.shut_down_now();
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

// The first worker waits for the caches, starts the others, works, and tells when all have ended.
void Controller::Impl::run_first_worker(const std::function<void(std::exception_ptr)>& on_end) noexcept {
  try {
    name_thread("0");
    if (wait_for_sync()) {
      log_.info("workers started",
                {{"kind", spec_.resource.kind}, {"workers", workers_}, {"queued", queue_.size()}});
      std::vector<std::jthread> others;
      for (std::size_t number = 1; number < workers_; ++number) {
        others.emplace_back([this, number] { run_worker(number); });
      }
      run_worker(0);
    }
  } catch (...) {
    fail(std::current_exception());
  }
  std::exception_ptr error;
  {
    MutexLock lock(mutex_);
    error = error_;
  }
  on_end(std::move(error));
}

bool Controller::Impl::wait_for_sync() {
  const Duration timeout = spec_.options.sync_timeout.value_or(default_sync_timeout);
  TimePoint deadline = deadline_after(environment_.clock->now(), timeout);
  MutexLock lock(mutex_);
  while (!stopping_) {
    if (all_synced()) {
      synced_ = true;
      return true;
    }
    if (environment_.clock->now() < deadline) {
      environment_.clock->wait_until(changed_, lock, deadline);
      continue;
    }
    lock.unlock();
    const std::string missing = waiting_for();
    if (spec_.options.on_sync_timeout == OnSyncTimeout::fail) {
      throw Error("controller " + spec_.options.name + ": not synced in time: " + missing);
    }
    log_.error("still waiting for the first lists; no object is reconciled before", {{"missing", missing}});
    deadline = deadline_after(environment_.clock->now(), timeout);
    lock.lock();
  }
  return false;
}

bool Controller::Impl::all_synced() const {
  return std::all_of(watches_.begin(), watches_.end(), [](const auto& watch) { return watch->synced(); });
}

std::string Controller::Impl::waiting_for() const {
  std::string missing;
  for (const auto& watch : watches_) {
    if (watch->synced()) continue;
    if (!missing.empty()) missing += "; ";
    missing += watch->describe();
  }
  return missing;
}

void Controller::Impl::run_worker(std::size_t number) noexcept {
  try {
    if (number > 0) name_thread(std::to_string(number));
    for (auto claim = queue_.get(); claim; claim = queue_.get(std::move(*claim))) reconcile(*claim);
  } catch (...) {
    fail(std::current_exception());
  }
}

// ---- One run

void Controller::Impl::reconcile(const RequestQueue::Claim& claim) {
  const Request& request = claim.key();
  const std::uint64_t attempt = queue_.retries(request) + 1;
  {
    MutexLock lock(mutex_);
    if (const auto arrival = arrivals_.extract(request)) {
      latency_.record(environment_.clock->now() - arrival.mapped());
    }
    if (gated_) backoff_.begin(request);
  }
  Context context({.client = environment_.client,
                   .cache = &environment_.cache,
                   .request = request,
                   .log = log_,
                   .field_owner = spec_.options.field_owner,
                   .reconcile_id = run_ids_.next(),
                   .attempt = attempt,
                   .term = environment_.term ? std::optional(environment_.term()) : std::nullopt,
                   .stop = cancel_.get_token(),
                   .timeout = spec_.options.reconcile_timeout,
                   .clock = environment_.clock});
  std::exception_ptr panic;
  const ReconcileOutcome outcome = run_once(request, attempt, context, panic);
  if (panic && spec_.options.on_panic == OnPanic::fail) {
    {
      MutexLock lock(mutex_);
      counts_.add(outcome);
    }
    context.log().error("reconcile failed; the controller ends, as it was told to",
                        {{"error", outcome.message}});
    std::rethrow_exception(panic);
  }
  settle(claim, attempt, context.log(), outcome);
}

ReconcileOutcome Controller::Impl::run_once(const Request&, std::uint64_t, Context& context,
                                            std::exception_ptr& panic) {
  ReconcileOutcome outcome;
  try {
    outcome = outcome_of(spec_.reconcile(context));
  } catch (...) {
    outcome = outcome_of(std::current_exception(), cancel_.stop_requested());
    if (outcome.panic) panic = std::current_exception();
  }
  outcome.timed_out =
      context.deadline() && environment_.clock->now() >= *context.deadline() && !cancel_.stop_requested();
  return outcome;
}

void Controller::Impl::settle(const RequestQueue::Claim& claim, std::uint64_t attempt, const Log& log,
                              const ReconcileOutcome& outcome) {
  const QueueCalls calls = queue_calls(outcome);
  const Priority priority = outcome.priority.value_or(claim.priority());
  Duration next = calls.delay;
  if (calls.forget) queue_.forget(claim.key());
  if (calls.add == QueueCalls::Add::after) queue_.add_after(claim.key(), calls.delay, priority);
  if (calls.add == QueueCalls::Add::rate_limited) {
    next = back_off(claim.key(), priority);
  } else {
    end_without_retry(claim);
  }
  {
    MutexLock lock(mutex_);
    counts_.add(outcome);
  }
  detail::report(log, outcome, attempt, next);
}

// Has the key wait for its retry, and returns how long. The queue is told before the gate: whoever meets a
// key that does not run any more meets one that waits. The time is read first, so that the gate's deadline is
// never later than the queue's: the retry must not look early.
Duration Controller::Impl::back_off(const RequestKey& key, Priority priority) {
  if (!gated_) return queue_.add_rate_limited(key, priority);
  const TimePoint now = environment_.clock->now();
  std::optional<TimePoint> standing;
  {
    MutexLock lock(mutex_);
    standing = backoff_.standing_deadline(key, now);
  }
  Duration delay;
  if (standing) {
    delay = *standing - now;
    queue_.add_after(key, delay, priority);
  } else {
    delay = queue_.add_rate_limited(key, priority);
  }
  MutexLock lock(mutex_);
  backoff_.end_waiting(key, deadline_after(now, delay));
  return delay;
}

// What the gate held during the run must be seen by another one.
void Controller::Impl::end_without_retry(const RequestQueue::Claim& claim) {
  if (!gated_) return;
  std::optional<detail::BackoffCore::Held> held;
  {
    MutexLock lock(mutex_);
    held = backoff_.end(claim.key());
  }
  if (held) add(claim.key(), held->priority, held->since);
}

bool Controller::Impl::is_synced() const {
  MutexLock lock(mutex_);
  return synced_;
}

ReconcileCounts Controller::Impl::counts() const {
  MutexLock lock(mutex_);
  return counts_;
}

LatencyHistogram Controller::Impl::latency() const {
  MutexLock lock(mutex_);
  return latency_;
}

// ---- The shell that users see

Controller::Controller(ControllerSpec spec, ControllerEnvironment environment)
    : impl_(std::make_unique<Impl>(std::move(spec), std::move(environment))) {}
Controller::~Controller() = default;

const std::string& Controller::name() const noexcept {
  return impl_->spec_.options.name;
}
const ResourceId& Controller::resource() const noexcept {
  return impl_->spec_.resource;
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
  return impl_->queue_.next_due();
}
void Controller::stop() noexcept {
  impl_->stop();
}
void Controller::cancel() noexcept {
  impl_->cancel();
}
void Controller::enqueue(const ObjectKey& key) {
  impl_->enqueue(key);
}
bool Controller::is_synced() const {
  return impl_->is_synced();
}
ReconcileCounts Controller::counts() const {
  return impl_->counts();
}
LatencyHistogram Controller::latency() const {
  return impl_->latency();
}
std::size_t Controller::objects() const {
  return impl_->objects();
}
std::size_t Controller::queue_size() {
  return impl_->queue_.size();
}

namespace detail {

bool is_custom(const ResourceInfo& resource) {
  return resource.group.find('.') != std::string_view::npos && !resource.group.ends_with(".k8s.io");
}

std::string default_name(std::string_view kind) {
  std::string name(kind);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

}  // namespace detail
}  // namespace evenkeel::inline v0
