// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <deque>
#include <set>
#include <stdexcept>
#include <utility>

#include <evenkeel/api/crd.hpp>
#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/stop.hpp>
#include <evenkeel/manager/manager.hpp>
#include <evenkeel/manager/manifests.hpp>
#include <evenkeel/workqueue/key_table.hpp>

#include "base/ascii.hpp"
#include "base/caught.hpp"
#include "base/earlier.hpp"
#include "client/request/bound_limits.hpp"
#include "manager/cache_divider.hpp"
#include "manager/clusters_part.hpp"
#include "manager/derived_rules.hpp"
#include "manager/kinds.hpp"
#include "manager/manager_options.hpp"
#include "manager/operations.hpp"
#include "manager/parts.hpp"
#include "manager/webhook_table.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

std::string grace_message(const std::vector<std::string>& cancelled, const std::vector<std::string>& stuck) {
  std::string text = "the grace period was over before these had ended: " + detail::ascii::join(cancelled);
  if (!stuck.empty()) text += "; still running: " + detail::ascii::join(stuck);
  return text;
}

}  // namespace

GracePeriodExceeded::GracePeriodExceeded(std::vector<std::string> cancelled, std::vector<std::string> stuck)
    : Error(grace_message(cancelled, stuck)), cancelled_(std::move(cancelled)), stuck_(std::move(stuck)) {}

class Manager::Impl {
 public:
  Impl(Client client, ManagerOptions options);
  ~Impl();

  Controller& add(ControllerSpec spec);
  void add_task(std::string name, std::function<void(std::stop_token)> task, RunsOn where);
  void follow(const std::shared_ptr<ClusterProvider>& provider);
  ClusterSet& use_clusters();
  void run(const std::stop_token& stop);
  bool is_leader() const noexcept { return !elector_ || elector_->is_leader(); }
  bool stopping() const;
  std::vector<std::string> stuck() const;
  ManagerTotals totals() const;
  std::vector<WatchHealth> watch_health() const;
  std::vector<Json> crds() const;
  std::vector<ResourceId> kinds_without_crd() const;
  void add_manifest(const ManifestPart& part);
  ManifestPart manifest() const;
  void add_part(std::string name, Stage stage, std::unique_ptr<detail::Part> part);
  std::vector<Controller*> controllers() const;

  const ManagerOptions options_;
  const Client client_;
  const std::optional<Client> election_client_;
  const Client own_client_;
  const std::unique_ptr<Elector> elector_;  // null without an election
  const Client leader_client_;
  const std::unique_ptr<Shards> shards_;  // null without shards
  detail::Operations operations_;
  detail::WebhookTable webhooks_;
  EventRecorder events_;

 private:
  struct Notification {
    enum class Kind : std::uint8_t { started, open, ended } kind;
    std::size_t part;
    std::exception_ptr error;
  };

  void add_election();
  void add_shards();
  void add_checks();
  std::function<std::uint64_t()> leadership_term() const;
  void post(Notification notification);
  void perform(const LifecycleCore::Actions& actions);
  bool start_part(std::size_t number);
  void handle_notifications(LifecycleCore::Actions& actions, const std::stop_token& stop)
      EVENKEEL_REQUIRES(mutex_);
  void schedule_stuck_check(TimePoint when) EVENKEEL_EXCLUDES(mutex_);
  void look_for_stuck() EVENKEEL_EXCLUDES(mutex_);
  void finish() EVENKEEL_EXCLUDES(mutex_);

  KeyTable keys_;
  std::atomic<std::uint64_t> term_ = 0;

 public:
  // Declared before the controllers, which use it until they are destroyed.
  Cache cache_;
  const std::unique_ptr<detail::CacheDivider> divider_;  // null unless the ring divides by ranges
  ClusterSet clusters_;

