// SPDX-License-Identifier: Apache-2.0
// The default log sink: text for people or JSON for machines, one line each, through spdlog (in src/).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/log.hpp>
#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {

enum class LogFormat : std::uint8_t {
  text,  ///< "2026-01-02T03:04:05.678Z INFO  reconciling controller=demo object=default/web replicas=3"
  json,  ///< {"ts":"2026-01-02T03:04:05.678901Z","level":"info","msg":"reconciling","controller":"demo",...}
};

struct LogOptions {
  LogLevel level = LogLevel::info;  ///< Lines below it are dropped.
  LogFormat format = LogFormat::text;
  std::string file = {};  ///< Appended to; empty: standard error.
  /// Receives each line, without its end, instead of file or standard error. Called from any thread,
  /// concurrently; must not throw.
  std::function<void(std::string_view line)> writer = {};
};

/// A sink whose level may change while it is used. A key that a line repeats is written once, with the
/// value given last.
/// Thread safety: all members may be called concurrently.
class EVENKEEL_API StandardLog : public LogSink {
 public:
  LogLevel level() const noexcept { return level_.load(std::memory_order_relaxed); }
  bool set_level(LogLevel level) noexcept override {
    level_.store(level, std::memory_order_relaxed);
    return true;
  }
  bool enabled(LogLevel level) const noexcept override {
    return level >= this->level() && level != LogLevel::off;
  }

 protected:
  explicit StandardLog(LogLevel level) : level_(level) {}

 private:
  std::atomic<LogLevel> level_;
};

/// Throws Error if the file cannot be opened.
EVENKEEL_API std::shared_ptr<StandardLog> make_log(LogOptions options = {});

/// One line as the sink writes it, without its end.
EVENKEEL_API std::string format_log_line(LogFormat format, WallTime time, LogLevel level,
                                         std::string_view message, LogFields bound, LogFields fields);

/// "debug", "info", "warn", "error" or "off".
EVENKEEL_API std::string_view log_level_name(LogLevel level) noexcept;
/// The level of that name, or nothing.
EVENKEEL_API std::optional<LogLevel> parse_log_level(std::string_view name) noexcept;

}  // namespace v0
}  // namespace evenkeel
