// SPDX-License-Identifier: Apache-2.0
// Where keys come from if not from a watch: channels, timers, and whatever a program has on threads of its
// own.
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

/// How a key is added.
struct KeyOptions {
  Priority priority = {};
  Duration delay = Duration::zero();  ///< Not before; of several delays of a key the shortest counts.
};

/// The door of one controller's queue for one source. Copies are the same door; it stays usable when the
/// controller is gone, and then does nothing. Thread safety: all members may be called concurrently.
class EVENKEEL_API KeySink {
 public:
  class Receiver;
  explicit KeySink(std::shared_ptr<Receiver> receiver) : receiver_(std::move(receiver)) {}

  /// A key without a name is refused, which is logged.
  void add(const ObjectKey& key, KeyOptions options = {}) const;
  /// The keys that there are at the start have all been added; see SourceOptions::initial.
  void synced() const;

 private:
  std::shared_ptr<Receiver> receiver_;
};

/// Whom a sink tells; controllers are.
class EVENKEEL_API KeySink::Receiver {
 public:
  virtual ~Receiver() = default;
  virtual void on_key(const ObjectKey& key, const KeyOptions& options) noexcept = 0;
  virtual void on_synced() noexcept = 0;
};

/// A function with a thread of its own, from the controller's start to its stop. It may block, adds keys to
/// the sink, and returns when its stop token is triggered, or earlier, if nothing more will come. What it
/// throws ends the controller.
using SourceFunction = std::function<void(const KeySink& sink, std::stop_token stop)>;

struct SourceOptions {
  /// It has keys to tell at the start: no worker starts before it called KeySink::synced().
  bool initial = false;
};

/// Brings keys from the program's threads into the controllers that it was given to, each of them:
///
///     ek::KeyChannel calls;
///     manager.add(ek::controller_for<Demo>(reconcile).source("calls", calls));
///     calls.push({"default", "web"});  // from any thread, at any time
///
/// It keeps no keys but those that are pushed while it has no controller at all: the first one gets them.
/// Copies are the same channel. Thread safety: all members may be called concurrently. Never blocks.
class EVENKEEL_API KeyChannel {
 public:
  KeyChannel();
  void push(const ObjectKey& key, KeyOptions options = {}) const;

  /// For controllers: has `sink` told of all keys from now on. Returns what ends that.
  std::function<void()> subscribe(KeySink sink) const;

 private:
  class State;
  std::shared_ptr<State> state_;
};

namespace detail {

/// Tells handlers of objects, as events of type `generic`.
class EVENKEEL_API EventRelay {
 public:
  EventRelay();
  void push(const WireObject& object) const;
  /// Returns what ends it.
  std::function<void()> subscribe(std::shared_ptr<EventHandler> handler) const;

 private:
  class State;
  std::shared_ptr<State> state_;
};

/// The wire form of an object of the kind `resource`, given as JSON.
EVENKEEL_API WireObject wire_form(const ResourceInfo& resource, std::string_view json);

}  // namespace detail

/// Brings objects from the program's threads into controllers, as events that go through predicate and
/// mapping like those of a watch. For things that are no resources of the server but look like them.
/// Copies are the same channel. Thread safety: all members may be called concurrently. Predicates and mapping
/// run on the pusher's thread.
template <ObjectType U>
class EventChannel {
 public:
  /// Without a controller this does nothing.
  void push(const U& object) const { relay_.push(detail::wire_form(U::resource, to_json(object))); }
  const detail::EventRelay& relay() const noexcept { return relay_; }

 private:
  detail::EventRelay relay_;
};

/// Adds keys again and again.
struct TimerSpec {
  std::string name = {};
  Duration period = {};  ///< Since the controller's start; what is late does not come twice. > 0.
  /// Called on a thread of the controller; must not block long.
  std::function<std::vector<ObjectKey>(Cache& cache)> keys = {};
  KeyOptions options = {.priority = Lane::slow};
};

}  // namespace v0
}  // namespace evenkeel
