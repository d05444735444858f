// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <cerrno>
#include <exception>
#include <stdexcept>
#include <sys/random.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <evenkeel/api/kinds/coordination.hpp>
#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/duration_text.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/stop.hpp>
#include <evenkeel/client/resource_client.hpp>
#include <evenkeel/client/watch.hpp>
#include <evenkeel/election/elector.hpp>

#include "base/caught.hpp"
#include "client/request/bound_limits.hpp"
#include "election/election_core.hpp"
#include "http/event_loop_state.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

using detail::ElectionCore;
using detail::ElectionCoreOptions;

std::uint64_t random_number() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number)) {
    throw Error("leader election: cannot generate a random identity");
  }
  return number;
}

// Two instances on one host, or on two hosts with the same name, must not mistake each other's Lease for
// their own.
std::string own_identity() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  std::string identity = host.data();
  identity += '_';
  for (int part = 0; part < 2; ++part) {
    const std::uint64_t number = random_number();
    for (unsigned shift = 0; shift < 64; shift += 4) identity += "0123456789abcdef"[number >> shift & 0xfU];
  }
  return identity;
}

void check(const ElectionOptions& options) {
  const auto refuse = [](const std::string& problem) {
    throw std::invalid_argument("ElectionOptions: " + problem);
  };
  if (options.name.empty()) refuse("name must not be empty");
  if (options.retry_period <= Duration::zero()) refuse("retry_period must be positive");
  if (options.renew_deadline <= options.retry_period * 6 / 5) {
    refuse("renew_deadline must be longer than 1.2 times retry_period");
  }
  if (options.lease_duration <= options.renew_deadline) {
    refuse("lease_duration must be longer than renew_deadline");
  }
  if (options.lease_duration < std::chrono::seconds{1}) refuse("lease_duration must be at least 1 s");
}

std::string_view span_name(ElectionCore::Ask ask) {
  return ask == ElectionCore::Ask::get ? "read lease" : "write lease";
}

bool is_cancelled(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Cancelled&) {
    return true;
  } catch (...) {
    return false;
  }
}

/// The end of the term, shared with guarded clients and their requests. It holds no client, so that any
/// thread may release the last reference.
class TermGuard final : public WriteGuard {
 public:
  TermGuard(std::shared_ptr<const Clock> clock, std::string identity, std::string name)
      : clock_(std::move(clock)), identity_(std::move(identity)), name_(std::move(name)) {}

  void check() const override {
    if (!is_valid()) throw NotLeader(identity_ + " is not the leader: " + name_);
  }
  TimePoint valid_until() const noexcept override { return valid_until_.load(std::memory_order_acquire); }
  bool is_valid() const noexcept { return clock_->now() < valid_until(); }
  void set(TimePoint valid_until) { valid_until_.store(valid_until, std::memory_order_release); }

 private:
  const std::shared_ptr<const Clock> clock_;
  const std::string identity_;
  const std::string name_;
  std::atomic<TimePoint> valid_until_ = TimePoint::min();
};

}  // namespace

class Elector::State final : public std::enable_shared_from_this<State> {
 public:
  State(Client client, ElectionOptions options)
      : client_(detail::unbounded(client)),
        options_(std::move(options)),
        clock_(client_.clock()),
        log_(client_.log().with({{"lease", options_.namespace_ + "/" + options_.name}})),
        guard_(std::make_shared<TermGuard>(clock_, options_.identity, options_.name)) {}

  ElectionEnd run(const std::stop_token& stop, const std::function<void(const Leadership&)>& lead);
  void start(ElectionListener listener);
  void resign();
  void abandon();
  const std::shared_ptr<TermGuard>& guard() const noexcept { return guard_; }
  const std::string& identity() const noexcept { return options_.identity; }
  std::string holder() const;
  std::string problem(Duration tolerance) const;

 private:
  class Candidacy;
  using CandidacyPtr = std::shared_ptr<Candidacy>;
  using Core = ElectionCore;

