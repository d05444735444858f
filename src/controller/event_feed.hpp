// SPDX-License-Identifier: Apache-2.0
// The path of events into a controller's queue: predicate, mapping, priority, gate.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/controller/controller_spec.hpp>
#include <evenkeel/controller/observer.hpp>

#include "controller/gated_queue.hpp"
#include "controller/mapping_retry_core.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// The watches of a controller. Predicates, mappings and observers are called under no lock. An event whose
/// mapping throws is mapped again later: by a thread that is started for the first such event, or by
/// map_due().
/// Thread safety: all members may be called concurrently.
/// Lifetime: call detach() before destroying the referenced objects; the cache may hold its handlers longer.
class EventFeed {
 public:
  struct Calls {
    std::function<void()> on_synced = {};  ///< A watch has delivered its first list.
    std::function<void()> on_held = {};    ///< An informer holds further namespaces; see holds().
  };

  /// `calls` are made on the cache's threads. If `spec` has finalizers, each event of a reconciled object in
  /// which its deletion begins is passed, whatever the predicates say.
  EventFeed(const ControllerSpec& spec, const ControllerEnvironment& environment, GatedQueue& queue, Log log,
            Calls calls)
      : environment_(environment),
        queue_(queue),
        log_(std::move(log)),
        namespaced_(spec.resource.scope == Scope::namespaced),
        finalizes_(!spec.finalizers.empty()),
        on_synced_(std::move(calls.on_synced)),
        on_held_(std::move(calls.on_held)) {}
  ~EventFeed() { detach(); }

  /// Permits it to start a thread; `on_thread_start` is called first on it, with its role.
  void start(std::function<void(const std::string&)> on_thread_start);
  WatchId attach(WatchSpec spec);
  /// Adds the watches of a controller in an engaged cluster. Their events count from the moment at which all
  /// of them have delivered their first lists; the objects that exist then are delivered again, and then
  /// `on_synced` is called. Called on the thread that delivers the events of `cache`.
  void attach_in(const std::string& cluster, Cache& cache, const std::vector<WatchSpec>& specs,
                 std::function<void()> on_synced);
  /// Removes the watches of a cluster; on return none of its events reaches the queue any more. Complexity:
  /// that of its watches.
  void leave(std::string_view cluster) noexcept;
  /// Returns true if the watches in an engaged cluster have delivered their first lists.
  bool is_synced(std::string_view cluster) const;
  /// Removes a watch; on return none of its events reaches the queue any more.
  void remove(WatchId id) noexcept;
  /// Delivers the objects that the watches have again, as those of a first list, to keys of these slots: this
  /// replica has gained them.
  void replay(const std::vector<bool>& slots) noexcept;
  /// Detaches all watches; on return no event reaches the queue any more.
  void detach() noexcept;
  bool all_synced() const;
  /// Returns true if the informers of all watches in the home cluster hold this namespace; see
  /// Informer::holds().
  bool holds(std::string_view namespace_) const;
  /// Without start(): maps failed events that are due, on the calling thread.
  void map_due();
  /// Without start(): returns the time of the next map_due().
  std::optional<TimePoint> next_due() const;
  /// Returns the cached state of the object of a key; without one if there is none.
  WireObject primary_of(const RequestKey& key) const;
  /// Tells the watches of the object of a key that it was seen to be newer; see Informer::suspect().
  void suspect(const RequestKey& key);
  /// Returns the state of the watches in a cluster, by default the home cluster, in the order of attach().
  std::vector<WatchHealth> health(const std::string& controller, std::string_view cluster = {}) const;

 private:
  class Watch;
  struct EngagedCluster;
  using Watches = std::map<WatchId, std::shared_ptr<Watch>>;

  /// Watches of one cluster.
  struct ClusterWatches {
    std::shared_ptr<EngagedCluster> engaged = {};  // null: the home cluster
    Watches watches = {};
  };

  WatchId attach(WatchSpec spec, Cache& cache, std::shared_ptr<EngagedCluster> engaged);
  bool stays_in_namespace(const WatchSpec& spec) const;
  Watches watches_in(std::string_view cluster) const EVENKEEL_EXCLUDES(mutex_);
  void open(EngagedCluster& engaged) noexcept;
  std::vector<std::shared_ptr<Informer>> primaries_of(const RequestKey& key) const;
  void take(Watch& watch, const ObjectEvent& event, const std::vector<bool>* slots = nullptr) noexcept;
  bool is_ours(const Watch& watch, const ObjectKey& key, const std::vector<bool>* slots) const;
  void retry_mapping(const FailedMapping& failed) noexcept;
  bool passes(const Watch& watch, const ObjectEvent& event) const;
  void refuse(const Watch& watch, const ObjectEvent& event);
  const Log& log_of(const Watch& watch) const;
  void add(Watch& watch, const ObjectEvent& event, const ObjectKey& key);
  void refuse_nameless(Watch& watch, const ObjectEvent& event);
  void warn_of_selection(const Watch& watch, const InformerOptions& options) const;
  void note_failure(const Watch& watch, FailedMapping failed, std::string_view error);
  void start_retry_thread() noexcept EVENKEEL_REQUIRES(mutex_);
  void run_mapping_retries() noexcept;

  const ControllerEnvironment& environment_;
  GatedQueue& queue_;
  const Log log_;
  const bool namespaced_;  // the reconciled kind
  const bool finalizes_;
  const std::function<void()> on_synced_;
  const std::function<void()> on_held_;
  mutable Mutex mutex_;
  CondVar changed_;                              // a mapping failed, or the feed is ending
  Watches watches_ EVENKEEL_GUARDED_BY(mutex_);  // all
  std::map<std::string, ClusterWatches, std::less<>> clusters_
      EVENKEEL_GUARDED_BY(mutex_);  // the same, by cluster
  WatchId last_id_ EVENKEEL_GUARDED_BY(mutex_) = 0;
  MappingRetryCore mapping_retries_ EVENKEEL_GUARDED_BY(mutex_);
  std::function<void(const std::string&)> on_thread_start_ EVENKEEL_GUARDED_BY(mutex_);
  bool started_ EVENKEEL_GUARDED_BY(mutex_) = false;
  bool ended_ EVENKEEL_GUARDED_BY(mutex_) = false;
  std::thread retry_thread_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
