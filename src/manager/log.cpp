// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <utility>

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <evenkeel/base/error.hpp>
#include <evenkeel/manager/log.hpp>

#include "base/log_line.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

// Passes each line to a function of the program.
class WriterSink final : public spdlog::sinks::sink {
 public:
  explicit WriterSink(std::function<void(std::string_view)> writer) : writer_(std::move(writer)) {}
  void log(const spdlog::details::log_msg& message) override {
    writer_({message.payload.data(), message.payload.size()});
  }
  void flush() override {}
  void set_pattern(const std::string&) override {}
  void set_formatter(std::unique_ptr<spdlog::formatter>) override {}

 private:
  std::function<void(std::string_view)> writer_;
};

spdlog::sink_ptr make_sink(LogOptions& options) {
  if (options.writer) return std::make_shared<WriterSink>(std::move(options.writer));
  if (options.file.empty()) return std::make_shared<spdlog::sinks::stderr_sink_mt>();
  try {
    spdlog::file_event_handlers events;
    events.after_open = [](const spdlog::filename_t&, std::FILE* file) {
      ::fcntl(::fileno(file), F_SETFD, FD_CLOEXEC);
    };
    return std::make_shared<spdlog::sinks::basic_file_sink_mt>(options.file, false, events);
  } catch (const spdlog::spdlog_ex& error) {
    throw Error("log file " + options.file + " cannot be opened: " + error.what());
  }
}

// The logger belongs to the library: it is not registered with spdlog, whose globals are left to the program.
class SpdlogLog final : public StandardLog {
 public:
  explicit SpdlogLog(LogOptions options)
      : StandardLog(options.level), format_(options.format), logger_("evenkeel", make_sink(options)) {
    logger_.set_level(spdlog::level::trace);
    logger_.set_formatter(std::make_unique<spdlog::pattern_formatter>("%v", spdlog::pattern_time_type::utc));
    logger_.flush_on(spdlog::level::trace);
    logger_.set_error_handler([](const std::string&) {});
  }

  void write(LogLevel level, std::string_view message, LogFields bound, LogFields fields) noexcept override {
    try {
      const auto now = std::chrono::time_point_cast<WallTime::duration>(std::chrono::system_clock::now());
      const std::string line = format_log_line(format_, now, level, message, bound, fields);
      logger_.log(spdlog::level::info, spdlog::string_view_t(line.data(), line.size()));
    } catch (...) {
      // Out of memory: the line is lost, the program continues.
    }
  }

 private:
  LogFormat format_;
  spdlog::logger logger_;
};

}  // namespace

std::optional<LogLevel> parse_log_level(std::string_view name) noexcept {
  for (const LogLevel level :
       {LogLevel::debug, LogLevel::info, LogLevel::warn, LogLevel::error, LogLevel::off}) {
    if (log_level_name(level) == name) return level;
  }
  return std::nullopt;
}

std::string_view log_level_name(LogLevel level) noexcept {
  return detail::level_name(level);
}

std::string format_log_line(LogFormat format, WallTime time, LogLevel level, std::string_view message,
                            LogFields bound, LogFields fields) {
  return format == LogFormat::text ? detail::text_log_line(time, level, message, bound, fields)
                                   : detail::json_log_line(time, level, message, bound, fields);
}

std::shared_ptr<StandardLog> make_log(LogOptions options) {
  return std::make_shared<SpdlogLog>(std::move(options));
}

}  // namespace v0
}  // namespace evenkeel
