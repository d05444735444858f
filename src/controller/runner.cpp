// SPDX-License-Identifier: Apache-2.0
#include "controller/runner.hpp"

#include <chrono>
#include <string>
#include <utility>

#include <evenkeel/client/resource_client.hpp>
#include <evenkeel/clusters/cluster_set.hpp>
#include <evenkeel/sharding/shards.hpp>

#include "controller/cluster_key.hpp"
#include "controller/report.hpp"
#include "controller/run_span.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// The right to run one key, as a shard or in an engaged cluster, with a stop token for its loss and for the
/// controller's end.
class Runner::Ownership {
 public:
  explicit Ownership(const std::stop_token& controller) : on_end_(controller, Stop{stop_}) {}

  void add(ShardRun run) {
    shard_.emplace(std::move(run));
    on_shard_loss_.emplace(shard_->stop(), Stop{stop_});
  }
  void add(ClusterRun run, std::shared_ptr<const FollowedCluster> followed) {
    cluster_.emplace(std::move(run));
    followed_ = std::move(followed);
    on_cluster_loss_.emplace(cluster_->cluster().stop(), Stop{stop_});
  }
  /// Null without shards.
  const ShardRun* shard() const { return shard_ ? &*shard_ : nullptr; }
  /// Null in the home cluster.
  const FollowedCluster* followed() const { return followed_.get(); }
  void fail() {
    if (cluster_) cluster_->fail();
  }
  std::stop_token stop() const { return stop_.get_token(); }

 private:
  struct Stop {
    std::stop_source& source;
    void operator()() const noexcept { source.request_stop(); }
  };
  std::stop_source stop_;
  std::optional<ShardRun> shard_;
  std::optional<ClusterRun> cluster_;  // ends after the handle below
  std::shared_ptr<const FollowedCluster> followed_;
  std::optional<std::stop_callback<Stop>> on_shard_loss_;
  std::optional<std::stop_callback<Stop>> on_cluster_loss_;
  const std::stop_callback<Stop> on_end_;
};

// Sources and the program may add keys without a cluster to a controller that does not run at home.
void Runner::run(const RequestQueue::Claim& claim, std::size_t worker) {
  const RequestKey& key = claim.key();
  if (key.cluster().empty() && !clusters_.runs_at_home()) return queue_.drop(key);
  if (environment_.shards == nullptr && key.cluster().empty()) return run_owned(claim, worker, nullptr);
  Ownership owned(cancel_.get_token());
  if (environment_.shards != nullptr) {
    auto run = environment_.shards->begin(shard_namespace(key.cluster(), key.namespace_()), key.name());
    if (!run) return queue_.drop(key);
    // In this order: what the caches hold of a slot stays while the right to run it exists.
    if (!unlisted_.may_run(key.cluster(), key.namespace_())) return unlisted_.park(key, claim.priority());
    owned.add(std::move(*run));
  }
  if (!key.cluster().empty() && !begin_in_cluster(claim, owned)) return;
  run_owned(claim, worker, &owned);
}

// Keys of a cluster that has left are dropped, those of one that is away wait. So do those of a cluster that
// was engaged just now: its events come later, but a program may add keys at any time. The right to run comes
// first: with it, the cluster cannot be replaced by another one of its name before its handle is found.
bool Runner::begin_in_cluster(const RequestQueue::Claim& claim, Ownership& owned) {
  const RequestKey& key = claim.key();
  ClusterTurn turn =
      environment_.clusters == nullptr ? ClusterTurn() : environment_.clusters->begin(key.cluster());
  auto followed = clusters_.find(key.cluster());
  if (followed && turn.run && clusters_.is_synced(key.cluster())) {
    owned.add(std::move(*turn.run), std::move(followed));
    return true;
  }
  if (turn.run) turn.run->discard();
  const bool waits = followed && (turn.run || turn.away);
  waits ? clusters_.park(key, claim.priority()) : queue_.drop(key);
  return false;
}

