// SPDX-License-Identifier: Apache-2.0
// Decides which of the log lines that others can cause at will are written.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// The first of a kind of lines is written, and then one a minute, with the number of those since the last.
/// Thread safety: one thread at a time.
class RepeatedLine {
 public:
  static constexpr Duration period = std::chrono::minutes{1};

  /// Returns the number of lines that the one to be written stands for, itself included; 0: it is not
  /// written.
  std::int64_t on_line(TimePoint now) noexcept {
    ++lines_;
    if (written_ && now - *written_ < period) return 0;
    written_ = now;
    return std::exchange(lines_, 0);
  }

 private:
  std::optional<TimePoint> written_;
  std::int64_t lines_ = 0;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
