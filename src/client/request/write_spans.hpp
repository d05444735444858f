// SPDX-License-Identifier: Apache-2.0
// The spans of the last writes, by which controllers link a run to the write that caused it.
// Shared with floors above.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/trace.hpp>
#include <evenkeel/client/rest_request.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// The oldest spans are forgotten beyond max_writes.
/// Thread safety: all members may be called concurrently.
class EVENKEEL_API WriteSpans {
 public:
  static constexpr std::size_t max_writes = 4096;

  /// Remembers the span of a write by the version that its answer has. Ignores reads, dry runs, answers
  /// without uid or version, and spans that are not recorded.
  void on_answer(const RestRequest& request, std::string_view answer, const SpanContext& span)
      EVENKEEL_EXCLUDES(mutex_);
  /// Returns the span of the write that made this version of an object; one that is not valid if it is not
  /// known.
  SpanContext find(std::string_view uid, std::string_view version) const EVENKEEL_EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  std::unordered_map<std::string, SpanContext> spans_ EVENKEEL_GUARDED_BY(mutex_);  // by uid and version
  std::deque<std::string> order_ EVENKEEL_GUARDED_BY(mutex_);                       // oldest first
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
