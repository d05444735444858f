// SPDX-License-Identifier: Apache-2.0
// A test harness for controllers: the real controller, queue, cache and client over the core of the embedded
// API server, on the calling thread and in virtual time, without sockets and threads.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/json.hpp>
#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/api/snapshot.hpp>
#include <evenkeel/apiserver/api_server_core.hpp>
#include <evenkeel/apiserver/faults.hpp>
#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/error.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/log.hpp>
#include <evenkeel/base/object_key.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/base/trace.hpp>
#include <evenkeel/cache/cache.hpp>
#include <evenkeel/client/access_record.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/client/pod_exec.hpp>
#include <evenkeel/controller/builder.hpp>
#include <evenkeel/controller/controller.hpp>
#include <evenkeel/controller/result_core.hpp>
#include <evenkeel/events/event_recorder.hpp>
#include <evenkeel/testing/object.hpp>
#include <evenkeel/webhook/conversion.hpp>
#include <evenkeel/webhook/webhook.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing {
namespace detail {
class HarnessHooks;
}

/// A command that a controller runs in a container, with ek::exec() or ExecSession.
struct Command {
  ObjectKey pod = {};
  std::string container = {};  ///< Empty: the only one of the Pod.
  std::vector<std::string> words = {};
  bool with_stdin = false;
  std::string input = {};  ///< All input that it read from stdin.
};

struct HarnessOptions {
  /// Seed of uids, generated names and jitter: equal seeds and equal programs give equal runs.
  std::uint64_t seed = 1;
  /// Default field owner of controllers, like ManagerOptions::name.
  std::string name = "evenkeel";
  std::optional<Duration> reconcile_timeout = {};  ///< Default for controllers.
  /// Delay from a change to its arrival in caches, except for first lists; simulates a busy cluster. Writes
  /// of controllers are visible to them at once, as always.
  Duration cache_lag = Duration::zero();
  /// Faults between the controllers and the server; requests of the test itself are not affected.
  std::vector<apiserver::FaultRule> faults = {};
  /// Simulates the commands that controllers run in existing Pods, without time passing; an exception means
  /// that the command could not be run. Empty: commands fail with a TransportError.
  std::function<ExecResult(const Command&)> on_exec = {};
  /// Accept failing reconciles. Otherwise a reconcile that throws ends the call that ran it with
  /// UnexpectedFailure, except for conflicts, which are normal, and for failures caused by a fault of this
  /// harness.
  bool expect_failures = false;
  std::size_t max_runs = 1000;  ///< Limit of runs per call; TooManyRuns is thrown beyond it.
  /// Options of the recorder of Events; log, clock, seed and threads are filled in.
  EventRecorderOptions events = EventRecorderOptions();
  LogLevel log_level = LogLevel::debug;
  /// The state in which the server begins, from Harness::snapshot(); its clock begins at the time of the
  /// snapshot, and uids and generated names follow those of the world, not `seed`.
  std::optional<apiserver::World> world = {};
  /// Receives the spans of the controllers, with virtual times; see docs/tracing.md. Null: none are recorded.
  std::shared_ptr<SpanExporter> span_exporter = {};
  /// Webhooks of the operator, at most one per kind. The server calls them at once for the writes of
  /// controllers and of the test, as a real one does. Their functions must not send requests to the harness.
  std::vector<Webhook> webhooks = {};
  /// Conversions of the operator, between versions that set ResourceInfo::installs_crd. The harness installs
  /// their definitions, and the server calls the functions at once whenever an object is needed in another
  /// version than the stored one. They must not send requests to the harness.
  std::vector<Conversion> conversions = {};
  std::shared_ptr<detail::HarnessHooks> hooks = {};  ///< For explore().
};

/// A mutating request of a controller and its effect.
struct Write {
  std::string verb = {};      ///< "create", "update", "patch", "apply", "delete" or "deletecollection".
  std::string resource = {};  ///< "configmaps", "demos.demo.evenkeel.dev", "demos.demo.evenkeel.dev/status"
  ObjectKey key = {};
  Json sent = {};            ///< The body.
  int status = 0;            ///< HTTP status of the response; 0: there was none.
  std::string message = {};  ///< Error of the server, or the reason for a missing response.
  Json before = {};          ///< Object before the write; null if it did not exist.
  Json after = {};           ///< Object after the write; null if it does not exist.
  Duration at = {};          ///< Time since the construction of the harness.

  bool ok() const { return status >= 200 && status < 300; }
  /// Returns the change of the object, formatted by differences(), without the server-managed fields uid,
  /// resourceVersion, generation, creationTimestamp and managedFields.
  EVENKEEL_API std::vector<std::string> changes() const;
  /// Returns `patch demos.demo.evenkeel.dev/status default/web: status.readyReplicas: 1 -> 2`.
  EVENKEEL_API std::string str() const;
};

/// One call of a reconciler.
struct ReconcileRun {
  std::string controller = {};
  ObjectKey key = {};
  std::uint64_t attempt = 1;  ///< See Context::attempt().
  Duration at = {};           ///< Start, as time since the construction of the harness.
  ReconcileOutcome outcome = {};
  std::exception_ptr error = {};      ///< The exception thrown.
  std::vector<Write> writes = {};     ///< Writes of this run, including rejected ones.
  std::vector<std::string> log = {};  ///< Lines logged during the run, see log_line().

  /// Returns a heading, the writes and the log, a line each.
  EVENKEEL_API std::string str() const;
};

/// Thrown if the controllers did not converge; what() contains the last runs and their writes.
class EVENKEEL_API TooManyRuns : public Error {
 public:
  using Error::Error;
};

