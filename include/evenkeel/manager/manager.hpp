// SPDX-License-Identifier: Apache-2.0
// What holds an operator together: client, cache and controllers, started and stopped in order.
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
#include <evenkeel/controller/controller.hpp>
#include <evenkeel/election/elector.hpp>
#include <evenkeel/manager/lifecycle_core.hpp>

namespace evenkeel {
inline namespace v0 {

class MetricRegistry;
class MetricSink;
struct EndpointOptions;
namespace http {
struct RouteOptions;
struct ServerCall;
}  // namespace http
namespace detail {
class Operations;
class Part;
}  // namespace detail

struct ManagerOptions {
  std::string name = "evenkeel";  ///< The field owner of what controllers write, unless they have one.
  Log log = {};                   ///< Silent by default; see make_log().
  std::shared_ptr<const Clock> clock = real_clock();
  LifecycleOptions lifecycle = {};                 ///< How patient a stop is.
  std::size_t workers = 1;                         ///< Of controllers that set no number.
  std::optional<Duration> reconcile_timeout = {};  ///< Of controllers that set none.
  std::optional<Duration> sync_timeout = {};       ///< Of controllers that set none.
  /// Called with the options of each controller that is added, as the program gave them, and may change them:
  /// how an operator's users get a say. What it leaves unset comes from the options above.
  std::function<void(ControllerOptions& options)> adjust_controller = {};
  CacheOptions cache = CacheOptions();  ///< Log and clock are filled in.
  /// With it, controllers and tasks of the leader run only while this instance leads. Its caches are filled
  /// before, so that a successor begins at once. Default: no election.
  std::optional<ElectionOptions> election = {};
  /// What the election talks through. Default: the same server and identity as the manager's client, with
  /// connections of its own.
  std::optional<Client> election_client = {};
  /// Called first on each thread that manager and controllers start, with a name for it.
  std::function<void(std::string_view thread)> on_thread_start = {};
};

/// Parts did not end within the grace period, and were cancelled.
class EVENKEEL_API GracePeriodExceeded : public Error {
 public:
  GracePeriodExceeded(std::vector<std::string> cancelled, std::vector<std::string> stuck);
  /// What ended only after its stop token was triggered, or never.
  const std::vector<std::string>& cancelled() const noexcept { return cancelled_; }
  /// What runs still; destroying the manager waits for it.
  const std::vector<std::string>& stuck() const noexcept { return stuck_; }

 private:
  std::vector<std::string> cancelled_;
  std::vector<std::string> stuck_;
};

/// This instance led, and leads no more. What it did was cancelled, and none of its reconcilers' writes went
/// out since.
class EVENKEEL_API LeadershipLost : public Error {
 public:
  using Error::Error;
};

/// What happened while a manager ran.
struct Totals {
  std::size_t objects = 0;        ///< Objects of the reconciled kinds that the cache holds.
  ReconcileCounts counts = {};    ///< Of all controllers.
  LatencyHistogram latency = {};  ///< From event to reconcile, of all controllers.
  Duration uptime = {};           ///< Since run() began.
};

/// Runs controllers over one client and one cache.
///
/// run() starts the cache, then tasks, waits for leadership if there is an election, starts controllers, and
/// blocks until the stop token is triggered or a part fails. On the way out no key is handed out any more,
/// running reconciles go on to their end within the grace period, and only then are cancelled; then
/// leadership is given up. It installs nothing: no signal handler, no flag, no global; several managers may
/// run in one process. Thread safety: all members may be called concurrently, but for run(), which is called
/// once. Lifetime: destruction joins every thread that the manager started.
class EVENKEEL_API Manager {
 public:
  explicit Manager(Client client, ManagerOptions options = {});
  ~Manager();
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;

  /// Adds a controller: controller_for<Demo>(reconcile).owns<ConfigMap>(). While the manager runs, it starts
  /// at once. Throws std::invalid_argument if the name is taken or the manager is stopping.
  Controller& add(ControllerSpec spec);
  /// Adds a task with a thread of its own. It runs until its stop token is triggered, or ends by itself; if
  /// it throws, the manager ends with that.
  void add_task(std::string name, std::function<void(std::stop_token)> task,
                RunsOn where = RunsOn::every_instance);

  /// Unbound: for use outside of reconciles.
  const Client& client() const noexcept;
  /// The same, but with an election its writes throw NotLeader unless this instance is the leader. What
  /// reconcilers get.
  const Client& leader_client() const noexcept;
  /// Whether this instance leads; without an election always.
  bool is_leader() const noexcept;
  Cache& cache() noexcept;
  const Cache& cache() const noexcept;
  const Log& log() const noexcept;
  const Clock& clock() const noexcept;

  /// Blocks until `stop` is triggered and everything has ended. Throws what a part failed with, its name in
  /// front, GracePeriodExceeded, or LeadershipLost.
  void run(std::stop_token stop);

  // ---- What others ask: metrics, probes, and what is for debugging. docs/operations.md ----

  /// Serves all of it over HTTP while run() runs; manager/endpoint.hpp has the options. Before run(). Throws
  /// std::invalid_argument for an address or files that make no sense; run() fails if they cannot be used.
  void serve(EndpointOptions options);
  /// Tells a probe whether the program is well (/healthz: else it is started anew) or can do its work
  /// (/readyz): `check` returns nothing, or what is wrong; it is called by several threads at once. The
  /// manager has checks of its own. Throws std::invalid_argument if the name is taken.
  void add_health_check(std::string name, std::function<std::string()> check);
  void add_readiness_check(std::string name, std::function<std::string()> check);
  /// Has the endpoint's metrics site answer for `path`, see http::Server::route(); nothing without an
  /// endpoint.
  void route(std::string path, std::function<http::Response(const http::ServerCall&)> handler,
             const http::RouteOptions& options);
  /// For hosts that have a server of their own: the answer to "/healthz", "/readyz/ping?verbose" and so on.
  http::Response answer_probe(std::string_view target);
  /// The same for "/debug/explain": `call.rest` is what follows it, "demo/default/web". docs/explain.md
  http::Response answer_explain(const http::ServerCall& call) const;
  /// Where the program registers metrics of its own, which are served beside the manager's; before run() or
  /// while it runs. metrics/registry.hpp, docs/metrics.md
  MetricRegistry& metrics() noexcept;
  /// For hosts that have metrics of their own: gives those of controllers, queues, cache, client and election
  /// to `sink`, and what is registered with metrics(), but none of the process.
  void collect(MetricSink& sink) const;

  Totals totals() const;
  /// How the watches of all controllers are doing.
  std::vector<WatchHealth> watch_health() const;
  /// The CustomResourceDefinitions of those kinds that controllers reconcile or watch and that say
  /// ResourceInfo::installs_crd, in the order of adding, each once. Throws std::invalid_argument for a kind
  /// of which crd_for() can make none.
  std::vector<Json> crds() const;
  /// All other kinds that controllers reconcile or watch, those of Kubernetes itself included, in the order
  /// of adding, each once.
  std::vector<ResourceId> kinds_without_crd() const;

 private:
  class Impl;

  // For what lives in files of its own.
  detail::Operations& operations() const noexcept;
  const std::function<void(std::string_view)>& on_thread_start() const noexcept;
  const Client* election_client() const noexcept;  // null without an election
  std::string election_name() const;               // empty without one
  std::vector<Controller*> controllers() const;
  std::string blocked_reason() const;  // why no controller runs here; empty if they do
  void add_part(std::string name, Stage stage, std::unique_ptr<detail::Part> part);

  std::unique_ptr<Impl> impl_;
};

}  // namespace v0
}  // namespace evenkeel
