// SPDX-License-Identifier: Apache-2.0
// Executes one run of a reconciler and applies its result: calls on the queue, counters, log.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <stop_token>

#include <evenkeel/base/mutex.hpp>
#include <evenkeel/controller/context.hpp>
#include <evenkeel/controller/controller_spec.hpp>
#include <evenkeel/controller/observer.hpp>

#include "controller/event_feed.hpp"
#include "controller/followed_clusters.hpp"
#include "controller/gated_queue.hpp"
#include "controller/reconcile_meter.hpp"
#include "controller/run_ids.hpp"
#include "controller/run_links.hpp"
#include "controller/unlisted_keys.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Thread safety: all members may be called concurrently.
class Runner {
 public:
  struct Parts {
    std::shared_ptr<RunLinks> links = {};  ///< Null without a tracer.
    FollowedClusters& clusters;
    EventFeed& feed;
    UnlistedKeys& unlisted;
  };
  Runner(const ControllerSpec& spec, const ControllerEnvironment& environment, GatedQueue& queue, Log log,
         Parts parts)
      : spec_(spec),
        environment_(environment),
        queue_(queue),
        log_(std::move(log)),
        links_(std::move(parts.links)),
        clusters_(parts.clusters),
        feed_(parts.feed),
        unlisted_(parts.unlisted),
        run_ids_(environment.seed) {}

  /// Reconciles a key. Throws exceptions that end the controller, see OnPanic.
  void run(const RequestQueue::Claim& claim, std::size_t worker);
  /// Triggers the stop tokens of running reconciles.
  void cancel() noexcept { cancel_.request_stop(); }
  /// Returns the current values.
  ReconcileMeter meter() const;
  /// Returns the number of applies that sent nothing, as nothing had changed.
  std::uint64_t applies_skipped() const noexcept { return applies_skipped_.load(std::memory_order_relaxed); }
  /// Returns the number of running reconciles.
  std::size_t active() const noexcept { return active_.load(std::memory_order_relaxed); }

 private:
  class Ownership;
  bool begin_in_cluster(const RequestQueue::Claim& claim, Ownership& owned);
  void run_owned(const RequestQueue::Claim& claim, std::size_t worker, Ownership* owned);
  Span span_of(const Request& request, std::uint64_t attempt, const std::string& id);
  Context context_for(const Request& request, std::uint64_t attempt, const std::string& id,
                      const Ownership* owned);
  void confirm_object(const Context& context);
  ReconcileOutcome run_once(Context& context, std::exception_ptr& panic, const Ownership* owned);
  Priority next_priority(Priority of_run, const ReconcileOutcome& outcome, const QueueCalls& calls) const;
  std::optional<Duration> settle(const RequestQueue::Claim& claim, const RunEnd& end, Ownership* owned);
  void report_end(const Log& log, const RunEnd& end, std::optional<Duration> next) const;
  TimePoint limit_of_run(TimePoint began) const;
  void count(const ReconcileOutcome& outcome, Duration took);

  const ControllerSpec& spec_;
  const ControllerEnvironment& environment_;
  GatedQueue& queue_;
  const Log log_;
  const std::shared_ptr<RunLinks> links_;
  FollowedClusters& clusters_;
  EventFeed& feed_;
  UnlistedKeys& unlisted_;
  RunIds run_ids_;
  std::stop_source cancel_;
  std::atomic<std::size_t> active_ = 0;             // statistics only, no ordering required
  std::atomic<std::uint64_t> applies_skipped_ = 0;  // statistics only
  mutable Mutex mutex_;
  ReconcileMeter meter_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
