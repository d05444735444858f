// SPDX-License-Identifier: Apache-2.0
// Splits a watch into frames that have a time limit.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/client/frame_splitter.hpp>

#include "client/request/object_timer.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// A FrameSplitter whose next() also throws as ObjectTimer does.
class TimedFrameSplitter {
 public:
  explicit TimedFrameSplitter(std::shared_ptr<const Clock> clock, FrameSplitterOptions options = {})
      : clock_(std::move(clock)), splitter_(options) {}

  void feed(std::string_view piece) { splitter_.feed(piece); }
  std::optional<std::string_view> next() {
    const auto frame = splitter_.next();
    if (frame || !splitter_.in_frame()) {
      timer_.on_complete();
    } else {
      timer_.on_partial(clock_->now());
    }
    return frame;
  }

 private:
  std::shared_ptr<const Clock> clock_;
  FrameSplitter splitter_;
  ObjectTimer timer_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
