// SPDX-License-Identifier: Apache-2.0
// One cluster of a set: what it is made of, the runs that go on in it, and whether it answers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <evenkeel/base/mutex.hpp>
#include <evenkeel/clusters/cluster.hpp>
#include <evenkeel/clusters/cluster_set.hpp>

#include "clusters/cluster_loop.hpp"
#include "clusters/reach_transport.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Thread safety: make(), made(), start(), overflow(), close(), drain() and retire() on the thread of the
/// loop, in this order; all others may be called concurrently.
/// Lifetime: retire() comes before destruction, unless make() was not called; the loop outlives it.
class ClusterMember : public std::enable_shared_from_this<ClusterMember> {
 public:
  struct Calls {
    std::function<void()> on_drained = {};   ///< Its last run ended after drain(). Called once.
    std::function<void()> on_returned = {};  ///< It was away, and has answered.
    std::function<void()> on_overflow = {};  ///< It may be larger than allowed; overflow() decides.
  };
  ClusterMember(ClusterDescription description, ClusterLoop& loop, const ClusterSetOptions& options,
                Calls calls);
  ~ClusterMember();
  ClusterMember(const ClusterMember&) = delete;
  ClusterMember& operator=(const ClusterMember&) = delete;

  const std::string& name() const noexcept { return description_.name; }
  ClusterLoop& loop() const noexcept { return loop_; }
  /// Returns the cluster; null before make(), after retire(), or if it failed.
  std::shared_ptr<Cluster> cluster() const EVENKEEL_EXCLUDES(mutex_);

  /// Makes client and cache. Throws what these throw.
  const std::shared_ptr<Cluster>& make();
  /// Returns what make() made; null before it, and after retire().
  const std::shared_ptr<Cluster>& made() const noexcept { return made_; }
  void start();
  /// Lets no further run begin.
  void close() EVENKEEL_EXCLUDES(mutex_);
  /// Waits for the runs, in the background; after `patience` their stop tokens are triggered.
  void drain(Duration patience) EVENKEEL_EXCLUDES(mutex_);
  /// Frees client and cache, once the Events of the last runs are written, or
  /// EventRecorderOptions::flush_limit is over, and calls `done`.
  void retire(std::function<void()> done);
  /// Records that it failed, and logs `message`.
  void fail(std::string_view message, const std::string& problem) EVENKEEL_EXCLUDES(mutex_);
  /// If its objects take more memory than allowed, ends its cache, triggers the stop tokens of its runs,
  /// records that it failed and returns true.
  bool overflow() EVENKEEL_EXCLUDES(mutex_);
  /// Triggers the stop tokens of its runs.
  void cancel() { stop_.request_stop(); }

  /// Returns true from start() to close().
  bool is_open() const EVENKEEL_EXCLUDES(mutex_);
  /// Counts a run that begins, and returns where; null if none may.
  std::shared_ptr<Cluster> begin() EVENKEEL_EXCLUDES(mutex_);
  void end(ClusterRun::Ending ending) EVENKEEL_EXCLUDES(mutex_);
  void note_deferred() EVENKEEL_EXCLUDES(mutex_);
  bool is_away() const noexcept { return monitor_->is_away(); }
  ClusterStatus status() const EVENKEEL_EXCLUDES(mutex_);

 private:
  void watch_reach();
  ClientOptions client_options() const;
  CacheOptions cache_options() const;
  void look_at_events();
  void free();
  void on_alarm();
  void weigh();
  void probe();

  const ClusterDescription description_;
  ClusterLoop& loop_;
  const ClusterSetOptions& options_;
  const Calls calls_;
  const Log log_;
  const std::shared_ptr<ReachMonitor> monitor_;
  std::stop_source stop_;
  std::function<void()> on_freed_;     // used by the thread of the loop; set by retire()
  std::shared_ptr<Cluster> made_;      // used by the thread of the loop
  std::shared_ptr<http::Call> probe_;  // the last one; used by the thread of the loop
  const std::shared_ptr<std::atomic<bool>> probing_ =
      std::make_shared<std::atomic<bool>>(false);  // it is open
  std::atomic<bool> grown_ = false;                // since weigh()
  mutable Mutex mutex_;
  std::shared_ptr<Cluster> cluster_ EVENKEEL_GUARDED_BY(mutex_);
  bool open_ EVENKEEL_GUARDED_BY(mutex_) = false;
  bool leaving_ EVENKEEL_GUARDED_BY(mutex_) = false;
  std::string problem_ EVENKEEL_GUARDED_BY(mutex_);
  std::size_t running_ EVENKEEL_GUARDED_BY(mutex_) = 0;
  std::uint64_t reconciles_ EVENKEEL_GUARDED_BY(mutex_) = 0;
  std::uint64_t failures_ EVENKEEL_GUARDED_BY(mutex_) = 0;
  std::uint64_t deferred_ EVENKEEL_GUARDED_BY(mutex_) = 0;
  // Last: their jobs, on the thread of the loop, end before what they use is destroyed.
  LoopAlarm alarm_;       // sends probes
  LoopAlarm weighing_;    // looks whether there are too many bytes
  LoopAlarm cancelling_;  // triggers stop_
  LoopAlarm flushing_;    // ends the wait of retire()
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
