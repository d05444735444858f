// SPDX-License-Identifier: Apache-2.0
// Lines of a text that arrives in pieces.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Splits a text into lines without their terminators; empty lines count. A line of more than `longest` bytes
/// is delivered in parts.
/// Driver:
///  1. calls feed() with a piece, and uses the lines of next() until it returns nullopt;
///  2. calls take_rest() after the last piece.
/// Thread safety: one thread at a time.
class LineSplitter {
 public:
  static constexpr std::size_t longest = 1UL << 20;

  /// Provides the next piece, which must stay valid until next() returns nullopt.
  void feed(std::string_view piece) { rest_ = piece; }

  std::optional<std::string> next() {
    if (rest_.empty()) return std::nullopt;
    const std::size_t room = longest - partial_.size();
    const std::size_t end = rest_.substr(0, room + 1).find('\n');
    partial_.append(rest_.substr(0, end == std::string_view::npos ? room : end));
    const bool complete = end != std::string_view::npos || rest_.size() > room;
    rest_.remove_prefix(end != std::string_view::npos ? end + 1 : (complete ? room : rest_.size()));
    if (!complete) return std::nullopt;
    return std::exchange(partial_, {});
  }

  /// Returns a last line without a terminator.
  std::optional<std::string> take_rest() {
    if (partial_.empty()) return std::nullopt;
    return std::exchange(partial_, {});
  }

 private:
  std::string_view rest_;
  std::string partial_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
