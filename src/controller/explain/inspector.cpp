// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/inspector.hpp"

#include <algorithm>
#include <chrono>

#include <evenkeel/clusters/cluster_set.hpp>
#include <evenkeel/sharding/shards.hpp>
#include <evenkeel/workqueue/key_order.hpp>

#include "base/rounded_duration.hpp"
#include "controller/cluster_key.hpp"
#include "controller/explain/stuck_core.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

constexpr std::size_t timeline_length = 100;

std::size_t concurrency_of(const ControllerOptions& options) {
  return options.in_flight.value_or(options.workers.value_or(1));
}

std::size_t queued_in(const std::vector<KeyInfo<RequestKey>>& keys) {
  return static_cast<std::size_t>(
      std::count_if(keys.begin(), keys.end(), [](const auto& key) { return key.state == KeyState::queued; }));
}

}  // namespace

Inspector::Keys Inspector::keys_by_turn() const {
  Keys keys = queue_.queue().inspect_all();
  sort_by_turn(keys);
  return keys;
}

// A run contains the hash of its key; the queue has the key, because it is being processed.
RunExplanation Inspector::named(const RunInFlight& run, const Keys& keys) const {
  const auto found =
      std::find_if(keys.begin(), keys.end(), [&](const auto& key) { return key.key.hash() == run.run.key; });
  return explain_run(run, found == keys.end() ? "an object" : found->key.str(), spec_.options.name,
                     environment_.clock->now(), environment_.clock->wall_now());
}

// A namespace has no colon; the name of an object without a namespace may have one.
ClusterObject Inspector::in_cluster(const ObjectKey& key) const {
  ClusterObject object{.key = key};
  std::string& text = key.namespace_.empty() ? object.key.name : object.key.namespace_;
  object.cluster = cluster_prefix(text);
  if (!object.cluster.empty() && key.namespace_.empty() && !clusters_.find(object.cluster))
    object.cluster.clear();
  if (!object.cluster.empty()) text.erase(0, object.cluster.size() + 1);
  return object;
}

std::optional<bool> Inspector::exists(const ClusterObject& object, const ControllerMoment& moment) const {
  if (!moment.synced) return std::nullopt;
  if (object.cluster.empty()) return environment_.cache.contains(spec_.resource, object.key);
  const auto followed = clusters_.find(object.cluster);
  return followed ? followed->cluster->cache().contains(spec_.resource, object.key) : std::nullopt;
}

// Returns the reason why this key does not run here although its controller does.
std::string Inspector::why_blocked(const ClusterObject& object) const {
  const std::string place = shard_namespace(object.cluster, object.key.namespace_);
  if (environment_.shards != nullptr && !environment_.shards->owns(place, object.key.name))
    return environment_.shards->describe_owner(place, object.key.name);
  if (!unlisted_.may_run(object.cluster, object.key.namespace_))
    return "the caches of this replica have not listed namespace " + object.key.namespace_ + " yet";
  if (object.cluster.empty())
    return clusters_.runs_at_home() ? std::string() : "the controller does not run in the home cluster";
  if (!clusters_.find(object.cluster)) return "cluster " + object.cluster + " is not engaged";
  return environment_.clusters->blocked_reason(object.cluster);
}

Explanation Inspector::explain(const ClusterObject& object, ControllerMoment moment) {
  const RequestKey request = environment_.keys.intern(object.cluster, object.key.namespace_, object.key.name);
  ExplainFacts facts{.controller = spec_.options.name, .object = request.str(), .hash = request.hash()};
  facts.exists = exists(object, moment);
  facts.blocked_reason = std::move(moment.blocked_reason);
  if (facts.blocked_reason.empty()) facts.blocked_reason = why_blocked(object);
  facts.synced = moment.synced;
  facts.stopping = moment.stopping;
  facts.watches = std::move(moment.watches);
  facts.workers = concurrency_of(spec_.options);
  facts.queue = queue_.queue().inspect(request);
  if (facts.queue.state == KeyState::queued) {
    const Keys keys = keys_by_turn();
    facts.queued = queued_in(keys);
    const auto first =
        std::find_if(keys.begin(), keys.end(), [](const auto& one) { return one.state == KeyState::queued; });
    const auto own = std::find_if(first, keys.end(), [&](const auto& one) { return one.key == request; });
    if (own != keys.end()) facts.place = static_cast<std::size_t>(own - first) + 1;
    if (own != first && first != keys.end()) facts.first_in_queue = first->key.str();
  }
  queue_.read_recorder([&](const FlightRecorder& recorder) {
    facts.flight = flight_of(recorder, facts.hash, timeline_length);
    facts.runs = runs_of(recorder);
  });
  facts.now = environment_.clock->now();
  facts.wall_now = environment_.clock->wall_now();
  return detail::explain(facts);
}

