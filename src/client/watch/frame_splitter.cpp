// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <evenkeel/api/json.hpp>
#include <evenkeel/client/frame_splitter.hpp>

#include "base/json_scan.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

bool blank(std::string_view line) {
  return std::all_of(line.begin(), line.end(), detail::is_json_space);
}

}  // namespace

void FrameSplitter::feed(std::string_view piece) {
  if (taken_) partial_.clear();
  taken_ = false;
  rest_ = piece;
}

std::optional<std::string_view> FrameSplitter::next() {
  if (taken_) partial_.clear();
  taken_ = false;
  while (!rest_.empty()) {
    const std::size_t end = rest_.find('\n');
    const std::string_view line = rest_.substr(0, end);
    if (partial_.size() + line.size() > options_.max_frame_bytes)
      throw DecodeError("watch",
                        "a frame is longer than " + std::to_string(options_.max_frame_bytes) + " bytes");
    if (end == std::string_view::npos) {
      partial_.append(line);
      rest_ = {};
      break;
    }
    rest_.remove_prefix(end + 1);
    if (partial_.empty()) {
      if (!blank(line)) return line;
      continue;
    }
    partial_.append(line);
    if (!blank(partial_)) {
      taken_ = true;
      return partial_;
    }
    partial_.clear();
  }
  return std::nullopt;
}

bool FrameSplitter::in_frame() const noexcept {
  return !taken_ && !blank(partial_);
}

}  // namespace v0
}  // namespace evenkeel
