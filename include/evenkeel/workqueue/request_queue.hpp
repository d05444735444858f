// SPDX-License-Identifier: Apache-2.0
// The work queue of controllers: interned keys, with store and limiter chosen at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/ratelimit/any_limiter.hpp>
#include <evenkeel/ratelimit/default_limiter.hpp>
#include <evenkeel/workqueue/any_store.hpp>
#include <evenkeel/workqueue/detail/interned_index.hpp>
#include <evenkeel/workqueue/key_table.hpp>
#include <evenkeel/workqueue/priority_store.hpp>
#include <evenkeel/workqueue/request_key.hpp>
#include <evenkeel/workqueue/work_queue.hpp>

namespace evenkeel {
inline namespace v0 {

using RequestStore = AnyStore<RequestKey>;
using RequestLimiter = AnyLimiter<RequestKey>;

struct RequestQueueOptions {
  std::string name = {};                 ///< Name of the queue in metrics.
  RequestStore store = PriorityStore();  ///< Order of handing out; any store for RequestKey.
  RequestLimiter limiter = default_limiter<RequestKey>();  ///< Used by add_rate_limited.
  Readd readd = Readd::keep_place;                         ///< See Readd; by default no key starves another.
  bool charge_waiting = true;                              ///< See WorkQueueOptions.
  Debounce debounce = {};                                  ///< See WorkQueueOptions.
  Duration min_interval = Duration::zero();                ///< See WorkQueueOptions.
  std::shared_ptr<const Clock> clock = nullptr;            ///< real_clock() if null.
};

/// A WorkQueue for RequestKey; see there for the members. All keys must belong to one KeyTable. Adding a key
/// that is already queued, with the same or a lower priority, takes no lock unless the store needs to observe
/// such adds. Throws std::invalid_argument for an empty key or a key of another table.
/// Thread safety: all members may be called concurrently.
/// Lifetime: outlives its claims and every call of a member.
class RequestQueue {
  using Queue = WorkQueue<RequestKey, RequestStore, RequestLimiter, detail::InternedIndex>;

 public:
  using Claim = Queue::Claim;

  explicit RequestQueue(RequestQueueOptions options = {})
      : queue_({.name = std::move(options.name),
                .store = std::move(options.store),
                .limiter = std::move(options.limiter),
                .readd = options.readd,
                .charge_waiting = options.charge_waiting,
                .debounce = options.debounce,
                .min_interval = options.min_interval,
                .clock = std::move(options.clock)}) {}

  void add(const RequestKey& key, Priority priority = {}) { queue_.add(key, priority); }
  bool add_unless_waiting(const RequestKey& key, Priority priority = {}) {
    return queue_.add_unless_waiting(key, priority);
  }
  void add_after(const RequestKey& key, Duration delay, Priority priority = {}) {
    queue_.add_after(key, delay, priority);
  }
  Duration add_rate_limited(const RequestKey& key, Priority priority = {}) {
    return queue_.add_rate_limited(key, priority);
  }
  void forget(const RequestKey& key) { queue_.forget(key); }
  void renew(const RequestKey& key) { queue_.renew(key); }
  std::uint64_t retries(const RequestKey& key) const { return queue_.retries(key); }
  [[nodiscard]] std::optional<Claim> get(const std::stop_token& stop = {}) { return queue_.get(stop); }
  [[nodiscard]] std::optional<Claim> get(Claim last, const std::stop_token& stop = {}) {
    return queue_.get(std::move(last), stop);
  }
  [[nodiscard]] std::optional<Claim> try_get() { return queue_.try_get(); }
  [[nodiscard]] std::optional<TimePoint> next_due() { return queue_.next_due(); }
  void shut_down() { queue_.shut_down(); }
  void shut_down_now() { queue_.shut_down_now(); }
  bool shut_down_with_drain(const std::stop_token& stop = {}) { return queue_.shut_down_with_drain(stop); }
  bool is_shutting_down() const { return queue_.is_shutting_down(); }
  std::size_t size() { return queue_.size(); }
  KeyInfo<RequestKey> inspect(const RequestKey& key) { return queue_.inspect(key); }
  std::vector<KeyInfo<RequestKey>> inspect_all(const InspectOptions& options = {}) {
    return queue_.inspect_all(options);
  }
  QueueCounts counts() { return queue_.counts(); }
  QueueMetrics metrics() { return queue_.metrics(); }
  void collect(MetricSink& sink) { queue_.collect(sink); }
  const std::string& name() const { return queue_.name(); }

 private:
  Queue queue_;
};

}  // namespace v0
}  // namespace evenkeel
