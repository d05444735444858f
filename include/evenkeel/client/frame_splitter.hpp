// SPDX-License-Identifier: Apache-2.0
// Cuts the frames out of a watch: one JSON document a line.
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

/// Reads a watch piece by piece, cut anywhere:
/// `splitter.feed(piece); while (auto frame = splitter.next()) use(*frame);`.
/// Holds at most one frame, and that only if a cut goes through it. Empty lines are skipped.
/// Thread safety: one thread at a time. Complexity: linear in the bytes, however they are cut.
class EVENKEEL_API FrameSplitter {
 public:
  explicit FrameSplitter(FrameSplitterOptions options = {}) : options_(options) {}

  /// Hands over the next piece. The piece must stay valid until next() has returned nothing.
  void feed(std::string_view piece);
  /// The next whole line without its end, or nothing if more is needed. Valid until the next call.
  /// Throws DecodeError if a line is longer than the bound.
  std::optional<std::string_view> next();
  /// Whether the text so far ends inside a frame: at the end of a stream, that it was cut.
  bool in_frame() const noexcept;

 private:
  FrameSplitterOptions options_;
  std::string_view rest_;
  std::string partial_;
  bool taken_ = false;  // partial_ was handed out and is dropped by the next call
};

}  // namespace v0
}  // namespace evenkeel
