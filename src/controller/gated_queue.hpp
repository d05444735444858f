// SPDX-License-Identifier: Apache-2.0
// A controller's queue with the gate before it, and the time at which what a run answers began to wait.
#pragma once

#include <optional>
#include <unordered_map>

#include <evenkeel/base/mutex.hpp>
#include <evenkeel/controller/controller.hpp>
#include <evenkeel/controller/latency.hpp>
#include <evenkeel/controller/observer.hpp>
#include <evenkeel/workqueue/request_queue.hpp>

#include "controller/backoff_core.hpp"

namespace evenkeel::inline v0::detail {

/// Thread safety: all members may be called concurrently.
class GatedQueue {
 public:
  GatedQueue(const ControllerOptions& options, std::shared_ptr<const Clock> clock);

  RequestQueue& queue() noexcept { return queue_; }
  /// Closes the queue at once: what is queued is dropped, what comes is ignored.
  void stop() noexcept;

  /// The event that a key is added for came at `arrival`.
  void add(const RequestKey& key, Priority priority, TimePoint arrival);
  /// Whether an event of the reconciled object itself has to be asked about: add_minor() if it is minor.
  bool concerns(const RequestKey& key) const;
  /// The same as add() for an event that is_minor().
  AddVerdict add_minor(const RequestKey& key, Priority priority, TimePoint arrival);

  /// A worker takes the key; gives how long the first event waited that the run answers.
  std::optional<Duration> begin(const RequestKey& key);
  /// The run failed: has the key wait for its retry, and returns how long.
  Duration back_off(const RequestKey& key, Priority priority);
  /// The run ended otherwise, the queue was told so: what the gate held during the run is added.
  void end_without_retry(const RequestKey& key);

  LatencyHistogram latency() const;

 private:
  const std::shared_ptr<const Clock> clock_;
  const bool gated_;
  RequestQueue queue_;
  mutable Mutex mutex_;
  bool stopped_ EVENKEEL_GUARDED_BY(mutex_) = false;
  LatencyHistogram latency_ EVENKEEL_GUARDED_BY(mutex_);
  // When the first event arrived that a key's next run answers.
  std::unordered_map<RequestKey, TimePoint> arrivals_ EVENKEEL_GUARDED_BY(mutex_);
  BackoffCore backoff_ EVENKEEL_GUARDED_BY(mutex_);  // unused without gate
};

}  // namespace evenkeel::inline v0::detail
