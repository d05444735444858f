// SPDX-License-Identifier: Apache-2.0
// The keys of a controller that wait until its caches have listed their namespaces.
#pragma once

#include <unordered_map>

#include <evenkeel/base/mutex.hpp>
#include <evenkeel/controller/controller_spec.hpp>
#include <evenkeel/workqueue/request_key.hpp>

#include "controller/event_feed.hpp"
#include "controller/gated_queue.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// The keys whose namespaces the caches of a controller have not listed. With ShardBy::namespace_range the
/// caches of a replica hold only its share, and a replica may own a slot before they have listed the slot's
/// objects. Thread safety: all members may be called concurrently.
class UnlistedKeys {
 public:
  UnlistedKeys(const ControllerEnvironment& environment, GatedQueue& queue, const EventFeed& feed)
      : environment_(environment), queue_(queue), feed_(feed) {}

  /// Returns true if the caches hold the namespace of the key, or if it has none that they could hold.
  /// Remains true while the right to run the key is held.
  bool may_run(std::string_view cluster, std::string_view namespace_) const;
  /// Adds a key that a worker has taken once it may_run().
  void park(const RequestKey& key, Priority priority) EVENKEEL_EXCLUDES(mutex_);
  /// Adds the parked keys that may run. Called when the caches hold more than before.
  void release() noexcept EVENKEEL_EXCLUDES(mutex_);

 private:
  const ControllerEnvironment& environment_;
  GatedQueue& queue_;
  const EventFeed& feed_;
  Mutex mutex_;
  std::unordered_map<RequestKey, Priority> parked_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
