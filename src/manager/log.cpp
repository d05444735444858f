// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fcntl.h>
#include <utility>
#include <variant>
#include <vector>

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <evenkeel/base/error.hpp>
#include <evenkeel/manager/log.hpp>

#include "base/json_text.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

void append_number(std::string& out, std::int64_t number, int width = 0) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  const auto length = static_cast<int>(end - digits.data());
  if (length < width) out.append(static_cast<std::size_t>(width - length), '0');
  out.append(digits.data(), end);
}

void append_number(std::string& out, double number) {
  std::array<char, 32> digits;
  out.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
}

// Appends RFC 3339 in UTC, with `fraction` digits after the second: 3 or 6.
void append_time(std::string& out, WallTime time, int fraction) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  append_number(out, static_cast<int>(date.year()), 4);
  append_number(out += '-', static_cast<unsigned>(date.month()), 2);
  append_number(out += '-', static_cast<unsigned>(date.day()), 2);
  append_number(out += 'T', clock.hours().count(), 2);
  append_number(out += ':', clock.minutes().count(), 2);
  append_number(out += ':', clock.seconds().count(), 2);
  const std::int64_t micros = clock.subseconds().count();
  append_number(out += '.', fraction == 3 ? micros / 1000 : micros, fraction);
  out += 'Z';
}

bool plain_word(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text) {
    if (c <= ' ' || c >= 0x7F || c == '"' || c == '=' || c == '\\') return false;
  }
  return true;
}

struct ValueWriter {
  std::string& out;
  LogFormat format;

  void operator()(std::string_view text) const {
    if (format == LogFormat::text && plain_word(text)) {
      out += text;
    } else {
      append_json_string(out, text);
    }
  }
  void operator()(std::int64_t number) const { append_number(out, number); }
  void operator()(bool truth) const { out += truth ? "true" : "false"; }
  void operator()(double number) const {
    if (std::isfinite(number)) {
      append_number(out, number);
    } else {
      const char* name = std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf";
      (*this)(std::string_view(name));
    }
  }
};

void append_field(std::string& out, LogFormat format, const LogField& field) {
  if (format == LogFormat::text) {
    out += ' ';
    out += field.key;
    out += '=';
  } else {
    out += ',';
    append_json_string(out, field.key);
    out += ':';
  }
  std::visit(ValueWriter{out, format}, field.value.get());
}

// Calls `each` for the fields that no later one overrides.
template <class F>
void for_each_field(LogFields bound, LogFields fields, F each) {
  const auto said_again = [](std::string_view key, const LogField* from, const LogField* end) {
    for (; from != end; ++from) {
      if (from->key == key) return true;
    }
    return false;
  };
  for (const LogField* field = bound.begin(); field != bound.end(); ++field) {
    if (said_again(field->key, field + 1, bound.end())) continue;
    if (said_again(field->key, fields.begin(), fields.end())) continue;
    each(*field);
  }
  for (const LogField* field = fields.begin(); field != fields.end(); ++field) {
    if (!said_again(field->key, field + 1, fields.end())) each(*field);
  }
}

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
  switch (level) {
    case LogLevel::debug:
      return "debug";
    case LogLevel::info:
      return "info";
    case LogLevel::warn:
      return "warn";
    case LogLevel::error:
      return "error";
    case LogLevel::off:
      return "off";
  }
  return "off";
}

std::string format_log_line(LogFormat format, WallTime time, LogLevel level, std::string_view message,
                            LogFields bound, LogFields fields) {
  std::string out;
  out.reserve(256);
  if (format == LogFormat::text) {
    static constexpr std::array<std::string_view, 5> padded = {"DEBUG", "INFO ", "WARN ", "ERROR", "OFF  "};
    append_time(out, time, 3);
    out += ' ';
    out += padded[static_cast<std::size_t>(level)];
    out += ' ';
    // A line break in a message must not begin a new line.
    for (const char c : message) out += c == '\n' || c == '\r' ? ' ' : c;
  } else {
    out += R"({"ts":")";
    append_time(out, time, 6);
    out += R"(","level":")";
    out += log_level_name(level);
    out += R"(","msg":)";
    append_json_string(out, message);
  }
  for_each_field(bound, fields, [&](const LogField& field) { append_field(out, format, field); });
  if (format == LogFormat::json) out += '}';
  return out;
}

std::shared_ptr<StandardLog> make_log(LogOptions options) {
  return std::make_shared<SpdlogLog>(std::move(options));
}

}  // namespace v0
}  // namespace evenkeel
