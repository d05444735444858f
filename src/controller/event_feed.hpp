// SPDX-License-Identifier: Apache-2.0
// The way of events into a controller's queue: predicate, mapping, priority, gate.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <evenkeel/base/mutex.hpp>
#include <evenkeel/controller/controller.hpp>
#include <evenkeel/controller/observer.hpp>

#include "controller/gated_queue.hpp"

namespace evenkeel::inline v0::detail {

/// The watches of a controller. Thread safety: all members may be called concurrently.
/// Lifetime: detach() before what it refers to goes; the cache may hold its handlers longer.
class EventFeed {
 public:
  /// `on_synced` is called, on the cache's threads, whenever a watch has told its first list.
  EventFeed(const ControllerEnvironment& environment, GatedQueue& queue, Log log,
            std::function<void()> on_synced)
      : environment_(environment), queue_(queue), log_(std::move(log)), on_synced_(std::move(on_synced)) {}

  WatchId attach(WatchSpec spec);
  /// None of its events reaches the queue any more when this returns.
  void remove(WatchId id) noexcept;
  /// No event reaches the queue any more when this returns.
  void detach() noexcept;
  bool all_synced() const;
  /// How the watches are doing, in the order of attach().
  std::vector<WatchHealth> health(const std::string& controller) const;

 private:
  class Watch;

  void take(const WatchSpec& watch, std::string_view source, const ObjectEvent& event) noexcept;
  bool passes(const WatchSpec& watch, const ObjectEvent& event) const;
  void refuse(std::string_view source, const ObjectEvent& event);
  void add(const WatchSpec& watch, std::string_view source, const ObjectEvent& event, const ObjectKey& key);

  const ControllerEnvironment& environment_;
  GatedQueue& queue_;
  const Log log_;
  const std::function<void()> on_synced_;
  mutable Mutex mutex_;
  std::map<WatchId, std::shared_ptr<Watch>> watches_ EVENKEEL_GUARDED_BY(mutex_);
  WatchId last_id_ EVENKEEL_GUARDED_BY(mutex_) = 0;
};

}  // namespace evenkeel::inline v0::detail