  ElectionCoreOptions core_options() const;
  CandidacyPtr begin(std::shared_ptr<detail::JobRunner> runner, ElectionListener listener);
  void step(Candidacy& candidacy) noexcept;
  void watch(const CandidacyPtr& candidacy);
  void on_watch_event(Candidacy& candidacy, const detail::RawWatchEvent& event) noexcept;
  void on_watch_end(Candidacy& candidacy, const std::exception_ptr& error);
  void send(Candidacy& candidacy, Core::Request request);
  void on_response(Candidacy& candidacy, std::uint64_t id, Outcome<ResourceClient::Object> outcome);
  void on_error(Candidacy& candidacy, std::uint64_t id, const std::exception_ptr& error)
      EVENKEEL_REQUIRES(mutex_);
  // The lock is released around callbacks; returns true if it was.
  bool publish(Candidacy& candidacy, MutexLock& lock) EVENKEEL_NO_THREAD_SAFETY_ANALYSIS;
  void settle(Candidacy& candidacy, MutexLock& lock) EVENKEEL_NO_THREAD_SAFETY_ANALYSIS;
  void note_problem(const std::string& problem) EVENKEEL_REQUIRES(mutex_);
  bool wait_for_term(const CandidacyPtr& candidacy, const std::stop_token& stop);
  void give_up(Candidacy& candidacy) EVENKEEL_REQUIRES(mutex_);
  void log_end(const Candidacy& candidacy) const EVENKEEL_REQUIRES(mutex_);
  void forget_candidacy(Candidacy& candidacy);

  const Client client_;
  const ElectionOptions options_;
  const std::shared_ptr<const Clock> clock_;
  const Log log_;
  const std::shared_ptr<TermGuard> guard_;
  mutable Mutex mutex_;
  CondVar changed_;  // run() has a change to see
  CandidacyPtr candidacy_ EVENKEEL_GUARDED_BY(mutex_);
  std::string holder_ EVENKEEL_GUARDED_BY(mutex_);
  std::string last_problem_ EVENKEEL_GUARDED_BY(mutex_);
  std::optional<TimePoint> lost_at_ EVENKEEL_GUARDED_BY(mutex_);  // set until lead() returns
};

/// The running candidacy: a job that performs the core's steps when they are due. Responses after its end
/// find another one, or none. All members but `runner` and `listener` are guarded by the elector's mutex.
class Elector::State::Candidacy final : public detail::Job, public std::enable_shared_from_this<Candidacy> {
 public:
  Candidacy(std::shared_ptr<State> elector_, std::shared_ptr<detail::JobRunner> runner_,
            ElectionListener listener_)
      : elector(std::move(elector_)),
        runner(std::move(runner_)),
        listener(std::move(listener_)),
        core(elector->core_options()) {}

  void run() noexcept override {
    const std::shared_ptr<State> keep = elector;  // a callback may abandon the candidacy
    keep->step(*this);
  }
  /// Makes the core's next step due. Any thread.
  void wake() { runner->wake(*this); }
  bool is_listened_to() const { return listener.on_end != nullptr; }

  std::shared_ptr<State> elector;  // null once abandoned; only then it changes
  const std::shared_ptr<detail::JobRunner> runner;
  ElectionListener listener;  // empty for run()
  ElectionCore core;
  std::stop_source lost;
  std::optional<std::uint64_t> term;  // once elected, also after leadership was lost
  std::vector<std::weak_ptr<http::Call>> calls;
  std::size_t on_their_way = 0;  // requests that have not completed
  std::shared_ptr<WatchCall> lease_watch;
  bool watching = false;   // the watch has not ended
  bool cancelled = false;  // its calls are, because the core has ended
  bool settled = false;    // the core, its calls and the watch have ended
  bool abandoned = false;  // its listener is not to be called
  std::string problem;     // the core's problem, as it was logged
};

ElectionCoreOptions Elector::State::core_options() const {
  return {.namespace_ = options_.namespace_,
          .name = options_.name,
          .identity = options_.identity,
          .labels = options_.labels,
          .lease_duration = options_.lease_duration,
          .renew_deadline = options_.renew_deadline,
          .retry_period = options_.retry_period,
          .release = options_.release_on_stop,
          .seed = options_.seed ? *options_.seed : random_number()};
}

