// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <random>
#include <stdexcept>
#include <thread>
#include <unistd.h>
#include <utility>

#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/metrics.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/events/event_recorder.hpp>

#include "base/caught.hpp"
#include "client/request/bound_limits.hpp"
#include "events/event_body.hpp"
#include "events/event_core.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

using detail::EventCore;
using detail::WriteEnd;

// Returns true for a name of letters, digits, '-', '_' and '.', perhaps after a domain and '/'.
bool is_qualified(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string_view name = slash == std::string_view::npos ? text : text.substr(slash + 1);
  const auto is_sound = [](std::string_view part, std::size_t longest) {
    const auto letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
    return !part.empty() && part.size() <= longest && letter(part.front()) && letter(part.back()) &&
           std::all_of(part.begin(), part.end(),
                       [&](char c) { return letter(c) || c == '-' || c == '_' || c == '.'; });
  };
  return is_sound(name, 63) && (slash == std::string_view::npos || is_sound(text.substr(0, slash), 253));
}

void check(const EventLimits& limits) {
  const auto require = [](bool sound, const char* name) {
    if (!sound) throw std::invalid_argument(std::string("EventLimits: ") + name + " must be greater than 0");
  };
  require(limits.queue > 0, "queue");
  require(limits.tries > 0, "tries");
  require(limits.retry_delay > Duration::zero(), "retry_delay");
  require(limits.remembered > 0, "remembered");
  require(limits.similar > 0, "similar");
  require(limits.similar_for > Duration::zero(), "similar_for");
  require(limits.burst > 0, "burst");
  require(limits.refill > Duration::zero(), "refill");
  require(limits.series_end > Duration::zero(), "series_end");
  require(limits.series_refresh > Duration::zero(), "series_refresh");
}

EventRecorderOptions completed(EventRecorderOptions options) {
  check(options.limits);
  if (options.component.empty()) options.component = "evenkeel";
  if (!is_qualified(options.component))
    throw std::invalid_argument(
        "EventRecorderOptions: component must be a qualified name such as "
        "\"demo-operator\", not \"" +
        options.component + "\"");
  if (options.instance.empty()) {
    std::array<char, 256> host{};
    if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
    options.instance = options.component + (host[0] == '\0' ? "" : "-" + std::string(host.data()));
  }
  options.instance = detail::cut_text(options.instance, detail::longest_word);
  return options;
}

WriteEnd end_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const ApiError& answer) {
    if (answer.is_already_exists()) return WriteEnd::already_exists;
    if (answer.is_not_found()) return WriteEnd::not_found;
    const bool passes = answer.is_too_many_requests() || answer.is_server_error() || answer.is_conflict() ||
                        answer.is_unauthorized();
    return passes ? WriteEnd::failed : WriteEnd::rejected;
  } catch (const std::invalid_argument&) {
    return WriteEnd::rejected;
  } catch (...) {
    return WriteEnd::failed;
  }
}

std::function<double()> random_of(const EventRecorderOptions& options) {
  const std::uint64_t seed = options.seed ? *options.seed : std::random_device()();
  return [engine = std::mt19937_64(seed)]() mutable {
    return std::uniform_real_distribution<double>(0.0, 1.0)(engine);
  };
}

// Shared with the completions of requests, which may come after the recorder's end.
struct State {
  State(EventRecorderOptions made, detail::EventCoreOptions core_options)
      : options(std::move(made)), core(std::move(core_options)) {}

  void end_write(const std::shared_ptr<const detail::CountedEvent>& event, std::exception_ptr error)
      EVENKEEL_EXCLUDES(mutex);
  void warn(const detail::CountedEvent& event, const std::exception_ptr& error, std::uint64_t failures) const;

  const EventRecorderOptions options;
  Mutex mutex;
  CondVar changed;
  EventCore core EVENKEEL_GUARDED_BY(mutex);
  std::shared_ptr<http::Call> call EVENKEEL_GUARDED_BY(mutex);
  std::uint64_t ended EVENKEEL_GUARDED_BY(mutex) = 0;  // number of requests
  bool drop_logged EVENKEEL_GUARDED_BY(mutex) = false;
  bool ending EVENKEEL_GUARDED_BY(mutex) = false;
};

