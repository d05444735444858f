// SPDX-License-Identifier: Apache-2.0
#include "client/request/delayer.hpp"

#include <csignal>
#include <map>
#include <pthread.h>
#include <thread>
#include <unordered_map>
#include <utility>

#include <evenkeel/base/mutex.hpp>

#include "base/leftover_thread.hpp"
#include "http/event_loop_state.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

struct Delayer::State final : Job {
  using Tasks = std::multimap<TimePoint, std::pair<std::uint64_t, Task>>;

  State(std::shared_ptr<const Clock> clock_, std::shared_ptr<EventLoopState> loop_)
      : clock(std::move(clock_)), loop(std::move(loop_)) {}

  /// Runs the tasks that are due, on the loop.
  void run() noexcept override {
    const std::shared_ptr<State> keep = self.lock();  // a task may destroy the delayer
    MutexLock lock(mutex);
    while (!stopping && run_first(lock)) {
    }
    if (stopping) {
      loop->post([keep] {});  // the runner still uses this job when run() has returned
    } else if (!tasks.empty()) {
      loop->runner()->wake_at(*this, tasks.begin()->first);
    }
  }

  void run_thread() EVENKEEL_NO_THREAD_SAFETY_ANALYSIS {
    MutexLock lock(mutex);
    while (!stopping) {
      if (run_first(lock)) continue;
      if (tasks.empty()) {
        changed.wait(lock);
      } else {
        clock->wait_until(changed, lock, tasks.begin()->first);
      }
    }
  }

  /// Runs the first task if it is due, without the lock.
  bool run_first(MutexLock& lock) EVENKEEL_NO_THREAD_SAFETY_ANALYSIS {
    if (tasks.empty() || clock->now() < tasks.begin()->first) return false;
    Task task = std::move(tasks.begin()->second.second);
    numbers.erase(tasks.begin()->second.first);
    tasks.erase(tasks.begin());
    lock.unlock();
    task(Reason::due);
    task = nullptr;  // destroying its captures may destroy this delayer
    lock.lock();
    return true;
  }

  const std::shared_ptr<const Clock> clock;
  const std::shared_ptr<EventLoopState> loop;  // null: a thread
  std::weak_ptr<State> self;
  Mutex mutex;
  CondVar changed;
  Tasks tasks EVENKEEL_GUARDED_BY(mutex);
  std::unordered_map<std::uint64_t, Tasks::iterator> numbers EVENKEEL_GUARDED_BY(mutex);
  std::uint64_t next_number EVENKEEL_GUARDED_BY(mutex) = 0;
  bool stopping EVENKEEL_GUARDED_BY(mutex) = false;
  std::thread thread EVENKEEL_GUARDED_BY(mutex);
};

Delayer::Delayer(std::shared_ptr<const Clock> clock, const std::shared_ptr<EventLoop>& loop)
    : state_(std::make_shared<State>(std::move(clock), loop ? loop->state() : nullptr)) {
  state_->self = state_;
}

Delayer::~Delayer() {
  State::Tasks left;
  std::thread thread;
  {
    MutexLock lock(state_->mutex);
    state_->stopping = true;
    left.swap(state_->tasks);
    state_->numbers.clear();
    thread.swap(state_->thread);
    state_->changed.notify_all();
  }
  if (state_->loop) state_->loop->runner()->forget(*state_);
  join_or_leave(std::move(thread));  // the thread owns a reference to the state
  for (auto& [when, numbered] : left) numbered.second(Reason::dropped);
}

std::uint64_t Delayer::at(TimePoint when, Task task) {
  MutexLock lock(state_->mutex);
  const std::uint64_t number = ++state_->next_number;
  const auto place = state_->tasks.emplace(when, std::pair(number, std::move(task)));
  state_->numbers.emplace(number, place);
  if (state_->loop) {
    if (place == state_->tasks.begin()) state_->loop->runner()->wake_at(*state_, when);
    return number;
  }
  if (!state_->thread.joinable()) {
    state_->thread = std::thread([state = state_] {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_BLOCK, &all, nullptr);
      state->run_thread();
    });
  }
  state_->changed.notify_all();
  return number;
}

std::uint64_t Delayer::block(std::function<void()> work, Task next) {
  return at(state_->clock->now(),
            [loop = state_->loop, work = std::move(work), next = std::move(next)](Reason reason) {
              if (reason == Reason::due && loop) return loop->offload(work, [next] { next(Reason::due); });
              if (reason == Reason::due) work();
              next(reason);
            });
}

void Delayer::drop(std::uint64_t number) {
  Task task;
  {
    MutexLock lock(state_->mutex);
    const auto known = state_->numbers.find(number);
    if (known == state_->numbers.end()) return;
    task = std::move(known->second->second.second);
    state_->tasks.erase(known->second);
    state_->numbers.erase(known);
  }
  task(Reason::dropped);
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
