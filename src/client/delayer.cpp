// SPDX-License-Identifier: Apache-2.0
#include "client/delayer.hpp"

#include <csignal>
#include <pthread.h>
#include <utility>

#include "base/leftover_thread.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

struct Delayer::State {
  explicit State(std::shared_ptr<const Clock> clock_) : clock(std::move(clock_)) {}

  using Tasks = std::multimap<TimePoint, std::pair<std::uint64_t, Task>>;

  void run() EVENKEEL_NO_THREAD_SAFETY_ANALYSIS {
    MutexLock lock(mutex);
    while (!stopping) {
      if (tasks.empty()) {
        changed.wait(lock);
      } else if (clock->now() < tasks.begin()->first) {
        clock->wait_until(changed, lock, tasks.begin()->first);
      } else {
        Task task = std::move(tasks.begin()->second.second);
        tasks.erase(tasks.begin());
        lock.unlock();
        task(Reason::due);
        task = nullptr;  // destroying its captures may destroy this delayer
        lock.lock();
      }
    }
  }

  const std::shared_ptr<const Clock> clock;
  Mutex mutex;
  CondVar changed;
  Tasks tasks EVENKEEL_GUARDED_BY(mutex);
  std::uint64_t next_number EVENKEEL_GUARDED_BY(mutex) = 0;
  bool stopping EVENKEEL_GUARDED_BY(mutex) = false;
  std::thread thread EVENKEEL_GUARDED_BY(mutex);
};

Delayer::Delayer(std::shared_ptr<const Clock> clock) : state_(std::make_shared<State>(std::move(clock))) {}

Delayer::~Delayer() {
  State::Tasks left;
  std::thread thread;
  {
    MutexLock lock(state_->mutex);
    state_->stopping = true;
    left.swap(state_->tasks);
    thread.swap(state_->thread);
    state_->changed.notify_all();
  }
  join_or_leave(std::move(thread));  // the thread owns a reference to the state
  for (auto& [when, numbered] : left) numbered.second(Reason::dropped);
}

std::uint64_t Delayer::at(TimePoint when, Task task) {
  MutexLock lock(state_->mutex);
  const std::uint64_t number = ++state_->next_number;
  state_->tasks.emplace(when, std::pair(number, std::move(task)));
  if (!state_->thread.joinable()) {
    state_->thread = std::thread([state = state_] {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_BLOCK, &all, nullptr);
      state->run();
    });
  }
  state_->changed.notify_all();
  return number;
}

void Delayer::drop(std::uint64_t number) {
  Task task;
  {
    MutexLock lock(state_->mutex);
    for (auto entry = state_->tasks.begin(); entry != state_->tasks.end(); ++entry) {
      if (entry->second.first != number) continue;
      task = std::move(entry->second.second);
      state_->tasks.erase(entry);
      break;
    }
  }
  if (task) task(Reason::dropped);
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
