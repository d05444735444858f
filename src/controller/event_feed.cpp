// SPDX-License-Identifier: Apache-2.0
#include "controller/event_feed.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include <evenkeel/sharding/shards.hpp>

#include "base/caught.hpp"
#include "base/rounded_duration.hpp"
#include "cache/call_gate.hpp"
#include "controller/backoff_core.hpp"
#include "controller/cluster_key.hpp"
#include "controller/report.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

namespace {

/// Returns true if an event shows an object for the first time. The first list of a watch does not count:
/// nothing is remembered then.
bool begins_object(const ObjectEvent& event) {
  if (event.type == EventType::added) return !event.initial;
  return event.old != nullptr && event.object->uid() != event.old->uid();
}

WatchSpec bound(WatchSpec spec, Cache& cache) {
  if (spec.bind) spec.mapping = spec.bind(cache);
  return spec;
}

}  // namespace

/// The watches in one engaged cluster.
struct EventFeed::EngagedCluster {
  std::string cluster;
  Log log;                            // names the cluster
  std::function<void()> on_synced;    // called once, unless there are no watches
  std::atomic<std::size_t> unsynced;  // number of watches
  std::atomic<bool> synced = false;
};

// Converts the events of one watch into keys. The cache may hold it after the controller is destroyed.
class EventFeed::Watch final : public EventHandler {
 public:
  Watch(EventFeed& feed, WatchId id, WatchSpec spec, Cache& cache, std::shared_ptr<EngagedCluster> engaged)
      : id_(id),
        spec_(bound(std::move(spec), cache)),
        engaged_(std::move(engaged)),
        source_(spec_.resource.plural + " (" + spec_.resource.api_version() + ")"),
        feed_(feed) {}
  void on_event(const ObjectEvent& event) noexcept override {
    if (engaged_ && !engaged_->synced.load()) return;  // open() delivers what is there then
    if (const CallGate::Pass pass(gate_); pass) feed_.take(*this, event);
  }
  void on_synced() noexcept override {
    synced_.store(true);
    const CallGate::Pass pass(gate_);
    if (!pass) return;
    if (!engaged_) return feed_.on_synced_();
    if (engaged_->unsynced.fetch_sub(1) == 1) feed_.open(*engaged_);
  }
  void on_held() noexcept override {
    if (const CallGate::Pass pass(gate_); pass) feed_.on_held_();
  }
  /// Adds the keys of states whose mapping threw before. Throws what the mapping throws.
  void map_again(const FailedMapping& failed) {
    const CallGate::Pass pass(gate_);
    if (!pass) return;
    const ObjectEvent event{.type = failed.type, .object = &failed.states.back()};
    for (const WireObject& state : failed.states) {
      for (const ObjectKey& key : keys_of({.object = &state}, spec_.mapping)) {
        if (feed_.is_ours(*this, key, nullptr)) feed_.add(*this, event, key);
      }
    }
  }
  /// Delivers the objects again to keys of these slots; null: to all.
  void replay(const std::vector<bool>* slots) noexcept {
    const std::shared_ptr<const Informer> followed = informer();
    if (followed == nullptr) return;
    for (const WireObject& object : followed->store().list()) {
      if (const CallGate::Pass pass(gate_); pass)
        feed_.take(*this, {.object = &object, .initial = true}, slots);
    }
  }
  /// Null for an EventChannel.
  std::shared_ptr<Informer> informer() const {
    MutexLock lock(mutex_);
    return attachment_.informer;
  }
  void detach() noexcept { gate_.close(); }
  WatchId id() const { return id_; }
  const WatchSpec& spec() const { return spec_; }
  std::string_view cluster() const {
    return engaged_ ? std::string_view(engaged_->cluster) : std::string_view();
  }
  const Log* log() const { return engaged_ ? &engaged_->log : nullptr; }
  bool counts() const { return !engaged_ || engaged_->synced.load(); }
  const std::string& source() const { return source_; }
  bool tell_nameless() { return !told_nameless_.exchange(true); }
  bool synced() const { return synced_.load(); }
  void attach(const std::shared_ptr<Watch>& self, Cache& cache) {
    Attachment attachment = spec_.attach(cache, self);
    if (attachment.informer && !feed_.stays_in_namespace(spec_)) attachment.informer->require_all();
    if (attachment.informer && spec_.primary && feed_.finalizes_)
      feed_.warn_of_selection(*this, attachment.informer->options());
    MutexLock lock(mutex_);
    attachment_ = std::move(attachment);
  }
  /// Called once, after attach().
  void remove() noexcept {
    detach();
    MutexLock lock(mutex_);
    const Attachment ended = std::exchange(attachment_, {});
    lock.unlock();
    if (ended.remove) ended.remove();
  }
  WatchHealth health(const std::string& controller) const {
    WatchHealth health{.controller = controller, .resource = spec_.resource, .synced = synced()};
    const std::shared_ptr<const Informer> followed = informer();
    if (followed == nullptr) return health;
    InformerHealth known = followed->health();
    health.namespace_ = followed->options().namespace_;
    health.selector = followed->options().selector();
    health.problem = known.problem;
    health.last_error = std::move(known.last_error);
    health.since = known.failing_since;
    health.next_attempt = known.next_attempt;
    return health;
  }

