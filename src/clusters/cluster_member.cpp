// SPDX-License-Identifier: Apache-2.0
#include "clusters/cluster_member.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <evenkeel/events/event_recorder.hpp>

#include "base/free_memory.hpp"
#include "clusters/cluster_events.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

constexpr Duration probe_timeout = std::chrono::seconds{10};
constexpr std::size_t weighings = 16;                        // while the maximum arrives
constexpr Duration last_weighing = std::chrono::seconds{1};  // after the last bytes, which are then stored

ReachOptions reach_options(const ClusterSetOptions& options) {
  return {.failures = options.failures_until_away,
          .first_probe = options.first_probe,
          .longest_probe = options.longest_probe};
}

// Clients and caches are freed by the thread that drives them, on whichever the last handle is dropped.
std::shared_ptr<Cluster> on_loop(std::unique_ptr<Cluster> cluster, std::weak_ptr<ClusterLoop> loop) {
  return {cluster.release(), [loop = std::move(loop)](Cluster* last) {
            const auto driver = loop.lock();
            if (driver == nullptr) return delete last;
            driver->post([last] {
              delete last;
              return_free_memory();
            });
          }};
}

std::size_t bytes_of(const Cache& cache) {
  std::size_t bytes = 0;
  for (const CollectionHealth& one : cache.health()) bytes += one.informer.bytes;
  return bytes;
}

}  // namespace

ClusterMember::ClusterMember(ClusterDescription description, ClusterLoop& loop,
                             const ClusterSetOptions& options, Calls calls)
    : description_(std::move(description)),
      loop_(loop),
      options_(options),
      calls_(std::move(calls)),
      log_(options.log.with({{"cluster", description_.name}})),
      monitor_(std::make_shared<ReachMonitor>(options.clock, reach_options(options),
                                              std::max<std::size_t>(options.max_bytes / weighings, 1))),
      alarm_(loop_.runner(), [this] { on_alarm(); }),
      weighing_(loop_.runner(), [this] { weigh(); }),
      cancelling_(loop_.runner(), [this] { stop_.request_stop(); }),
      flushing_(loop_.runner(), [this] { free(); }) {}

ClusterMember::~ClusterMember() = default;

std::shared_ptr<Cluster> ClusterMember::cluster() const {
  MutexLock lock(mutex_);
  return cluster_;
}

ClientOptions ClusterMember::client_options() const {
  ClientOptions client = options_.client;
  client.event_loop = loop_.loop_of_owner(options_.max_bytes);
  client.clock = options_.clock;
  client.log = log_;
  client.wrap_transport = [monitor = monitor_, inner = options_.client.wrap_transport](
                              std::shared_ptr<http::Transport> transport) {
    if (inner) transport = inner(std::move(transport));
    return monitored(std::move(transport), monitor);
  };
  return client;
}

CacheOptions ClusterMember::cache_options() const {
  CacheOptions cache = options_.cache;
  cache.clock = options_.clock;
  cache.log = log_;
  cache.disk = {};
  return cache;
}

// A holder of the cluster may outlive the member, and so do its transport and its recorder.
void ClusterMember::watch_reach() {
  monitor_->notify({.on_away =
                        [self = weak_from_this()](const std::string& error) {
                          const auto member = self.lock();
                          if (!member) return;
                          member->log_.warn("a cluster is away; its keys wait", {{"error", error}});
                          member->alarm_.now();
                        },
                    .on_back =
                        [self = weak_from_this()] {
                          const auto member = self.lock();
                          if (!member) return;
                          member->log_.info("a cluster is back");
                          member->calls_.on_returned();
                        },
                    .on_received =
                        [self = weak_from_this()] {
                          const auto member = self.lock();
                          if (!member) return;
                          member->grown_ = true;
                          member->weighing_.now();
                        }});
}

const std::shared_ptr<Cluster>& ClusterMember::make() {
  watch_reach();
  const auto on_pumped = [self = weak_from_this()] {
    if (const auto member = self.lock()) member->look_at_events();
  };
  const Client client = options_.make_client ? options_.make_client(description_, client_options())
                                             : Client(description_.config, client_options());
  EventRecorderOptions events = options_.events;
  events.log = log_;
  events.clock = options_.clock;
  made_ = on_loop(std::make_unique<Cluster>(
                      Cluster::Parts{.name = description_.name,
                                     .client = client,
                                     .cache = std::make_unique<Cache>(client, cache_options()),
                                     .events = recorder_on(loop_.runner(), client, events, on_pumped),
                                     .stop = stop_.get_token()}),
                  loop_.weak_from_this());
  return made_;
}

void ClusterMember::start() {
  {
    MutexLock lock(mutex_);
    cluster_ = made_;
    open_ = true;
  }
  made_->cache().start();
}

