// SPDX-License-Identifier: Apache-2.0
// Structured logging in the manner of logr: a constant message with keys and values. Formatting is left to
// the sink. The default sink (text or JSON, by spdlog) is in manager/log.hpp.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace evenkeel {
inline namespace v0 {

enum class LogLevel : std::uint8_t { debug, info, warn, error, off };

/// The value of one key: a string, an integer, a floating-point number or a boolean. Views are valid only
/// during the call that carries them.
class LogValue {
 public:
  LogValue(std::string_view text) : value_(text) {}
  LogValue(const std::string& text) : value_(std::string_view(text)) {}
  LogValue(const char* text) : value_(std::string_view(text)) {}
  LogValue(bool truth) : value_(truth) {}
  LogValue(std::floating_point auto number) : value_(static_cast<double>(number)) {}
  LogValue(std::integral auto number) : value_(static_cast<std::int64_t>(number)) {}

  using Variant = std::variant<std::string_view, std::int64_t, double, bool>;
  const Variant& get() const { return value_; }

 private:
  Variant value_;
};

struct LogField {
  std::string_view key;
  LogValue value;
};

/// A sequence of fields; a view, valid during the call that carries it.
struct LogFields {
  const LogField* begin() const { return first; }
  const LogField* end() const { return first + count; }

  const LogField* first = nullptr;
  std::size_t count = 0;
};

/// Destination of log lines. Implementations are called from any thread, concurrently, and must not throw.
class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual bool enabled(LogLevel level) const noexcept = 0;
  /// Writes one line. `bound` are the logger's own fields, `fields` those of this line; both are valid only
  /// during the call.
  virtual void write(LogLevel level, std::string_view message, LogFields bound,
                     LogFields fields) noexcept = 0;
  /// Drops lines below `level` from now on. Returns false if this sink does not support it.
  virtual bool set_level(LogLevel level) noexcept {
    static_cast<void>(level);
    return false;
  }
};

/// A logger: a sink, and fields that are added to every line. Cheap to copy. Without a sink it discards
/// everything.
/// Thread safety: all const members may be called concurrently.
class Log {
 public:
  Log() = default;
  explicit Log(std::shared_ptr<LogSink> sink) : sink_(std::move(sink)) {}

  /// Returns a logger that adds `fields` to every line; their text is copied.
  [[nodiscard]] Log with(std::initializer_list<LogField> fields) const {
    Log child(sink_);
    if (!sink_) return child;
    auto owned = std::make_shared<Bound>();
    owned->parent = bound_;
    for (const LogField* field = begin(); field != end(); ++field) owned->add(*field);
    for (const LogField& field : fields) owned->add(field);
    child.bound_ = std::move(owned);
    return child;
  }

  bool enabled(LogLevel level) const { return sink_ && sink_->enabled(level); }
  /// Returns the lowest enabled level, or off if none is.
  LogLevel level() const {
    for (const LogLevel level : {LogLevel::debug, LogLevel::info, LogLevel::warn, LogLevel::error}) {
      if (enabled(level)) return level;
    }
    return LogLevel::off;
  }
  /// Changes the level of the sink, and so of every logger that shares it. Returns false if the sink does not
  /// support it.
  bool set_level(LogLevel level) const { return sink_ && sink_->set_level(level); }
  using Fields = std::initializer_list<LogField>;
  void debug(std::string_view message, Fields fields = {}) const { write(LogLevel::debug, message, fields); }
  void info(std::string_view message, Fields fields = {}) const { write(LogLevel::info, message, fields); }
  void warn(std::string_view message, Fields fields = {}) const { write(LogLevel::warn, message, fields); }
  void error(std::string_view message, Fields fields = {}) const { write(LogLevel::error, message, fields); }
  void write(LogLevel level, std::string_view message, Fields fields = {}) const {
    if (!enabled(level)) return;
    sink_->write(level, message, {begin(), static_cast<std::size_t>(end() - begin())},
                 {fields.begin(), fields.size()});
  }

 private:
  struct Bound {
    std::shared_ptr<const Bound> parent;  // keeps the texts that copied fields point to
    std::vector<std::unique_ptr<std::string>> texts;
    std::vector<LogField> fields;

    std::string_view keep(std::string_view text) {
      return *texts.emplace_back(std::make_unique<std::string>(text));
    }
    void add(const LogField& field) {
      if (const auto* text = std::get_if<std::string_view>(&field.value.get())) {
        fields.push_back({keep(field.key), keep(*text)});
      } else {
        fields.push_back({keep(field.key), field.value});
      }
    }
  };

  const LogField* begin() const { return bound_ ? bound_->fields.data() : nullptr; }
  const LogField* end() const { return bound_ ? bound_->fields.data() + bound_->fields.size() : nullptr; }

  std::shared_ptr<LogSink> sink_;
  std::shared_ptr<const Bound> bound_;
};

}  // namespace v0
}  // namespace evenkeel
