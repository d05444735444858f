// SPDX-License-Identifier: Apache-2.0
// The console of a manager: a thread that samples the controllers, and the answers to requests.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/serve/server.hpp>

#include "manager/console_history.hpp"
#include "manager/console_routes.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

struct ConsoleSources {
  /// Returns the present state. Called concurrently.
  std::function<ConsoleSubjects()> subjects = {};
  /// Returns the controllers, which are sampled.
  std::function<std::vector<Controller*>()> controllers = {};
  std::shared_ptr<const Clock> clock = real_clock();
  std::function<void(std::string_view)> on_thread_start = {};
};

/// Thread safety: all members may be called concurrently, except start() and stop().
/// Lifetime: destruction calls stop().
class ConsoleShell {
 public:
  explicit ConsoleShell(ConsoleSources sources, ConsoleHistoryOptions options = {});
  ~ConsoleShell() { stop(); }
  ConsoleShell(const ConsoleShell&) = delete;
  ConsoleShell& operator=(const ConsoleShell&) = delete;

  /// Starts the thread that samples.
  void start();
  /// Ends and joins it. Idempotent.
  void stop() noexcept EVENKEEL_EXCLUDES(mutex_);
  /// Takes one sample.
  void sample() EVENKEEL_EXCLUDES(mutex_);
  /// Answers a request below /console/api/.
  http::Response answer(const http::ServerCall& call) const EVENKEEL_EXCLUDES(mutex_);

 private:
  void run() EVENKEEL_EXCLUDES(mutex_);

  const ConsoleSources sources_;
  mutable Mutex mutex_;
  CondVar changed_;
  bool stopped_ EVENKEEL_GUARDED_BY(mutex_) = false;
  ConsoleHistory history_ EVENKEEL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
