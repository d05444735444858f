// SPDX-License-Identifier: Apache-2.0
// Waits for sockets on fibers, which must not block their thread.
#pragma once

#include <csignal>
#include <exception>
#include <optional>
#include <pthread.h>
#include <thread>
#include <utility>

#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/suspender.hpp>
#include <evenkeel/http/transport.hpp>

namespace evenkeel {
inline namespace v0 {
namespace http::detail {

/// Returns the result of `work`, or throws its exception. On a fiber, a thread of its own does the work while
/// the fiber is suspended.
template <class Work>
auto run_off_fiber(const Work& work) -> decltype(work()) {
  using Result = decltype(work());
  if (evenkeel::detail::Suspender::current() == nullptr) return work();
  Mutex mutex;
  CondVar done;
  std::optional<Outcome<Result>> outcome;
  const auto run = [&work]() -> Outcome<Result> {
    try {
      return work();
    } catch (...) {
      return std::current_exception();
    }
  };
  std::thread thread([&] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    pthread_setname_np(pthread_self(), "evenkeel-wait");
    Outcome<Result> result = run();
    MutexLock lock(mutex);
    outcome.emplace(std::move(result));
    done.notify_all();
  });
  {
    MutexLock lock(mutex);
    while (!outcome) done.wait(lock);
  }
  thread.join();
  return std::move(*outcome).value();
}

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
