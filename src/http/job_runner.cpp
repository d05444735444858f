// SPDX-License-Identifier: Apache-2.0
#include <evenkeel/http/job_runner.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

JobRunner::JobRunner(std::shared_ptr<const Clock> clock, std::size_t threads) : clock_(std::move(clock)) {
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

JobRunner::JobRunner(std::shared_ptr<const Clock> clock, std::function<void()> notify)
    : clock_(std::move(clock)), notify_(std::move(notify)) {}

JobRunner::~JobRunner() {
  {
    MutexLock lock(mutex_);
    ending_ = true;
    changed_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
}

bool JobRunner::push(Job& job) {
  if (job.forgotten_ || job.queued_) return false;
  if (job.running_) {
    job.again_ = true;
    return false;
  }
  job.queued_ = true;
  ready_.push_back(&job);
  return true;
}

void JobRunner::set_due(Job& job, TimePoint when) {
  if (job.due_ != TimePoint::max()) {
    auto [at, last] = due_.equal_range(job.due_);
    while (at != last && at->second != &job) ++at;
    if (at != last) due_.erase(at);
  }
  job.due_ = when;
  if (when != TimePoint::max()) due_.emplace(when, &job);
}

void JobRunner::wake(Job& job) {
  bool notify = false;
  {
    MutexLock lock(mutex_);
    if (!push(job)) return;
    notify = notify_ && !pumping_;
  }
  changed_.notify_one();  // not under the lock, which the woken thread acquires first
  if (notify) notify_();
}

void JobRunner::wake_at(Job& job, TimePoint when) {
  bool notify = false;
  {
    MutexLock lock(mutex_);
    if (job.forgotten_) return;
    set_due(job, when);
    if (due_.empty() || due_.begin()->second != &job) return;
    changed_.notify_one();
    notify = notify_ && !pumping_;
  }
  if (notify) notify_();
}

void JobRunner::forget(Job& job) {
  MutexLock lock(mutex_);
  job.forgotten_ = true;
  job.again_ = false;
  set_due(job, TimePoint::max());
  if (job.queued_) std::erase(ready_, &job);
  job.queued_ = false;
  const auto runner = runners_.find(&job);
  if (runner != runners_.end() && runner->second == std::this_thread::get_id()) return;
  while (job.running_) finished_.wait(lock);
}

void JobRunner::wake_due(TimePoint now) {
  while (!due_.empty() && due_.begin()->first <= now) {
    Job& job = *due_.begin()->second;
    set_due(job, TimePoint::max());
    push(job);
  }
}

void JobRunner::run_one(MutexLock& lock) {
  Job& job = *ready_.front();
  ready_.pop_front();
  job.queued_ = false;
  job.running_ = true;
  runners_[&job] = std::this_thread::get_id();
  // The next waiting thread also waits for the due times, as this thread will be busy.
  if (!ready_.empty() || !due_.empty()) changed_.notify_one();
  lock.unlock();
  job.run();
  lock.lock();
  // If the job called forget() on itself, it may be destroyed after the notification; otherwise it still
  // exists.
  job.running_ = false;
  runners_.erase(&job);
  if (std::exchange(job.again_, false)) push(job);
  finished_.notify_all();
}

std::size_t JobRunner::pump() {
  std::size_t count = 0;
  MutexLock lock(mutex_);
  pumping_ = true;
  const TimePoint now = clock_->now();  // a job that is always due again must not keep the caller
  for (wake_due(now); !ready_.empty(); wake_due(now)) {
    run_one(lock);
    ++count;
  }
  pumping_ = false;
  return count;
}

std::optional<TimePoint> JobRunner::next_due() const {
  MutexLock lock(mutex_);
  if (!ready_.empty()) return clock_->now();
  if (due_.empty()) return std::nullopt;
  return due_.begin()->first;
}

void JobRunner::work() {
  MutexLock lock(mutex_);
  while (!ending_) {
    wake_due(clock_->now());
    if (!ready_.empty()) {
      run_one(lock);
    } else if (due_.empty()) {
      clock_->wait(changed_, lock);
    } else {
      clock_->wait_until(changed_, lock, due_.begin()->first);
    }
  }
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
