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
  void set_informer(const Informer* informer) { informer_.store(informer); }
  WatchHealth health(const std::string& controller) const {
    WatchHealth health{.controller = controller, .resource = spec_.resource, .synced = synced()};
    const Informer* informer = informer_.load();
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
  Mutex mutex_;
  EventFeed* feed_ EVENKEEL_GUARDED_BY(mutex_);
  std::atomic<const Informer*> informer_ = nullptr;  // pairs with the load in health()
  std::atomic<bool> synced_ = false;
};

void EventFeed::attach(const WatchSpec& spec) {
  auto watch = std::make_shared<Watch>(*this, spec);
  {
    MutexLock lock(mutex_);
    watches_.push_back(watch);
  }
  watch->set_informer(spec.attach(environment_.cache, watch));
}

void EventFeed::detach() noexcept {
  std::vector<std::shared_ptr<Watch>> watches;
  {
    MutexLock lock(mutex_);
    watches = std::exchange(watches_, {});
  }
  for (const auto& watch : watches) watch->detach();
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
  const Priority priority = event.initial || event.resync ? Lane::slow : Lane::fast;
  const TimePoint now = environment_.clock->now();
  AddVerdict verdict = AddVerdict::queued;
  // Asked in this order because comparing two states of an object is the dear part.
  if (watch.primary && queue_.concerns(request) && is_minor(event)) {
    verdict = queue_.add_minor(request, priority, now, origin_of(event, source));
  } else {
    queue_.add(request, priority, now, origin_of(event, source));
  }
  for (const auto& observer : environment_.observers)
    observer->key_added({.key = request,
                         .cause = AddCause::event,
                         .verdict = verdict,
                         .source = source,
                         .event = &event,
                         .priority = priority,
                         .at = now});
}

bool EventFeed::passes(const WatchSpec& watch, const ObjectEvent& event) const {
  try {
    return watch.when(event);
  } catch (const std::exception& error) {
    log_.error(
        "a predicate failed; the event goes through",
        {{"kind", watch.resource.kind}, {"object", event.object->key().str()}, {"error", error.what()}});
    return true;
  }
}

bool EventFeed::all_synced() const {
  MutexLock lock(mutex_);
  return std::all_of(watches_.begin(), watches_.end(), [](const auto& watch) { return watch->synced(); });
}

std::vector<WatchHealth> EventFeed::health(const std::string& controller) const {
  std::vector<std::shared_ptr<Watch>> watches;
  {
    MutexLock lock(mutex_);
    watches = watches_;
  }
  std::vector<WatchHealth> all;
  for (const auto& watch : watches) all.push_back(watch->health(controller));
  return all;
}

}  // namespace evenkeel::inline v0::detail
