// SPDX-License-Identifier: Apache-2.0
// The sources of a controller other than watches: channels, timers, functions with their own threads.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <evenkeel/base/mutex.hpp>
#include <evenkeel/controller/controller_spec.hpp>
#include <evenkeel/controller/observer.hpp>

#include "controller/gated_queue.hpp"
#include "controller/timer_core.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Thread safety: all members may be called concurrently, except subscribe() and start(), which are called
/// once each and in this order.
/// Lifetime: call join() and detach() before destroying the referenced objects.
class KeySources {
 public:
  struct Calls {
    std::function<void()> on_synced = {};                     ///< A source with initial keys is synced.
    std::function<void(std::exception_ptr)> on_failure = {};  ///< A source threw an exception.
    std::function<void(const std::string& role)> on_thread_start = {};  ///< Called first on each thread.
    /// Calls a function for each cluster in which timers look for keys: those whose watches have their first
    /// lists, so that no timer waits for a cluster that does not answer. The name of the home cluster is
    /// empty.
    std::function<void(const std::function<void(const std::string& cluster, Cache& cache)>&)> each_cluster =
        {};
  };

  /// Throws std::invalid_argument for a timer without a period.
  KeySources(const ControllerSpec& spec, const ControllerEnvironment& environment, GatedQueue& queue, Log log,
             Calls calls);

  /// Subscribes to the channels.
  void subscribe();
  /// Starts the threads, if any, and the timers.
  void start();
  /// For simulations: starts the timers, but no thread, and waits for no source.
  void start_without_threads();
  /// Adds the keys of the timers that are due.
  void fire_timers();
  std::optional<TimePoint> next_due() const;
  /// Triggers the stop tokens of sources and stops the timers.
  void stop() noexcept;
  /// Waits for the threads.
  void join();
  /// Detaches all sources; on return no key reaches the queue any more.
  void detach() noexcept;

  bool all_synced() const;
  /// Returns the names of the sources that are not synced, separated by "; ".
  std::string waiting_for() const;

  /// Adds a key on behalf of `source`.
  void add(AddCause cause, std::string_view source, const ObjectKey& key, const KeyOptions& options);

 private:
  class Receiver;

  void run(const SourceSpec& spec, const std::shared_ptr<Receiver>& receiver) noexcept;
  void run_timers() noexcept;
  Log log_in(const std::string& cluster) const;
  void fire(const TimerSpec& timer, const std::string& cluster, Cache& cache);

  const ControllerSpec& spec_;
  const ControllerEnvironment& environment_;
  GatedQueue& queue_;
  const Log log_;
  const Calls calls_;
  std::vector<std::shared_ptr<Receiver>> receivers_;  // one for each source; set by the constructor
  std::stop_source stop_;
  std::vector<std::thread> threads_;                // used by start() and join()
  std::vector<std::function<void()>> unsubscribe_;  // used by subscribe() and detach()
  mutable Mutex mutex_;
  TimerCore timers_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
