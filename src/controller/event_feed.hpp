// SPDX-License-Identifier: Apache-2.0
// The way of events into a controller's queue: predicate, mapping, priority, gate.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/controller/controller.hpp>
#include <evenkeel/controller/observer.hpp>

#include "controller/gated_queue.hpp"
#include "controller/remap_core.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// The watches of a controller. No predicate, mapping or observer is called under a lock. An event whose
/// mapping throws is mapped again later: by a thread that is started for the first such event, or by
/// map_due(). Thread safety: all members may be called concurrently. Lifetime: detach() before what it refers
/// to goes; the cache may hold its handlers longer.
class EventFeed {
 public:
  /// `on_synced` is called, on the cache's threads, whenever a watch has told its first list.
  EventFeed(const ControllerEnvironment& environment, GatedQueue& queue, Log log,
            std::function<void()> on_synced)
      : environment_(environment), queue_(queue), log_(std::move(log)), on_synced_(std::move(on_synced)) {}
  ~EventFeed() { detach(); }

  /// From now on it may start a thread of its own; `on_thread_start` is called first on it, with its role.
  void start(std::function<void(const std::string&)> on_thread_start);
  WatchId attach(WatchSpec spec);
  /// None of its events reaches the queue any more when this returns.
  void remove(WatchId id) noexcept;
  /// No event reaches the queue any more when this returns.
  void detach() noexcept;
  bool all_synced() const;
  /// Without start(): maps what failed before and is due, on the calling thread.
  void map_due();
  /// Without start(): when map_due() has something to do next.
  std::optional<TimePoint> next_due() const;
  /// How the watches are doing, in the order of attach().
  std::vector<WatchHealth> health(const std::string& controller) const;

 private:
  class Watch;

  void take(Watch& watch, const ObjectEvent& event) noexcept;
  void remap(const Remap& remap) noexcept;
  bool passes(const WatchSpec& watch, const ObjectEvent& event) const;
  void refuse(std::string_view source, const ObjectEvent& event);
  void add(Watch& watch, const ObjectEvent& event, const ObjectKey& key);
  void refuse_nameless(Watch& watch, const ObjectEvent& event);
  void note_failure(Remap remap, std::string_view error);
  void run_remaps() noexcept;

  const ControllerEnvironment& environment_;
  GatedQueue& queue_;
  const Log log_;
  const std::function<void()> on_synced_;
  mutable Mutex mutex_;
  CondVar changed_;  // something failed, or the end
  std::map<WatchId, std::shared_ptr<Watch>> watches_ EVENKEEL_GUARDED_BY(mutex_);
  WatchId last_id_ EVENKEEL_GUARDED_BY(mutex_) = 0;
  RemapCore remaps_ EVENKEEL_GUARDED_BY(mutex_);
  std::function<void(const std::string&)> on_thread_start_ EVENKEEL_GUARDED_BY(mutex_);
  bool started_ EVENKEEL_GUARDED_BY(mutex_) = false;
  bool ended_ EVENKEEL_GUARDED_BY(mutex_) = false;
  std::thread remapper_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
