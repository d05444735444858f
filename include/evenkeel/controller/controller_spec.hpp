// SPDX-License-Identifier: Apache-2.0
// Description of a controller before it runs: its options, watches, sources and timers, and the environment
// that it runs in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/api/resource.hpp>
#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/log.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/cache/cache.hpp>
#include <evenkeel/cache/informer.hpp>
#include <evenkeel/cache/object_index.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/controller/handler.hpp>
#include <evenkeel/controller/predicate.hpp>
#include <evenkeel/controller/reconciler.hpp>
#include <evenkeel/controller/source.hpp>
#include <evenkeel/ratelimit/any_limiter.hpp>
#include <evenkeel/workqueue/any_store.hpp>
#include <evenkeel/workqueue/debounce.hpp>
#include <evenkeel/workqueue/key_table.hpp>
#include <evenkeel/workqueue/readd.hpp>
#include <evenkeel/workqueue/request_key.hpp>

namespace evenkeel {
inline namespace v0 {

class ControllerObserver;
class ClusterSet;
class EventRecorder;
class Shards;
namespace detail {
class ExplorePoints;
}

/// Reaction to first lists that take longer than ControllerOptions::sync_timeout.
enum class OnSyncTimeout : std::uint8_t {
  wait,  ///< Log which kind is missing and why, and keep waiting.
  fail,  ///< End with an error, which ends the manager.
};

/// Reaction to a reconciler that throws std::logic_error, or an object that is not a std::exception.
enum class OnPanic : std::uint8_t {
  retry,  ///< It is counted, logged, and retried like any failure.
  fail,   ///< The controller ends with the error, which ends the manager.
};

/// Treatment of events of a key in back-off that give no reason to retry early. See docs/retries.md.
enum class EventGate : std::uint8_t {
  /// While a key waits for a retry, an update of its object that is the controller's own write waits with it;
  /// every other event runs the key immediately. If that run fails before the retry is due, the failure is
  /// not counted, and the retry stays due when it was.
  ///
  /// Own writes are those of Context and its client, and of other copies of the manager's client, such as one
  /// that a reconciler captured. Writes of another controller are not, even in the same process: they may be
  /// what this one waits for. Nor are writes whose answer was lost.
  on,
  off,  ///< Every event runs the key immediately, and every failure counts, as in client-go.
};

/// Set of instances of a program that run a controller or a task.
enum class RunsOn : std::uint8_t {
  every_instance,
  leader,  ///< Without leader election: every instance.
};

/// Set of clusters whose objects a controller reconciles; see docs/clusters.md.
enum class RunsIn : std::uint8_t {
  home_cluster,      ///< The manager's own one.
  engaged_clusters,  ///< All engaged clusters. Without a ClusterSet: the home cluster.
  all_clusters,      ///< Both.
};

/// Reaction to a reconcile that exceeds ControllerOptions::stuck_after, in addition to the log and the
/// metrics.
enum class OnStuck : std::uint8_t {
  fail_liveness,  ///< The liveness probe fails, so that the kubelet restarts the process.
  report,         ///< None.
};

/// Options of one controller. The manager's options replace unset members.
struct ControllerOptions {
  /// Up to 63 letters, digits, '-', '_' and '.', the first and the last a letter or digit. Default: the kind
  /// in lower case.
  std::string name = {};
  std::optional<std::size_t> workers = {};  ///< Concurrent reconciles, each on its own thread. Default 1.
  /// Concurrent reconciles in total, each on a fiber of one of the `workers` threads: a reconcile that waits
  /// leaves its thread to others. Default none: one reconcile at a time on each thread. See docs/fibers.md.
  std::optional<std::size_t> in_flight = {};
  /// Stack of each fiber; memory is committed when it is first used. At least 64 KiB.
  std::size_t fiber_stack_bytes = std::size_t{256} << 10;
  std::optional<Duration> reconcile_timeout = {};  ///< Deadline of one reconcile. Default none; 0: none.
  /// Time limit of the first lists. Default 2 min; 0: none.
  std::optional<Duration> sync_timeout = {};
  OnSyncTimeout on_sync_timeout = OnSyncTimeout::wait;  ///< Reaction when it has passed.
  OnPanic on_panic = OnPanic::retry;                    ///< Reaction to a bug in the reconciler.
  std::optional<EventGate> gate = {};                   ///< Effect of events during a back-off. Default on.
  std::string field_owner = {};                         ///< Default: the manager's name.
  /// A controller with RunsOn::every_instance does not wait for leadership, and its writes do not depend on
  /// it either: for work that each instance does for itself.
  RunsOn runs_on = RunsOn::leader;
  RunsIn runs_in = RunsIn::home_cluster;
  /// With other clusters: maximum of concurrent reconciles in each, so that a slow one does not occupy all
  /// workers. Default: half of all, rounded up. Not used with a `store`, see FairStoreOptions::cap.
  std::optional<std::size_t> per_cluster = {};
  /// Makes the limiter of retries. Default: default_limiter().
  std::function<AnyLimiter<RequestKey>()> limiter = {};
  /// Makes the backing store of the queue. Default: PriorityStore; live changes have priority 0, first lists
  /// and resyncs -100. With other clusters: a FairStore in which clusters take turns.
  std::function<AnyStore<RequestKey>()> store = {};
  /// Priority of runs requested by requeue_after(). Default: that of the run that requested it. Lane::slow
  /// makes periodic work wait behind live changes. Result::with_priority() has precedence.
  std::optional<Priority> requeue_priority = {};
  /// Position of a key that was added while it ran: by default the one at which it was added, so that a long
  /// run is not starved under a steady load.
  Readd readd = Readd::keep_place;
  Debounce debounce = {};                    ///< Combines events in quick succession. Default off.
  Duration min_interval = Duration::zero();  ///< Time between the starts of two runs of a key. Default none.
  /// Duration after which a reconcile counts as stuck. Default: 30 s more than reconcile_timeout, or 10 min
  /// if there is none. More than 0. See docs/explain.md.
  std::optional<Duration> stuck_after = {};
  OnStuck on_stuck = OnStuck::fail_liveness;
  /// Memory for the recent history of each key, which explains why an object is not reconciled. It is
  /// allocated on demand. Values below 4 KiB count as 4 KiB; 0: no history.
  std::size_t flight_recorder_bytes = std::size_t{1} << 20;
};

/// Registration of an event handler.
struct Attachment {
  /// Source of its events, which the registration keeps; null if that is not an informer.
  std::shared_ptr<Informer> informer = {};
  std::function<void()> remove =
      {};  ///< Ends the registration; no call of the handler is in progress when it returns.
};

/// One watch of a controller; made by the builder, or by watch_object() and similar functions.
struct WatchSpec {
  ResourceId resource = {};
  KeyMapping mapping = {};
  /// Makes `mapping` when the watch is added, for mappings that read from the cache. Null: `mapping` is used
  /// directly.
  std::function<KeyMapping(Cache& cache)> bind = {};
  Predicate when = {};
  /// Priority of the keys that it adds. Default: 0, and Lane::slow for first lists and resyncs.
  std::optional<Priority> priority = {};
  Duration delay = Duration::zero();  ///< Delay from an event until the key is ready.
  bool primary = false;  ///< True if it watches the reconciled objects themselves; see EventGate.
  /// Makes the CustomResourceDefinition that the C++ type describes; null for kinds without one. Throws
  /// std::invalid_argument for a kind that cannot have one, such as those of the core group.
  std::function<Json()> crd = {};
  bool installs_crd = false;  ///< ResourceInfo::installs_crd of the type.
  bool owned = false;         ///< True if the reconciled objects own these: owns().
  bool from_server = true;    ///< False if its events are those of an EventChannel.
  bool filtered = true;       ///< False if ControllerBuilder::filter() does not apply.
  /// Declares the kind in the cache and registers `handler` for its events.
  std::function<Attachment(Cache& cache, std::shared_ptr<EventHandler> handler)> attach = {};
};

/// A source of keys other than a watch.
struct SourceSpec {
  std::string name = {};
  SourceFunction run = {};  ///< Runs on its own thread while the controller runs.
  SourceOptions options = {};
  /// Alternative to `run`: calls `sink` from the moment the controller is attached; the result ends that.
  std::function<std::function<void()>(KeySink sink)> subscribe = {};
};

/// An index that a controller needs.
struct IndexSpec {
  ResourceId resource = {};
  IndexDefinition index = {};
};

/// Complete description of a controller; made by controller_for().
struct ControllerSpec {
  ControllerOptions options = {};
  ResourceId resource = {};  ///< The kind that is reconciled.
  ReconcileFunction reconcile = {};
  std::vector<WatchSpec> watches = {};
  std::vector<IndexSpec> indexes = {};  ///< Declared in the cache before the watches.
  std::vector<SourceSpec> sources = {};
  std::vector<TimerSpec> timers = {};
  /// Returns the number of objects of the kind in the cache.
  std::function<std::size_t(Cache& cache)> count = {};
  std::function<Json()> crd = {};            ///< Like WatchSpec::crd, for the reconciled kind.
  bool installs_crd = false;                 ///< ResourceInfo::installs_crd of the reconciled kind.
  std::vector<std::string> finalizers = {};  ///< Names of those that `reconcile` adds and removes.
};

/// Environment of a controller.
struct ControllerEnvironment {
  Client client;
  Cache& cache;
  KeyTable& keys;
  Log log = {};
  std::shared_ptr<const Clock> clock = real_clock();
  /// Called first on each thread that the controller starts, with the name of the thread.
  std::function<void(std::string_view thread)> on_thread_start = {};
  std::optional<std::uint64_t> seed = {};  ///< Seed of reconcile ids; unset: different in each program.
  /// Returns the leadership term; called at the start of each run. Null without leader election.
  std::function<std::uint64_t()> term = {};
  /// Called by a worker, under no lock, when runs begin after a time without any: `when` is the time at which
  /// look_for_stuck() has to be called. Null: stuck runs are not logged.
  std::function<void(TimePoint when)> schedule_stuck_check = {};
  /// Runs only keys that this replica owns. Null: all keys. Outlives the controller.
  Shards* shards = nullptr;
  /// Writes the Events of Context::event(). Null: they are only logged. Outlives the controller.
  EventRecorder* events = nullptr;
  /// The engaged clusters, in addition to the cluster of `client`. Null: none. Outlives the controller.
  ClusterSet* clusters = nullptr;
  /// Notified of every added key and every run; see observer.hpp.
  std::vector<std::shared_ptr<ControllerObserver>> observers = {};
  /// Receives the marks of Context::explore_point(). Null: they do nothing. Outlives the controller.
  detail::ExplorePoints* points = nullptr;
};

/// Identifies an added watch; never reused by the same controller.
using WatchId = std::uint64_t;

}  // namespace v0
}  // namespace evenkeel
