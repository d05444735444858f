// SPDX-License-Identifier: Apache-2.0
// A running controller: events become keys in a queue, workers hand the keys to the reconciler, and its
// result decides when the key runs again.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/resource.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/cache/watch_health.hpp>
#include <evenkeel/controller/controller_spec.hpp>
#include <evenkeel/controller/latency.hpp>
#include <evenkeel/controller/result_core.hpp>
#include <evenkeel/controller/source.hpp>

namespace evenkeel {
inline namespace v0 {

class MetricSink;
struct Explanation;
struct Troubles;

/// Runs one reconciler.
///
/// Workers start when the first lists of all watched kinds have been read and their events handled, and
/// sources that were to be waited for have told; until then keys gather in the queue. An event of the initial
/// list or a resync has priority -100, others have 0. One key is never in two workers' hands. Thread safety:
/// all members may be called concurrently, but for attach() and start(), which come first. Lifetime:
/// destruction stops, cancels and joins; client, cache and keys of the environment outlive it.
class EVENKEEL_API Controller {
 public:
  /// Throws std::invalid_argument for a spec without a reconciler or watches, or with no worker.
  Controller(ControllerSpec spec, ControllerEnvironment environment);
  ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  const std::string& name() const noexcept;
  const ResourceId& resource() const noexcept;

  /// Declares the watched kinds in the cache. Once, before start().
  void attach();
  /// Starts the controller's threads. `on_end` is called once, on one of them, when all workers have ended:
  /// with null after stop(), else with what went wrong. Throws std::invalid_argument the second time.
  void start(std::function<void(std::exception_ptr)> on_end);
  /// Instead of start(), for simulations: reconciles the next key that is ready, on the calling thread.
  /// False if none is, or the first lists have not been read. Throws what ends a controller, see OnPanic.
  /// Timers run; sources with threads of their own do not.
  bool step();
  /// When step() has something to do next, as far as time alone decides it; nothing if no key waits.
  std::optional<TimePoint> next_due();
  /// Hands out no more keys; running reconciles go on to their end. Idempotent; returns at once.
  void stop() noexcept;
  /// Triggers the stop tokens of running reconciles, after stop().
  void cancel() noexcept;

  /// Adds a key from elsewhere than a watch. Throws std::invalid_argument for a key without a name.
  void enqueue(const ObjectKey& key, KeyOptions options = {});
  /// Adds a watch, at any time: watch_owned<Pod>(Demo::resource), for instance. Workers that have started do
  /// not wait for its first list. Throws as declaring the kind in the cache does.
  WatchId watch(WatchSpec spec);
  /// Ends a watch that was added: when it returns, none of its events adds keys any more. What is queued
  /// stays. The cache goes on following the collection. Unknown ids are ignored. Called by a predicate or
  /// mapping of the same watch, it does not wait for the event that these are called for.
  void unwatch(WatchId id);
  /// Whether the first lists were read and the workers started.
  bool is_synced() const;
  ReconcileCounts counts() const;
  /// Gives what controller-runtime and client-go's queue count to `sink`, under their names; docs/metrics.md
  /// lists them.
  void collect(MetricSink& sink) const;
  /// From an event's arrival to the start of the reconcile that it caused, waits behind other keys included.
  LatencyHistogram latency() const;
  /// How its watches are doing, in the order in which they were declared.
  std::vector<WatchHealth> watch_health() const;

  // ---- Why an object is not reconciled, and what is stuck: controller/explanation.hpp, docs/explain.md ----

  /// `blocked_reason`: why the controller does not run here, if that is so: "this instance is not the leader;
  /// the leader is B".
  Explanation explain(const ObjectKey& key, std::string_view blocked_reason = {});
  /// What runs, fails and is next, at most `most` keys of each.
  Troubles troubles(std::size_t most = 10, std::string_view blocked_reason = {});
  /// Names the runs that are stuck in the log: each when it becomes so, and again each time it has lasted
  /// twice as long. Returns when to call it next; nothing: not before
  /// ControllerEnvironment::schedule_stuck_check is called.
  std::optional<TimePoint> look_for_stuck();
  /// For a liveness probe: which runs are stuck, or that keys are ready and nothing takes them. Empty:
  /// nothing is wrong, or on_stuck says that the probe is not to know.
  std::string trouble();
  /// Objects of the reconciled kind that the cache holds.
  std::size_t objects() const;
  /// Keys that are ready and wait for a worker.
  std::size_t queue_size();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace v0
}  // namespace evenkeel