void Runner::run_owned(const RequestQueue::Claim& claim, std::size_t worker, Ownership* owned) {
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
  const std::optional<Duration> next = fatal ? std::nullopt : settle(claim, end, owned);
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
  report_end(context.log(), end, next);
}

void Runner::report_end(const Log& log, const RunEnd& end, std::optional<Duration> next) const {
  report(log, end.outcome, end.attempt, next.value_or(Duration::zero()));
  if (const auto timeout = spec_.options.reconcile_timeout)
    report_overrun(log, end.outcome, *timeout, end.took);
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
  const ShardRun* const shard = owned == nullptr ? nullptr : owned->shard();
  const FollowedCluster* const followed = owned == nullptr ? nullptr : owned->followed();
  const Client& client = followed == nullptr ? environment_.client : followed->client;
  if (shard != nullptr) {
    term = shard->generation();
  } else if (environment_.term) {
    term = environment_.term();
  }
  return Context({.client = shard == nullptr ? client : shard->guarded(client),
                  .cache = followed == nullptr ? &environment_.cache : &followed->cluster->cache(),
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
                  .events = followed == nullptr ? environment_.events : &followed->cluster->events(),
                  .applies_skipped = &applies_skipped_,
                  .points = environment_.points});
}

// While a cache shows an owner that was deleted, a run creates objects that the garbage collector deletes,
// each deletion adds the key, and so on as fast as the server permits. So the run after such a deletion asks
// the server. The events of the owner, once they arrive, run the key again.
void Runner::confirm_object(const Context& context) {
  const Request& key = context.request();
  const WireObject cached = feed_.primary_of(key);
  if (!cached) return;
  std::string live;
  try {
    const auto found = context.client().resource(spec_.resource).metadata_only().find(key.object_key());
    if (found) live = found->metadata().uid;
  } catch (const ApiError& error) {
    if (!error.is_forbidden()) throw;
    return;
  }
  if (live == cached.uid()) return;
  feed_.suspect(key);
  throw ApiError("reconcile " + spec_.resource.kind + " " + key.object_key().str(),
                 {.code = 409,
                  .reason = "Conflict",
                  .message = "the cache shows the object with uid " + std::string(cached.uid()) +
                             (live.empty() ? ", which was deleted"
                                           : ", which was deleted; the server has one with uid " + live)});
}

ReconcileOutcome Runner::run_once(Context& context, std::exception_ptr& panic, const Ownership* owned) {
  const std::stop_token stop = owned ? owned->stop() : cancel_.get_token();
  ReconcileOutcome outcome;
  bool doubted = queue_.take_doubt(context.request());
  try {
    if (doubted) confirm_object(context);
    doubted = false;
    outcome = outcome_of(spec_.reconcile(context));
  } catch (...) {
    if (doubted) queue_.doubt(context.request());
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
std::optional<Duration> Runner::settle(const RequestQueue::Claim& claim, const RunEnd& end,
                                       Ownership* owned) {
  const bool failed =
      end.outcome.kind == OutcomeKind::error || end.outcome.kind == OutcomeKind::terminal_error;
  if (owned != nullptr && failed) owned->fail();
  QueueCalls calls = queue_calls(end.outcome);
  // Nothing of a cluster that has left stays in the queue.
  if (owned != nullptr && owned->followed() != nullptr && !clusters_.find(claim.key().cluster()))
    calls = {.forget = true};
  const Priority priority = next_priority(claim.priority(), end.outcome, calls);
  RequestQueue& queue = queue_.queue();
  if (calls.forget) queue.forget(claim.key());
  if (calls.add == QueueCalls::Add::rate_limited) return queue_.back_off(claim.key(), priority, end);
  std::optional<Duration> next;
  if (calls.add == QueueCalls::Add::after) {
    next = calls.delay;
    queue_.requeue(claim.key(), calls.delay, priority);
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
