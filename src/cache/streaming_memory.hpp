// SPDX-License-Identifier: Apache-2.0
// Shares between the informers of one server the knowledge which kinds it streams.
#pragma once

#include <evenkeel/base/mutex.hpp>

#include "cache/streaming_core.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// The memory of one server.
/// Thread safety: all members may be called concurrently.
class StreamingMemory {
 public:
  using Advice = StreamingCore::Advice;
  using News = StreamingCore::News;

  Advice on_request(const ResourceId& resource, TimePoint now) EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return core_.on_request(resource, now);
  }
  bool on_complete(const ResourceId& resource) EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return core_.on_complete(resource);
  }
  News on_unsupported(const ResourceId& resource, TimePoint now) EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return core_.on_unsupported(resource, now);
  }
  void on_failed(const ResourceId& resource) EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    core_.on_failed(resource);
  }

 private:
  Mutex mutex_;
  StreamingCore core_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