/// Thrown if a reconcile threw although the test does not expect failures, see
/// HarnessOptions::expect_failures; what() contains the run with its error, and the history before it.
class EVENKEEL_API UnexpectedFailure : public Error {
 public:
  using Error::Error;
};

/// A simulated cluster: a server's core, controllers, and a clock that moves only when no work is left.
///
/// settle(), run_for() and step() do the work: events reach caches between two runs (and while a run waits),
/// keys go through the controllers' own queues, with back-off, predicates and owner mappings, and reconciles
/// run one at a time, in the order of time. Blocking calls, waits and sleeps of a reconciler advance the
/// clock. Requests of the test through the other members bypass caches and faults.
/// Thread safety: one thread at a time; a reconciler must not start threads that use its context.
/// Lifetime: references into runs() are valid until the next call that does work. A moved-from harness can
/// only be destroyed.
class EVENKEEL_API Harness {
 public:
  /// Throws std::invalid_argument for options that FaultRule or the server's core reject.
  explicit Harness(HarnessOptions options = {});
  ~Harness();
  Harness(Harness&&) noexcept;
  Harness& operator=(Harness&&) noexcept;

  // ---- Setup and external changes ----

  /// Adds a controller, and creates the definitions of the custom kinds that it watches.
  void add(ControllerSpec spec);
  /// See create_objects().
  void create(const Objects& objects);
  /// Changes an object as a user would: edit<Demo>(key, [](Demo& demo) { demo.spec.replicas = 5; }).
  template <ObjectType T, class Edit>
  Snapshot<T> edit(const ObjectKey& key, Edit edit) {
    return client().patch(client().get<T>(key), std::move(edit));
  }
  /// Like edit(), but edits the status, as another controller would: a Deployment becomes available.
  template <ObjectType T, class Edit>
  Snapshot<T> edit_status(const ObjectKey& key, Edit edit) {
    return client().patch_status(client().get<T>(key), std::move(edit));
  }
  template <ObjectType T>
  void remove(const ObjectKey& key, const DeleteOptions& options = {}) {
    client().remove<T>(key, options);
  }
  /// Runs `action` after `delay`, even in the middle of a run that waits.
  void after(Duration delay, std::function<void()> action);
  /// Adds a key to a controller's queue (by name; the only one if empty), like a source. Throws
  /// std::invalid_argument if there is no such controller.
  void enqueue(const ObjectKey& key, std::string_view controller = {});
  /// See SharedCore::inject().
  apiserver::FaultId inject(apiserver::FaultRule rule);
  void remove_fault(apiserver::FaultId id);
  apiserver::FaultCounts fault_counts(apiserver::FaultId id) const;
  /// Ends the controllers and their caches as a crash would, and starts new ones on the same server.
  void restart();
  /// Returns the state of the server, for HarnessOptions::world of other harnesses: any number of them may
  /// start from it and continue independently. Controllers, their queues and caches, faults, and actions of
  /// after() are not part of it. The time that it takes does not depend on the number of objects.
  apiserver::World snapshot() const;

  // ---- Work ----

  /// Does one run that is due now; returns std::nullopt if none is. Throws UnexpectedFailure.
  std::optional<ReconcileRun> step();
  /// Does all work that is due, then advances the time to the next due time, until no work is left or `limit`
  /// of virtual time has passed; returns true in the first case. Throws TooManyRuns and UnexpectedFailure.
  bool settle(Duration limit = std::chrono::minutes{10});
  /// Like settle(), but until exactly `time` has passed, or a run that began before has ended.
  void run_for(Duration time);

  // ---- Results ----

  const std::vector<ReconcileRun>& runs() const noexcept;
  /// Returns the last run. Throws Error if there was none.
  const ReconcileRun& last() const;
  /// Returns the writes of all runs, in order.
  std::vector<Write> writes() const;
  /// Returns the writes that changed an object.
  std::vector<Write> changes() const;
  /// Returns the log lines of controllers, client and cache, in order.
  std::vector<std::string> log() const;
  /// Returns the Kubernetes Events that were written, in the order of their names; include
  /// evenkeel/api/kinds/core.hpp. Events of Context::event() are written after the run, and these writes do
  /// not belong to any run.
  std::vector<Snapshot<core_v1::Event>> events() const;
  /// Returns the complete history, a line for each run, write and log line, for messages of failed tests.
  /// Consecutive runs that differ only in time and attempt are shown once, with their number: "(x20, until
  /// 41s)".
  std::string str() const;
  /// Returns the accesses of the controllers, their watches included; see compare_rights() in
  /// client/policy_rule.hpp.
  AccessRecord accesses() const;
  /// Returns the virtual time since construction.
  Duration elapsed() const;

  /// Returns the object as stored by the server, or an empty snapshot.
  template <ObjectType T>
  Snapshot<T> find(const ObjectKey& key) const {
    return client().find<T>(key);
  }
  template <ObjectType T>
  Snapshot<T> get(const ObjectKey& key) const {
    return client().get<T>(key);
  }
  template <ObjectType T>
  std::vector<Snapshot<T>> list(const ListOptions& options = {}) const {
    return client().list<T>(options).items;
  }
  /// Returns the controllers' cache in its current state, for tests of functions that take one. Valid until
  /// restart().
  const Cache& cache() const noexcept;
  /// Returns the test's own client: it accesses the server without caches and faults, and its writes are not
  /// recorded.
  const Client& client() const noexcept;
  /// Returns the clock of the harness; it advances with the work.
  const std::shared_ptr<const Clock>& clock() const noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