void ClusterMember::close() {
  MutexLock lock(mutex_);
  open_ = false;
}

void ClusterMember::drain(Duration patience) {
  bool drained = false;
  {
    MutexLock lock(mutex_);
    leaving_ = true;
    drained = running_ == 0;
  }
  if (drained) return calls_.on_drained();
  cancelling_.set(deadline_after(options_.clock->now(), patience));
}

void ClusterMember::retire(std::function<void()> done) {
  {
    MutexLock lock(mutex_);
    cluster_.reset();
  }
  on_freed_ = std::move(done);
  if (!made_ || is_away()) return free();
  made_->events().flush(Duration::zero());
  flushing_.set(deadline_after(options_.clock->now(), options_.events.flush_limit));
  look_at_events();
}

void ClusterMember::look_at_events() {
  if (!on_freed_ || !made_) return;
  const EventRecorder& events = made_->events();
  if (!events.is_writing() && !events.next_write_due()) flushing_.now();
}

// The cache stops here although somebody may hold the cluster: nothing of it is to be notified any more.
void ClusterMember::free() {
  if (!on_freed_) return;
  const auto done = std::exchange(on_freed_, nullptr);
  stop_.request_stop();
  if (made_) made_->cache().stop();
  if (probe_) probe_->cancel();  // it holds the client, and the loop may end first
  probe_.reset();
  made_.reset();
  done();
}

void ClusterMember::fail(std::string_view message, const std::string& problem) {
  {
    MutexLock lock(mutex_);
    problem_ = problem;
  }
  log_.error(message, {{"error", problem}});
}

void ClusterMember::weigh() {
  if (!made_ || !is_open()) return;
  if (bytes_of(made_->cache()) > options_.max_bytes) return calls_.on_overflow();
  if (grown_.exchange(false)) weighing_.set(deadline_after(loop_.runner()->clock().now(), last_weighing));
}

bool ClusterMember::overflow() {
  if (!made_ || !is_open() || bytes_of(made_->cache()) <= options_.max_bytes) return false;
  made_->cache().stop();
  cancel();
  fail("a cluster is given up",
       "its objects take more than " + std::to_string(options_.max_bytes) + " bytes of memory");
  return true;
}

bool ClusterMember::is_open() const {
  MutexLock lock(mutex_);
  return open_;
}

std::shared_ptr<Cluster> ClusterMember::begin() {
  MutexLock lock(mutex_);
  if (!open_) return nullptr;
  ++running_;
  return cluster_;
}

void ClusterMember::end(ClusterRun::Ending ending) {
  bool drained = false;
  {
    MutexLock lock(mutex_);
    --running_;
    if (ending != ClusterRun::Ending::discarded) ++reconciles_;
    if (ending == ClusterRun::Ending::failed) ++failures_;
    drained = leaving_ && running_ == 0;
  }
  if (drained) calls_.on_drained();
}

void ClusterMember::note_deferred() {
  MutexLock lock(mutex_);
  ++deferred_;
}

void ClusterMember::on_alarm() {
  if (monitor_->on_timeout()) probe();
  if (const auto due = monitor_->next_due()) alarm_.set(*due);
}

// The transport reports the end. While one probe is open, no further one is sent.
void ClusterMember::probe() {
  if (!made_ || probing_->exchange(true)) return;
  try {
    probe_ = made_->client()
                 .with({.timeout = probe_timeout, .max_retries = 0, .without_flow_control = true})
                 .start(ApiCall<int>({.path = "/version"}, [](http::Response) { return 0; }),
                        [probing = probing_](Outcome<int>) { *probing = false; });
  } catch (const Error& error) {
    *probing_ = false;
    log_.debug("a probe could not be sent", {{"error", error.what()}});
  }
}

ClusterStatus ClusterMember::status() const {
  ClusterStatus status{.name = name()};
  const auto absence = monitor_->absence();
  std::shared_ptr<Cluster> cluster;
  {
    MutexLock lock(mutex_);
    status.running = running_;
    status.reconciles = reconciles_;
    status.failures = failures_;
    status.deferred = deferred_;
    status.problem = problem_;
    if (!problem_.empty()) {
      status.state = ClusterState::failed;
    } else if (leaving_) {
      status.state = ClusterState::leaving;
    } else if (absence) {
      status.state = ClusterState::away;
      status.problem = absence->error;
      status.since = absence->since;
    }
    cluster = cluster_;
  }
  if (!cluster) return status;
  const std::vector<CollectionHealth> health = cluster->cache().health();
  status.watches = health.size();
  status.synced = true;
  for (const CollectionHealth& one : health) {
    status.synced = status.synced && one.informer.synced;
    status.objects += one.informer.objects;
    status.bytes += one.informer.bytes;
  }
  return status;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
