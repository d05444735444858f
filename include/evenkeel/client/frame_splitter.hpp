// SPDX-License-Identifier: Apache-2.0
// Splits a watch into frames: one JSON document per line.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <evenkeel/base/export.hpp>

namespace evenkeel {
inline namespace v0 {

struct FrameSplitterOptions {
  std::size_t max_frame_bytes = 64u << 20;  ///< A longer line is an error.
};

/// Splits a watch stream that arrives in arbitrary pieces.
/// Driver:
///  1. calls feed() with a piece of the stream, and uses the frames of next() until it returns nullopt;
///  2. looks at in_frame() after the last piece.
/// Buffers at most one frame, and only if it spans pieces. Empty lines are skipped.
/// Thread safety: one thread at a time. Complexity: linear in the bytes, regardless of the piece sizes.
class EVENKEEL_API FrameSplitter {
 public:
  explicit FrameSplitter(FrameSplitterOptions options = {}) : options_(options) {}

  /// Provides the next piece, which must stay valid until next() returns nullopt.
  void feed(std::string_view piece);
  /// Returns the next complete line without its terminator, or nullopt if more input is needed. Valid until
  /// the next call. Throws DecodeError if a line exceeds max_frame_bytes.
  std::optional<std::string_view> next();
  /// Returns true if the input so far ends inside a frame; at the end of a stream this means that it was
  /// truncated.
  bool in_frame() const noexcept;

 private:
  FrameSplitterOptions options_;
  std::string_view rest_;
  std::string partial_;
  bool taken_ = false;  // partial_ was returned and is dropped by the next call
};

}  // namespace v0
}  // namespace evenkeel
