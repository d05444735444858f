// SPDX-License-Identifier: Apache-2.0
#include "controller/event_feed.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "controller/backoff_core.hpp"

namespace evenkeel::inline v0::detail {

// Turns the events of one watch into keys. The cache may hold it longer than the controller lives.
class EventFeed::Watch final : public EventHandler {
 public:
  Watch(EventFeed& feed, WatchSpec spec)
      : spec_(std::move(spec)),
        source_(spec_.resource.plural + " (" + spec_.resource.api_version() + ")"),
        feed_(&feed) {}
  void on_event(const ObjectEvent& event) noexcept override {
    MutexLock lock(mutex_);
    if (feed_ != nullptr) feed_->take(spec_, source_, event);
  }
  void on_synced() noexcept override {
    MutexLock lock(mutex_);
    synced_.store(true);
    if (feed_ != nullptr) feed_->on_synced_();
  }
  void detach() noexcept {
    MutexLock lock(mutex_);
    feed_ = nullptr;
  }
  bool synced() const { return synced_.load(); }
  void attach(const std::shared_ptr<Watch>& self, Cache& cache) {
    Attachment attachment = spec_.attach(cache, self);
    MutexLock lock(mutex_);
    attachment_ = std::move(attachment);
  }
  /// Called once, after attach().
  void remove() noexcept {
    detach();
    MutexLock lock(mutex_);
    const std::function<void()> end = std::move(attachment_.remove);
    lock.unlock();
    if (end) end();
  }
  WatchHealth health(const std::string& controller) const {
    WatchHealth health{.controller = controller, .resource = spec_.resource, .synced = synced()};
    MutexLock lock(mutex_);
    const Informer* informer = attachment_.informer;
    lock.unlock();
    if (informer == nullptr) return health;
    InformerHealth known = informer->health();
    health.namespace_ = informer->options().namespace_;
    health.problem = known.problem;
    health.last_error = std::move(known.last_error);
    health.since = known.failing_since;
    health.next_attempt = known.next_attempt;
    return health;
  }

 private:
  const WatchSpec spec_;
  const std::string source_;
  mutable Mutex mutex_;
  EventFeed* feed_ EVENKEEL_GUARDED_BY(mutex_);
  Attachment attachment_ EVENKEEL_GUARDED_BY(mutex_);
  std::atomic<bool> synced_ = false;
};

WatchId EventFeed::attach(WatchSpec spec) {
  const auto watch = std::make_shared<Watch>(*this, std::move(spec));
  watch->attach(watch, environment_.cache);
  MutexLock lock(mutex_);
  watches_.emplace(++last_id_, watch);
  return last_id_;
}

void EventFeed::remove(WatchId id) noexcept {
  MutexLock lock(mutex_);
  const auto node = watches_.extract(id);
  lock.unlock();
  if (!node) return;
  node.mapped()->remove();
  on_synced_();  // nobody waits for it any more
}

void EventFeed::detach() noexcept {
  MutexLock lock(mutex_);
  const auto watches = std::exchange(watches_, {});
  lock.unlock();
  for (const auto& [id, watch] : watches) watch->remove();
}

void EventFeed::take(const WatchSpec& watch, std::string_view source, const ObjectEvent& event) noexcept {
  try {
    if (passes(watch, event)) {
      for (const ObjectKey& key : keys_of(event, watch.mapping)) add(watch, source, event, key);
    } else {
      refuse(source, event);
    }
  } catch (const std::exception& error) {
    log_.error(
        "an event could not be mapped to keys and is lost",
        {{"kind", watch.resource.kind}, {"object", event.object->key().str()}, {"error", error.what()}});
  } catch (...) {
    log_.error("an event could not be mapped to keys and is lost",
               {{"kind", watch.resource.kind}, {"object", event.object->key().str()}});
  }
}

void EventFeed::refuse(std::string_view source, const ObjectEvent& event) {
  const std::size_t key = RequestKey::hash_of({}, event.object->namespace_(), event.object->name());
  queue_.note(key, environment_.clock->now(), origin_of(event, source), EventFate::refused);
  for (const auto& observer : environment_.observers) observer->event_refused(source, event);
}

void EventFeed::add(const WatchSpec& watch, std::string_view source, const ObjectEvent& event,
                    const ObjectKey& key) {
  const RequestKey request = environment_.keys.intern(key);
  const KeyOptions options{
      .priority = watch.priority.value_or(event.initial || event.resync ? Lane::slow : Lane::fast),
      .delay = watch.delay};
  const TimePoint now = environment_.clock->now();
  AddVerdict verdict = AddVerdict::queued;
  // Asked in this order because comparing two states of an object is the dear part.
  if (watch.primary && queue_.concerns(request) && is_minor(event)) {
    verdict = queue_.add_minor(request, options, now, origin_of(event, source));
  } else {
    queue_.add(request, options, now, origin_of(event, source));
  }
  for (const auto& observer : environment_.observers)
    observer->key_added({.key = request,
                         .cause = AddCause::event,
                         .verdict = verdict,
                         .source = source,
                         .event = &event,
                         .priority = options.priority,
                         .delay = options.delay,
                         .at = now});
}

bool EventFeed::passes(const WatchSpec& watch, const ObjectEvent& event) const {
  try {
    return watch.when(event);
  } catch (const std::exception& error) {
    log_.error(
        "a predicate failed; the event goes through",
        {{"kind", watch.resource.kind}, {"object", event.object->key().str()}, {"error", error.what()}});
  } catch (...) {
    log_.error("a predicate failed; the event goes through",
               {{"kind", watch.resource.kind}, {"object", event.object->key().str()}});
  }
  return true;
}

bool EventFeed::all_synced() const {
  MutexLock lock(mutex_);
  return std::all_of(watches_.begin(), watches_.end(),
                     [](const auto& entry) { return entry.second->synced(); });
}

std::vector<WatchHealth> EventFeed::health(const std::string& controller) const {
  MutexLock lock(mutex_);
  const auto watches = watches_;
  lock.unlock();
  std::vector<WatchHealth> all;
  for (const auto& [id, watch] : watches) all.push_back(watch->health(controller));
  return all;
}

}  // namespace evenkeel::inline v0::detail
