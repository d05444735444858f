// SPDX-License-Identifier: Apache-2.0
// Decides which fiber a thread runs next. One fiber waits for work, the taker; the others have some.
// Driver:
//  1. calls on_wake() for each fiber that was woken, and on_timeout() once next_due() is reached;
//  2. does what next() returns: resumes a fiber; starts one, with on_start() or on_no_room(), and resumes it;
//     sleeps until a wake-up or next_due(); or ends. Begins again at 1.
// A fiber that runs calls on_taken() when it has work, and on_suspend() before it suspends; when its function
// has returned, the driver calls on_end().
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <boost/intrusive/list.hpp>
#include <boost/intrusive/set.hpp>

#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// A fiber's part in FiberCore. Lifetime: from on_start() to on_end() at least.
class FiberNode : public boost::intrusive::list_base_hook<>, public boost::intrusive::set_base_hook<> {
 public:
  bool operator<(const FiberNode& other) const noexcept { return due_ < other.due_; }

 private:
  friend class FiberCore;
  enum class State : std::uint8_t { unused, ready, running, waiting };

  TimePoint due_ = TimePoint::max();
  State state_ = State::unused;
  bool woken_ = false;  // while it ran
};

/// Order: fibers that were woken, in order of their wake-ups; then a new taker, if there is none and the
/// limit allows it. Before the thread sleeps, the taker looks for work once more, because a wake-up for it
/// may have gone to a thread that is busy.
/// Thread safety: one thread at a time. Complexity: O(log n) in the number of fibers with a deadline.
class FiberCore {
 public:
  /// At most `limit` fibers, at least 1.
  explicit FiberCore(std::size_t limit) : limit_(limit) {}

  enum class Step : std::uint8_t { resume, start, sleep, end };
  struct Turn {
    Step step = Step::end;
    FiberNode* fiber = nullptr;  ///< To resume.
    /// The thread is about to sleep: wake-ups of its fibers take effect immediately from now on.
    bool is_idle = false;
  };
  Turn next() noexcept;

  /// Makes the fiber the taker.
  void on_start(FiberNode& fiber) noexcept;
  /// There is no memory for another fiber: the present number is the limit from now on. Returns false if
  /// there are none.
  bool on_no_room() noexcept;
  /// The taker has work; another one may be started.
  void on_taken(FiberNode& fiber) noexcept;
  /// Returns false if the fiber was woken since it last ran: it must not suspend.
  bool on_suspend(FiberNode& fiber, TimePoint due) noexcept;
  /// A fiber that does not wait is left as it is; one that runs does not suspend next time.
  void on_wake(FiberNode& fiber) noexcept;
  /// If the fiber is still the taker, there is no more work: no taker is started again.
  void on_end(FiberNode& fiber) noexcept;
  void on_timeout(TimePoint now) noexcept;
  std::optional<TimePoint> next_due() const noexcept;

  std::size_t count() const noexcept { return count_; }

 private:
  using State = FiberNode::State;

  void make_ready(FiberNode& fiber) noexcept;

  std::size_t limit_;
  std::size_t count_ = 0;
  FiberNode* taker_ = nullptr;
  bool is_over_ = false;
  bool has_looked_ = false;  // the taker, since another fiber ran
  boost::intrusive::list<FiberNode> ready_;
  boost::intrusive::multiset<FiberNode> timers_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
