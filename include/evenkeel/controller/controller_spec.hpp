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
#include <evenkeel/client/client.hpp>
#include <evenkeel/controller/handler.hpp>
#include <evenkeel/controller/predicate.hpp>
#include <evenkeel/controller/reconciler.hpp>
#include <evenkeel/controller/source.hpp>
#include <evenkeel/ratelimit/any_limiter.hpp>
#include <evenkeel/workqueue/any_store.hpp>
#include <evenkeel/workqueue/debounce.hpp>
#include <evenkeel/workqueue/key_table.hpp>
#include <evenkeel/workqueue/request_key.hpp>

namespace evenkeel {
inline namespace v0 {

class ControllerObserver;

enum class OnSyncTimeout : std::uint8_t {
  wait,  ///< Say in the log which kind is missing and why, and go on waiting.
  fail,  ///< End with an error, which ends the manager.
};

enum class OnPanic : std::uint8_t {
  retry,  ///< Counted, logged, and retried as any failure.
  fail,   ///< The controller ends with the error, which ends the manager.
};

/// Whether a back-off holds back events that give no reason to try again early. See docs/retries.md.
enum class EventGate : std::uint8_t {
  /// While a key waits for a retry, an update of its object that changes neither generation, labels,
  /// annotations nor deletion waits with it; every other event runs the key at once. If that run fails before
  /// the retry was due, it is not counted, and the retry stays due when it was.
  on,
  off,  ///< Every event runs the key at once, and every failure counts, as in client-go.
};

/// Which instances of a program run a controller or a task.
enum class RunsOn : std::uint8_t {
  every_instance,
  leader,  ///< Without an election that is every instance, too.
};

/// What is done about a reconcile that lasts too long, see ControllerOptions::stuck_after, beside naming it
/// in the log and the metrics.
enum class OnStuck : std::uint8_t {
  fail_liveness,  ///< The liveness probe fails, so that whoever watches over the process restarts it.
  report,         ///< Nothing else.
};

/// What is unset comes from the manager's options.
struct ControllerOptions {
  /// Up to 63 letters, digits, '-', '_' and '.', the first and the last a letter or digit. Default: the kind
  /// in lower case.
  std::string name = {};
  std::optional<std::size_t> workers = {};  ///< Reconciles at once, each on a thread of its own. Default 1.
  std::optional<Duration> reconcile_timeout = {};  ///< Deadline of one reconcile. Default none.
  std::optional<Duration> sync_timeout = {};       ///< How long to wait for the first lists. Default 2 min.
  OnSyncTimeout on_sync_timeout = OnSyncTimeout::wait;  ///< What to do when that is over.
  OnPanic on_panic = OnPanic::retry;   ///< After std::logic_error or what is no std::exception.
  std::optional<EventGate> gate = {};  ///< What events do during a back-off. Default on.
  std::string field_owner = {};        ///< Default: the manager's name.
  /// With RunsOn::every_instance it does not wait for leadership, and its writes are not held to it either:
  /// for what each instance does for itself.
  RunsOn runs_on = RunsOn::leader;
  /// Makes the limiter of retries. Default: default_limiter().
  std::function<AnyLimiter<RequestKey>()> limiter = {};
  /// Makes the backing store of the queue. Default: PriorityStore; live changes have priority 0, first lists
  /// and resyncs -100.
  std::function<AnyStore<RequestKey>()> store = {};
  Debounce debounce = {};                    ///< Gathers events that come close together. Default off.
  Duration min_interval = Duration::zero();  ///< Between the starts of two runs of a key. Default none.
  /// A reconcile that lasts longer is called stuck. Default: 30 s longer than reconcile_timeout, and without
  /// that 10 min. See docs/explain.md.
  std::optional<Duration> stuck_after = {};
  OnStuck on_stuck = OnStuck::fail_liveness;
  /// Memory for what happened to each key lately, which answers why an object is not reconciled. It is taken
  /// as it is needed; 4 KiB each for 8 parts at least. 0: nothing is recorded.
  std::size_t flight_recorder_bytes = std::size_t{1} << 20;
};

/// A handler that was declared somewhere.
struct Attachment {
  const Informer* informer = nullptr;  ///< Who tells it; null for sources that are no informer.
  std::function<void()> remove = {};   ///< Has it told no more; when it returns, it is not being told.
};

/// One watch of a controller; made by the builder, or by watch_object() and its kin.
struct WatchSpec {
  ResourceId resource = {};
  KeyMapping mapping = {};
  /// Makes `mapping` when the watch is added, for mappings that look something up in the cache. Null:
  /// `mapping` is used as it stands.
  std::function<KeyMapping(const Cache& cache)> bind = {};
  Predicate when = {};
  /// Of the keys that it adds. Default: 0, and Lane::slow for first lists and resyncs.
  std::optional<Priority> priority = {};
  Duration delay = Duration::zero();  ///< From an event to the key being ready.
  bool primary = false;  ///< Whether it watches the reconciled objects themselves: see EventGate.
  /// Makes the CustomResourceDefinition that the C++ type describes; null for kinds without one. Throws
  /// std::invalid_argument for a kind that can have none, as those of the core group.
  std::function<Json()> crd = {};
  bool installs_crd = false;  ///< ResourceInfo::installs_crd of the type.
  /// Declares the kind in the cache and has `handler` told of its events.
  std::function<Attachment(Cache& cache, std::shared_ptr<EventHandler> handler)> attach = {};
};

/// A source of keys that is no watch.
struct SourceSpec {
  std::string name = {};
  SourceFunction run = {};  ///< On a thread of its own, while the controller runs.
  SourceOptions options = {};
  /// Instead of `run`: has `sink` told from when the controller is attached; returns what ends that.
  std::function<std::function<void()>(KeySink sink)> subscribe = {};
};

/// All of a controller, before it runs; made by controller_for().
struct ControllerSpec {
  ControllerOptions options = {};
  ResourceId resource = {};  ///< The kind that is reconciled.
  ReconcileFunction reconcile = {};
  std::vector<WatchSpec> watches = {};
  std::vector<SourceSpec> sources = {};
  std::vector<TimerSpec> timers = {};
  /// How many objects of the kind the cache holds.
  std::function<std::size_t(Cache& cache)> count = {};
  std::function<Json()> crd = {};  ///< Of the reconciled kind; see WatchSpec::crd.
  bool installs_crd = false;       ///< ResourceInfo::installs_crd of the reconciled kind.
};

/// What a controller runs in.
struct ControllerEnvironment {
  Client client;
  Cache& cache;
  KeyTable& keys;
  Log log = {};
  std::shared_ptr<const Clock> clock = real_clock();
  /// Called first on each thread that the controller starts, with a name for it.
  std::function<void(std::string_view thread)> on_thread_start = {};
  std::optional<std::uint64_t> seed = {};  ///< Of reconcile ids; unset: no two programs have the same.
  /// The leadership term, asked for at the start of each run; null without leader election.
  std::function<std::uint64_t()> term = {};
  /// Called when runs begin after a time without, with when look_for_stuck() has to be called; by a worker,
  /// under no lock. Null: stuck runs are named to those who ask, and in no log.
  std::function<void(TimePoint when)> schedule_stuck_check = {};
  /// Told of every added key and every run; see observer.hpp.
  std::vector<std::shared_ptr<ControllerObserver>> observers = {};
};

/// Names a watch that was added; never used again by the same controller.
using WatchId = std::uint64_t;

}  // namespace v0
}  // namespace evenkeel
