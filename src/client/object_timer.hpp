// SPDX-License-Identifier: Apache-2.0
// Time limit for the objects of a stream. Shared with floors above.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include <evenkeel/base/duration_text.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/http/transport.hpp>

#include "base/limits.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Notices that an object of a list or a watch arrives too slowly. A stream on which nothing arrives is left
/// to the transport's idle timeout, which a byte now and then keeps from passing.
/// The time between two pieces counts up to `longest_gap`, because the reader may have paused the stream.
/// Driver: calls on_complete() for each object, and on_partial() after each piece of the stream that ends
/// inside an object.
/// Thread safety: one thread at a time.
class ObjectTimer {
 public:
  static constexpr Duration longest_gap = std::chrono::seconds{10};

  void on_complete() noexcept { last_piece_.reset(); }
  /// Throws TransportError (timeout) if the pieces of the object took longer than limits::stream_object.
  void on_partial(TimePoint now) {
    spent_ = last_piece_ ? spent_ + std::min(now - *last_piece_, longest_gap) : Duration::zero();
    last_piece_ = now;
    if (spent_ < limits::stream_object) return;
    throw TransportError(
        TransportErrorCode::timeout,
        "an object is still incomplete " + format_duration(limits::stream_object) + " after its first byte");
  }

 private:
  std::optional<TimePoint> last_piece_;  // of the incomplete object
  Duration spent_ = Duration::zero();
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