std::string Elector::State::holder() const {
  MutexLock lock(mutex_);
  return holder_;
}

std::string Elector::State::problem(Duration tolerance) const {
  MutexLock lock(mutex_);
  if (!lost_at_) return {};
  const Duration since = clock_->now() - *lost_at_;
  if (since <= tolerance) return {};
  return "leadership was lost " + format_duration(since) + " ago, and its work has not ended";
}

// ---- A candidacy

Elector::State::CandidacyPtr Elector::State::begin(std::shared_ptr<detail::JobRunner> runner,
                                                   ElectionListener listener) {
  const auto candidacy =
      std::make_shared<Candidacy>(shared_from_this(), std::move(runner), std::move(listener));
  {
    MutexLock lock(mutex_);
    if (candidacy_) throw std::invalid_argument("Elector: it is running already");
    candidacy_ = candidacy;
    lost_at_.reset();
  }
  log_.info("waiting to become leader", {{"identity", options_.identity}});
  try {
    watch(candidacy);
  } catch (...) {  // no thread could be started
    forget_candidacy(*candidacy);
    throw;
  }
  candidacy->wake();
  return candidacy;
}

ElectionEnd Elector::State::run(const std::stop_token& stop,
                                const std::function<void(const Leadership&)>& lead) {
  // The thread of the candidacy, whose steps no callback of another client delays.
  const auto runner = std::make_shared<detail::JobRunner>(clock_, 1);
  const CandidacyPtr candidacy = begin(runner, {});
  bool led = false;
  std::exception_ptr error;
  if (wait_for_term(candidacy, stop)) {
    led = true;
    try {
      lead({.term = *candidacy->term, .lost = candidacy->lost.get_token()});
    } catch (...) {
      error = std::current_exception();
    }
  }
  const bool lost = candidacy->lost.stop_requested();
  {
    MutexLock lock(mutex_);
    give_up(*candidacy);
    candidacy->wake();
    while (!candidacy->settled) clock_->wait(changed_, lock);
    lost_at_.reset();  // set if the loss was seen after `lead` had returned
    if (led && !lost) log_end(*candidacy);
  }
  forget_candidacy(*candidacy);
  if (error) std::rethrow_exception(error);
  if (led && lost) return ElectionEnd::lost;
  return stop.stop_requested() ? ElectionEnd::stopped : ElectionEnd::finished;
}

void Elector::State::start(ElectionListener listener) {
  if (!client_.event_loop()) throw std::invalid_argument("Elector::start: the client has no event loop");
  if (!listener.on_leading || !listener.on_end)
    throw std::invalid_argument("Elector::start: the listener lacks a function");
  begin(client_.event_loop()->state()->runner(), std::move(listener));
}

void Elector::State::resign() {
  MutexLock lock(mutex_);
  if (!candidacy_ || !candidacy_->is_listened_to()) return;
  give_up(*candidacy_);
  candidacy_->wake();
}

// Ends a started candidacy at once: nothing is released, and its listener is not called.
void Elector::State::abandon() {
  CandidacyPtr candidacy;
  {
    MutexLock lock(mutex_);
    if (!candidacy_ || !candidacy_->is_listened_to()) return;
    candidacy = candidacy_;
    candidacy->abandoned = true;
    give_up(*candidacy);
  }
  std::vector<std::weak_ptr<http::Call>> calls;
  std::shared_ptr<WatchCall> lease_watch;
  {
    MutexLock lock(mutex_);
    calls = std::move(candidacy->calls);
    lease_watch = candidacy->lease_watch;
  }
  candidacy->runner->forget(*candidacy);
  for (const auto& call : calls) {
    if (const auto running = call.lock()) running->cancel();
  }
  if (lease_watch) lease_watch->cancel();
  forget_candidacy(*candidacy);
  client_.event_loop()->post([candidacy] {});  // the runner may be in its run()
  // Otherwise its calls would keep the client alive, and with it themselves, if nothing polls again.
  candidacy->elector.reset();
}

