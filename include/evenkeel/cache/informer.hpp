// SPDX-License-Identifier: Apache-2.0
// Keeps a store equal to a collection of the server, by list and watch, and tells handlers what changes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/api/resource.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/log.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/cache/object_event.hpp>
#include <evenkeel/cache/object_store.hpp>
#include <evenkeel/cache/reflector.hpp>
#include <evenkeel/cache/watch_health.hpp>
#include <evenkeel/http/transport.hpp>

namespace evenkeel {
inline namespace v0 {

namespace detail {
class JobRunner;
class ServerLog;
}

struct InformerOptions {
  std::string namespace_ = {};      ///< Empty: all of them.
  std::string label_selector = {};  ///< "app=web"; checked by the server.
  std::string field_selector = {};  ///< "metadata.name=web-0"; checked by the server.
  WireForm form = WireForm::whole;
  /// Every so often all objects are told again as updates without a change (ObjectEvent::resync), from the
  /// first list on. Zero: never. Nothing is asked of the server. Of a shared informer the first one counts.
  Duration resync = Duration::zero();
  bool index_owners = true;                  ///< For fast lists by owner.
  std::size_t buffer_bytes = 1u << 20;       ///< Read ahead of the store at most about so much.
  std::size_t max_object_bytes = 64u << 20;  ///< A larger object is an error.
  ReflectorOptions reflector = {};           ///< Without `random`, one is made.
};

/// Where an informer's lists and watches come from: a client, or a script in tests.
class EVENKEEL_API CollectionSource {
 public:
  virtual ~CollectionSource() = default;
  /// Sends a ListRequest or WatchRequest; any status is handed to the handler. May throw instead, with the
  /// handler untouched. Called by one thread at a time.
  virtual std::shared_ptr<http::Call> stream(const ReflectorStep& step,
                                             std::shared_ptr<http::StreamHandler> handler) = 0;
};

/// On which thread a handler is called.
enum class Delivery : std::uint8_t {
  /// On the cache's own threads, at once. For handlers that only put a key into a queue: while they run, no
  /// object of this informer is stored, and with one cache thread none of any other.
  direct,
  /// On a thread of the handler's own. It may take its time: events wait for it in memory (two handles each,
  /// and the states that they hold), those of others do not. With a cache without threads as direct.
  queued,
};

struct HandlerOptions {
  Delivery delivery = Delivery::queued;
};

/// Names a handler that was added. Never reused by the same informer.
using HandlerId = std::uint64_t;

/// How an informer is doing.
struct InformerHealth {
  bool synced = false;                        ///< The whole collection was seen once.
  std::string activity = "stopped";           ///< "listing", "watching", "waiting", or "stopped".
  std::string last_error = {};                ///< Of the server or the connection; empty once it works again.
  WatchProblem problem = WatchProblem::none;  ///< The same in one word.
  std::optional<TimePoint> failing_since = {};  ///< When the first of the tries was made that failed since.
  std::optional<TimePoint> next_attempt = {};   ///< While "waiting".
  std::string resource_version = {};
  std::optional<TimePoint> last_event = {};  ///< When the last event or list came.
  std::size_t objects = 0;
  std::size_t bytes = 0;  ///< Of all objects held.
  ReflectorCounters counters = {};
};

/// Thread safety: all members may be called concurrently.
/// Lifetime: the destructor is stop(). It must not be called by a handler.
class EVENKEEL_API Informer {
 public:
  struct Parts {
    ResourceId resource = {};
    std::shared_ptr<CollectionSource> source = {};
    std::shared_ptr<detail::JobRunner> runner = {};
    Log log = {};
    /// Shared by all informers of one server, so that its outage is one line; null: one of its own.
    std::shared_ptr<detail::ServerLog> server_log = {};
  };

  /// Does nothing until start(). Throws std::invalid_argument for reflector options out of bounds.
  Informer(Parts parts, InformerOptions options);
  ~Informer();
  Informer(const Informer&) = delete;
  Informer& operator=(const Informer&) = delete;

  const ResourceId& resource() const noexcept;
  const InformerOptions& options() const noexcept;
  const ObjectStore& store() const noexcept;
  std::size_t size() const;

  void start();
  /// Ends the stream and waits for the handlers that run. What was read stays readable. Final.
  void stop();

  /// Events begin with an addition (`initial`) of each object that is there, then on_synced() once the
  /// whole collection was told, then what changes; nothing is missed or told twice in between.
  HandlerId add_handler(std::shared_ptr<EventHandler> handler, HandlerOptions options = {});
  /// Returns when the handler does not run any more and will not again; but by itself it may be called.
  void remove_handler(HandlerId id);
  /// Whether on_synced() of this handler has returned.
  bool handler_synced(HandlerId id) const;

  /// Whether the whole collection was seen once.
  bool synced() const;
  /// Blocks until then; false if stopped before. Direct handlers have been told when it returns.
  bool wait_for_sync(std::stop_token stop) const;
  InformerHealth health() const;
  /// See ObjectStore::written().
  void written(const WireObject& object);

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace v0
}  // namespace evenkeel
