// SPDX-License-Identifier: Apache-2.0
// A workbench for controllers: the real controller, queue, cache and client over the embedded API server's
// core, on the calling thread and in virtual time. No server, no socket, no thread; an hour takes no time.
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
#include <evenkeel/api/snapshot.hpp>
#include <evenkeel/apiserver/faults.hpp>
#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/error.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/log.hpp>
#include <evenkeel/base/object_key.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/cache/cache.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/controller/controller.hpp>
#include <evenkeel/controller/result_core.hpp>
#include <evenkeel/testing/object.hpp>

namespace evenkeel {
inline namespace v0 {
namespace core_v1 {
struct Event;
}

namespace testing {

struct HarnessOptions {
  /// Of uids, generated names and jitter: equal seeds and equal programs give equal stories.
  std::uint64_t seed = 1;
  /// The field owner of controllers that set none, as ManagerOptions::name.
  std::string name = "evenkeel";
  std::optional<Duration> reconcile_timeout = {};  ///< Of controllers that set none.
  /// Caches hear of a change so much later than it happens, first lists excepted: what a busy cluster does to
  /// a controller that believes its cache. Own writes through the Context are seen at once, as always.
  Duration cache_lag = Duration::zero();
  /// What goes wrong between the controllers and the server; what the test itself does is spared.
  std::vector<apiserver::FaultRule> faults = {};
  /// Reconcilers may fail. Without it, a run that throws ends the call that did it with UnexpectedFailure,
  /// unless it threw a conflict, which every controller meets, or a fault of this harness hit it.
  bool expect_failures = false;
  std::size_t max_runs = 1000;  ///< More runs in one call are an error: TooManyRuns.
  LogLevel log_level = LogLevel::debug;
};

/// A request of a controller that was to change something, and what it changed.
struct Write {
  std::string verb = {};      ///< "create", "update", "patch", "apply", "delete" or "deletecollection".
  std::string resource = {};  ///< "configmaps", "demos.demo.evenkeel.dev", "demos.demo.evenkeel.dev/status"
  ObjectKey key = {};
  Json sent = {};            ///< The body.
  int status = 0;            ///< Of the answer; 0: none came.
  std::string message = {};  ///< Why it was refused, or why no answer came.
  Json before = {};          ///< The object; null if it did not exist.
  Json after = {};           ///< The object; null if it is gone.
  Duration at = {};          ///< Since the harness was made.

  bool ok() const { return status >= 200 && status < 300; }
  /// What it did to the object, as differences() says it, but for what the server keeps books of: uid,
  /// resourceVersion, generation, creationTimestamp and managedFields.
  EVENKEEL_API std::vector<std::string> changes() const;
  /// `patch demos.demo.evenkeel.dev/status default/web: status.readyReplicas: 1 -> 2`
  EVENKEEL_API std::string str() const;
};

/// One call of a reconciler.
struct ReconcileRun {
  std::string controller = {};
  ObjectKey key = {};
  std::uint64_t attempt = 1;  ///< As Context::attempt().
  Duration at = {};           ///< Its start, since the harness was made.
  ReconcileOutcome outcome = {};
  std::exception_ptr error = {};      ///< What it threw.
  std::vector<Write> writes = {};     ///< Of this run, refused ones included.
  std::vector<std::string> log = {};  ///< Lines written meanwhile, see log_line().

  /// Its head, writes and log, a line each.
  EVENKEEL_API std::string str() const;
};

/// Controllers run on and on; what() shows the last runs and what they write.
class EVENKEEL_API TooManyRuns : public Error {
 public:
  using Error::Error;
};

/// A run threw although the test did not say that it may, see HarnessOptions::expect_failures; what() shows
/// the run with its error, and the story before it.
class EVENKEEL_API UnexpectedFailure : public Error {
 public:
  using Error::Error;
};

/// A small world: a server's core, controllers, and a clock that moves only when nothing is left to do now.
///
/// settle(), run_for() and step() do the work: events reach caches between two runs (and while a run waits),
/// keys go through the controllers' own queues, with their back-off, predicates and owner mappings, and one
/// run at a time is done, in the order of time. A reconciler's blocking calls, waits and sleeps through its
/// clock move the time. What the test does through the other members happens past caches and faults.
/// Thread safety: one thread at a time; a reconciler must not start threads of its own that use its context.
/// Lifetime: references into runs() are valid until the next call that works. Moved-from: destroy only.
class EVENKEEL_API Harness {
 public:
  /// Throws std::invalid_argument for options that FaultRule or the server's core refuse.
  explicit Harness(HarnessOptions options = {});
  ~Harness();
  Harness(Harness&&) noexcept;
  Harness& operator=(Harness&&) noexcept;

  // ---- The world ----

  /// Adds a controller, and the definitions of the custom kinds that it watches.
  void add(ControllerSpec spec);
  /// See create_objects().
  void create(const Objects& objects);
  /// Changes an object as a user would: edit<Demo>(key, [](Demo& demo) { demo.spec.replicas = 5; }).
  template <ObjectType T, class Edit>
  Snapshot<T> edit(const ObjectKey& key, Edit edit) {
    return client().patch(client().get<T>(key), std::move(edit));
  }
  /// The same for the status, as whoever runs the object would: a Deployment becomes available.
  template <ObjectType T, class Edit>
  Snapshot<T> edit_status(const ObjectKey& key, Edit edit) {
    return client().patch_status(client().get<T>(key), std::move(edit));
  }
  template <ObjectType T>
  void remove(const ObjectKey& key, const DeleteOptions& options = {}) {
    client().remove<T>(key, options);
  }
  /// Has `action` happen so much later, also in the middle of a run that waits.
  void after(Duration delay, std::function<void()> action);
  /// Adds a key to a controller's queue (by name; the only one if empty), as a source of its own would.
  /// Throws std::invalid_argument if there is no such controller.
  void enqueue(const ObjectKey& key, std::string_view controller = {});
  /// As SharedCore does.
  apiserver::FaultId inject(apiserver::FaultRule rule);
  void remove_fault(apiserver::FaultId id);
  apiserver::FaultCounts fault_counts(apiserver::FaultId id) const;
  /// Ends the controllers and their caches as a crash would, and starts them anew on the same server.
  void restart();

  // ---- Work ----

  /// Does one run that is due now; nothing if none is. Throws UnexpectedFailure.
  std::optional<ReconcileRun> step();
  /// Does all that is due, moves the time to what is due next, and goes on until nothing is due, or `limit`
  /// of virtual time is over; true in the first case. Throws TooManyRuns and UnexpectedFailure.
  bool settle(Duration limit = std::chrono::minutes{10});
  /// The same, but all of `time` passes.
  void run_for(Duration time);

  // ---- What there is to see ----

  const std::vector<ReconcileRun>& runs() const noexcept;
  /// The last run. Throws Error if there was none.
  const ReconcileRun& last() const;
  /// The writes of all runs, in order.
  std::vector<Write> writes() const;
  /// The writes that changed something.
  std::vector<Write> changes() const;
  /// Log lines of controllers, client and cache, in order.
  std::vector<std::string> log() const;
  /// Kubernetes Events that were written, in the order of their names; include evenkeel/api/kinds/core.hpp.
  std::vector<Snapshot<core_v1::Event>> events() const;
  /// The whole story, a line for each run, write and log line: for messages of failed tests. Runs in a row
  /// that differ in time and attempt only are shown once, with their number: "(x20, until 41s)".
  std::string str() const;
  /// Virtual time since the harness was made.
  Duration elapsed() const;

  /// The object as the server has it, or an empty snapshot.
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
  /// The controllers' cache, as it is now: for tests of functions that take one. Valid until restart().
  const Cache& cache() const noexcept;
  /// The test's own client: it goes straight to the server, past caches, faults and the record of writes.
  const Client& client() const noexcept;
  /// The clock of everything; moves with the work.
  const std::shared_ptr<const Clock>& clock() const noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
