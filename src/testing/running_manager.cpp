// SPDX-License-Identifier: Apache-2.0
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/testing/running_manager.hpp>
#include <evenkeel/testing/wait.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing {
namespace {

std::string missing_collections(const Cache& cache) {
  std::string text;
  for (const CollectionHealth& one : cache.health()) {
    if (one.informer.synced) continue;
    if (!text.empty()) text += "; ";
    text += one.resource.plural + " (" + one.resource.api_version() + "): " + one.informer.activity;
    if (!one.informer.last_error.empty()) text += ", " + one.informer.last_error;
  }
  return text.empty() ? "all were read meanwhile" : text;
}

}  // namespace

struct RunningManager::State {
  explicit State(Manager& manager_) : manager(manager_) {}

  void end(std::exception_ptr thrown) {
    MutexLock lock(mutex);
    error = std::move(thrown);
    ended = true;
    changed.notify_all();
    lock.unlock();
    given_up.request_stop();
  }

  Manager& manager;
  Mutex mutex;
  CondVar changed;  // it ended, or the wait for the cache is over
  bool ended EVENKEEL_GUARDED_BY(mutex) = false;
  bool answered EVENKEEL_GUARDED_BY(mutex) = false;
  std::exception_ptr error EVENKEEL_GUARDED_BY(mutex);
  std::stop_source given_up;  // ends the wait for the cache
  std::jthread thread;        // last: it uses the other members
};

RunningManager::RunningManager(Manager& manager) : state_(std::make_unique<State>(manager)) {
  state_->thread = std::jthread([state = state_.get()](const std::stop_token& stop) {
    std::exception_ptr error;
    try {
      state->manager.run(stop);
    } catch (...) {
      error = std::current_exception();
    }
    state->end(std::move(error));
  });
}

RunningManager::~RunningManager() = default;

void RunningManager::wait_until_synced(Duration timeout) {
  const TimePoint deadline = deadline_after(real_clock()->now(), timeout);
  State& state = *state_;
  {
    MutexLock lock(state.mutex);
    state.answered = false;
  }
  std::stop_source expired;
  const std::stop_callback ended(state.given_up.get_token(), [&expired] { expired.request_stop(); });
  bool synced = false;
  {
    const std::jthread watchdog([&] {
      MutexLock lock(state.mutex);
      while (!state.answered && real_clock()->now() < deadline)
        real_clock()->wait_until(state.changed, lock, deadline);
      lock.unlock();
      expired.request_stop();
    });
    synced = state.manager.cache().wait_for_sync(expired.get_token());
    MutexLock lock(state.mutex);
    state.answered = true;
    state.changed.notify_all();
  }
  if (synced) return;
  MutexLock lock(state.mutex);
  if (state.error) std::rethrow_exception(std::exchange(state.error, nullptr));
  if (state.ended) throw Error("the manager ended before its cache had read everything");
  lock.unlock();
  throw WaitTimeout(timeout, "the manager's cache to read everything",
                    missing_collections(state.manager.cache()));
}

void RunningManager::request_stop() noexcept {
  state_->thread.request_stop();
}

void RunningManager::stop() {
  request_stop();
  wait();
}

void RunningManager::wait() {
  if (state_->thread.joinable()) state_->thread.join();
  MutexLock lock(state_->mutex);
  if (state_->error) std::rethrow_exception(std::exchange(state_->error, nullptr));
}

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