void Elector::State::give_up(Candidacy& candidacy) {
  lost_at_.reset();
  candidacy.core.resign(clock_->now());
  // After this, only the release is written.
  guard_->set(TimePoint::min());
}

void Elector::State::log_end(const Candidacy& candidacy) const {
  const bool released = candidacy.core.end() == Core::End::released;
  log_.info(released ? "released leadership" : "gave up leadership", {{"term", *candidacy.term}});
}

void Elector::State::forget_candidacy(Candidacy& candidacy) {
  candidacy.runner->forget(candidacy);
  MutexLock lock(mutex_);
  candidacy_.reset();
  holder_.clear();
}

bool Elector::State::wait_for_term(const CandidacyPtr& candidacy, const std::stop_token& stop) {
  const StopWaker waker(stop, mutex_, changed_);
  MutexLock lock(mutex_);
  while (!candidacy->term && !stop.stop_requested()) clock_->wait(changed_, lock);
  return candidacy->term.has_value() && !stop.stop_requested();
}

// Performs the steps that are due.
void Elector::State::step(Candidacy& candidacy) noexcept {
  MutexLock lock(mutex_);
  while (!candidacy.settled) {
    Core::Step step = candidacy.core.next_step(clock_->now(), clock_->wall_now());
    const bool looked_away = publish(candidacy, lock);
    if (candidacy.abandoned) return;
    if (candidacy.core.end()) return settle(candidacy, lock);
    if (step.request) {
      ++candidacy.on_their_way;  // before the end of the candidacy can be seen
      lock.unlock();
      send(candidacy, std::move(*step.request));
      lock.lock();
    } else if (!looked_away) {  // otherwise the core may have another decision
      return candidacy.runner->wake_at(candidacy, step.next_due);
    }
  }
}

// Ends what a candidacy whose core has ended waits for, and then the candidacy.
void Elector::State::settle(Candidacy& candidacy, MutexLock& lock) {
  if (!std::exchange(candidacy.cancelled, true)) {
    const std::vector<std::weak_ptr<http::Call>> calls = std::move(candidacy.calls);
    const std::shared_ptr<WatchCall> lease_watch = candidacy.lease_watch;
    lock.unlock();
    for (const auto& call : calls) {
      if (const auto running = call.lock()) running->cancel();
    }
    lease_watch->cancel();
    lock.lock();
  }
  if (candidacy.on_their_way > 0 || candidacy.watching) return;
  candidacy.settled = true;
  changed_.notify_all();
  if (!candidacy.is_listened_to() || candidacy.abandoned) return;
  const bool lost = candidacy.lost.stop_requested();
  if (candidacy.term && !lost) log_end(candidacy);
  const CandidacyPtr keep = candidacy.shared_from_this();
  lock.unlock();
  forget_candidacy(candidacy);
  client_.event_loop()->post([keep, lost] {  // the runner still uses this job when run() has returned
    const auto on_end = std::move(keep->listener.on_end);
    on_end(lost ? ElectionEnd::lost : ElectionEnd::stopped);
  });
  lock.lock();
}

