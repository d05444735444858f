// SPDX-License-Identifier: Apache-2.0
// A log sink that records messages, for assertions and waits.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/log.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing {

/// Formats a message as text: `INFO rolling out object=default/web ready=1`; the logger's bound fields come
/// first.
EVENKEEL_API std::string log_line(LogLevel level, std::string_view message, LogFields bound,
                                  LogFields fields);

/// Records every message, formatted by log_line(): `const auto log = std::make_shared<LogRecorder>();`
/// `Log(log)`.
/// Thread safety: all members may be called concurrently.
class EVENKEEL_API LogRecorder final : public LogSink {
 public:
  /// Messages below `least` are not recorded.
  explicit LogRecorder(LogLevel least = LogLevel::debug) : least_(least) {}

  bool enabled(LogLevel level) const noexcept override { return level >= least_; }
  void write(LogLevel level, std::string_view message, LogFields bound, LogFields fields) noexcept override;

  std::vector<std::string> lines() const;
  /// Returns the lines that contain `part`, in the order written.
  std::vector<std::string> lines_with(std::string_view part) const;
  /// Returns and removes the lines since the last call.
  std::vector<std::string> take();
  /// Blocks until `count` lines contain `part` and returns them. Throws WaitTimeout, which contains the last
  /// lines, after `timeout` of real time.
  std::vector<std::string> wait_for(std::string_view part, std::size_t count = 1,
                                    Duration timeout = std::chrono::seconds{30}) const;

 private:
  std::vector<std::string> with(std::string_view part) const EVENKEEL_REQUIRES(mutex_);

  const LogLevel least_;
  mutable Mutex mutex_;
  mutable CondVar changed_;
  std::vector<std::string> lines_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