 private:
  std::atomic<bool> uses_clusters_ = false;
  mutable Mutex mutex_;
  CondVar changed_;
  LifecycleCore core_ EVENKEEL_GUARDED_BY(mutex_);
  std::deque<Notification> notifications_ EVENKEEL_GUARDED_BY(mutex_);
  LifecycleCore::Actions added_ EVENKEEL_GUARDED_BY(mutex_);
  std::exception_ptr first_error_ EVENKEEL_GUARDED_BY(mutex_);
  std::optional<TimePoint> began_ EVENKEEL_GUARDED_BY(mutex_);
  std::optional<TimePoint> stuck_look_ EVENKEEL_GUARDED_BY(mutex_);  // time of the next check for stuck runs
  std::vector<std::unique_ptr<Controller>> controllers_ EVENKEEL_GUARDED_BY(mutex_);
  std::vector<detail::UsedKind> kinds_
      EVENKEEL_GUARDED_BY(mutex_);  // in the order of adding, with duplicates
  ManifestPart manifest_ EVENKEEL_GUARDED_BY(mutex_);
  std::deque<std::unique_ptr<detail::Part>> parts_ EVENKEEL_GUARDED_BY(mutex_);
};

namespace {

// Null unless the ring divides the keys so that a server can select the objects of a replica.
std::unique_ptr<detail::CacheDivider> divider_of(Cache& cache, Shards* shards,
                                                 const std::optional<Client>& client,
                                                 const ManagerOptions& options) {
  if (shards == nullptr || options.shards->by != ShardBy::namespace_range) return nullptr;
  return std::make_unique<detail::CacheDivider>(cache, *client, *options.shards, *shards, options.log);
}

}  // namespace

Manager::Impl::Impl(Client client, ManagerOptions options)
    : options_(detail::with_election_name(std::move(options))),
      client_(detail::unbounded(client)),
      election_client_(detail::client_for_election(client_, options_)),
      own_client_(options_.own_client.value_or(client_)),
      elector_(options_.election ? std::make_unique<Elector>(*election_client_, *options_.election)
                                 : nullptr),
      leader_client_(elector_ ? elector_->guarded(client_) : client_),
      shards_(options_.shards ? std::make_unique<Shards>(*election_client_, *options_.shards) : nullptr),
      operations_(options_.log, options_.clock, options_.on_thread_start),
      events_(client_, detail::event_options(options_)),
      cache_(client_, detail::cache_options(options_)),
      divider_(divider_of(cache_, shards_.get(), election_client_, options_)),
      clusters_(detail::cluster_options(options_)),
      core_(options_.lifecycle) {
  add_part("cache", Stage::caches,
           std::make_unique<detail::CachePart>(cache_, !divider_, options_.on_thread_start));
  if (elector_) add_election();
  if (shards_) add_shards();
  add_checks();
}

// The names are those of controller-runtime and the API server, where these have such checks.
void Manager::Impl::add_checks() {
  for (detail::Probe* probe : {&operations_.healthz(), &operations_.readyz()}) {
    probe->add("ping", [] { return std::string(); });
  }
  operations_.readyz().add("shutdown", [this] { return std::string(stopping() ? "it is stopping" : ""); });
  if (elector_) operations_.healthz().add("leaderElection", [this] { return elector_->problem(); });
}

bool Manager::Impl::stopping() const {
  MutexLock lock(mutex_);
  return core_.stopping();
}

void Manager::Impl::add_election() {
  constexpr std::size_t number = 1;  // position after the cache
  const auto elected = [this](std::uint64_t term) {
    term_.store(term, std::memory_order_relaxed);
    post({Notification::Kind::open, number, nullptr});
  };
  add_part("election", Stage::election,
           std::make_unique<detail::ElectionPart>(*elector_, elected, options_.on_thread_start));
}

void Manager::Impl::add_shards() {
  constexpr std::size_t number = 1;  // position after the cache
  add_part("shards", Stage::election,
           std::make_unique<detail::ShardsPart>(
               *shards_, divider_.get(),
               [this] {
                 post({Notification::Kind::open, number, nullptr});
               },
               options_.on_thread_start));
  operations_.healthz().add("shards", [this] { return shards_->problem(); });
  operations_.readyz().add("shards", [this] { return shards_->unready(); });
}

