// SPDX-License-Identifier: Apache-2.0
// Time limit for the objects of a stream. Shared with floors above.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include <evenkeel/base/duration_text.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/client/list_splitter.hpp>
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
  /// Throws TransportError (timeout) if the pieces of the object took longer than limits::stream_object, or
  /// of what stands between the objects of a list.
  void on_partial(TimePoint now, ListPlace place = ListPlace::in_item) {
    const bool goes_on = last_piece_ && place == place_;
    spent_ = goes_on ? spent_ + std::min(now - *last_piece_, longest_gap) : Duration::zero();
    last_piece_ = now;
    place_ = place;
    if (spent_ < limits::stream_object) return;
    throw TransportError(TransportErrorCode::timeout, problem());
  }

 private:
  std::string problem() const {
    const std::string limit = format_duration(limits::stream_object);
    switch (place_) {
      case ListPlace::in_item:
        return "an object is still incomplete " + limit + " after its first byte";
      case ListPlace::in_metadata:
        return "a member of the list is still incomplete " + limit + " after its first byte";
      case ListPlace::between:
        return "nothing but white space has come for " + limit + ", and the list has not ended";
    }
    return {};
  }

  std::optional<TimePoint> last_piece_;  // of what is incomplete
  ListPlace place_ = ListPlace::in_item;
  Duration spent_ = Duration::zero();
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
