// SPDX-License-Identifier: Apache-2.0
// Sources of keys other than watches: channels, timers, and functions with their own threads.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/api/codec.hpp>
#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/resource.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/object_key.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/cache/cache.hpp>
#include <evenkeel/cache/object_event.hpp>
#include <evenkeel/workqueue/queue_item.hpp>

namespace evenkeel {
inline namespace v0 {

/// Options of an added key.
struct KeyOptions {
  Priority priority = {};
  Duration delay = Duration::zero();  ///< Minimum delay; if a key has several, the shortest one counts.
  std::string cluster = {};           ///< Cluster of the object. Empty: the home cluster.
};

/// The entry to one controller's queue for one source. Copies refer to the same entry; it may outlive the
/// controller and then has no effect.
/// Thread safety: all members may be called concurrently.
class EVENKEEL_API KeySink {
 public:
  class Receiver;
  explicit KeySink(std::shared_ptr<Receiver> receiver) : receiver_(std::move(receiver)) {}

  /// Adds a key. A key without a name is rejected and logged.
  void add(const ObjectKey& key, KeyOptions options = {}) const;
  /// Reports that all keys that exist at the start have been added; see SourceOptions::initial.
  void synced() const;

 private:
  std::shared_ptr<Receiver> receiver_;
};

/// Interface for the receivers of a sink's keys, implemented by controllers.
class EVENKEEL_API KeySink::Receiver {
 public:
  virtual ~Receiver() = default;
  virtual void on_key(const ObjectKey& key, const KeyOptions& options) noexcept = 0;
  virtual void on_synced() noexcept = 0;
};

/// A function that runs on a dedicated thread from the controller's start to its stop. It may block, adds
/// keys to the sink, and returns when its stop token is triggered, or earlier if there are no more keys. An
/// exception that it throws ends the controller.
using SourceFunction = std::function<void(const KeySink& sink, std::stop_token stop)>;

struct SourceOptions {
  /// The source has keys at the start: no worker starts before it calls KeySink::synced().
  bool initial = false;
};

/// Passes keys from the program's threads to every controller that subscribes to it:
///
///     ek::KeyChannel calls;
///     manager.add(ek::controller_for<Demo>(reconcile).source("calls", calls));
///     calls.push({"default", "web"});  // from any thread, at any time
///
/// Keys are buffered only while there is no subscriber at all: the first one gets them. Copies refer to the
/// same channel. Never blocks.
/// Thread safety: all members may be called concurrently.
class EVENKEEL_API KeyChannel {
 public:
  KeyChannel();
  void push(const ObjectKey& key, KeyOptions options = {}) const;

  /// For controllers: passes all keys from now on to `sink`. Returns a function that unsubscribes.
  std::function<void()> subscribe(KeySink sink) const;

 private:
  class State;
  std::shared_ptr<State> state_;
};

namespace detail {

/// Passes objects to handlers, as events of type `generic`.
class EVENKEEL_API EventRelay {
 public:
  EventRelay();
  void push(const WireObject& object) const;
  /// Returns a function that unsubscribes.
  std::function<void()> subscribe(std::shared_ptr<EventHandler> handler) const;

 private:
  class State;
  std::shared_ptr<State> state_;
};

/// Returns the wire form of an object of the kind `resource`, given as JSON.
EVENKEEL_API WireObject wire_form(const ResourceInfo& resource, std::string_view json);

}  // namespace detail

/// Passes objects from the program's threads to controllers, as events that go through predicate and mapping
/// like those of a watch. For things that look like resources but do not exist on the server. Copies refer to
/// the same channel.
/// Thread safety: all members may be called concurrently. Predicates and mapping run on the thread that calls
/// push().
template <ObjectType U>
class EventChannel {
 public:
  /// Has no effect without a subscriber.
  void push(const U& object) const { relay_.push(detail::wire_form(U::resource, to_json(object))); }
  const detail::EventRelay& relay() const noexcept { return relay_; }

 private:
  detail::EventRelay relay_;
};

/// A periodic source of keys.
struct TimerSpec {
  std::string name = {};
  Duration period = {};  ///< From the controller's start; missed periods are not made up. > 0.
  /// Called on a thread of the controller, for each cluster in which it runs; must return quickly.
  std::function<std::vector<ObjectKey>(Cache& cache)> keys = {};
  KeyOptions options = {.priority = Lane::slow};
};

}  // namespace v0
}  // namespace evenkeel
