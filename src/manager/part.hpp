// SPDX-License-Identifier: Apache-2.0
// A component with a start/stop lifecycle.
#pragma once

#include <exception>
#include <functional>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// A component that is started, stopped and cancelled. start() and stop() report completion through the two
/// functions, immediately or later, from any thread.
/// Thread safety: start(), stop() and cancel() are called by one thread at a time.
class Part {
 public:
  using Started = std::function<void()>;
  using Ended = std::function<void(std::exception_ptr)>;

  virtual ~Part() = default;
  /// May throw instead of calling `ended`.
  virtual void start(Started started, Ended ended) = 0;
  /// Called after start() has returned, perhaps before `started` is called.
  virtual void stop() = 0;
  virtual void cancel() = 0;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
