// SPDX-License-Identifier: Apache-2.0
// A transport that reports which requests are answered.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/http/transport.hpp>

#include "clusters/reach_core.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Shell of a ReachCore.
/// Thread safety: all members may be called concurrently; `on_away` and `on_back` are called under no lock.
class ReachMonitor {
 public:
  struct Calls {
    std::function<void(const std::string& error)> on_away = {};
    std::function<void()> on_back = {};
    std::function<void()> on_received = {};  ///< Called for each `step` bytes that have arrived.
  };
  ReachMonitor(std::shared_ptr<const Clock> clock, ReachOptions options, std::size_t step)
      : clock_(std::move(clock)), step_(step), core_(options) {}

  /// Sets the functions to call; called once, before the first request.
  void notify(Calls calls) { calls_ = std::move(calls); }
  void answered() EVENKEEL_EXCLUDES(mutex_);
  void failed(const std::exception_ptr& error) EVENKEEL_EXCLUDES(mutex_);
  /// Counts bytes of answers.
  void received(std::size_t bytes);
  /// See ReachCore.
  bool on_timeout() EVENKEEL_EXCLUDES(mutex_);
  std::optional<TimePoint> next_due() const EVENKEEL_EXCLUDES(mutex_);
  bool is_away() const noexcept { return away_.load(std::memory_order_relaxed); }

  struct Absence {
    TimePoint since = {};
    std::string error = {};
  };
  /// Returns since when and why the cluster is away; std::nullopt: it is not.
  std::optional<Absence> absence() const EVENKEEL_EXCLUDES(mutex_);

 private:
  const std::shared_ptr<const Clock> clock_;
  const std::size_t step_;
  Calls calls_;  // set before the first request
  std::atomic<std::size_t> received_ = 0;
  std::atomic<bool> calm_ = true;   // the last request was answered; set under the mutex
  std::atomic<bool> away_ = false;  // set under the mutex
  mutable Mutex mutex_;
  ReachCore core_ EVENKEEL_GUARDED_BY(mutex_);
  std::string error_ EVENKEEL_GUARDED_BY(mutex_);
};

/// Returns a transport like `inner` that reports to `monitor`.
std::shared_ptr<http::Transport> monitored(std::shared_ptr<http::Transport> inner,
                                           std::shared_ptr<ReachMonitor> monitor);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
