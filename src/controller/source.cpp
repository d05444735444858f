// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <evenkeel/base/mutex.hpp>
#include <evenkeel/controller/source.hpp>

namespace evenkeel {
inline namespace v0 {

void KeySink::add(const ObjectKey& key, KeyOptions options) const {
  receiver_->on_key(key, options);
}
void KeySink::synced() const {
  receiver_->on_synced();
}

// ---- Keys

class KeyChannel::State {
 public:
  void push(const ObjectKey& key, const KeyOptions& options) {
    std::map<std::uint64_t, KeySink> sinks;
    {
      MutexLock lock(mutex_);
      if (sinks_.empty()) return keep(key, options);
      sinks = sinks_;
    }
    for (const auto& [id, sink] : sinks) sink.add(key, options);
  }
  std::uint64_t subscribe(const KeySink& sink) {
    std::map<KeptKey, KeyOptions> kept;
    std::uint64_t id = 0;
    {
      MutexLock lock(mutex_);
      id = ++last_id_;
      sinks_.emplace(id, sink);
      kept.swap(kept_);
    }
    for (const auto& [key, options] : kept) sink.add(key.second, options);
    return id;
  }
  void unsubscribe(std::uint64_t id) {
    MutexLock lock(mutex_);
    sinks_.erase(id);
  }

 private:
  using KeptKey = std::pair<std::string, ObjectKey>;  // with its cluster

  // The most urgent request counts, as in the queue.
  void keep(const ObjectKey& key, const KeyOptions& options) EVENKEEL_REQUIRES(mutex_) {
    const auto [at, added] = kept_.try_emplace({options.cluster, key}, options);
    if (added) return;
    KeyOptions& known = at->second;
    known.priority = std::max(known.priority.value, options.priority.value);
    known.delay = std::min(known.delay, options.delay);
  }

  Mutex mutex_;
  std::map<std::uint64_t, KeySink> sinks_ EVENKEEL_GUARDED_BY(mutex_);
  std::uint64_t last_id_ EVENKEEL_GUARDED_BY(mutex_) = 0;
  std::map<KeptKey, KeyOptions> kept_ EVENKEEL_GUARDED_BY(mutex_);
};

KeyChannel::KeyChannel() : state_(std::make_shared<State>()) {}
void KeyChannel::push(const ObjectKey& key, KeyOptions options) const {
  state_->push(key, options);
}
std::function<void()> KeyChannel::subscribe(KeySink sink) const {
  return [state = state_, id = state_->subscribe(sink)] { state->unsubscribe(id); };
}

// ---- Objects

namespace detail {

class EventRelay::State {
 public:
  void push(const WireObject& object) {
    const ObjectEvent event{.type = EventType::generic, .object = &object};
    std::map<std::uint64_t, std::shared_ptr<EventHandler>> handlers;
    {
      MutexLock lock(mutex_);
      handlers = handlers_;
    }
    for (const auto& [id, handler] : handlers) handler->on_event(event);
  }
  std::uint64_t add(std::shared_ptr<EventHandler> handler) {
    MutexLock lock(mutex_);
    handlers_.emplace(++last_id_, std::move(handler));
    return last_id_;
  }
  void remove(std::uint64_t id) {
    MutexLock lock(mutex_);
    handlers_.erase(id);
  }

 private:
  Mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<EventHandler>> handlers_ EVENKEEL_GUARDED_BY(mutex_);
  std::uint64_t last_id_ EVENKEEL_GUARDED_BY(mutex_) = 0;
};

EventRelay::EventRelay() : state_(std::make_shared<State>()) {}
void EventRelay::push(const WireObject& object) const {
  state_->push(object);
}
std::function<void()> EventRelay::subscribe(std::shared_ptr<EventHandler> handler) const {
  handler->on_synced();
  return [state = state_, id = state_->add(std::move(handler))] { state->remove(id); };
}

WireObject wire_form(const ResourceInfo& resource, std::string_view json) {
  return WireScanner({.api_version = resource.api_version(), .kind = std::string(resource.kind)})
      .object(json);
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
