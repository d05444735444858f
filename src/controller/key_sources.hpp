// SPDX-License-Identifier: Apache-2.0
// The sources of a controller that are no watches: channels, timers, functions with threads of their own.
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
#include <evenkeel/controller/controller.hpp>
#include <evenkeel/controller/observer.hpp>

#include "controller/gated_queue.hpp"
#include "controller/timer_core.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Thread safety: all members may be called concurrently, but for subscribe() and start(), which come once
/// each and in this order. Lifetime: join() and detach() before what it refers to goes.
class KeySources {
 public:
  struct Calls {
    std::function<void()> on_synced = {};                     ///< A source that is waited for has told.
    std::function<void(std::exception_ptr)> on_failure = {};  ///< A source threw.
    std::function<void(const std::string& role)> on_thread_start = {};  ///< First on each thread.
  };

  /// Throws std::invalid_argument for a timer without a period.
  KeySources(const ControllerSpec& spec, const ControllerEnvironment& environment, GatedQueue& queue, Log log,
             Calls calls);

  /// Has channels tell from now on.
  void subscribe();
  /// Starts the threads, if there are any to start. Timers begin.
  void start();
  /// For simulations: timers begin, no thread is started, nothing is waited for.
  void start_without_threads();
  /// Adds the keys of the timers that are due.
  void fire_timers();
  std::optional<TimePoint> next_due() const;
  /// Triggers the stop tokens of sources; no timer comes any more.
  void stop() noexcept;
  /// Waits for their threads.
  void join();
  /// No key reaches the queue any more when this returns.
  void detach() noexcept;

  bool all_synced() const;
  /// The sources that are waited for and have not told, with "; " between them.
  std::string waiting_for() const;

  /// Adds a key on behalf of `source`.
  void add(AddCause cause, std::string_view source, const ObjectKey& key, const KeyOptions& options);

 private:
  class Receiver;

  void run(const SourceSpec& spec, const std::shared_ptr<Receiver>& receiver) noexcept;
  void run_timers() noexcept;

  const ControllerSpec& spec_;
  const ControllerEnvironment& environment_;
  GatedQueue& queue_;
  const Log log_;
  const Calls calls_;
  std::vector<std::shared_ptr<Receiver>> receivers_;  // one for each source; set by the constructor
  std::stop_source stop_;
  std::vector<std::thread> threads_;                // of start() and join()
  std::vector<std::function<void()>> unsubscribe_;  // of subscribe() and detach()
  mutable Mutex mutex_;
  TimerCore timers_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