 private:
  const WatchId id_;
  const WatchSpec spec_;
  const std::shared_ptr<EngagedCluster> engaged_;  // null: the home cluster
  const std::string source_;
  EventFeed& feed_;  // used inside the gate only
  CallGate gate_{GateEntry::single};
  mutable Mutex mutex_;
  Attachment attachment_ EVENKEEL_GUARDED_BY(mutex_);
  std::atomic<bool> synced_ = false;
  std::atomic<bool> told_nameless_ = false;
};

// Returns true if an object leads only to keys of its namespace, of which this replica runs those that it
// has.
bool EventFeed::stays_in_namespace(const WatchSpec& spec) const {
  return environment_.shards != nullptr && namespaced_ && (spec.primary || spec.owned);
}

bool EventFeed::holds(std::string_view namespace_) const {
  MutexLock lock(mutex_);
  const auto home = clusters_.find(std::string_view());
  if (home == clusters_.end()) return true;
  const Watches& watches = home->second.watches;
  return std::all_of(watches.begin(), watches.end(), [namespace_](const auto& entry) {
    const auto informer = entry.second->informer();
    return informer == nullptr || informer->holds(namespace_);
  });
}

WatchId EventFeed::attach(WatchSpec spec) {
  return attach(std::move(spec), environment_.cache, nullptr);
}

WatchId EventFeed::attach(WatchSpec spec, Cache& cache, std::shared_ptr<EngagedCluster> engaged) {
  MutexLock lock(mutex_);
  const WatchId id = ++last_id_;
  lock.unlock();
  const auto watch = std::make_shared<Watch>(*this, id, std::move(spec), cache, std::move(engaged));
  watch->attach(watch, cache);
  lock.lock();
  watches_.emplace(id, watch);
  clusters_[std::string(watch->cluster())].watches.emplace(id, watch);
  return id;
}

// ---- Engaged clusters

void EventFeed::attach_in(const std::string& cluster, Cache& cache, const std::vector<WatchSpec>& specs,
                          std::function<void()> on_synced) {
  const auto on_server = [](const WatchSpec& spec) { return spec.from_server; };
  const auto count = static_cast<std::size_t>(std::count_if(specs.begin(), specs.end(), on_server));
  const auto engaged = std::make_shared<EngagedCluster>();
  engaged->cluster = cluster;
  engaged->log = log_.with({{"cluster", cluster}});
  engaged->on_synced = std::move(on_synced);
  engaged->unsynced.store(count);
  engaged->synced.store(count == 0);
  {
    MutexLock lock(mutex_);
    clusters_[cluster] = {.engaged = engaged};
  }
  for (const WatchSpec& spec : specs) {
    if (spec.from_server) attach(spec, cache, engaged);
  }
}