void State::end_write(const std::shared_ptr<const detail::CountedEvent>& event, std::exception_ptr error) {
  std::uint64_t failures = 0;
  {
    MutexLock lock(mutex);
    const std::uint64_t before = core.totals().failed;
    core.on_written(error ? end_of(error) : WriteEnd::done, options.clock->now());
    if (core.totals().failed != before && !ending) failures = core.totals().failed;
    ++ended;
    call.reset();
    changed.notify_all();
  }
  if (failures > 0) warn(*event, error, failures);
  if (options.threads == 0 && options.on_work) options.on_work();
}

// The first failure is a warning, and each that makes their number a power of two: a missing right would
// otherwise fill the log.
void State::warn(const detail::CountedEvent& event, const std::exception_ptr& error,
                 std::uint64_t failures) const {
  const EventSubject& subject = event.record.subject;
  const LogLevel level = (failures & (failures - 1)) == 0 ? LogLevel::warn : LogLevel::debug;
  options.log.write(level, "an event was not recorded",
                    {{"object", subject.kind + " " + ObjectKey{subject.namespace_, subject.name}.str()},
                     {"reason", event.record.reason},
                     {"failures", failures},
                     {"error", detail::error_text(error)}});
}

}  // namespace

class EventRecorder::Impl {
 public:
  Impl(Client client, EventRecorderOptions options)
      : client_(detail::unbounded(client)),
        state_(std::make_shared<State>(options, detail::EventCoreOptions{.api = options.api,
                                                                         .limits = options.limits,
                                                                         .random = random_of(options)})),
        reporter_{options.api, options.component, options.instance} {}
  ~Impl();

  void record(detail::EventRecord record);
  bool flush(Duration limit);
  std::size_t pump();
  State& state() const { return *state_; }

 private:
  void start_thread(MutexLock& lock);
  void work();
  bool send(MutexLock& lock) EVENKEEL_NO_THREAD_SAFETY_ANALYSIS;  // with the lock held

  const Client client_;
  const std::shared_ptr<State> state_;
  const detail::EventReporter reporter_;
  std::thread thread_;  // guarded by the mutex of the state
};

EventRecorder::Impl::~Impl() {
  std::shared_ptr<http::Call> call;
  std::thread thread;
  {
    MutexLock lock(state_->mutex);
    state_->ending = true;
    state_->changed.notify_all();
    thread = std::move(thread_);
  }
  if (thread.joinable()) thread.join();
  {
    MutexLock lock(state_->mutex);
    call = std::move(state_->call);
  }
  if (call) call->cancel();
}

void EventRecorder::Impl::record(detail::EventRecord record) {
  bool first_drop = false;
  {
    MutexLock lock(state_->mutex);
    const Clock& clock = *state_->options.clock;
    const TimePoint now = clock.now();
    const auto due = state_->core.next_due(now);
    if (!state_->core.on_event(std::move(record), now, clock.wall_now()))
      first_drop = !std::exchange(state_->drop_logged, true);
    start_thread(lock);
    if (state_->core.next_due(now) != due) state_->changed.notify_all();
  }
  if (first_drop) {
    state_->options.log.warn(
        "events are dropped, as too many wait to be written; further ones are counted only",
        {{"waiting", state_->options.limits.queue}});
  }
  if (state_->options.threads == 0 && state_->options.on_work) state_->options.on_work();
}

void EventRecorder::Impl::start_thread(MutexLock&) {
  if (state_->options.threads == 0 || thread_.joinable()) return;
  thread_ = std::thread([this] { work(); });
}

// Begins the next write; returns false if none is due.
bool EventRecorder::Impl::send(MutexLock& lock) {
  const TimePoint now = state_->options.clock->now();
  state_->core.on_timeout(now);
  const auto write = state_->core.next_write(now);
  if (!write) {
    if (state_->core.idle()) state_->changed.notify_all();  // flush() may wait for it
    return false;
  }
  const std::uint64_t before = state_->ended;
  lock.unlock();
  const auto done = [state = state_, event = write->event](std::exception_ptr error) {
    state->end_write(event, std::move(error));
  };
  std::shared_ptr<http::Call> call;
  try {
    call = client_.start(
        ApiCall<int>(detail::event_request(*write, reporter_), [](http::Response) { return 0; }),
        [done](Outcome<int> outcome) { done(outcome.ok() ? nullptr : outcome.error()); });
  } catch (...) {
    done(std::current_exception());
  }
  lock.lock();
  if (state_->ended == before) state_->call = std::move(call);  // else it is over already
  return true;
}

