// SPDX-License-Identifier: Apache-2.0
// Watches of kinds that a server may not serve, begun when a pass finds that it does.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/base/mutex.hpp>
#include <evenkeel/cache/cache.hpp>
#include <evenkeel/controller/context.hpp>
#include <evenkeel/controller/controller_spec.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// State of a kind on the server and in the cache of a context.
struct LateState {
  enum class Kind : std::uint8_t {
    served,
    unread,      ///< It is served, but its first list has not been read.
    not_served,  ///< It is not watched either.
  };
  Kind kind = Kind::served;
  std::string why = {};                       ///< Unless it is served.
  Duration recheck_after = Duration::zero();  ///< Time after which that may have changed without an event.
};

/// The late kinds of a graph, in the caches of all controllers that have the graph. The server is asked at
/// most once in a period for all passes, as long as its answer is no; never while it serves the kind.
/// Thread safety: all members may be called concurrently.
class LateKinds : public std::enable_shared_from_this<LateKinds> {
 public:
  using Attach = std::function<Attachment(Cache&, std::shared_ptr<EventHandler>)>;

  /// Registers a handler for the events of a kind; `attach` is called when the watch begins. No
  /// controller waits for its first list: on_synced() of `handler` is called at once.
  Attachment add(Cache& cache, const ResourceId& resource, Attach attach,
                 const std::shared_ptr<EventHandler>& handler);
  /// Begins or ends the watches of a kind if that is due. Waits a moment for a first list. In a cache without
  /// handlers of the kind it only asks the server. Throws the errors of blocking calls.
  LateState look(Context& context, const ResourceId& resource);

 private:
  struct Handler {
    Cache& cache;
    const Attach attach;
    const std::shared_ptr<EventHandler> events;
    Attachment attachment = {};  // while the kind is watched
  };
  struct Entry {
    std::vector<std::shared_ptr<Handler>> handlers = {};
    bool watched = false;
    std::optional<TimePoint> missed_at = {};  // the server answered no
  };
  using Id = std::pair<const Cache*, std::string>;

  static Id id_of(const Cache* cache, const ResourceId& resource);
  std::shared_ptr<Informer> begin(const Id& id) EVENKEEL_EXCLUDES(mutex_);
  void end(const Id& id, TimePoint now) EVENKEEL_EXCLUDES(mutex_);
  void remove(const Id& id, const std::shared_ptr<Handler>& handler) EVENKEEL_EXCLUDES(mutex_);

  Mutex mutex_;
  std::map<Id, Entry> entries_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