// Parts that outlived run() end in the reverse order of declaration: tasks, controllers, cache.
Manager::Impl::~Impl() = default;

Controller& Manager::Impl::add(ControllerSpec spec) {
  ControllerOptions& chosen = spec.options;
  if (options_.adjust_controller) options_.adjust_controller(chosen);
  if (!chosen.workers) chosen.workers = options_.workers;
  if (!chosen.reconcile_timeout) chosen.reconcile_timeout = options_.reconcile_timeout;
  if (!chosen.sync_timeout) chosen.sync_timeout = options_.sync_timeout;
  if (chosen.field_owner.empty()) chosen.field_owner = options_.name;
  const std::string name = chosen.name;
  const bool everywhere = chosen.runs_on == RunsOn::every_instance;
  const RunsIn clusters = chosen.runs_in;
  const std::vector<detail::UsedKind> kinds = detail::kinds_of(spec);
  ManifestPart manifest = detail::part_of(spec);
  if (options_.shards && !options_.shards->label.empty() && !everywhere)
    detail::add_label_rules(manifest, spec);
  auto controller = std::make_unique<Controller>(
      std::move(spec),
      ControllerEnvironment{.client = everywhere ? client_ : leader_client_,
                            .cache = cache_,
                            .keys = keys_,
                            .log = options_.log,
                            .clock = options_.clock,
                            .on_thread_start = options_.on_thread_start,
                            .term = everywhere ? nullptr : leadership_term(),
                            .schedule_stuck_check = [this](TimePoint when) { schedule_stuck_check(when); },
                            .shards = everywhere ? nullptr : shards_.get(),
                            .events = &events_,
                            .clusters = &clusters_});
  Controller& added = *controller;
  {
    MutexLock lock(mutex_);
    for (const auto& other : controllers_) {
      if (other->name() == name) throw std::invalid_argument("Manager: two controllers are called " + name);
    }
    controllers_.push_back(std::move(controller));
    kinds_.insert(kinds_.end(), kinds.begin(), kinds.end());
  }
  // Rights in other clusters are not those of the program's own manifests.
  if (clusters != RunsIn::engaged_clusters) add_manifest(manifest);
  if (clusters != RunsIn::home_cluster) use_clusters();
  added.attach();
  operations_.healthz().add("controller/" + name, [&added] { return added.problem(); });
  operations_.readyz().add("controller/" + name,
                           [this, &added] { return detail::unready(added, options_.clock->now()); });
  add_part("controller " + name, everywhere ? Stage::others : Stage::controllers,
           std::make_unique<detail::ControllerPart>(added));
  return added;
}

ClusterSet& Manager::Impl::use_clusters() {
  if (uses_clusters_.exchange(true)) return clusters_;
  add_part("clusters", Stage::caches, std::make_unique<detail::ClustersPart>(clusters_));
  operations_.add(detail::Operations::ConsoleSection{
      .title = "Clusters", .read = [this] { return detail::clusters_json(clusters_.status()); }});
  return clusters_;
}

void Manager::Impl::follow(const std::shared_ptr<ClusterProvider>& provider) {
  use_clusters();
  ManifestPart part;
  if (auto rules = provider->rules(); !rules.empty())
    part.namespace_rules[provider->rules_namespace()] = std::move(rules);
  add_manifest(part);
  const std::shared_ptr<ClusterSink> sink = clusters_.sink(provider->name());
  add_task(
      "clusters of " + provider->name(),
      [provider, sink](const std::stop_token& stop) { provider->run(*sink, stop); }, RunsOn::every_instance);
}

std::function<std::uint64_t()> Manager::Impl::leadership_term() const {
  if (!elector_) return nullptr;
  return [this] { return term_.load(std::memory_order_relaxed); };
}

