// SPDX-License-Identifier: Apache-2.0
// The memory of large reviews, bounded for all callers together.
#pragma once

#include <cstddef>
#include <cstdint>

#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/mutex.hpp>

#include "base/limits.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// The turns of reviews whose bodies are large: the values of a review take up to sixty times its bytes.
/// Those that are answered at once have at most `bytes_at_once` together, or one is alone. First come, first
/// served; bodies of up to limits::uncounted_body bytes do not wait. A wait has no time limit of its own: it
/// ends with the turns before it.
/// Thread safety: all members may be called concurrently. Lifetime: outlives every LargeReview.
class LargeReviews {
 public:
  static constexpr std::size_t bytes_at_once = 1UL << 20;

  /// Number of reviews that wait for their turn.
  std::uint64_t waiting() const {
    MutexLock lock(mutex_);
    return arrived_ - begun_;
  }

 private:
  friend class LargeReview;

  void begin(std::size_t size) {
    MutexLock lock(mutex_);
    const std::uint64_t place = arrived_++;
    while (place != begun_ || (in_progress_ > 0 && in_progress_ + size > bytes_at_once)) changed_.wait(lock);
    ++begun_;
    in_progress_ += size;
    changed_.notify_all();
  }
  void end(std::size_t size) {
    MutexLock lock(mutex_);
    in_progress_ -= size;
    changed_.notify_all();
  }

  mutable Mutex mutex_;
  CondVar changed_;
  std::uint64_t arrived_ EVENKEEL_GUARDED_BY(mutex_) = 0;
  std::uint64_t begun_ EVENKEEL_GUARDED_BY(mutex_) = 0;
  std::size_t in_progress_ EVENKEEL_GUARDED_BY(mutex_) = 0;  // bytes
};

/// A turn: the constructor waits for it, the destructor ends it. `size` is that of the body, in bytes.
class LargeReview {
 public:
  LargeReview(LargeReviews& all, std::size_t size)
      : all_(all), size_(size > limits::uncounted_body ? size : 0) {
    if (size_ > 0) all_.begin(size_);
  }
  ~LargeReview() {
    if (size_ > 0) all_.end(size_);
  }
  LargeReview(const LargeReview&) = delete;
  LargeReview& operator=(const LargeReview&) = delete;

 private:
  LargeReviews& all_;
  const std::size_t size_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
