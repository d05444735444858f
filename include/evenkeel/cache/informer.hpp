// SPDX-License-Identifier: Apache-2.0
// Keeps a store equal to the objects of one kind on the server by list and watch, and notifies handlers of
// changes.
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

#include <evenkeel/api/resource.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/log.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/base/trace.hpp>
#include <evenkeel/cache/object_event.hpp>
#include <evenkeel/cache/object_store.hpp>
#include <evenkeel/cache/projection.hpp>
#include <evenkeel/cache/reflector_types.hpp>
#include <evenkeel/cache/watch_health.hpp>
#include <evenkeel/http/transport.hpp>

namespace evenkeel {
inline namespace v0 {

class HashRanges;
namespace detail {
class CollectionFile;
class JobRunner;
class ServerLog;
class StreamingMemory;
}

/// The parts of its objects that an informer keeps, or that a reader needs.
struct KeptParts {
  WireForm form = WireForm::whole;
  Projection projection = {};  ///< For WireForm::projected.

  /// Returns true if a reader that needs `wanted` can be served from this.
  bool serve(const KeptParts& wanted) const noexcept;
  /// Returns parts that serve the readers of either.
  KeptParts with(const KeptParts& other) const;
  bool operator==(const KeptParts&) const = default;
};

struct InformerOptions {
  std::string namespace_ = {};      ///< Empty: all namespaces.
  std::string label_selector = {};  ///< "app=web"; checked by the server.
  std::string field_selector = {};  ///< "metadata.name=web-0"; checked by the server.
  WireForm form = WireForm::whole;
  Projection projection = {};  ///< For WireForm::projected; Cache::informer<T>() adds that of T.
  /// Period after which all objects are delivered again as updates without a change (ObjectEvent::resync),
  /// counted from the first list. Each informer draws its period within 10 % of this value, so that informers
  /// do not resync together. Zero: never. Sends no request. A shared informer uses the value of its first
  /// declaration.
  Duration resync = Duration::zero();
  bool index_owners = true;  ///< Index objects by owner, for fast lists by owner.
  /// If true, the cache may restrict the informer to a part of the namespaces; see Cache::select(). For
  /// readers that look only at namespaces of which this replica has the keys, and ask Informer::holds().
  bool divisible = false;
  std::size_t buffer_bytes = 1u << 20;       ///< Approximate limit of data read ahead of the store.
  std::size_t max_object_bytes = 64u << 20;  ///< A larger object is an error.
  ReflectorOptions reflector = {};           ///< If `random` is empty, a generator is created.

  /// Returns both selectors, joined by ';' if there are two, for messages and labels of metrics.
  std::string selector() const {
    const bool both = !label_selector.empty() && !field_selector.empty();
    return label_selector + (both ? ";" : "") + field_selector;
  }
};

/// Source of an informer's lists and watches: a client, or a script in tests.
class EVENKEEL_API CollectionSource {
 public:
  virtual ~CollectionSource() = default;
  /// Sends a ListRequest or WatchRequest; responses of any status are passed to the handler. May throw
  /// instead, in which case the handler is not called. Called by one thread at a time.
  virtual std::shared_ptr<http::Call> stream(const ReflectorStep& step,
                                             std::shared_ptr<http::StreamHandler> handler) = 0;
};

/// Selects the thread that calls a handler.
enum class Delivery : std::uint8_t {
  /// On the cache's own threads, immediately. For handlers that only add a key to a queue: no object of this
  /// informer is stored while they run, and with one cache thread none of any other informer.
  direct,
  /// On a thread dedicated to the handler. It may be slow: its events wait in memory (two handles each, and
  /// the states that they hold) without delaying other handlers. In a cache without threads: like direct.
  queued,
};

struct HandlerOptions {
  Delivery delivery = Delivery::queued;
};

/// Identifies a handler of an informer. Never reused by the same informer.
using HandlerId = std::uint64_t;

/// State of an informer, for probes and explanations.
struct InformerHealth {
  bool synced = false;  ///< All objects were listed once.
  /// "listing", "watching", "waiting", "resting" (nothing is selected), or "stopped".
  std::string activity = "stopped";
  std::string last_error = {};  ///< Last error of server or connection; empty once requests succeed again.
  WatchProblem problem = WatchProblem::none;    ///< Category of last_error.
  std::optional<TimePoint> failing_since = {};  ///< Time of the first of the consecutive failed attempts.
  std::optional<TimePoint> next_attempt = {};   ///< While "waiting".
  std::string resource_version = {};
  std::optional<TimePoint> last_event = {};  ///< Time of the last event or list.
  /// Since when it does not hold everything that it is to hold.
  std::optional<TimePoint> missing_since = {};
  std::size_t objects = 0;
  std::size_t bytes = 0;  ///< Memory of all objects held, those of a running list included.
  /// Calls of functions of indexes that threw; the objects are not in those indexes.
  std::uint64_t index_failures = 0;
  ReflectorCounters counters = {};
};

/// A reflector with a store of the objects of one kind and the handlers of their events.
/// Thread safety: all members may be called concurrently.
/// Lifetime: the destructor calls stop(); a handler must not destroy its informer.
class EVENKEEL_API Informer {
 public:
  struct Parts {
    ResourceId resource = {};
    std::shared_ptr<CollectionSource> source = {};
    std::shared_ptr<detail::JobRunner> runner = {};
    Log log = {};
    /// Shared by all informers of one server, so that an outage is logged once; null: not shared.
    std::shared_ptr<detail::ServerLog> server_log = {};
    /// Shared by all informers of one server, so that each learns from the others which kinds the server
    /// streams; null: not shared.
    std::shared_ptr<detail::StreamingMemory> streaming = {};
    /// A copy from before the start; null: none.
    std::shared_ptr<const detail::CollectionFile> copy = {};
    /// See WireScannerOptions.
    std::function<std::string(std::string_view json)> transform = {};
    /// With ReflectorOptions::cell_label, called with objects that the server sent although their label is
    /// missing or wrong, and that this replica has to correct. Called on the threads of the runner; must not
    /// throw. Empty: they are not looked for.
    std::function<void(const WireObject& object)> on_mislabelled = {};
    /// Records the gaps of the watch; null: they are not recorded.
    std::shared_ptr<Tracer> tracer = {};
  };

  /// The informer is idle until start(). Throws std::invalid_argument for reflector options out of bounds.
  Informer(Parts parts, InformerOptions options);
  ~Informer();
  Informer(const Informer&) = delete;
  Informer& operator=(const Informer&) = delete;

  const ResourceId& resource() const noexcept;
  /// Returns the options of the first declaration. The informer may keep more than these ask for, see kept().
  const InformerOptions& options() const noexcept;
  const KeptParts& kept() const noexcept;
  /// Before start(): keeps these parts, read from this source; `copy` as in Parts. Returns false afterwards.
  bool keep(KeptParts kept, std::shared_ptr<CollectionSource> source,
            std::shared_ptr<const detail::CollectionFile> copy);
  /// Returns an object in the form in which this informer keeps it; whole, if that is the compressed form.
  /// Throws as WireScanner::object() does.
  WireObject wire_of(std::string_view json) const;
  const ObjectStore& store() const noexcept;
  std::size_t size() const;

  void start();
  /// Restricts it to namespaced objects in namespaces whose hashes are in `wanted`, at any time; see
  /// Reflector::reselect(). Objects that are not selected any more are freed, which is no event;
  /// those that are selected newly are added, as in a first list. Returns at once. Has no effect for
  /// cluster-scoped kinds, and after require_all().
  void select(const HashRanges& wanted);
  /// Selects all namespaces, finally: the informer has a reader that needs them.
  void require_all();
  /// Returns true if every object of this namespace is held, until the next call of select(): all were
  /// listed. With an empty namespace: of all namespaces.
  bool holds(std::string_view namespace_) const;
  /// Tells it that the server was seen to have something newer: a watch that is silent is begun again, see
  /// Reflector::on_suspicion(). Returns at once.
  void suspect();
  /// Ends the stream and waits for running handlers. Objects that were read stay readable. Final.
  void stop();

  /// Events begin with an addition (`initial`) of each object that exists, followed by on_synced() once all
  /// of them were delivered, followed by changes. No event is missed or delivered twice in between.
  HandlerId add_handler(std::shared_ptr<EventHandler> handler, HandlerOptions options = {});
  /// Removes a handler and blocks until it has returned and will not be called again. A handler may remove
  /// itself; the call then returns immediately.
  void remove_handler(HandlerId id);
  /// Returns true once on_synced() of this handler has returned.
  bool handler_synced(HandlerId id) const;

  /// Returns true once all objects were listed once.
  bool synced() const;
  /// Blocks until synced(); returns false if `stop` is triggered first. Handlers may be notified a moment
  /// later, queued ones and those that were added late in particular: see handler_synced().
  bool wait_for_sync(std::stop_token stop) const;
  InformerHealth health() const;
  /// See ObjectStore::add_index(). A failure of the function is logged once for each object.
  void add_index(IndexDefinition definition);
  /// Records the effect of a write of this program, see ObjectStore::record(); sets its selection by the
  /// selectors of the informer: labels, metadata.name and metadata.namespace are compared here, other fields
  /// are undecided.
  void record(WriteEffect effect);

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace v0
}  // namespace evenkeel
