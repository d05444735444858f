// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>
#include <variant>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/testing/log_recorder.hpp>
#include <evenkeel/testing/wait.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing {
namespace {

constexpr std::size_t lines_shown = 20;

std::string_view level_name(LogLevel level) {
  constexpr std::array<std::string_view, 5> names{"DEBUG", "INFO", "WARN", "ERROR", "OFF"};
  return names.at(static_cast<std::size_t>(level));
}

struct ValueText {
  std::string operator()(std::string_view text) const { return std::string(text); }
  std::string operator()(std::int64_t number) const { return std::to_string(number); }
  std::string operator()(bool truth) const { return truth ? "true" : "false"; }
  std::string operator()(double number) const {
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "%g", number);
    return text.data();
  }
};

}  // namespace

std::string log_line(LogLevel level, std::string_view message, LogFields bound, LogFields fields) {
  std::string line(level_name(level));
  line += " ";
  line += message;
  for (const LogFields& part : {bound, fields}) {
    for (const LogField& field : part) {
      line += " ";
      line += field.key;
      line += "=" + std::visit(ValueText{}, field.value.get());
    }
  }
  return line;
}

void LogRecorder::write(LogLevel level, std::string_view message, LogFields bound,
                        LogFields fields) noexcept {
  std::string line = log_line(level, message, bound, fields);
  MutexLock lock(mutex_);
  lines_.push_back(std::move(line));
  changed_.notify_all();
}

std::vector<std::string> LogRecorder::lines() const {
  MutexLock lock(mutex_);
  return lines_;
}

std::vector<std::string> LogRecorder::with(std::string_view part) const {
  std::vector<std::string> found;
  for (const std::string& line : lines_) {
    if (line.find(part) != std::string::npos) found.push_back(line);
  }
  return found;
}

std::vector<std::string> LogRecorder::lines_with(std::string_view part) const {
  MutexLock lock(mutex_);
  return with(part);
}

std::vector<std::string> LogRecorder::take() {
  MutexLock lock(mutex_);
  return std::exchange(lines_, {});
}

std::vector<std::string> LogRecorder::wait_for(std::string_view part, std::size_t count,
                                               Duration timeout) const {
  const Clock& clock = *real_clock();
  const TimePoint deadline = deadline_after(clock.now(), timeout);
  MutexLock lock(mutex_);
  for (;;) {
    std::vector<std::string> found = with(part);
    if (found.size() >= count) return found;
    if (clock.now() < deadline) {
      clock.wait_until(changed_, lock, deadline);
      continue;
    }
    std::string last;
    for (std::size_t at = lines_.size() - std::min(lines_.size(), lines_shown); at < lines_.size(); ++at)
      last += "\n    " + lines_[at];
    throw WaitTimeout(
        timeout,
        std::to_string(count) + " log line" + (count == 1 ? "" : "s") + " with \"" + std::string(part) + "\"",
        "there are " + std::to_string(found.size()) + "; the last lines are:" + last);
  }
}

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