EventFeed::Watches EventFeed::watches_in(std::string_view cluster) const {
  MutexLock lock(mutex_);
  const auto found = clusters_.find(cluster);
  return found == clusters_.end() ? Watches() : found->second.watches;
}

void EventFeed::leave(std::string_view cluster) noexcept {
  MutexLock lock(mutex_);
  const auto found = clusters_.find(cluster);
  if (found == clusters_.end()) return;
  const Watches leaving = std::move(found->second.watches);
  clusters_.erase(found);
  for (const auto& [id, watch] : leaving) watches_.erase(id);
  lock.unlock();
  for (const auto& [id, watch] : leaving) watch->remove();
}

bool EventFeed::is_synced(std::string_view cluster) const {
  MutexLock lock(mutex_);
  const auto found = clusters_.find(cluster);
  return found != clusters_.end() && found->second.engaged && found->second.engaged->synced.load();
}

// An event that came before was of an object that the store has, or does not have any more.
void EventFeed::open(EngagedCluster& engaged) noexcept {
  engaged.synced.store(true);
  for (const auto& [id, watch] : watches_in(engaged.cluster)) watch->replay(nullptr);
  engaged.on_synced();
}

void EventFeed::remove(WatchId id) noexcept {
  MutexLock lock(mutex_);
  const auto node = watches_.extract(id);
  if (!node) return;
  if (const auto found = clusters_.find(node.mapped()->cluster()); found != clusters_.end())
    found->second.watches.erase(id);
  lock.unlock();
  node.mapped()->remove();
  on_synced_();  // a removed watch blocks nobody
}

void EventFeed::detach() noexcept {
  MutexLock lock(mutex_);
  ended_ = true;
  changed_.notify_all();
  std::thread retry_thread = std::move(retry_thread_);
  const auto watches = std::exchange(watches_, {});
  clusters_.clear();
  lock.unlock();
  if (retry_thread.joinable()) retry_thread.join();
  for (const auto& [id, watch] : watches) watch->remove();
}

// Events of keys that others own are dropped: when this replica gains the slot, it replays the objects.
bool EventFeed::is_ours(const Watch& watch, const ObjectKey& key, const std::vector<bool>* slots) const {
  const Shards* shards = environment_.shards;
  if (shards == nullptr || key.name.empty()) return true;
  const std::string space = shard_namespace(watch.cluster(), key.namespace_);
  if (slots == nullptr) return shards->owns(space, key.name);
  const auto slot = shards->slot_of(space, key.name);
  return slot && *slot < slots->size() && (*slots)[*slot];
}

void EventFeed::replay(const std::vector<bool>& slots) noexcept {
  MutexLock lock(mutex_);
  const auto watches = watches_;
  lock.unlock();
  for (const auto& [id, watch] : watches) {
    if (watch->counts()) watch->replay(&slots);
  }
}

void EventFeed::take(Watch& watch, const ObjectEvent& event, const std::vector<bool>* slots) noexcept {
  const bool primary = watch.spec().primary;
  if (primary && begins_object(event)) {
    const WireObject& object = *event.object;
    queue_.renew(environment_.keys.intern(watch.cluster(), object.namespace_(), object.name()));
  }
  if (!(primary && finalizes_ && begins_deletion(event)) && !passes(watch, event))
    return refuse(watch, event);
  std::vector<ObjectKey> keys;
  try {
    keys = keys_of(event, watch.spec().mapping);
  } catch (...) {
    FailedMapping failed{.watch = watch.id(), .type = event.type};
    if (event.old != nullptr) failed.states.push_back(*event.old);
    failed.states.push_back(*event.object);
    return note_failure(watch, std::move(failed), error_text(std::current_exception()));
  }
  for (const ObjectKey& key : keys) {
    if (is_ours(watch, key, slots)) add(watch, event, key);
  }
}

