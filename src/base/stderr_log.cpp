// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include <evenkeel/base/stderr_log.hpp>
#include <evenkeel/base/time.hpp>

#include "base/log_line.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

class StderrSink final : public LogSink {
 public:
  explicit StderrSink(LogLevel level) : level_(level) {}

  bool enabled(LogLevel level) const noexcept override {
    return level >= level_.load(std::memory_order_relaxed) && level != LogLevel::off;
  }
  bool set_level(LogLevel level) noexcept override {
    level_.store(level, std::memory_order_relaxed);
    return true;
  }
  void write(LogLevel level, std::string_view message, LogFields bound, LogFields fields) noexcept override {
    try {
      const auto now = std::chrono::time_point_cast<WallTime::duration>(std::chrono::system_clock::now());
      const std::string line = detail::text_log_line(now, level, message, bound, fields) + '\n';
      std::fwrite(line.data(), 1, line.size(), stderr);
    } catch (...) {
      // Out of memory: the line is lost, the program continues.
    }
  }

 private:
  std::atomic<LogLevel> level_;
};

}  // namespace

Log stderr_log(LogLevel level) {
  return Log(std::make_shared<StderrSink>(level));
}

}  // namespace v0
}  // namespace evenkeel
