// SPDX-License-Identifier: Apache-2.0
// Finds the end of a JSON value in text that arrives in pieces, 64 bytes at a time if possible. Counts
// brackets outside strings and validates nothing else; that is left to the parser of the value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <evenkeel/base/export.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

inline bool is_json_space(char c) noexcept {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/// Scans one object or array whose first bracket is the first byte fed.
/// Thread safety: one thread at a time. Complexity: linear, for pieces of any size, even 1 byte.
class EVENKEEL_API ContainerScan {
 public:
  void reset() noexcept { *this = {}; }
  /// Consumes up to and including the closing bracket, or all of `text`; returns the number of bytes
  /// consumed.
  std::size_t feed(std::string_view text) noexcept;
  bool done() const noexcept { return done_; }

 private:
  template <class Dummy>
  friend std::size_t feed_blocks(ContainerScan& scan, const char* data, std::size_t size) noexcept;
  std::size_t feed_bytes(const char* data, std::size_t size) noexcept;

  std::uint64_t depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;  // the last byte was a backslash that escapes the next one
  bool done_ = false;
};

/// Scans one JSON value of any kind. The first byte fed is the value's first.
class ValueScan {
 public:
  void reset() noexcept { *this = {}; }
  /// Consumes the value or all of `text`; a number, true, false or null ends before the byte that follows it.
  std::size_t feed(std::string_view text) noexcept;
  bool done() const noexcept { return done_; }

 private:
  enum class Kind : std::uint8_t { unknown, container, string, scalar };

  std::size_t feed_string(std::string_view text) noexcept;
  std::size_t feed_scalar(std::string_view text) noexcept;

  ContainerScan container_;
  Kind kind_ = Kind::unknown;
  bool opened_ = false;   // strings: the opening quote was consumed
  bool escaped_ = false;  // strings: the last byte escapes the next one
  bool done_ = false;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