void EventFeed::warn_of_selection(const Watch& watch, const InformerOptions& options) const {
  const bool fixed = options.field_selector.empty() || options.field_selector.starts_with("metadata.");
  if (options.label_selector.empty() && fixed) return;
  log_of(watch).warn(
      "the controller has finalizers, and watches a selection: an object that leaves it keeps them, and "
      "cannot be deleted any more",
      {{"kind", watch.spec().resource.kind}, {"selector", options.selector()}});
}

// ---- Events whose mapping threw

void EventFeed::start(std::function<void(const std::string&)> on_thread_start) {
  MutexLock lock(mutex_);
  on_thread_start_ = std::move(on_thread_start);
  started_ = true;
  start_retry_thread();
}

// Without a thread, as at a limit of processes, the mappings wait for the next failure.
void EventFeed::start_retry_thread() noexcept {
  if (!started_ || ended_ || retry_thread_.joinable() || mapping_retries_.size() == 0) return;
  try {
    retry_thread_ = std::thread([this] { run_mapping_retries(); });
  } catch (const std::exception& error) {
    log_.error("cannot start the thread that maps events again", {{"error", error.what()}});
  }
}

void EventFeed::note_failure(const Watch& watch, FailedMapping failed, std::string_view error) {
  const WireObject object = failed.states.back();
  MutexLock lock(mutex_);
  const auto due_before = mapping_retries_.next_due();
  const auto next = mapping_retries_.on_failure(std::move(failed), environment_.clock->now());
  if (mapping_retries_.next_due() != due_before) changed_.notify_all();
  start_retry_thread();
  lock.unlock();
  const std::string key = object.key().str();
  if (next) {
    log_of(watch).error(
        "an event could not be mapped to keys; it is mapped again later",
        {{"kind", object.kind()}, {"object", key}, {"next_try_in", format_rounded(*next)}, {"error", error}});
  } else {
    log_of(watch).error("the deletion of an object could not be mapped to keys; it is given up",
                        {{"kind", object.kind()}, {"object", key}, {"error", error}});
  }
}

void EventFeed::retry_mapping(const FailedMapping& failed) noexcept {
  MutexLock lock(mutex_);
  const auto found = watches_.find(failed.watch);
  if (found == watches_.end()) return;
  const auto watch = found->second;
  lock.unlock();
  try {
    watch->map_again(failed);
  } catch (...) {
    note_failure(*watch, failed, error_text(std::current_exception()));
  }
}

void EventFeed::map_due() {
  MutexLock lock(mutex_);
  const auto due = mapping_retries_.on_timeout(environment_.clock->now());
  lock.unlock();
  for (const FailedMapping& one : due) retry_mapping(one);
}

std::optional<TimePoint> EventFeed::next_due() const {
  MutexLock lock(mutex_);
  return mapping_retries_.next_due();
}

void EventFeed::run_mapping_retries() noexcept {
  MutexLock lock(mutex_);
  const auto on_thread_start = on_thread_start_;
  lock.unlock();
  if (on_thread_start) on_thread_start("mapping");
  lock.lock();
  while (!ended_) {
    const auto due = mapping_retries_.next_due();
    if (!due) {
      environment_.clock->wait(changed_, lock);
    } else if (environment_.clock->now() < *due) {
      environment_.clock->wait_until(changed_, lock, *due);
    } else {
      lock.unlock();
      map_due();
      lock.lock();
    }
  }
}

// ---- From events to keys

const Log& EventFeed::log_of(const Watch& watch) const {
  return watch.log() != nullptr ? *watch.log() : log_;
}

