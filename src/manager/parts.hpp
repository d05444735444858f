// SPDX-License-Identifier: Apache-2.0
// The parts of a manager: cache, controllers, tasks, election and shards.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/error.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/stop.hpp>
#include <evenkeel/cache/cache.hpp>
#include <evenkeel/controller/controller.hpp>
#include <evenkeel/election/elector.hpp>
#include <evenkeel/manager/manager.hpp>
#include <evenkeel/sharding/shards.hpp>

#include "base/caught.hpp"
#include "manager/cache_divider.hpp"
#include "manager/part.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// The cache. A dedicated thread stops it, because that waits for handlers, which may block.
class CachePart final : public Part {
 public:
  /// `starts`: it starts the cache, which is otherwise done by the part of the shards.
  CachePart(Cache& cache, bool starts, std::function<void(std::string_view)> on_thread_start)
      : cache_(cache), starts_(starts), on_thread_start_(std::move(on_thread_start)) {}
  void start(Started started, Ended ended) override {
    ended_ = std::move(ended);
    if (starts_) cache_.start();
    started();
  }
  void stop() override {
    const auto end = [this] {
      std::exception_ptr error = caught([this] {
        if (on_thread_start_) on_thread_start_("cache stop");
      });
      cache_.stop();
      ended_(std::move(error));
    };
    try {
      thread_ = std::jthread(end);
    } catch (const std::system_error&) {  // no thread could be started
      end();
    }
  }
  void cancel() override {}

 private:
  Cache& cache_;
  const bool starts_;
  const std::function<void(std::string_view)> on_thread_start_;
  Ended ended_;
  std::jthread thread_;
};

/// A controller.
class ControllerPart final : public Part {
 public:
  explicit ControllerPart(Controller& controller) : controller_(controller) {}
  void start(Started started, Ended ended) override {
    controller_.start(std::move(ended));
    started();
  }
  void stop() override { controller_.stop(); }
  void cancel() override { controller_.cancel(); }

 private:
  Controller& controller_;
};

/// A task of the program, on a dedicated thread.
class TaskPart final : public Part {
 public:
  TaskPart(std::string name, std::function<void(std::stop_token)> task,
           std::function<void(std::string_view)> on_thread_start)
      : name_(std::move(name)), task_(std::move(task)), on_thread_start_(std::move(on_thread_start)) {}
  void start(Started started, Ended ended) override {
    thread_ = std::jthread([this, ended = std::move(ended)](const std::stop_token& stop) {
      std::exception_ptr error;
      try {
        if (on_thread_start_) on_thread_start_(name_);
        task_(stop);
      } catch (const Cancelled&) {
        if (!stop.stop_requested()) error = std::current_exception();
      } catch (...) {
        error = std::current_exception();
      }
      ended(error);
    });
    started();
  }
  void stop() override { thread_.request_stop(); }
  void cancel() override {}

 private:
  const std::string name_;
  const std::function<void(std::stop_token)> task_;
  const std::function<void(std::string_view)> on_thread_start_;
  std::jthread thread_;
};

/// The elector, on a dedicated thread. Parts that wait for leadership run while this instance is the leader.
class ElectionPart final : public Part {
 public:
  ElectionPart(Elector& elector, std::function<void(std::uint64_t term)> elected,
               std::function<void(std::string_view)> on_thread_start)
      : elector_(elector), elected_(std::move(elected)), on_thread_start_(std::move(on_thread_start)) {}
  void start(Started started, Ended ended) override {
    thread_ = std::jthread(
        [this, ended = std::move(ended)](const std::stop_token& stop) { ended(campaign(stop)); });
    started();
  }
  void stop() override { thread_.request_stop(); }
  void cancel() override {}

 private:
  std::exception_ptr campaign(const std::stop_token& stop) {
    try {
      if (on_thread_start_) on_thread_start_("election");
      const ElectionEnd end = elector_.run(stop, [&](const Leadership& leadership) {
        elected_(leadership.term);
        wait_for_either(stop, leadership.lost);
      });
      if (end == ElectionEnd::lost) throw LeadershipLost("this instance is not the leader any more");
      return nullptr;
    } catch (...) {
      return std::current_exception();
    }
  }
  static void wait_for_either(const std::stop_token& stop, const std::stop_token& lost) {
    Mutex mutex;
    CondVar changed;
    const StopWaker on_stop(stop, mutex, changed);
    const StopWaker on_lost(lost, mutex, changed);
    MutexLock lock(mutex);
    while (!stop.stop_requested() && !lost.stop_requested()) changed.wait(lock);
  }

  Elector& elector_;
  const std::function<void(std::uint64_t term)> elected_;
  const std::function<void(std::string_view)> on_thread_start_;
  std::jthread thread_;
};

/// This replica of the ring, on a dedicated thread. It stops after the controllers.
class ShardsPart final : public Part {
 public:
  /// `divider` is null unless the caches may hold a share only.
  ShardsPart(Shards& shards, CacheDivider* divider, std::function<void()> open,
             std::function<void(std::string_view)> on_thread_start)
      : shards_(shards),
        divider_(divider),
        open_(std::move(open)),
        on_thread_start_(std::move(on_thread_start)) {}
  void start(Started started, Ended ended) override {
    thread_ = std::jthread([this, ended = std::move(ended)](const std::stop_token& stop) {
      std::exception_ptr error;
      try {
        if (on_thread_start_) on_thread_start_("shards");
        if (divider_ == nullptr || divider_->start_cache(stop)) shards_.run(stop);
      } catch (...) {
        error = std::current_exception();
      }
      ended(error);
    });
    started();
    open_();
  }
  void stop() override { thread_.request_stop(); }
  void cancel() override {}

 private:
  Shards& shards_;
  CacheDivider* const divider_;
  const std::function<void()> open_;
  const std::function<void(std::string_view)> on_thread_start_;
  std::jthread thread_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
