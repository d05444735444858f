// SPDX-License-Identifier: Apache-2.0
// The default log sink: text or JSON, one line per message, written through spdlog (in src/).
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
  LogLevel level = LogLevel::info;  ///< Minimum level of messages.
  LogFormat format = LogFormat::text;
  std::string file = {};  ///< File to append to; empty: standard error.
  /// Receives each line, without line end, instead of the file or standard error. Called concurrently from
  /// any thread; must not throw.
  std::function<void(std::string_view line)> writer = {};
};

/// A sink whose level may be changed at run time. If a key occurs several times in a message, it is written
/// once, with its last value.
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

/// Creates a sink. Throws Error if the file cannot be opened.
EVENKEEL_API std::shared_ptr<StandardLog> make_log(LogOptions options = {});

/// Returns a message as the sink writes it, without line end.
EVENKEEL_API std::string format_log_line(LogFormat format, WallTime time, LogLevel level,
                                         std::string_view message, LogFields bound, LogFields fields);

/// Returns "debug", "info", "warn", "error" or "off".
EVENKEEL_API std::string_view log_level_name(LogLevel level) noexcept;
/// Returns the level with this name, or std::nullopt.
EVENKEEL_API std::optional<LogLevel> parse_log_level(std::string_view name) noexcept;

}  // namespace v0
}  // namespace evenkeel