void Manager::Impl::add_task(std::string name, std::function<void(std::stop_token)> task, RunsOn where) {
  if (shards_ && where == RunsOn::leader)
    throw std::invalid_argument("Manager: task " + name + ": with shards there is no leader to run it");
  const Stage stage = where == RunsOn::leader ? Stage::controllers : Stage::others;
  add_part("task " + name, stage,
           std::make_unique<detail::TaskPart>(name, std::move(task), options_.on_thread_start));
}

void Manager::Impl::add_part(std::string name, Stage stage, std::unique_ptr<detail::Part> part) {
  MutexLock lock(mutex_);
  core_.add(std::move(name), stage, added_);
  parts_.push_back(std::move(part));
  changed_.notify_all();
}

void Manager::Impl::post(Notification notification) {
  MutexLock lock(mutex_);
  notifications_.push_back(std::move(notification));
  changed_.notify_all();
}

// Returns false if the part has ended instead of starting.
bool Manager::Impl::start_part(std::size_t number) {
  detail::Part* part = nullptr;
  {
    MutexLock lock(mutex_);
    part = parts_[number].get();
  }
  try {
    part->start(
        [this, number] {
          post({Notification::Kind::started, number, nullptr});
        },
        [this, number](std::exception_ptr error) {
          post({Notification::Kind::ended, number, std::move(error)});
        });
    return true;
  } catch (...) {
    post({Notification::Kind::ended, number, std::current_exception()});
    return false;
  }
}

void Manager::Impl::perform(const LifecycleCore::Actions& actions) {
  std::set<std::size_t> not_started;  // those that are stopped at once, too
  for (const LifecycleAction& action : actions) {
    if (not_started.count(action.part) > 0) continue;
    detail::Part* part = nullptr;
    {
      MutexLock lock(mutex_);
      part = parts_[action.part].get();
    }
    switch (action.kind) {
      case LifecycleAction::Kind::start:
        if (!start_part(action.part)) not_started.insert(action.part);
        break;
      case LifecycleAction::Kind::stop:
        part->stop();
        break;
      case LifecycleAction::Kind::cancel:
        part->cancel();
        break;
    }
  }
}

// Passes the events since the last call to the core.
void Manager::Impl::handle_notifications(LifecycleCore::Actions& actions, const std::stop_token& stop) {
  const TimePoint now = options_.clock->now();
  const auto append = [&](const LifecycleCore::Actions& more) {
    actions.insert(actions.end(), more.begin(), more.end());
  };
  append(std::exchange(added_, {}));
  while (!notifications_.empty()) {
    const Notification notification = std::move(notifications_.front());
    notifications_.pop_front();
    if (notification.kind == Notification::Kind::started) {
      append(core_.on_started(notification.part, now));
      continue;
    }
    if (notification.kind == Notification::Kind::open) {
      append(core_.on_leadership_acquired(notification.part));
      continue;
    }
    if (notification.error && !first_error_) first_error_ = notification.error;
    append(core_.on_ended(notification.part,
                          notification.error ? detail::error_text(notification.error) : std::string(), now));
  }
  if (stop.stop_requested() && !core_.stopping()) {
    options_.log.info("stopping", {{"reason", "stop requested"}});
    if (shards_) shards_->leave();
    append(core_.stop(now, detail::shutdown_delay(options_.lifecycle, webhooks_.are_served())));
  }
  append(core_.on_timeout(now));
}