void EventRecorder::Impl::work() {
  if (state_->options.on_thread_start) state_->options.on_thread_start("events");
  MutexLock lock(state_->mutex);
  while (!state_->ending) {
    if (send(lock)) continue;
    const Clock& clock = *state_->options.clock;
    if (const auto due = state_->core.next_due(clock.now())) {
      clock.wait_until(state_->changed, lock, *due);
    } else {
      clock.wait(state_->changed, lock);
    }
  }
}

std::size_t EventRecorder::Impl::pump() {
  MutexLock lock(state_->mutex);
  std::size_t count = 0;
  while (send(lock)) ++count;
  return count;
}

bool EventRecorder::Impl::flush(Duration limit) {
  const Clock& clock = *state_->options.clock;
  const TimePoint deadline = deadline_after(clock.now(), limit);
  MutexLock lock(state_->mutex);
  state_->core.flush();
  state_->changed.notify_all();
  while (!state_->core.idle() && thread_.joinable() && clock.now() < deadline)
    clock.wait_until(state_->changed, lock, deadline);
  const std::size_t left = state_->core.waiting();
  lock.unlock();
  if (left > 0 && state_->options.threads > 0)
    state_->options.log.warn("events are not written yet", {{"waiting", left}});
  if (state_->options.threads == 0 && state_->options.on_work) state_->options.on_work();
  return left == 0;
}

EventRecorder::EventRecorder(Client client, EventRecorderOptions options)
    : impl_(std::make_unique<Impl>(std::move(client), completed(std::move(options)))) {}
EventRecorder::~EventRecorder() = default;

void EventRecorder::record(const EventSubject& subject, EventSeverity severity, std::string_view reason,
                           std::string_view message, const EventOptions& options) {
  if (subject.name.empty() || subject.kind.empty())
    throw std::invalid_argument("EventRecorder: the object of an event needs a kind and a name");
  if (reason.empty() || options.action.empty())
    throw std::invalid_argument("EventRecorder: an event about " + subject.kind + " " +
                                ObjectKey{subject.namespace_, subject.name}.str() +
                                " needs a reason and an action");
  impl_->record({.subject = subject,
                 .severity = severity,
                 .reason = detail::cut_text(reason, detail::longest_word),
                 .message = detail::cut_text(message, detail::longest_message),
                 .action = detail::cut_text(options.action, detail::longest_word),
                 .related = options.related});
}

bool EventRecorder::flush(Duration limit) {
  return impl_->flush(limit);
}
const EventRecorderOptions& EventRecorder::options() const noexcept {
  return impl_->state().options;
}
std::size_t EventRecorder::pump() {
  return impl_->pump();
}
std::optional<TimePoint> EventRecorder::next_due() const {
  State& state = impl_->state();
  MutexLock lock(state.mutex);
  return state.core.next_due(state.options.clock->now());
}
std::optional<TimePoint> EventRecorder::next_write_due() const {
  State& state = impl_->state();
  MutexLock lock(state.mutex);
  return state.core.next_write_due(state.options.clock->now());
}
bool EventRecorder::is_writing() const {
  State& state = impl_->state();
  MutexLock lock(state.mutex);
  return state.core.is_writing();
}

void EventRecorder::collect(MetricSink& sink) const {
  State& state = impl_->state();
  MutexLock lock(state.mutex);
  const detail::EventTotals totals = state.core.totals();
  const auto waiting = static_cast<double>(state.core.waiting());
  lock.unlock();
  const auto number = [](std::uint64_t count) { return static_cast<double>(count); };
  sink.counter("evenkeel_events_recorded_total", "Kubernetes Events that the program recorded", {},
               number(totals.recorded));
  sink.counter("evenkeel_events_written_total", "Requests that wrote Events", {}, number(totals.written));
  const std::pair<std::string_view, std::uint64_t> lost[] = {
      {"queue_full", totals.dropped}, {"spam", totals.filtered}, {"failed", totals.failed}};
  for (const auto& [why, count] : lost) {
    sink.counter("evenkeel_events_lost_total", "Events that were not written", {{"reason", why}},
                 number(count));
  }
  sink.gauge("evenkeel_events_waiting", "Events that wait to be written", {}, waiting);
}

}  // namespace v0
}  // namespace evenkeel