void EventFeed::refuse(const Watch& watch, const ObjectEvent& event) {
  const std::size_t key =
      RequestKey::hash_of(watch.cluster(), event.object->namespace_(), event.object->name());
  queue_.note_refused(key, environment_.clock->now(), origin_of(event, watch.source()));
  for (const auto& observer : environment_.observers) observer->event_refused(watch.source(), event);
}

void EventFeed::refuse_nameless(Watch& watch, const ObjectEvent& event) {
  log_of(watch).write(watch.tell_nameless() ? LogLevel::error : LogLevel::debug,
                      "a mapping returned a key without a name; it is refused",
                      {{"kind", event.object->kind()}, {"object", event.object->key().str()}});
}

void EventFeed::add(Watch& watch, const ObjectEvent& event, const ObjectKey& key) {
  if (key.name.empty()) return refuse_nameless(watch, event);
  const WatchSpec& spec = watch.spec();
  const RequestKey request = environment_.keys.intern(watch.cluster(), key.namespace_, key.name);
  const KeyOptions options{
      .priority = spec.priority.value_or(event.initial || event.resync ? Lane::slow : Lane::fast),
      .delay = spec.delay};
  const TimePoint now = environment_.clock->now();
  AddVerdict verdict = AddVerdict::queued;
  if (spec.primary) {
    verdict = queue_.add_primary(request, options, now, origin_of(event, watch.source()), event);
  } else if (spec.owned && event.type == EventType::deleted) {
    queue_.add_owner(request, options, now, origin_of(event, watch.source()), event);
  } else {
    queue_.add(request, options, now, origin_of(event, watch.source()));
  }
  for (const auto& observer : environment_.observers)
    observer->key_added({.key = request,
                         .cause = AddCause::event,
                         .verdict = verdict,
                         .source = watch.source(),
                         .event = &event,
                         .priority = options.priority,
                         .delay = options.delay,
                         .at = now});
}

// ---- The state of a key's object

std::vector<std::shared_ptr<Informer>> EventFeed::primaries_of(const RequestKey& key) const {
  std::vector<std::shared_ptr<Informer>> informers;
  for (const auto& [id, watch] : watches_in(key.cluster())) {
    if (!watch->spec().primary) continue;
    auto informer = watch->informer();
    const bool here = informer && (informer->options().namespace_.empty() ||
                                   informer->options().namespace_ == key.namespace_());
    if (here) informers.push_back(std::move(informer));
  }
  return informers;
}

WireObject EventFeed::primary_of(const RequestKey& key) const {
  for (const auto& informer : primaries_of(key)) {
    WireObject found = informer->store().find(key.namespace_(), key.name());
    if (found) return found;
  }
  return {};
}

void EventFeed::suspect(const RequestKey& key) {
  for (const auto& informer : primaries_of(key)) informer->suspect();
}

bool EventFeed::passes(const Watch& watch, const ObjectEvent& event) const {
  const std::string& kind = watch.spec().resource.kind;
  try {
    return watch.spec().when(event);
  } catch (const std::exception& error) {
    log_of(watch).error("a predicate failed; the event goes through",
                        {{"kind", kind}, {"object", event.object->key().str()}, {"error", error.what()}});
  } catch (...) {
    log_of(watch).error("a predicate failed; the event goes through",
                        {{"kind", kind}, {"object", event.object->key().str()}});
  }
  return true;
}

bool EventFeed::all_synced() const {
  MutexLock lock(mutex_);
  const auto home = clusters_.find(std::string_view());
  if (home == clusters_.end()) return true;
  const Watches& watches = home->second.watches;
  return std::all_of(watches.begin(), watches.end(),
                     [](const auto& entry) { return entry.second->synced(); });
}

std::vector<WatchHealth> EventFeed::health(const std::string& controller, std::string_view cluster) const {
  const Watches watches = watches_in(cluster);
  std::vector<WatchHealth> all;
  all.reserve(watches.size());
  for (const auto& [id, watch] : watches) all.push_back(watch->health(controller));
  return all;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
