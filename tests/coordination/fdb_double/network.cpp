// SPDX-License-Identifier: Apache-2.0
#include "network.hpp"

#include "cluster.hpp"

namespace fdb_double {
namespace {

constexpr int oldest_api_version = 13;
constexpr int newest_api_version = 710;

}  // namespace

Network& Network::instance() {
  static Network network;
  return network;
}

int Network::select_api_version(int runtime, int header) {
  const std::scoped_lock lock(mutex_);
  if (life_ != Life::unset) return api_version_already_set;
  if (runtime > header) return api_version_invalid;
  if (header > newest_api_version || runtime < oldest_api_version) return api_version_not_supported;
  life_ = Life::selected;
  return 0;
}

int Network::setup() {
  const std::scoped_lock lock(mutex_);
  if (life_ == Life::unset) return api_version_unset;
  if (life_ != Life::selected) return network_already_setup;
  life_ = Life::ready;
  return 0;
}

int Network::run() {
  std::unique_lock lock(mutex_);
  if (life_ == Life::unset || life_ == Life::selected) return network_not_setup;
  if (life_ != Life::ready) return network_cannot_be_restarted;
  life_ = Life::running;
  thread_ = std::this_thread::get_id();
  while (!stopping_) {
    const auto timer = timers_.begin();
    std::function<void()> task;
    if (!tasks_.empty()) {
      task = std::move(tasks_.front());
      tasks_.pop_front();
    } else if (timer == timers_.end()) {
      wake_.wait(lock);
      continue;
    } else if (timer->first > std::chrono::steady_clock::now()) {
      wake_.wait_until(lock, std::chrono::steady_clock::time_point(timer->first));
      continue;
    } else {
      task = std::move(timer->second);
      timers_.erase(timer);
    }
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
  }
  life_ = Life::stopped;
  return 0;
}

int Network::stop() {
  const std::scoped_lock lock(mutex_);
  if (life_ == Life::unset || life_ == Life::selected) return network_not_setup;
  stopping_ = true;
  wake_.notify_all();
  return 0;
}

int Network::api_version_problem() const {
  const std::scoped_lock lock(mutex_);
  return life_ == Life::unset ? api_version_unset : 0;
}

bool Network::on_its_thread() const {
  const std::scoped_lock lock(mutex_);
  return thread_ == std::this_thread::get_id();
}

void Network::post(std::function<void()> task) {
  const std::scoped_lock lock(mutex_);
  tasks_.push_back(std::move(task));
  wake_.notify_all();
}

void Network::post_at(std::chrono::steady_clock::time_point when, std::function<void()> task) {
  const std::scoped_lock lock(mutex_);
  timers_.emplace(when, std::move(task));
  wake_.notify_all();
}

void Future::set(Answer answer) {
  const std::scoped_lock lock(mutex_);
  if (set_) return;
  answer_ = std::move(answer);
  set_ = true;
  ready_.notify_all();
}

int Future::wait() {
  if (get() != nullptr) return 0;
  if (Network::instance().on_its_thread()) return blocked_from_network_thread;
  std::unique_lock lock(mutex_);
  ready_.wait(lock, [this] { return set_; });
  return 0;
}

const Answer* Future::get() const {
  const std::scoped_lock lock(mutex_);
  return set_ ? &answer_ : nullptr;
}

}  // namespace fdb_double
