// SPDX-License-Identifier: Apache-2.0
// The threads on which the functions of the kubelet run.
#pragma once

#include <atomic>
#include <csignal>
#include <functional>
#include <list>
#include <memory>
#include <pthread.h>
#include <thread>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace apiserver::detail {

/// Thread safety: one thread at a time.
class KubeletThreads {
 public:
  ~KubeletThreads() { join(); }

  /// Runs `function`, which must not throw, on a new thread that gets no signals. Throws std::system_error.
  void start(std::function<void()> function) {
    reap();
    auto over = std::make_shared<std::atomic<bool>>(false);
    threads_.push_back({std::thread([over, function = std::move(function)] {
                          sigset_t all;
                          sigfillset(&all);
                          pthread_sigmask(SIG_BLOCK, &all, nullptr);
                          pthread_setname_np(pthread_self(), "evenkeel-node");
                          function();
                          over->store(true);
                        }),
                        over});
  }
  /// Waits for the ends of all.
  void join() {
    for (Running& running : threads_) running.thread.join();
    threads_.clear();
  }

 private:
  struct Running {
    std::thread thread;
    std::shared_ptr<std::atomic<bool>> over;
  };

  void reap() {
    std::erase_if(threads_, [](Running& running) {
      if (!running.over->load()) return false;
      running.thread.join();
      return true;
    });
  }

  std::list<Running> threads_;
};

}  // namespace apiserver::detail
}  // namespace v0
}  // namespace evenkeel
