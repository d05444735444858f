// SPDX-License-Identifier: Apache-2.0
// The program's side of an event loop, on poll(2).
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <poll.h>
#include <stdexcept>

#include <evenkeel/http/event_loop.hpp>

namespace evenkeel::tests {

/// Returns true if the loop's descriptor became readable within `limit`.
inline bool is_readable(const EventLoop& loop, Duration limit = Duration::zero()) {
  pollfd waiting{.fd = loop.fd(), .events = POLLIN, .revents = 0};
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(limit).count();
  return ::poll(&waiting, 1, static_cast<int>(ms)) == 1;
}

/// Drives the loop, as its header asks for it, until `condition` holds. Throws if it does not within a
/// minute.
template <class Condition>
void drive_until(EventLoop& loop, const Condition& condition) {
  const TimePoint give_up = std::chrono::steady_clock::now() + std::chrono::minutes{1};
  while (!condition()) {
    const TimePoint now = std::chrono::steady_clock::now();
    if (now >= give_up) throw std::runtime_error("the loop was driven for a minute in vain");
    const TimePoint due = std::min(loop.next_due().value_or(give_up), give_up);
    is_readable(loop, std::max(due - now, Duration::zero()));
    loop.poll();
  }
}

/// Returns the number of threads of this process.
inline std::size_t thread_count() {
  const std::filesystem::directory_iterator threads("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(threads), end(threads)));
}

}  // namespace evenkeel::tests