void Manager::Impl::run(const std::stop_token& stop) {
  const StopWaker waker(stop, mutex_, changed_);
  LifecycleCore::Actions actions;
  {
    MutexLock lock(mutex_);
    if (began_) throw std::invalid_argument("Manager: run() was called before");
    began_ = options_.clock->now();
    actions = core_.start();
  }
  while (true) {
    perform(actions);
    actions.clear();
    MutexLock lock(mutex_);
    handle_notifications(actions, stop);
    while (actions.empty() && !core_.finished()) {
      if (const auto deadline = detail::earlier(core_.next_due(), stuck_look_)) {
        options_.clock->wait_until(changed_, lock, *deadline);
      } else {
        options_.clock->wait(changed_, lock);
      }
      if (stuck_look_ && options_.clock->now() >= *stuck_look_) {
        stuck_look_.reset();
        lock.unlock();
        look_for_stuck();
        lock.lock();
      }
      handle_notifications(actions, stop);
    }
    if (actions.empty() && core_.finished()) break;
  }
  finish();
}

// One timer for the runs of all controllers; it is not set while nothing runs.
void Manager::Impl::schedule_stuck_check(TimePoint when) {
  MutexLock lock(mutex_);
  if (stuck_look_ && *stuck_look_ <= when) return;
  stuck_look_ = when;
  changed_.notify_all();
}

void Manager::Impl::look_for_stuck() {
  std::vector<Controller*> controllers;
  {
    MutexLock lock(mutex_);
    for (const auto& controller : controllers_) controllers.push_back(controller.get());
  }
  for (Controller* controller : controllers) {
    if (const auto next = controller->look_for_stuck()) schedule_stuck_check(*next);
  }
}

void Manager::Impl::finish() {
  MutexLock lock(mutex_);
  const std::string error = core_.error();
  const std::vector<std::string> cancelled = core_.cancelled();
  const std::vector<std::string> stuck = core_.stuck();
  const std::exception_ptr cause = first_error_;
  lock.unlock();
  // Last of all, so that also the Events of the last runs are written.
  events_.flush(options_.events.flush_limit);
  if (!error.empty()) {
    try {
      std::rethrow_exception(cause);
    } catch (const LeadershipLost&) {
      throw;
    } catch (...) {
      std::throw_with_nested(Error(error));
    }
  }
  if (!cancelled.empty()) throw GracePeriodExceeded(cancelled, stuck);
  options_.log.info("stopped");
}

std::vector<Controller*> Manager::Impl::controllers() const {
  MutexLock lock(mutex_);
  std::vector<Controller*> all;
  for (const auto& controller : controllers_) all.push_back(controller.get());
  return all;
}

std::vector<std::string> Manager::Impl::stuck() const {
  MutexLock lock(mutex_);
  return core_.stuck();
}

ManagerTotals Manager::Impl::totals() const {
  MutexLock lock(mutex_);
  ManagerTotals totals;
  for (const auto& controller : controllers_) {
    totals.counts += controller->counts();
    totals.latency += controller->latency();
    totals.objects += controller->objects();
  }
  if (began_) totals.uptime = options_.clock->now() - *began_;
  return totals;
}

std::vector<WatchHealth> Manager::Impl::watch_health() const {
  MutexLock lock(mutex_);
  std::vector<WatchHealth> all;
  for (const auto& controller : controllers_) {
    for (WatchHealth& watch : controller->watch_health()) all.push_back(std::move(watch));
  }
  return all;
}

std::vector<Json> Manager::Impl::crds() const {
  MutexLock lock(mutex_);
  const auto kinds = kinds_;
  lock.unlock();
  std::vector<Json> definitions = detail::crds_of(kinds);
  for (Json& definition : webhooks_.crds()) definitions.push_back(std::move(definition));
  return merge_versions(definitions);
}

void Manager::Impl::add_manifest(const ManifestPart& part) {
  const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  MutexLock lock(mutex_);
  append(manifest_.objects, part.objects);
  append(manifest_.rules, part.rules);
  append(manifest_.cluster_rules, part.cluster_rules);
  append(manifest_.own_rules, part.own_rules);
  for (const auto& [space, rules] : part.namespace_rules) append(manifest_.namespace_rules[space], rules);
  append(manifest_.ports, part.ports);
}

ManifestPart Manager::Impl::manifest() const {
  MutexLock lock(mutex_);
  return manifest_;
}

