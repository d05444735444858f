// SPDX-License-Identifier: Apache-2.0
#include "controller/runner.hpp"

#include <string>
#include <utility>

#include <evenkeel/sharding/shards.hpp>

#include "controller/report.hpp"
#include "controller/run_span.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// The right to run one key as a shard, with a stop token for its loss and for the controller's end.
class Runner::Ownership {
 public:
  Ownership(ShardRun run, const std::stop_token& controller)
      : run_(std::move(run)), on_loss_(run_.stop(), Stop{stop_}), on_end_(controller, Stop{stop_}) {}
  const ShardRun& run() const { return run_; }
  std::stop_token stop() const { return stop_.get_token(); }

 private:
  struct Stop {
    std::stop_source& source;
    void operator()() const noexcept { source.request_stop(); }
  };
  const ShardRun run_;
  std::stop_source stop_;
  const std::stop_callback<Stop> on_loss_;
  const std::stop_callback<Stop> on_end_;
};

void Runner::run(const RequestQueue::Claim& claim, std::size_t worker) {
  if (environment_.shards == nullptr) return run_owned(claim, worker, nullptr);
  auto run = environment_.shards->begin(claim.key().namespace_(), claim.key().name());
  if (!run) return queue_.drop(claim.key());
  const Ownership owned(std::move(*run), cancel_.get_token());
  run_owned(claim, worker, &owned);
}

void Runner::run_owned(const RequestQueue::Claim& claim, std::size_t worker, const Ownership* owned) {
  const Request& request = claim.key();
  const std::uint64_t attempt = queue_.queue().retries(request) + 1;
  const std::uint64_t number = run_ids_.next_number();
  const std::string id = RunIds::text(number);
  const TimePoint began = environment_.clock->now();
  const TimePoint limit = limit_of_run(began);
  const std::optional<Duration> waited = queue_.begin(
      request,
      {.worker = worker, .id = number, .attempt = attempt, .since = began, .limit = limit, .warn_at = limit});
  Context context = context_for(request, attempt, id, owned);
  active_.fetch_add(1, std::memory_order_relaxed);
  for (const auto& observer : environment_.observers)
    observer->run_began({.key = request,
                         .reconcile_id = id,
                         .attempt = attempt,
                         .worker = worker,
                         .priority = claim.priority(),
                         .waited = waited,
                         .deadline = context.deadline(),
                         .at = began});
  std::exception_ptr panic;
  const ReconcileOutcome outcome = run_once(context, panic, owned);
  const TimePoint ended = environment_.clock->now();
  const bool fatal = panic && spec_.options.on_panic == OnPanic::fail;
  const RunEnd end{
      .at = ended, .took = ended - began, .worker = worker, .attempt = attempt, .outcome = outcome};
  if (fatal) queue_.end_for_good(request, end);
  const std::optional<Duration> next = fatal ? std::nullopt : settle(claim, end);
  count(outcome, end.took);
  describe_outcome(context.span(), outcome);
  context.span().end();
  for (const auto& observer : environment_.observers)
    observer->run_ended({.key = request,
                         .reconcile_id = id,
                         .attempt = attempt,
                         .worker = worker,
                         .outcome = outcome,
                         .took = ended - began,
                         .next_try_in = next,
                         .at = ended});
  if (fatal) {
    context.log().error("reconcile failed; the controller ends, as configured", {{"error", outcome.message}});
    std::rethrow_exception(panic);
  }
  report(context.log(), outcome, attempt, next.value_or(Duration::zero()));
  if (const auto timeout = spec_.options.reconcile_timeout)
    report_overrun(context.log(), outcome, *timeout, end.took);
}

TimePoint Runner::limit_of_run(TimePoint began) const {
  const std::optional<Duration> timeout = spec_.options.reconcile_timeout;
  return limit_of(began, timeout ? std::optional(deadline_after(began, *timeout)) : std::nullopt,
                  {.after = spec_.options.stuck_after});
}

Span Runner::span_of(const Request& request, std::uint64_t attempt, const std::string& id) {
  const std::shared_ptr<Tracer>& tracer = environment_.client.tracer();
  if (!tracer) return {};
  return start_run_span(*tracer, {.controller = spec_.options.name,
                                  .key = request,
                                  .reconcile_id = id,
                                  .attempt = attempt,
                                  .links = links_->take(request)});
}

Context Runner::context_for(const Request& request, std::uint64_t attempt, const std::string& id,
                            const Ownership* owned) {
  std::optional<std::uint64_t> term;
  if (owned != nullptr) {
    term = owned->run().generation();
  } else if (environment_.term) {
    term = environment_.term();
  }
  return Context({.client = owned ? owned->run().guarded(environment_.client) : environment_.client,
                  .cache = &environment_.cache,
                  .request = request,
                  .log = log_,
                  .field_owner = spec_.options.field_owner,
                  .reconcile_id = id,
                  .attempt = attempt,
                  .term = term,
                  .stop = owned ? owned->stop() : cancel_.get_token(),
                  .timeout = spec_.options.reconcile_timeout,
                  .clock = environment_.clock,
                  .span = span_of(request, attempt, id),
                  .events = environment_.events,
                  .applies_skipped = &applies_skipped_});
}

ReconcileOutcome Runner::run_once(Context& context, std::exception_ptr& panic, const Ownership* owned) {
  const std::stop_token stop = owned ? owned->stop() : cancel_.get_token();
  ReconcileOutcome outcome;
  try {
    outcome = outcome_of(spec_.reconcile(context));
  } catch (...) {
    outcome = outcome_of(std::current_exception(), stop.stop_requested());
    if (outcome.panic) panic = std::current_exception();
  }
  outcome.timed_out =
      context.deadline() && environment_.clock->now() >= *context.deadline() && !stop.stop_requested();
  return outcome;
}

Priority Runner::next_priority(Priority of_run, const ReconcileOutcome& outcome,
                               const QueueCalls& calls) const {
  if (outcome.priority) return *outcome.priority;
  const bool periodic = calls.add == QueueCalls::Add::after;
  return periodic ? spec_.options.requeue_priority.value_or(of_run) : of_run;
}

// Returns the delay until the next attempt, if there is one.
std::optional<Duration> Runner::settle(const RequestQueue::Claim& claim, const RunEnd& end) {
  const QueueCalls calls = queue_calls(end.outcome);
  const Priority priority = next_priority(claim.priority(), end.outcome, calls);
  RequestQueue& queue = queue_.queue();
  if (calls.forget) queue.forget(claim.key());
  if (calls.add == QueueCalls::Add::rate_limited) return queue_.back_off(claim.key(), priority, end);
  std::optional<Duration> next;
  if (calls.add == QueueCalls::Add::after) {
    next = calls.delay;
    queue.add_after(claim.key(), calls.delay, priority);
  }
  queue_.end_without_retry(claim.key(), end, next);
  return next;
}

void Runner::count(const ReconcileOutcome& outcome, Duration took) {
  active_.fetch_sub(1, std::memory_order_relaxed);
  MutexLock lock(mutex_);
  meter_.ended(outcome, took);
}

ReconcileMeter Runner::meter() const {
  MutexLock lock(mutex_);
  return meter_;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
