// SPDX-License-Identifier: Apache-2.0
// The owner of client, cache and controllers, which starts and stops them in order.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/error.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/log.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/cache/cache.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/clusters/cluster_set.hpp>
#include <evenkeel/controller/controller.hpp>
#include <evenkeel/election/elector.hpp>
#include <evenkeel/events/event_recorder.hpp>
#include <evenkeel/manager/lifecycle_core.hpp>
#include <evenkeel/sharding/shards.hpp>

namespace evenkeel {
inline namespace v0 {

class Conversion;
class MetricRegistry;
class MetricSink;
class Webhook;
struct EndpointOptions;
struct ManifestPart;
struct WebhookServerOptions;
struct WebhookTarget;
namespace http {
struct RouteOptions;
struct ServerCall;
}  // namespace http
namespace detail {
class CacheDivider;
class ConsoleShell;
class Operations;
class Part;
class WebhookTable;
}  // namespace detail

struct ManagerOptions {
  std::string name = "evenkeel";  ///< Default field owner of the controllers' writes.
  Log log = {};                   ///< Silent by default; see make_log().
  std::shared_ptr<const Clock> clock = real_clock();
  LifecycleOptions lifecycle = {};                 ///< Time limits of stopping.
  std::size_t workers = 1;                         ///< Default for controllers.
  std::optional<Duration> reconcile_timeout = {};  ///< Default for controllers.
  std::optional<Duration> sync_timeout = {};       ///< Default for controllers.
  /// Called with the options of each added controller, which it may change, for example according to flags.
  /// Options that it leaves unset get the defaults above.
  std::function<void(ControllerOptions& options)> adjust_controller = {};
  CacheOptions cache = CacheOptions();  ///< Log and clock are filled in.
  /// Leader election: controllers and tasks of the leader run only while this instance is the leader. Caches
  /// are filled before that, so that a new leader can begin at once. Default: no election.
  std::optional<ElectionOptions> election = {};
  /// Client for the election or the shards. Default: a copy of the manager's client with separate
  /// connections.
  std::optional<Client> election_client = {};
  /// Client for requests of the manager itself: certificates of webhooks, access reviews. Default: the
  /// manager's client.
  std::optional<Client> own_client = {};
  /// Sharding: all replicas work, each on the objects that it owns; controllers with RunsOn::every_instance
  /// run all keys on every replica. Cannot be combined with `election`. Default name: the manager's, with
  /// "-shards".
  std::optional<ShardOptions> shards = {};
  /// Kubernetes Events that reconcilers record; log, clock and on_thread_start are filled in. The default
  /// component is `name`.
  EventRecorderOptions events = EventRecorderOptions();
  /// Options of the engaged clusters; log, clock and on_thread_start are filled in. See docs/clusters.md.
  ClusterSetOptions clusters = ClusterSetOptions();
  /// Called at the start of each thread of the manager and its controllers, with the thread's name.
  std::function<void(std::string_view thread)> on_thread_start = {};
};

/// Thrown if parts did not end within the grace period and were cancelled.
class EVENKEEL_API GracePeriodExceeded : public Error {
 public:
  GracePeriodExceeded(std::vector<std::string> cancelled, std::vector<std::string> stuck);
  /// Returns the parts that were still running at the end of the grace period.
  const std::vector<std::string>& cancelled() const noexcept { return cancelled_; }
  /// Returns the parts that are still running; the manager's destructor waits for them.
  const std::vector<std::string>& stuck() const noexcept { return stuck_; }

 private:
  std::vector<std::string> cancelled_;
  std::vector<std::string> stuck_;
};

/// Thrown if this instance lost leadership. Its work was cancelled, and reconcilers have sent no writes since
/// then.
class EVENKEEL_API LeadershipLost : public Error {
 public:
  using Error::Error;
};

/// Summary of a manager's run.
struct ManagerTotals {
  std::size_t objects = 0;        ///< Objects of the reconciled kinds that the cache holds.
  ReconcileCounts counts = {};    ///< Sum over all controllers.
  LatencyHistogram latency = {};  ///< From event to reconcile, of all controllers.
  Duration uptime = {};           ///< Time since run() was called.
};

/// Runs controllers with one client and one cache.
///
/// run() starts the cache and tasks, waits for leadership if there is an election, starts controllers, and
/// blocks until the stop token is triggered or a part fails. When it stops, no new reconciles begin; running
/// ones may finish within the grace period and are cancelled after it; then leadership is released, caches
/// and servers stop (LifecycleOptions::shutdown_delay), and recorded Events are written
/// (EventRecorderOptions::flush_limit). It installs no signal handlers, flags or
/// globals; several managers may run in one process.
/// Thread safety: all members may be called concurrently, except run(), which is called once.
/// Lifetime: the destructor joins all threads that the manager started.
class EVENKEEL_API Manager {
 public:
  explicit Manager(Client client, ManagerOptions options = {});
  ~Manager();
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;

  /// Adds a controller: controller_for<Demo>(reconcile).owns<ConfigMap>(). It starts at once if the manager
  /// is running. Throws std::invalid_argument if the name is taken or the manager is stopping.
  Controller& add(ControllerSpec spec);
  /// Adds a task that runs on a dedicated thread until it returns or its stop token is triggered. An
  /// exception that it throws ends the manager.
  void add_task(std::string name, std::function<void(std::stop_token)> task,
                RunsOn where = RunsOn::every_instance);

  /// Engages the clusters of a provider, such as kubeconfig_directory(): controllers with RunsIn other than
  /// home_cluster reconcile their objects. Election, shards, webhooks and their certificates remain in the
  /// home cluster. The name of the provider must be unique.
  void follow(std::shared_ptr<ClusterProvider> provider);
  /// Returns the engaged clusters; the program may also engage and disengage clusters itself.
  ClusterSet& clusters();

  /// Adds admission webhooks: webhook_for<Demo>().defaults(...).validates(...). Throws std::invalid_argument
  /// if the kind already has some, or after run() was called.
  void add(Webhook webhook);
  /// Adds a conversion between the versions of a kind: conversion_through<Demo>().converts<OldDemo>(...).
  /// Throws like add(Webhook).
  void add(Conversion conversion);

  /// Returns the client, for use outside of reconciles.
  const Client& client() const noexcept;
  /// Returns the client that reconcilers use: with an election, its writes throw NotLeader unless this
  /// instance is the leader.
  const Client& leader_client() const noexcept;
  /// Returns true if this instance is the leader; always true without an election.
  bool is_leader() const noexcept;
  /// Returns this replica of the ring; null without ManagerOptions::shards.
  const Shards* shards() const noexcept;
  /// Returns the recorder of Kubernetes Events, for use outside of reconciles.
  EventRecorder& events() const noexcept;
  Cache& cache() noexcept;
  const Cache& cache() const noexcept;
  const Log& log() const noexcept;
  const Clock& clock() const noexcept;
  const std::shared_ptr<const Clock>& shared_clock() const noexcept;
  /// Returns ManagerOptions::name.
  const std::string& name() const noexcept;

  /// Blocks until `stop` is triggered and all parts have ended. Throws GracePeriodExceeded, LeadershipLost,
  /// or the error of a part, prefixed with the part's name.
  void run(std::stop_token stop);
  /// Returns the parts that were still running when run() ended, in whatever way: they ignored their stop
  /// tokens for LifecycleOptions::cancel_period. The destructor waits for them.
  std::vector<std::string> stuck() const;

  // ---- For operations: metrics, probes and debugging. docs/operations.md ----

  /// Serves metrics, probes and debugging over HTTP during run(); see manager/endpoint.hpp. Must be called
  /// before run(). Throws std::invalid_argument for an invalid address or combination of files; run() fails
  /// if they cannot be used.
  void serve(EndpointOptions options);
  /// Serves the webhooks over HTTPS during run(), on every instance, even before the caches are filled; see
  /// webhook/webhook_server.hpp. Nothing is served without webhooks. Adds the readiness check "webhook". Must
  /// be called once, before run(). Throws std::invalid_argument for invalid options.
  void serve_webhooks(WebhookServerOptions options);
  /// Returns the configurations that register the webhooks with the API server; see
  /// webhook/configuration.hpp.
  std::vector<Json> webhook_configurations(const WebhookTarget& target) const;
  /// Adds a check to the liveness probe (/healthz; a failure restarts the program) or the readiness probe
  /// (/readyz). `check` returns the problem, or "" if there is none; it may be called concurrently. The
  /// manager also has built-in checks. Throws std::invalid_argument if the name is taken.
  void add_health_check(std::string name, std::function<std::string()> check);
  void add_readiness_check(std::string name, std::function<std::string()> check);
  /// Adds a route to the metrics site, see http::Server::route(). Has no effect without an endpoint.
  void route(std::string path, std::function<http::Response(const http::ServerCall&)> handler,
             const http::RouteOptions& options);
  /// Adds a section to the console: `read` returns values, lists of objects (tables) or objects, which the
  /// page shows under `title`. It is called on the endpoint's thread while a browser shows the page, and must
  /// not block; an exception is shown instead of the values. Has no effect without a console.
  /// docs/console.md. Throws std::invalid_argument if the title is empty or taken.
  void add_console_section(std::string title, std::function<Json()> read);
  /// For hosts with their own HTTP server: returns the response to a target such as "/healthz" or
  /// "/readyz/ping?verbose".
  http::Response answer_probe(std::string_view target);
  /// Like answer_probe(), for "/debug/explain": `call.rest` is the rest of the path, "demo/default/web". See
  /// docs/explain.md.
  http::Response answer_explain(const http::ServerCall& call) const;
  /// Returns the registry for metrics of the program, which are served with the manager's. May be used before
  /// and during run(). See metrics/registry.hpp and docs/metrics.md.
  MetricRegistry& metrics() noexcept;
  /// For hosts with their own metrics: passes the metrics of controllers, queues, cache, client and election,
  /// and those registered with metrics(), to `sink`; the metrics of the process are not included.
  void collect(MetricSink& sink) const;

  ManagerTotals totals() const;
  /// Returns the state of the watches of all controllers in the home cluster.
  std::vector<WatchHealth> watch_health() const;
  /// Returns the CustomResourceDefinitions of the kinds that controllers reconcile or watch and that set
  /// ResourceInfo::installs_crd, in the order of adding, without duplicates. One definition has all versions
  /// of its kind, including those that only a conversion names. Throws std::invalid_argument for a kind for
  /// which crd_for() or merge_versions() has no definition.
  std::vector<Json> crds() const;
  /// Like crds(), with conversion by the webhook at `target` for the kinds that have a conversion.
  std::vector<Json> crds(const WebhookTarget& target) const;
  /// Returns the kinds that controllers reconcile or watch and that crds() does not define, including
  /// built-in ones, in the order of adding, without duplicates.
  std::vector<ResourceId> kinds_without_crd() const;
  /// Adds objects, permissions and ports to the output of --print-manifests; see manager/manifests.hpp. For
  /// parts of the program other than controllers.
  void add_manifest(ManifestPart part);
  /// Returns the manifests added with add_manifest(), together with the permissions of the controllers; see
  /// rules_of().
  ManifestPart manifest() const;

 private:
  class Impl;

  // For other files of the implementation.
  detail::Operations& operations() const noexcept;
  const detail::CacheDivider* cache_divider() const noexcept;  // null unless the ring divides by ranges
  const std::function<void(std::string_view)>& on_thread_start() const noexcept;
  const Client* election_client() const noexcept;  // null without an election
  const Client& own_client() const noexcept;
  const ClusterSet& cluster_set() const noexcept;
  std::string election_name() const;  // empty without one
  bool is_stopping() const;
  std::vector<Controller*> controllers() const;
  std::string blocked_reason() const;  // the reason why no controller runs here; empty if they do
  std::shared_ptr<detail::ConsoleShell> make_console() const;
  void add_part(std::string name, Stage stage, std::unique_ptr<detail::Part> part);
  detail::WebhookTable& webhooks() const noexcept;

  std::unique_ptr<Impl> impl_;
};

}  // namespace v0
}  // namespace evenkeel