// Publishes the changes of the core.
bool Elector::State::publish(Candidacy& candidacy, MutexLock& lock) {
  bool looked_away = false;
  const auto& term = candidacy.core.term();
  // After it was given up, a release that fails is no loss.
  const bool resigned = candidacy.core.is_resigning();
  if (term && !resigned) {
    guard_->set(term->valid_until);
    if (!candidacy.term) {
      candidacy.term = term->number;
      log_.info("became the leader", {{"term", term->number}});
      changed_.notify_all();
      if (candidacy.listener.on_leading) {
        const Leadership leadership{.term = term->number, .lost = candidacy.lost.get_token()};
        lock.unlock();
        candidacy.listener.on_leading(leadership);
        lock.lock();
        looked_away = true;
      }
    }
  } else if (candidacy.term && candidacy.core.end() && !resigned && !candidacy.lost.stop_requested()) {
    guard_->set(TimePoint::min());
    lost_at_ = clock_->now();
    const char* const why = candidacy.core.end() == Core::End::taken ? "another instance holds the Lease"
                                                                     : "it could not be renewed in time";
    const std::string holder = candidacy.core.holder();
    const std::string last_problem = last_problem_;
    lock.unlock();
    candidacy.lost.request_stop();  // runs the user's stop callbacks; before the log, which may be slow
    log_.error("lost leadership",
               {{"term", *candidacy.term}, {"why", why}, {"holder", holder}, {"last_problem", last_problem}});
    lock.lock();
    looked_away = true;
  }
  if (candidacy.problem != candidacy.core.problem()) {
    candidacy.problem = candidacy.core.problem();
    if (!candidacy.problem.empty()) log_.error("the Lease cannot be taken", {{"error", candidacy.problem}});
  }
  if (holder_ == candidacy.core.holder()) return looked_away;
  holder_ = candidacy.core.holder();
  const std::string holder = holder_;
  lock.unlock();
  log_.info("the holder of the Lease is", {{"holder", holder}});
  if (options_.on_new_holder) options_.on_new_holder(holder);
  lock.lock();
  return true;
}

void Elector::State::send(Candidacy& candidacy, Core::Request request) {
  const auto span = std::make_shared<Span>(start_span(client_.tracer(), span_name(request.ask)));
  span->set_attribute("evenkeel.election", options_.namespace_ + "/" + options_.name);
  auto done = [self = candidacy.shared_from_this(), id = request.id,
               span](Outcome<ResourceClient::Object> outcome) {
    if (!outcome.ok()) span->set_status(SpanStatus::error, detail::error_text(outcome.error()));
    span->end();
    if (const auto elector = self->elector) elector->on_response(*self, id, std::move(outcome));
  };
  const auto describe_call = [&]() -> ApiCall<ResourceClient::Object> {
    if (request.ask == Core::Ask::get)
      return calls::get(Lease::resource, {options_.namespace_, options_.name});
    const DynamicObject lease(std::move(request.body));
    return request.ask == Core::Ask::create ? calls::create(Lease::resource, lease)
                                            : calls::update(Lease::resource, lease);
  };
  std::shared_ptr<http::Call> call;
  try {
    const Client client = client_.with(
        {.deadline = request.deadline,
         .max_retries = 0,
         .without_flow_control = true,
         .trace_parent = span->context().is_valid() ? std::optional(span->context()) : std::nullopt});
    call = client.start(describe_call(), std::move(done));
  } catch (...) {  // nothing was sent
    MutexLock lock(mutex_);
    --candidacy.on_their_way;
    on_error(candidacy, request.id, std::current_exception());
    return;
  }
  {
    MutexLock lock(mutex_);
    std::erase_if(candidacy.calls, [](const auto& old) { return old.expired(); });
    candidacy.calls.push_back(call);
    if (!candidacy.cancelled && !candidacy.abandoned) return;
  }
  call->cancel();  // the candidacy ended concurrently and cancelled the calls that it knew
}

void Elector::State::on_response(Candidacy& candidacy, std::uint64_t id,
                                 Outcome<ResourceClient::Object> outcome) {
  {
    MutexLock lock(mutex_);
    --candidacy.on_their_way;
    if (outcome.ok()) {
      last_problem_.clear();
      candidacy.core.on_answered(id, outcome.value()->body(), clock_->now());
    } else {
      on_error(candidacy, id, outcome.error());
    }
  }
  candidacy.wake();
}

void Elector::State::on_error(Candidacy& candidacy, std::uint64_t id, const std::exception_ptr& error) {
  const TimePoint now = clock_->now();
  try {
    std::rethrow_exception(error);
  } catch (const ApiError& refusal) {
    if (refusal.code() == 409) return candidacy.core.on_conflict(id, now);
    const bool absent = refusal.is_not_found() && !refusal.is_no_such_resource();
    if (!absent || refusal.status().kind != Lease::resource.plural) note_problem(refusal.what());
    if (absent) return candidacy.core.on_missing(id, now);
  } catch (...) {
    note_problem(detail::error_text(error));
  }
  candidacy.core.on_failure(id, now);
}

