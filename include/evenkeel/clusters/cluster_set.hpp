// SPDX-License-Identifier: Apache-2.0
// The engaged clusters of a manager, in addition to its home cluster. They join and leave at run time, and
// are driven by a fixed number of threads.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/log.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/cache/cache.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/clusters/cluster.hpp>
#include <evenkeel/clusters/cluster_provider.hpp>
#include <evenkeel/events/event_recorder.hpp>

namespace evenkeel {
inline namespace v0 {

class MetricSink;

struct ClusterSetOptions {
  /// Threads that drive sockets, watches and caches; each cluster belongs to one of them. Their number does
  /// not depend on that of the clusters.
  std::size_t threads = 1;
  /// Maximum number of threads for blocking work: name lookups, token and certificate files, credential
  /// programs. A cluster uses at most one at a time; if as many programs hang as there are threads, other
  /// clusters are delayed.
  std::size_t blocking_threads = 4;
  /// Time for the running reconciles of a cluster that leaves, before their stop tokens are triggered.
  Duration drain_timeout = std::chrono::seconds{30};
  /// Number of consecutive requests without an answer after which a cluster counts as away: its keys then
  /// wait without occupying workers until a request is answered. At least 1.
  std::size_t failures_until_away = 3;
  /// Time from the last of them until the set requests the cluster's version; doubled each time. > 0.
  Duration first_probe = std::chrono::seconds{1};
  Duration longest_probe = std::chrono::seconds{30};  ///< Upper limit of that time; >= first_probe.
  /// Maximum bytes of the objects of one cluster in its cache, those of running lists included, and of one
  /// other answer of its API server. A cluster with more fails, and its objects are freed: the writer of a
  /// kubeconfig selects the API server, and thereby decides about the memory of all. Checked whenever a
  /// sixteenth of it has arrived. At least 1.
  std::size_t max_bytes = std::size_t{256} << 20;
  /// Options of the clients; event loop, clock and log are filled in. By default without a tracer.
  ClientOptions client = ClientOptions();
  /// Options of the caches; clock and log are filled in. `threads` and `disk` are not used.
  CacheOptions cache = CacheOptions();
  EventRecorderOptions events = {};  ///< Options of recorders; log, clock and threads are filled in.
  /// Makes the client of a cluster, for other transports or identities. Must pass `options` on. Default:
  /// Client(description.config, options).
  std::function<Client(const ClusterDescription& description, ClientOptions options)> make_client = {};
  std::function<void(std::string_view thread)> on_thread_start = {};  ///< Called first on each thread.
  Log log = {};
  std::shared_ptr<const Clock> clock = real_clock();
};

enum class ClusterState : std::uint8_t {
  engaged,  ///< Its objects are watched.
  away,     ///< It does not answer; see ClusterSetOptions::failures_until_away.
  leaving,  ///< Its last reconciles end.
  failed,   ///< It cannot be engaged, or is too large; see ClusterStatus::problem.
};

/// Returns "engaged", "away", "leaving" or "failed".
EVENKEEL_API std::string_view cluster_state_name(ClusterState state) noexcept;

/// State of one cluster, for probes, metrics and people.
struct ClusterStatus {
  std::string name = {};
  ClusterState state = ClusterState::engaged;
  std::string problem = {};             ///< The last error of a cluster that is away or failed.
  std::optional<TimePoint> since = {};  ///< Start of being away.
  bool synced = false;                  ///< All its watches have read their first lists.
  std::size_t watches = 0;              ///< Informers of its cache.
  std::size_t objects = 0;              ///< Objects in its cache.
  std::size_t bytes = 0;                ///< Memory of these objects.
  std::size_t running = 0;              ///< Reconciles in progress.
  std::uint64_t reconciles = 0;         ///< Reconciles that have ended.
  std::uint64_t failures = 0;           ///< Reconciles that failed; conflicts do not count.
  std::uint64_t deferred = 0;           ///< Times that a key had to wait because the cluster was away.
};

/// Notified of the clusters of a set; implemented by controllers. Members are called on the threads of the
/// set, one at a time.
class EVENKEEL_API ClusterFollower {
 public:
  virtual ~ClusterFollower() = default;
  /// Called before the cache starts, or later for a follower that is added later. If it throws, on_leaving()
  /// is called at once to undo what it has done.
  virtual void on_engaged(const std::shared_ptr<Cluster>& cluster) = 0;
  /// Called when the cluster leaves; no run of it begins any more. Called also for a cluster that is not
  /// followed because on_engaged() threw.
  virtual void on_leaving(const Cluster& cluster) noexcept = 0;
  /// Called when a cluster that was away has answered.
  virtual void on_returned(const Cluster& cluster) noexcept = 0;
};

namespace detail {
class ClusterMember;
}

/// The right to run one reconcile in a cluster, which does not leave before it ends.
/// Thread safety: one thread at a time.
class EVENKEEL_API ClusterRun {
 public:
  ClusterRun(ClusterRun&& other) noexcept = default;
  ClusterRun& operator=(ClusterRun&&) = delete;
  ~ClusterRun();

  const Cluster& cluster() const noexcept { return *cluster_; }
  /// Counts the run as failed.
  void fail() noexcept { ending_ = Ending::failed; }
  /// Does not count the run: nothing was reconciled.
  void discard() noexcept { ending_ = Ending::discarded; }

 private:
  friend class ClusterSet;
  friend class detail::ClusterMember;
  enum class Ending : std::uint8_t { succeeded, failed, discarded };
  ClusterRun(std::shared_ptr<detail::ClusterMember> member, std::shared_ptr<Cluster> cluster)
      : member_(std::move(member)), cluster_(std::move(cluster)) {}
  std::shared_ptr<detail::ClusterMember> member_;
  std::shared_ptr<Cluster> cluster_;
  Ending ending_ = Ending::succeeded;
};

/// Permission to begin a reconcile, or the reason for its absence.
struct ClusterTurn {
  std::optional<ClusterRun> run = {};  ///< Set if the reconcile may begin.
  bool away = false;                   ///< It must wait. False without `run`: no such cluster.
};

/// The engaged clusters of a program.
/// Thread safety: all members may be called concurrently.
/// Lifetime: outlives its followers and all ClusterRuns; the destructor joins its threads.
class EVENKEEL_API ClusterSet {
 public:
  /// Throws std::invalid_argument for options that break their bounds.
  explicit ClusterSet(ClusterSetOptions options = {});
  ~ClusterSet();
  ClusterSet(const ClusterSet&) = delete;
  ClusterSet& operator=(const ClusterSet&) = delete;

  /// Engages a cluster, without a provider. Throws std::invalid_argument for an invalid name.
  void engage(ClusterDescription description);
  /// Ends what engage() began. Returns at once; see ClusterState::leaving.
  void disengage(std::string_view name);
  /// Returns the sink to which a provider offers its clusters. Lifetime: that of the set.
  std::unique_ptr<ClusterSink> sink(std::string provider);

  /// Returns an engaged cluster; null if there is none of this name.
  std::shared_ptr<Cluster> find(std::string_view name) const;
  /// Returns the state of each cluster, sorted by name.
  std::vector<ClusterStatus> status() const;
  std::optional<ClusterStatus> status(std::string_view name) const;
  /// Passes the metrics to `sink`; docs/metrics.md lists them.
  void collect(MetricSink& sink) const;

  // ---- For managers and controllers

  /// Begins to engage clusters; offers made earlier were only recorded.
  void start();
  /// Lets all clusters leave, their runs being cancelled at once, and calls `done`, perhaps on another
  /// thread, when they have. Final.
  void stop(std::function<void()> done);
  /// Adds a follower, which is notified of engaged clusters as well. An exception that it throws fails a
  /// cluster that is being engaged; for one that is engaged already it is logged, and the follower does not
  /// follow that cluster.
  void add_follower(ClusterFollower& follower);
  /// Returns when no call of the follower is in progress.
  void remove_follower(ClusterFollower& follower);
  ClusterTurn begin(std::string_view name);
  /// Returns true while the cluster does not answer; false also if there is none of this name.
  bool is_away(std::string_view name) const;
  /// Returns the reason why the keys of a cluster do not run: "cluster eu is away: ...". Empty: they do.
  std::string blocked_reason(std::string_view name) const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace v0
}  // namespace evenkeel