ControllerSummary Inspector::summary(std::size_t most, ControllerMoment moment) {
  const Keys keys = keys_by_turn();
  std::vector<RunInFlight> runs;
  std::vector<LastFailure> failures;
  queue_.read_recorder([&](const FlightRecorder& recorder) {
    runs = runs_of(recorder);
    failures = failures_of(recorder, most);
  });
  const TimePoint now = environment_.clock->now();
  ControllerSummary summary{.controller = spec_.options.name,
                            .kind = spec_.resource.kind,
                            .workers = concurrency_of(spec_.options),
                            .queued = queued_in(keys)};
  summary.busy_workers = runs.size();
  for (const auto& key : keys) {
    if (key.state == KeyState::waiting) ++summary.waiting;
    if (key.state != KeyState::queued || summary.first_queued.size() >= most) continue;
    ControllerSummary::Queued queued{.object = key.key.str()};
    if (key.dirty_since) queued.since = now - *key.dirty_since;
    summary.first_queued.push_back(std::move(queued));
  }
  for (const RunInFlight& run : runs) {
    if (summary.running.size() < most) summary.running.push_back(named(run, keys));
  }
  for (const LastFailure& failure : failures) {
    summary.failing.push_back(explain_failure(failure, now, environment_.clock->wall_now()));
  }
  summary.verdict =
      verdict_of(summary, moment.blocked_reason, moment.synced, moment.stopping, moment.watches);
  if (const std::string wedged = wedge(moment, keys, now); !wedged.empty()) {
    summary.verdict = spec_.options.name + ": " + wedged;
  }
  summary.watches = std::move(moment.watches);
  return summary;
}

std::optional<TimePoint> Inspector::look_for_stuck() {
  const TimePoint now = environment_.clock->now();
  const StuckCheck check = queue_.look_for_stuck(now);
  if (check.to_report.empty()) return check.next_due;
  const Keys keys = queue_.queue().inspect_all();
  const auto runs = queue_.read_recorder([](const FlightRecorder& recorder) { return runs_of(recorder); });
  for (const FlightRun& due : check.to_report) {
    const auto run =
        std::find_if(runs.begin(), runs.end(), [&](const RunInFlight& one) { return one.run.id == due.id; });
    if (run == runs.end()) continue;  // it has ended since
    const RunExplanation told = named(*run, keys);
    log_.error("a reconcile is stuck", {{"object", told.object},
                                        {"for", format_rounded(told.lasts)},
                                        {"limit", format_rounded(told.limit)},
                                        {"thread", told.thread},
                                        {"reconcile_id", told.reconcile_id},
                                        {"attempt", told.attempt},
                                        {"started_by", told.cause}});
  }
  return check.next_due;
}

// Detects keys that are ready but not taken although workers are idle.
std::string Inspector::wedge(const ControllerMoment& moment, const Keys& keys, TimePoint now) const {
  if (!moment.synced || moment.stopping || !moment.blocked_reason.empty()) return {};
  std::optional<TimePoint> last;
  const bool busy = queue_.read_recorder([&](const FlightRecorder& recorder) {
    last = recorder.last_sign();
    return recorder.has_runs();
  });
  const Duration patience = limit_of(now, std::nullopt, {.after = spec_.options.stuck_after}) - now;
  if (busy || (last && now - *last < patience)) return {};
  const auto waits_long = [&](const auto& key) {
    return key.state == KeyState::queued && key.dirty_since && now - *key.dirty_since >= patience;
  };
  const auto found = std::find_if(keys.begin(), keys.end(), waits_long);
  if (found == keys.end()) return {};
  return found->key.str() + " is ready for " + format_rounded(now - *found->dirty_since) +
         ", and no worker takes it, though none is busy" +
         (last ? "; the last run ended " + format_rounded(now - *last) + " ago" : "");
}

std::string Inspector::problem(const ControllerMoment& moment) {
  if (spec_.options.on_stuck == OnStuck::report) return {};
  const TimePoint now = environment_.clock->now();
  auto runs = queue_.read_recorder([](const FlightRecorder& recorder) { return runs_of(recorder); });
  std::erase_if(runs, [&](const RunInFlight& run) { return now < run.run.limit; });
  if (runs.empty() && queue_.queue().counts().ready == 0) return {};
  const Keys keys = queue_.queue().inspect_all();
  if (runs.empty()) return wedge(moment, keys, now);
  std::string text;
  for (const RunInFlight& run : runs) text += (text.empty() ? "" : "; ") + stuck_sentence(named(run, keys));
  return text;
}

void Inspector::collect(MetricSink& sink) const {
  const TimePoint now = environment_.clock->now();
  const auto runs =
      queue_.read_recorder([](const FlightRecorder& recorder) { return recorder.unexplained_runs(); });
  std::size_t stuck = 0;
  Duration longest{};
  for (const FlightRun& run : runs) {
    if (now >= run.limit) ++stuck;
    longest = std::max<Duration>(longest, now - run.since);
  }
  const MetricLabel controller[] = {{"controller", spec_.options.name}};
  sink.gauge("evenkeel_controller_stuck_reconciles", "Reconciles that run for longer than they may.",
             {controller, 1}, static_cast<double>(stuck));
  sink.gauge("evenkeel_controller_longest_running_seconds",
             "For how long the longest of the reconciles has been running that go on now; 0 if none does.",
             {controller, 1}, std::chrono::duration<double>(longest).count());
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
