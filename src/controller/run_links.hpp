// SPDX-License-Identifier: Apache-2.0
// The writes that cause runs: links from the span of a run to the spans of these writes.
#pragma once

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <vector>

#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/trace.hpp>
#include <evenkeel/controller/observer.hpp>
#include <evenkeel/workqueue/request_key.hpp>

#include "client/request/write_spans.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Collects, for each key that waits for its run, the spans of the writes whose events added it. Bounded: a
/// key has at most max_links, and beyond max_keys nothing is collected. Thread safety: all members may be
/// called concurrently.
class RunLinks final : public ControllerObserver {
 public:
  static constexpr std::size_t max_links = 16;
  static constexpr std::size_t max_keys = 10'000;

  explicit RunLinks(std::shared_ptr<const WriteSpans> writes) : writes_(std::move(writes)) {}

  void key_added(const KeyAdded& added) noexcept override;
  /// Returns the links of a run that begins now.
  std::vector<SpanLink> take(const RequestKey& key) EVENKEEL_EXCLUDES(mutex_);

 private:
  const std::shared_ptr<const WriteSpans> writes_;
  Mutex mutex_;
  std::unordered_map<RequestKey, std::vector<SpanLink>> links_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