// A problem that recurs every two seconds is logged once.
void Elector::State::note_problem(const std::string& problem) {
  if (candidacy_ == nullptr || candidacy_->core.end() || problem == last_problem_) return;
  last_problem_ = problem;
  log_.warn("the Lease could not be read or written; retrying", {{"error", problem}});
}

// Starts the watch of the Lease, whose events go to the core.
void Elector::State::watch(const CandidacyPtr& candidacy) {
  MutexLock lock(mutex_);  // events wait until the candidacy knows its watch
  candidacy->watching = true;
  candidacy->lease_watch = detail::start_raw_watch(
      client_, Lease::resource,
      {.namespace_ = options_.namespace_, .field_selector = "metadata.name=" + options_.name},
      {.on_event =
           [candidacy](const detail::RawWatchEvent& event) {
             if (const auto elector = candidacy->elector) elector->on_watch_event(*candidacy, event);
           },
       .on_end =
           [candidacy](const std::exception_ptr& error) {
             if (const auto elector = candidacy->elector) elector->on_watch_end(*candidacy, error);
           }});
}

void Elector::State::on_watch_event(Candidacy& candidacy, const detail::RawWatchEvent& event) noexcept {
  std::shared_ptr<WatchCall> lease_watch;
  try {
    MutexLock lock(mutex_);
    lease_watch = candidacy.lease_watch;
    if (event.type != WatchEventType::gone) {
      if (event.object.empty()) return;
      Json lease = Json::parse(event.object, event.what);
      candidacy.core.on_watching(true);
      if (event.type == WatchEventType::deleted) {
        candidacy.core.on_deleted(std::move(lease), clock_->now());
      } else {
        candidacy.core.on_event(std::move(lease), clock_->now());
      }
      lock.unlock();
      return candidacy.wake();
    }
  } catch (const std::exception& error) {
    log_.warn("the Lease cannot be watched; it is read every retry period instead",
              {{"error", error.what()}});
    return lease_watch->cancel();
  }
  lease_watch->restart("");
}

void Elector::State::on_watch_end(Candidacy& candidacy, const std::exception_ptr& error) {
  bool wanted = false;
  {
    MutexLock lock(mutex_);
    candidacy.watching = false;
    candidacy.core.on_watching(false);
    wanted = !candidacy.core.end() && !candidacy.abandoned;
  }
  if (wanted && !is_cancelled(error)) {
    log_.warn("the Lease cannot be watched; it is read every retry period instead",
              {{"error", detail::error_text(error)}});
  }
  candidacy.wake();
}

// ---- Elector

namespace {

ElectionOptions completed(ElectionOptions options, const Config& config) {
  check(options);
  if (options.namespace_.empty()) options.namespace_ = config.namespace_;
  if (options.identity.empty()) options.identity = own_identity();
  return options;
}

}  // namespace

Elector::Elector(Client client, ElectionOptions options) {
  ElectionOptions complete = completed(std::move(options), client.config());
  state_ = std::make_shared<State>(std::move(client), std::move(complete));
}

Elector::~Elector() {
  state_->abandon();
}

ElectionEnd Elector::run(const std::stop_token& stop, const std::function<void(const Leadership&)>& lead) {
  return state_->run(stop, lead);
}

void Elector::start(ElectionListener listener) {
  state_->start(std::move(listener));
}
void Elector::resign() {
  state_->resign();
}

bool Elector::is_leader() const noexcept {
  return state_->guard()->is_valid();
}
void Elector::check() const {
  state_->guard()->check();
}
Client Elector::guarded(const Client& client) const {
  return client.with({.write_guard = state_->guard()});
}
const std::string& Elector::identity() const noexcept {
  return state_->identity();
}
std::string Elector::holder() const {
  return state_->holder();
}
std::string Elector::problem(Duration tolerance) const {
  return state_->problem(tolerance);
}

}  // namespace v0
}  // namespace evenkeel
