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
struct ControllerSummary;

/// Runs one reconciler.
///
/// Workers start when the first lists of all watched kinds have been read and their events handled, and when
/// the sources that delay the start have synced; until then keys accumulate in the queue. An event of the
/// first list or a resync has priority -100, others have 0. No two workers process the same key at the same
/// time.
/// Thread safety: all members may be called concurrently, except attach() and start(), which come first.
/// Lifetime: destruction stops, cancels and joins; client, cache and keys of the environment outlive it.
class EVENKEEL_API Controller {
 public:
  /// Throws std::invalid_argument for a spec without a reconciler or watches, with no worker, or with an
  /// EventChannel if it runs in engaged clusters alone.
  Controller(ControllerSpec spec, ControllerEnvironment environment);
  ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  const std::string& name() const noexcept;
  const ResourceId& resource() const noexcept;

  /// Declares the watched kinds in the cache. Call it once, before start().
  void attach();
  /// Starts the controller's threads. `on_end` is called once, on one of them, when all workers have ended:
  /// with null after stop(), else with the error. Throws std::invalid_argument if called twice.
  void start(std::function<void(std::exception_ptr)> on_end);
  /// Reconciles the next ready key on the calling thread; the alternative to start() for simulations. Returns
  /// false if no key is ready, or the first lists have not been read. Throws the error that ends a
  /// controller, see OnPanic. Timers run; sources with their own threads do not.
  bool step();
  /// Returns the time at which step() has work, if that depends on time only; std::nullopt if no key waits.
  std::optional<TimePoint> next_due();
  /// Hands out no more keys; running reconciles complete. Idempotent; does not block.
  void stop() noexcept;
  /// Triggers the stop tokens of running reconciles. Call it after stop().
  void cancel() noexcept;

  /// Adds a key, of an engaged cluster if KeyOptions::cluster names one. A key of a cluster in which the
  /// controller does not run is dropped. Throws std::invalid_argument for a key without a name.
  void enqueue(const ObjectKey& key, KeyOptions options = {});
  /// Adds a watch, at any time, such as watch_owned<Pod>(Demo::resource), also of one more namespace of a
  /// kind that is watched already. Running workers do not wait for its first list. Throws the errors of
  /// declaring the kind in the cache. The watch is in the home cluster, and adds no keys to a controller that
  /// does not run there.
  WatchId watch(WatchSpec spec);
  /// Ends an added watch: when it returns, its events no longer add keys. Queued keys remain. The
  /// cache drops the objects that no other watch, and no clause of a builder, has declared. Unknown ids are
  /// ignored. When a predicate or mapping of the same watch calls it, it does not wait for the current event.
  void unwatch(WatchId id);
  /// Returns true if the first lists were read and the workers started.
  bool is_synced() const;
  ReconcileCounts counts() const;
  /// Passes the metrics of controller-runtime and of client-go's queue to `sink`, under their names;
  /// docs/metrics.md lists them.
  void collect(MetricSink& sink) const;
  /// Returns the latencies from an event's arrival to the start of the resulting reconcile, queueing
  /// included.
  LatencyHistogram latency() const;
  /// Returns the health of its watches in the home cluster, in the order of their declaration.
  std::vector<WatchHealth> watch_health() const;

  // ---- Why an object is not reconciled, and what is stuck: controller/explanation.hpp, docs/explain.md ----

  /// Explains the state of a key. That of an engaged cluster has its name before the namespace, or before the
  /// name of an object without one: {"eu:default", "web"}, as in Request::str(). `blocked_reason`: the reason
  /// why the controller does not run here, such as "this instance is not the leader; the leader is B"; empty
  /// if it runs.
  Explanation explain(const ObjectKey& key, std::string_view blocked_reason = {});
  /// Returns the keys that run, fail and are next, at most `most` of each.
  ControllerSummary summary(std::size_t most = 10, std::string_view blocked_reason = {});
  /// Logs stuck runs: each when it becomes stuck, and again each time its duration has doubled. Returns the
  /// time of the next call; std::nullopt: not before ControllerEnvironment::schedule_stuck_check is called.
  std::optional<TimePoint> look_for_stuck();
  /// Returns the error of the liveness probe: the runs that are stuck, or a ready key that no worker takes.
  /// Empty: there is none, or on_stuck is OnStuck::report.
  std::string problem();
  /// Returns the number of objects of the reconciled kind in the caches of its clusters.
  std::size_t objects() const;
  /// Returns the number of keys that are ready and wait for a worker.
  std::size_t queue_size();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace v0
}  // namespace evenkeel
