// SPDX-License-Identifier: Apache-2.0
#include "manager/guarded_check.hpp"

#include <exception>
#include <thread>
#include <utility>

#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/duration_text.hpp>
#include <evenkeel/base/mutex.hpp>

#include "base/caught.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

using Check = std::function<std::string()>;

// One call of the check; shared with its thread, which may outlive the guard.
struct Call {
  Mutex mutex;
  CondVar ended;
  bool over EVENKEEL_GUARDED_BY(mutex) = false;
  std::string problem EVENKEEL_GUARDED_BY(mutex);
  TimePoint began = {};
};

std::string problem_of(const Check& check) {
  try {
    return check();
  } catch (const std::exception& error) {
    return *error.what() == '\0' ? "it threw" : error.what();
  } catch (...) {
    return detail::foreign_exception;
  }
}

class GuardedCheck {
 public:
  GuardedCheck(Check check, std::shared_ptr<const Clock> clock,
               std::function<void(std::string_view)> on_thread_start)
      : check_(std::make_shared<const Check>(std::move(check))),
        clock_(std::move(clock)),
        on_thread_start_(std::move(on_thread_start)) {}
  GuardedCheck(const GuardedCheck&) = delete;
  GuardedCheck& operator=(const GuardedCheck&) = delete;
  ~GuardedCheck() {
    if (!thread_.joinable()) return;
    if (ended_within(*call_, clock_->now() + check_time_limit)) {
      thread_.join();
    } else {
      thread_.detach();
    }
  }

  std::string ask() EVENKEEL_EXCLUDES(mutex_) {
    const std::shared_ptr<Call> call = running_call();
    if (ended_within(*call, call->began + check_time_limit)) {
      MutexLock lock(call->mutex);
      return call->problem;
    }
    return "has not answered for " + format_duration(clock_->now() - call->began);
  }

 private:
  // Returns the running call, or starts one.
  std::shared_ptr<Call> running_call() EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (call_ && !is_over(*call_)) return call_;
    if (thread_.joinable()) thread_.join();  // its call has ended
    auto call = std::make_shared<Call>();
    call->began = clock_->now();
    thread_ = std::thread([call, check = check_, start = on_thread_start_] {
      if (start) start("check");
      std::string problem = problem_of(*check);
      MutexLock guard(call->mutex);
      call->problem = std::move(problem);
      call->over = true;
      call->ended.notify_all();
    });
    call_ = call;
    return call;
  }

  static bool is_over(Call& call) {
    MutexLock lock(call.mutex);
    return call.over;
  }
  bool ended_within(Call& call, TimePoint deadline) const {
    MutexLock lock(call.mutex);
    while (!call.over && clock_->now() < deadline) clock_->wait_until(call.ended, lock, deadline);
    return call.over;
  }

  const std::shared_ptr<const Check> check_;
  const std::shared_ptr<const Clock> clock_;
  const std::function<void(std::string_view)> on_thread_start_;
  Mutex mutex_;
  std::shared_ptr<Call> call_ EVENKEEL_GUARDED_BY(mutex_);
  std::thread thread_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace

Check guard_check(Check check, std::shared_ptr<const Clock> clock,
                  std::function<void(std::string_view)> on_thread_start) {
  const auto guarded =
      std::make_shared<GuardedCheck>(std::move(check), std::move(clock), std::move(on_thread_start));
  return [guarded] { return guarded->ask(); };
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