std::vector<ResourceId> Manager::Impl::kinds_without_crd() const {
  MutexLock lock(mutex_);
  return detail::without_crd(kinds_);
}

Manager::Manager(Client client, ManagerOptions options)
    : impl_(std::make_unique<Impl>(std::move(client), std::move(options))) {}
Manager::~Manager() = default;

Controller& Manager::add(ControllerSpec spec) {
  return impl_->add(std::move(spec));
}
void Manager::add_task(std::string name, std::function<void(std::stop_token)> task, RunsOn where) {
  impl_->add_task(std::move(name), std::move(task), where);
}
void Manager::follow(std::shared_ptr<ClusterProvider> provider) {
  impl_->follow(provider);
}
ClusterSet& Manager::clusters() {
  return impl_->use_clusters();
}
bool Manager::is_stopping() const {
  return impl_->stopping();
}
const ClusterSet& Manager::cluster_set() const noexcept {
  return impl_->clusters_;
}
const Client& Manager::client() const noexcept {
  return impl_->client_;
}
const Client& Manager::leader_client() const noexcept {
  return impl_->leader_client_;
}
bool Manager::is_leader() const noexcept {
  return impl_->is_leader();
}
const detail::CacheDivider* Manager::cache_divider() const noexcept {
  return impl_->divider_.get();
}
const Shards* Manager::shards() const noexcept {
  return impl_->shards_.get();
}
EventRecorder& Manager::events() const noexcept {
  return impl_->events_;
}
Cache& Manager::cache() noexcept {
  return impl_->cache_;
}
const Cache& Manager::cache() const noexcept {
  return impl_->cache_;
}
const Log& Manager::log() const noexcept {
  return impl_->options_.log;
}
const std::shared_ptr<const Clock>& Manager::shared_clock() const noexcept {
  return impl_->options_.clock;
}
const std::string& Manager::name() const noexcept {
  return impl_->options_.name;
}
const Clock& Manager::clock() const noexcept {
  return *impl_->options_.clock;
}
detail::Operations& Manager::operations() const noexcept {
  return impl_->operations_;
}
const std::function<void(std::string_view)>& Manager::on_thread_start() const noexcept {
  return impl_->options_.on_thread_start;
}
const Client* Manager::election_client() const noexcept {
  return impl_->election_client_ ? &*impl_->election_client_ : nullptr;
}
const Client& Manager::own_client() const noexcept {
  return impl_->own_client_;
}
detail::WebhookTable& Manager::webhooks() const noexcept {
  return impl_->webhooks_;
}
std::string Manager::blocked_reason() const {
  if (is_leader()) return {};
  const std::string holder = impl_->elector_->holder();
  return "this instance is not the leader; " +
         (holder.empty() ? "no leader is known" : "the leader is " + holder);
}
std::string Manager::election_name() const {
  return impl_->options_.election ? impl_->options_.election->name : std::string();
}
std::vector<Controller*> Manager::controllers() const {
  return impl_->controllers();
}
void Manager::add_part(std::string name, Stage stage, std::unique_ptr<detail::Part> part) {
  impl_->add_part(std::move(name), stage, std::move(part));
}
void Manager::run(std::stop_token stop) {
  impl_->run(stop);
}
std::vector<std::string> Manager::stuck() const {
  return impl_->stuck();
}
ManagerTotals Manager::totals() const {
  return impl_->totals();
}
std::vector<WatchHealth> Manager::watch_health() const {
  return impl_->watch_health();
}
std::vector<Json> Manager::crds() const {
  return impl_->crds();
}
std::vector<ResourceId> Manager::kinds_without_crd() const {
  return impl_->kinds_without_crd();
}
void Manager::add_manifest(ManifestPart part) {
  impl_->add_manifest(part);
}
ManifestPart Manager::manifest() const {
  return impl_->manifest();
}

}  // namespace v0
}  // namespace evenkeel
